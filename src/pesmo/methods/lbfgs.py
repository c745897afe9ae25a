"""A small minimizer in the unit cube: BFGS of limited memory, with bounds (as L-BFGS-B: Byrd et al., 1995).

The last steps and what they changed in the gradient give a quadratic model, as a dense matrix: acquisitions have few
inputs. Each step goes to where the model is lowest in the cube, and back along that segment by cubic interpolation
until the value has fallen enough (Armijo). Value and gradient come together, and are expensive beside all of this.
"""

import math
from collections import deque
from collections.abc import Callable

import numpy as np

Function = Callable[[np.ndarray], tuple[float, np.ndarray]]  # value and gradient (d,) at a point (d,)
Place = tuple[np.ndarray, float, np.ndarray]  # a point, its value, its gradient
Pairs = deque[tuple[np.ndarray, np.ndarray]]  # steps and what they changed in the gradient, oldest first

MEMORY = 8
ENOUGH = 1e-4  # Armijo: share of the fall that the slope at the start promises
TRIES = 20  # points on one segment
FIRST = 0.2  # longest first step, while nothing is known about the curvature
AT_FACE = 1e-12  # of the cube's width: a step to a face may miss it by rounding


def minimize(
    function: Function, start: np.ndarray, iterations: int, ftol: float = 1e-5, gtol: float = 1e-5
) -> np.ndarray:
    """The best point (d,) found from `start` (d,) in [0, 1]^d.

    Ends after `iterations` steps; where a step gains less than ftol max(|value|, 1); or where the gradient, as far as
    the cube lets a point follow it, is below gtol.
    """
    x = np.clip(start, 0.0, 1.0)
    value, slope = function(x)
    pairs: Pairs = deque(maxlen=MEMORY)
    plain = False  # whether the next step goes straight down the gradient
    for _ in range(iterations):
        if np.max(np.abs(_inside(x, -slope))) <= gtol:
            break
        way = _way(x, slope, pairs, plain)
        # A step by the model that a face cuts off may gain little far from the minimum; then one down the gradient.
        doubtful = not plain and len(pairs) > 0 and bool(np.any(_at_face(x + way)))
        found = _search(function, (x, value, slope), way)
        plain = found is None or value - found[1] <= ftol * max(abs(value), abs(found[1]), 1.0)
        if found is not None:
            step, change = found[0] - x, found[2] - slope
            if step @ change > 1e-10 * (change @ change):
                pairs.append((step, change))
            x, value, slope = found
        if plain and not doubtful:
            break
    return x


def _inside(x: np.ndarray, way: np.ndarray) -> np.ndarray:
    """As much of a step as stays in the cube, each input for itself."""
    return np.clip(x + way, 0.0, 1.0) - x


def _at_face(x: np.ndarray) -> np.ndarray:
    return (x <= AT_FACE) | (x >= 1.0 - AT_FACE)


def _way(x: np.ndarray, slope: np.ndarray, pairs: Pairs, plain: bool) -> np.ndarray:
    """The step to try first, downhill and inside the cube."""
    downhill = np.where(_at_face(x) & ((slope > 0.0) == (x < 0.5)), 0.0, -slope)
    if not pairs:
        return _inside(x, downhill * min(1.0, FIRST / float(np.max(np.abs(downhill)))))
    if not plain:
        way = _lowest(x, slope, downhill != 0.0, _hessian(pairs))
        if way @ slope < 0.0:
            return way
    step, change = pairs[-1]
    return _inside(x, downhill * float(step @ change) / float(change @ change))


def _hessian(pairs: Pairs) -> np.ndarray:
    """(d, d) the BFGS matrix of these pairs; positive definite."""
    step, change = pairs[-1]
    matrix = np.eye(step.size) * float(change @ change) / float(step @ change)
    for step, change in pairs:
        seen = matrix @ step
        matrix += np.outer(change, change) / float(step @ change) - np.outer(seen, seen) / float(step @ seen)
    return matrix


def _lowest(x: np.ndarray, slope: np.ndarray, free: np.ndarray, hessian: np.ndarray) -> np.ndarray:
    """The step of the free inputs to where the model is lowest; those that would leave the cube stop at its face."""
    way = np.zeros_like(x)
    while free.any():
        rest = slope + hessian @ np.where(free, 0.0, way)
        way[free] = np.linalg.solve(hessian[np.ix_(free, free)], -rest[free])
        inside = _inside(x, way)
        leaving = free & (np.abs(inside - way) > AT_FACE)
        way = inside
        if not leaving.any():
            break
        free = free & ~leaving
    return way


def _search(function: Function, here: Place, way: np.ndarray) -> Place | None:
    """A place on the segment from here along `way` that is enough lower; None where there is none."""
    x, value, slope = here
    fall, length = float(way @ slope), 1.0
    for _ in range(TRIES):
        at = np.clip(x + length * way, 0.0, 1.0)
        new, new_slope = function(at)
        if new <= value + ENOUGH * length * fall:
            return at, new, new_slope
        length *= _shrink(value, new, length * fall, length * float(way @ new_slope))
    return None


def _shrink(value: float, new: float, fall: float, new_fall: float) -> float:
    """Where in (0, 1) the cubic with these values and slopes at 0 and 1 is lowest, kept within 0.1 and 0.6."""
    bend = fall + new_fall - 3.0 * (new - value)
    root = math.sqrt(max(bend * bend - fall * new_fall, 0.0)) if math.isfinite(bend) else 0.0
    below = new_fall - fall + 2.0 * root
    lowest = 1.0 - (new_fall + root - bend) / below if math.isfinite(below) and below > 0.0 else 0.5
    return min(max(lowest, 0.1), 0.6)
