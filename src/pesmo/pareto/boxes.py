"""The region that a front leaves undominated, cut into boxes: what hypervolume gains and their expectations need.

A front (m, K), to be minimized, below a reference point r. Local upper bounds (Klamroth, Lacour and Vanderpooten, 2015)
are the corners u such that the undominated region is the union of the orthants {y <= u}; adding a point z replaces each
bound u > z by its projections u with u_j = z_j, kept where the point that defines another coordinate lies below z in j.
The bounds and the points that define them also cut the *dominated* region into disjoint boxes (Lacour, Klamroth and
Fonseca, 2017). The undominated region is the dominated region of the negated bounds: two runs of the same procedure.
"""

import numpy as np

from pesmo.pareto.subset import representatives

MOST = 1000  # boxes; a front with more is thinned to evenly spread points
MOST_BOUNDS = 2 * MOST  # on the way to them: many turn out empty


def undominated_boxes(values: np.ndarray, reference: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper corners (B, K), lower ones may be -inf, of disjoint boxes: all below the reference point (K,)
    that no row of values (m, K) dominates."""
    inside = values[np.all(values < reference, axis=1)]
    points = inside.shape[0]
    while True:
        kept = inside[representatives(inside, points)] if points < inside.shape[0] else inside
        cut = _local_upper_bounds(kept, reference)
        if cut is not None:
            boxes = _dominated_boxes(-cut[0], np.full(reference.shape, np.inf))
            if boxes is not None and (boxes[0].shape[0] <= MOST or points <= 1):
                return -boxes[1], -boxes[0]
        points = points * 2 // 3


def hypervolume_gains(lower: np.ndarray, upper: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(n,) how much hypervolume each row of values (n, K) alone adds to the front whose undominated boxes are given."""
    sides = upper - np.maximum(lower, values[:, None, :])  # (n, B, K)
    return np.sum(np.prod(np.maximum(sides, 0.0), axis=-1), axis=-1)


def _local_upper_bounds(values: np.ndarray, reference: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Bounds (B, K), and the points (B, K, K) that define them: row j of one defines its coordinate j.

    None where they become too many, which with eight objectives a dozen points bring about.
    """
    k = reference.shape[0]
    bounds = reference[None, :].copy()
    makers = np.full((1, k, k), -np.inf)
    makers[0, np.arange(k), np.arange(k)] = reference
    for z in values:
        cut = np.all(z < bounds, axis=1)
        old, by = bounds[cut], makers[cut]
        new_bounds, new_makers = [bounds[~cut]], [makers[~cut]]
        for j in range(k):
            others = np.max(np.delete(by[:, :, j], j, axis=1), axis=1, initial=-np.inf)
            keep = z[j] >= others
            projected, made = old[keep].copy(), by[keep].copy()
            projected[:, j] = z[j]
            made[:, j, :] = z
            new_bounds.append(projected)
            new_makers.append(made)
        bounds, makers = np.concatenate(new_bounds), np.concatenate(new_makers)
        if bounds.shape[0] > MOST_BOUNDS:
            return None
    return bounds, makers


def _dominated_boxes(values: np.ndarray, reference: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Lower and upper corners (B, K) of disjoint boxes that make up what the rows of values dominate."""
    cut = _local_upper_bounds(values, reference)
    if cut is None:
        return None
    bounds, makers = cut
    lower, upper = np.empty_like(bounds), bounds.copy()
    lower[:, 0], upper[:, 0] = makers[:, 0, 0], reference[0]
    for j in range(1, reference.shape[0]):
        lower[:, j] = np.max(makers[:, :j, j], axis=1)
    real = np.all(lower < upper, axis=1)
    return lower[real], upper[real]
