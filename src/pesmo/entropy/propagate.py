"""Expectation propagation over the factors that do not touch a candidate: once per draw, for all draws together.

All factors of one objective add lap (a weighted graph Laplacian) and h to the natural parameters, so with the GP
posterior N(mean, cov) at the P points, q has covariance C = cov (I + lap cov)^-1 and mean + C (h - lap mean).
With cov = R R^T and A = I + R^T lap R = N N^T, C = R A^-1 R^T = H^T H for H = N^-1 R^T: A has eigenvalues of at least
1 however large the factors are, cov is never inverted, and nothing is a small difference of large numbers.
"""

from dataclasses import dataclass

from pesmo.arrays import Array, blocks, cholesky, inverse_lower, namespace
from pesmo.entropy.factors import match

SWEEPS = 8  # alpha then correlates 0.999 with that of 100 sweeps
DAMPING = 0.6  # step towards the new factor, in natural parameters
RIDGE = 1e-8  # on cov, relative to its largest variance: neighbouring Pareto points are nearly one
SMALLEST = 1e-7  # variance of a difference, relative to the largest, below which two points are one
TOLERANCE = 2e-2  # largest change of a mean or a variance in a sweep, in units of the prior sd or variance


@dataclass(frozen=True)
class Conditioned:
    """What q says at the Pareto points, and the matrices that carry it to a candidate (see candidate.py)."""

    mean: Array  # (S, K, M) of f at the Pareto points under q
    cov: Array  # (S, K, M, M)
    whiten: Array  # (S, K, P, P)  R^-T
    narrow: Array  # (S, K, P, P)  N^-T
    half: Array  # (S, K, P, M)   H, its columns at the Pareto points
    push: Array  # (S, K, P)      H (h - lap mean)
    real: Array  # (S, M) True for Pareto points, False for padding
    best: Array  # (S, K, M) True for the Pareto point that is the best of all in objective k
    sweeps: int


def difference_moments(mean: Array, cov: Array, m: int) -> tuple[Array, Array]:
    """Means and variances (S, K, P, M) of delta_ij from the mean (S, K, P) and covariance (S, K, P, P)."""
    xp = namespace(mean)
    variance = xp.linalg.diagonal(cov)
    gap = mean[..., :, None] - mean[..., None, :m]
    spread = variance[..., :, None] + variance[..., None, :m] - 2.0 * cov[..., :, :m]
    return gap, spread


def laplacian(tau: Array, nu: Array) -> tuple[Array, Array]:
    """lap (S, K, P, P) and h (S, K, P) of the factors tau, nu (S, K, P, M)."""
    xp = namespace(tau)
    p, m = tau.shape[-2:]
    if p > m:
        weights = xp.concat([tau, xp.zeros((*tau.shape[:-1], p - m), dtype=tau.dtype)], axis=-1)
        received = xp.concat([xp.sum(nu, axis=-2), xp.zeros((*nu.shape[:-2], p - m), dtype=nu.dtype)], axis=-1)
    else:
        weights, received = tau, xp.sum(nu, axis=-2)
    weights = weights + weights.mT
    degree = xp.sum(weights, axis=-1)
    return degree[..., None] * xp.eye(p, dtype=tau.dtype) - weights, xp.sum(nu, axis=-1) - received


def propagate(mean: Array, cov: Array, active: Array, real: Array, best: Array) -> Conditioned:
    """EP until it stands still. `active` (S, P, M) marks the factors that exist, `real` (S, M) the Pareto points.

    A few draws at a time, so that the arrays of a sweep stay in cache and no draw waits for a slower one.
    """
    xp = namespace(mean)
    parts = [
        _propagate(mean[rows, ...], cov[rows, ...], active[rows, ...], best[rows, ...])
        for rows in blocks(mean.shape[0], 4 * mean.shape[1] * active.shape[1] * active.shape[2], least=1)
    ]
    joined = [xp.concat(list(column), axis=0) for column in zip(*(part[:-1] for part in parts), strict=True)]
    return Conditioned(*joined, real=real, best=best, sweeps=max(part[-1] for part in parts))


def _propagate(
    mean: Array, cov: Array, active: Array, best: Array
) -> tuple[Array, Array, Array, Array, Array, Array, int]:
    """The fields of Conditioned for a few draws."""
    xp = namespace(mean)
    p, m = active.shape[-2:]
    eye = xp.eye(p, dtype=cov.dtype)
    largest = xp.clip(xp.max(xp.linalg.diagonal(cov), axis=-1), min=1e-12)[..., None]
    root = cholesky(cov + RIDGE * largest[..., None] * eye)
    scale = xp.sqrt(largest)
    least = SMALLEST * largest[..., None]
    step = DAMPING * xp.astype(active, mean.dtype)[:, None, :, :]
    tau = xp.zeros((*mean.shape, m), dtype=mean.dtype)
    nu = xp.zeros_like(tau)
    q_mean, q_cov = mean, cov
    inverse, half, pull = root, root, mean  # set in the first sweep
    sweeps = 0
    while sweeps < SWEEPS:
        sweeps += 1
        gap, spread = difference_moments(q_mean, q_cov, m)
        left = xp.clip(1.0 - tau * spread, min=1e-9)  # the cavity: q without this factor
        new_tau, new_nu = match((gap - nu * spread) / left, spread / left, least, best[:, :, None, :])
        tau = tau + step * (new_tau - tau)
        nu = nu + step * (new_nu - nu)
        lap, h = laplacian(tau, nu)  # the new q
        inverse = inverse_lower(cholesky(eye + xp.matmul(root.mT, xp.matmul(lap, root))))
        half = xp.matmul(inverse, root.mT)
        cov_next = xp.matmul(half.mT, half)
        pull = h - xp.matmul(lap, mean[..., None])[..., 0]
        mean_next = mean + xp.matmul(cov_next, pull[..., None])[..., 0]
        moved = xp.max(xp.abs(mean_next - q_mean) / scale)
        shrunk = xp.max(xp.abs(xp.linalg.diagonal(cov_next) - xp.linalg.diagonal(q_cov)) / largest)
        q_mean, q_cov = mean_next, cov_next
        if float(moved) < TOLERANCE and float(shrunk) < TOLERANCE:
            break
    push = xp.matmul(half, pull[..., None])[..., 0]
    whiten = inverse_lower(root).mT
    return q_mean[..., :m], q_cov[..., :m, :m], whiten, inverse.mT, half[..., :m], push, sweeps
