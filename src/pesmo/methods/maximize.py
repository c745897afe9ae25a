"""The best next trial under an acquisition: per experiment, max over points of (sum of alpha_k it reveals) / cost.

A space-filling set and points that the method finds promising are screened, the full acquisition is computed on the
best of them, and the best of those climbs: L-BFGS along the continuous inputs, single steps along the discrete ones.
The cost is part of what is maximized.
"""

from typing import Protocol

import numpy as np
from scipy.optimize import minimize as scipy_minimize

from pesmo.errors import NumericalFailure
from pesmo.methods.design import candidates
from pesmo.problem import Evidence, Suggestion

GRID = 1024
PROMISING = 128  # points the method itself names, added to the grid
SHORT_LIST = 16  # points that get the full acquisition, shared by the experiments
CLIMB_FROM = 0.7  # an experiment whose best listed value is below this share of the best one's does not climb
ITERATIONS = 30
COST_STEP = 1e-4  # of the unit cube, for the slope of a cost function


class Acquisition(Protocol):
    """Per-objective acquisition values on the unit cube; see methods/pesmo.py for the shapes."""

    @property
    def promising(self) -> np.ndarray: ...
    def screen(self, unit: np.ndarray) -> np.ndarray: ...
    def alpha(self, unit: np.ndarray) -> np.ndarray: ...
    def value_and_gradient(self, unit: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]: ...


def maximize(acquisition: Acquisition, evidence: Evidence, rng: np.random.Generator) -> Suggestion:
    """The experiment and the new point with the largest acquisition over cost."""
    promising = acquisition.promising
    chosen = promising[rng.permutation(promising.shape[0])[:PROMISING]]
    grid = np.unique(np.concatenate([candidates(evidence.space, GRID, rng), chosen]), axis=0)
    reveals = evidence.reveals.astype(float)  # (E, K)
    free = np.stack([~evidence.is_taken(e, grid) for e in range(len(evidence.experiments))])  # (E, n)
    note = None
    if not free.any():
        free[:] = True
        note = "every point of the space has been tried: this one repeats an earlier trial"
    cost = np.stack([costs(evidence, e, grid) for e in range(len(evidence.experiments))])
    worth = np.where(free, reveals @ acquisition.screen(grid) / cost, -np.inf)  # (E, n)
    share = max(8, SHORT_LIST // len(evidence.experiments))
    listed = np.unique(np.argsort(-worth, axis=1, kind="stable")[:, :share])
    worth = np.where(free[:, listed], reveals @ acquisition.alpha(grid[listed]) / cost[:, listed], -np.inf)
    if not np.isfinite(worth.max()):
        raise NumericalFailure("the acquisition is not a finite number at any candidate")

    best_value, best_e, best_point = -np.inf, 0, grid[0]
    for e in np.argsort(-worth.max(axis=1), kind="stable"):
        value, point = float(worth[e].max()), grid[listed[int(np.argmax(worth[e]))]]
        if value > CLIMB_FROM * best_value and np.isfinite(value):
            value, point = _climb(acquisition, evidence, int(e), point, value, note is None)
        if value > best_value:
            best_value, best_e, best_point = value, int(e), point
    gain = float(reveals[best_e] @ acquisition.alpha(best_point[None, :])[:, 0])
    return Suggestion(best_e, best_point, gain, note)


def costs(evidence: Evidence, e: int, unit: np.ndarray) -> np.ndarray:
    """(n,) what experiment e costs at (n, d)."""
    experiment = evidence.experiments[e]
    if not callable(experiment.cost):
        return np.full(unit.shape[0], float(experiment.cost))
    return np.array([experiment.cost_at(evidence.space.from_unit(row)) for row in unit])


def _climb(
    acquisition: Acquisition, evidence: Evidence, e: int, point: np.ndarray, value: float, only_new: bool
) -> tuple[float, np.ndarray]:
    """From a point and its worth to a tidy, new one at least as good, if there is one; else the start, tidied."""
    weights = evidence.reveals[e].astype(float)
    here = point
    for _ in range(3):
        here = _ascend(acquisition, evidence, e, here, weights)
        around = evidence.space.neighbours(here)
        if around.shape[0] == 0:
            break
        ring = np.concatenate([here[None, :], around])
        worth = weights @ acquisition.alpha(ring) / costs(evidence, e, ring)
        best = int(np.argmax(worth))
        if best == 0:
            break
        here = ring[best]
    here = evidence.space.tidy(here)
    here_value = float((weights @ acquisition.alpha(here[None, :]) / costs(evidence, e, here[None, :]))[0])
    is_new = not only_new or not evidence.is_taken(e, here[None, :])[0]
    if is_new and here_value >= value:
        return here_value, here
    return value, evidence.space.tidy(point)


def _ascend(acquisition: Acquisition, evidence: Evidence, e: int, start: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """L-BFGS along the continuous inputs that matter to experiment e."""
    moving = np.flatnonzero(evidence.space.continuous)
    if moving.size == 0:
        return start

    def negative(part: np.ndarray) -> tuple[float, np.ndarray]:
        unit = start.copy()
        unit[moving] = part
        value, gradient = acquisition.value_and_gradient(unit, weights)
        cost, slope = _cost_and_slope(evidence, e, unit, moving)
        return -value / cost, -(gradient[moving] - value * slope / cost) / cost

    result = scipy_minimize(
        negative,
        start[moving],
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, 1.0)] * moving.size,
        options={"maxiter": ITERATIONS, "ftol": 1e-5},
    )
    end = start.copy()
    end[moving] = np.clip(result.x, 0.0, 1.0)
    return end


def _cost_and_slope(evidence: Evidence, e: int, unit: np.ndarray, moving: np.ndarray) -> tuple[float, np.ndarray]:
    """The cost at a point (d,) and its slope along the moving coordinates, by differences where it is a function."""
    cost = evidence.experiments[e].cost
    if not callable(cost):
        return float(cost), np.zeros(moving.size)
    steps = np.where(unit[moving] + COST_STEP <= 1.0, COST_STEP, -COST_STEP)
    rows = np.repeat(unit[None, :], moving.size + 1, axis=0)
    rows[np.arange(1, moving.size + 1), moving] += steps
    around = costs(evidence, e, rows)
    return float(around[0]), (around[1:] - around[0]) / steps
