"""The Pareto sets of S cheap vector functions at once (the sampled objectives, or the posterior means).

1. A shared space-filling set gives every function its first front.
2. In four or more dimensions, where such a set is thin, points of the front descend: gradient steps on a weighted sum
   of the objectives, each point with the weights that suit its place on the front.
3. The front breeds, in rounds: children are differences of front points added to front points (differential evolution)
   and Gaussian steps of shrinking width around them; the front of parents and children goes on.

All functions advance together, so that a step is one batch of matrix products. `benchmarks/pareto_solver.py` compares
it with NSGA-II at equal numbers of evaluations.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pesmo.pareto.dominance import nondominated_within
from pesmo.pareto.subset import representatives

WIDTHS = (0.1, 0.05, 0.02, 0.01)  # standard deviations of the Gaussian steps, coarse to fine
STEP = 0.1  # of the first descent step, in each coordinate; later ones shrink to nothing
DESCEND_FROM = 4  # dimensions


@dataclass(frozen=True)
class Functions:
    """evaluate: (n, d) or (S, n, d) unit points -> (S, n, K); slopes: (S, n, d) -> (S, n, K, d);
    snap: (..., d) -> (..., d), to the nearest point that exists; worst: (K,) the worst values of interest, or inf."""

    evaluate: Callable[[np.ndarray], np.ndarray]
    slopes: Callable[[np.ndarray], np.ndarray]
    snap: Callable[[np.ndarray], np.ndarray]
    worst: np.ndarray | float = np.inf


@dataclass(frozen=True)
class Search:
    """How hard to look: at most `points` are given back; `archive` are kept meanwhile."""

    points: int
    archive: int = 100
    descents: int = 50
    steps: int = 10
    rounds: int = 8
    children: int = 64


@dataclass(frozen=True)
class Front:
    """One function's Pareto set: points (m, d) and their values (m, K)."""

    points: np.ndarray
    values: np.ndarray


def pareto_sets(functions: Functions, initial: np.ndarray, search: Search, rng: np.random.Generator) -> list[Front]:
    """One front for each of the S functions, starting from the points `initial` (n, d), already snapped, for all."""
    fronts = [_thin(initial, values, search.archive, functions.worst) for values in functions.evaluate(initial)]
    if initial.shape[1] >= DESCEND_FROM:
        fronts = _descend(functions, fronts, search, rng)
    for r in range(search.rounds):
        width = WIDTHS[r * len(WIDTHS) // search.rounds]
        bred = functions.snap(np.stack([_children(front, search.children, width, rng) for front in fronts]))
        fronts = _merge(fronts, bred, functions.evaluate(bred), search.archive, functions.worst)
    return [_thin(front.points, front.values, search.points, functions.worst) for front in fronts]


def _thin(points: np.ndarray, values: np.ndarray, most: int, worst: np.ndarray | float) -> Front:
    mask = nondominated_within(values, worst)
    points, values = points[mask], values[mask]
    keep = representatives(values, most)
    return Front(points[keep], values[keep])


def _merge(
    fronts: list[Front], points: np.ndarray, values: np.ndarray, most: int, worst: np.ndarray | float
) -> list[Front]:
    """The fronts with more points (S, n, d) and their values (S, n, K)."""
    return [
        _thin(np.concatenate([front.points, p]), np.concatenate([front.values, v]), most, worst)
        for front, p, v in zip(fronts, points, values, strict=True)
    ]


def _descend(functions: Functions, fronts: list[Front], search: Search, rng: np.random.Generator) -> list[Front]:
    """Normalized gradient steps (RMSprop) from points of each front, which then join it.

    A point's weights are 1 / (0.1 + share), share its distance from the best value of an objective in units of the
    front's extent: it moves on mainly in what it is already good at, and the front keeps its width.
    """
    chosen = [np.resize(representatives(front.values, search.descents), search.descents) for front in fronts]
    points = np.stack([front.points[c] for front, c in zip(fronts, chosen, strict=True)])  # (S, n, d)
    values = np.stack([front.values[c] for front, c in zip(fronts, chosen, strict=True)])
    low = np.stack([front.values.min(axis=0) for front in fronts])[:, None, :]
    extent = np.stack([np.ptp(front.values, axis=0) for front in fronts])[:, None, :]
    extent = np.where(extent > 0, extent, 1.0)
    weights = 1.0 / (0.1 + (values - low) / extent) / extent  # (S, n, K)
    weights *= rng.uniform(0.5, 1.5, weights.shape)  # so that a point that stands in for several takes several ways
    speed, square = np.zeros_like(points), np.zeros_like(points)
    for step in range(search.steps):
        downhill = np.sum(weights[..., None] * functions.slopes(points), axis=2)
        speed = 0.7 * speed + 0.3 * downhill
        square = 0.9 * square + 0.1 * downhill**2
        pace = STEP * (1.0 - step / search.steps)
        points = np.clip(points - pace * speed / (np.sqrt(square) + 1e-12), 0.0, 1.0)
    points = functions.snap(points)
    return _merge(fronts, points, functions.evaluate(points), search.archive, functions.worst)


def _children(front: Front, count: int, width: float, rng: np.random.Generator) -> np.ndarray:
    """(count, d) new points bred from a front."""
    m, d = front.points.shape
    parents = front.points[rng.integers(m, size=count)]
    one, other = front.points[rng.integers(m, size=count)], front.points[rng.integers(m, size=count)]
    differential = rng.uniform(-1.0, 1.0, (count, 1)) * (one - other)
    gaussian = width * rng.standard_normal((count, d)) * (rng.uniform(size=(count, d)) < max(0.5, 1.0 / d))
    step = np.where(rng.uniform(size=(count, 1)) < 0.5, differential + 0.1 * gaussian, gaussian)
    return np.clip(parents + step, 0.0, 1.0)  # not reflected: optima often lie on the boundary
