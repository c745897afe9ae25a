"""The models of all objectives: hyperparameters sampled, posteriors conditioned, paths drawn for each sample.

Pending points (running, or failed and never coming) count as measured, per sample at the values its own path has
there: the posterior narrows where an answer is on its way, without pretending to know the answer.
"""

from dataclasses import dataclass, replace

import numpy as np

from pesmo.gp.hyper import default_prior, pairwise, slice_sample, start
from pesmo.gp.paths import Paths, draw_paths, evaluate, slopes
from pesmo.gp.posterior import Posterior, condition, cross, mean_and_variance, mean_slope, repeated
from pesmo.gp.scaling import Scaling, scaling_of
from pesmo.methods.protocol import State
from pesmo.problem import Evidence, Objective, Observations
from pesmo.space import Space

SAMPLES = 10  # hyperparameter samples
BURN_IN = 40  # moves of fresh chains, on at most BURN_IN_ROWS observations
BURN_IN_ROWS = 60
WARM_MOVES = 2000  # warm chains make WARM_MOVES / N moves in all: one more value among many moves a posterior little
MOST_MOVES = 8  # of one chain
FAR = 1e6  # standard deviations from the data: a limit beyond is none, or one that nothing will meet; most noise, too
LEAST_SD = 1e-9  # of standardized values, where a division needs one


@dataclass(frozen=True)
class Surrogate:
    """One objective: its GP under S hyperparameter samples, for standardized values."""

    columns: np.ndarray  # (F_k,) the feature columns it depends on
    scaling: Scaling
    theta: np.ndarray  # (S, d_k + 2)
    data: Posterior  # given the observations
    posterior: Posterior  # given the observations and the pending points' fantasies
    paths: Paths


@dataclass(frozen=True)
class Model:
    space: Space
    surrogates: tuple[Surrogate, ...]
    worst: np.ndarray | float = np.inf  # (K,) standardized values beyond which nothing is of interest
    draws: int = 1  # for each hyperparameter sample; all samples come once before the first comes again

    def features(self, unit: np.ndarray) -> list[np.ndarray]:
        """Per objective, what its GP sees at unit points (..., d)."""
        everything = self.space.features(unit)
        return [everything[..., s.columns] for s in self.surrogates]

    def evaluate_paths(self, unit: np.ndarray) -> np.ndarray:
        """The sampled objectives (S, n, K) at (n, d), or each sample at its own points (S, n, d)."""
        features = self.features(unit)
        return np.stack([evaluate(s.paths, x) for s, x in zip(self.surrogates, features, strict=True)], axis=-1)

    def path_slopes(self, unit: np.ndarray) -> np.ndarray:
        """The gradients (S, n, K, d) of the sampled objectives, each sample at its own points (S, n, d)."""
        features = self.features(unit)
        return self.to_inputs([slopes(s.paths, x) for s, x in zip(self.surrogates, features, strict=True)])

    def means(self, unit: np.ndarray) -> np.ndarray:
        """The posterior means (S, n, K) at (n, d), or each sample's at its own points (S, n, d)."""
        pairs = zip(self.surrogates, self.features(unit), strict=True)
        return np.stack([(cross(s.posterior, x) @ s.posterior.weights[..., None])[..., 0] for s, x in pairs], axis=-1)

    def mean_slopes(self, unit: np.ndarray) -> np.ndarray:
        """Their gradients (S, n, K, d)."""
        pairs = zip(self.surrogates, self.features(unit), strict=True)
        return self.to_inputs([mean_slope(s.posterior, x) for s, x in pairs])

    def moments(self, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Posterior means and standard deviations, each (S, n, K), at (n, d)."""
        pairs = zip(self.surrogates, self.features(unit), strict=True)
        means, variances = zip(*[mean_and_variance(s.posterior, x) for s, x in pairs], strict=True)
        return np.stack(means, axis=-1), np.maximum(np.sqrt(np.stack(variances, axis=-1)), LEAST_SD)

    def without_pending(self) -> "Model":
        """The same model given only what was really measured."""
        return replace(self, surrogates=tuple(replace(s, posterior=s.data) for s in self.surrogates))

    def to_inputs(self, gradients: list[np.ndarray]) -> np.ndarray:
        """(..., K, d) gradients along the inputs, 0 along discrete ones, from those along each objective's features."""
        rows = []
        for surrogate, gradient in zip(self.surrogates, gradients, strict=True):
            row = np.zeros((*gradient.shape[:-1], self.space.dim))
            owners = self.space.owners[surrogate.columns]
            moving = self.space.continuous[owners]  # a Float is one column
            row[..., owners[moving]] = gradient[..., moving]
            rows.append(row)
        return np.stack(rows, axis=-2)

    @property
    def state(self) -> State:
        """What the next fit starts from: the hyperparameter chains."""
        return {"theta": [s.theta[: s.theta.shape[0] // self.draws] for s in self.surrogates]}


def fit(evidence: Evidence, state: State | None, rng: np.random.Generator, draws: int = 1) -> Model:
    """All objectives' surrogates, each sample `draws` times. `state` is the last model's, None for fresh chains."""
    surrogates = []
    for k, (objective, observed) in enumerate(zip(evidence.objectives, evidence.observations, strict=True)):
        previous = state["theta"][k] if state and "theta" in state else None
        surrogates.append(fit_one(evidence.space, objective, observed, previous, rng, draws))
    with np.errstate(over="ignore"):
        worst = np.array([s.scaling.standardize(w) for s, w in zip(surrogates, evidence.worst, strict=True)])
    worst = np.where(worst < FAR, np.maximum(worst, -FAR), np.inf)
    return Model(evidence.space, tuple(surrogates), worst, draws)


def feature_columns(space: Space, objective: Objective) -> tuple[np.ndarray, np.ndarray, int]:
    """The feature columns (F_k,) an objective depends on, which of its d_k inputs each belongs to (F_k,), and d_k."""
    inputs = [i for i, name in enumerate(space.names) if objective.inputs is None or name in objective.inputs]
    columns = np.flatnonzero(np.isin(space.owners, inputs))
    return columns, np.searchsorted(inputs, space.owners[columns]), len(inputs)


def fit_one(
    space: Space,
    objective: Objective,
    observed: Observations,
    previous: np.ndarray | None,
    rng: np.random.Generator,
    draws: int = 1,
) -> Surrogate:
    scaling = scaling_of(observed.values)
    y = scaling.standardize(observed.values)
    columns, owners, d = feature_columns(space, objective)
    x = space.features(observed.unit)[:, columns]
    noise = None if objective.noise is None else min(objective.noise / scaling.size, FAR) ** 2
    theta = sample_hyperparameters(x, y, owners, d, noise, previous, rng)
    return surrogate(space, objective, observed, scaling, theta, rng, draws)


def surrogate(
    space: Space,
    objective: Objective,
    observed: Observations,
    scaling: Scaling,
    theta: np.ndarray,
    rng: np.random.Generator,
    draws: int = 1,
) -> Surrogate:
    """The posterior and `draws` paths for each row of the hyperparameters theta (n, d_k + 2): S = n draws."""
    columns, owners, _ = feature_columns(space, objective)
    scales, amplitude, noise = np.exp(theta[:, :-2])[:, owners], np.exp(theta[:, -2]), np.exp(theta[:, -1])
    x, y = space.features(observed.unit)[:, columns], scaling.standardize(observed.values)
    once = condition(x, y, scales, amplitude, noise)
    paths = draw_paths(once, y, rng, draws)
    posterior = data = repeated(once, draws)
    if observed.pending.shape[0]:
        coming = space.features(observed.pending)[:, columns]
        fantasies = evaluate(paths, coming)  # (S, p)
        together = np.concatenate([np.broadcast_to(y, (fantasies.shape[0], y.shape[-1])), fantasies], axis=1)
        posterior = condition(np.concatenate([x, coming]), together, data.scales, data.amplitude, data.noise)
    return Surrogate(columns, scaling, np.tile(theta, (draws, 1)), data, posterior, paths)


def sample_hyperparameters(
    x: np.ndarray,
    y: np.ndarray,
    owners: np.ndarray,
    d: int,
    noise: float | None,
    previous: np.ndarray | None,
    rng: np.random.Generator,
) -> np.ndarray:
    """(S, d + 2) hyperparameters of one objective, from the last chains or from fresh ones; y (N,) or (S, N)."""
    prior, count = default_prior(d, noise), x.shape[0]
    if previous is None:
        rows = np.sort(rng.permutation(count)[:BURN_IN_ROWS])
        theta = start(prior, SAMPLES, rng)
        theta = slice_sample(theta, pairwise(x[rows], owners, d), y[..., rows], prior, BURN_IN // 2, rng)
        theta = slice_sample(theta, pairwise(x[rows], owners, d), y[..., rows], prior, BURN_IN // 2, rng)
        if rows.size == count:
            return theta
    else:
        theta = np.clip(previous, prior.low, prior.high)
    total = WARM_MOVES // max(1, count)
    moves = max(1, min(MOST_MOVES, total // SAMPLES))
    moving = rng.permutation(SAMPLES)[: max(1, total)]  # beyond N = WARM_MOVES / SAMPLES only some chains move
    values = y if y.ndim == 1 else y[moving]
    theta[moving] = slice_sample(theta[moving], pairwise(x, owners, d), values, prior, moves, rng)
    return theta
