"""How the front grew: the hypervolume of the fronts one would have recommended earlier, judged by what is known now.

Values of decoupled experiments never meet in one point, so a hypervolume of measurements says nothing about them. Here
the model is conditioned on the results there were at each time, its Pareto set among many candidates is taken, and that
set is valued by the model of all the data. Hyperparameters stay those of now: one Cholesky per time and objective.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pesmo.arrays import cholesky
from pesmo.gp.kernels import kernel
from pesmo.gp.posterior import cross
from pesmo.methods.design import candidates
from pesmo.methods.model import Model, Surrogate
from pesmo.methods.subset import MOST
from pesmo.pareto.dominance import hypervolume, nondominated
from pesmo.pareto.subset import representatives
from pesmo.problem import Objective, Trial

TIMES = 60  # points of the curve, at most
FILL = 512  # space-filling candidates beside the recommended and the measured points
FIRST = 5  # values of every objective before a front is worth the name: means of fewer say little
SIZE = 50  # points of an earlier front
MOST_TRIED = 500  # measured points among the candidates


@dataclass(frozen=True)
class Progress:
    """Shares of the present front's hypervolume after `evaluations` (n,) that had cost `cost` (n,).

    predicted  (n,) of the front recommended then; NaN while an objective had fewer than FIRST values
    measured   (n,) of the points measured in every objective by then; None where there are fewer than two
    """

    evaluations: np.ndarray
    cost: np.ndarray
    predicted: np.ndarray
    measured: np.ndarray | None


def progress_of(
    model: Model,
    objectives: Sequence[Objective],
    trials: Sequence[Trial],
    finished: Sequence[Trial],
    known: np.ndarray,
    seed: int,
) -> Progress:
    """`finished` are the evaluations in the order of their results, `known` (n, d) the points worth a look."""
    fill = candidates(model.space, FILL, np.random.default_rng(seed))
    points = np.concatenate([known[:MOST_TRIED], fill])
    features = model.features(points)
    pairs = list(zip(model.surrogates, features, strict=True))
    now = np.stack([np.mean(cross(s.data, x) @ s.data.weights[..., None], axis=0)[:, 0] for s, x in pairs], axis=-1)
    reference = _reference(now)
    whole = _recommended(now, now, reference)

    added = [t for t in trials if t.note == "added"]
    order = {t.id: i + 1 for i, t in enumerate(finished)} | {t.id: 0 for t in added}
    times = np.unique(np.linspace(min(1, len(finished)), len(finished), TIMES).astype(int))
    histories = [
        _History(surrogate, objective, model, trials, order, x)
        for (surrogate, x), objective in zip(pairs, objectives, strict=True)
    ]
    predicted = np.full(times.size, np.nan)
    for i, time in enumerate(times):
        means = [history.means(time) for history in histories]
        if all(m is not None for m in means):
            seen = np.stack([m for m in means if m is not None], axis=-1)
            predicted[i] = _recommended(seen, now, reference) / whole
    cost = np.concatenate([[0.0], np.cumsum([t.cost for t in finished])])
    return Progress(times, cost[times], predicted, _measured(model, objectives, trials, order, times, reference, whole))


class _History:
    """One objective's posterior mean at the candidates, as it was at earlier times."""

    def __init__(
        self,
        surrogate: Surrogate,
        objective: Objective,
        model: Model,
        trials: Sequence[Trial],
        order: dict[int, int],
        x: np.ndarray,
    ) -> None:
        told = [t for t in trials if objective.name in t.values and t.id in order]
        if len(told) > MOST:  # evenly over time: its Cholesky factors are of all that was known at each of the times
            told = [told[i] for i in np.linspace(0, len(told) - 1, MOST).astype(int)]
        unit = np.array([model.space.to_unit(t.inputs) for t in told]).reshape(-1, model.space.dim)
        data = model.space.features(unit)[:, surrogate.columns]
        values = objective.to_model(np.array([t.values[objective.name] for t in told], float))
        self.values = surrogate.scaling.standardize(values)
        self.when = np.array([order[t.id] for t in told])
        prior = surrogate.data
        scales = np.exp(np.mean(np.log(prior.scales), axis=0, keepdims=True))
        amplitude = np.exp(np.mean(np.log(prior.amplitude), keepdims=True))
        self.noise = float(np.mean(prior.noise))
        self.cross = kernel(x, data, scales, amplitude)[0]
        self.covariance = kernel(data, data, scales, amplitude)[0]

    def means(self, time: int) -> np.ndarray | None:
        rows = np.flatnonzero(self.when <= time)
        if rows.size < min(FIRST, self.values.size):
            return None
        root = cholesky((self.covariance[np.ix_(rows, rows)] + self.noise * np.eye(rows.size))[None])[0]
        weights = np.linalg.solve(root.T, np.linalg.solve(root, self.values[rows]))
        return self.cross[:, rows] @ weights


def _measured(
    model: Model,
    objectives: Sequence[Objective],
    trials: Sequence[Trial],
    order: dict[int, int],
    times: np.ndarray,
    reference: np.ndarray,
    whole: float,
) -> np.ndarray | None:
    """Shares of the points at which every objective was measured, each in one trial."""
    names = [o.name for o in objectives]
    full = [t for t in trials if all(n in t.values for n in names) and t.id in order]
    if len(full) < 2:
        return None
    columns = []
    for objective, surrogate in zip(objectives, model.surrogates, strict=True):
        values = objective.to_model(np.array([t.values[objective.name] for t in full], float))
        columns.append(surrogate.scaling.standardize(values))
    values = np.stack(columns, axis=-1)
    when = np.array([order[t.id] for t in full])
    return np.array([_volume(values[when <= time], reference) / whole for time in times])


def _recommended(seen: np.ndarray, now: np.ndarray, reference: np.ndarray) -> float:
    """The hypervolume, by the values of now (n, K), of the front that values `seen` (n, K) would recommend."""
    rows = np.flatnonzero(nondominated(seen))
    return _volume(now[rows[representatives(seen[rows], SIZE)]], reference)


def _volume(values: np.ndarray, reference: np.ndarray) -> float:
    """The hypervolume of values (n, K), thinned to as many points as its cost allows."""
    k = values.shape[1]
    inside = values[np.all(values < reference, axis=1)]
    if inside.shape[0] == 0:
        return 0.0
    if k == 1:
        return float(reference[0] - np.min(inside))
    front = inside[nondominated(inside)]
    most = 100 if k <= 5 else 50 if k <= 8 else 20
    return hypervolume(front[representatives(front, most)], reference)


def _reference(values: np.ndarray) -> np.ndarray:
    """(K,) a tenth of the front's range beyond its worst; the worst of all values where the front has no range."""
    front = values[nondominated(values)]
    width = np.ptp(front, axis=0)
    return np.where(width > 1e-9, np.max(front, axis=0) + 0.1 * width, np.max(values, axis=0) + 1e-9)
