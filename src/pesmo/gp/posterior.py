"""The GP posterior of one objective under S hyperparameter samples.

| name    | meaning                                                       | shape            |
|---------|---------------------------------------------------------------|------------------|
| x       | where there is data                                           | (N, F)           |
| root    | L^-1, with L L^T = k(x, x) + noise I, of each distinct sample | (S / times, N, N) |
| weights | (k(x, x) + noise I)^-1 y, one y for all samples or one a sample | (S, N)         |

mean(p) = k(p, x) weights;   cov(p, q) = k(p, q) - (k(p, x) root^T) (k(q, x) root^T)^T

Where samples are drawn from several times, the S rows are the same S / times samples over and over. What is the same
for all draws of a sample (everything at common points) is computed once for each and then repeated.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pesmo.arrays import Array, cholesky, inverse_lower, namespace, times_lower, times_lower_transposed
from pesmo.gp.kernels import kernel, kernel_gradient


@dataclass(frozen=True)
class Posterior:
    x: Array
    scales: Array  # (S, F)
    amplitude: Array  # (S,)
    noise: Array  # (S,) variance
    root: Array
    weights: Array
    times: int = 1  # that the distinct samples come, one after the other


def condition(x: Array, y: Array, scales: Array, amplitude: Array, noise: Array) -> Posterior:
    """The posterior given values y, (N,) or (S, N), at x."""
    xp = namespace(x)
    covariance = kernel(x, x, scales, amplitude)
    covariance += noise[:, None, None] * xp.eye(x.shape[0], dtype=x.dtype)
    root = inverse_lower(cholesky(covariance))
    whitened = xp.matmul(root, y[..., :, None])  # (S, N, 1)
    weights = xp.matmul(root.mT, whitened)[..., 0]
    return Posterior(x, scales, amplitude, noise, root, weights)


def repeated(posterior: Posterior, times: int) -> Posterior:
    """The same S posteriors, `times` times one after the other."""
    xp = namespace(posterior.x)
    parts = (posterior.scales, posterior.amplitude, posterior.noise, posterior.weights)
    scales, amplitude, noise, weights = (xp.concat([part] * times, axis=0) for part in parts)
    return Posterior(posterior.x, scales, amplitude, noise, posterior.root, weights, times * posterior.times)


def first(posterior: Posterior, samples: int) -> Posterior:
    """The first few of the distinct samples."""
    p, some = posterior, slice(samples)
    return Posterior(p.x, p.scales[some, :], p.amplitude[some], p.noise[some], p.root[some, ...], p.weights[some, :])


def distinct(posterior: Posterior) -> Posterior:
    """Each sample once."""
    return first(posterior, posterior.root.shape[0]) if posterior.times > 1 else posterior


def again(posterior: Posterior, once: Array) -> Array:
    """(S, ...) what was computed for the distinct samples, for all."""
    return namespace(once).concat([once] * posterior.times, axis=0) if posterior.times > 1 else once


def cross(posterior: Posterior, points: Array) -> Array:
    """k(points, x): (S, n, N), for points (n, F) or (S, n, F)."""
    return kernel(points, posterior.x, posterior.scales, posterior.amplitude)


def mean_and_variance(posterior: Posterior, points: Array) -> tuple[Array, Array]:
    """Marginal means and variances of f at points (n, F) or (S, n, F): two (S, n)."""
    mean, whitened = project(posterior, points)
    return mean, variance_of(posterior, whitened)


def project(posterior: Posterior, points: Array) -> tuple[Array, Array]:
    """Mean (S, n) of f at points (n, F) or (S, n, F), and root k(x, points) (S, N, n)."""
    xp = namespace(points)
    k = cross(posterior, points)
    mean = xp.matmul(k, posterior.weights[..., None])[..., 0]
    return mean, _with_root(posterior, times_lower_transposed, k).mT


def _with_root(posterior: Posterior, product: Callable[[Array, Array], Array], k: Array) -> Array:
    """(S, n, N) the product of each sample's k (S, n, N) with its root; draws of one sample share the root."""
    xp = namespace(k)
    by_draw = xp.reshape(k, (posterior.times, posterior.root.shape[0], *k.shape[1:]))
    return xp.reshape(product(by_draw, posterior.root), k.shape)


def variance_of(posterior: Posterior, whitened: Array) -> Array:
    """Marginal variances (S, n) of f, from what `project` says of the points."""
    xp = namespace(whitened)
    return xp.clip(posterior.amplitude[:, None] - xp.sum(whitened * whitened, axis=-2), min=0.0)


def moment_slopes(posterior: Posterior, points: Array) -> tuple[Array, Array]:
    """Gradients of the marginal means and variances at points (n, F) or (S, n, F): two (S, n, F)."""
    whitened = _with_root(posterior, times_lower_transposed, cross(posterior, points))
    solved = _with_root(posterior, times_lower, whitened)  # (S, n, N) k(p, x) (k(x, x) + noise I)^-1
    return mean_slope(posterior, points), _slope(posterior, points, -2.0 * solved)


def mean_slope(posterior: Posterior, points: Array) -> Array:
    """The gradients (S, n, F) of the marginal means at points (n, F) or (S, n, F)."""
    return _slope(posterior, points, posterior.weights[:, None, :])


def _slope(posterior: Posterior, points: Array, upstream: Array) -> Array:
    return kernel_gradient(points, posterior.x, posterior.scales, posterior.amplitude, upstream)


def joint(posterior: Posterior, points: Array) -> tuple[Array, Array, Array]:
    """Mean (S, n), covariance (S, n, n) of f at points (S, n, F), and root k(x, points) (S, N, n)."""
    mean, whitened = project(posterior, points)
    return mean, covariance_of(posterior, points, whitened), whitened


def covariance_of(posterior: Posterior, points: Array, whitened: Array) -> Array:
    """Covariance (S, n, n) of f at points (S, n, F), from what `project` says of them."""
    prior = kernel(points, points, posterior.scales, posterior.amplitude)
    return prior - namespace(points).matmul(whitened.mT, whitened)
