"""The Matern-5/2 kernel with one length-scale per feature column, for S hyperparameter samples at once.

| name      | meaning                                      | shape                        |
|-----------|----------------------------------------------|------------------------------|
| x, z      | points as features: one set, or one a sample | (n, F), (m, F) or (S, n, F)  |
|           | x also: one a path, R paths of each sample   | (R, S, n, F)                 |
| scales    | length-scales                                | (S, F)                       |
| amplitude | signal variance                              | (S,)                         |

k(x, z) = amplitude (1 + r + r^2 / 3) exp(-r),   r^2 = 5 sum_f (x_f - z_f)^2 / scales_f^2
"""

from pesmo.arrays import Array, namespace


def scaled_distances(x: Array, z: Array, scales: Array) -> Array:
    """r^2 (S, n, m): five times the squared distance in units of the length-scales."""
    xp = namespace(x)
    weights = 5.0**0.5 / scales[:, None, :]
    xs, zs = x * weights, z * weights
    r2 = xp.matmul(xs, zs.mT)
    r2 *= -2.0
    r2 += xp.sum(xs * xs, axis=-1)[..., :, None]
    r2 += xp.sum(zs * zs, axis=-1)[..., None, :]
    return xp.clip(r2, min=0.0)


def matern52(r2: Array, amplitude: Array) -> Array:
    """Kernel values (S, n, m) at scaled squared distances r2, which are overwritten."""
    xp = namespace(r2)
    r = xp.sqrt(r2)
    r2 /= 3.0
    r2 += r
    r2 += 1.0
    r *= -1.0
    k = xp.exp(r)
    k *= r2
    k *= amplitude[:, None, None]
    return k


def kernel(x: Array, z: Array, scales: Array, amplitude: Array) -> Array:
    """k(x, z) for every sample: (S, n, m)."""
    return matern52(scaled_distances(x, z, scales), amplitude)


def kernel_gradient(x: Array, z: Array, scales: Array, amplitude: Array, upstream: Array) -> Array:
    """d/dx of sum_m upstream[s, n, m] k_s(x_n, z_m): (S, n, F), for x (n, F) or (S, n, F).

    dk/d(r^2) = -amplitude (1 + r) exp(-r) / 6 and d(r^2)/dx = 10 (x - z) / scales^2.
    """
    xp = namespace(x)
    r = xp.sqrt(scaled_distances(x, z, scales))
    pull = upstream * (1.0 + r) * xp.exp(-r) * (-amplitude[:, None, None] / 6.0)  # (S, n, m)
    moved = x * xp.sum(pull, axis=-1)[..., None] - xp.matmul(pull, z)
    return moved * (10.0 / scales[:, None, :] ** 2)
