"""One factor psi, moment-matched: from a Gaussian belief about the differences delta_k to the pairs (tau_k, nu_k).

With delta_k ~ N(m_k, s_k^2), a_k = -m_k / s_k and Z = 1 - prod_k Phi(a_k) (the appendix has the sign of a reversed):
    rho_k = phi(a_k) prod_{l != k} Phi(a_l) / Z = -d log Z / d a_k
    beta_k = rho_k (rho_k - a_k)                       the share of the variance of delta_k that psi removes
    tau_k = beta_k / (s_k^2 (1 - beta_k)),   nu_k = (rho_k / s_k + beta_k m_k / s_k^2) / (1 - beta_k)
beta_k < 0 happens for K >= 2. Such a factor is set to nothing (tau = nu = 0): the Laplacian stays positive
semi-definite, EP converges, and conditioning can only reduce a variance, so that no alpha_k is negative.
"""

import math
from dataclasses import dataclass

from pesmo.arrays import Array, log_ndtr, namespace

LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
LARGEST_SHARE = 1.0 - 1e-9  # beta -> 1 as psi becomes a hard wall: keeps tau finite
LARGEST_A = 35.0  # beyond it 1 - Phi(a) nears the smallest float
SMALLEST_A = -1e6  # phi / Phi ~ -a by then


@dataclass(frozen=True)
class Tilted:
    """rho, beta and what their derivatives need; each with the objectives on `axis` 1: (S, K, ...)."""

    a: Array
    rho: Array
    ratio: Array  # phi(a) / Phi(a)
    beta: Array


def tilt(m: Array, s: Array) -> Tilted:
    """The tilted moments of psi under delta_k ~ N(m_k, s_k^2); m and s are (S, K, ...)."""
    xp = namespace(m)
    a = xp.clip(-m / s, min=SMALLEST_A, max=LARGEST_A)
    log_cdf = log_ndtr(a)
    log_all = xp.sum(log_cdf, axis=1, keepdims=True)  # log prod_k Phi(a_k) < 0
    log_z = xp.log(-xp.expm1(log_all))
    log_ratio = -0.5 * a * a - LOG_SQRT_2PI - log_cdf
    ratio = xp.exp(log_ratio)
    rho = xp.exp(log_ratio + log_all - log_z)
    beta = xp.clip(rho * (rho - a), max=LARGEST_SHARE)
    return Tilted(a, rho, ratio, beta)


def match(m: Array, s: Array) -> tuple[Array, Array]:
    """(tau, nu) of the Gaussian factors in place of psi; factors with tau < 0 are nothing."""
    xp = namespace(m)
    tilted = tilt(m, s)
    beta = xp.where(tilted.beta > 0, tilted.beta, xp.zeros_like(tilted.beta))
    keep = 1.0 - beta
    tau = beta / (s * s * keep)
    nu = (tilted.rho / s + beta * m / (s * s)) / keep
    return tau, xp.where(tilted.beta > 0, nu, xp.zeros_like(nu))
