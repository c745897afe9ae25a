"""Expected improvements of a normal variable, as logarithms: they keep digits and slopes hundreds of decades down.

h(z) = E max(z - Z, 0) = z Phi(z) + phi(z), Z ~ N(0, 1);   E max(t - Y, 0) = sd h((t - m) / sd), Y ~ N(m, sd^2).

Below zero the two terms of h cancel. So h is computed from g(a) = h(-a) / phi(a) for a >= 0, and h(a) = a + h(-a).
With t = (a - 4) / (a + 4), (1 + a / 4)^2 g(a) is a smooth function of t in [-1, 1): its Chebyshev fit of degree 22 (to
values of 50 digits) is right to 5e-15, relative, for every a from 0 to infinity.
"""

import math

import numpy as np

from pesmo.entropy.normal import INV_SQRT_2PI, SQRT_HALF, erfcx, polynomial

LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
LEAST = -1e150  # a z whose square is still a number
FIT = (  # highest power first
    -5.140540102266487e-09,
    9.4593304695755e-10,
    5.210607555489212e-08,
    1.3333868982648323e-08,
    -2.815483060023247e-07,
    -2.403652090846887e-07,
    1.122838437634853e-06,
    1.916697300314487e-06,
    -3.8707119089991885e-06,
    -1.162435639252822e-05,
    1.3512454116070194e-05,
    6.473130270320917e-05,
    -6.385232584173829e-05,
    -0.00035905543424150506,
    0.0005138512381079301,
    0.0018768057796581235,
    -0.005604441008158491,
    -0.0038168083657524427,
    0.053216316615091006,
    -0.1547331813269125,
    0.26961572209989787,
    -0.3117725582109553,
    0.21356187338302918,
)


def h(z: np.ndarray) -> np.ndarray:
    """E max(z - Z, 0); its digits are right also where it is small, down to the smallest float."""
    return np.maximum(z, 0.0) + INV_SQRT_2PI * np.exp(-0.5 * z * z) * over_density(np.abs(z))


def log_h(z: np.ndarray) -> np.ndarray:
    """log h(z), -inf at -inf."""
    finite = np.maximum(z, LEAST)
    g = over_density(np.abs(finite))
    exponent = -0.5 * finite * finite - LOG_SQRT_2PI
    above = finite > 0.0
    log = np.log(np.where(above, finite + np.exp(exponent) * g, g)) + np.where(above, 0.0, exponent)
    return np.where(np.isneginf(z), -np.inf, log)


def log_h_slope(z: np.ndarray) -> np.ndarray:
    """d log h / dz = Phi(z) / h(z); below zero the density is divided out of both."""
    a = np.abs(z)
    g, mills = over_density(a), math.sqrt(0.5 * math.pi) * erfcx(SQRT_HALF * a)
    density = INV_SQRT_2PI * np.exp(-0.5 * z * z)
    above = z > 0.0
    return np.where(above, 1.0 - density * mills, mills) / np.where(above, z + density * g, g)


def over_density(a: np.ndarray) -> np.ndarray:
    """g(a) = h(-a) / phi(a) for a >= 0."""
    s = 4.0 / (4.0 + a)
    return s * s * polynomial(FIT, 1.0 - 2.0 * s)


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
