"""Kernel, posterior, paths and hyperparameter density against slow, obvious formulas; under both array libraries."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal as _normal

from pesmo.gp.hyper import default_prior, log_density, pairwise, slice_sample, start
from pesmo.gp.kernels import kernel, kernel_gradient
from pesmo.gp.paths import draw_paths, evaluate, slopes
from pesmo.gp.posterior import condition, joint, mean_and_variance, moment_slopes, repeated
from pesmo.gp.scaling import scaling_of
from tests.backends import BACKENDS, IDS, back, to

multivariate_normal: Any = _normal  # its stubs want an integer covariance
RNG = np.random.default_rng(3)
S, N, F = 3, 7, 2
X, Y, Z = RNG.uniform(size=(N, F)), RNG.standard_normal(N), RNG.uniform(size=(5, F))
SCALES, AMPLITUDE, NOISE = RNG.uniform(0.2, 1.0, (S, F)), RNG.uniform(0.5, 2.0, S), RNG.uniform(1e-3, 1e-2, S)


def slow_kernel(x: np.ndarray, z: np.ndarray, scales: np.ndarray, amplitude: float) -> np.ndarray:
    out = np.empty((len(x), len(z)))
    for i, a in enumerate(x):
        for j, b in enumerate(z):
            r = math.sqrt(5.0 * sum(((a - b) / scales) ** 2))
            out[i, j] = amplitude * (1 + r + r * r / 3) * math.exp(-r)
    return out


@pytest.mark.parametrize("xp", BACKENDS, ids=IDS)
def test_kernel_is_the_formula(xp) -> None:
    k = back(kernel(*to(xp, X, Z, SCALES, AMPLITUDE)))
    for s in range(S):
        np.testing.assert_allclose(k[s], slow_kernel(X, Z, SCALES[s], AMPLITUDE[s]), rtol=1e-10)


@pytest.mark.parametrize("xp", BACKENDS, ids=IDS)
def test_kernel_gradient_is_its_slope(xp) -> None:
    upstream = RNG.standard_normal((S, 5, N))
    gradient = back(kernel_gradient(*to(xp, Z, X, SCALES, AMPLITUDE, upstream))).sum(axis=0)
    for f in range(F):
        step = np.zeros(F)
        step[f] = 1e-6
        up, down = (np.sum(upstream * kernel(Z + t * step, X, SCALES, AMPLITUDE), axis=(0, 2)) for t in (1, -1))
        np.testing.assert_allclose(gradient[:, f], (up - down) / 2e-6, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("xp", BACKENDS, ids=IDS)
def test_posterior_is_the_textbook_one(xp) -> None:
    posterior = condition(*to(xp, X, Y, SCALES, AMPLITUDE, NOISE))
    mean, covariance, _ = (back(a) for a in joint(posterior, to(xp, np.broadcast_to(Z, (S, *Z.shape)).copy())))
    marginal_mean, variance = (back(a) for a in mean_and_variance(posterior, to(xp, Z)))
    for s in range(S):
        gram = slow_kernel(X, X, SCALES[s], AMPLITUDE[s]) + NOISE[s] * np.eye(N)
        cross = slow_kernel(Z, X, SCALES[s], AMPLITUDE[s])
        right_mean = cross @ np.linalg.solve(gram, Y)
        right = slow_kernel(Z, Z, SCALES[s], AMPLITUDE[s]) - cross @ np.linalg.solve(gram, cross.T)
        np.testing.assert_allclose(mean[s], right_mean, rtol=1e-8)
        np.testing.assert_allclose(marginal_mean[s], right_mean, rtol=1e-8)
        np.testing.assert_allclose(covariance[s], right, atol=1e-10)
        np.testing.assert_allclose(variance[s], np.diag(right), atol=1e-10)


@pytest.mark.parametrize("xp", BACKENDS, ids=IDS)
def test_a_repeated_posterior_is_that_of_repeated_hyperparameters(xp) -> None:
    twice = [np.concatenate([part, part]) for part in (SCALES, AMPLITUDE, NOISE)]
    right = condition(*to(xp, X, Y, *twice))
    one = repeated(condition(*to(xp, X, Y, SCALES, AMPLITUDE, NOISE)), 2)
    assert one.root.shape[0] == S  # kept once
    own = to(xp, RNG.uniform(size=(2 * S, 4, F)))  # points of each draw's own
    for of in (mean_and_variance, moment_slopes):
        for points in (to(xp, Z), own):
            for found, expected in zip(of(one, points), of(right, points), strict=True):
                np.testing.assert_allclose(back(found), back(expected), rtol=1e-10, atol=1e-14)
    for found, expected in zip(joint(one, own), joint(right, own), strict=True):
        np.testing.assert_allclose(back(found), back(expected), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("xp", BACKENDS, ids=IDS)
def test_hyperparameter_density_is_likelihood_times_prior(xp) -> None:
    prior = default_prior(F, None)
    theta = start(prior, 4, np.random.default_rng(0))
    density = log_density(theta, pairwise(to(xp, X), np.arange(F), F), to(xp, Y), prior)
    right = []
    for row in theta:
        gram = slow_kernel(X, X, np.exp(row[:F]), math.exp(row[F])) + math.exp(row[F + 1]) * np.eye(N)
        likelihood = multivariate_normal(np.zeros(N), gram).logpdf(Y)
        right.append(likelihood - 0.5 * np.sum(((row - prior.mean) / prior.sd) ** 2))
    np.testing.assert_allclose(np.diff(density), np.diff(right), rtol=1e-8)


def test_without_data_slice_sampling_samples_the_prior() -> None:
    prior, rng = default_prior(2, None), np.random.default_rng(5)
    theta = start(prior, 40, rng)
    nothing = np.zeros((2, 0)), np.zeros(0)
    kept = []
    for _ in range(60):
        theta = slice_sample(theta, *nothing, prior, 10, rng)
        kept.append(theta)
    sample = np.concatenate(kept[10:])
    np.testing.assert_allclose(sample[:, :3].mean(axis=0), prior.mean[:3], atol=0.15)
    np.testing.assert_allclose(sample[:, :3].std(axis=0), prior.sd[:3], atol=0.12)
    assert np.all((sample >= prior.low) & (sample <= prior.high))


def test_slice_sampling_finds_the_length_scale_of_the_data() -> None:
    rng = np.random.default_rng(11)
    x = rng.uniform(size=(60, 1))
    y = multivariate_normal(np.zeros(60), slow_kernel(x, x, np.array([0.2]), 1.0) + 1e-6 * np.eye(60)).rvs(
        random_state=2
    )
    prior = default_prior(1, 1e-6)
    theta = slice_sample(start(prior, 20, rng), pairwise(x, np.zeros(1, int), 1), y, prior, 60, rng)
    assert abs(np.median(theta[:, 0]) - math.log(0.2)) < 0.5
    assert np.all(theta[:, 2] == prior.mean[2])  # a known noise stays as it is


def test_paths_have_the_mean_and_covariance_of_the_posterior() -> None:
    rng = np.random.default_rng(1)
    many = 3000
    posterior = condition(
        X, Y, np.repeat(SCALES[:1], many, 0), np.repeat(AMPLITUDE[:1], many), np.repeat(NOISE[:1], many)
    )
    values = evaluate(draw_paths(posterior, Y, rng, features=128), Z)
    one = condition(X, Y, SCALES[:1], AMPLITUDE[:1], NOISE[:1])
    mean, covariance, _ = joint(one, Z[None])
    np.testing.assert_allclose(values.mean(axis=0), mean[0], atol=0.06)
    np.testing.assert_allclose(np.cov(values.T), covariance[0], atol=0.06)


@pytest.mark.parametrize("xp", BACKENDS, ids=IDS)
def test_paths_go_through_exact_data_and_are_the_same_everywhere(xp) -> None:
    tiny = np.full(S, 1e-6)
    posterior = condition(*to(xp, X, Y, SCALES, AMPLITUDE, tiny))
    paths = draw_paths(posterior, to(xp, Y), np.random.default_rng(2), draws=2)
    at_data = back(evaluate(paths, to(xp, X)))
    assert at_data.shape == (2 * S, len(X))
    np.testing.assert_allclose(at_data, np.broadcast_to(Y, at_data.shape), atol=0.02)
    shared, own = back(evaluate(paths, to(xp, Z))), back(evaluate(paths, to(xp, np.stack([Z] * 2 * S))))
    np.testing.assert_allclose(shared, own, atol=1e-4)


def test_two_paths_of_a_sample_are_as_different_as_two_of_equal_samples() -> None:
    """They share the features' frequencies, not their weights."""
    many = 1500
    posterior = condition(
        X, Y, np.repeat(SCALES[:1], many, 0), np.repeat(AMPLITUDE[:1], many), np.repeat(NOISE[:1], many)
    )
    first, second = np.split(evaluate(draw_paths(posterior, Y, np.random.default_rng(3), 2, features=128), Z), 2)
    correlation = [np.corrcoef(first[:, i], second[:, i])[0, 1] for i in range(len(Z))]
    assert np.abs(correlation).max() < 0.12  # 1 / sqrt(many) is 0.026


def test_slopes_are_the_slopes_of_the_paths() -> None:
    posterior = condition(X, Y, SCALES, AMPLITUDE, NOISE)
    paths = draw_paths(posterior, Y, np.random.default_rng(2), draws=2)
    points = np.stack([Z] * 2 * S)
    slope = slopes(paths, points)
    for f in range(F):
        step = np.zeros(F)
        step[f] = 1e-2
        up, down = evaluate(paths, points + step), evaluate(paths, points - step)
        np.testing.assert_allclose(slope[..., f], (up - down) / 2e-2, atol=0.05 * np.abs(slope).max())


@pytest.mark.parametrize("values", [[3.0], [5.0] * 4, [1e12, 1e12 + 1e6], [1e-12, 3e-12], [0.0, 0.0], [-1e300, 1e300]])
def test_scaling_is_finite_and_invertible(values: list[float]) -> None:
    array = np.array(values)
    scaling = scaling_of(array)
    standard = scaling.standardize(array)
    assert np.all(np.abs(standard) < 10)
    np.testing.assert_allclose(scaling.restore(standard), array, rtol=1e-9)
