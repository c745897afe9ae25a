"""Points that need no model: the scrambled Sobol design of the first trials, and candidate sets for searches."""

from collections.abc import Iterable

import numpy as np

from pesmo.methods.sequence import sobol
from pesmo.problem import Evidence, Suggestion
from pesmo.space import Space

TRIES = 64  # points of the design that are looked at to find one not yet tried
EXHAUSTED = "every point of the space has been tried: this one repeats an earlier trial"


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


def from_design(evidence: Evidence, only_complete: bool, note: str | None) -> Suggestion:
    """The experiment that is most behind, at its next new point of the study's Sobol design."""
    e = most_behind(evidence, only_complete)
    first = evidence.taken[e].shape[0]
    design = (design_point(evidence.space, evidence.seed, index) for index in range(first, first + TRIES))
    return first_new(evidence, e, design, note)


def first_new(evidence: Evidence, e: int, points: Iterable[np.ndarray], note: str | None) -> Suggestion:
    """The first of `points` (each (d,), tidied here) where experiment e was not run yet; else, of a finite space, any
    that is left; else the last one again."""
    point = np.full(evidence.space.dim, 0.5)
    for proposed in points:
        point = evidence.space.tidy(proposed)
        if not evidence.is_taken(e, point[None, :])[0]:
            return Suggestion(e, point, None, note)
    free = evidence.free_point(e, point)
    if free is not None:
        return Suggestion(e, free, None, note)
    return Suggestion(e, point, None, f"{note}; {EXHAUSTED}" if note else EXHAUSTED)


def most_behind(evidence: Evidence, only_complete: bool) -> int:
    """The experiment that reveals the objective with the fewest values, measured or coming.

    Of those that have a new point left, while there are any.
    """
    usable = evidence.complete | (not only_complete)
    new = usable & ~np.array([evidence.is_exhausted(e) for e in range(usable.size)])
    known = [o.values.size + o.pending.shape[0] for o in evidence.observations]
    fewest = [
        min(n for n, revealed in zip(known, row, strict=True) if revealed) if chosen else np.inf
        for row, chosen in zip(evidence.reveals, new if new.any() else usable, strict=True)
    ]
    return int(np.argmin(fewest))
