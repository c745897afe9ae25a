"""ParEGO (Knowles, 2006): expected improvement of a random scalarization, a new one per hyperparameter sample.

With objectives scaled to [0, 1] over the data, f' , and theta uniform on the simplex, the augmented Chebyshev function
    g(x) = max_k theta_k f'_k(x) + RHO sum_k theta_k f'_k(x)
is modelled by a GP of its own, one hyperparameter chain for each theta; log EI, averaged over them, with its slope.
"""

import numpy as np

from pesmo.gp.posterior import Posterior, mean_and_variance, moment_slopes
from pesmo.gp.scaling import Scaling
from pesmo.methods.improvement import log_h, log_h_slope, log_mean_exp
from pesmo.methods.maximize import OfPoints, maximize
from pesmo.methods.model import LEAST_SD, SAMPLES, Model, sample_hyperparameters, surrogate
from pesmo.methods.protocol import Answer, State
from pesmo.problem import Evidence, Objective, Observations

RHO = 0.05


class Parego:
    needs_design = True
    needs_complete = True
    most_objectives: int | None = None

    def suggest(self, evidence: Evidence, state: State | None, rng: np.random.Generator) -> Answer:
        unit, values = evidence.complete_points
        theta = rng.dirichlet(np.ones(values.shape[1]), size=SAMPLES)
        y = standardized(scalarize(to_unit_range(values, evidence.worst), theta))
        coming = np.concatenate([o.pending for o in evidence.observations])
        observed = Observations(unit, y, np.unique(coming, axis=0))
        everything = Objective("scalarization")
        space = evidence.space
        previous = state["scalarization"][0] if state else None
        owners, x = space.owners, space.features(unit)
        chains = sample_hyperparameters(x, y, owners, space.dim, None, previous, rng)
        one = surrogate(space, everything, observed, Scaling(0.0, 1.0), chains, rng)
        model = Model(space, (one,))
        best = np.min(mean_and_variance(one.posterior, one.posterior.x)[0], axis=1)  # (S,)

        def slope(point: np.ndarray) -> tuple[float, np.ndarray]:
            features = space.features(point[None, :])
            value, gradient = log_improvement_slope(one.posterior, best, features)
            return value, model.to_inputs([gradient])[0, 0]

        acquisition = OfPoints(
            at=lambda points: log_improvement(one.posterior, best, space.features(points)),
            promising=unit,
            usable=evidence.complete,
            logarithmic=True,
            slope=slope,
        )
        return Answer(maximize(acquisition, evidence, rng), {"scalarization": [chains]})


def to_unit_range(values: np.ndarray, worst: np.ndarray) -> np.ndarray:
    """(n, K) each objective scaled: 0 at its best measured value, 1 at the worst that counts; 0 where constant."""
    low, high = values.min(axis=0), values.max(axis=0)
    high = np.where(worst > low, np.minimum(high, worst), high)
    half = 0.5 * high - 0.5 * low  # halves, so that huge values of both signs do not overflow
    return np.where(half > 0.0, (0.5 * values - 0.5 * low) / np.where(half > 0.0, half, 1.0), 0.0)


def scalarize(values: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """(S, n) the augmented Chebyshev function of values (n, K) for each row of theta (S, K)."""
    weighted = theta[:, None, :] * values
    return np.max(weighted, axis=2) + RHO * np.sum(weighted, axis=2)


def standardized(values: np.ndarray) -> np.ndarray:
    """(S, n) each row with mean 0 and standard deviation 1; 0 where it is constant."""
    centred = values - values.mean(axis=1, keepdims=True)
    sd = centred.std(axis=1, keepdims=True)
    return np.where(sd > 1e-13, centred / np.where(sd > 1e-13, sd, 1.0), 0.0)


def log_improvement(posterior: Posterior, best: np.ndarray, features: np.ndarray) -> np.ndarray:
    """(n,) log of the expected improvement on best (S,), averaged over the samples."""
    mean, variance = mean_and_variance(posterior, features)
    sd = np.maximum(np.sqrt(variance), LEAST_SD)
    return log_mean_exp(log_h((best[:, None] - mean) / sd) + np.log(sd), axis=0)


def log_improvement_slope(posterior: Posterior, best: np.ndarray, features: np.ndarray) -> tuple[float, np.ndarray]:
    """The value of `log_improvement` at one point (1, F), and its gradient (1, F).

    d log(sd h(z)) = (1 - z q) d sd / sd - q d mean / sd,   z = (best - mean) / sd,   q = Phi(z) / h(z).
    """
    mean, variance = mean_and_variance(posterior, features)  # (S, 1)
    mean_slope, variance_slope = moment_slopes(posterior, features)  # (S, 1, F)
    sd = np.maximum(np.sqrt(variance), LEAST_SD)
    sd_slope = np.where((variance > LEAST_SD**2)[..., None], 0.5 * variance_slope / sd[..., None], 0.0)
    z = (best[:, None] - mean) / sd
    log_value = log_h(z)
    q = log_h_slope(z)
    each = ((1.0 - z * q)[..., None] * sd_slope - q[..., None] * mean_slope) / sd[..., None]
    log_each = log_value + np.log(sd)
    value = log_mean_exp(log_each, axis=0)
    share = np.exp(log_each - value) / log_each.shape[0]  # (S, 1), sums to 1
    return float(value[0]), np.sum(share[..., None] * each, axis=0)
