"""What SMSego, EHI and SUR measure improvement against: per hyperparameter sample, the front known so far.

For SMSego and SUR it is the Pareto front of the posterior means, found as the sampled Pareto sets are, together with
the means at the measured points (paper, section 4). EHI has the measured points alone, as its authors do: with the
front of the means, as in the paper, a place that only promises much counts as won and is not looked at, which on DTLZ2
of two objectives costs it nearly a whole unit of log hypervolume difference.

The reference point is the objectives' `worst`; where that is unknown, it is the front's nadir and a tenth of its extent
beyond.
"""

from dataclasses import dataclass

import numpy as np

from pesmo.methods.design import candidates
from pesmo.methods.model import Model
from pesmo.pareto.boxes import undominated_boxes
from pesmo.pareto.dominance import nondominated_within
from pesmo.pareto.solve import Functions, Search, pareto_sets
from pesmo.problem import Evidence

GRID = 1024
SEARCH = Search(points=50)
MARGIN = 0.1  # of the front's extent, beyond its nadir
LEAST_EXTENT = 0.1  # in standard deviations of the data: a front of one point has none of its own


@dataclass(frozen=True)
class Known:
    """One sample's front, standardized: points (m, d), values (m, K), extent (K,), and its undominated boxes (B, K)."""

    points: np.ndarray
    values: np.ndarray
    extent: np.ndarray
    reference: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def edges(self, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The distinct edges (T,) of all boxes along objective k; which of them are each box's lower and upper one."""
        edges, which = np.unique(np.concatenate([self.lower[:, k], self.upper[:, k]]), return_inverse=True)
        boxes = self.lower.shape[0]
        return edges, which[:boxes], which[boxes:]


def known_fronts(model: Model, evidence: Evidence, rng: np.random.Generator) -> list[Known]:
    """One front for each of the S samples."""
    measured = evidence.measured_points
    initial = np.concatenate([candidates(model.space, GRID, rng), measured])
    found = pareto_sets(Functions(model.means, model.mean_slopes, model.space.snap, model.worst), initial, SEARCH, rng)
    at_data = model.means(measured)  # (S, n, K)
    return [
        _known(np.concatenate([front.points, measured]), np.concatenate([front.values, values]), model.worst)
        for front, values in zip(found, at_data, strict=True)
    ]


def measured_fronts(model: Model, evidence: Evidence) -> list[Known]:
    """The same of the measured points alone."""
    measured = evidence.measured_points
    return [_known(measured, values, model.worst) for values in model.means(measured)]


def _known(points: np.ndarray, values: np.ndarray, worst: np.ndarray | float) -> Known:
    best = nondominated_within(values, worst)
    points, values = points[best], values[best]
    nadir = values.max(axis=0)
    extent = np.maximum(nadir - values.min(axis=0), LEAST_EXTENT)
    reference = np.where(np.isfinite(worst), worst, nadir + MARGIN * extent)
    lower, upper = undominated_boxes(values, reference)
    return Known(points, values, extent, reference, lower, upper)
