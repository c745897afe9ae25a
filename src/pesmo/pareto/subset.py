"""A representative subset of a front: each objective's best, then always the point farthest from those taken."""

import numpy as np


def representatives(values: np.ndarray, most: int) -> np.ndarray:
    """Indices of at most `most` rows of values (n, K), spread evenly over the front; each objective's best first.

    Farthest-point selection (Gonzalez, 1985) on values scaled to the unit box: within a factor of two of the best
    possible covering radius, and K * n work per point.
    """
    n = values.shape[0]
    if n <= most:
        return np.arange(n)
    low, high = values.min(axis=0), values.max(axis=0)
    scaled = (values - low) / np.where(high > low, high - low, 1.0)
    taken = list(dict.fromkeys(int(i) for i in np.argmin(values, axis=0)))[:most]
    nearest = np.min([np.sum((scaled - scaled[i]) ** 2, axis=1) for i in taken], axis=0)
    while len(taken) < most:
        farthest = int(np.argmax(nearest))
        taken.append(farthest)
        nearest = np.minimum(nearest, np.sum((scaled - scaled[farthest]) ** 2, axis=1))
    return np.array(taken)
