"""The maximization beside dense grids: worth per cost, its slope, the climb, and what may not be asked again."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pesmo.errors import NumericalFailure
from pesmo.methods import maximize as room
from pesmo.methods.design import EXHAUSTED
from pesmo.methods.maximize import OfPoints, by_differences, costs, maximize, over_cost
from pesmo.problem import Evidence, Experiment, Objective, Observations
from pesmo.space import Choice, Float, Int, Space

PLANE = Space(x=Float(0, 1), y=Float(0, 1))
Cost = float | Callable[[dict[str, Any]], float]


def evidence(space: Space, prices: list[Cost], taken: list[dict] | None = None) -> Evidence:
    """Experiments that all reveal the only objective."""
    unit = np.array([space.to_unit(point) for point in taken or []]).reshape(-1, space.dim)
    experiments = tuple(Experiment(f"e{i}", ["a"], cost) for i, cost in enumerate(prices))
    observed = (Observations(unit, np.zeros(len(unit)), unit[:0]),)
    return Evidence(space, (Objective("a"),), experiments, observed, (unit,) * len(experiments))


def acquisition(at: Callable[[np.ndarray], np.ndarray], experiments: int = 1, log: bool = False, **more) -> OfPoints:
    promising = more.pop("promising", np.empty((0, 2)))
    return OfPoints(at, promising, np.ones(experiments, bool), log, **more)


def peak(unit: np.ndarray) -> np.ndarray:
    """One hill, a hundredth of the square wide: no grid point comes near its top."""
    return np.exp(-0.5 * np.sum((unit - [0.62, 0.31]) ** 2, axis=-1) / 0.01**2)


def smooth(unit: np.ndarray) -> np.ndarray:
    """A ridge with a few hills, above 0."""
    x, y = unit[..., 0], unit[..., 1]
    return 1.5 + np.sin(5 * x + 2 * y) * np.cos(4 * y) + 0.3 * x


def price(point: dict[str, Any]) -> float:
    return 1.0 + 4.0 * (point["x"] - 0.9) ** 2 + 2.0 * point["y"]


FORMS = {
    "positive": (smooth, False),
    "logarithms": (lambda u: np.log(smooth(u)), True),
    "penalties": (lambda u: smooth(u) - 4.0, False),
}


# ---------------------------------------------------------------- worth per cost
def test_worth_is_per_unit_of_cost_and_a_penalty_grows_with_it() -> None:
    cost = np.array([2.0, 4.0])
    assert over_cost(np.array([6.0, -6.0]), cost, False).tolist() == [3.0, -24.0]
    np.testing.assert_allclose(np.exp(over_cost(np.log([6.0, 6.0]), cost, True)), [3.0, 1.5])


def test_costs_are_those_at_the_point_itself() -> None:
    space = Space(n=Int(1, 3), c=Choice("p", "q"), x=Float(10.0, 20.0))
    given = evidence(space, [7.0, lambda p: p["n"] * p["x"] + (100.0 if p["c"] == "q" else 0.0)])
    points = [{"n": 1, "c": "p", "x": 12.0}, {"n": 3, "c": "q", "x": 20.0}]
    unit = np.array([space.to_unit(p) for p in points])
    assert costs(given, 0, unit).tolist() == [7.0, 7.0]
    np.testing.assert_allclose(costs(given, 1, unit), [12.0, 160.0])


def test_differences_stay_inside_the_cube() -> None:
    seen = []

    def function(unit: np.ndarray) -> np.ndarray:
        seen.append(unit)
        return unit[:, 0] ** 2 + 3.0 * unit[:, 1]

    for at in ([0.5, 1.0], [1.0, 0.0]):
        value, slope = by_differences(function, np.array(at))
        assert value == pytest.approx(at[0] ** 2 + 3.0 * at[1])
        np.testing.assert_allclose(slope, [2 * at[0], 3.0], atol=1e-3)
    assert max(unit.max() for unit in seen) <= 1.0


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("own", [False, True])
def test_what_climbs_is_worth_per_cost_with_its_slope(form: str, own: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The function handed to the minimizer: minus the worth, its gradient by differences; slopes given or not."""
    at, log = FORMS[form]
    seen: list = []

    def looking(function, start, iterations):
        seen.append((function, start))
        return start

    monkeypatch.setattr(room, "minimize", looking)
    slope = (lambda unit: by_differences(lambda rows: at(rows), unit)) if own else None
    given = evidence(PLANE, [price])
    maximize(acquisition(at, log=log, slope=slope), given, np.random.default_rng(0))
    function, _ = seen[0]
    for unit in np.random.default_rng(1).uniform(0.05, 0.95, (5, 2)):
        value, gradient = function(unit)
        assert value == pytest.approx(-over_cost(at(unit[None]), costs(given, 0, unit[None]), log)[0])
        for i in range(2):
            step = 1e-4 * np.eye(2)[i]
            ends = np.stack([unit + step, unit - step])
            up, down = over_cost(at(ends), costs(given, 0, ends), log)
            assert gradient[i] == pytest.approx(-(up - down) / 2e-4, rel=5e-3, abs=2e-3)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cost", [3.0, price])
def test_the_suggestion_is_as_good_as_the_best_of_a_dense_grid(form: str, cost: Cost) -> None:
    at, log = FORMS[form]
    axis = np.linspace(0, 1, 71)
    grid = np.stack([part.ravel() for part in np.meshgrid(axis, axis)], axis=1)
    given = evidence(PLANE, [cost])
    best = over_cost(at(grid), costs(given, 0, grid), log).max()
    found = maximize(acquisition(at, log=log), given, np.random.default_rng(0)).unit[None]
    assert over_cost(at(found), costs(given, 0, found), log)[0] > best - 1e-4


# ---------------------------------------------------------------- the climb
def test_a_climb_reaches_a_top_that_no_grid_point_is_near() -> None:
    found = maximize(acquisition(peak), evidence(PLANE, [1.0]), np.random.default_rng(0))
    np.testing.assert_allclose(found.unit, [0.62, 0.31], atol=1e-3)


def test_a_climb_also_steps_along_integers_and_choices() -> None:
    """More options than a grid has points; the best of each is far apart from the next one."""
    space = Space(x=Float(0, 1), n=Int(1, 5000), c=Choice(*range(40)))
    top = space.to_unit({"x": 0.5, "n": 2500, "c": 17})

    def at(unit: np.ndarray) -> np.ndarray:
        n = np.array([space.from_unit(row)["n"] for row in unit])
        c = np.array([space.from_unit(row)["c"] for row in unit])
        return 10.0 - 5.0 * (unit[:, 0] - 0.5) ** 2 - np.abs(n - 2500) / 1000.0 + (c == 17)

    start = np.array([0.3, *space.to_unit({"x": 0.0, "n": 2502, "c": 3})[1:]])
    acq = replace(acquisition(at), promising=start[None])
    found = room._climb(acq, evidence(space, [1.0]), 0, start, float(at(start[None])[0]), True)
    point = space.from_unit(found)
    assert point["c"] == 17  # the largest step first
    assert point["n"] in (2500, 2501)
    assert found[0] == pytest.approx(0.5, abs=1e-3)
    assert space.from_unit(top)["n"] == 2500


def test_a_climb_crosses_to_the_only_other_option() -> None:
    space = Space(x=Float(0, 1), c=Choice("p", "q"))

    def at(unit: np.ndarray) -> np.ndarray:
        return 2.0 * (unit[:, 1] > 0.5) - (unit[:, 0] - 0.5) ** 2

    start = space.to_unit({"x": 0.4, "c": "p"})
    found = space.from_unit(room._climb(acquisition(at), evidence(space, [1.0]), 0, start, -0.01, True))
    assert found["c"] == "q"
    assert found["x"] == pytest.approx(0.5, abs=1e-3)


def test_integers_alone_climb_too() -> None:
    space = Space(n=Int(1, 100_000))

    def at(unit: np.ndarray) -> np.ndarray:
        return -np.abs(np.array([space.from_unit(row)["n"] for row in unit]) - 777.0)

    start = space.to_unit({"n": 779})
    found = room._climb(acquisition(at), evidence(space, [1.0]), 0, start, -2.0, True)
    assert space.from_unit(found)["n"] == 777


def test_a_climb_counts_the_cost_of_the_points_around() -> None:
    """One integer on is worth a little more and costs twice as much."""
    space = Space(n=Int(1, 9))

    def at(unit: np.ndarray) -> np.ndarray:
        return np.array([1.0 + 0.1 * space.from_unit(row)["n"] for row in unit])

    given = evidence(space, [lambda p: 1.0 if p["n"] <= 4 else 2.0])
    start = space.to_unit({"n": 3})
    found = room._climb(acquisition(at), given, 0, start, 1.3, True)
    assert space.from_unit(found)["n"] == 4


def test_a_climb_that_ends_lower_or_where_a_trial_was_goes_back_to_its_start(monkeypatch: pytest.MonkeyPatch) -> None:
    start, top = np.array([0.3, 0.3]), np.array([0.5, 0.25])
    given = evidence(PLANE, [1.0], [{"x": 0.5, "y": 0.25}])
    monkeypatch.setattr(room, "_ascend", lambda acquisition, evidence, e, here: top)
    acq = acquisition(lambda unit: unit[:, 0])
    new = replace(given, taken=(given.taken[0][:0],))
    assert room._climb(acq, new, 0, start, 0.3, True).tolist() == top.tolist()
    assert room._climb(acq, new, 0, start, 0.6, True).tolist() == start.tolist()  # lower than it began
    assert room._climb(acq, given, 0, start, 0.3, True).tolist() == start.tolist()  # taken
    assert room._climb(acq, given, 0, start, 0.3, False).tolist() == top.tolist()  # and all are: again


# ---------------------------------------------------------------- experiments
def test_the_experiment_with_the_most_per_cost_is_asked_where_that_is() -> None:
    """Each of three experiments has a hill of its own: 1 for 1, 3 for 2, 5 for 6."""

    class Three:
        logarithmic = False
        usable = np.ones(3, bool)
        promising = np.empty((0, 2))
        tops = np.array([[0.2, 0.2], [0.8, 0.3], [0.4, 0.7]])
        sizes = np.array([1.0, 3.0, 5.0])

        def value(self, unit: np.ndarray) -> np.ndarray:
            gap = np.sum((unit[None] - self.tops[:, None]) ** 2, axis=-1)
            return self.sizes[:, None] * np.exp(-gap / 0.02)

        screen = compare = value

        def value_and_gradient(self, unit: np.ndarray, e: int) -> tuple[float, np.ndarray]:
            return by_differences(lambda rows: self.value(rows)[e], unit)

    found = maximize(Three(), evidence(PLANE, [1.0, 2.0, 6.0]), np.random.default_rng(0))
    assert found.experiment == 1
    np.testing.assert_allclose(found.unit, [0.8, 0.3], atol=1e-3)
    dearer = maximize(Three(), evidence(PLANE, [1.0, 6.0, 6.0]), np.random.default_rng(0))
    assert dearer.experiment == 0
    np.testing.assert_allclose(dearer.unit, [0.2, 0.2], atol=1e-3)

    class Blurred(Three):
        """Compared by something else than what is maximized."""

        def compare(self, unit: np.ndarray) -> np.ndarray:
            return self.value(unit) * np.array([0.1, 0.1, 1.0])[:, None]

    other = maximize(Blurred(), evidence(PLANE, [1.0, 2.0, 6.0]), np.random.default_rng(0))
    assert other.experiment == 2
    np.testing.assert_allclose(other.unit, [0.4, 0.7], atol=1e-3)


@pytest.mark.parametrize(
    ("log", "second", "climbs"), [(False, 0.75, 2), (False, 0.6, 1), (True, 0.75, 2), (True, 0.6, 1)]
)
def test_only_experiments_near_the_best_climb(
    log: bool, second: float, climbs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    class Flat:
        logarithmic = log
        usable = np.ones(2, bool)
        promising = np.empty((0, 2))

        def value(self, unit: np.ndarray) -> np.ndarray:
            value = np.array([second, 1.0])[:, None] + np.zeros(len(unit))
            return np.log(value) if log else value

        screen = compare = value

        def value_and_gradient(self, unit: np.ndarray, e: int) -> tuple[float, np.ndarray]:
            raise AssertionError

    def climb(acquisition, evidence, e, point, value, only_new):
        seen.append(e)
        return point

    monkeypatch.setattr(room, "_climb", climb)
    maximize(Flat(), evidence(PLANE, [1.0, 1.0]), np.random.default_rng(0))
    assert seen == [1, 0][:climbs]  # the best first


def test_an_experiment_that_cannot_be_judged_is_left_out() -> None:
    acq = OfPoints(smooth, np.empty((0, 2)), np.array([False, True]), False)
    assert np.all(np.isneginf(acq.screen(np.zeros((3, 2)))[0]))
    assert np.all(np.isneginf(acq.value(np.zeros((3, 2)))[0]))
    assert acq.compare(np.full((1, 2), 0.5))[1, 0] == pytest.approx(smooth(np.full(2, 0.5)))
    assert maximize(acq, evidence(PLANE, [1.0, 100.0]), np.random.default_rng(0)).experiment == 1


# ---------------------------------------------------------------- candidates
def test_what_was_tried_is_not_asked_again_until_nothing_is_left() -> None:
    space = Space(n=Int(1, 3), c=Choice("p", "q"))
    worth = {(n, c): n + 10 * (c == "q") for n in (1, 2, 3) for c in "pq"}

    def at(unit: np.ndarray) -> np.ndarray:
        return np.array([worth[tuple(space.from_unit(row).values())] for row in unit], float)

    order, taken = sorted(worth, key=lambda point: -worth[point]), []
    for expected in order:
        found = maximize(acquisition(at), evidence(space, [1.0], taken), np.random.default_rng(0))
        assert found.note is None
        assert tuple(space.from_unit(found.unit).values()) == expected
        taken.append(dict(zip("nc", expected, strict=True)))
    again = maximize(acquisition(at), evidence(space, [1.0], taken), np.random.default_rng(0))
    assert again.note == EXHAUSTED
    assert space.from_unit(again.unit) == {"n": 3, "c": "q"}


def test_the_short_list_has_the_best_of_the_screening_for_each_experiment() -> None:
    """The full acquisition is computed for eight points for each experiment, those that the screen likes best."""
    seen = []

    class Screened:
        logarithmic = False
        usable = np.ones(2, bool)
        promising = np.random.default_rng(9).uniform(size=(500, 2))

        def screen(self, unit: np.ndarray) -> np.ndarray:
            self.grid = unit
            return np.stack([unit[:, 0], unit[:, 1]])

        def value(self, unit: np.ndarray) -> np.ndarray:
            seen.append(unit)
            return np.stack([unit[:, 0], unit[:, 1]])

        compare = value

        def value_and_gradient(self, unit: np.ndarray, e: int) -> tuple[float, np.ndarray]:
            return float(unit[e]), np.eye(2)[e]

    acq = Screened()
    maximize(acq, evidence(PLANE, [1.0, 1.0]), np.random.default_rng(0))
    assert len(acq.grid) == 1024 + 128  # and no more of what the method names
    named = {tuple(row) for row in acq.promising}
    assert sum(tuple(row) in named for row in acq.grid) == 128
    best = {tuple(row) for i in (0, 1) for row in acq.grid[np.argsort(-acq.grid[:, i])[:8]]}
    assert {tuple(row) for row in seen[0]} == best


def test_values_that_a_screen_finds_too_small_for_a_number_still_come_before_taken_points() -> None:
    space = Space(n=Int(1, 5))
    acq = replace(
        acquisition(lambda unit: -np.full(len(unit), 1e6), log=True),
        rough=lambda unit: np.full(len(unit), -np.inf),
    )
    taken = [{"n": n} for n in (1, 2, 3, 5)]
    found = maximize(replace(acq, promising=np.empty((0, 1))), evidence(space, [1.0], taken), np.random.default_rng(0))
    assert space.from_unit(found.unit) == {"n": 4}
    assert found.note is None


def test_an_acquisition_without_a_number_anywhere_is_a_failure() -> None:
    acq = acquisition(lambda unit: np.full(len(unit), np.nan))
    with pytest.raises(NumericalFailure, match="not a finite number at any candidate"):
        maximize(acq, evidence(PLANE, [1.0]), np.random.default_rng(0))


def test_the_grid_is_the_whole_of_a_small_space() -> None:
    space = Space(n=Int(1, 7))
    seen = []

    def at(unit: np.ndarray) -> np.ndarray:
        seen.append(unit)
        return np.ones(len(unit))

    maximize(replace(acquisition(at), promising=np.empty((0, 1))), evidence(space, [1.0]), np.random.default_rng(0))
    assert [space.from_unit(row)["n"] for row in seen[0]] == list(range(1, 8))
    assert math.isclose(float(seen[0][0, 0]), 0.5 / 7)
