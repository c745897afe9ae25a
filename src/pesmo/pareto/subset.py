"""A representative subset of a front: each objective's best, then always the point farthest from those taken."""

import numpy as np


def representatives(values: np.ndarray, most: int) -> np.ndarray:
    """Indices of at most `most` rows of values (n, K), spread evenly over the front; each objective's best first.

    Farthest-point selection (Gonzalez, 1985) on values scaled to the unit box: within a factor of two of the best
    possible covering radius. All distances come from one product of matrices, right to 1e-8 of the box: a step is then
    two operations on rows, and there are thousands of them in a suggestion.
    """
    n = values.shape[0]
    if n <= most:
        return np.arange(n)
    low, high = values.min(axis=0), values.max(axis=0)
    scaled = (values - low) / np.where(high > low, high - low, 1.0)
    square = np.sum(scaled**2, axis=1)
    apart = square[:, None] + square - 2.0 * (scaled @ scaled.T)  # (n, n) squared distances
    np.fill_diagonal(apart, -1.0)  # what is taken is never the farthest, however near the others are
    taken = list(dict.fromkeys(int(i) for i in np.argmin(values, axis=0)))[:most]
    nearest = np.min(apart[taken], axis=0)
    while len(taken) < most:
        farthest = int(nearest.argmax())
        taken.append(farthest)
        np.minimum(nearest, apart[farthest], out=nearest)
    return np.array(taken)
