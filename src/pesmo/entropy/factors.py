"""One factor psi, moment-matched: from a Gaussian belief about the differences delta_k to the pairs (tau_k, nu_k).

With delta_k ~ N(m_k, s_k^2), a_k = -m_k / s_k and Z = 1 - prod_k Phi(a_k) (the appendix has the sign of a reversed):
    rho_k = phi(a_k) prod_{l != k} Phi(a_l) / Z = -d log Z / d a_k
    beta_k = rho_k (rho_k - a_k)                       the share of the variance of delta_k that psi removes
    tau_k = beta_k / (s_k^2 (1 - beta_k)),   nu_k = (rho_k / s_k + beta_k m_k / s_k^2) / (1 - beta_k)
Of the Pareto point with the least f_k of all one knows more (paper: only psi; the mutual information of eq. 2: that it
is the best): f_k(x_i) >= f_k(x*_j) everywhere. That is psi of one objective, Z = 1 - Phi(a_k), and implies the others.

beta_k < 0, psi making delta_k less certain, happens for K >= 2. Such a factor is set to nothing (tau = nu = 0): the
Laplacian stays positive semi-definite, EP converges, and conditioning can only reduce a variance, so that no alpha_k
is negative. (Keeping nu_k = rho_k / s_k alone gives better means for a few points, but with 50 neighbouring
Pareto points parallel updates then run away, to means hundreds of standard deviations off.)
"""

from dataclasses import dataclass

from pesmo.arrays import Array, namespace
from pesmo.entropy.normal import cdf_and_ratio

LEAST_SHARE = 1e-9  # of the variance: a factor that removes less is nothing
LARGEST_SHARE = 1.0 - 1e-9  # beta -> 1 as psi becomes a hard wall: keeps tau finite
LARGEST_A = 7.0  # 1 - Phi(7) = 1e-12: beyond it 1 - prod Phi loses its digits, and the push is strong enough as it is
SMALLEST_A = -1e6  # phi / Phi ~ -a by then


@dataclass(frozen=True)
class Tilted:
    """rho, beta and what their derivatives need; each with the objectives on `axis` 1: (S, K, ...)."""

    a: Array
    rho: Array
    ratio: Array  # phi(a) / Phi(a)
    beta: Array


def tilt(m: Array, s: Array, best: Array) -> Tilted:
    """The tilted moments of psi under delta_k ~ N(m_k, s_k^2); m and s are (S, K, ...).

    best  (S, K, ...) True where x*_j has the least f_k of all: x_i must then be no better in f_k alone.
    """
    xp = namespace(m)
    a = xp.clip(-m / s, min=SMALLEST_A, max=LARGEST_A)
    cdf, ratio = cdf_and_ratio(a)
    every = xp.prod(cdf, axis=1, keepdims=True)  # the probability that x_i dominates x*_j
    every = xp.where(best, cdf, xp.where(xp.any(best, axis=1, keepdims=True), 0.0, every))
    rho = ratio * (every / (1.0 - every))
    beta = xp.clip(rho * (rho - a), max=LARGEST_SHARE)
    return Tilted(a, rho, ratio, beta)


def match(m: Array, s2: Array, least: Array, best: Array) -> tuple[Array, Array]:
    """(tau, nu) of the Gaussian factors in place of psi under delta_k ~ N(m_k, s2_k).

    Where s2_k <= least, x_i and x*_j are one point to objective k, and psi has nothing to say about it.
    """
    xp = namespace(m)
    uncertain = s2 > least
    s2 = xp.maximum(s2, least)
    s = xp.sqrt(s2)
    tilted = tilt(m, s, best)
    beta = xp.where(uncertain & (tilted.beta > LEAST_SHARE), tilted.beta, 0.0)
    keep = s2 * (1.0 - beta)
    return beta / keep, xp.where(beta > 0, (tilted.rho * s + beta * m) / keep, 0.0)
