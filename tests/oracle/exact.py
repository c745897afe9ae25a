"""The exact acquisition in one dimension: slow, obviously right, and free of the package (DESIGN 4.5).

    α_k(x) = H(y_k | D, x) − E_X*[ H(y_k | D, X*, x) ]        paper, eq. (exact_acq_rev), per objective

| name  | meaning                                                                      | shape        |
|-------|------------------------------------------------------------------------------|--------------|
| K     | objectives, all minimized, independent Matérn-5/2 GPs, known hyperparameters |              |
| n     | points of the grid that stands for the input space [0, 1]                    |              |
| S     | sampled Pareto sets X*                                                       |              |
| C     | Markov chains side by side, several for one X*                               |              |
| T     | draws of f given one X*                                                      |              |
| f     | draws of the objectives on the grid                                          | (·, K, n)    |
| star  | whether a grid point belongs to X*                                           | (S, n), bool |

A draw of f from the posterior has the Pareto set X*. Given X*, f follows the posterior restricted to the
functions of which no grid point dominates a point of X*: ∏ψ, eq. (constraints) of the paper. Its draws come
by rejection, from one large pool that serves every X*; where too few are accepted, by elliptical slice
sampling (Murray, Adams and MacKay 2010) started at the accepted ones and at the draw that gave X*.

That X* is *the* Pareto set says more: the points outside X* are dominated. With `whole=True` the draws obey
that as well. Only then is α_k ≥ 0 a theorem; the condition of the paper, which EP approximates, is weaker,
and with many objectives its α_k can be negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
Bools = NDArray[np.bool_]

JITTER = 1e-10  # added to the variance of f on the grid: a standard deviation of 1e-5
WINDOWS = (0.1, 0.2, 0.3, 0.5, 0.8)  # widths of the moves of the slice sampler, besides the whole grid
POOL_CHUNK = 10_000  # draws of the pool at a time
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
    accepted: NDArray[np.intp]  # (S,) draws by rejection: fewer than wanted means the slice sampler was used
    gain: Floats  # (S, K, n) H(y_k | D, x) - H(y_k | D, X*_s, x)

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


# ---------------------------------------------------------------- Gaussian processes
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


def sample(mean: Floats, roots: Sequence[Floats], number: int, rng: np.random.Generator) -> Floats:
    """mean_k + R_k z, z ~ N(0, I). (K, n) -> (number, K, n)"""
    normal = rng.standard_normal((len(mean), number, mean.shape[1]))
    return np.stack([m + z @ r.T for m, z, r in zip(mean, normal, roots, strict=True)], axis=1)


# ---------------------------------------------------------------- the condition
def dominated(f: Floats) -> Bools:
    """Whether some grid point is smaller in every objective. (·, K, n) -> (·, n)"""
    if f.shape[1] == 2:  # in the order of the first objective: above the running minimum of the second
        order = np.argsort(f[:, 0], axis=1)
        g = np.take_along_axis(f[:, 1], order, 1)
        out = np.empty(g.shape, bool)
        np.put_along_axis(out, order, g > np.minimum.accumulate(g, 1), 1)
        return out
    below = np.ones((len(f), f.shape[2], f.shape[2]), bool)  # j above i: (·, j, i)
    for g in f.swapaxes(0, 1):
        below &= g[:, None, :] < g[:, :, None]
    return np.any(below, axis=2)


def obeys(f: Floats, star: Bools, whole: bool = False) -> Bools:
    """No grid point dominates a point of X*; `whole`: and all others are dominated. (·, K, n) -> (·,)"""
    lost = dominated(f)
    return np.all(lost != star, axis=1) if whole else ~np.any(lost & star, axis=1)


# ---------------------------------------------------------------- draws of f given X*
def rejection(
    mean: Floats,
    cov: Floats,
    star: Bools,
    rng: np.random.Generator,
    *,
    draws: int,
    pool: int,
    whole: bool = False,
) -> list[Floats]:
    """Up to `draws` of f ~ N(mean, cov) given each X*, from one pool of that many draws. S × (T_s, K, n)"""
    roots = [root(c) for c in cov]
    kept: list[list[Floats]] = [[] for _ in star]
    missing = np.full(len(star), draws)
    quota = -(-draws // 20)  # for one set from one chunk, lest easy sets share their draws and their errors
    for _ in range(pool // POOL_CHUNK):
        wanted = np.flatnonzero(missing > 0)
        if not wanted.size:
            break
        f = sample(mean, roots, POOL_CHUNK, rng)
        lost = dominated(f).astype(np.float32)  # products of 0 and 1 in float32 count exactly
        bad = lost @ star[wanted].T.astype(np.float32)  # points of X* that are dominated: (draw, set)
        if whole:
            bad += (1 - lost) @ (~star[wanted]).T.astype(np.float32)
        for column, s in zip(bad.T, wanted, strict=True):
            good = rng.permutation(np.flatnonzero(column == 0))[: min(missing[s], quota)]
            kept[s].append(f[good].astype(np.float32))
            missing[s] -= len(good)
    return [np.concatenate(k) if k else np.empty((0, *mean.shape)) for k in kept]


def slice_sample(
    mean: Floats,
    cov: Floats,
    f: Floats,
    star: Bools,
    rng: np.random.Generator,
    *,
    draws: int,
    thin: int,
    whole: bool = False,
) -> Floats:
    """`draws` states, `thin` moves apart, of C chains on N(mean, cov) given `obeys`, from f. -> (T, C, K, n)

    A move is an elliptical slice within a window of the grid, the rest held fixed: of one objective, for
    speed, or of all at once, without which two objectives could never exchange their order along X*.
    """
    windows = _windows(mean.shape[1])
    moves = [[_move(c, window) for window in windows] for c in cov]
    kept = np.empty((draws, *f.shape), np.float32)
    for t in range(draws):
        for _ in range(thin):
            w = rng.integers(len(windows))
            alone = int(rng.integers(2 * len(mean)))
            which = [alone] if alone < len(mean) else range(len(mean))
            f = _slice(f, mean, {k: moves[k][w] for k in which}, star, rng, whole=whole)
        kept[t] = f
    return kept


def _windows(n: int) -> list[Bools]:
    """Overlapping runs of the grid of each width in WINDOWS, cut off at the ends; one in six is all of it."""
    at = np.linspace(0, 1, n)
    centers = np.linspace(0, 1, 21)
    runs = [np.abs(at - c) <= width / 2 for width in WINDOWS for c in centers]
    return [*runs, *[np.ones(n, bool)] * len(centers)]


def _move(cov: Floats, window: Bools) -> tuple[Floats, Floats]:
    """G, L with f_w | f_rest ~ N(mean + G (f − mean), L Lᵀ): Gaussian conditioning, by the precision."""
    precision = np.linalg.inv(cov)
    inside = np.linalg.inv(precision[np.ix_(window, window)])
    keep = np.diag((~window).astype(float))
    keep[np.ix_(window, ~window)] = -inside @ precision[np.ix_(window, ~window)]
    spread = np.zeros((len(cov), window.sum()))
    spread[window] = root((inside + inside.T) / 2)
    return keep, spread


def _slice(
    f: Floats,
    mean: Floats,
    moves: dict[int, tuple[Floats, Floats]],
    star: Bools,
    rng: np.random.Generator,
    *,
    whole: bool,
) -> Floats:
    """c + (f − c) cos θ + ν sin θ, ν ~ N(0, L Lᵀ), c = mean + G (f − mean); θ shrinks to 0 until allowed."""
    center, there = f.copy(), np.zeros_like(f)
    for k, (keep, spread) in moves.items():
        center[:, k] = mean[k] + (f[:, k] - mean[k]) @ keep.T
        there[:, k] = rng.standard_normal((len(f), spread.shape[1])) @ spread.T
    here = f - center
    angle = rng.uniform(0, 2 * np.pi, len(f))
    low, high = angle - 2 * np.pi, angle.copy()
    new, todo = np.empty_like(f), np.arange(len(f))
    while todo.size:
        theta = angle[todo, None, None]
        proposal = center[todo] + here[todo] * np.cos(theta) + there[todo] * np.sin(theta)
        good = obeys(proposal, star[todo], whole)
        new[todo[good]] = proposal[good]
        todo = todo[~good]
        theta = angle[todo]
        low[todo] = np.where(theta < 0, theta, low[todo])
        high[todo] = np.where(theta > 0, theta, high[todo])
        angle[todo] = rng.uniform(low[todo], high[todo])
    return new


# ---------------------------------------------------------------- entropies
def gaussian_entropy(variance: Floats) -> Floats:
    """½ log(2πe·variance)."""
    return 0.5 * np.log(2 * np.pi * np.e * variance)


def noisy_entropy(f: Floats, noise: float) -> Floats:
    """H(f + N(0, noise)) from T draws of f, of any marginal density: (T, ...) -> (...)

    p̂(y) = 1/T Σ_t N(y; f_t, noise) is unbiased and has nothing to tune. Its plug-in entropy Ĥ = −∫ p̂ log p̂ is
    too small by O(1/T), and the more so the more the draws are correlated; to that order
    2 Ĥ(all) − ½ (Ĥ(1st half) + Ĥ(2nd half)) is not.
    """
    shape = f.shape[1:]
    f = np.ascontiguousarray(f.reshape(len(f), -1).T, np.float64)  # (rows, T)
    pieces = np.array_split(f, len(f) // 512 + 1)  # for memory's sake
    return np.concatenate([_noisy_entropy(piece, noise) for piece in pieces]).reshape(shape)


def _noisy_entropy(f: Floats, noise: float) -> Floats:
    """(rows, T) -> (rows,). The mixture as a histogram of f (linear binning), convolved by FFT."""
    bins, margin = ENTROPY_BINS, 7 * noise**0.5
    low = f.min(1, keepdims=True) - margin
    step = (f.max(1, keepdims=True) + margin - low) / (bins - 1)
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
    *,
    sets: int = 300,
    draws: int = 600,
    pool: int = 2_000_000,
    chains: int = 8,
    thin: int = 20,
    whole: bool = False,
) -> Exact:
    """H(y_k | D, x) − 1/S Σ_s H(y_k | D, X*_s, x), for every objective at every grid point.

    A Pareto set with fewer than half the wanted draws gets them from `chains` chains, `thin` moves apart.
    """
    moments = [posterior(obj, grid) for obj in objectives]
    mean, cov = np.array([m for m, _ in moments]), np.array([c for _, c in moments])
    f = sample(mean, [root(c) for c in cov], sets, rng)
    star = ~dominated(f)
    kept = rejection(mean, cov, star, rng, draws=draws, pool=pool, whole=whole)
    accepted = np.array([len(k) for k in kept])
    rare = np.flatnonzero(accepted < draws / 2)
    if rare.size:
        known = [np.concatenate([f[s : s + 1], kept[s]]) for s in rare]
        start = np.concatenate([k[rng.permutation(np.arange(chains) % len(k))] for k in known])
        walk = slice_sample(
            mean, cov, start, star[rare.repeat(chains)], rng, draws=draws // chains, thin=thin, whole=whole
        )
        for i, s in enumerate(rare):
            kept[s] = walk[:, i * chains : (i + 1) * chains].reshape(-1, *mean.shape)
    variance = np.diagonal(cov, axis1=1, axis2=2)
    gain = np.empty((sets, *mean.shape))
    for k, obj in enumerate(objectives):
        before = gaussian_entropy(variance[k] + obj.noise)
        for s in range(sets):
            gain[s, k] = before - noisy_entropy(kept[s][:, k], obj.noise)
    return Exact(grid, mean, np.sqrt(variance), star, accepted, gain)
