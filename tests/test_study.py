"""The study: the shape of the API, determinism, pending and failed trials, and errors that change nothing."""

import dataclasses
import math
import pickle

import numpy as np
import pytest

import pesmo
from pesmo import DefinitionError, Experiment, Float, Int, Objective, ResultError, Space, SpaceError, Study, TrialError

SPACE = Space(x=Float(0, 1), y=Float(0, 1))


def first(inputs: dict) -> float:
    return (inputs["x"] - 0.2) ** 2 + (inputs["y"] - 0.3) ** 2


def second(inputs: dict) -> float:
    return (inputs["x"] - 0.8) ** 2 + (inputs["y"] - 0.7) ** 2


BOTH = {"first": first, "second": second}


def decoupled(seed: int = 0, **costs: float) -> Study:
    experiments = [Experiment(name, [name], costs.get(name, 1.0)) for name in BOTH]
    return Study(SPACE, list(BOTH), experiments, seed=seed)


def coupled(seed: int = 0) -> Study:
    return Study(SPACE, list(BOTH), seed=seed)


def step(study: Study) -> pesmo.Trial:
    trial = study.ask()
    reveals = study.experiment(trial.experiment).reveals
    return study.tell(trial, {name: BOTH[name](trial.inputs) for name in reveals})


def test_the_first_trials_come_from_the_design_then_from_the_model() -> None:
    study = coupled()
    for _ in range(5):
        trial = step(study)
        assert (trial.note, trial.gain) == ("design", None)
    trial = study.ask()
    assert trial.note is None
    assert trial.gain is not None
    assert trial.gain > 0
    assert trial.cost == 1.0
    assert trial.state == "running"
    assert list(trial.inputs) == ["x", "y"]


def test_a_decoupled_design_measures_every_objective_before_the_model_starts() -> None:
    study = decoupled()
    for _ in range(10):
        step(study)
    assert [t.experiment for t in study.trials].count("first") == 5
    assert study.ask().gain is not None


@pytest.mark.parametrize("make", [coupled, decoupled])
def test_the_same_seed_gives_the_same_trials_bit_for_bit(make) -> None:
    one, other = make(seed=3), make(seed=3)
    for _ in range(13):
        assert step(one) == step(other)
    assert one.recommend().to_dicts() == other.recommend().to_dicts()
    assert make(seed=4).ask().inputs != make(seed=3).ask().inputs


def test_recommend_gives_predictions_uncertainty_and_probability() -> None:
    study = coupled(seed=1)
    for _ in range(15):
        step(study)
    front = study.recommend()
    assert 5 < len(front) <= 50
    for point in front.to_dicts():
        assert set(point) == {"inputs", "objectives", "sd", "probability"}
        assert point["objectives"]["first"] == pytest.approx(first(point["inputs"]), abs=0.05)
        assert point["objectives"]["second"] == pytest.approx(second(point["inputs"]), abs=0.05)
        assert all(sd >= 0 for sd in point["sd"].values())
        assert 0 <= point["probability"] <= 1
    assert len(study.recommend(size=7)) <= 7


def test_acquisition_is_per_objective_at_given_points() -> None:
    study = coupled()
    for _ in range(6):
        step(study)
    measured = study.trials[0].inputs
    alpha = study.acquisition([measured, {"x": 0.9, "y": 0.1}, {"x": 0.5, "y": 0.5}])
    assert set(alpha) == set(BOTH)
    assert all(row.shape == (3,) for row in alpha.values())
    assert all(np.all(row >= -1e-6) for row in alpha.values())
    again = study.acquisition([measured])
    assert again["first"][0] == pytest.approx(alpha["first"][0])


def test_a_cheap_objective_is_not_refined_for_ever() -> None:
    """Each further digit of a well-known objective is worth nats too; what is dear and unknown gets its turn."""
    study = decoupled(seed=0, second=10.0)
    rng = np.random.default_rng(0)
    for x, y in rng.uniform(size=(5, 2)).tolist():
        study.add({"x": x, "y": y}, {"second": np.sin(9 * x) + np.cos(7 * y)})
    for x, y in rng.uniform(size=(60, 2)).tolist():
        study.add({"x": x, "y": y}, {"first": first({"x": x, "y": y})})
    assert study.ask().experiment == "second"


def test_pending_trials_keep_a_batch_apart() -> None:
    study = coupled(seed=2)
    for _ in range(6):
        step(study)
    batch = study.ask(n=4)
    points = np.array([list(t.inputs.values()) for t in batch])
    gaps = np.linalg.norm(points[:, None] - points[None], axis=2)[np.triu_indices(4, 1)]
    assert gaps.min() > 0.01
    assert [t.state for t in study.trials[-4:]] == ["running"] * 4
    for trial in reversed(batch):  # told in any order
        study.tell(trial.id, {name: f(trial.inputs) for name, f in BOTH.items()})


def test_a_failed_point_is_not_asked_again_and_its_place_loses_its_interest() -> None:
    study = coupled(seed=2)
    for _ in range(6):
        step(study)
    trial = study.ask()
    before = study.acquisition([trial.inputs])["first"][0]  # it is pending
    failed = study.fail(trial, "diverged")
    assert (failed.state, failed.message) == ("failed", "diverged")
    assert study.acquisition([trial.inputs])["first"][0] < before + 0.1
    following = study.ask()
    assert following.inputs != trial.inputs


def test_a_cheap_objective_is_asked_more_often() -> None:
    study = decoupled(seed=5, second=30.0)
    for _ in range(24):
        step(study)
    names = [t.experiment for t in study.trials]
    assert names.count("first") > names.count("second")


def test_a_cost_may_depend_on_the_point() -> None:
    dear = Experiment("both", list(BOTH), cost=lambda p: 1.0 + 200.0 * (p["x"] > 0.5))
    study = Study(SPACE, list(BOTH), [dear], seed=0)
    for _ in range(12):
        trial = step(study)
        assert trial.cost == (201.0 if trial.inputs["x"] > 0.5 else 1.0)
    assert all(t.inputs["x"] <= 0.5 for t in study.trials[5:8])


def test_an_objective_that_declares_its_inputs_is_not_measured_twice_at_them() -> None:
    space = Space(layers=Int(1, 3), lr=Float(0, 1))
    study = Study(
        space,
        [Objective("time", inputs=["layers"]), "error"],
        [Experiment("clock", ["time"]), Experiment("train", ["error"], cost=1000)],
        seed=1,
    )
    for _ in range(12):
        trial = study.ask()
        value = trial.inputs["layers"] if trial.experiment == "clock" else abs(trial.inputs["lr"] - 0.5)
        study.tell(trial, {study.experiment(trial.experiment).reveals[0]: float(value)})
    clocked = [t.inputs["layers"] for t in study.trials if t.experiment == "clock"]
    assert sorted(clocked[:3]) == [1, 2, 3]


def test_maximize_and_transforms_reach_the_right_end() -> None:
    study = Study(
        Space(x=Float(0, 1)),
        [Objective("good", goal="maximize"), Objective("rate", transform="logit"), Objective("size", transform="log")],
        seed=0,
    )
    for _ in range(12):
        trial = study.ask()
        x = trial.inputs["x"]
        study.tell(trial, {"good": x, "rate": 0.01 + 0.9 * x, "size": 10 ** (6 * x)})
    front = study.recommend()
    means = front.means
    assert means[:, 0].max() > 0.9
    assert means[:, 1].min() < 0.1
    assert np.all((means[:, 1] > 0) & (means[:, 1] < 1))
    assert np.all(means[:, 2] > 0)
    assert means[:, 2].min() < 30


def test_every_point_of_a_finite_space_is_tried_before_one_is_repeated() -> None:
    study = Study(Space(n=Int(1, 4), m=Int(1, 3)), ["a", "b"], seed=0)
    for _ in range(14):
        trial = study.ask()
        study.tell(trial, {"a": trial.inputs["n"] * 1.0, "b": -trial.inputs["m"] * 1.0})
    points = [tuple(t.inputs.values()) for t in study.trials]
    assert len(set(points[:12])) == 12
    assert all("repeats" in (t.note or "") for t in study.trials[12:])


def test_data_you_already_have_counts() -> None:
    study = decoupled()
    rng = np.random.default_rng(0)
    for _ in range(5):
        point = dict(zip("xy", rng.uniform(size=2).tolist(), strict=True))
        study.add(point, {"first": first(point)})
        study.add(point, {"second": second(point), "first": first(point)})
    assert study.ask().gain is not None
    assert len(study.trials) == 11


def test_minimize_in_one_call_decoupled_and_coupled() -> None:
    apart = pesmo.minimize(BOTH, SPACE, evaluations=16, seed=0, progress=False)
    assert len(apart.study.trials) == 16
    assert {t.experiment for t in apart.study.trials} == set(BOTH)
    assert len(apart.front) > 3
    calls = []

    def together(inputs: dict) -> dict:
        calls.append(inputs)
        return {name: f(inputs) for name, f in BOTH.items()}

    result = pesmo.minimize(together, SPACE, evaluations=8, seed=0, progress=False)
    assert len(calls) == len(result.study.trials) == 8
    assert [t.inputs for t in result.study.trials] == calls


def test_run_goes_on_where_it_stopped_and_failures_do_not_end_it() -> None:
    study = coupled()
    calls = []

    def flaky(inputs: dict) -> dict:
        calls.append(inputs)
        if len(calls) == 2:
            raise RuntimeError("the simulator crashed")
        return {name: f(inputs) for name, f in BOTH.items()}

    study.run({"evaluate": flaky}, evaluations=4, progress=False)
    assert study.trials[1].message == "RuntimeError: the simulator crashed"
    study.run({"evaluate": flaky}, evaluations=7, progress=False)
    assert len(calls) == 7
    with pytest.raises(pesmo.RunError, match="the last 10 trials failed"):
        coupled().run({"evaluate": lambda inputs: 1 / 0}, evaluations=100, progress=False)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "0.1", None, True, [1.0], 1 + 2j, 10**400])
def test_a_result_that_is_no_number_is_refused_and_changes_nothing(value) -> None:
    study = coupled()
    trial = study.ask()
    before = study.trials
    with pytest.raises(ResultError, match="objective 'second' must be a finite number"):
        study.tell(trial, {"first": 1.0, "second": value})
    with pytest.raises(ResultError, match="objective 'second' must be a finite number"):
        study.add({"x": 0.5, "y": 0.5}, {"second": value})
    assert study.trials == before


def test_other_bad_calls_are_refused_and_change_nothing() -> None:
    study = coupled()
    trial = study.ask()
    good = {"first": 1.0, "second": 2.0}
    before = study.trials
    for call, error, words in [
        (lambda: study.tell(trial, {"first": 1.0}), ResultError, "missing objective 'second'"),
        (lambda: study.tell(trial, {**good, "third": 3.0}), ResultError, "unknown objective 'third'"),
        (lambda: study.tell(trial, 3.0), ResultError, "must be a dict"),  # pyright: ignore
        (lambda: study.tell(99, good), TrialError, "no trial 99"),
        (lambda: study.tell("1", good), TrialError, "no trial '1'"),  # pyright: ignore
        (lambda: study.fail(99), TrialError, "no trial 99"),
        (lambda: study.fail(trial, 3), ResultError, "must be a string"),  # pyright: ignore
        (lambda: study.add({"x": 2.0, "y": 0.5}, good), SpaceError, "input 'x' = 2.0 lies outside"),
        (lambda: study.add({"x": 0.5}, good), SpaceError, "missing input 'y'"),
        (lambda: study.add({"x": 0.5, "y": 0.5}, {}), ResultError, "at least one objective"),
        (lambda: study.add({"x": 0.5, "y": 0.5}, {"third": 1.0}), ResultError, "unknown objective 'third'"),
        (lambda: study.ask(0), DefinitionError, "n must be a whole number"),
        (lambda: study.recommend(), TrialError, "has no value"),
        (lambda: study.run({"evaluate": first}), DefinitionError, "at least one limit"),
        (lambda: study.run({"other": first}, evaluations=3), DefinitionError, "not among the experiments"),
    ]:
        with pytest.raises(error, match=words):
            call()
    assert study.trials == before
    study.tell(trial, good)
    assert study.tell(trial.id, good).values == good  # the same again is the same answer
    with pytest.raises(TrialError, match="already told"):
        study.tell(trial, {"first": 1.0, "second": 3.0})
    with pytest.raises(TrialError, match="cannot fail now"):
        study.fail(trial)
    assert study.trials[0].values == good


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Study(SPACE, []), "at least one objective"),
        (lambda: Study(SPACE, ["a", "a"]), "objective 'a' appears twice"),
        (lambda: Study(SPACE, ["a"], method="best"), "unknown method 'best'"),
        (lambda: Study(SPACE, ["a"], seed=-1), "seed must be"),
        (lambda: Study({"x": 1}, ["a"]), "space must be"),  # pyright: ignore
        (lambda: Study(SPACE, ["a"], [Experiment("e", ["b"])]), "reveals 'b', which is not among"),
        (lambda: Study(SPACE, ["a", "b"], [Experiment("e", ["b"])]), "no experiment reveals the objective 'a'"),
        (lambda: Study(SPACE, [Objective("a", inputs=["z"])]), "input 'z' is not in the space"),
        (lambda: Objective("a", goal="min"), "goal must be"),  # pyright: ignore
        (lambda: Objective("a", transform="sqrt"), "transform must be"),  # pyright: ignore
        (lambda: Objective("a", noise=-1.0), "noise is a standard deviation"),
        (lambda: Objective("a", unit=3), "unit must be a text"),  # pyright: ignore
        (lambda: Objective("", noise=1.0), "non-empty string"),
        (lambda: Objective("a", inputs="x"), "must be a list of names"),  # pyright: ignore
        (lambda: Experiment("e", []), "must be a list of names"),  # pyright: ignore
        (lambda: Experiment("e", ["a"], cost=0), "cost must be"),
        (lambda: Experiment("e", ["a"], cost=math.nan), "cost must be"),
        (lambda: pesmo.minimize(3, SPACE), "must be a function"),  # pyright: ignore
        (lambda: pesmo.minimize(BOTH, SPACE, costs={"third": 1}), "not among the functions"),
    ],
)
def test_a_bad_definition_names_the_field_and_the_remedy(make, words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        make()


def test_transforms_refuse_values_outside_their_range() -> None:
    study = Study(SPACE, [Objective("a", transform="log"), Objective("b", transform="logit")])
    trial = study.ask()
    with pytest.raises(ResultError, match="'a' = 0 must be above 0"):
        study.tell(trial, {"a": 0, "b": 0.5})
    with pytest.raises(ResultError, match="'b' = 1.0 must lie strictly between 0 and 1"):
        study.tell(trial, {"a": 1.0, "b": 1.0})


def test_a_trial_is_plain_data_that_can_be_sent_anywhere() -> None:
    study = coupled()
    trial = study.ask(lease=600)
    trial.renew()
    copy = pickle.loads(pickle.dumps(trial))
    assert copy == trial
    assert dataclasses.asdict(trial)["inputs"] == trial.inputs
    with pytest.raises(TrialError, match="call study.renew.1."):
        copy.renew()
    study.tell(copy, {"first": 1.0, "second": 2.0})
    for bad in (0, -1.0, math.nan, True, "1"):
        with pytest.raises(DefinitionError, match="lease must be"):
            study.ask(lease=bad)  # pyright: ignore
    with pytest.raises(DefinitionError, match="retries must be"):
        study.ask(retries=-1)


def test_a_table_is_added_whole_or_not_at_all_and_once() -> None:
    study = Study(Space(x=Float(0, 1), n=Int(1, 3)), ["a", "b"], seed=0)
    table = [
        ({"x": 0.5, "n": 2}, {"a": 1.0, "b": 2.0}),
        ({"n": 1, "x": 0}, {"b": 3}),
        ({"x": 0.5, "n": 2}, {"a": 1, "b": 2}),
    ]
    for wrong in (
        ({"x": 2.0, "n": 1}, {"a": 1.0}),
        ({"x": 0.5, "n": 1}, {"a": float("nan")}),
        ({"x": 0.5, "n": 1}, {}),
    ):
        with pytest.raises((SpaceError, ResultError)):
            study.add_many([*table, wrong])
    assert study.trials == []
    new = study.add_many(table)
    assert new == study.trials
    assert [(t.inputs, t.values, t.note) for t in new] == [
        ({"x": 0.5, "n": 2}, {"a": 1.0, "b": 2.0}, "added"),
        ({"x": 0.0, "n": 1}, {"b": 3.0}, "added"),
        ({"x": 0.5, "n": 2}, {"a": 1.0, "b": 2.0}, "added"),
    ]
    assert study.add_many(iter(table)) == []
    assert len(study.trials) == 3
