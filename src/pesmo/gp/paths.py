"""Sample paths of the posterior: functions that can be evaluated anywhere, cheaply and consistently.

Matheron's rule (Wilson et al., 2020): with f0 a draw from the prior and e ~ N(0, noise),
    f(p) = f0(p) + k(p, x) (k(x, x) + noise I)^-1 (y - f0(x) - e)
is a draw from the posterior. The prior draw is a sum of random Fourier features (Rahimi and Recht, 2007),
    f0(p) = sqrt(2 amplitude / D) sum_i w_i cos(omega_i . p + b_i),   w_i ~ N(0, 1),  b_i ~ U(0, 2 pi),
    omega_i = g_i / (scales sqrt(u_i / 5)),  g_i ~ N(0, I),  u_i ~ chi^2(5):
the spectral density of Matern-5/2 is a multivariate Student-t with 5 degrees of freedom.
The data enter exactly, so the features need to be right only about the prior.
"""

from dataclasses import dataclass

import numpy as np

from pesmo.arrays import Array, blocks, namespace
from pesmo.gp.kernels import kernel, kernel_gradient
from pesmo.gp.posterior import Posterior

FEATURES = 512  # D
SINGLE_ERROR = 2e-3  # what rounding to float32 may add to a standardized path before float64 is used


@dataclass(frozen=True)
class Paths:
    """R paths of one objective for each of S hyperparameter samples; those of one sample share omega and phase.

    Features in float32: their rounding is far below their own approximation.
    """

    omega: Array  # (S, F, D)
    phase: Array  # (S, 1, D)
    amplitudes: Array  # (R, S, D) w times sqrt(2 amplitude / D)
    x: Array  # (N, F) float32, or float64 where the update needs it
    scales: Array  # (S, F)
    amplitude: Array  # (S,)
    update: Array  # (R, S, N)


def draw_paths(
    posterior: Posterior, y: Array, rng: np.random.Generator, draws: int = 1, features: int = FEATURES
) -> Paths:
    """`draws` paths for each of the S hyperparameter samples of the posterior, given the values y (N,) it has."""
    xp = namespace(posterior.x)
    samples, columns = posterior.scales.shape
    heavy = np.sqrt(5.0 / rng.chisquare(5.0, (samples, 1, features)))
    omega = xp.asarray(rng.standard_normal((samples, columns, features)) * heavy) / posterior.scales[:, :, None]
    phase = xp.asarray(rng.uniform(0.0, 2.0 * np.pi, (samples, 1, features)))
    size = xp.sqrt(2.0 * posterior.amplitude / features)[:, None]
    amplitudes = xp.asarray(rng.standard_normal((draws, samples, features))) * size
    noise = xp.asarray(rng.standard_normal((draws, samples, posterior.x.shape[0]))) * xp.sqrt(posterior.noise)[:, None]

    omega, phase, amplitudes = (xp.astype(a, xp.float32) for a in (omega, phase, amplitudes))
    prior = _prior(omega, phase, amplitudes, xp.astype(posterior.x, xp.float32))
    residual = y - xp.astype(prior, xp.float64) - noise
    update = xp.matmul(posterior.root.mT, xp.matmul(posterior.root, residual[..., None]))[..., 0]
    x, scales, amplitude, update = _light(posterior, update)
    return Paths(omega, phase, amplitudes, x, scales, amplitude, update)


def _light(posterior: Posterior, update: Array) -> tuple[Array, Array, Array, Array]:
    """x, scales, amplitude and update in float32 where that is accurate enough.

    Nearly noiseless data can need large update weights of both signs, whose sum loses float32's digits.
    """
    xp = namespace(update)
    worst = 0.0
    if update.shape[-1]:
        size = xp.sqrt(xp.sum(update * update, axis=-1)) * posterior.amplitude
        worst = float(xp.max(size)) * float(xp.finfo(xp.float32).eps)
    parts = (posterior.x, posterior.scales, posterior.amplitude, update)
    return parts if worst > SINGLE_ERROR else tuple(xp.astype(a, xp.float32) for a in parts)  # pyright: ignore


def _prior(omega: Array, phase: Array, amplitudes: Array, points: Array) -> Array:
    """f0 at points (n, F), the same for all paths, or (R, S, n, F): (R, S, n)."""
    xp = namespace(points)
    angles = xp.matmul(points, omega)
    angles += phase
    return xp.matmul(xp.cos(angles), amplitudes[..., None])[..., 0]


def evaluate(paths: Paths, points: Array) -> Array:
    """The R S paths at points (n, F), or each path at its own points (R S, n, F): (R S, n) float64.

    All samples come once before the first comes again. At common points the paths of a sample share the features.
    """
    xp = namespace(points)
    draws, samples, features = paths.amplitudes.shape
    if points.ndim == 3:
        points, width = _by_sample(paths, points), draws * samples * features
    else:
        width = samples * features
    parts = [_evaluate(paths, points[..., rows, :]) for rows in blocks(points.shape[-2], width)]
    return xp.reshape(xp.concat(parts, axis=-1), (draws * samples, points.shape[-2]))


def _by_sample(paths: Paths, points: Array) -> Array:
    """Points (R S, n, F), a set for each path, as (R, S, n, F)."""
    return namespace(points).reshape(points, (*paths.amplitudes.shape[:2], *points.shape[1:]))


def _evaluate(paths: Paths, points: Array) -> Array:
    """(R, S, n) at points (n, F) or (R, S, n, F)."""
    xp = namespace(points)
    value = xp.astype(_prior(paths.omega, paths.phase, paths.amplitudes, xp.astype(points, xp.float32)), xp.float64)
    if paths.update.shape[-1]:
        k = kernel(xp.astype(points, paths.x.dtype), paths.x, paths.scales, paths.amplitude)
        value += xp.astype(xp.matmul(k, paths.update[..., None])[..., 0], xp.float64)
    return value


def slopes(paths: Paths, points: Array) -> Array:
    """The gradients (R S, n, F) of the R S paths, each at its own points (R S, n, F)."""
    xp = namespace(points)
    shape, points = points.shape, _by_sample(paths, points)
    single = xp.astype(points, xp.float32)
    angles = xp.matmul(single, paths.omega)
    angles += paths.phase
    waves = xp.sin(angles)
    waves *= -paths.amplitudes[..., None, :]
    slope = xp.astype(xp.matmul(waves, paths.omega.mT), xp.float64)
    if paths.update.shape[-1]:
        upstream = paths.update[..., None, :]
        at = xp.astype(points, paths.x.dtype)
        slope += xp.astype(kernel_gradient(at, paths.x, paths.scales, paths.amplitude, upstream), xp.float64)
    return xp.reshape(slope, shape)
