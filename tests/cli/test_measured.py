"""What the measurements say by themselves, beside loops over the trials."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest

from pesmo import Choice, Experiment, Float, Objective, Space, Study
from pesmo.cli.measured import Measured, measured
from pesmo.cli.view import Limit, summarize


def plain(study: Study) -> list[tuple[float, ...]]:
    """The mean of each objective, to be minimized and transformed, at each point that has all of them."""
    found: dict[str, dict[str, list[float]]] = {}
    for trial in study.trials:
        at = found.setdefault(repr(trial.inputs), {o.name: [] for o in study.objectives})
        for name, value in trial.values.items():
            at[name].append(
                {"error": lambda v: math.log(v / (1 - v)), "yield": lambda v: -v, "time": math.log}[name](value)
            )
    return [tuple(sum(v) / len(v) for v in at.values()) for at in found.values() if all(at.values())]


def dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True)) and tuple(one) != tuple(other)


@pytest.fixture
def study() -> Study:
    """Three objectives of three kinds, measured apart; points told in part, in whole, and more than once."""
    made = Study(
        Space(x=Float(0, 1), c=Choice("a", "b")),
        [
            Objective("error", transform="logit"),
            Objective("yield", goal="maximize"),
            Objective("time", transform="log"),
        ],
        [Experiment("train", ["error", "yield"], 3), Experiment("clock", ["time"])],
        method="random",
        seed=0,
    )
    rng = np.random.default_rng(0)
    for i in range(60):
        point = {"x": float(i // 3 % 15), "c": "ab"[i % 2]}
        values = {"error": rng.uniform(0.1, 0.9), "yield": rng.normal(), "time": rng.uniform(1, 9)}
        made.add(
            {"x": point["x"] / 15, "c": point["c"]}, {n: v for n, v in values.items() if rng.random() < 0.6} or values
        )
    made.fail(made.ask(), "nothing")
    made.ask()
    return made


def test_the_front_is_that_of_the_means_of_what_was_measured(study: Study) -> None:
    points = plain(study)
    best = [p for p in points if not any(dominates(q, p) for q in points)]
    assert 3 < len(best) < len(points) < 30
    found = measured(study, study.trials)
    np.testing.assert_allclose(sorted(map(tuple, found.points)), sorted(points), rtol=1e-12)
    np.testing.assert_allclose(sorted(map(tuple, found.front)), sorted(best), rtol=1e-12)
    summary = summarize(study, Limit())
    assert (summary.points, summary.measured_front) == (len(points), len(best))


def test_the_hypervolume_is_the_share_of_the_measured_box_that_is_dominated(study: Study) -> None:
    found = measured(study, study.trials)
    values = {"error": [], "yield": [], "time": []}
    for trial in study.trials:
        for name, value in trial.values.items():
            values[name].append(value)
    best = [
        math.log(min(values["error"]) / (1 - min(values["error"]))),
        -max(values["yield"]),
        math.log(min(values["time"])),
    ]
    worst = [
        math.log(max(values["error"]) / (1 - max(values["error"]))),
        -min(values["yield"]),
        math.log(max(values["time"])),
    ]
    np.testing.assert_allclose(found.best, best)
    np.testing.assert_allclose(found.worst, worst)
    # Cells between neighbouring coordinates: a cell is covered where some point dominates its better corner.
    axes = [sorted({*found.front[:, k], best[k], worst[k]}) for k in range(3)]
    covered = 0.0
    for corners in itertools.product(*[list(itertools.pairwise(axis)) for axis in axes]):
        lower = [low for low, _ in corners]
        if any(all(p <= c for p, c in zip(point, lower, strict=True)) for point in found.front):
            covered += math.prod(high - low for low, high in corners)
    whole = math.prod(w - b for w, b in zip(worst, best, strict=True))
    assert summarize(study, Limit()).measured_hypervolume == pytest.approx(covered / whole, rel=1e-9)


def test_choices_that_python_takes_for_equal_are_different_points() -> None:
    study = Study(Space(c=Choice("1", 1, 1.5)), ["a"], method="random", seed=0)
    for option in ("1", 1, 1.5, 1):
        study.add({"c": option}, {"a": 1.0})
    assert summarize(study, Limit()).points == 3


def test_there_is_no_share_of_a_box_without_volume() -> None:
    study = Study(Space(x=Float(0, 1)), ["a", "b"], method="random", seed=0)
    assert summarize(study, Limit()).to_dict()["points"] == 0
    study.add({"x": 0.1}, {"a": 1.0})
    assert summarize(study, Limit()).points == 0
    study.add({"x": 0.1}, {"b": 1.0})
    summary = summarize(study, Limit())
    assert (summary.points, summary.measured_front, summary.measured_hypervolume) == (1, 1, None)
    assert not {"front", "hypervolume"} & set(summary.to_dict())


@pytest.mark.parametrize(
    ("k", "points", "known"),
    [(1, 9, True), (4, 1000, True), (5, 200, True), (5, 201, False), (6, 200, True), (7, 2, False)],
)
def test_a_hypervolume_that_would_take_long_is_left_out(k: int, points: int, known: bool) -> None:
    values = np.random.default_rng(0).random((points, k))
    found = Measured(values, np.zeros(k), np.ones(k))
    assert (found.covered(values) is not None) == known
    if k == 1:
        assert found.covered(values) == pytest.approx(1.0 - values.min())
