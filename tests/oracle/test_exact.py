"""The oracle itself: against known entropies, plain rejection sampling, and information theory."""

from __future__ import annotations

import numpy as np
import pytest
from exact import (
    Floats,
    Objective,
    condition,
    dominated,
    exact_alpha,
    gaussian_entropy,
    is_pareto_set,
    matern52,
    noisy_entropy,
    posterior,
    root,
    satisfies,
)


def objectives(number: int, rng: np.random.Generator, observations: int = 6) -> list[Objective]:
    """Objectives drawn from the prior, each observed at inputs of its own."""
    out = []
    for _ in range(number):
        x, lengthscale, noise = rng.uniform(size=observations), rng.uniform(0.15, 0.3), 10 ** rng.uniform(-4, -2)
        gram = matern52(x, x, lengthscale, 1.0) + noise * np.eye(observations)
        y = np.linalg.cholesky(gram) @ rng.standard_normal(observations)
        out.append(Objective(x, y, lengthscale, 1.0, noise))
    return out


def moments(objs: list[Objective], grid: Floats) -> tuple[Floats, Floats]:
    each = [posterior(obj, grid) for obj in objs]
    return np.array([m for m, _ in each]), np.array([c for _, c in each])


def sample(mean: Floats, cov: Floats, number: int, rng: np.random.Generator) -> Floats:
    z = rng.standard_normal((len(mean), number, mean.shape[1]))
    return np.stack([m + w @ root(c).T for m, c, w in zip(mean, cov, z, strict=True)], axis=1)


def spacing_entropy(y: Floats) -> Floats:
    """Vasicek's estimate, corrected by Ebrahimi: mean_t log(T/(c_t m) (y_(t+m) − y_(t−m))). (T, ...) -> (...)"""
    y = np.sort(y, axis=0)
    last, m = len(y) - 1, round(len(y) ** 0.5)
    t = np.arange(last + 1)
    c = 1 + np.minimum(1, np.minimum(t, last - t) / m)
    gap = y[np.minimum(t + m, last)] - y[np.maximum(t - m, 0)]
    return np.log(len(y) / m * gap / c.reshape(-1, *[1] * (y.ndim - 1))).mean(0)


# ---------------------------------------------------------------- pieces
def test_posterior_interpolates_and_returns_to_the_prior() -> None:
    obj = Objective(np.array([0.1, 0.2]), np.array([1.0, -1.0]), 0.05, 2.0, 1e-8)
    mean, cov = posterior(obj, np.array([0.1, 0.2, 0.9]))
    np.testing.assert_allclose(mean, [1.0, -1.0, 0.0], atol=1e-3)
    np.testing.assert_allclose(np.diag(cov), [0.0, 0.0, 2.0], atol=1e-3)


def test_dominated_by_the_book() -> None:
    f = np.random.default_rng(0).standard_normal((5, 3, 20))
    expected = [[any(all(g[:, i] < g[:, j]) for i in range(20)) for j in range(20)] for g in f]
    np.testing.assert_array_equal(dominated(f), expected)


@pytest.mark.parametrize("sd", [0.03, 0.1, 0.5])
@pytest.mark.parametrize("shape", ["normal", "half", "two modes"])
def test_entropy_of_known_densities(shape: str, sd: float) -> None:
    rng = np.random.default_rng(1)
    rows, draws = 200, 800
    z = rng.standard_normal((draws, rows))
    far = np.linspace(-9, 9, 36001)
    normal = np.exp(-(far**2) / 2) / (2 * np.pi) ** 0.5
    f, density = {
        "normal": (z, normal),
        "half": (np.abs(z), 2 * normal * (far > 0)),
        "two modes": (0.3 * z + np.where(rng.uniform(size=z.shape) < 0.6, -1, 1),
                      2 * np.interp(far, 0.3 * far - 1, normal, 0, 0) + 4 / 3 * np.interp(far, 0.3 * far + 1, normal, 0, 0)),
    }[shape]
    step = far[1] - far[0]
    kernel = np.exp(-((far / sd) ** 2) / 2) / (2 * np.pi) ** 0.5 / sd * step
    p = np.maximum(np.convolve(density, kernel[abs(far) < 8 * sd], "same"), 1e-300)
    truth = -(p * np.log(p)).sum() * step
    estimate = noisy_entropy(f, sd**2)
    assert estimate.shape == (rows,)
    assert abs(estimate.mean() - truth) < 0.01
    assert estimate.std() < 0.04


def test_entropy_from_correlated_draws() -> None:
    """An autocorrelation time of 19 leaves about 50 of 1000 draws."""
    rng = np.random.default_rng(2)
    f = np.empty((1000, 400))
    f[0] = rng.standard_normal(400)
    for t in range(1, 1000):
        f[t] = 0.9 * f[t - 1] + (1 - 0.9**2) ** 0.5 * rng.standard_normal(400)
    error = noisy_entropy(f, 0.1**2).mean() - gaussian_entropy(np.array(1.01))
    assert abs(error) < 0.03


# ---------------------------------------------------------------- draws of f given X*
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("number", [2, 3])
def test_conditioned_draws_equal_rejection_sampling(number: int, whole: bool) -> None:
    rng = np.random.default_rng(3)
    mean, cov = moments(objectives(number, rng, 3), np.linspace(0, 1, 9))
    prior = sample(mean, cov, 200_000, rng)
    sets, count = np.unique(~dominated(prior[:2000]), axis=0, return_counts=True)
    star = sets[np.where(sets.sum(1) >= 4, count, 0).argmax()]  # the most frequent one of four points or more
    allowed = is_pareto_set if whole else satisfies
    accepted = prior[allowed(prior, star[None])]
    assert 2000 < len(accepted) < 0.6 * len(prior)  # enough of them, and a condition that matters

    chains = 100
    start, stars = np.repeat(accepted[:1], chains, axis=0), np.repeat(star[None], chains, axis=0)
    kept = condition(mean, cov, start, stars, rng, draws=100, thin=3, whole=whole)
    assert all(allowed(f, stars).all() for f in kept)

    flat = kept.reshape(-1, *mean.shape)
    sd = accepted.std(0)
    np.testing.assert_allclose((flat.mean(0) - accepted.mean(0)) / sd, 0, atol=0.07)
    np.testing.assert_allclose(flat.std(0) / sd, 1, atol=0.06)
    quantiles = (0.05, 0.25, 0.5, 0.75, 0.95)
    np.testing.assert_allclose((np.quantile(flat, quantiles, 0) - np.quantile(accepted, quantiles, 0)) / sd, 0, atol=0.13)
    entropy = noisy_entropy(kept, 1e-2).mean(0)  # over chains, each of which has the same X*
    np.testing.assert_allclose(entropy, noisy_entropy(accepted[:20_000], 1e-2), atol=0.06)


@pytest.mark.parametrize("number", [2, 4])
def test_every_conditioned_draw_satisfies_its_condition(number: int) -> None:
    rng = np.random.default_rng(4)
    mean, cov = moments(objectives(number, rng), np.linspace(0, 1, 101))
    f = sample(mean, cov, 20, rng)
    star = ~dominated(f)
    kept = condition(mean, cov, f, star, rng, draws=10, thin=1)
    assert all(satisfies(g, star).all() for g in kept)
    assert (kept.std(0).max(-1) > 0.01).all()  # and every chain moves
    kept = condition(mean, cov, f, star, rng, draws=10, thin=1, whole=True)
    assert all(is_pareto_set(g, star).all() for g in kept)


# ---------------------------------------------------------------- the acquisition
def test_alpha_is_not_negative() -> None:
    """α_k ≥ 0 where X* is the whole Pareto set; with two objectives the paper's condition keeps it so."""
    objs = objectives(2, np.random.default_rng(5), 8)
    for whole in (False, True):
        result = exact_alpha(objs, np.linspace(0, 1, 41), np.random.default_rng(6), sets=60, draws=80, whole=whole)
        assert result.alpha.shape == (2, 41)
        assert result.star.any(1).all()
        assert result.alpha.max() > 0.2
        assert (result.alpha > -3 * result.se - 0.01).all()


def test_alpha_agrees_with_a_spacing_estimate() -> None:
    """The same conditioned draws, noise added, and an entropy estimate that knows nothing of that noise."""
    rng = np.random.default_rng(7)
    objs = objectives(2, rng, 8)
    mean, cov = moments(objs, np.linspace(0, 1, 41))
    f = sample(mean, cov, 40, rng)
    kept = condition(mean, cov, f, ~dominated(f), rng, draws=250, thin=2)
    for k, obj in enumerate(objs):
        y = kept[:, :, k] + obj.noise**0.5 * rng.standard_normal(kept[:, :, k].shape)
        difference = (noisy_entropy(kept[:, :, k], obj.noise) - spacing_entropy(y)).mean(0)
        assert np.abs(difference).max() < 0.06
