"""Who dominates whom, and how much a front covers. The work is moocore's, in C."""

import moocore
import numpy as np

from pesmo.arrays import Array, as_numpy, namespace


def nondominated(values: Array) -> Array:
    """(n,) True for the rows of values (n, K) that no other row dominates; of equal rows only the first counts."""
    xp = namespace(values)
    plain = as_numpy(values)
    if plain.shape[0] == 0:
        return xp.zeros((0,), dtype=xp.bool)
    if plain.shape[1] == 1:
        mask = np.zeros(plain.shape[0], bool)
        mask[np.argmin(plain[:, 0])] = True
    else:
        mask = np.asarray(moocore.is_nondominated(plain, keep_weakly=False), bool)
    return xp.asarray(mask)


def nondominated_within(values: np.ndarray, worst: np.ndarray | float) -> np.ndarray:
    """(n,) the non-dominated rows of values (n, K) that are no worse than `worst`; all of them where none is.

    What dominates a point within the limits is within them too: these are the Pareto-optimal points that matter.
    """
    best = nondominated(values)
    inside = best & np.all(values <= worst, axis=1)
    return inside if inside.any() else best


def ranks(values: np.ndarray) -> np.ndarray:
    """(n,) non-domination rank of each row of values (n, K): 0 for the front, 1 for the front without it, ..."""
    if values.shape[1] == 1:
        return np.unique(values[:, 0], return_inverse=True)[1]
    return np.asarray(moocore.pareto_rank(values), int)


def hypervolume(values: Array, reference: Array) -> float:
    """The volume between the rows of values (n, K) and the reference point (K,)."""
    return float(moocore.hypervolume(as_numpy(values), ref=as_numpy(reference)))
