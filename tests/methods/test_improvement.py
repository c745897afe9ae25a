"""The expected improvement of a normal variable, near zero, in the tail and beyond every float."""

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from pesmo.methods.improvement import h, log_difference, log_h, log_h_slope, log_mean_exp, log_sum_exp


def test_near_zero_it_is_the_textbook_formula() -> None:
    z = np.linspace(-1, 12, 500)
    right = z * ndtr(z) + np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(h(z), right, rtol=1e-14)
    np.testing.assert_allclose(log_h(z), np.log(right), rtol=1e-14, atol=1e-14)


def test_in_the_tail_it_keeps_its_digits() -> None:
    z = np.linspace(-30, -1, 500)
    right = np.log1p(z * np.sqrt(0.5 * np.pi) * erfcx(-z * np.sqrt(0.5))) - 0.5 * z * z - 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(log_h(z), right, rtol=0, atol=1e-12)
    np.testing.assert_allclose(h(z), np.exp(right), rtol=1e-12)
    far = -np.logspace(2.5, 6, 50)
    series = np.log1p(-3 / far**2 + 15 / far**4) - 2 * np.log(-far) - 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(log_h(far) + 0.5 * far**2, series, atol=1e-15 * far[-1] ** 2)
    assert log_h(np.array([-np.inf, np.inf])).tolist() == [-np.inf, np.inf]


def test_its_slope() -> None:
    z = np.concatenate([np.linspace(-30, 12, 500), [0.0]])
    np.testing.assert_allclose(log_h_slope(z), np.exp(log_ndtr(z) - log_h(z)), rtol=1e-9)
    np.testing.assert_allclose(log_h_slope(np.array([-1e8, -1e100])), [1e8, 1e100], rtol=1e-9)


def test_differences_sums_and_means_of_logarithms() -> None:
    larger, smaller = np.array([2.0, 2.0, -800.0, -np.inf, 3.0]), np.array([1.0, 2.0, -801.0, -np.inf, -np.inf])
    right = [np.log(np.exp(2.0) - np.exp(1.0)), -np.inf, -800.0 + np.log1p(-np.exp(-1.0)), -np.inf, 3.0]
    np.testing.assert_allclose(log_difference(larger, smaller), right, rtol=1e-12)
    assert log_difference(np.array([1.0]), np.array([1.0 + 1e-15]))[0] == -np.inf  # by rounding the wrong way round
    values = np.array([[1.0, 2.0], [-900.0, -901.0], [-np.inf, 0.5], [-np.inf, -np.inf]])
    sums = [np.log(np.exp(1.0) + np.exp(2.0)), -900.0 + np.log1p(np.exp(-1.0)), 0.5, -np.inf]
    np.testing.assert_allclose(log_sum_exp(values, axis=1), sums, rtol=1e-12)
    np.testing.assert_allclose(log_mean_exp(values, axis=1), np.array(sums) - np.log(2.0), rtol=1e-12)
    np.testing.assert_allclose(log_mean_exp(values.T, axis=0), np.array(sums) - np.log(2.0), rtol=1e-12)
