"""A study of mixed and declared inputs for the tests of this room, and what its GPs see, written down by hand."""

import math
from typing import Any

import numpy as np

from pesmo.methods.model import Model
from pesmo.problem import Evidence, Experiment, Objective, Observations
from pesmo.space import Choice, Float, Int, Space
from tests.oracle import ep as loops

# Two Choices next to each other, and an Int and a Float on either side of them.
SPACE = Space(
    x=Float(0.0, 2.0),
    n=Int(1, 4),
    c=Choice("red", "green", "blue"),
    d=Choice(False, True),
    y=Float(-1.0, 1.0),
)
DECLARED = {"a": None, "b": ("x", "c", "y")}


def features_by_hand(point: dict[str, Any], inputs: tuple[str, ...] | None) -> list[float]:
    """A Float or Int as one number in [0, 1], an option as one of as many columns, two options at distance 1."""
    used = SPACE.names if inputs is None else inputs
    half = 1.0 / math.sqrt(2.0)
    columns: list[float] = []
    if "x" in used:
        columns.append(point["x"] / 2.0)
    if "n" in used:
        columns.append((point["n"] - 1 + 0.5) / 4)
    if "c" in used:
        columns += [half if point["c"] == option else 0.0 for option in ("red", "green", "blue")]
    if "d" in used:
        columns += [half if point["d"] is option else 0.0 for option in (False, True)]
    if "y" in used:
        columns.append((point["y"] + 1.0) / 2.0)
    return columns


def scales_by_hand(theta: np.ndarray, inputs: tuple[str, ...] | None) -> np.ndarray:
    """The length-scale of each column: that of its input, in the order of the space."""
    used = [name for name in SPACE.names if inputs is None or name in inputs]
    width = {"x": 1, "n": 1, "c": 3, "d": 2, "y": 1}
    return np.concatenate([[math.exp(theta[i])] * width[name] for i, name in enumerate(used)])


def random_points(count: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    return [SPACE.from_unit(row) for row in rng.uniform(size=(count, SPACE.dim))]


def units(points: list[dict[str, Any]]) -> np.ndarray:
    return np.array([SPACE.to_unit(point) for point in points]).reshape(-1, SPACE.dim)


def values_at(points: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    a = [p["x"] + 0.3 * p["n"] + (p["c"] == "red") - 0.7 * p["d"] + p["y"] ** 2 for p in points]
    b = [(p["x"] - 1.5) ** 2 + 0.5 * (p["c"] == "blue") - p["y"] for p in points]
    return {"a": 10.0 * np.array(a), "b": np.array(b)}


def mixed_evidence(seed: int = 0, pending: int = 0) -> tuple[Evidence, dict[str, list[dict[str, Any]]]]:
    """a was measured at seven points, b at six others; the points by objective."""
    rng = np.random.default_rng(seed)
    points = {"a": random_points(7, rng), "b": random_points(6, rng)}
    coming = units(random_points(pending, rng))
    observed = tuple(Observations(units(points[name]), values_at(points[name])[name], coming) for name in DECLARED)
    objectives = tuple(Objective(name, inputs=inputs) for name, inputs in DECLARED.items())
    experiments = (Experiment("one", ["a"]), Experiment("other", ["b"]), Experiment("both", ["a", "b"]))
    taken = (*(o.unit for o in observed), units([]))
    return Evidence(SPACE, objectives, experiments, observed, taken), points


def moments_by_hand(
    model: Model, evidence: Evidence, k: int, s: int, at: list[dict[str, Any]]
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of objective k under sample s at `at`, from the points and values alone."""
    inputs, surrogate = evidence.objectives[k].inputs, model.surrogates[k]
    theta, observed = surrogate.theta[s], evidence.observations[k]
    where = [SPACE.from_unit(row) for row in observed.unit]
    x = np.array([features_by_hand(p, tuple(inputs) if inputs else None) for p in where])
    z = np.array([features_by_hand(p, tuple(inputs) if inputs else None) for p in at]).reshape(len(at), x.shape[1])
    y = (observed.values - observed.values.mean()) / observed.values.std()
    scales = scales_by_hand(theta, tuple(inputs) if inputs else None)
    return loops.posterior(x, y, z, scales, math.exp(theta[-2]), math.exp(theta[-1]))
