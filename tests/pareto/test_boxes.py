"""Boxes of the undominated region: disjoint, complete, and equal to plain hypervolume differences."""

import numpy as np
import pytest

from pesmo.pareto.boxes import MOST, hypervolume_gains, undominated_boxes
from pesmo.pareto.dominance import hypervolume, nondominated


def front(k: int, n: int, seed: int) -> np.ndarray:
    values = np.random.default_rng(seed).uniform(size=(n, k))
    return values[nondominated(values)]


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_every_undominated_point_lies_in_exactly_one_box_and_no_other_in_any(k: int) -> None:
    values, reference = front(k, 40 if k < 5 else 12, seed=k), np.full(k, 1.1)
    lower, upper = undominated_boxes(values, reference)
    points = np.random.default_rng(9).uniform(-0.2, 1.2, (2000, k))
    inside = np.sum(np.all((points[:, None] > lower) & (points[:, None] <= upper), axis=2), axis=1)
    dominated = np.any(np.all(values <= points[:, None], axis=2), axis=1)
    assert np.array_equal(inside, (~dominated & np.all(points < reference, axis=1)).astype(int))


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_gains_are_hypervolume_differences(k: int) -> None:
    values, reference = front(k, 30, seed=10 + k), np.full(k, 1.1)
    lower, upper = undominated_boxes(values, reference)
    points = np.random.default_rng(1).uniform(-0.3, 1.3, (50, k))
    before = hypervolume(values, reference)
    expected = [hypervolume(np.concatenate([values, p[None]]), reference) - before for p in points]
    assert hypervolume_gains(lower, upper, points) == pytest.approx(expected, abs=1e-12)


def test_equal_coordinates_and_points_beyond_the_reference_do_no_harm() -> None:
    values = np.array([[0.0, 1.0, 0.5], [0.5, 0.0, 0.5], [0.5, 1.0, 0.0], [2.0, -1.0, -1.0]])
    reference = np.ones(3) * 1.5
    lower, upper = undominated_boxes(values, reference)
    for point in np.random.default_rng(0).choice([0.0, 0.25, 0.5, 1.0], (30, 3)):
        gain = hypervolume(np.concatenate([values, point[None]]), reference) - hypervolume(values, reference)
        assert hypervolume_gains(lower, upper, point[None])[0] == pytest.approx(gain, abs=1e-12)


def test_a_large_front_of_many_objectives_is_thinned() -> None:
    values = np.random.default_rng(0).standard_normal((60, 6))
    values = -np.abs(values) / np.linalg.norm(values, axis=1, keepdims=True)
    lower, _ = undominated_boxes(values, np.full(6, 0.1))
    assert 1 <= lower.shape[0] <= MOST
