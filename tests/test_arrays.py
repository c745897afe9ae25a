"""The array operations of our own, against LAPACK."""

import numpy as np
import pytest
from scipy.linalg import solve_triangular

from pesmo.arrays import (
    BLOCK,
    STRIPE,
    SUBSTITUTED,
    as_numpy,
    blocks,
    cholesky,
    inverse_lower,
    namespace,
    times_lower,
    times_lower_transposed,
)
from pesmo.errors import NumericalFailure
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


# ---------------------------------------------------------------- Cholesky factors
@pytest.mark.parametrize("xp", BACKENDS, ids=IDS)
def test_a_factor_of_a_good_matrix_is_lapacks(xp) -> None:
    rng = np.random.default_rng(0)
    root = rng.standard_normal((2, 3, 5, 5))
    matrix = root @ root.mT + np.eye(5)
    np.testing.assert_array_equal(back(cholesky(to(xp, matrix))), np.linalg.cholesky(matrix))


@pytest.mark.parametrize("xp", BACKENDS, ids=IDS)
@pytest.mark.parametrize(
    ("below", "jitter"), [(1e-13, 1e-12), (1e-11, 1e-10), (1e-9, 1e-8), (1e-7, 1e-6), (1e-5, 1e-4)]
)
def test_a_matrix_that_is_nearly_one_gets_as_much_on_its_diagonal_as_it_needs(xp, below: float, jitter: float) -> None:
    """An eigenvalue a little below 0, relative to the mean of the diagonal."""
    q, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))
    size = 50.0
    matrix = q @ np.diag([4.0 * size, 1e-3 * size, 1e-3 * size, -below * size]) @ q.T
    matrix = 0.5 * (matrix + matrix.T)
    factor = back(cholesky(to(xp, matrix[None])))[0]
    level = np.mean(np.diag(matrix))
    np.testing.assert_allclose(factor @ factor.T, matrix + jitter * level * np.eye(4), atol=1e-11)
    assert np.all(np.diag(factor) > 0)


def test_each_matrix_of_a_batch_gets_jitter_of_its_own_size() -> None:
    """All of a batch climb together; what is added is relative to each one's diagonal."""
    flat = np.ones((3, 3))
    flat[2] -= 1e-11  # not positive definite, and not by rounding alone
    flat[:, 2] = flat[2]
    both = np.stack([flat, 1e6 * flat])
    factor = cholesky(both)
    added = np.diagonal(factor @ factor.mT - both, axis1=1, axis2=2)
    np.testing.assert_allclose(added[1], 1e6 * added[0], rtol=1e-3)


def test_a_matrix_that_is_none_is_a_failure_that_says_so() -> None:
    with pytest.raises(NumericalFailure, match="no Cholesky factor on any rung"):
        cholesky(-np.eye(3))
    with pytest.raises(NumericalFailure):
        cholesky(np.full((2, 2), np.nan))


# ---------------------------------------------------------------- the rest
@pytest.mark.parametrize(
    ("rows", "width", "least"), [(1000, 1 << 12, 8), (5, 10, 8), (0, 3, 8), (40, 1 << 20, 1), (9, 0, 8)]
)
def test_blocks_cover_all_rows_once_and_stay_small(rows: int, width: int, least: int) -> None:
    parts = list(blocks(rows, width, least))
    assert [i for part in parts for i in range(part.start, part.stop)] == list(range(rows))
    sizes = [part.stop - part.start for part in parts]
    assert all(size * width <= max(BLOCK, least * width) for size in sizes)
    if sizes:
        assert len(parts) == -(-rows // max(least, BLOCK // max(1, width)))


@pytest.mark.parametrize("xp", BACKENDS, ids=IDS)
def test_arrays_know_their_library_and_become_numpys(xp) -> None:
    array = to(xp, np.arange(3.0))
    assert namespace(array).__name__.split(".")[-1] == xp.__name__
    assert isinstance(as_numpy(array), np.ndarray)
    assert as_numpy(array).tolist() == [0.0, 1.0, 2.0]


def test_an_array_of_a_device_is_fetched_from_it() -> None:
    class Far:
        def get(self) -> np.ndarray:
            return np.ones(2)

    assert as_numpy(Far()).tolist() == [1.0, 1.0]
