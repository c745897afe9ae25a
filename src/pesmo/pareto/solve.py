"""The Pareto sets of S cheap vector functions at once (the sampled objectives, or the posterior means).

A shared scrambled Sobol set gives every function its first front. Then, in a few rounds, each front breeds: children
are differences of front points added to front points (differential evolution) and Gaussian steps of shrinking width
around them; the front of parents and children goes on. All functions advance together, so that a round is one batch
of matrix products. `benchmarks/pareto_solver.py` compares it with NSGA-II at equal numbers of evaluations.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pesmo.pareto.dominance import nondominated
from pesmo.pareto.subset import representatives

Evaluate = Callable[[np.ndarray], np.ndarray]  # (n, d) or (S, n, d) unit points -> (S, n, K)
Snap = Callable[[np.ndarray], np.ndarray]  # (..., d) -> (..., d)

WIDTHS = (0.1, 0.05, 0.02, 0.01)  # standard deviations of the Gaussian steps, coarse to fine
ARCHIVE = 100  # parents kept per function, unless told otherwise


@dataclass(frozen=True)
class Front:
    """One function's Pareto set: points (m, d) and their values (m, K)."""

    points: np.ndarray
    values: np.ndarray


def _thin(points: np.ndarray, values: np.ndarray, most: int) -> Front:
    mask = nondominated(values)
    points, values = points[mask], values[mask]
    keep = representatives(values, most)
    return Front(points[keep], values[keep])


def _children(front: Front, count: int, width: float, rng: np.random.Generator) -> np.ndarray:
    """(count, d) new points bred from a front."""
    m, d = front.points.shape
    parents = front.points[rng.integers(m, size=count)]
    one, other = front.points[rng.integers(m, size=count)], front.points[rng.integers(m, size=count)]
    differential = rng.uniform(-1.0, 1.0, (count, 1)) * (one - other)
    gaussian = width * rng.standard_normal((count, d)) * (rng.uniform(size=(count, d)) < max(0.5, 1.0 / d))
    step = np.where(rng.uniform(size=(count, 1)) < 0.5, differential + 0.1 * gaussian, gaussian)
    return np.clip(parents + step, 0.0, 1.0)  # not reflected: optima often lie on the boundary


def pareto_sets(
    evaluate: Evaluate,
    initial: np.ndarray,
    snap: Snap,
    rng: np.random.Generator,
    rounds: int,
    children: int,
    most: int,
    archive: int = ARCHIVE,
) -> list[Front]:
    """One front of at most `most` points for each of the S functions.

    initial (n, d) are the first points for all functions (already snapped); `snap` moves a child to the nearest
    point that exists.
    """
    first = evaluate(initial)
    fronts = [_thin(initial, values, archive) for values in first]
    for r in range(rounds):
        width = WIDTHS[r * len(WIDTHS) // rounds]
        bred = snap(np.stack([_children(front, children, width, rng) for front in fronts]))
        values = evaluate(bred)
        fronts = [
            _thin(np.concatenate([front.points, b]), np.concatenate([front.values, v]), archive)
            for front, b, v in zip(fronts, bred, values, strict=True)
        ]
    return [_thin(front.points, front.values, most) for front in fronts]
