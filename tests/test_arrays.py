"""The array operations of our own, against LAPACK."""

import numpy as np
import pytest
from scipy.linalg import solve_triangular

from pesmo.arrays import STRIPE, SUBSTITUTED, inverse_lower, times_lower, times_lower_transposed
from tests.backends import BACKENDS, IDS, back, to


@pytest.mark.parametrize("n", [0, 1, 2, SUBSTITUTED, SUBSTITUTED + 1, 3 * SUBSTITUTED, 66, 150])
def test_inverses_of_lower_triangular_matrices(n: int) -> None:
    rng = np.random.default_rng(n)
    points = rng.uniform(size=(2, 3, n, 2))
    distance = np.sum((points[..., :, None, :] - points[..., None, :, :]) ** 2, axis=-1)
    factor = np.linalg.cholesky(np.exp(-distance) + 1e-6 * np.eye(n))  # condition numbers of 1e8: as the model's
    inverse = inverse_lower(factor)
    assert inverse.shape == factor.shape
    assert np.all(np.triu(inverse, 1) == 0.0)
    for index in np.ndindex(2, 3):
        right = solve_triangular(factor[index], np.eye(n), lower=True)
        np.testing.assert_allclose(inverse[index], right, rtol=0, atol=1e-10 * np.max(np.abs(right), initial=0.0))


def test_inverses_keep_the_number_type_and_take_a_view_of_a_larger_matrix() -> None:
    factor = np.tril(np.random.default_rng(0).uniform(1, 2, (4, 9, 9))).astype(np.float32)
    inverse = inverse_lower(factor[:, :7, :7])
    assert inverse.dtype == np.float32
    np.testing.assert_allclose(inverse @ factor[:, :7, :7], np.broadcast_to(np.eye(7), (4, 7, 7)), atol=1e-3)


@pytest.mark.parametrize("n", [0, 1, STRIPE - 1, STRIPE, STRIPE + 1, 3 * STRIPE + 7])
@pytest.mark.parametrize("xp", BACKENDS, ids=IDS)
def test_products_with_lower_triangular_matrices(xp, n: int) -> None:
    rng = np.random.default_rng(n)
    a, lower = rng.standard_normal((2, 3, 4, n)), np.tril(rng.standard_normal((3, n, n)))
    ours = to(xp, a, lower)
    np.testing.assert_allclose(back(times_lower(*ours)), a @ lower, atol=1e-12)
    np.testing.assert_allclose(back(times_lower_transposed(*ours)), a @ lower.mT, atol=1e-12)
