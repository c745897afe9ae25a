"""Dominance, subsets and the Pareto search, against loops and known fronts."""

import array_api_strict
import numpy as np
import pytest

from pesmo.pareto.dominance import hypervolume, nondominated, nondominated_within, ranks
from pesmo.pareto.solve import Functions, Search, pareto_sets
from pesmo.pareto.subset import representatives
from tests.backends import BACKENDS, IDS, back, to


def slow_nondominated(values: np.ndarray) -> list[bool]:
    out = []
    for i, v in enumerate(values):
        beaten = any(np.all(w <= v) and np.any(w < v) for w in values)
        repeated = any(np.array_equal(w, v) for w in values[:i])
        out.append(not beaten and not repeated)
    return out


@pytest.mark.parametrize("xp", BACKENDS, ids=IDS)
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_nondominated_is_the_definition(xp, k: int) -> None:
    values = np.round(np.random.default_rng(k).standard_normal((40, k)), 1)  # rounded: with ties
    assert back(nondominated(to(xp, values))).tolist() == slow_nondominated(values)
    assert back(nondominated(to(xp, values[:0]))).tolist() == []


def test_ranks_peel_fronts_off() -> None:
    values = np.random.default_rng(0).standard_normal((30, 2))
    left, rank = values, 0
    expected = np.zeros(30, int)
    index = np.arange(30)
    while len(left):
        mask = np.array(slow_nondominated(left))
        expected[index[mask]] = rank
        left, index, rank = left[~mask], index[~mask], rank + 1
    assert ranks(values).tolist() == expected.tolist()
    assert ranks(np.array([[3.0], [1.0], [2.0], [1.0]])).tolist() == [2, 0, 1, 0]


def test_hypervolume_of_two_boxes() -> None:
    values, reference = np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([3.0, 3.0])
    assert hypervolume(values, reference) == pytest.approx(3.0)
    assert hypervolume(*to(array_api_strict, values, reference)) == pytest.approx(3.0)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_representatives_keep_each_objectives_best_and_cover_the_rest(k: int) -> None:
    values = np.random.default_rng(k).uniform(size=(300, k))
    chosen = representatives(values, 20)
    assert len(set(chosen.tolist())) == len(chosen) == 20
    assert set(np.argmin(values, axis=0).tolist()) <= set(chosen.tolist())
    gaps = np.linalg.norm(values[:, None] - values[None, chosen], axis=2).min(axis=1)
    random = np.linalg.norm(values[:, None] - values[None, :20], axis=2).min(axis=1)
    assert gaps.max() < random.max()
    assert representatives(values[:7], 20).tolist() == list(range(7))
    taken = list(dict.fromkeys(np.argmin(values, axis=0).tolist()))
    scaled = (values - values.min(axis=0)) / np.ptp(values, axis=0)
    while len(taken) < 20:
        taken.append(int(np.argmax([min(np.linalg.norm(v - scaled[i]) for i in taken) for v in scaled])))
    assert chosen.tolist() == taken


def test_representatives_do_not_depend_on_the_objectives_units() -> None:
    values = np.random.default_rng(0).uniform(size=(200, 3))
    other = representatives(values * [1e-6, 1.0, 1e9] + [5.0, -3.0, 0.0], 20)
    assert other.tolist() == representatives(values, 20).tolist()


def test_representatives_of_points_a_hair_apart_are_different_points() -> None:
    values = np.array([[0.0, 1.0], [1.0, 0.0]] + [[0.5 + 1e-12 * i, 0.5 - 1e-12 * i] for i in range(50)])
    assert len(set(representatives(values, 40).tolist())) == 40


def test_the_search_finds_known_fronts_of_several_functions_at_once() -> None:
    """f = (|x - a|^2, |x - b|^2): the Pareto set is the segment from a to b."""
    rng = np.random.default_rng(0)
    a, b = rng.uniform(size=(2, 3, 4))  # three functions in four dimensions

    def evaluate(unit: np.ndarray) -> np.ndarray:
        unit = np.broadcast_to(unit, (3, *unit.shape[-2:]))
        return np.stack([np.sum((unit - c[:, None, :]) ** 2, axis=-1) for c in (a, b)], axis=-1)

    def slopes(unit: np.ndarray) -> np.ndarray:
        return np.stack([2 * (unit - c[:, None, :]) for c in (a, b)], axis=2)

    initial = rng.uniform(size=(256, 4))
    fronts = pareto_sets(Functions(evaluate, slopes, lambda u: u), initial, Search(points=30, rounds=20), rng)
    for s, front in enumerate(fronts):
        assert 10 < len(front.points) <= 30
        direction = b[s] - a[s]
        along = np.clip((front.points - a[s]) @ direction / (direction @ direction), 0, 1)
        off = np.linalg.norm(front.points - (a[s] + along[:, None] * direction), axis=1)
        assert np.median(off) < 0.05
        assert front.values[:, 0].min() < 0.01
        assert front.values[:, 1].min() < 0.01


def test_what_matters_is_the_part_of_the_front_within_the_limits() -> None:
    values = np.array([[0.0, 4.0], [1.0, 1.0], [4.0, 0.0], [2.0, 2.0]])
    assert nondominated_within(values, np.array([3.0, 3.0])).tolist() == [False, True, False, False]
    assert nondominated_within(values, np.array([np.inf, 3.0])).tolist() == [False, True, True, False]
    assert nondominated_within(values, np.array([0.5, 0.5])).tolist() == [True, True, True, False]  # nothing is within
    assert nondominated_within(values, np.inf).tolist() == nondominated(values).tolist()


def test_the_search_spreads_its_points_within_the_limits() -> None:
    """f = (x1, 1 - x1 + |x2 - 1/2|): the Pareto set is x2 = 1/2, and with f1 <= 0.3 its part there."""

    def evaluate(unit: np.ndarray) -> np.ndarray:
        unit = unit.reshape(1, -1, 2)
        return np.stack([unit[..., 0], 1.0 - unit[..., 0] + np.abs(unit[..., 1] - 0.5)], axis=-1)

    rng = np.random.default_rng(0)
    functions = Functions(evaluate, lambda u: np.zeros((*u.shape[:2], 2, 2)), lambda u: u, np.array([0.3, np.inf]))
    (front,) = pareto_sets(functions, rng.uniform(size=(256, 2)), Search(points=30, rounds=20), rng)
    assert len(front.points) == 30
    assert front.values[:, 0].max() <= 0.3
    assert front.values[:, 0].min() < 0.01
