"""Which values a model is made from where there are more than it can take: its time grows with their cube.

Of each objective with more than MOST rows, pending ones included, a stated subset counts: half of it the points
nearest to the front, the other half a space-filling choice of the rest, and of points that were measured several times
the first measurements. The nearest to the front are those of the best non-domination ranks, by each objective's
quantiles; an objective that was not measured at a point is taken as average there. No randomness: the same
values, the same subset.
"""

from dataclasses import replace

import numpy as np

from pesmo.pareto.dominance import ranks
from pesmo.problem import Evidence, Observations

MOST = 1000  # rows of one objective's model: some seconds and some hundred megabytes
PENDING = 5  # one row in so many may be pending, the latest ones; more where there is room
UNKNOWN = 0.5  # the quantile of a value that was not measured


def modelled(evidence: Evidence, most: int = MOST) -> Evidence:
    """The evidence with at most `most` rows of each objective; itself where there are no more."""
    if all(_rows(o) <= most for o in evidence.observations):
        return evidence
    points, where = _points(evidence)
    near = ranks(_quantiles(evidence, where, points.shape[0]))
    observations = [
        _thinned(o, rows, points, near, most) if _rows(o) > most else o
        for o, rows in zip(evidence.observations, where, strict=True)
    ]
    left_out = [o.values.size - t.values.size for o, t in zip(evidence.observations, observations, strict=True)]
    return replace(evidence, observations=tuple(observations), left_out=tuple(left_out))


def _rows(observed: Observations) -> int:
    return observed.values.size + observed.pending.shape[0]


def _points(evidence: Evidence) -> tuple[np.ndarray, list[np.ndarray]]:
    """All distinct measured points (P, d), and per objective which of them each of its rows is at (n_k,)."""
    units = [evidence.space.snap(o.unit) for o in evidence.observations]
    points, where = np.unique(np.concatenate(units), axis=0, return_inverse=True)
    return points, np.split(where.reshape(-1), np.cumsum([len(u) for u in units])[:-1])


def _quantiles(evidence: Evidence, where: list[np.ndarray], count: int) -> np.ndarray:
    """(P, K) the mean value at each point, as the share of the objective's values that are smaller."""
    columns = []
    for observed, rows in zip(evidence.observations, where, strict=True):
        column = np.full(count, UNKNOWN)
        share = np.searchsorted(np.sort(observed.values), observed.values) / max(1, observed.values.size)
        times = np.bincount(rows, minlength=count)
        seen = times > 0
        column[seen] = np.bincount(rows, share, minlength=count)[seen] / times[seen]
        columns.append(column)
    return np.stack(columns, axis=-1)


def _thinned(
    observed: Observations, where: np.ndarray, points: np.ndarray, near: np.ndarray, most: int
) -> Observations:
    """At most `most` rows of one objective, in their order."""
    count, coming = observed.values.size, observed.pending.shape[0]
    coming = min(coming, max(most // PENDING, most - count))
    here = np.unique(where)
    chosen = here[_spread(points[here], near[here], most - coming)]
    place = np.full(points.shape[0], points.shape[0])
    place[chosen] = np.arange(chosen.size)
    order = np.lexsort((place[where], _times_before(where)))  # first measurements first
    order = order[place[where[order]] < points.shape[0]]
    rows = np.sort(order[: most - coming])
    pending = observed.pending[observed.pending.shape[0] - coming :]
    return Observations(observed.unit[rows], observed.values[rows], pending)


def _times_before(where: np.ndarray) -> np.ndarray:
    """(n,) how many earlier rows are at the same point."""
    order = np.argsort(where, kind="stable")
    _, first, size = np.unique(where[order], return_index=True, return_counts=True)
    before = np.empty(where.size, int)
    before[order] = np.arange(where.size) - np.repeat(first, size)
    return before


def _spread(points: np.ndarray, near: np.ndarray, most: int) -> np.ndarray:
    """Indices of at most `most` points (P, d): half of them of the best ranks `near` (P,), then always the farthest."""
    if points.shape[0] <= most:
        return np.arange(points.shape[0])
    last = np.sort(near)[most // 2 - 1]  # the rank that half of them end in, which may be large: spread over it, too
    best = np.flatnonzero(near <= last)
    half = best[_farthest(points[best], np.flatnonzero(near[best] < last), most // 2)]
    return _farthest(points, half, most)


def _farthest(points: np.ndarray, taken: np.ndarray, most: int) -> np.ndarray:
    """The indices `taken`, and more up to `most`, each the point farthest from those before (Gonzalez, 1985)."""
    chosen = taken.tolist() or [0]
    apart = np.full(points.shape[0], np.inf)
    for i in chosen:
        np.minimum(apart, np.sum((points - points[i]) ** 2, axis=1), out=apart)
    while len(chosen) < min(most, points.shape[0]):
        chosen.append(int(np.argmax(apart)))
        np.minimum(apart, np.sum((points - points[chosen[-1]]) ** 2, axis=1), out=apart)
    return np.array(chosen)
