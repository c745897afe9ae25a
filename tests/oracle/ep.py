"""PESMO's approximation by plain loops: EP over every pair of points, alpha_k from inverses; free of the package.

One draw at a time, one factor at a time, one objective at a time (DESIGN 4.3; appendix of the paper, signs reversed):

    psi(x_i, x*_j) = 1 - prod_k Theta(f_k(x*_j) - f_k(x_i)),    delta_k = f_k(x_i) - f_k(x*_j) ~ N(m_k, v_k),
    Z = 1 - prod_k Phi(-m_k / sqrt(v_k)),
    tilted mean = m + v dlogZ/dm,    tilted variance = v + v^2 d^2 logZ/dm^2.

A factor is a Gaussian in delta_k, of precision tau = 1 / (tilted variance) - 1 / v and nu = (tilted mean) / (tilted
variance) - m / v; one that would add variance is nothing. Where x*_j is the best of objective k, Z = 1 - Phi(-m_k /
sqrt(v_k)) there, and x*_j says nothing of the other objectives.

| name     | meaning                                                     | shape        |
|----------|-------------------------------------------------------------|--------------|
| mean     | of every objective at the P points, the first M of them X*  | (K, P)       |
| cov      | their covariance                                            | (K, P, P)    |
| active   | which factors (i, j) there are                              | (P, M), bool |
| best     | whether x*_j is the best of objective k                     | (K, M), bool |
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.stats import norm

Floats = NDArray[np.floating]
Bools = NDArray[np.bool_]


def log_z(m: Sequence[float], v: Sequence[float], best: Sequence[bool]) -> list[float]:
    """For each objective k, the log Z that its difference is matched to (0 where x*_j says nothing of k)."""
    below = [float(norm.cdf(-mean / math.sqrt(variance))) for mean, variance in zip(m, v, strict=True)]
    if any(best):
        return [math.log1p(-p) if known else 0.0 for p, known in zip(below, best, strict=True)]
    return [math.log1p(-math.prod(below))] * len(below)


def tilted(m: Sequence[float], v: Sequence[float], best: Sequence[bool], k: int) -> tuple[float, float]:
    """Mean and variance of delta_k under psi N(m, v), from derivatives of log Z by hand."""
    a = [-mean / math.sqrt(variance) for mean, variance in zip(m, v, strict=True)]
    z = math.exp(log_z(m, v, best)[k])
    if any(best):
        others = float(best[k])
    else:
        others = math.prod(float(norm.cdf(a[other])) for other in range(len(a)) if other != k)
    density = float(norm.pdf(a[k]))
    first = others * density / z / math.sqrt(v[k])  # dlogZ/dm: dZ/dm = others phi(a) / sqrt(v)
    second = others * a[k] * density / z / v[k] - first**2  # d^2Z/dm^2 = others a phi(a) / v
    return m[k] + v[k] * first, v[k] + v[k] ** 2 * second


def gaussian_factor(m: Sequence[float], v: Sequence[float], best: Sequence[bool], k: int) -> tuple[float, float]:
    """(tau, nu): what turns N(m_k, v_k) into the tilted moments; nothing where that would add variance."""
    mean, variance = tilted(m, v, best, k)
    if variance >= v[k] * (1.0 - 1e-9):
        return 0.0, 0.0
    return 1.0 / variance - 1.0 / v[k], mean / variance - m[k] / v[k]


@dataclass(frozen=True)
class Fixed:
    """q at the P points after the sweeps, and how many there were."""

    mean: Floats  # (K, P)
    cov: Floats  # (K, P, P)
    tau: Floats  # (K, P, M)
    nu: Floats
    sweeps: int


def combined(mean: Floats, cov: Floats, tau: Floats, nu: Floats) -> tuple[Floats, Floats]:
    """One objective: N(mean, cov) times all of its factors, by precisions."""
    precision = np.linalg.inv(cov)
    shift = precision @ mean
    for i in range(tau.shape[0]):
        for j in range(tau.shape[1]):
            e = np.eye(len(mean))[i] - np.eye(len(mean))[j]  # delta = e . f
            precision = precision + tau[i, j] * np.outer(e, e)
            shift = shift + nu[i, j] * e
    new = np.linalg.inv(precision)
    return new @ shift, new


def propagate(
    mean: Floats, cov: Floats, active: Bools, best: Bools, *, sweeps: int, damping: float, tolerance: float = 0.0
) -> Fixed:
    """`sweeps` damped sweeps over all factors at once; fewer where one moves q by less than `tolerance`."""
    objectives, points = mean.shape
    size = active.shape[1]
    tau, nu = np.zeros((objectives, points, size)), np.zeros((objectives, points, size))
    q_mean, q_cov = mean.copy(), cov.copy()
    done = 0
    for _ in range(sweeps):
        new_tau, new_nu = tau.copy(), nu.copy()
        for i in range(points):
            for j in range(size):
                if not active[i, j]:
                    continue
                m, v = [], []
                for k in range(objectives):
                    gap = q_mean[k, i] - q_mean[k, j]
                    spread = q_cov[k, i, i] + q_cov[k, j, j] - 2.0 * q_cov[k, i, j]
                    variance = 1.0 / (1.0 / spread - tau[k, i, j])  # the cavity: q without this factor
                    m.append(variance * (gap / spread - nu[k, i, j]))
                    v.append(variance)
                for k in range(objectives):
                    one_tau, one_nu = gaussian_factor(m, v, list(best[:, j]), k)
                    new_tau[k, i, j] += damping * (one_tau - tau[k, i, j])
                    new_nu[k, i, j] += damping * (one_nu - nu[k, i, j])
        tau, nu = new_tau, new_nu
        old_mean, old_cov = q_mean, q_cov
        both = [combined(mean[k], cov[k], tau[k], nu[k]) for k in range(objectives)]
        q_mean, q_cov = np.array([b[0] for b in both]), np.array([b[1] for b in both])
        done += 1
        moved = 0.0
        for k in range(objectives):
            largest = np.max(np.diag(cov[k]))
            moved = max(moved, np.max(np.abs(q_mean[k] - old_mean[k])) / math.sqrt(largest))
            moved = max(moved, np.max(np.abs(np.diag(q_cov[k]) - np.diag(old_cov[k]))) / largest)
        if moved < tolerance:
            break
    return Fixed(q_mean, q_cov, tau, nu, done)


def gain(
    mean: Floats, cov: Floats, q: Fixed, best: Bools, noise: Sequence[float], *, share: float
) -> tuple[list[float], list[float]]:
    """One draw's gain of information in nats, per objective, at one candidate: without and with its own factors.

    mean (K, P + 1), cov (K, P + 1, P + 1)  of f at the P points and, last, the candidate x
    The factors psi(x, x*_j) are matched once, from q with x; `share` of each is taken.
    """
    objectives, points, size = q.tau.shape
    means, covariances = [], []
    for k in range(objectives):
        tau, nu = np.zeros((points + 1, size)), np.zeros((points + 1, size))
        tau[:points], nu[:points] = q.tau[k], q.nu[k]
        new_mean, new_cov = combined(mean[k], cov[k], tau, nu)
        means.append(new_mean)
        covariances.append(new_cov)
    own = np.zeros((objectives, points + 1, size))
    for j in range(size):
        m = [means[k][-1] - means[k][j] for k in range(objectives)]
        v = [c[-1, -1] + c[j, j] - 2.0 * c[-1, j] for c in covariances]
        for k in range(objectives):
            own[k, points, j] = share * gaussian_factor(m, v, list(best[:, j]), k)[0]
    without, full = [], []
    for k in range(objectives):
        before = cov[k][-1, -1] + noise[k]
        _, after = combined(means[k], covariances[k], own[k], np.zeros_like(own[k]))
        without.append(0.5 * math.log(before / (covariances[k][-1, -1] + noise[k])))
        full.append(0.5 * math.log(before / (after[-1, -1] + noise[k])))
    return without, full


# ---------------------------------------------------------------- Gaussian processes
def matern52(x: Floats, z: Floats, scales: Floats, amplitude: float) -> Floats:
    """amplitude (1 + r + r^2 / 3) exp(-r), r^2 = 5 sum_f (x_f - z_f)^2 / scales_f^2, by SciPy's distances."""
    r = math.sqrt(5.0) * cdist(x / scales, z / scales)
    return amplitude * (1.0 + r + r * r / 3.0) * np.exp(-r)


def posterior(
    x: Floats, y: Floats, at: Floats, scales: Floats, amplitude: float, noise: float
) -> tuple[Floats, Floats]:
    """Mean (n,) and covariance (n, n) of f at `at` (n, F), given y = f(x) + N(0, noise)."""
    cross = matern52(at, x, scales, amplitude)
    weights = np.linalg.solve(matern52(x, x, scales, amplitude) + noise * np.eye(len(x)), cross.T)
    return weights.T @ y, matern52(at, at, scales, amplitude) - cross @ weights
