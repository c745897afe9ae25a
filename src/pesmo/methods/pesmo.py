"""PESMO (Hernandez-Lobato et al., 2016): run what is expected to tell most about the Pareto set, per unit of cost.

One suggestion: fit the models -> draw every objective once per hyperparameter sample -> the Pareto set of each draw
-> EP given each Pareto set -> alpha_k -> maximize, per experiment, the sum of alpha_k over what it reveals, over cost.
"""

from dataclasses import dataclass, replace

import numpy as np

from pesmo.entropy.candidate import View, alpha, alpha_and_gradient, screen
from pesmo.entropy.propagate import Conditioned, propagate
from pesmo.gp.posterior import again, covariance_of, distinct, project, variance_of
from pesmo.methods.design import candidates
from pesmo.methods.maximize import maximize
from pesmo.methods.model import Model, fit
from pesmo.methods.protocol import Answer, State
from pesmo.pareto.dominance import ranks
from pesmo.pareto.solve import Front, Functions, Search, pareto_sets
from pesmo.problem import Evidence

# A place that is in the Pareto set of one draw in ten looks better than it is, and ten draws nearly always have such a
# place. So with few objectives each hyperparameter sample is drawn from twice. With many, the sum over them evens out
# what one draw says; and there EP gets worse, not better, by factors for each objective's best (docs/accuracy.md).
FEW = 3  # objectives
DRAWS = 2  # for each hyperparameter sample, where objectives are few
GRID = 1024  # first points of the Pareto search, and candidates of the maximization
SEARCH = Search(points=50)  # of each draw's Pareto set: M at most 50
DATA_CHECKED = 100  # data points whose probability to dominate is looked at, at most
DATA_ROWS = 16  # data points with factors, at most, per draw
RESOLUTION = 0.3  # of the front's uncertainty: experiments are not compared by finer details than this
RELEVANT = 1e-2  # least probability that a data point dominates a Pareto point for it to have factors


class Pesmo:
    needs_design = True
    needs_complete = False
    most_objectives: int | None = None

    def suggest(self, evidence: Evidence, state: State | None, rng: np.random.Generator) -> Answer:
        acquisition = condition_on_pareto_sets(fit_and_draw(evidence, state, rng), evidence, rng)
        best = maximize(acquisition, evidence, rng)
        gain = float(acquisition.value(best.unit[None, :])[best.experiment, 0])
        return Answer(replace(best, gain=gain), acquisition.model.state)


@dataclass(frozen=True)
class Acquisition:
    """alpha_k as a function of unit-cube points; an experiment's is the sum over what it reveals."""

    model: Model
    reveals: np.ndarray  # (E, K)
    views: list[View]
    conditioned: Conditioned
    fronts: list[Front]
    blur: np.ndarray  # (K,) see `_blur`
    logarithmic: bool = False

    @property
    def usable(self) -> np.ndarray:
        """(E,) True: every experiment teaches something."""
        return np.ones(self.reveals.shape[0], bool)

    @property
    def promising(self) -> np.ndarray:
        """(n, d) the sampled Pareto points: the best start of a climb is usually among them."""
        return np.concatenate([front.points for front in self.fronts])

    def screen(self, unit: np.ndarray) -> np.ndarray:
        """(E, n) nearly the sum of alpha_k at (n, d), cheaply: enough to choose where to compute it."""
        return self.reveals @ screen(self.views, self.conditioned, self.model.features(unit))

    def value(self, unit: np.ndarray) -> np.ndarray:
        """(E, n) the sum of alpha_k over what each experiment reveals, at (n, d)."""
        return self.reveals @ self.alpha(unit)

    def alpha(self, unit: np.ndarray) -> np.ndarray:
        """(K, n) alpha_k, in nats, at (n, d)."""
        return alpha(self.views, self.conditioned, self.model.features(unit))

    def compare(self, unit: np.ndarray) -> np.ndarray:
        """(E, n) the same at the resolution that matters, by which experiments are compared with each other.

        Information has no scale: of an objective that is cheap and known far better than the others, every further
        digit is worth as many nats as the first one was, and the dear objective's turn would never come.
        """
        return self.reveals @ alpha(self.views, self.conditioned, self.model.features(unit), self.blur)

    def value_and_gradient(self, unit: np.ndarray, e: int) -> tuple[float, np.ndarray]:
        """Experiment e's sum of alpha_k at one point (d,), and its gradient (d,), 0 along discrete inputs."""
        features = self.model.features(unit[None, :])
        value, per_objective = alpha_and_gradient(self.views, self.conditioned, features, self.reveals[e])
        return float(value[0]), self.model.to_inputs(per_objective)[0].sum(axis=0)


def fit_and_draw(evidence: Evidence, state: State | None, rng: np.random.Generator) -> Model:
    """The models, with as many draws as PESMO needs."""
    return fit(evidence, state, rng, DRAWS if len(evidence.objectives) <= FEW else 1)


def condition_on_pareto_sets(model: Model, evidence: Evidence, rng: np.random.Generator) -> Acquisition:
    """Sample the Pareto sets and run EP on them."""
    data = evidence.measured_points
    initial = np.concatenate([candidates(model.space, GRID, rng), data])
    fronts = pareto_sets(
        Functions(model.evaluate_paths, model.path_slopes, model.space.snap, model.worst), initial, SEARCH, rng
    )
    pareto, real = _stack([front.points for front in fronts], 0.5)
    data = _hopeful(model, data)
    at_pareto = [project(s.posterior, x) for s, x in zip(model.surrogates, model.features(pareto), strict=True)]
    at_data = [project(distinct(s.posterior), x) for s, x in zip(model.surrogates, model.features(data), strict=True)]
    rows, present = _relevant_data(model, at_data, at_pareto, real)
    points = np.concatenate([pareto, data[rows]], axis=1)  # (S, P, d)
    views, means, covariances = [], [], []
    for s, x, (mean_j, white_j), (mean_i, white_i) in zip(
        model.surrogates, model.features(points), at_pareto, at_data, strict=True
    ):
        sample = np.arange(rows.shape[0])[:, None] % mean_i.shape[0]  # (S, 1) the distinct sample of each draw
        whitened = np.concatenate([white_j, np.moveaxis(white_i[sample, :, rows], 1, 2)], axis=2)
        views.append(View(s.posterior, x, whitened))
        means.append(np.concatenate([mean_j, mean_i[sample, rows]], axis=1))
        covariances.append(covariance_of(s.posterior, x, whitened))
    active = _active(model.space.snap(points), np.concatenate([real, present], axis=1), real)
    best = _best(fronts, model.worst, pareto.shape[1])
    conditioned = propagate(np.stack(means, axis=1), np.stack(covariances, axis=1), active, real, best)
    blur = _blur(fronts, covariances, real)
    return Acquisition(model, evidence.reveals.astype(float), views, conditioned, fronts, blur)


def _blur(fronts: list[Front], covariances: list[np.ndarray], real: np.ndarray) -> np.ndarray:
    """(K,) variances: RESOLUTION times the uncertainty of the front in the objective that is known least.

    Uncertainty is the posterior's standard deviation at the sampled Pareto points, in units of the front's extent.
    """
    extent = np.median([np.ptp(front.values, axis=0) for front in fronts], axis=0)
    extent = np.where(extent > 0.0, extent, 1.0)
    m = real.shape[1]
    variances = [np.diagonal(c, axis1=1, axis2=2)[:, :m][real] for c in covariances]  # K times (all Pareto points,)
    uncertainty = np.sqrt([max(float(np.mean(v)), 0.0) for v in variances]) / extent
    return (RESOLUTION * np.max(uncertainty) * extent) ** 2


def _stack(sets: list[np.ndarray], filling: float) -> tuple[np.ndarray, np.ndarray]:
    """(S, n, ...) sets padded to the largest with a filling, and (S, n) True for what is no padding."""
    most = max(s.shape[0] for s in sets)
    stacked = np.full((len(sets), most, *sets[0].shape[1:]), filling, sets[0].dtype)
    real = np.zeros((len(sets), most), bool)
    for i, s in enumerate(sets):
        stacked[i, : s.shape[0]] = s
        real[i, : s.shape[0]] = True
    return stacked, real


def _hopeful(model: Model, data: np.ndarray) -> np.ndarray:
    """Of many data points, those of the best ranks under the draws' average: the others hardly dominate anything."""
    if data.shape[0] <= DATA_CHECKED:
        return data
    average = np.mean(model.evaluate_paths(data), axis=0)
    return data[np.argsort(ranks(average), kind="stable")[:DATA_CHECKED]]


def _relevant_data(
    model: Model,
    at_data: list[tuple[np.ndarray, np.ndarray]],
    at_pareto: list[tuple[np.ndarray, np.ndarray]],
    real: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Per draw, the data points that might dominate a Pareto point: the others' factors change nothing.

    log Pr(x_i dominates x*_j) <= sum_k log Phi(min(0, mean_j - mean_i) / (sd_i + sd_j)), as no correlation makes the
    difference's sd larger than the sum of the two; log Phi(-t) <= -t^2 / 2 bounds it without special functions.

    at_data    per objective, the projection (see gp/posterior.py) of the data points, of each distinct sample
    at_pareto  per objective, that of the Pareto points, of each draw
    Gives rows (S, r) of the data, and (S, r) False for padding.
    """
    bound = 0.0
    for surrogate, (mean_i, white_i), (mean_j, white_j) in zip(model.surrogates, at_data, at_pareto, strict=True):
        posterior = surrogate.posterior
        sd_i = np.sqrt(variance_of(distinct(posterior), white_i))
        sd_j = np.sqrt(variance_of(posterior, white_j))
        sd = again(posterior, sd_i)[:, :, None] + sd_j[:, None, :] + 1e-12
        worse = np.maximum(again(posterior, mean_i)[:, :, None] - mean_j[:, None, :], 0.0)
        bound = bound - 0.5 * (worse / sd) ** 2
    likely = np.max(np.where(real[:, None, :], bound, -np.inf), axis=2)  # (S, n)
    order = np.argsort(-likely, axis=1, kind="stable")[:, :DATA_ROWS]
    few = [best[row[best] > np.log(RELEVANT)] for best, row in zip(order, likely, strict=True)]
    return _stack(few, 0)


def _best(fronts: list[Front], worst: np.ndarray | float, most: int) -> np.ndarray:
    """(S, K, M) True for each draw's best point of each objective, where objectives are few: the ends of its front.

    Where a front is cut off by the `worst` of another objective, its end need not be the objective's best.
    """
    objectives = fronts[0].values.shape[1]
    limited = np.isfinite(np.broadcast_to(worst, (objectives,)))
    whole = (np.sum(limited) - limited == 0) & (objectives <= FEW)  # (K,) no other objective has a limit
    best = np.zeros((len(fronts), objectives, most), bool)
    for s, front in enumerate(fronts):
        best[s, np.arange(objectives), np.argmin(front.values, axis=0)] = whole
    return best


def _active(points: np.ndarray, valid: np.ndarray, real: np.ndarray) -> np.ndarray:
    """(S, P, M) True where the factor (i, j) exists: both points are real, and they are two different points."""
    m = real.shape[1]
    gap = np.max(np.abs(points[:, :, None, :] - points[:, None, :m, :]), axis=-1)
    return valid[:, :, None] & real[:, None, :] & (gap > 1e-9)
