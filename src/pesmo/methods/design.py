"""Points that need no model: the scrambled Sobol design of the first trials, and candidate sets for searches."""

import numpy as np

from pesmo.space import Space


def sobol(dim: int, count: int, seed: np.random.Generator | int, skip: int = 0) -> np.ndarray:
    """(count, dim) points of a scrambled Sobol sequence, after the first `skip`; count is a power of two."""
    from scipy.stats import qmc  # late: scipy.stats is most of what `import pesmo` would take

    engine = qmc.Sobol(dim, scramble=True, rng=np.random.default_rng(seed))
    if skip:
        engine.fast_forward(skip)
    return engine.random(count)


def design_point(space: Space, seed: int, index: int) -> np.ndarray:
    """(d,) the index-th point of a study's first design, tidied: the same for every process that asks."""
    return space.tidy(sobol(space.dim, 1, seed, skip=index)[0])


def candidates(space: Space, count: int, rng: np.random.Generator) -> np.ndarray:
    """(n, d) snapped, distinct points that fill the space: all of a small finite space, else about `count`."""
    size = space.size
    if size is not None and size <= count:
        return space.enumerate()
    points = space.snap(sobol(space.dim, count, rng))
    return points if bool(np.all(space.continuous)) else np.unique(points, axis=0)
