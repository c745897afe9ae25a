"""Every method through the study: what it accepts, what it asks, what it leaves behind."""

import numpy as np
import pytest

import pesmo
from pesmo import Choice, DefinitionError, Experiment, Float, Int, Objective, Space, Study
from pesmo.methods import pal
from pesmo.methods.nsga2 import crowding_distances
from pesmo.methods.registry import METHODS

SPACE = Space(x=Float(0, 1), n=Int(1, 20), c=Choice("a", "b", "c"))
MODELS = ["pesmo", "parego", "smsego", "ehi", "sur", "pal"]


def values(inputs: dict, names: list[str]) -> dict[str, float]:
    x = inputs["x"] + 0.1 * inputs["n"] + "abc".index(inputs["c"])
    return {name: float((x - k) ** 2) for k, name in enumerate(names)}


def steps(study: Study, count: int) -> list[pesmo.Trial]:
    trials = []
    for _ in range(count):
        trial = study.ask()
        names = [o.name for o in study.objectives]
        trials.append(study.tell(trial, values(trial.inputs, names)))
    return trials


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_trials_and_every_point_is_new(method: str) -> None:
    one, other = (steps(Study(SPACE, ["a", "b"], method=method, seed=5), 8) for _ in range(2))
    assert [t.inputs for t in one] == [t.inputs for t in other]
    assert len({tuple(t.inputs.values()) for t in one}) == 8


@pytest.mark.parametrize("method", MODELS)
def test_pending_points_keep_a_batch_apart(method: str) -> None:
    study = Study(Space(x=Float(0, 1), y=Float(0, 1)), ["a", "b"], method=method, seed=1)
    for _ in range(6):
        t = study.ask()
        study.tell(t, {"a": (t.inputs["x"] - 0.2) ** 2, "b": (t.inputs["x"] - 0.7) ** 2 + t.inputs["y"]})
    points = np.array([list(t.inputs.values()) for t in study.ask(4)])
    gaps = np.linalg.norm(points[:, None] - points[None], axis=2)[np.triu_indices(4, 1)]
    assert gaps.min() > 1e-3


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"sur"}))
def test_four_objectives_in_six_dimensions(method: str) -> None:
    space = Space({f"x{i}": Float(0, 1) for i in range(6)})
    study = Study(space, [f"f{k}" for k in range(4)], method=method, seed=0)
    rng = np.random.default_rng(0)
    for row in rng.uniform(size=(8, 6)):
        point = dict(zip(space.names, row.tolist(), strict=True))
        study.add(point, {f"f{k}": float(np.sum((row - k / 3) ** 2)) for k in range(4)})
    trial = study.ask()
    assert "fallback" not in (trial.note or "")


def test_sur_refuses_four_objectives_and_says_what_to_use() -> None:
    with pytest.raises(DefinitionError, match="'sur' serves at most 3 objectives, and this study has 4; .*'pesmo'"):
        Study(SPACE, list("abcd"), method="sur")


@pytest.mark.parametrize("method", ["parego", "smsego", "ehi", "sur", "pal", "nsga2"])
def test_a_method_that_needs_every_objective_refuses_a_decoupled_study(method: str) -> None:
    experiments = [Experiment("one", ["a"]), Experiment("two", ["b"])]
    with pytest.raises(DefinitionError, match=r"needs every objective.*\['pesmo', 'random', 'sobol'\]"):
        Study(SPACE, ["a", "b"], experiments, method=method)


@pytest.mark.parametrize("method", ["parego", "smsego", "ehi", "sur", "pal", "nsga2"])
def test_where_one_experiment_reveals_everything_such_a_method_runs_only_that(method: str) -> None:
    experiments = [Experiment("cheap", ["a"], cost=0.01), Experiment("all", ["a", "b"], cost=5.0)]
    study = Study(SPACE, ["a", "b"], experiments, method=method, seed=0)
    study.add({"x": 0.5, "n": 3, "c": "a"}, {"a": 1.0})
    for trial in steps(study, 7):
        assert trial.experiment == "all"


def test_costs_count_for_rivals_too() -> None:
    """Two experiments that reveal the same: the cheaper one is run."""
    experiments = [Experiment("dear", ["a", "b"], cost=3.0), Experiment("cheap", ["a", "b"], cost=1.0)]
    for method in ("ehi", "smsego", "parego"):
        study = Study(SPACE, ["a", "b"], experiments, method=method, seed=0)
        rng = np.random.default_rng(0)
        for _ in range(6):
            inputs = SPACE.from_unit(rng.uniform(size=3))
            study.add(inputs, values(inputs, ["a", "b"]))
        assert steps(study, 1)[0].experiment == "cheap"


def test_random_search_is_uniform_in_the_space() -> None:
    study = Study(Space(x=Float(1e-4, 1.0, log=True), n=Int(0, 3)), ["a", "b"], method="random", seed=0)
    inputs = [t.inputs for t in study.ask(400)]
    share = np.mean([i["x"] < 1e-2 for i in inputs])
    assert 0.42 < share < 0.58
    counts = np.bincount([i["n"] for i in inputs], minlength=4)
    assert counts.min() > 70


def test_random_and_sobol_serve_decoupled_studies_evenly() -> None:
    experiments = [Experiment("one", ["a"], cost=1.0), Experiment("two", ["b"], cost=9.0)]
    for method in ("random", "sobol"):
        study = Study(SPACE, ["a", "b"], experiments, method=method, seed=0)
        names = [t.experiment for t in study.ask(20)]
        assert names.count("one") == 10


def test_pal_stops_by_itself_when_nothing_is_uncertain() -> None:
    space = Space(n=Int(0, 30))
    exact = [Objective("a", noise=0.0), Objective("b", noise=0.0)]
    study = Study(space, exact, method="pal", seed=0)
    with pytest.raises(pesmo.Finished, match="PAL has classified all of its 31 candidates"):
        for _ in range(40):
            trial = study.ask()
            n = trial.inputs["n"]
            study.tell(trial, {"a": (n - 8) ** 2 / 100, "b": (n - 20) ** 2 / 100})
    found = {p["n"] for p in study.recommend().inputs}
    assert found == set(range(8, 21))


def test_pal_knows_the_pareto_set_of_the_means_where_no_candidate_is_near_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pal, "CANDIDATES", 1)
    study = Study(Space(x=Float(0, 1), y=Float(0, 1)), ["a", "b"], method="pal", seed=0)
    for x, y in np.random.default_rng(0).random((30, 2)):
        study.add({"x": x, "y": y}, {"a": (x - 0.2) ** 2 + y**2, "b": (x - 0.6) ** 2 + y**2})
    asked = study.ask().inputs
    assert 0.15 < asked["x"] < 0.65
    assert asked["y"] < 0.05


def test_crowding_is_infinite_at_the_ends_and_grows_with_the_gaps() -> None:
    front = np.array([[0.0, 4.0], [1.0, 3.0], [1.5, 2.0], [4.0, 0.0]])
    distance = crowding_distances(front, np.zeros(4, int))
    assert np.isinf(distance[[0, 3]]).all()
    assert distance[1] == pytest.approx(1.5 / 4 + 2 / 4)
    assert distance[2] == pytest.approx(3 / 4 + 3 / 4)


def test_an_unknown_method_lists_the_known_ones() -> None:
    with pytest.raises(DefinitionError, match="unknown method 'nsga3'; the methods are .*'nsga2'"):
        Study(SPACE, ["a"], method="nsga3")
