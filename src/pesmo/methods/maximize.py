"""The best next trial under an acquisition: per experiment, the largest acquisition over cost, and the best of those.

A space-filling set and points that the method finds promising are screened, the full acquisition is computed on the
best of them, and the best of those climbs: L-BFGS along the continuous inputs, single steps along the discrete ones.
The cost is part of what is maximized.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pesmo.errors import NumericalFailure
from pesmo.methods.design import EXHAUSTED, candidates
from pesmo.methods.lbfgs import minimize
from pesmo.problem import Evidence, Suggestion

GRID = 1024
PROMISING = 128  # points the method itself names, added to the grid
SHORT_LIST = 16  # points that get the full acquisition, shared by the experiments
HOPELESS = -1e300  # what a screen finds too small for a number: still before a point that is taken
CLIMB_FROM = 0.7  # an experiment whose best listed value is below this share of the best one's does not climb
ITERATIONS = 30
STEP = 1e-4  # of the unit cube, for slopes by differences


class Acquisition(Protocol):
    """What a trial is worth before its cost, for each of E experiments, at points (n, d) of the unit cube.

    logarithmic  True where the values are logarithms, so that their scale may span hundreds of decades
    usable       (E,) True where there is an acquisition at all
    promising    (p, d) points the method itself would look at
    screen       (E, n) nearly `value`, cheaply: enough to choose where to compute it
    compare      (E, n) by what experiments are compared with each other, each at its own best point
    """

    @property
    def logarithmic(self) -> bool: ...
    @property
    def usable(self) -> np.ndarray: ...
    @property
    def promising(self) -> np.ndarray: ...
    def screen(self, unit: np.ndarray) -> np.ndarray: ...
    def value(self, unit: np.ndarray) -> np.ndarray: ...
    def compare(self, unit: np.ndarray) -> np.ndarray: ...
    def value_and_gradient(self, unit: np.ndarray, e: int) -> tuple[float, np.ndarray]: ...


@dataclass(frozen=True)
class OfPoints:
    """An acquisition that judges a point by all objectives together: one value for every experiment that reveals them.

    at     (n,) values at (n, d)          rough  the same, cheaper, for screening; None to use `at`
    slope  value and gradient (d,) at one point (d,); None to take differences of `at`
    usable (E,) True where an experiment reveals every objective
    """

    at: Callable[[np.ndarray], np.ndarray]
    promising: np.ndarray
    usable: np.ndarray
    logarithmic: bool
    rough: Callable[[np.ndarray], np.ndarray] | None = None
    slope: Callable[[np.ndarray], tuple[float, np.ndarray]] | None = None

    def screen(self, unit: np.ndarray) -> np.ndarray:
        return np.where(self.usable[:, None], (self.rough or self.at)(unit), -np.inf)

    def value(self, unit: np.ndarray) -> np.ndarray:
        return np.where(self.usable[:, None], self.at(unit), -np.inf)

    def compare(self, unit: np.ndarray) -> np.ndarray:
        return self.value(unit)

    def value_and_gradient(self, unit: np.ndarray, e: int) -> tuple[float, np.ndarray]:
        if self.slope is not None:
            return self.slope(unit)
        return by_differences(self.at, unit)


def maximize(acquisition: Acquisition, evidence: Evidence, rng: np.random.Generator) -> Suggestion:
    """The experiment and the new point with the largest acquisition over cost."""
    promising = acquisition.promising
    chosen = promising[rng.permutation(promising.shape[0])[:PROMISING]]
    grid = np.unique(np.concatenate([candidates(evidence.space, GRID, rng), chosen]), axis=0)
    grid, free = _with_new(evidence, grid, acquisition.usable)
    note = None
    if not free.any():
        free[acquisition.usable] = True
        note = EXHAUSTED
    cost = np.stack([costs(evidence, e, grid) for e in range(len(evidence.experiments))])
    log = acquisition.logarithmic
    screened = np.maximum(over_cost(acquisition.screen(grid), cost, log), HOPELESS)
    worth = np.where(free, screened, -np.inf)  # (E, n)
    share = max(8, SHORT_LIST // len(evidence.experiments))
    listed = np.unique(np.argsort(-worth, axis=1, kind="stable")[:, :share])
    worth = np.where(free[:, listed], over_cost(acquisition.value(grid[listed]), cost[:, listed], log), -np.inf)
    if not np.isfinite(worth.max()):
        raise NumericalFailure("the acquisition is not a finite number at any candidate")

    def compared(e: int, point: np.ndarray) -> float:
        one = point[None, :]
        return float(over_cost(acquisition.compare(one)[e], costs(evidence, e, one), log)[0])

    usable = [e for e in range(len(evidence.experiments)) if np.isfinite(worth[e].max())]
    starts = {e: grid[listed[int(np.argmax(worth[e]))]] for e in usable}
    before = {e: compared(e, starts[e]) for e in usable}
    best_worth, best_e, best_point = -np.inf, usable[0], starts[usable[0]]
    for e in sorted(usable, key=lambda e: -before[e]):
        least = best_worth + math.log(CLIMB_FROM) if log else CLIMB_FROM * best_worth
        if before[e] <= least:
            continue
        point = _climb(acquisition, evidence, e, starts[e], float(worth[e].max()), note is None)
        after = compared(e, point)
        if after > best_worth:
            best_worth, best_e, best_point = after, e, point
    return Suggestion(best_e, best_point, None, note)


def _with_new(evidence: Evidence, grid: np.ndarray, usable: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The grid (n, d), and (E, n) where a usable experiment was not run yet; each has such a point if there is one."""

    def new() -> np.ndarray:
        rows = [~evidence.is_taken(e, grid) & usable[e] for e in range(usable.size)]
        return np.stack(rows)

    free = new()
    left = [evidence.free_point(int(e), grid[0]) for e in np.flatnonzero(usable & ~free.any(axis=1))]
    more = [point for point in left if point is not None]
    if more:
        grid = np.unique(np.concatenate([grid, np.stack(more)]), axis=0)
        free = new()
    return grid, free


def over_cost(value: np.ndarray, cost: np.ndarray, logarithmic: bool) -> np.ndarray:
    """Worth per unit of cost, also of logarithms, and of negative values (penalties), which a high cost makes worse."""
    if logarithmic:
        return value - np.log(cost)
    return np.where(value > 0.0, value / cost, value * cost)


def costs(evidence: Evidence, e: int, unit: np.ndarray) -> np.ndarray:
    """(n,) what experiment e costs at (n, d)."""
    experiment = evidence.experiments[e]
    if not callable(experiment.cost):
        return np.full(unit.shape[0], float(experiment.cost))
    return np.array([experiment.cost_at(evidence.space.from_unit(row)) for row in unit])


def by_differences(function: Callable[[np.ndarray], np.ndarray], unit: np.ndarray) -> tuple[float, np.ndarray]:
    """The value at one point (d,) of a function of (n, d), and its slopes (d,), by steps that stay inside the cube."""
    steps = np.where(unit + STEP <= 1.0, STEP, -STEP)
    around = function(np.concatenate([unit[None, :], unit + np.diag(steps)]))
    return float(around[0]), (around[1:] - around[0]) / steps


def _climb(
    acquisition: Acquisition, evidence: Evidence, e: int, point: np.ndarray, value: float, only_new: bool
) -> np.ndarray:
    """From a point and its worth to a tidy, new one at least as good, if there is one; else the start, tidied."""

    def worth(unit: np.ndarray) -> np.ndarray:
        return over_cost(acquisition.value(unit)[e], costs(evidence, e, unit), acquisition.logarithmic)

    here = point
    for _ in range(3):
        here = _ascend(acquisition, evidence, e, here)
        around = evidence.space.neighbours(here)
        if around.shape[0] == 0:
            break
        ring = np.concatenate([here[None, :], around])
        best = int(np.argmax(worth(ring)))
        if best == 0:
            break
        here = ring[best]
    here = evidence.space.tidy(here)
    here_value = float(worth(here[None, :])[0])
    is_new = not only_new or not evidence.is_taken(e, here[None, :])[0]
    return here if is_new and here_value >= value else evidence.space.tidy(point)


def _ascend(acquisition: Acquisition, evidence: Evidence, e: int, start: np.ndarray) -> np.ndarray:
    """L-BFGS along the continuous inputs."""
    moving = np.flatnonzero(evidence.space.continuous)
    if moving.size == 0:
        return start

    def negative(part: np.ndarray) -> tuple[float, np.ndarray]:
        unit = start.copy()
        unit[moving] = part
        value, gradient = acquisition.value_and_gradient(unit, e)
        cost, slope = _cost_and_slope(evidence, e, unit)
        if acquisition.logarithmic:
            return math.log(cost) - value, (slope / cost - gradient)[moving]
        if value > 0.0:
            return -value / cost, -((gradient - value * slope / cost) / cost)[moving]
        return -value * cost, -(gradient * cost + value * slope)[moving]

    end = start.copy()
    end[moving] = minimize(negative, start[moving], ITERATIONS)
    return end


def _cost_and_slope(evidence: Evidence, e: int, unit: np.ndarray) -> tuple[float, np.ndarray]:
    """The cost at a point (d,) and its slope (d,), by differences where it is a function."""
    cost = evidence.experiments[e].cost
    if not callable(cost):
        return float(cost), np.zeros(unit.size)
    return by_differences(lambda rows: costs(evidence, e, rows), unit)
