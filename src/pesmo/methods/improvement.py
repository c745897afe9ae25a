"""Expected improvements of a normal variable, as logarithms: they keep digits and slopes hundreds of decades down.

h(z) = E max(z - Z, 0) = z Phi(z) + phi(z), Z ~ N(0, 1);   E max(t - Y, 0) = sd h((t - m) / sd), Y ~ N(m, sd^2).
"""

import math

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
FAR = -1e3  # below, 1 - |z| m(z) has lost its digits, and two terms of its series are exact to rounding


def log_h(z: np.ndarray) -> np.ndarray:
    """log h(z), -inf at -inf. With m(z) = Phi(z) / phi(z), h = phi (1 + z m)."""
    z = np.asarray(z, float)
    near = np.clip(z, -1.0, None)
    close = np.log(near * ndtr(near) + np.exp(-0.5 * near**2 - LOG_SQRT_2PI))
    low = np.clip(z, FAR, -1.0)
    tail = np.log1p(low * math.sqrt(0.5 * math.pi) * erfcx(-low * math.sqrt(0.5)))
    far = np.clip(z, -1e150, FAR)
    series = np.log1p(-3.0 / far**2) - 2.0 * np.log(-far)
    below = np.where(z > FAR, tail, series) - 0.5 * np.clip(z, -1e150, -1.0) ** 2 - LOG_SQRT_2PI
    return np.where(z > -1.0, close, np.where(np.isneginf(z), -np.inf, below))


def log_h_slope(z: np.ndarray, value: np.ndarray) -> np.ndarray:
    """d log h / dz = Phi(z) / h(z), given log h(z)."""
    return np.exp(log_ndtr(z) - value)


def log_difference(larger: np.ndarray, smaller: np.ndarray) -> np.ndarray:
    """log(exp(larger) - exp(smaller)), -inf where they are equal."""
    finite = np.isfinite(larger)
    gap = np.where(finite, smaller - np.where(finite, larger, 0.0), 0.0)
    rest = -np.expm1(np.minimum(gap, 0.0))
    return np.where(rest > 0.0, larger + np.log(np.where(rest > 0.0, rest, 1.0)), -np.inf)


def log_mean_exp(values: np.ndarray, axis: int) -> np.ndarray:
    """log of the mean of exp(values) along an axis, -inf where all are."""
    return log_sum_exp(values, axis) - math.log(values.shape[axis])


def log_sum_exp(values: np.ndarray, axis: int) -> np.ndarray:
    """log of the sum of exp(values) along an axis, -inf where all are."""
    top = np.max(values, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    total = np.sum(np.exp(values - top), axis=axis)
    positive = total > 0.0
    return np.where(positive, np.log(np.where(positive, total, 1.0)), -np.inf) + np.squeeze(top, axis)
