"""What the figures show, as numbers: computed once for a study, drawn by plotly.js and by matplotlib.

Values on the model's scale are transformed and to be minimized; everything handed to a figure is in the objective's
own units.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pesmo.errors import SpaceError
from pesmo.front import Front
from pesmo.gp.posterior import cross, mean_and_variance
from pesmo.methods.model import Model
from pesmo.methods.sequence import sobol
from pesmo.problem import Objective, Trial
from pesmo.report.progress import Progress, progress_of
from pesmo.report.style import number
from pesmo.space import Choice, Int
from pesmo.study import Study

BACKGROUND = 64  # points that an average over the other inputs is taken over: a power of two, for Sobol
STEPS = 16  # values of one input in a partial dependence
SLICE = 41  # values of one input in a slice
ROWS = 1000  # points predicted at a time: memory
MOST_SLICED = 6  # inputs in a figure of slices: those that matter most


@dataclass(frozen=True)
class Prediction:
    """(n, K) the model's means, and the ends of the 68 % interval, in the objectives' own units."""

    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class Tried:
    """Every point at which anything was measured: (n, K) values, predicted where there is no measurement.

    measured  (n, K) True where the value was measured (the mean, where it was measured more than once)
    """

    inputs: list[dict[str, Any]]
    values: np.ndarray
    measured: np.ndarray


@dataclass(frozen=True)
class Sensitivity:
    """(K, d) shares between 0 and 1; NaN where the objective was declared not to depend on the input.

    effect     variance of the partial dependence along the input, over the variance of the objective
    relevance  the inverse length-scale of the input, over the sum of the objective's
    """

    inputs: list[str]
    effect: np.ndarray
    relevance: np.ndarray


@dataclass(frozen=True)
class Slice:
    """Along one input through a point: (n, K) predictions, averages over the other inputs, and (n, K) alpha_k."""

    name: str
    values: list[Any]
    nearest: int  # the index of the point's own value, which is among the values
    prediction: Prediction
    average: np.ndarray
    alpha: np.ndarray
    words: bool  # the values are options without order
    log: bool


class Snapshot:
    """A study as it is now, with everything that figures need computed at most once."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.space = study.space
        self.objectives = study.objectives
        self.trials: tuple[Trial, ...] = tuple(study.trials)

    @staticmethod
    def of(study: "Study | Snapshot") -> "Snapshot":
        """Figures take either, so that a page of them computes nothing twice."""
        return study if isinstance(study, Snapshot) else Snapshot(study)

    @property
    def has_front(self) -> bool:
        """Every objective has a value: before that nothing can be recommended."""
        told = {name for t in self.trials for name in t.values}
        return all(o.name in told for o in self.objectives)

    @cached_property
    def front(self) -> Front:
        return self.study.recommend()

    @cached_property
    def model(self) -> Model:
        return self.study.fitted()

    @cached_property
    def finished(self) -> list[Trial]:
        """The evaluations in the order of their results; data that was added is not one."""
        done = [t for t in self.trials if t.state in ("complete", "failed") and t.note != "added"]
        return sorted(done, key=lambda t: (t.finished or 0.0, t.id))

    @cached_property
    def tried(self) -> Tried:
        found: dict[tuple[Any, ...], dict[str, list[float]]] = {}
        for trial in self.trials:
            if trial.values:
                point = found.setdefault(tuple(trial.inputs[name] for name in self.space.names), {})
                for name, value in trial.values.items():
                    point.setdefault(name, []).append(value)
        inputs = [dict(zip(self.space.names, key, strict=True)) for key in found]
        predicted = self.predict(self.units(inputs)).mean
        measured = np.array([[o.name in p for o in self.objectives] for p in found.values()])
        means = [[np.mean(p.get(o.name, [np.nan])) for o in self.objectives] for p in found.values()]
        return Tried(inputs, np.where(measured, np.array(means), predicted), measured)

    @cached_property
    def progress(self) -> Progress:
        candidates = self.units([*self.front.inputs, *self.tried.inputs])
        return progress_of(self.model, self.objectives, self.trials, self.finished, candidates, self.study.seed)

    @cached_property
    def compromise(self) -> dict[str, Any]:
        """The recommended point nearest to the best of every objective: where slices are taken unless told."""
        values = np.stack([o.to_model(self.front.means[:, k]) for k, o in enumerate(self.objectives)], axis=-1)
        low, high = values.min(axis=0), values.max(axis=0)
        scaled = (values - low) / np.where(high > low, high - low, 1.0)
        return self.front.inputs[int(np.argmin(np.sum(scaled**2, axis=1)))]

    @cached_property
    def sensitivity(self) -> Sensitivity:
        names = list(self.space.names)
        total = np.var(self._means(self._background), axis=0)
        effect = np.full((len(self.objectives), len(names)), np.nan)
        relevance = np.full_like(effect, np.nan)
        for i, name in enumerate(names):
            spec = self.space.inputs[name]
            along = self._averages(i, np.array([spec.to_unit(value) for value in _grid(spec, STEPS)]))
            shares = np.var(along, axis=0) / np.where(total > 0, total, 1.0)
            for k, objective in enumerate(self.objectives):
                if objective.inputs is None or name in objective.inputs:
                    effect[k, i] = min(1.0, shares[k])
        for k, objective in enumerate(self.objectives):
            columns = [i for i, name in enumerate(names) if objective.inputs is None or name in objective.inputs]
            inverse = np.mean(np.exp(-self.model.surrogates[k].theta[:, :-2]), axis=0)
            relevance[k, columns] = inverse / np.sum(inverse)
        return Sensitivity(names, effect, relevance)

    def slices(self, name: str | None = None, at: dict[str, Any] | None = None) -> tuple[dict[str, Any], list[Slice]]:
        """The point, and a slice through it along one input, or along those that matter most."""
        point = self.space.check(at if at is not None else self.compromise)
        names = [name] if name is not None else self._most_sensitive()
        for n in names:
            if n not in self.space.inputs:
                raise SpaceError(f"no input is called {n!r}; the inputs are {list(self.space.names)}")
        grids = {n: _with(_grid(self.space.inputs[n], SLICE), point[n]) for n in names}
        points = [{**point, n: value} for n, grid in grids.items() for value in grid]
        alpha = self.study.acquisition(points)
        alpha = np.stack([alpha[o.name] for o in self.objectives], axis=-1)
        found, start = [], 0
        for n, grid in grids.items():
            rows = slice(start, start + len(grid))
            start += len(grid)
            units = self.units(points[rows])
            i = self.space.names.index(n)
            nearest = int(np.argmin(np.abs(units[:, i] - self.space.inputs[n].to_unit(point[n]))))
            average = self._restore(self._averages(i, units[:, i]))
            spec = self.space.inputs[n]
            words = isinstance(spec, Choice)
            log = not isinstance(spec, Choice) and spec.log
            found.append(Slice(n, grid, nearest, self.predict(units), average, alpha[rows], words, log))
        return point, found

    # -------------------------------------------------------------------------------------------------- internal

    def units(self, points: list[dict[str, Any]]) -> np.ndarray:
        return np.array([self.space.to_unit(p) for p in points]).reshape(-1, self.space.dim)

    def predict(self, unit: np.ndarray) -> Prediction:
        """At unit points (n, d), averaged over the hyperparameter samples."""
        parts = [self._intervals(unit[first : first + ROWS]) for first in range(0, max(1, unit.shape[0]), ROWS)]
        mean, low, high = (self._restore(v) for v in np.concatenate(parts, axis=1))
        return Prediction(mean, np.minimum(low, high), np.maximum(low, high))

    def _intervals(self, unit: np.ndarray) -> np.ndarray:
        """(3, n, K) standardized means, and these less and plus one standard deviation."""
        columns = []
        for surrogate, x in zip(self.model.surrogates, self.model.features(unit), strict=True):
            mean, variance = mean_and_variance(surrogate.data, x)
            sd = np.sqrt(np.mean(variance, axis=0) + np.var(mean, axis=0))
            centre = np.mean(mean, axis=0)
            columns.append(np.stack([centre, centre - sd, centre + sd]))
        return np.stack(columns, axis=-1)

    def _means(self, unit: np.ndarray) -> np.ndarray:
        """(n, K) standardized posterior means, averaged over the samples."""
        columns = []
        for surrogate, x in zip(self.model.surrogates, self.model.features(unit), strict=True):
            data = surrogate.data  # without variances, which cost N times as much
            columns.append(np.mean(cross(data, x) @ data.weights[..., None], axis=0)[:, 0])
        return np.stack(columns, axis=-1)

    def _restore(self, standardized: np.ndarray) -> np.ndarray:
        pairs = zip(self.objectives, self.model.surrogates, strict=True)
        columns = [o.from_model(s.scaling.restore(standardized[:, k])) for k, (o, s) in enumerate(pairs)]
        return np.stack(columns, axis=-1)

    @cached_property
    def _background(self) -> np.ndarray:
        return self.space.snap(sobol(self.space.dim, 4 * BACKGROUND, self.study.seed))

    def _averages(self, i: int, coordinates: np.ndarray) -> np.ndarray:
        """(n, K) partial dependence: means over the background with input i at each of the coordinates (n,)."""
        points = np.repeat(self._background[None, :BACKGROUND], coordinates.size, axis=0)
        points[:, :, i] = coordinates[:, None]
        means = self._means(points.reshape(-1, self.space.dim))
        return np.mean(means.reshape(coordinates.size, BACKGROUND, -1), axis=1)

    def _most_sensitive(self) -> list[str]:
        """The inputs of a figure of slices, in the order of the space."""
        share = np.max(np.nan_to_num(self.sensitivity.effect + self.sensitivity.relevance), axis=0)
        chosen = np.sort(np.argsort(-share, kind="stable")[:MOST_SLICED])
        return [self.space.names[i] for i in chosen]


def _grid(spec: Any, most: int) -> list[Any]:
    """Values of an input from its lowest to its highest, evenly on its own scale."""
    if isinstance(spec, Choice):
        return list(spec.options)
    if isinstance(spec, Int) and spec.size <= most:
        return list(range(spec.low, spec.high + 1))
    return list(dict.fromkeys(spec.from_unit(float(u)) for u in np.linspace(0.0, 1.0, most)))


def _with(grid: list[Any], value: Any) -> list[Any]:
    """The grid with one value more, in its place."""
    return grid if value in grid else sorted([*grid, value])


def near(objective: Objective, mean: np.ndarray, sd: np.ndarray, tried: np.ndarray) -> tuple[float, float]:
    """The ends of an axis: the front with its bars and half its width around it, or less where nothing was tried."""
    log = objective.transform == "log"
    low = np.maximum(mean - sd, 0.3 * mean) if log else mean - sd  # a bar down to 0 has no end on a log axis
    inner = np.concatenate([low, mean + sd])
    outer = np.concatenate([tried, inner])
    if log:
        inner, outer = np.log10(inner), np.log10(outer)
    first, last = float(np.min(inner)), float(np.max(inner))
    width = (last - first) or abs(last) or 1.0
    first = max(first - 0.5 * width, float(np.min(outer)) - 0.04 * width)
    last = min(last + 0.5 * width, float(np.max(outer)) + 0.04 * width)
    return (10.0**first, 10.0**last) if log else (first, last)


def parallel_axes(front: Front) -> tuple[np.ndarray, np.ndarray, list[tuple[str, str]]]:
    """(n, K) the front and its sds on axes from 0 (the best of the front) to 1, and the texts at their two ends."""
    low, high = front.means.min(axis=0), front.means.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    scaled = (front.means - low) / width
    ends = []
    for k, objective in enumerate(front.objectives):
        best, worst = low[k], high[k]
        if objective.goal == "maximize":
            scaled[:, k] = 1.0 - scaled[:, k]
            best, worst = worst, best
        ends.append((number(float(best), 3), number(float(worst), 3)))
    return scaled, front.sds / width, ends
