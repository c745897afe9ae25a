"""The normal functions, the tilted moments and EP itself, against quadrature, Monte Carlo and dense algebra."""

import numpy as np
import pytest
from scipy.special import erfcx as scipy_erfcx
from scipy.special import log_ndtr, ndtri
from scipy.stats import truncnorm

from pesmo.entropy.candidate import alpha, alpha_and_gradient, screen
from pesmo.entropy.factors import match, tilt
from pesmo.entropy.normal import cdf, cdf_and_ratio, erfcx, quantile
from pesmo.entropy.propagate import difference_moments, laplacian, propagate
from tests.backends import BACKENDS, IDS, back, to
from tests.entropy.cases import acquisition_case, moved


@pytest.mark.parametrize("xp", BACKENDS, ids=IDS)
def test_normal_functions_keep_their_digits_in_the_tails(xp) -> None:
    z = np.concatenate([np.linspace(0, 10, 500), np.logspace(1, 6, 50)])
    np.testing.assert_allclose(back(erfcx(to(xp, z))), scipy_erfcx(z), rtol=1e-9)
    a = np.concatenate([np.linspace(-30, 7, 500), -np.logspace(2, 6, 20)])
    below, ratio = (back(v) for v in cdf_and_ratio(to(xp, a)))
    np.testing.assert_allclose(below, np.exp(log_ndtr(a)), rtol=1e-8, atol=1e-300)
    np.testing.assert_allclose(back(cdf(to(xp, a))), below, rtol=1e-15)
    near = a > -1e3  # further out the reference formula itself loses digits; there phi / Phi = -a
    reference = np.exp(-0.5 * a * a - 0.5 * np.log(2 * np.pi) - log_ndtr(a))
    np.testing.assert_allclose(ratio[near], reference[near], rtol=1e-8)
    np.testing.assert_allclose(ratio[~near], -a[~near], rtol=1e-5)


@pytest.mark.parametrize("xp", BACKENDS, ids=IDS)
def test_quantiles_from_the_centre_to_the_last_float(xp) -> None:
    p = np.concatenate([np.linspace(0.001, 0.999, 999), np.logspace(-300, -3, 200), 1.0 - np.logspace(-16, -3, 50)])
    np.testing.assert_allclose(back(quantile(to(xp, p))), ndtri(p), rtol=1e-14, atol=1e-15)


def tilted_by_quadrature(m: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of each delta_k under psi(delta) N(delta; m, s^2), by summing over a fine grid (K = 2)."""
    t = np.linspace(-8, 8, 1601)
    d0, d1 = np.meshgrid(m[0] + s[0] * t, m[1] + s[1] * t, indexing="ij")
    weight = np.exp(-0.5 * (t[:, None] ** 2 + t[None, :] ** 2)) * ~((d0 <= 0) & (d1 <= 0))
    weight /= weight.sum()
    means = np.array([(weight * d).sum() for d in (d0, d1)])
    return means, np.array([(weight * (d - mu) ** 2).sum() for d, mu in zip((d0, d1), means, strict=True)])


@pytest.mark.parametrize("m", [(0.3, -0.2), (-1.0, 1.5), (-1.0, -0.5), (2.0, 1.0), (-0.1, -3.0)])
def test_tilted_moments_are_those_of_the_exact_factor(m: tuple[float, float]) -> None:
    mean, s = np.array(m), np.array([0.7, 1.3])
    none = np.zeros((1, 2, 1), bool)
    t = tilt(mean[None, :, None], s[None, :, None], none)
    new_mean = mean + s * t.rho[0, :, 0]
    new_variance = s**2 * (1 - t.beta[0, :, 0])
    right_mean, right_variance = tilted_by_quadrature(mean, s)
    np.testing.assert_allclose(new_mean, right_mean, atol=0.01)
    np.testing.assert_allclose(new_variance, right_variance, atol=0.01)
    # multiplying the belief by the matched factor gives these moments, wherever the factor is one
    tau, nu = match(mean[None, :, None], s[None, :, None] ** 2, np.zeros(1), none)
    kept = t.beta[0, :, 0] > 0
    precision = 1 / s**2 + tau[0, :, 0]
    np.testing.assert_allclose((1 / precision)[kept], new_variance[kept], rtol=1e-9)
    np.testing.assert_allclose(((mean / s**2 + nu[0, :, 0]) / precision)[kept], new_mean[kept], rtol=1e-9)
    assert np.all(tau[0, :, 0][~kept] == 0)
    assert np.all(nu[0, :, 0][~kept] == 0)


@pytest.mark.parametrize("m", [(0.3, -0.2), (-2.0, 1.5)])
def test_next_to_the_best_of_an_objective_that_objective_alone_is_cut_off(m: tuple[float, float]) -> None:
    """x*_j has the least f_2: a truncated normal there, and nothing is said of f_1."""
    mean, s = np.array(m), np.array([0.7, 1.3])
    best = np.array([False, True])[None, :, None]
    t = tilt(mean[None, :, None], s[None, :, None], best)
    right = truncnorm((0.0 - m[1]) / s[1], np.inf, loc=m[1], scale=s[1])
    np.testing.assert_allclose(m[1] + s[1] * t.rho[0, 1, 0], right.mean(), rtol=1e-8)
    np.testing.assert_allclose(s[1] ** 2 * (1 - t.beta[0, 1, 0]), right.var(), rtol=1e-7)
    assert t.rho[0, 0, 0] == 0.0
    assert t.beta[0, 0, 0] == 0.0


@pytest.mark.parametrize("best", [False, True])
def test_matching_is_finite_for_extreme_beliefs(best: bool) -> None:
    m = np.array([-1e8, -50.0, -1.0, 0.0, 1.0, 50.0, 1e8])
    pairs = np.stack(np.meshgrid(m, m, indexing="ij")).reshape(1, 2, -1)
    for s2 in (1e-12, 1.0, 1e6):
        tau, nu = match(pairs, np.full_like(pairs, s2), np.zeros(1), np.array([best, False])[None, :, None])
        assert np.all(np.isfinite(tau))
        assert np.all(np.isfinite(nu))
        assert np.all(tau >= 0)


def test_laplacian_is_the_precision_of_the_factors() -> None:
    rng = np.random.default_rng(0)
    tau, nu = rng.uniform(size=(1, 1, 5, 3)), rng.standard_normal((1, 1, 5, 3))
    lap, h = laplacian(tau, nu)
    right_lap, right_h = np.zeros((5, 5)), np.zeros(5)
    for i in range(5):
        for j in range(3):
            e = np.eye(5)[i] - np.eye(5)[j]
            right_lap += tau[0, 0, i, j] * np.outer(e, e)
            right_h += nu[0, 0, i, j] * e
    np.testing.assert_allclose(lap[0, 0], right_lap, atol=1e-12)
    np.testing.assert_allclose(h[0, 0], right_h, atol=1e-12)
    gap, spread = difference_moments(np.arange(5.0)[None, None], np.diag(np.arange(1.0, 6.0))[None, None], 3)
    assert gap[0, 0, 4, 1] == 3.0
    assert spread[0, 0, 4, 1] == 7.0


@pytest.mark.parametrize("ends", [False, True])
def test_ep_is_close_to_the_conditioned_distribution(ends: bool) -> None:
    """Rejection sampling: of draws of f at 4 points, those in which no point dominates Pareto points 0 and 1; or those
    in which point 0 is the best in the first objective, point 1 in the second."""
    rng = np.random.default_rng(4)
    p, m, k = 4, 2, 2
    mean = np.array([[0.0, 0.3, 0.2, -0.1], [0.2, -0.2, 0.3, 0.1]])
    cov = np.stack([0.3 * np.eye(p) + 0.2 for _ in range(k)])
    active = ~np.eye(p, m, dtype=bool)[None]
    q = propagate(mean[None], cov[None], active, np.ones((1, m), bool), (np.eye(2, dtype=bool) & ends)[None])
    f = np.stack([rng.multivariate_normal(mean[i], cov[i], 400_000) for i in range(k)], axis=1)  # (n, K, P)
    beats = np.all(f[:, :, :, None] < f[:, :, None, :m], axis=1) & active
    right = np.all(f.argmin(axis=2) == [0, 1], axis=1) if ends else ~beats.any(axis=(1, 2))
    kept = f[right]
    np.testing.assert_allclose(q.mean[0], kept.mean(axis=0)[:, :m], atol=0.15)
    for i in range(k):
        np.testing.assert_allclose(q.cov[0, i], np.cov(kept[:, i, :m].T), atol=0.08)


@pytest.mark.parametrize("objectives", [2, 3])
def test_the_room_gives_the_same_under_array_api_strict(objectives: int) -> None:
    import array_api_strict as strict

    views, q, features = acquisition_case(objectives, seed=3, ends=objectives == 2, times=objectives - 1)
    strict_views, strict_q, strict_features = moved(strict, views, q, features)
    weights = np.ones(objectives)
    np.testing.assert_allclose(
        back(alpha(strict_views, strict_q, strict_features)), alpha(views, q, features), rtol=1e-9
    )
    np.testing.assert_allclose(
        back(screen(strict_views, strict_q, strict_features)), screen(views, q, features), rtol=1e-9, atol=1e-12
    )
    value, gradients = alpha_and_gradient(strict_views, strict_q, strict_features, to(strict, weights))
    right, right_gradients = alpha_and_gradient(views, q, features, weights)
    np.testing.assert_allclose(back(value), right, rtol=1e-9)
    for one, other in zip(gradients, right_gradients, strict=True):
        np.testing.assert_allclose(back(one), other, rtol=1e-7, atol=1e-9)


def test_ep_runs_under_array_api_strict() -> None:
    import array_api_strict as strict

    rng = np.random.default_rng(0)
    mean, root = rng.standard_normal((2, 3, 6)), rng.standard_normal((2, 3, 6, 6))
    cov, active = root @ root.transpose(0, 1, 3, 2), np.broadcast_to(~np.eye(6, 4, dtype=bool), (2, 6, 4)).copy()
    real = np.ones((2, 4), bool)
    best = np.broadcast_to(np.eye(3, 4, dtype=bool), (2, 3, 4)).copy()
    right = propagate(mean, cov, active, real, best)
    other = propagate(*to(strict, mean, cov, active, real, best))
    np.testing.assert_allclose(back(other.mean), right.mean, rtol=1e-8)
    np.testing.assert_allclose(back(other.half), right.half, rtol=1e-6, atol=1e-8)
