"""Hyperparameters of one objective's GP: priors, posterior density, and slice sampling.

theta = (log length-scale of each of d inputs, log amplitude, log noise variance), for standardized values. Priors,
independent and normal in theta, truncated to [LOW, HIGH]:

| part         | median      | sd of the log | because                                                       |
|--------------|-------------|---------------|---------------------------------------------------------------|
| length-scale | 0.3 sqrt(d) | 1             | distances in the unit cube grow with sqrt(d)                  |
| amplitude    | 1           | 1             | values are standardized                                       |
| noise        | 1e-5        | 2.5           | anything from an exact computation to as much noise as signal |

Sampling: C chains move side by side, each along a random direction by slice sampling (Neal, 2003) with an initial
bracket and shrinking, no stepping out. Directions and brackets are scaled by the spread of the chains at the start.
"""

import math
from dataclasses import dataclass

import numpy as np

from pesmo.arrays import Array, cholesky, namespace
from pesmo.gp.kernels import matern52

NOISE_FLOOR = 1e-6  # variance of standardized values: keeps matrices well-conditioned
LOW, HIGH = -math.log(1e3), math.log(1e3)  # of log length-scale and log amplitude
BRACKET = 4.0  # length of the first bracket, in spreads of the chains
SHRINKS = 40  # a bracket halves on average each time: after this many the chain stays where it is


@dataclass(frozen=True)
class Prior:
    """Normal in theta, truncated: mean, sd, low, high, each (D,). sd = 0 fixes an entry."""

    mean: np.ndarray
    sd: np.ndarray
    low: np.ndarray
    high: np.ndarray


def default_prior(d: int, noise: float | None) -> Prior:
    """The prior of the table above; `noise` is the known noise variance of standardized values, None to learn it."""
    known = noise is not None
    level = math.log(max(noise, NOISE_FLOOR)) if known else math.log(1e-5)
    return Prior(
        mean=np.array([math.log(0.3 * math.sqrt(d))] * d + [0.0, level]),
        sd=np.array([1.0] * d + [1.0, 0.0 if known else 2.5]),
        low=np.array([LOW] * (d + 1) + [level if known else math.log(NOISE_FLOOR)]),
        high=np.array([HIGH] * (d + 1) + [level if known else math.log(2.0)]),
    )


def pairwise(x: Array, owners: np.ndarray, d: int) -> Array:
    """(d, N * N) squared distances along each input; `owners` (F,) says which input a feature column belongs to."""
    xp = namespace(x)
    per_input = []
    for i in range(d):
        total = xp.zeros((x.shape[0], x.shape[0]), dtype=x.dtype)
        for column in np.flatnonzero(owners == i):
            gap = x[:, int(column), None] - x[None, :, int(column)]
            total = total + gap * gap
        per_input.append(xp.reshape(total, (-1,)))
    return xp.stack(per_input)


def log_density(theta: np.ndarray, distances: Array, y: Array, prior: Prior) -> np.ndarray:
    """Unnormalized log posterior (C,) of hyperparameters theta (C, D) given values y, (N,) or each chain's own (C, N).

    The factor of [[K, y], [y^T, c]] holds both log|K| and, as its last row, L^-1 y: one Cholesky does it all.
    """
    xp = namespace(y)
    n, chains = y.shape[-1], theta.shape[0]
    standing = (theta - prior.mean) / np.where(prior.sd > 0, prior.sd, 1.0)
    log_prior = -0.5 * np.sum(standing**2, axis=-1)
    if n == 0:
        return log_prior
    inverse = xp.asarray(5.0 * np.exp(-2.0 * theta[:, :-2]))
    amplitude, noise = xp.asarray(np.exp(theta[:, -2])), xp.asarray(np.exp(theta[:, -1]))
    k = matern52(xp.reshape(xp.matmul(inverse, distances), (chains, n, n)), amplitude)
    k += noise[:, None, None] * xp.eye(n, dtype=y.dtype)
    bound = 1.0 + 2.0 * xp.sum(y * y, axis=-1) / noise  # above y^T K^-1 y, so that the bordered matrix is positive
    column = xp.broadcast_to(y[..., None], (chains, n, 1))
    bordered = xp.concat([xp.concat([k, column], axis=2), xp.concat([column.mT, bound[:, None, None]], axis=2)], axis=1)
    factor = cholesky(bordered)
    diagonal = xp.linalg.diagonal(factor)[:, :n]
    fit = xp.sum(factor[:, n, :n] ** 2, axis=-1) / 2.0 + xp.sum(xp.log(diagonal), axis=-1)
    return log_prior - np.asarray(fit)


def start(prior: Prior, chains: int, rng: np.random.Generator) -> np.ndarray:
    """(C, D) chains drawn from a narrowed prior."""
    theta = prior.mean + 0.5 * prior.sd * rng.standard_normal((chains, prior.mean.size))
    return np.clip(theta, prior.low, prior.high)


def slice_sample(
    theta: np.ndarray, distances: Array, y: Array, prior: Prior, moves: int, rng: np.random.Generator
) -> np.ndarray:
    """Each chain of theta (C, D) after `moves` slice-sampling moves along random directions; y as in log_density."""
    free = prior.sd > 0
    spread = np.where(free, np.clip(np.std(theta, axis=0), 0.1, 2.0), 0.0)
    theta = theta.copy()
    density = log_density(theta, distances, y, prior)
    for _ in range(moves):
        theta, density = _move(theta, density, spread, distances, y, prior, rng)
    return theta


def _move(
    theta: np.ndarray,
    density: np.ndarray,
    spread: np.ndarray,
    distances: Array,
    y: Array,
    prior: Prior,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """One move of every chain: a level under its density, a bracket around it, shrunk until a point lies above."""
    chains = theta.shape[0]
    theta, density = theta.copy(), density.copy()
    direction = rng.standard_normal(theta.shape) * spread / math.sqrt(np.count_nonzero(spread))
    level = density + np.log1p(-rng.uniform(size=chains))
    low = -BRACKET * rng.uniform(size=chains)
    high = low + BRACKET
    open_ = np.arange(chains)
    for _ in range(SHRINKS):
        step = rng.uniform(low[open_], high[open_])
        proposal = theta[open_] + step[:, None] * direction[open_]
        inside = np.all((proposal >= prior.low) & (proposal <= prior.high), axis=1)
        value = np.full(open_.size, -np.inf)
        if np.any(inside):
            own = y if y.ndim == 1 else y[open_[inside]]
            value[inside] = log_density(proposal[inside], distances, own, prior)
        accepted = value >= level[open_]
        theta[open_[accepted]] = proposal[accepted]
        density[open_[accepted]] = value[accepted]
        shut = ~accepted
        rejected, back = open_[shut], step[shut] < 0.0
        low[rejected[back]] = step[shut][back]
        high[rejected[~back]] = step[shut][~back]
        open_ = rejected
        if open_.size == 0:
            break
    return theta, density
