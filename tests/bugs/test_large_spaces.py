"""The 8th `ask` of a study with three relevant points among three million never returned: the design walked them all.

Nothing in a suggestion may grow with the size of a discrete space. What is counted here are points, not seconds.
"""

from collections.abc import Iterator

import numpy as np
import pytest

from pesmo import Choice, Experiment, Float, Int, Objective, Space, Study
from pesmo.methods.design import EXHAUSTED, first_new, most_behind
from pesmo.methods.maximize import OfPoints, maximize
from pesmo.problem import Evidence, Observations
from pesmo.space import MANY

MOST_TIDIED, MOST = 2_000, 1_000_000  # points in a whole test: more than it takes, far fewer than the spaces have


@pytest.fixture
def counted(monkeypatch) -> Iterator[dict[str, int]]:
    """How many points the views of a space have handled; a walk through a whole space ends as an error."""
    rows: dict[str, int] = dict.fromkeys(("snap", "tidy", "from_unit", "first_points", "neighbours"), 0)

    def count(name: str, method):
        def wrapped(self, *arguments):
            found = method(self, *arguments)
            rows[name] += found.size // self.dim if isinstance(found, np.ndarray) else 1
            assert rows["tidy"] < MOST_TIDIED and sum(rows.values()) < MOST, f"a suggestion walks the space: {rows}"
            return found

        return wrapped

    for name in rows:
        monkeypatch.setattr(Space, name, count(name, getattr(Space, name)))
    yield rows


def training(most: int, method: str = "pesmo") -> Study:
    return Study(
        Space(layers=Int(1, 3), units=Int(1, most), batch=Int(1, most)),
        [Objective("error"), Objective("time", inputs=["layers"])],
        [Experiment("train", ["error"], cost=30), Experiment("clock", ["time"])],
        method,
        seed=0,
    )


def ask(study: Study, times: int) -> list[str]:
    """The experiments asked for."""
    names = []
    for _ in range(times):
        trial = study.ask()
        names.append(trial.experiment)
        assert EXHAUSTED not in (trial.note or "")
        share = trial.inputs["units"] / study.space.inputs["units"].high  # pyright: ignore
        layers = trial.inputs["layers"]
        value = (layers - 3) ** 2 + share if trial.experiment == "train" else float(layers)
        study.tell(trial, {"error" if trial.experiment == "train" else "time": value})
    return names


def test_a_design_handles_as_many_points_whatever_the_size_of_the_space(counted) -> None:
    seen = []
    for most in (1_000, 1_000_000, 2**24):
        before = dict(counted)
        assert ask(training(most, "sobol"), 12).count("clock") == 3  # it can tell three points apart
        seen.append({name: rows - before[name] for name, rows in counted.items()})
    assert seen[0] == seen[1] == seen[2]


def test_so_it_is_with_a_model(counted) -> None:
    seen = []
    for most in (1_000, 1_000_000):
        before = sum(counted.values())
        names = ask(training(most), 11)
        assert names.count("clock") == 3
        seen.append(sum(counted.values()) - before)
    assert seen[1] < 1.3 * seen[0]  # a larger space repeats fewer of its space-filling points


def test_a_design_ends_where_an_objective_has_no_new_point(counted) -> None:
    study = training(1_000)
    ask(study, 8)
    assert study.ask().note is None  # three values of `time` are all there are; five were waited for


def evidence(space: Space, taken: np.ndarray, objectives=("a",), experiments=None) -> Evidence:
    known = Observations(np.empty((0, space.dim)), np.empty(0), np.empty((0, space.dim)))
    runs = experiments or (Experiment("run", objectives),)
    named = tuple(Objective(name) for name in objectives)
    return Evidence(space, named, runs, (known,) * len(objectives), (taken,) * len(runs))


@pytest.mark.parametrize("size", [7, 20_000])
def test_the_one_point_that_is_left_is_found(size: int) -> None:
    space = Space(n=Int(1, size))
    every = space.enumerate()
    for left in (0, size // 2, size - 1):
        found = evidence(space, np.delete(every, left, axis=0))
        assert not found.is_exhausted(0)
        suggestion = first_new(found, 0, [every[left - 1]], None)
        assert suggestion.note is None
        assert space.from_unit(suggestion.unit) == {"n": left + 1}
    assert evidence(space, every).is_exhausted(0)
    assert first_new(evidence(space, every), 0, [every[0]], None).note == EXHAUSTED


def test_a_search_finds_the_one_point_that_its_grid_lacks() -> None:
    space = Space(n=Int(1, 5_000))
    found = evidence(space, np.delete(space.enumerate(), 2_345, axis=0))
    flat = OfPoints(lambda unit: np.ones(len(unit)), np.empty((0, 1)), np.array([True]), logarithmic=False)
    suggestion = maximize(flat, found, np.random.default_rng(0))
    assert suggestion.note is None
    assert space.from_unit(suggestion.unit) == {"n": 2_346}


def test_only_experiments_that_a_method_can_use_are_asked_for_something_new() -> None:
    space = Space(n=Int(1, 3), x=Float(0, 1))
    whole, part = Experiment("whole", ["a", "b"]), Experiment("part", ["b"])
    objectives = [Objective("a", inputs=["n"]), Objective("b", inputs=["n"])]
    study = Study(space, objectives, [whole, part], "ehi", seed=0)
    for n in (1, 2, 3):
        study.add({"n": n, "x": 0.5}, {"a": float(n), "b": -float(n)})
    trial = study.ask()
    assert trial.experiment == "whole"
    assert trial.note == EXHAUSTED  # no fallback: the other experiment's new points are none of EHI's


def test_an_experiment_without_new_points_is_behind_none() -> None:
    space = Space(n=Int(1, 3), m=Int(1, 1000))
    objectives = (Objective("a"), Objective("b", inputs=["n"]))
    runs = (Experiment("first", ["a"]), Experiment("second", ["b"]))
    unit = np.stack([space.to_unit({"n": n, "m": 1}) for n in (1, 2, 3)])
    none = np.empty((0, 2))
    many, few = Observations(np.repeat(unit, 3, axis=0), np.zeros(9), none), Observations(unit, np.zeros(3), none)
    assert most_behind(Evidence(space, objectives, runs, (many, few), (none, unit)), only_complete=False) == 0
    assert most_behind(Evidence(space, objectives, runs, (many, few), (unit, unit[:2])), only_complete=False) == 1


@pytest.mark.parametrize("method", ["pesmo", "parego", "pal", "nsga2", "random"])
def test_methods_serve_a_space_of_10_to_the_18_points(method: str, counted) -> None:
    space = Space(option=Choice(*range(10_000)), n=Int(1, 2**46), x=Float(0, 1))
    study = Study(space, ["a", "b"], method=method, seed=0)
    for _ in range(7):
        trial = study.ask()
        assert "fallback" not in (trial.note or "")
        x = trial.inputs["x"]
        study.tell(trial, {"a": x, "b": trial.inputs["option"] / 1e4 - x})


def test_a_choice_of_very_many_options_has_few_columns_and_neighbours() -> None:
    space = Space(option=Choice(*range(10_000)))
    features = space.features(np.linspace(0.00005, 0.99995, 500)[:, None])
    assert features.shape == (500, MANY)
    assert space.owners.shape == (MANY,)
    apart = np.sum((features[:, None] - features[None]) ** 2, axis=-1)[np.triu_indices(500, 1)]
    assert np.allclose(np.sum(features**2, axis=1), 0.5)
    assert apart.min() > 0.6 and apart.max() < 1.4  # 1 between any two of few options
    around = space.neighbours(space.to_unit({"option": 17}))
    assert len({space.from_unit(row)["option"] for row in around} - {17}) == MANY


def test_a_choice_of_few_options_has_a_column_and_a_neighbour_for_each() -> None:
    space = Space(option=Choice(*range(MANY)))
    assert np.array_equal(space.features(space.enumerate()) > 0, np.eye(MANY, dtype=bool))
    around = [space.from_unit(row)["option"] for row in space.neighbours(space.to_unit({"option": 17}))]
    assert around == [n for n in range(MANY) if n != 17]
