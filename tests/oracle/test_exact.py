"""The oracle itself: against known entropies, plain rejection sampling, and information theory."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracle.exact import (
    Floats,
    Objective,
    dominated,
    exact_alpha,
    gaussian_entropy,
    matern52,
    noisy_entropy,
    obeys,
    posterior,
    rejection,
    root,
    sample,
    slice_sample,
)


def objectives(number: int, rng: np.random.Generator, observations: int = 6) -> list[Objective]:
    """Objectives drawn from the prior, each observed at inputs of its own."""
    out = []
    for _ in range(number):
        x = rng.uniform(size=observations)
        lengthscale, noise = rng.uniform(0.15, 0.3), 10 ** rng.uniform(-4, -2)
        gram = matern52(x, x, lengthscale, 1.0) + noise * np.eye(observations)
        y = np.linalg.cholesky(gram) @ rng.standard_normal(observations)
        out.append(Objective(x, y, lengthscale, 1.0, noise))
    return out


def moments(objs: list[Objective], points: int) -> tuple[Floats, Floats, list[Floats]]:
    """Posterior means, covariances and their roots on a grid."""
    each = [posterior(obj, np.linspace(0, 1, points)) for obj in objs]
    return np.array([m for m, _ in each]), np.array([c for _, c in each]), [root(c) for _, c in each]


def spacing_entropy(y: Floats) -> Floats:
    """Vasicek's, as corrected by Ebrahimi: mean_t log(T/(c_t m) · (y_(t+m) − y_(t−m))). (T, ...) -> (...)"""
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


@pytest.mark.parametrize("number", [1, 2, 3])
def test_dominated_by_the_book(number: int) -> None:
    f = np.random.default_rng(0).standard_normal((5, number, 20))
    expected = [[any(all(g[:, i] < g[:, j]) for i in range(20)) for j in range(20)] for g in f]
    np.testing.assert_array_equal(dominated(f), expected)


@pytest.mark.parametrize("sd", [0.03, 0.1, 0.5])
@pytest.mark.parametrize("shape", ["normal", "half", "two modes"])
def test_entropy_of_known_densities(shape: str, sd: float) -> None:
    rng = np.random.default_rng(1)
    z = rng.standard_normal((800, 200))
    far, step = np.linspace(-9, 9, 36001, retstep=True)

    def normal(mean: float, scale: float) -> Floats:
        return np.exp(-(((far - mean) / scale) ** 2) / 2) / (2 * np.pi) ** 0.5 / scale

    match shape:
        case "normal":
            f, density = z, normal(0, 1)
        case "half":
            f, density = np.abs(z), 2 * normal(0, 1) * (far > 0)
        case _:
            f = 0.3 * z + np.where(rng.uniform(size=z.shape) < 0.6, -1, 1)
            density = 0.6 * normal(-1, 0.3) + 0.4 * normal(1, 0.3)
    p = np.maximum(np.convolve(density, normal(0, sd)[np.abs(far) < 8 * sd] * step, "same"), 1e-300)
    truth = -(p * np.log(p)).sum() * step
    estimate = noisy_entropy(f, sd**2)
    assert estimate.shape == (200,)
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
def test_slice_sampling_equals_rejection(number: int, whole: bool) -> None:
    """100 chains, all from one draw, against independent draws: moments, quantiles and entropies."""
    rng = np.random.default_rng(3)
    mean, cov, roots = moments(objectives(number, rng, 3), 9)
    first = sample(mean, roots, 2000, rng)
    sets, count = np.unique(~dominated(first), axis=0, return_counts=True)
    star = sets[np.where(sets.sum(1) >= 4, count, 0).argmax()]  # the most frequent one of four points or more
    assert obeys(first, star, whole).mean() < 0.7  # a condition that matters
    exact = rejection(mean, cov, star[None], rng, draws=10_000, pool=2_000_000, whole=whole)[0]
    assert len(exact) == 10_000
    assert obeys(exact.astype(float), star, whole).mean() > 0.999  # but for ties by the rounding to float32

    chains = np.repeat(exact[:1].astype(float), 100, axis=0), np.repeat(star[None], 100, axis=0)
    walk = slice_sample(mean, cov, *chains, rng, draws=125, thin=20, whole=whole)[25:]
    flat = walk.reshape(-1, *mean.shape)
    sd, quantiles = exact.std(0), (0.05, 0.25, 0.5, 0.75, 0.95)
    np.testing.assert_allclose((flat.mean(0) - exact.mean(0)) / sd, 0, atol=0.08)
    np.testing.assert_allclose(flat.std(0) / sd, 1, atol=0.06)
    off = np.quantile(flat, quantiles, axis=0) - np.quantile(exact, quantiles, axis=0)
    np.testing.assert_allclose(off / sd, 0, atol=0.15)
    entropy = noisy_entropy(walk, 1e-2).mean(0)  # one for each chain, of the same X*
    np.testing.assert_allclose(entropy, noisy_entropy(exact, 1e-2), atol=0.05)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("number", [2, 4])
def test_every_conditioned_draw_obeys_its_condition(number: int, whole: bool) -> None:
    rng = np.random.default_rng(4)
    mean, cov, roots = moments(objectives(number, rng), 101)
    f = sample(mean, roots, 20, rng)
    star = ~dominated(f)
    walk = slice_sample(mean, cov, f, star, rng, draws=10, thin=3, whole=whole).astype(float)
    # float32 keeps or ties the order: it can hide a dominance, not make one
    assert all(obeys(g, star).all() for g in walk)
    if whole:
        assert np.mean([obeys(g, star, whole) for g in walk]) > 0.95
    assert (walk.std(0).max(-1) > 1e-3).all()  # and every chain moves
    for s, draws in enumerate(rejection(mean, cov, star, rng, draws=10, pool=20_000)):
        assert obeys(draws.astype(float), star[s]).all()


# ---------------------------------------------------------------- the acquisition
@pytest.mark.parametrize("whole", [False, True])
def test_alpha_is_not_negative(whole: bool) -> None:
    """α_k ≥ 0 where X* is the whole Pareto set; with two objectives the paper's condition keeps it so."""
    objs, grid = objectives(2, np.random.default_rng(5), 8), np.linspace(0, 1, 41)
    rng = np.random.default_rng(6)
    result = exact_alpha(objs, grid, rng, sets=60, draws=200, pool=100_000, chains=4, whole=whole)
    assert result.alpha.shape == (2, 41)
    assert result.star.any(1).all()
    assert result.alpha.max() > 0.1
    assert (result.alpha > -3 * result.se - 0.01).all()


def test_alpha_by_rejection_equals_alpha_by_slice_sampling() -> None:
    objs, grid = objectives(2, np.random.default_rng(5), 8), np.linspace(0, 1, 41)
    rejected = exact_alpha(objs, grid, np.random.default_rng(6), sets=40, draws=400, pool=300_000)
    walked = exact_alpha(objs, grid, np.random.default_rng(6), sets=40, draws=400, pool=0, chains=4, thin=15)
    np.testing.assert_array_equal(rejected.star, walked.star)
    assert np.mean(rejected.accepted > 200) > 0.8
    assert (walked.accepted == 0).all()
    np.testing.assert_allclose(walked.alpha, rejected.alpha, atol=0.05)


def test_entropy_agrees_with_a_spacing_estimate() -> None:
    """The same conditioned draws, noise added, and an estimate that knows nothing of that noise."""
    rng = np.random.default_rng(7)
    objs = objectives(2, rng, 8)
    mean, cov, roots = moments(objs, 41)
    star = ~dominated(sample(mean, roots, 40, rng))
    kept = rejection(mean, cov, star, rng, draws=500, pool=200_000)
    for k, obj in enumerate(objs):
        difference = [
            noisy_entropy(f[:, k], obj.noise)
            - spacing_entropy(f[:, k] + obj.noise**0.5 * rng.standard_normal(f[:, k].shape))
            for f in kept
            if len(f) == 500
        ]
        assert len(difference) > 10
        np.testing.assert_allclose(np.mean(difference, axis=0), 0, atol=0.04)
