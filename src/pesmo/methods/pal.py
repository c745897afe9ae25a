"""PAL (Zuluaga et al., 2013): classify the points of a finite set as Pareto-optimal or not; measure what is uncertain.

Every point keeps a region of values, the intersection of m +- c sd over all iterations. With tolerance epsilon, a
point is out when the worst value of another one that is still in dominates its best value, and Pareto-optimal when no
other one's best value dominates its worst. Out is also a point whose best value is beyond an objective's `worst`. The
next trial is the largest region among those still uncertain (its part that is not beyond `worst`); when none is left,
PAL is finished.

The candidates are the whole space where it is small. Else they are a space-filling set, always the same, and the Pareto
set of the current means, whose regions are the current ones: in 6-D no space-filling set has points near the front, and
PAL would measure less of it than random search does.

Regions are kept in the objectives' own units, as the standardization moves with the data. Hyperparameters move too:
where an old region and the new one do not meet, the old one was wrong and the new one stands alone.
"""

import numpy as np

from pesmo.errors import Finished
from pesmo.methods.design import candidates
from pesmo.methods.model import Model, fit
from pesmo.methods.protocol import Answer, State
from pesmo.methods.recommend import mean_front
from pesmo.pareto.solve import Search
from pesmo.problem import Evidence, Suggestion

CANDIDATES = 512
LIKELY = Search(points=50)  # the Pareto set of the means
WIDTH = 1.0  # c; with the authors' (about 1.9) so little is ruled out that the corners take 50 evaluations in 6-D
EPSILON = 0.01  # tolerance, as a share of each objective's range over the candidates
OUT, UNCERTAIN, OPTIMAL = -1, 0, 1


class Pal:
    needs_design = True
    needs_complete = True
    most_objectives: int | None = None

    def suggest(self, evidence: Evidence, state: State | None, rng: np.random.Generator) -> Answer:
        model = fit(evidence, state, rng)
        points = candidates(evidence.space, CANDIDATES, np.random.default_rng(evidence.seed))
        points = np.stack([evidence.space.tidy(row) for row in points])
        low, high = regions(model, points)
        if state and "low" in state and state["low"][0].shape == low.shape:
            low, high = intersect((state["low"][0], state["high"][0]), (low, high))
        new_state = {**model.state, "low": [low], "high": [high]}
        if evidence.space.size != len(points):
            likely = mean_front(model, evidence.measured_points, LIKELY, rng).points
            likely = np.stack([evidence.space.tidy(row) for row in likely])
            now = regions(model, likely)
            points = np.concatenate([points, likely])
            low, high = np.concatenate([low, now[0]]), np.concatenate([high, now[1]])
        tolerance = EPSILON * (0.5 * high.max(axis=0) - 0.5 * low.min(axis=0))
        classes = classify(0.5 * low, 0.5 * high, 0.5 * tolerance)  # halves: huge values have no sum
        worst = evidence.worst if np.any(np.all(low <= evidence.worst, axis=1)) else np.inf
        classes = np.where(np.any(low > worst, axis=1), OUT, classes)
        e = int(np.argmax(evidence.complete))
        free = ~evidence.is_taken(e, points)
        open_ = (classes == UNCERTAIN) & free
        if not open_.any():
            raise Finished(
                f"PAL has classified all of its {len(points)} candidates: {np.sum(classes == OPTIMAL)} are "
                "Pareto-optimal to its tolerance. Recommend the front, or continue with another method"
            )
        scale = np.where(tolerance > 0.0, tolerance, 1.0)  # sizes in tolerances: objectives of any unit compare
        size = np.linalg.norm((0.5 * np.minimum(high, worst) - 0.5 * low) / (0.5 * scale), axis=1)
        best = int(np.argmax(np.where(open_, size, -1.0)))
        return Answer(Suggestion(e, points[best]), new_state)


def regions(model: Model, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper corners (n, K) of m +- c sd, averaged over the samples, in the objectives' own scale."""
    mean, sd = model.moments(points)  # (S, n, K)
    centre = mean.mean(axis=0)
    half = WIDTH * np.sqrt(np.mean(sd**2, axis=0) + np.var(mean, axis=0))
    low = [s.scaling.restore(column) for s, column in zip(model.surrogates, (centre - half).T, strict=True)]
    high = [s.scaling.restore(column) for s, column in zip(model.surrogates, (centre + half).T, strict=True)]
    return np.stack(low, axis=1), np.stack(high, axis=1)


Region = tuple[np.ndarray, np.ndarray]


def intersect(old: Region, new: Region) -> Region:
    """The regions common to both; the new one where an objective's intervals do not meet."""
    low, high = np.maximum(old[0], new[0]), np.minimum(old[1], new[1])
    meet = low <= high
    return np.where(meet, low, new[0]), np.where(meet, high, new[1])


def classify(low: np.ndarray, high: np.ndarray, tolerance: np.ndarray) -> np.ndarray:
    """(n,) OUT, UNCERTAIN or OPTIMAL for regions [low, high] (n, K), with tolerance (K,).

    Only a point that stays may throw another one out: of two points within each other's tolerance one remains. They
    are judged by their worst values, best first.
    """
    out = np.zeros(low.shape[0], bool)
    scale = np.where(tolerance > 0.0, tolerance, 1.0)
    order = np.argsort(np.sum(high / scale, axis=1), kind="stable")
    for place, i in enumerate(order):
        stay = order[:place][~out[order[:place]]]
        out[i] = np.any(np.all(high[stay] <= low[i] + tolerance, axis=1))
    other = ~np.eye(low.shape[0], dtype=bool) & ~out
    perhaps = np.any(np.all(low[None, :, :] + tolerance <= high[:, None, :], axis=2) & other, axis=1)
    return np.where(out, OUT, np.where(perhaps, UNCERTAIN, OPTIMAL))
