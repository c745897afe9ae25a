"""The Sobol sequence: SciPy's, point for point, and evenly spread."""

import numpy as np
import pytest
from scipy.stats import qmc

from pesmo.methods.sequence import BITS, DIMENSIONS, directions, points_of, sobol


@pytest.mark.parametrize("dim", [1, 2, 7, DIMENSIONS])
def test_without_scrambling_it_is_the_reference_sequence(dim: int) -> None:
    right = qmc.Sobol(dim, scramble=False).random(256)
    np.testing.assert_array_equal(points_of(directions(dim), 256) * 0.5**BITS, right)
    np.testing.assert_array_equal(points_of(directions(dim), 100, skip=31) * 0.5**BITS, right[31:131])


@pytest.mark.parametrize("dim", [1, 6, 40])
def test_scrambled_it_is_scipys_of_the_same_seed(dim: int) -> None:
    right = qmc.Sobol(dim, rng=np.random.default_rng(5)).random(128)
    np.testing.assert_array_equal(sobol(dim, 128, 5), right)
    np.testing.assert_array_equal(sobol(dim, 1, 5, skip=77), right[77:78])


@pytest.mark.parametrize("count", [1, 8, 64, 1024])
def test_every_block_has_one_point_in_each_interval_of_each_input(count: int) -> None:
    for block in range(3):
        points = sobol(20, count, seed=count, skip=block * count)
        assert np.all((points >= 0.0) & (points < 1.0))
        cells = np.sort((points * count).astype(int), axis=0)
        np.testing.assert_array_equal(cells, np.broadcast_to(np.arange(count)[:, None], cells.shape))


def test_a_generator_gives_another_scrambling_each_time() -> None:
    rng = np.random.default_rng(0)
    assert not np.any(sobol(3, 4, rng) == sobol(3, 4, rng))


def test_inputs_beyond_the_table_are_random_and_the_same_for_every_skip() -> None:
    points = sobol(DIMENSIONS + 3, 16, seed=1)
    assert points.shape == (16, DIMENSIONS + 3)
    assert np.unique(points[:, DIMENSIONS:]).size == 48
    np.testing.assert_array_equal(sobol(DIMENSIONS + 3, 4, seed=1, skip=12), points[12:])
