"""The exact acquisition in one dimension: slow, obviously right, and free of the package (DESIGN 4.5).

    α_k(x) = H(y_k | D, x) − E_X*[ H(y_k | D, X*, x) ]              paper, eq. (exact_acq_rev), objective by objective

| name  | meaning                                                                    | shape        |
|-------|----------------------------------------------------------------------------|--------------|
| K     | objectives, all minimized, independent Matérn-5/2 GPs, known hyperparameters |            |
| n     | points of the grid that stands for the input space [0, 1]                  |              |
| S     | sampled Pareto sets X*, each with a Markov chain of its own                |              |
| T     | draws kept of each chain                                                   |              |
| f     | objectives on the grid, one for each chain                                 | (S, K, n)    |
| star  | whether a grid point belongs to X*                                         | (S, n), bool |

A draw of f from the posterior has the Pareto set X*. Given X*, f follows the posterior restricted to the functions of
which no grid point dominates a point of X*: ∏ψ, eq. (constraints) of the paper. Elliptical slice sampling (Murray, Adams
and MacKay 2010) draws from it, starting at the draw that gave X*: no rejection, no burn-in to speak of.

That X* is *the* Pareto set says more: the points outside X* are dominated. With `whole=True` the chains are held to that
as well. Only then is α_k ≥ 0 a theorem; the condition of the paper, which EP approximates, is weaker, and with many
objectives its α_k can be slightly negative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
Bools = NDArray[np.bool_]
Allowed = Callable[[Floats, NDArray[np.intp]], Bools]  # of g (A, n), one objective in the A chains `rows`

JITTER = 1e-10  # added to the variance of f on the grid: a standard deviation of 1e-5
WINDOWS = (0.3, 0.5, 0.8)  # widths of the local moves: these gave the shortest autocorrelations of those we tried
LOCAL_MOVES = 2  # for every global move
ENTROPY_BINS = 1024


@dataclass(frozen=True)
class Objective:
    """Observations y at x of f ~ GP(0, Matérn-5/2), y = f(x) + N(0, noise)."""

    x: Floats  # (N,) in [0, 1]; may differ between objectives (decoupled)
    y: Floats  # (N,)
    lengthscale: float
    amplitude: float  # variance of f
    noise: float  # variance of y given f


@dataclass(frozen=True)
class Exact:
    """The estimate, and what it was made of."""

    grid: Floats  # (n,)
    mean: Floats  # (K, n) of f given D
    sd: Floats  # (K, n) of f given D
    star: Bools  # (S, n) the Pareto sets
    gain: Floats  # (S, K, n) H(y_k | D, x) − H(y_k | D, X*_s, x)

    @property
    def alpha(self) -> Floats:
        """α_k on the grid: the mean of the gains over the Pareto sets. (K, n)"""
        return self.gain.mean(0)

    @property
    def se(self) -> Floats:
        """Standard error of α_k over the Pareto sets. (K, n)"""
        return self.gain.std(0, ddof=1) / len(self.gain) ** 0.5

    @property
    def se_total(self) -> Floats:
        """Standard error of Σ_k α_k over the Pareto sets. (n,)"""
        return self.gain.sum(1).std(0, ddof=1) / len(self.gain) ** 0.5


def matern52(a: Floats, b: Floats, lengthscale: float, amplitude: float) -> Floats:
    """amplitude · (1 + r + r²/3) exp(−r), r = √5 |a − b| / lengthscale."""
    r = 5**0.5 * np.abs(a[:, None] - b[None, :]) / lengthscale
    return amplitude * (1 + r + r**2 / 3) * np.exp(-r)


def posterior(obj: Objective, grid: Floats) -> tuple[Floats, Floats]:
    """k(g, x) A⁻¹ y  and  k(g, g) − k(g, x) A⁻¹ k(x, g),  A = k(x, x) + noise·I."""
    gram = matern52(obj.x, obj.x, obj.lengthscale, obj.amplitude) + obj.noise * np.eye(len(obj.x))
    cross = matern52(obj.x, grid, obj.lengthscale, obj.amplitude)
    weights = np.linalg.solve(gram, cross)  # (N, n)
    cov = matern52(grid, grid, obj.lengthscale, obj.amplitude) - cross.T @ weights
    return weights.T @ obj.y, (cov + cov.T) / 2 + JITTER * np.eye(len(grid))


def root(cov: Floats) -> Floats:
    """R with R Rᵀ = cov, rounding errors in its spectrum set to zero."""
    values, vectors = np.linalg.eigh(cov)
    return vectors * np.sqrt(np.maximum(values, 0))


def dominated(f: Floats) -> Bools:
    """Whether some grid point is smaller in every objective. (S, K, n) -> (S, n)"""
    below = np.ones((len(f), f.shape[2], f.shape[2]), bool)  # i below j: (S, i, j)
    for g in f.swapaxes(0, 1):
        below &= g[:, :, None] < g[:, None, :]
    return below.any(1)


def satisfies(f: Floats, star: Bools) -> Bools:
    """The condition: no grid point dominates a point of X*. (S, K, n), (S, n) -> (S,)"""
    return ~(dominated(f) & star).any(1)


def is_pareto_set(f: Floats, star: Bools) -> Bools:
    """The whole condition: X* is the Pareto set on the grid. (S, K, n), (S, n) -> (S,)"""
    return (dominated(f) != star).all(1)


# ---------------------------------------------------------------- draws of f given X*
def condition(
    mean: Floats,
    cov: Floats,
    f: Floats,
    star: Bools,
    rng: np.random.Generator,
    draws: int,
    thin: int,
    whole: bool = False,
) -> Floats:
    """`draws` states, `thin` sweeps apart, of S chains on N(mean, cov) given `satisfies`, from f. -> (T, S, K, n)

    A sweep updates one objective after the other: everywhere at once, then within windows with the rest held fixed
    (the global move alone is right too, but takes four times as many sweeps to forget the slowest tenth of its states).
    """
    f = f.copy()
    moves = [[_move(c, window) for window in _windows(cov.shape[1])] for c in cov]
    everywhere = [_move(c, np.ones(len(c), bool)) for c in cov]
    kept = np.empty((draws, *f.shape))
    for t in range(-max(draws // 20, 1), draws):  # the first twentieth is forgotten
        for _ in range(thin):
            for k, objective_moves in enumerate(moves):
                allowed = _allowed(np.delete(f, k, axis=1), star, whole)
                local = rng.integers(len(objective_moves), size=LOCAL_MOVES)
                for move in [everywhere[k], *(objective_moves[i] for i in local)]:
                    f[:, k] = _slice(f[:, k], mean[k], move, allowed, rng)
        if t >= 0:
            kept[t] = f
    return kept


def _windows(n: int) -> list[Bools]:
    """Overlapping runs of grid points of each width in WINDOWS, cut off at the ends of the grid."""
    at = np.linspace(0, 1, n)
    return [np.abs(at - c) <= width / 2 for width in WINDOWS for c in np.linspace(0, 1, 17)]


def _move(cov: Floats, window: Bools) -> tuple[Floats, Floats]:
    """G, L with f_w | f_rest ~ N(mean + G (f − mean), L Lᵀ): Gaussian conditioning, by the precision matrix."""
    precision = np.linalg.inv(cov)
    inside = np.linalg.inv(precision[np.ix_(window, window)])
    keep = np.diag((~window).astype(float))
    keep[np.ix_(window, ~window)] = -inside @ precision[np.ix_(window, ~window)]
    spread = np.zeros((len(cov), window.sum()))
    spread[window] = root((inside + inside.T) / 2)
    return keep, spread


def _slice(
    g: Floats, mean: Floats, move: tuple[Floats, Floats], allowed: Allowed, rng: np.random.Generator
) -> Floats:
    """c + (g − c) cos θ + ν sin θ, ν ~ N(0, L Lᵀ), c = mean + G (g − mean); θ shrinks towards 0 until allowed."""
    keep, spread = move
    center = mean + (g - mean) @ keep.T
    here = g - center
    there = rng.standard_normal((len(g), spread.shape[1])) @ spread.T
    angle = rng.uniform(0, 2 * np.pi, len(g))
    low, high = angle - 2 * np.pi, angle.copy()
    new, todo = np.empty_like(g), np.arange(len(g))
    while todo.size:
        theta = angle[todo, None]
        proposal = center[todo] + here[todo] * np.cos(theta) + there[todo] * np.sin(theta)
        good = allowed(proposal, todo)
        new[todo[good]] = proposal[good]
        todo = todo[~good]
        theta = angle[todo]
        low[todo] = np.where(theta < 0, theta, low[todo])
        high[todo] = np.where(theta > 0, theta, high[todo])
        angle[todo] = rng.uniform(low[todo], high[todo])
    return new


def _allowed(others: Floats, star: Bools, whole: bool) -> Allowed:
    """`satisfies`, or `is_pareto_set`, as a function of one objective, the others (S, K−1, n) being fixed."""
    if others.shape[1] == 1:  # undominated: at the running minimum of g along increasing f_other
        order = np.argsort(others[:, 0], axis=1)
        sorted_star = np.take_along_axis(star, order, 1)

        def along(g: Floats, rows: NDArray[np.intp]) -> Bools:
            g = np.take_along_axis(g, order[rows], 1)
            below = g > np.minimum.accumulate(g, 1)
            return (below != sorted_star[rows]).all(1) if whole else ~(below & sorted_star[rows]).any(1)

        return along

    size = np.full(len(star), star.shape[1]) if whole else star.sum(1)
    index = np.argsort(~star, axis=1, kind="stable")[:, : size.max()]  # the points of X* (whole: then the others), ...
    index = np.where(np.arange(size.max()) < size[:, None], index, index[:, :1])  # ... the first one as padding
    in_star = np.take_along_axis(star, index, 1)
    beats = np.ones((*index.shape, star.shape[1]), bool)  # grid point i is below point j in all others: (S, j, i)
    for g in others.swapaxes(0, 1):
        beats &= g[:, None, :] < np.take_along_axis(g, index, 1)[:, :, None]

    def in_pairs(g: Floats, rows: NDArray[np.intp]) -> Bools:
        below = g[:, None, :] < np.take_along_axis(g, index[rows], 1)[:, :, None]
        return ((below & beats[rows]).any(2) != in_star[rows]).all(1)

    return in_pairs


# ---------------------------------------------------------------- entropies
def gaussian_entropy(variance: Floats) -> Floats:
    """½ log(2πe·variance)."""
    return 0.5 * np.log(2 * np.pi * np.e * variance)


def noisy_entropy(f: Floats, noise: float) -> Floats:
    """H(f + N(0, noise)) from T draws of f, of any marginal density: (T, ...) -> (...)

    p̂(y) = 1/T Σ_t N(y; f_t, noise) is unbiased and has nothing to tune. Its plug-in entropy Ĥ = −∫ p̂ log p̂ is too
    small by O(1/T), the more so the more the draws are correlated, and 2 Ĥ(all) − ½ (Ĥ(1st half) + Ĥ(2nd half)) is not.
    """
    shape = f.shape[1:]
    f = np.ascontiguousarray(f.reshape(len(f), -1).T, np.float64)  # (rows, T)
    out = np.empty(len(f))
    for a in range(0, len(f), 512):  # in pieces, for memory's sake
        out[a : a + 512] = _noisy_entropy(f[a : a + 512], noise)
    return out.reshape(shape)


def _noisy_entropy(f: Floats, noise: float) -> Floats:
    """(rows, T) -> (rows,). The mixture as a histogram of f (linear binning), convolved by FFT."""
    bins, margin = ENTROPY_BINS, 7 * noise**0.5
    low = f.min(1, keepdims=True) - margin
    step = (f.max(1, keepdims=True) + margin - low) / (bins - 1)  # of the mixture's grid
    halves = [_histogram((h - low) / step, bins) for h in np.array_split(f, 2, axis=1)]
    frequency = 2 * np.pi * np.fft.rfftfreq(bins) / step
    kernel = np.exp(-0.5 * frequency**2 * noise)

    def plug_in(weights: Floats) -> Floats:
        p = np.maximum(np.fft.irfft(np.fft.rfft(weights) * kernel, bins), 1e-300)
        return -(p * np.log(p / step)).sum(1)

    return 2 * plug_in((halves[0] + halves[1]) / 2) - (plug_in(halves[0]) + plug_in(halves[1])) / 2


def _histogram(position: Floats, bins: int) -> Floats:
    """Weights of a row's values on 0 … bins − 1, each shared between its two neighbours, with sum 1."""
    left = np.floor(position).astype(np.intp)
    right_share = position - left
    flat = left + bins * np.arange(len(position))[:, None]
    size = bins * len(position)
    weights = np.bincount(flat.ravel(), (1 - right_share).ravel(), size)
    weights += np.bincount(flat.ravel() + 1, right_share.ravel(), size + 1)[:size]
    return weights.reshape(len(position), bins) / position.shape[1]


# ---------------------------------------------------------------- the acquisition
def exact_alpha(
    objectives: Sequence[Objective],
    grid: Floats,
    rng: np.random.Generator,
    sets: int = 200,
    draws: int = 500,
    thin: int = 4,
    whole: bool = False,
) -> Exact:
    """H(y_k | D, x) − 1/S Σ_s H(y_k | D, X*_s, x), for every objective at every grid point."""
    moments = [posterior(obj, grid) for obj in objectives]
    mean, cov = np.array([m for m, _ in moments]), np.array([c for _, c in moments])
    normal = rng.standard_normal((len(objectives), sets, len(grid)))
    f = np.stack([m + z @ root(c).T for m, c, z in zip(mean, cov, normal, strict=True)], axis=1)
    star = ~dominated(f)
    kept = condition(mean, cov, f, star, rng, draws, thin, whole)
    variance = np.diagonal(cov, axis1=1, axis2=2)
    gain = np.stack([
        gaussian_entropy(variance[k] + obj.noise) - noisy_entropy(kept[:, :, k], obj.noise)
        for k, obj in enumerate(objectives)
    ], axis=1)
    return Exact(grid, mean, np.sqrt(variance), star, gain)
