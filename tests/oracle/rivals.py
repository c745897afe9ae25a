"""The rival acquisitions by their definitions, slow and obvious: sampling, quadrature, loops."""

import moocore
import numpy as np
from scipy import integrate, stats


def hypervolume(values: np.ndarray, reference: np.ndarray) -> float:
    return float(moocore.hypervolume(values, ref=reference))


def sampled_gain(
    values: np.ndarray, reference: np.ndarray, mean: np.ndarray, sd: np.ndarray, count: int, seed: int
) -> tuple[float, float]:
    """The expected gain in hypervolume of N(mean, sd^2) (K,) over a front (m, K), and its standard error.

    The gain of y is the volume of {z : y <= z <= reference, no front point <= z}: one uniform z below the reference
    for each y gives an unbiased estimate, box volume times [z undominated], where the box starts at y.
    """
    rng = np.random.default_rng(seed)
    y = mean + sd * rng.standard_normal((count, mean.size))
    sides = np.maximum(reference - y, 0.0)
    z = np.minimum(y, reference) + rng.uniform(size=y.shape) * sides
    undominated = np.ones(count, bool)
    for point in values:
        undominated &= ~np.all(point <= z, axis=1)
    each = np.prod(sides, axis=1) * undominated
    return float(each.mean()), float(each.std() / np.sqrt(count))


def penalized_gain(
    values: np.ndarray, reference: np.ndarray, epsilon: np.ndarray, estimate: np.ndarray
) -> float:  # SMSego, one estimate (K,)
    penalties = []
    for point in values:
        if all(point[k] <= estimate[k] + epsilon[k] for k in range(point.size)):
            penalties.append(np.prod([1.0 + max(0.0, estimate[k] - point[k]) for k in range(point.size)]) - 1.0)
    if penalties:
        return -max(penalties)
    with_it = np.concatenate([values, estimate[None]])
    return hypervolume(with_it, reference) - hypervolume(values, reference)


def expected_improvement(mean: float, sd: float, best: float) -> float:
    """By quadrature over the improvement t = best - y."""
    density = stats.norm(best - mean, sd).pdf
    value, _ = integrate.quad(lambda t: t * density(t), 0.0, max(best - mean, 0.0) + 12.0 * sd, epsabs=0, limit=200)
    return value


def sampled_decrease(
    values: np.ndarray, reference: np.ndarray, here: np.ndarray, there: np.ndarray
) -> tuple[float, float]:
    """SUR for one pair of points: how often f(x') is below the reference, undominated by the front, and dominated by
    f(x), over joint draws here = f(x), there = f(x') (T, K); and its standard error."""
    improves = np.all(there < reference, axis=1)
    for point in values:
        improves &= ~np.all(point <= there, axis=1)
    taken = improves & np.all(here <= there, axis=1)
    return float(taken.mean()), float(taken.std() / np.sqrt(taken.size))


def classes(low: np.ndarray, high: np.ndarray, tolerance: np.ndarray) -> list[str]:
    """PAL's classes, as loops over points and objectives."""
    n, k = low.shape
    scale = [t if t > 0 else 1.0 for t in tolerance]
    out: set[int] = set()
    judged: list[int] = []
    for i in sorted(range(n), key=lambda i: sum(high[i][a] / scale[a] for a in range(k))):
        for j in judged:
            if j not in out and all(high[j][a] <= low[i][a] + tolerance[a] for a in range(k)):
                out.add(i)
        judged.append(i)
    names = []
    for i in range(n):
        others = [j for j in range(n) if j != i and j not in out]
        beaten = any(all(low[j][a] + tolerance[a] <= high[i][a] for a in range(k)) for j in others)
        names.append("out" if i in out else "uncertain" if beaten else "optimal")
    return names
