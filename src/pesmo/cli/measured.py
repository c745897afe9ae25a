"""What the measurements say by themselves, without a model: the same at once for ten trials and for ten thousand."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pesmo.pareto.dominance import hypervolume, nondominated
from pesmo.problem import Objective, Trial
from pesmo.study import Study

FEW_OBJECTIVES = 4  # up to here a hypervolume is computed however many points there are: 0.1 s for 20,000
MOST_OBJECTIVES, MOST_POINTS = 6, 200  # and up to here; beyond, its time grows steeply with both


@dataclass(frozen=True)
class Measured:
    """Points where every objective was measured, by one trial or by several; K objectives on the scale of the model.

    points  (n, K) of repeated measurements the mean
    best, worst  (K,) of all values measured; NaN where there is none
    """

    points: np.ndarray
    best: np.ndarray
    worst: np.ndarray

    @property
    def front(self) -> np.ndarray:
        """(m, K) the points that no other one dominates."""
        return self.points[nondominated(self.points)]

    def covered(self, points: np.ndarray) -> float | None:
        """The hypervolume of points (m, K) as a share of the box between the best and the worst value measured.

        None while that box has no volume, and where it would take long to compute.
        """
        m, k = points.shape
        if not np.all(self.worst > self.best) or (k > FEW_OBJECTIVES and (k > MOST_OBJECTIVES or m > MOST_POINTS)):
            return None
        scaled = np.clip((points - self.best) / (self.worst - self.best), 0.0, 1.0)
        if k == 1:
            return 1.0 - float(scaled.min(initial=1.0))
        return hypervolume(scaled, np.ones(k)) if m else 0.0


def measured(study: Study, trials: Sequence[Trial]) -> Measured:
    """What these trials of a study measured."""
    told = [t for t in trials if t.values]
    names = study.space.names
    places: dict[tuple[object, ...], int] = {}
    at = [places.setdefault(tuple((v := t.inputs[n], type(v)) for n in names), len(places)) for t in told]
    columns = [_column(o, told, at, len(places)) for o in study.objectives]
    points = np.stack([means for means, _, _ in columns], axis=-1)
    return Measured(
        points[~np.isnan(points).any(axis=1)],
        np.array([best for _, best, _ in columns]),
        np.array([worst for _, _, worst in columns]),
    )


def _column(objective: Objective, told: Sequence[Trial], at: Sequence[int], n: int) -> tuple[np.ndarray, float, float]:
    """(n,) the mean at each place, NaN where there is no value; the best and the worst value."""
    pairs = [(i, t.values[objective.name]) for i, t in zip(at, told, strict=True) if objective.name in t.values]
    if not pairs:
        return np.full(n, np.nan), np.nan, np.nan
    index = np.array([i for i, _ in pairs])
    values = objective.to_model(np.array([value for _, value in pairs], float))
    count = np.bincount(index, minlength=n)
    means = np.divide(np.bincount(index, values, n), count, out=np.full(n, np.nan), where=count > 0)
    return means, float(values.min()), float(values.max())
