"""SUR (Picheny, 2015): the expected decrease of the probability of improvement, integrated over the space.

p(x') = Pr(nothing known dominates f(x')) summed over integration points x'. Measuring x takes away from it the cases
in which f(x) dominates f(x'). With independent objectives and disjoint boxes [l, u] of the undominated region,
    decrease(x) = mean over x' of  sum over boxes of  prod_k  Pr(f_k(x) <= f_k(x'), l_k < f_k(x') <= u_k).
A factor is a difference of G_k(t) = Pr(f_k(x) <= f_k(x'), f_k(x') <= t) at two edges; G_k is a sum over strata of
f_k(x') between neighbouring edges and quantiles: the stratum's probability, which is exact, times
Pr(f_k(x) <= v | f_k(x') = v) at its middle v. Averaged over the hyperparameter samples.
"""

from dataclasses import dataclass

import numpy as np

from pesmo.entropy.normal import cdf, quantile
from pesmo.gp.kernels import kernel
from pesmo.gp.posterior import Posterior, cross, mean_and_variance
from pesmo.methods.design import candidates
from pesmo.methods.fronts import Known, known_fronts
from pesmo.methods.maximize import OfPoints, maximize
from pesmo.methods.model import LEAST_SD, Model, fit
from pesmo.methods.protocol import Answer, State
from pesmo.problem import Evidence

POINTS = 128  # integration points; those where improvement is out of the question are dropped
QUANTILES = 12  # strata of a value, besides the front's own edges
HOPELESS = 1e-4  # probability of improvement
CORRELATED = 1.0 - 1e-9  # f(x) and f(x') at most, so that their difference keeps a variance


@dataclass(frozen=True)
class Strata:
    """One objective's values at the Q integration points under one sample, cut at the front's T edges and at quantiles.

    middle (Q, J), weight (Q, J)  of each stratum      ends (Q, T)  how many strata lie below each edge
    whitened (N, Q)               root k(x_data, points), for covariances with candidates
    """

    features: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    middle: np.ndarray
    weight: np.ndarray
    ends: np.ndarray
    low: np.ndarray  # (B,) each box's lower edge, as an index into the edges
    high: np.ndarray
    whitened: np.ndarray


class Sur:
    needs_design = True
    needs_complete = True
    most_objectives: int | None = 3

    def suggest(self, evidence: Evidence, state: State | None, rng: np.random.Generator) -> Answer:
        model = fit(evidence, state, rng)
        fronts = known_fronts(model, evidence, rng)
        points = candidates(model.space, POINTS, rng)
        plans = [plan(model, front, s, points) for s, front in enumerate(fronts)]

        def at(unit: np.ndarray) -> np.ndarray:
            features = model.features(unit)
            return np.mean([decrease(model, p, s, features) for s, p in enumerate(plans)], axis=0) / len(points)

        def rough(unit: np.ndarray) -> np.ndarray:
            """A point that is likely to be an improvement, and uncertain, is a point worth the full computation."""
            mean, sd = model.moments(unit)
            chance = [chance_of_improvement(f, m, s) for f, m, s in zip(fronts, mean, sd, strict=True)]
            return np.mean(np.asarray(chance) * np.prod(sd, axis=2) ** (1.0 / sd.shape[2]), axis=0)

        acquisition = OfPoints(
            at=at,
            rough=rough,
            promising=np.concatenate([front.points for front in fronts]),
            usable=evidence.complete,
            logarithmic=False,
        )
        return Answer(maximize(acquisition, evidence, rng), model.state)


def chance_of_improvement(front: Known, mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """(n,) Pr(values N(mean, sd^2), both (n, K), lie in the undominated region below the reference)."""
    product = np.ones((mean.shape[0], front.upper.shape[0]))
    for k in range(mean.shape[1]):
        upper, lower = ((edge[:, k] - mean[:, k, None]) / sd[:, k, None] for edge in (front.upper, front.lower))
        product *= cdf(upper) - cdf(lower)
    return np.sum(product, axis=1)


def plan(model: Model, front: Known, s: int, points: np.ndarray) -> list[Strata]:
    """Per objective, all that does not depend on the candidate, at the points (Q, d) where sample s may improve."""
    mean, sd = (part[s] for part in model.moments(points))
    hopeful = chance_of_improvement(front, mean, sd) > HOPELESS
    if not hopeful.any():
        hopeful[np.argmax(sd.sum(axis=1))] = True
    features = model.features(points[hopeful])
    return [
        _strata(surrogate.posterior, front, s, k, x, mean[hopeful, k], sd[hopeful, k])
        for k, (surrogate, x) in enumerate(zip(model.surrogates, features, strict=True))
    ]


def _strata(
    posterior: Posterior, front: Known, s: int, k: int, x: np.ndarray, mean: np.ndarray, sd: np.ndarray
) -> Strata:
    edges, low, high = front.edges(k)
    at_edges = cdf((edges - mean[:, None]) / sd[:, None])  # (Q, T) probabilities
    quantiles = np.broadcast_to(np.arange(1, QUANTILES) / QUANTILES, (mean.size, QUANTILES - 1))
    # Quantiles above the last edge, the reference, bound nothing that counts.
    cuts = np.sort(np.concatenate([at_edges, np.minimum(quantiles, at_edges[:, -1:])], axis=1), axis=1)
    below = np.concatenate([np.zeros((mean.size, 1)), cuts], axis=1)
    weight = np.diff(below, axis=1)
    middle = np.clip(0.5 * (below[:, 1:] + below[:, :-1]), 1e-300, 1.0 - 1e-16)
    ends = np.stack([np.searchsorted(row, edge, side="right") for row, edge in zip(cuts, at_edges, strict=True)])
    whitened = posterior.root[s] @ kernel(posterior.x, x, posterior.scales[[s]], posterior.amplitude[[s]])[0]
    value = mean[:, None] + sd[:, None] * quantile(middle)
    return Strata(x, mean, sd, value, weight, ends, low, high, whitened)


def decrease(model: Model, strata: list[Strata], s: int, features: list[np.ndarray]) -> np.ndarray:
    """(n,) sum over the integration points of Pr(f(x') improves, f(x) dominates it), for sample s at candidates x."""
    total = 1.0
    for surrogate, one, x in zip(model.surrogates, strata, features, strict=True):
        total = total * _factors(surrogate.posterior, one, s, x)
    return np.sum(np.asarray(total), axis=(1, 2))


def _factors(posterior: Posterior, one: Strata, s: int, x: np.ndarray) -> np.ndarray:
    """(n, Q, B) Pr(f_k(x) <= f_k(x'), f_k(x') in the box) for candidates x (n, F)."""
    mean, variance = (part[s] for part in mean_and_variance(posterior, x))
    sd = np.maximum(np.sqrt(variance), LEAST_SD)
    whitened = cross(posterior, x)[s] @ posterior.root[s].T  # (n, N)
    prior = kernel(x, one.features, posterior.scales[[s]], posterior.amplitude[[s]])[0]  # (n, Q)
    correlation = (prior - whitened @ one.whitened) / (sd[:, None] * one.sd)
    correlation = np.clip(correlation, -CORRELATED, CORRELATED)
    slope = correlation * sd[:, None] / one.sd  # f(x) given f(x') = v has mean m + slope (v - m'), sd left
    left = sd[:, None] * np.sqrt(1.0 - correlation**2)
    start = (mean[:, None] - slope * one.mean) / left
    gap = (1.0 - slope) / left
    chance = cdf(gap[..., None] * one.middle - start[..., None]) * one.weight  # (n, Q, J)
    upto = np.concatenate([np.zeros((*chance.shape[:2], 1)), np.cumsum(chance, axis=2)], axis=2)
    at_edges = np.take_along_axis(upto, np.broadcast_to(one.ends, (x.shape[0], *one.ends.shape)), axis=2)
    return at_edges[..., one.high] - at_edges[..., one.low]
