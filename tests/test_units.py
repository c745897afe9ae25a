"""Units from end to end: values told in an objective's own units come back in them, and change nothing but them.

A study told expit(v) with transform="logit" is the study told v without a transform: the same model, the same
suggestions, and predictions that are expit of the other's. Likewise for exp and log, and for -v to maximize.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit

from pesmo import Float, Front, Objective, Space, Study
from pesmo.report.data import Snapshot

SPACE = Space(x=Float(0, 1), y=Float(0, 1))
NOISE, WORST = 0.05, 1.2
KINDS: list[tuple[str | None, str, Callable]] = [
    (None, "maximize", lambda v: -v),
    ("log", "minimize", np.exp),
    ("log", "maximize", lambda v: np.exp(-v)),
    ("logit", "minimize", expit),
    ("logit", "maximize", lambda v: expit(-v)),
]


def plain(point: dict[str, float]) -> float:
    return 3.0 * (point["x"] - 0.2) ** 2 + np.sin(5 * point["y"])


def other(point: dict[str, float]) -> float:
    return (point["x"] - 0.9) ** 2 + (point["y"] - 0.7) ** 2


def told(transform: Any = None, goal: Any = "minimize", own: Callable = float) -> Study:
    """A study of 12 points whose first objective is told in units of its own."""
    first = Objective("a", goal, transform=transform, noise=NOISE, worst=float(own(WORST)))
    study = Study(SPACE, [first, "b"], seed=4)
    for x, y in np.random.default_rng(1).uniform(size=(12, 2)).round(6).tolist():
        study.add({"x": x, "y": y}, {"a": float(own(plain({"x": x, "y": y}))), "b": other({"x": x, "y": y})})
    return study


def front_by_point(front: Front) -> dict[tuple, tuple]:
    rows = zip(front.inputs, front.means.tolist(), front.sds.tolist(), front.probability.tolist(), strict=True)
    return {tuple(point.values()): (mean, sd, probability) for point, mean, sd, probability in rows}


@pytest.fixture(scope="module")
def reference() -> Study:
    return told()


@pytest.fixture(scope="module")
def reference_front(reference) -> dict[tuple, tuple]:
    return front_by_point(reference.recommend())


@pytest.mark.parametrize(("transform", "goal", "own"), KINDS)
def test_a_transform_changes_the_units_and_nothing_else(reference, reference_front, transform, goal, own) -> None:
    study = told(transform, goal, own)
    front = front_by_point(study.recommend())
    common = [p for p in front if p in reference_front]
    assert len(common) >= 0.8 * len(front)
    for point in common:
        (mean_a, mean_b), (sd_a, sd_b), probability = front[point]
        (plain_a, plain_b), (plain_sd, plain_sd_b), plain_probability = reference_front[point]
        assert mean_a == pytest.approx(own(plain_a), rel=1e-6)
        assert sd_a == pytest.approx(abs(own(plain_a + plain_sd) - own(plain_a - plain_sd)) / 2, rel=1e-4)
        assert (mean_b, sd_b) == pytest.approx((plain_b, plain_sd_b), rel=1e-4)
        assert probability == pytest.approx(plain_probability, abs=0.05)

    points = [{"x": x, "y": 0.3} for x in (0.0, 0.25, 0.8, 1.0)]
    found, expected = (Snapshot(s).predict(Snapshot(s).units(points)) for s in (study, reference))
    np.testing.assert_allclose(found.mean[:, 0], own(expected.mean[:, 0]), rtol=1e-6)
    ends = np.sort([own(expected.low[:, 0]), own(expected.high[:, 0])], axis=0)
    np.testing.assert_allclose(found.low[:, 0], ends[0], rtol=1e-5)
    np.testing.assert_allclose(found.high[:, 0], ends[1], rtol=1e-5)
    np.testing.assert_allclose(found.mean[:, 1], expected.mean[:, 1], rtol=1e-6)

    mine, theirs = study.acquisition(points), reference.acquisition(points)
    for name in ("a", "b"):
        np.testing.assert_allclose(mine[name], theirs[name], rtol=1e-3, atol=1e-6)


def test_the_worst_of_interest_is_in_own_units_too(reference) -> None:
    """It bounds what is recommended: by the value itself, not by what the model sees."""
    measured = [t.values["a"] for t in reference.trials]
    assert max(measured) > WORST + 0.3  # it excludes something
    for transform, goal, own in [(None, "minimize", float), *KINDS]:
        means = told(transform, goal, own).recommend().means[:, 0]
        if goal == "minimize":
            assert np.max(means) <= own(WORST) * (1 + 1e-9)
        else:
            assert np.min(means) >= own(WORST) - 1e-9 * abs(own(WORST))


@pytest.mark.parametrize(
    ("transform", "goal"), [(t, g) for t in (None, "log", "logit") for g in ("minimize", "maximize")]
)
def test_there_and_back_for_every_value_there_is(transform, goal) -> None:
    objective = Objective("a", goal, transform=transform)
    values = np.array([1e-30, 1e-5, 0.03, 0.5, 0.97, 1 - 1e-12] + ([] if transform == "logit" else [7.0, 1e9]))
    sign = -1 if goal == "maximize" else 1
    moved = {None: lambda v: v, "log": np.log, "logit": logit}[transform](values)
    np.testing.assert_allclose(objective.to_model(values), sign * moved, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(objective.from_model(sign * moved), values, rtol=1e-9)
    if transform is not None:  # what the model extrapolates to is still a value that the transform takes
        low, high = objective.from_model(sign * np.array([-1e4, 1e4])).tolist()
        assert low < 1e-300
        assert high > 1e300 if transform == "log" else high > 1 - 1e-15
        assert objective.check(low) == low
        assert objective.check(high) == high
