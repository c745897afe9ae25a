"""The Pareto search beside dense grids and known Pareto sets: what it descends, breeds, snaps and gives back."""

from collections.abc import Callable

import numpy as np
import pytest

from pesmo.pareto import solve
from pesmo.pareto.dominance import hypervolume, nondominated
from pesmo.pareto.solve import Front, Functions, Search, pareto_sets
from pesmo.pareto.subset import representatives


def flat(unit: np.ndarray) -> np.ndarray:
    """No slopes: for spaces of fewer dimensions than the search descends in."""
    raise AssertionError("nothing descends in so few dimensions")


def wavy(unit: np.ndarray) -> np.ndarray:
    """Three functions (3, n, 2) of the unit square with many local optima."""
    unit = np.broadcast_to(unit, (3, *unit.shape[-2:]))
    x, y, s = unit[..., 0], unit[..., 1], np.arange(3)[:, None]
    one = np.sin(5 * x + s) + np.cos(7 * y) * x + 0.1 * np.sin(20 * x * y)
    other = np.cos(4 * x * y + s) + (y - 0.3 * s) ** 2 + 0.1 * np.cos(15 * (x + y))
    return np.stack([one, other], axis=-1)


def covered(values: np.ndarray, every: np.ndarray) -> float:
    """The hypervolume of values (m, 2) as a share of that of all of `every`."""
    front = every[nondominated(every)]
    reference = front.max(axis=0) + 0.05 * np.ptp(front, axis=0)
    return hypervolume(values, reference) / hypervolume(front, reference)


def test_fifty_points_cover_what_a_grid_of_forty_thousand_covers() -> None:
    axis = np.linspace(0, 1, 201)
    grid = np.stack([part.ravel() for part in np.meshgrid(axis, axis)], axis=1)
    rng = np.random.default_rng(0)
    fronts = pareto_sets(Functions(wavy, flat, lambda u: u), rng.uniform(size=(512, 2)), Search(points=50), rng)
    as_many = wavy(rng.uniform(size=(1024, 2)))  # 512 points at first, 8 rounds of 64
    for front, dense, random in zip(fronts, wavy(grid), as_many, strict=True):
        best = dense[nondominated(dense)]
        assert covered(front.values, dense) > covered(best[representatives(best, 50)], dense) - 0.005
        assert covered(random, dense) < 0.96


def test_what_is_given_back_is_a_front_and_its_values() -> None:
    rng = np.random.default_rng(1)
    initial = rng.uniform(size=(64, 2))
    fronts = pareto_sets(Functions(wavy, flat, lambda u: u), initial, Search(points=20), rng)
    start = wavy(initial)
    for s, front in enumerate(fronts):
        assert front.points.shape == (20, 2)
        assert np.all((front.points >= 0.0) & (front.points <= 1.0))
        np.testing.assert_array_equal(front.values, wavy(front.points)[s])
        assert nondominated(front.values).all()
        # nothing that was there at the start is better than what is found
        gone = [not np.any(np.all(front.values <= v, axis=1)) for v in start[s]]
        ends = start[s].min(axis=0)
        assert np.all(front.values.min(axis=0) <= ends)
        assert np.mean(gone) < 0.05


def test_only_points_that_exist_are_given_back() -> None:
    """The second coordinate takes one of four values; the first is free."""

    def snap(unit: np.ndarray) -> np.ndarray:
        return np.stack([unit[..., 0], (np.clip(np.floor(4 * unit[..., 1]), 0, 3) + 0.5) / 4], axis=-1)

    rng = np.random.default_rng(2)
    fronts = pareto_sets(Functions(wavy, flat, snap), snap(rng.uniform(size=(256, 2))), Search(points=50), rng)
    axis = np.linspace(0, 1, 2001)
    grid = np.stack([part.ravel() for part in np.meshgrid(axis, [0.125, 0.375, 0.625, 0.875])], axis=1)
    for front, dense in zip(fronts, wavy(grid), strict=True):
        np.testing.assert_array_equal(front.points, snap(front.points))
        best = dense[nondominated(dense)]
        assert covered(front.values, dense) > covered(best[representatives(best, 50)], dense) - 0.005


# ---------------------------------------------------------------- descents
def distances(centres: np.ndarray) -> tuple[Callable, Callable]:
    """f_k = |x - c_k|^2 for centres (S, K, d), and the gradients."""

    def evaluate(unit: np.ndarray) -> np.ndarray:
        unit = np.broadcast_to(unit, (len(centres), *unit.shape[-2:]))
        return np.sum((unit[:, :, None, :] - centres[:, None, :, :]) ** 2, axis=-1)

    def slopes(unit: np.ndarray) -> np.ndarray:
        return 2.0 * (unit[:, :, None, :] - centres[:, None, :, :])

    return evaluate, slopes


def off_segment(points: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How far each point is from the segment, which is the Pareto set of two squared distances."""
    along = np.clip((points - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
    return np.linalg.norm(points - (a + along[:, None] * (b - a)), axis=1)


@pytest.mark.parametrize("dim", [4, 8])
def test_points_of_the_front_descend_before_they_breed(dim: int) -> None:
    rng = np.random.default_rng(dim)
    centres = rng.uniform(0.1, 0.9, (2, 2, dim))
    evaluate, slopes = distances(centres)
    initial = rng.uniform(size=(128, dim))
    search = Search(points=40, rounds=0)
    fronts = pareto_sets(Functions(evaluate, slopes, lambda u: u), initial, search, rng)
    for s, front in enumerate(fronts):
        values = evaluate(initial)[s]
        first = initial[nondominated(values)]
        before = np.median(off_segment(first, *centres[s]))
        after = np.median(off_segment(front.points, *centres[s]))
        assert after < 0.6 * before
        # the ends too: a point that is good at one objective goes on towards its best
        assert np.all(front.values.min(axis=0) < 0.25 * values.min(axis=0))


def test_in_few_dimensions_nothing_descends_and_without_rounds_the_first_front_stays() -> None:
    rng = np.random.default_rng(0)
    initial = rng.uniform(size=(40, 3))
    evaluate, _ = distances(rng.uniform(size=(1, 2, 3)))
    (front,) = pareto_sets(Functions(evaluate, flat, lambda u: u), initial, Search(points=100, rounds=0), rng)
    values = evaluate(initial)[0]
    np.testing.assert_array_equal(front.points, initial[nondominated(values)])


def test_a_descent_that_leaves_the_cube_stops_at_its_face() -> None:
    """f = |x - c|^2 with both centres outside: the Pareto set is the segment's projection to the face x_1 = 0."""
    centres = np.array([[[-0.5, 0.2, 0.5, 0.5], [-0.5, 0.8, 0.5, 0.5]]])
    evaluate, slopes = distances(centres)
    rng = np.random.default_rng(0)
    (front,) = pareto_sets(
        Functions(evaluate, slopes, lambda u: u), rng.uniform(size=(128, 4)), Search(points=20, rounds=0), rng
    )
    assert np.mean(front.points[:, 0] == 0.0) > 0.5
    assert front.points.min() >= 0.0


def test_a_front_of_one_point_or_a_constant_objective_does_no_harm() -> None:
    """One objective everywhere 0: its extent is 0, the front is one point."""

    def evaluate(unit: np.ndarray) -> np.ndarray:
        unit = np.broadcast_to(unit, (1, *unit.shape[-2:]))
        return np.stack([np.sum((unit - 0.3) ** 2, axis=-1), np.zeros(unit.shape[:2])], axis=-1)

    def slopes(unit: np.ndarray) -> np.ndarray:
        return np.stack([2.0 * (unit - 0.3), np.zeros_like(unit)], axis=2)

    rng = np.random.default_rng(0)
    (front,) = pareto_sets(
        Functions(evaluate, slopes, lambda u: u), rng.uniform(size=(64, 5)), Search(points=10, rounds=4), rng
    )
    assert len(front.points) == 1
    np.testing.assert_allclose(front.points[0], 0.3, atol=0.05)


# ---------------------------------------------------------------- breeding
def test_children_are_differences_of_front_points_or_steps_of_the_width() -> None:
    rng = np.random.default_rng(0)
    points = np.array([[0.5, 0.5, 0.5], [0.5, 0.5, 0.7]])
    front = Front(points, np.array([[0.0, 1.0], [1.0, 0.0]]))
    children = solve._children(front, 4000, 0.01, rng)
    assert children.shape == (4000, 3)
    assert np.all((children >= 0.0) & (children <= 1.0))
    step = np.min(np.abs(children[:, None, :] - points[None]), axis=1)  # from the nearer parent, each input
    assert np.max(step[:, :2]) < 0.06  # along inputs in which the parents agree there are Gaussian steps alone
    gaussian = np.abs(children[:, 0] - 0.5)
    large = gaussian[gaussian > 0.002]
    assert 0.15 < np.mean(gaussian > 0.004) < 0.25  # a quarter of the children takes the width along an input
    assert np.sqrt(np.mean(large**2)) == pytest.approx(0.01, rel=0.15)
    assert np.mean(gaussian == 0.0) == pytest.approx(0.5, abs=0.03)
    third = children[:, 2]
    assert third.min() < 0.35  # the difference, either way, from either parent
    assert third.max() > 0.85
    assert np.mean((third > 0.53) & (third < 0.67)) > 0.07


def test_every_child_has_parents_of_its_own() -> None:
    """Eight front points far apart: an eighth of the Gaussian children is near each; differences reach between them."""
    points = np.array([[0.5, x] for x in np.linspace(0.06, 0.94, 8)])
    children = solve._children(Front(points, np.zeros((8, 2))), 4000, 0.001, np.random.default_rng(0))
    gap = np.abs(children[:, None, 1] - points[:, 1])
    near = gap.min(axis=1) < 0.005
    counts = np.bincount(gap.argmin(axis=1)[near], minlength=8)
    assert counts.min() > 0.6 * counts.mean()
    assert np.unique(np.round(children[~near, 1], 6)).size > 1000


def test_the_first_step_of_a_descent_is_a_tenth_of_the_cube_and_later_ones_shrink_to_nothing() -> None:
    """Slopes that are the same everywhere: RMSprop with momentum, written out for one number."""
    slope = np.array([1.0, -3.0, 0.0, 0.5])
    seen: list[np.ndarray] = []

    def evaluate(unit: np.ndarray) -> np.ndarray:
        seen.append(unit)
        return np.broadcast_to(unit, (1, *unit.shape[-2:])) @ slope[:, None]

    def slopes(unit: np.ndarray) -> np.ndarray:
        return np.broadcast_to(slope, (*unit.shape[:2], 1, 4))

    start = np.full((1, 4), 0.5)
    search = Search(points=5, rounds=0, descents=1, steps=3)
    pareto_sets(Functions(evaluate, slopes, lambda u: u), start, search, np.random.default_rng(0))
    speed, square, moved = 0.0, 0.0, 0.0
    for step in range(3):
        speed = 0.7 * speed + 0.3
        square = 0.9 * square + 0.1
        moved += 0.1 * (1.0 - step / 3) * speed / square**0.5
    np.testing.assert_allclose(seen[1][0, 0], 0.5 - moved * np.sign(slope), atol=1e-9)


def test_in_one_dimension_every_gaussian_step_moves() -> None:
    front = Front(np.array([[0.5]]), np.zeros((1, 1)))
    children = solve._children(front, 500, 0.05, np.random.default_rng(0))
    assert np.mean(children == 0.5) == 0.0


def test_a_child_beyond_a_face_lies_on_it() -> None:
    front = Front(np.array([[0.0, 1.0]]), np.zeros((1, 2)))
    children = solve._children(front, 500, 0.1, np.random.default_rng(0))
    assert np.mean(children[:, 0] == 0.0) > 0.4
    assert np.mean(children[:, 1] == 1.0) > 0.4


def test_the_steps_become_finer_round_by_round(monkeypatch: pytest.MonkeyPatch) -> None:
    widths, children = [], solve._children

    def looking(front: Front, count: int, width: float, rng: np.random.Generator) -> np.ndarray:
        widths.append((count, width))
        return children(front, count, width, rng)

    monkeypatch.setattr(solve, "_children", looking)
    rng = np.random.default_rng(0)
    pareto_sets(
        Functions(wavy, flat, lambda u: u), rng.uniform(size=(16, 2)), Search(points=5, rounds=8, children=6), rng
    )
    assert widths == [(6, width) for width in (0.1, 0.1, 0.05, 0.05, 0.02, 0.02, 0.01, 0.01) for _ in range(3)]


def test_no_more_than_the_archive_is_kept_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, thin = [], solve._thin

    def looking(points: np.ndarray, values: np.ndarray, most: int, worst: np.ndarray | float) -> Front:
        front = thin(points, values, most, worst)
        sizes.append((most, len(front.points)))
        return front

    monkeypatch.setattr(solve, "_thin", looking)
    rng = np.random.default_rng(0)
    search = Search(points=7, archive=9, rounds=3)
    pareto_sets(Functions(wavy, flat, lambda u: u), rng.uniform(size=(300, 2)), search, rng)
    assert [most for most, _ in sizes] == [9] * 12 + [7] * 3
    assert all(size <= most for most, size in sizes)
