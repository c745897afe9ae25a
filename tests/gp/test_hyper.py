"""Priors, the density of hyperparameters and its slice sampler, against SciPy and against integration on a grid."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest
from scipy.stats import multivariate_normal as _multivariate_normal
from scipy.stats import norm as _norm

from pesmo.gp import hyper
from pesmo.gp.hyper import HIGH, LOW, NOISE_FLOOR, default_prior, log_density, pairwise, slice_sample, start
from tests.oracle.ep import matern52

multivariate_normal: Any = _multivariate_normal  # their stubs are wrong about arrays
norm: Any = _norm


@pytest.mark.parametrize("d", [1, 2, 9])
def test_the_prior_is_that_of_the_table(d: int) -> None:
    prior = default_prior(d, None)
    np.testing.assert_allclose(np.exp(prior.mean), [0.3 * d**0.5] * d + [1.0, 1e-5])
    assert prior.sd.tolist() == [1.0] * d + [1.0, 2.5]
    np.testing.assert_allclose(np.exp(prior.low), [1e-3] * (d + 1) + [1e-6])
    np.testing.assert_allclose(np.exp(prior.high), [1e3] * (d + 1) + [2.0])


@pytest.mark.parametrize(("noise", "kept"), [(0.04, 0.04), (0.0, 1e-6), (1e-9, 1e-6), (7.0, 7.0)])
def test_a_known_noise_is_fixed_and_no_smaller_than_the_floor(noise: float, kept: float) -> None:
    prior = default_prior(2, noise)
    assert math.exp(prior.mean[-1]) == pytest.approx(kept)
    assert prior.sd.tolist() == [1.0, 1.0, 1.0, 0.0]
    assert prior.low[-1] == prior.high[-1] == prior.mean[-1]
    theta = start(prior, 5, np.random.default_rng(0))
    assert np.all(theta[:, -1] == prior.mean[-1])


def test_chains_start_apart_and_within_the_limits() -> None:
    prior = default_prior(3, None)
    theta = start(prior, 4000, np.random.default_rng(0))
    np.testing.assert_allclose(theta.mean(axis=0)[:4], prior.mean[:4], atol=0.05)
    np.testing.assert_allclose(theta.std(axis=0)[:4], 0.5, atol=0.03)
    assert theta[:, -1].min() == math.log(NOISE_FLOOR)
    assert np.all((theta >= prior.low) & (theta <= prior.high))
    narrow = hyper.Prior(np.zeros(2), np.ones(2), np.full(2, -0.1), np.full(2, 0.2))
    chains = start(narrow, 50, np.random.default_rng(0))
    assert chains.min() == -0.1
    assert chains.max() == 0.2


def test_distances_along_an_input_add_up_over_its_columns() -> None:
    rng, owners = np.random.default_rng(0), np.array([0, 1, 1, 1, 2, 2])
    x = rng.uniform(size=(5, 6))
    found = pairwise(x, owners, 3)
    assert found.shape == (3, 25)
    for i in range(3):
        for a in range(5):
            for b in range(5):
                right = sum((x[a, f] - x[b, f]) ** 2 for f in range(6) if owners[f] == i)
                assert found[i, 5 * a + b] == pytest.approx(right)


@pytest.mark.parametrize("noise", [None, 0.02])
def test_density_with_shared_length_scales_and_each_chains_own_values(noise: float | None) -> None:
    rng, owners, n, chains = np.random.default_rng(1), np.array([0, 1, 1, 1]), 6, 4
    x, y, prior = rng.uniform(size=(n, 4)), rng.standard_normal((chains, n)), default_prior(2, noise)
    theta = start(prior, chains, rng)
    right = []
    for row, values in zip(theta, y, strict=True):
        scales = np.exp(row[:2])[owners]
        gram = matern52(x, x, scales, math.exp(row[2])) + math.exp(row[3]) * np.eye(n)
        log = multivariate_normal(np.zeros(n), gram).logpdf(values)
        free = prior.sd > 0
        right.append(log + np.sum(norm(prior.mean[free], prior.sd[free]).logpdf(row[free])))
    found = log_density(theta, pairwise(x, owners, 2), y, prior)
    np.testing.assert_allclose(np.diff(found), np.diff(right), rtol=1e-8)
    for c in range(chains):  # values that all chains share
        alone = log_density(theta, pairwise(x, owners, 2), y[c], prior)
        assert alone[c] == pytest.approx(found[c])


def test_without_data_the_density_is_the_prior() -> None:
    prior = default_prior(2, None)
    theta = start(prior, 3, np.random.default_rng(0))
    found = log_density(theta, np.zeros((2, 0)), np.zeros(0), prior)
    right = np.sum(norm(prior.mean, prior.sd).logpdf(theta), axis=1)
    np.testing.assert_allclose(np.diff(found), np.diff(right), rtol=1e-10)


def test_slice_sampling_has_the_density_that_integration_on_a_grid_has() -> None:
    """Two free hyperparameters, bounded: the marginals by summing exp(log density) over a grid, compared by their
    distribution functions."""
    rng = np.random.default_rng(2)
    x, y = rng.uniform(size=(5, 1)), rng.standard_normal(5)
    prior, distances = default_prior(1, 0.1), pairwise(x, np.zeros(1, int), 1)
    axis = [np.linspace(mean - 5.0, mean + 5.0, 161) for mean in prior.mean[:2]]
    mesh = np.stack([part.ravel() for part in np.meshgrid(*axis, indexing="ij")], axis=1)
    every = np.column_stack([mesh, np.full(len(mesh), prior.mean[2])])
    log = np.concatenate([log_density(part, distances, y, prior) for part in np.array_split(every, 40)])
    weight = np.exp(log - log.max()).reshape(161, 161)
    theta = start(prior, 4000, rng)
    for _ in range(10):  # the spread of the chains at the start scales the moves
        theta = slice_sample(theta, distances, y, prior, 12, rng)
    for i in (0, 1):
        marginal = weight.sum(axis=1 - i)
        below = (np.cumsum(marginal) - 0.5 * marginal) / marginal.sum()
        result = kstest(theta[:, i], lambda t, i=i, below=below: np.interp(t, axis[i], below))
        assert result.statistic < 0.025  # 1.36 / sqrt(4000) is 0.022: the 5 % point
    product = np.sum(weight * np.outer(axis[0] - prior.mean[0], axis[1] - prior.mean[1])) / weight.sum()
    found = np.mean((theta[:, 0] - prior.mean[0]) * (theta[:, 1] - prior.mean[1]))
    assert found == pytest.approx(product, abs=0.12)


def test_a_move_goes_in_every_direction_and_as_far_as_each_input_is_spread() -> None:
    """Without data and with wide limits, a move of chains spread unequally: its steps are spread in that proportion."""
    prior = hyper.Prior(np.zeros(3), np.full(3, 1e6), np.full(3, -1e9), np.full(3, 1e9))  # flat
    rng = np.random.default_rng(3)
    theta = rng.standard_normal((8000, 3)) * [0.3, 0.9, 1.8]
    moved = slice_sample(theta, np.zeros((1, 0)), np.zeros(0), prior, 1, rng)
    step = moved - theta
    np.testing.assert_allclose(step.std(axis=0) / theta.std(axis=0), step[:, 0].std() / theta[:, 0].std(), rtol=0.05)
    np.testing.assert_allclose(step.mean(axis=0), 0.0, atol=0.06)
    # on a flat density the first point of the bracket is taken: a uniform one of 4 spreads, around a uniform start
    right = 4.0 * math.sqrt(1.0 / 6.0) / math.sqrt(3.0)  # of one input: step length times direction
    np.testing.assert_allclose(step.std(axis=0) / theta.std(axis=0), right, rtol=0.05)
    assert np.max(np.abs(np.corrcoef(step.T) - np.eye(3))) < 0.05


def test_the_spread_that_scales_a_move_has_limits() -> None:
    prior = hyper.Prior(np.zeros(2), np.full(2, 1e6), np.full(2, -1e9), np.full(2, 1e9))
    rng = np.random.default_rng(4)
    theta = rng.standard_normal((8000, 2)) * [1e-4, 50.0]
    step = slice_sample(theta, np.zeros((1, 0)), np.zeros(0), prior, 1, rng) - theta
    right = 4.0 * math.sqrt(1.0 / 6.0) / math.sqrt(2.0)
    np.testing.assert_allclose(step.std(axis=0), [0.1 * right, 2.0 * right], rtol=0.05)


def test_a_chain_never_leaves_the_limits_nor_moves_a_fixed_entry() -> None:
    prior = default_prior(2, 0.01)
    rng = np.random.default_rng(5)
    x, y = rng.uniform(size=(6, 2)), 30.0 * rng.standard_normal(6)  # an amplitude near its upper limit
    theta = slice_sample(start(prior, 30, rng), pairwise(x, np.arange(2), 2), y, prior, 30, rng)
    assert theta[:, 2].max() > 3.0
    assert np.all((theta >= prior.low) & (theta <= prior.high))
    assert np.all(theta[:, 3] == prior.mean[3])
    assert math.exp(HIGH) == pytest.approx(1e3)
    assert LOW == -HIGH


def test_a_bracket_shrinks_towards_the_chain_until_every_chain_moves() -> None:
    """A density a hundred times narrower than the bracket: only shrinking towards where the chain is finds it again."""
    prior = hyper.Prior(np.zeros(2), np.full(2, 1e-3), np.full(2, -9.0), np.full(2, 9.0))
    rng = np.random.default_rng(6)
    theta = 1e-3 * rng.standard_normal((500, 2))
    moved = slice_sample(theta, np.zeros((1, 0)), np.zeros(0), prior, 1, rng)
    assert np.all(np.any(moved != theta, axis=1))
    np.testing.assert_allclose(moved.std(axis=0), 1e-3, rtol=0.15)
    far = slice_sample(moved + 0.05, np.zeros((1, 0)), np.zeros(0), prior, 5, rng)  # a low level: anything is above it
    assert np.max(np.abs(far)) < 0.1
