"""Posterior, slopes and sample paths against the textbook formulas point by point, and paths against the posterior."""

import numpy as np
import pytest

from pesmo.arrays import namespace
from pesmo.gp import paths as room
from pesmo.gp.paths import Paths, draw_paths, evaluate, slopes
from pesmo.gp.posterior import (
    Posterior,
    again,
    condition,
    covariance_of,
    cross,
    distinct,
    first,
    joint,
    mean_and_variance,
    mean_slope,
    moment_slopes,
    project,
    repeated,
)
from pesmo.gp.scaling import Scaling, scaling_of
from tests.oracle.ep import matern52
from tests.oracle.ep import posterior as by_loops

S, N, F = 3, 6, 3


def problem(seed: int = 0, noise: float = 0.3) -> tuple[Posterior, np.ndarray, np.ndarray]:
    """A posterior of three samples with much noise, the values of each, and points to look at."""
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(size=(N, F)), rng.standard_normal((S, N))
    scales, amplitude = rng.uniform(0.3, 1.0, (S, F)), rng.uniform(0.5, 2.0, S)
    return condition(x, y, scales, amplitude, noise * rng.uniform(0.5, 1.0, S)), y, rng.uniform(size=(5, F))


def textbook(p: Posterior, y: np.ndarray, s: int, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return by_loops(p.x, y[s], at, p.scales[s], p.amplitude[s], p.noise[s])


def test_moments_with_each_samples_own_values_and_points() -> None:
    posterior, y, at = problem()
    own = np.stack([at + 0.01 * s for s in range(S)])
    shared_mean, shared_variance = mean_and_variance(posterior, at)
    mean, covariance, whitened = joint(posterior, own)
    projected, same = project(posterior, own)
    for s in range(S):
        right_mean, right = textbook(posterior, y, s, own[s])
        np.testing.assert_allclose(mean[s], right_mean, atol=1e-10)
        np.testing.assert_allclose(projected[s], right_mean, atol=1e-10)
        np.testing.assert_allclose(covariance[s], right, atol=1e-10)
        right_mean, right = textbook(posterior, y, s, at)
        np.testing.assert_allclose(shared_mean[s], right_mean, atol=1e-10)
        np.testing.assert_allclose(shared_variance[s], np.diag(right), atol=1e-10)
        k = matern52(own[s], posterior.x, posterior.scales[s], posterior.amplitude[s])
        np.testing.assert_allclose(cross(posterior, own)[s], k, atol=1e-12)
        explained = k @ np.linalg.solve(
            matern52(posterior.x, posterior.x, posterior.scales[s], posterior.amplitude[s])
            + posterior.noise[s] * np.eye(N),
            k.T,
        )
        np.testing.assert_allclose(whitened[s].T @ whitened[s], explained, atol=1e-10)
    np.testing.assert_array_equal(whitened, same)
    np.testing.assert_array_equal(covariance_of(posterior, own, whitened), covariance)


def test_slopes_of_mean_and_variance_by_differences() -> None:
    posterior, _, at = problem(1)
    by_mean, by_variance = moment_slopes(posterior, at)
    np.testing.assert_array_equal(by_mean, mean_slope(posterior, at))
    for f in range(F):
        step = np.zeros(F)
        step[f] = 1e-5
        up, down = (mean_and_variance(posterior, at + t * step) for t in (1, -1))
        np.testing.assert_allclose(by_mean[..., f], (up[0] - down[0]) / 2e-5, atol=1e-7)
        np.testing.assert_allclose(by_variance[..., f], (up[1] - down[1]) / 2e-5, atol=1e-7)


def test_a_variance_is_never_negative() -> None:
    x = np.linspace(0, 1, 30)[:, None]
    posterior = condition(x, np.sin(x[:, 0]), np.full((1, 1), 3.0), np.ones(1), np.full(1, 1e-6))
    _, variance = mean_and_variance(posterior, np.linspace(0, 1, 300)[:, None])
    assert variance.min() >= 0.0
    assert variance.max() < 1e-5


def test_the_first_samples_and_the_distinct_ones() -> None:
    posterior, y, at = problem(2)
    many = repeated(posterior, 3)
    assert (many.times, many.scales.shape[0], many.root.shape[0]) == (3, 3 * S, S)
    assert repeated(many, 2).times == 6
    mean, variance = mean_and_variance(posterior, at)
    for part, count in ((first(many, 2), 2), (distinct(many), S), (distinct(posterior), S)):
        assert part.times == 1
        found = mean_and_variance(part, at)
        np.testing.assert_allclose(found[0], mean[:count], atol=1e-12)
        np.testing.assert_allclose(found[1], variance[:count], atol=1e-12)
    np.testing.assert_array_equal(again(many, mean), np.concatenate([mean] * 3))
    np.testing.assert_array_equal(again(posterior, mean), mean)
    assert y.shape == (S, N)


# ---------------------------------------------------------------- sample paths
def many_draws(posterior: Posterior, s: int, count: int) -> Posterior:
    """Sample s of a posterior, `count` times with features of its own each time."""
    rows = np.full(count, s)
    p = posterior
    return Posterior(p.x, p.scales[rows], p.amplitude[rows], p.noise[rows], p.root[rows], p.weights[rows])


def test_paths_at_noisy_data_and_beside_it_are_draws_from_the_posterior() -> None:
    """At the data too: the rule without a draw of the noise gives paths that vary too little there."""
    posterior, y, at = problem(3)
    places, count = np.concatenate([posterior.x, at]), 4000
    values = evaluate(draw_paths(many_draws(posterior, 0, count), y[0], np.random.default_rng(0), features=64), places)
    mean, covariance = textbook(posterior, y, 0, places)
    error = np.sqrt(np.diag(covariance) / count)
    assert np.max(np.abs(values.mean(axis=0) - mean) / error) < 4.0
    np.testing.assert_allclose(np.cov(values.T), covariance, atol=4.5 * covariance.max() / np.sqrt(count))
    standard = (values - mean) / np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(np.mean(standard**2, axis=0), 1.0, atol=0.12)


def test_far_from_the_data_paths_are_draws_from_the_prior() -> None:
    posterior, y, _ = problem(4)
    places, count = 50.0 + np.array([[0.0] * F, [0.1] * F, [0.3] * F, [0.1, 0.0, 0.0]]), 4000
    values = evaluate(draw_paths(many_draws(posterior, 1, count), y[1], np.random.default_rng(0), features=64), places)
    right = matern52(places, places, posterior.scales[1], posterior.amplitude[1])
    np.testing.assert_allclose(values.mean(axis=0), 0.0, atol=4.0 * np.sqrt(right[0, 0] / count))
    np.testing.assert_allclose(np.cov(values.T), right, atol=4.5 * right[0, 0] / np.sqrt(count))


def path_by_loops(paths: Paths, r: int, s: int, at: np.ndarray) -> float:
    """f0(p) + k(p, x) update, term by term."""
    f0 = 0.0
    for i in range(paths.omega.shape[2]):
        angle = sum(float(paths.omega[s, f, i]) * at[f] for f in range(at.size)) + float(paths.phase[s, 0, i])
        f0 += float(paths.amplitudes[r, s, i]) * np.cos(angle)
    k = matern52(at[None], np.asarray(paths.x, float), np.asarray(paths.scales[s], float), float(paths.amplitude[s]))
    return f0 + float(k[0] @ np.asarray(paths.update[r, s], float))


def test_every_path_is_its_formula_and_a_slope_its_slope() -> None:
    posterior, y, at = problem(5)
    paths = draw_paths(posterior, y, np.random.default_rng(1), draws=2, features=16)
    shared = evaluate(paths, at)
    own = np.stack([at + 0.02 * i for i in range(2 * S)])
    separate, slope = evaluate(paths, own), slopes(paths, own)
    for r in range(2):
        for s in range(S):
            row = r * S + s  # all samples come once before the first comes again
            right = [path_by_loops(paths, r, s, p) for p in at]
            np.testing.assert_allclose(shared[row], right, atol=2e-5)
            np.testing.assert_allclose(separate[row], [path_by_loops(paths, r, s, p) for p in own[row]], atol=2e-5)
            for n, p in enumerate(own[row]):
                for f in range(F):
                    step = 1e-5 * np.eye(F)[f]
                    difference = path_by_loops(paths, r, s, p + step) - path_by_loops(paths, r, s, p - step)
                    assert slope[row, n, f] == pytest.approx(difference / 2e-5, abs=1e-3)


def test_without_data_a_path_and_its_slope_are_the_prior_draw() -> None:
    empty = condition(np.empty((0, F)), np.empty(0), np.full((S, F), 0.5), np.ones(S), np.full(S, 0.1))
    paths = draw_paths(empty, np.empty(0), np.random.default_rng(2), features=16)
    at = np.random.default_rng(3).uniform(size=(4, F))
    own = np.stack([at] * S)
    found, slope = evaluate(paths, at), slopes(paths, own)
    for s in range(S):
        for n, p in enumerate(at):
            assert found[s, n] == pytest.approx(path_by_loops(paths, 0, s, p), abs=2e-5)
            for f in range(F):
                step = 1e-5 * np.eye(F)[f]
                difference = path_by_loops(paths, 0, s, p + step) - path_by_loops(paths, 0, s, p - step)
                assert slope[s, n, f] == pytest.approx(difference / 2e-5, abs=1e-3)


def test_large_updates_of_both_signs_keep_their_digits() -> None:
    """Exact data close together: the update is summed in float64 where float32 would lose what matters."""
    x = np.linspace(0, 1, 40)[:, None]
    y = np.sin(9 * x[:, 0])
    posterior = condition(x, y, np.full((2, 1), 0.8), np.full(2, 30.0), np.full(2, 1e-6))
    paths = draw_paths(posterior, y, np.random.default_rng(0))
    assert paths.update.dtype == np.float64
    assert np.max(np.abs(evaluate(paths, x) - y)) < 0.01
    light = draw_paths(condition(x, y, np.full((2, 1), 0.2), np.ones(2), np.ones(2)), y, np.random.default_rng(0))
    assert light.update.dtype == light.x.dtype == light.amplitudes.dtype == np.float32


def test_paths_come_in_blocks_that_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    posterior, y, _ = problem(6)
    paths = draw_paths(posterior, y, np.random.default_rng(0), draws=2, features=16)
    at = np.random.default_rng(1).uniform(size=(50, F))
    own = np.stack([at] * 2 * S)
    whole, separate = evaluate(paths, at), evaluate(paths, own)

    def small(rows: int, width: int):
        return (slice(i, min(i + 7, rows)) for i in range(0, rows, 7))

    monkeypatch.setattr(room, "blocks", small)
    np.testing.assert_allclose(evaluate(paths, at), whole, atol=1e-6)
    np.testing.assert_allclose(evaluate(paths, own), separate, atol=1e-6)
    assert namespace(whole) is np


# ---------------------------------------------------------------- scaling
def test_scaling_is_mean_and_standard_deviation() -> None:
    values = np.array([3.0, -5.0, 12.5, 0.25])
    scaling = scaling_of(values)
    assert scaling.centre == pytest.approx(values.mean())
    assert scaling.size == pytest.approx(values.std())
    np.testing.assert_allclose(scaling.standardize(values), (values - values.mean()) / values.std())
    np.testing.assert_allclose(scaling.restore(np.array([0.0, 1.0])), values.mean() + np.array([0.0, values.std()]))
    assert scaling_of(np.empty(0)) == Scaling(0.0, 1.0)
    assert scaling_of(np.full(3, -4.0)) == Scaling(-4.0, 4.0)
    assert scaling_of(np.zeros(3)) == Scaling(0.0, 1.0)
    wide = scaling_of(np.array([1.0, 1.7e308, -1.7e308]))
    assert np.all(np.abs(wide.standardize(np.array([1.0, 1.7e308, -1.7e308]))) < 2.0)
    tiny = scaling_of(1.0 + 1e-10 * np.arange(3))
    assert tiny.size == pytest.approx(1e-10 * np.sqrt(2 / 3), rel=1e-5)
