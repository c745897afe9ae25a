"""PAL's regions and what it asks: the largest uncertain one, in tolerances."""

from typing import Any

import numpy as np
import pytest

from pesmo import Finished
from pesmo.gp.scaling import scaling_of
from pesmo.methods import pal
from pesmo.methods.model import Model, fit, surrogate
from pesmo.methods.registry import METHODS
from pesmo.problem import Evidence, Experiment, Objective, Observations
from pesmo.space import Float, Int, Space
from tests.oracle import ep as loops
from tests.oracle import rivals


def evidence(space: Space, worst: float | None = None, count: int = 7) -> Evidence:
    rng = np.random.default_rng(0)
    unit = np.stack([space.tidy(row) for row in rng.uniform(size=(count, space.dim))])
    x = unit[:, 0]
    observed = tuple(Observations(unit, v, unit[:0]) for v in (100.0 * (x - 0.3) ** 2, np.cos(4 * x)))
    objectives = (Objective("a", worst=worst), Objective("b"))
    return Evidence(space, objectives, (Experiment("all", ["a", "b"]),), observed, (unit,), seed=3)


def ask(given: Evidence, state: Any, rng: np.random.Generator) -> Any:
    return METHODS["pal"].suggest(given, state, rng)


def test_regions_are_means_and_deviations_of_the_mixture_in_own_units() -> None:
    space = Space(x=Float(0, 1))
    given = evidence(space)
    theta = np.log([[0.1, 1.0, 0.01], [0.5, 2.0, 0.1]])
    surrogates = tuple(
        surrogate(space, o, v, scaling_of(v.values), theta, np.random.default_rng(0))
        for o, v in zip(given.objectives, given.observations, strict=True)
    )
    at = np.array([[0.11], [0.72]])
    low, high = pal.regions(Model(space, surrogates), at)
    for k, observed in enumerate(given.observations):
        values = observed.values
        y = (values - values.mean()) / values.std()
        for i, point in enumerate(at):
            both = [
                loops.posterior(observed.unit, y, point[None], np.exp(row[:1]), np.exp(row[1]), np.exp(row[2]))
                for row in theta
            ]
            means, variances = np.array([m[0] for m, _ in both]), np.array([c[0, 0] for _, c in both])
            sd = np.sqrt(variances.mean() + np.mean(means**2) - np.mean(means) ** 2)
            assert low[i, k] == pytest.approx(values.mean() + values.std() * (means.mean() - sd))
            assert high[i, k] == pytest.approx(values.mean() + values.std() * (means.mean() + sd))


@pytest.mark.parametrize("worst", [None, 8.0])
def test_the_largest_uncertain_region_that_was_not_measured_is_asked(worst: float | None) -> None:
    """All by loops: regions, classes, what lies beyond the limit, and the size of what is left within it."""
    space = Space(n=Int(0, 40))
    given = evidence(space, worst)
    answer = ask(given, None, np.random.default_rng(1))
    model = fit(given, None, np.random.default_rng(1))
    every = space.enumerate()
    low, high = pal.regions(model, every)
    tolerance = 0.01 * (high.max(axis=0) - low.min(axis=0)) / 2.0
    named = rivals.classes(low, high, tolerance)
    limit = np.array([np.inf if worst is None else worst, np.inf])
    taken = {tuple(row) for row in given.taken[0]}
    sizes = []
    for i, row in enumerate(every):
        open_ = named[i] == "uncertain" and tuple(row) not in taken and not np.any(low[i] > limit)
        top = np.minimum(high[i], limit)
        sizes.append(np.linalg.norm((top - low[i]) / tolerance) if open_ else -1.0)
    assert max(sizes) > 0.0
    np.testing.assert_array_equal(answer.suggestion.unit, every[int(np.argmax(sizes))])
    np.testing.assert_array_equal(answer.state["low"][0], low)
    np.testing.assert_array_equal(answer.state["high"][0], high)


def test_regions_of_the_last_call_are_cut_with_the_new_ones() -> None:
    space = Space(n=Int(0, 40))
    given = evidence(space)
    first = ask(given, None, np.random.default_rng(1))
    state = {**first.state, "low": [first.state["low"][0] + 0.01], "high": [first.state["high"][0] - 0.02]}
    later = ask(given, state, np.random.default_rng(2))
    model = fit(given, first.state, np.random.default_rng(2))
    right = pal.intersect((state["low"][0], state["high"][0]), pal.regions(model, space.enumerate()))
    np.testing.assert_array_equal(later.state["low"][0], right[0])
    np.testing.assert_array_equal(later.state["high"][0], right[1])
    other = {**first.state, "low": [np.zeros((3, 2))], "high": [np.ones((3, 2))]}  # of other candidates: forgotten
    fresh = ask(given, other, np.random.default_rng(2))
    np.testing.assert_array_equal(fresh.state["low"][0], pal.regions(model, space.enumerate())[0])


def test_a_limit_that_nothing_meets_is_none() -> None:
    space = Space(n=Int(0, 40))
    free = ask(evidence(space), None, np.random.default_rng(1))
    hopeless = ask(evidence(space, worst=-1e6), None, np.random.default_rng(1))
    np.testing.assert_array_equal(free.suggestion.unit, hopeless.suggestion.unit)


def test_when_all_are_measured_it_says_so_and_counts_the_optimal() -> None:
    space = Space(n=Int(0, 6))
    unit = space.enumerate()
    x = np.arange(7.0)
    observed = tuple(Observations(unit, v, unit[:0]) for v in ((x - 2) ** 2, (x - 4) ** 2))
    objectives = (Objective("a", noise=0.0), Objective("b", noise=0.0))
    given = Evidence(space, objectives, (Experiment("all", ["a", "b"]),), observed, (unit,))
    with pytest.raises(Finished, match="all of its 7 candidates: 3 are Pareto-optimal"):
        ask(given, None, np.random.default_rng(0))
