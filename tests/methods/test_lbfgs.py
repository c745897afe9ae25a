"""The minimizer in the unit cube, beside SciPy's L-BFGS-B: as low, with about as many evaluations."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import minimize as reference
from scipy.optimize import rosen, rosen_der

from pesmo.methods.lbfgs import minimize


class Counted:
    """A function that counts its calls and refuses points outside the cube."""

    def __init__(self, function: Callable[[np.ndarray], tuple[float, np.ndarray]]) -> None:
        self.function, self.calls = function, 0

    def __call__(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        assert np.all((x >= 0.0) & (x <= 1.0))
        self.calls += 1
        return self.function(x)


def quadratic(rng: np.random.Generator, dim: int) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """A convex quadratic whose minimum lies outside the cube in about half of the inputs."""
    root, centre = rng.normal(size=(dim, dim)), rng.uniform(-0.5, 1.5, dim)
    matrix = root @ root.T + 0.1 * np.eye(dim)
    return lambda x: (float(0.5 * (x - centre) @ matrix @ (x - centre)), matrix @ (x - centre))


def both(function: Callable, start: np.ndarray) -> tuple[float, float, int, int]:
    """Our minimum and SciPy's, our evaluations and SciPy's."""
    ours, theirs = Counted(function), Counted(function)
    options = {"maxiter": 300, "ftol": 1e-12, "gtol": 1e-8, "maxcor": 8}
    bounds = [(0.0, 1.0)] * start.size
    right = reference(theirs, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    value = function(minimize(ours, start, 300, ftol=1e-12, gtol=1e-8))[0]
    return value, float(right.fun), ours.calls, theirs.calls


@pytest.mark.parametrize("dim", [1, 2, 3, 6, 12])
def test_quadratics_with_active_bounds(dim: int) -> None:
    rng = np.random.default_rng(dim)
    rows = np.array([both(quadratic(rng, dim), rng.uniform(size=dim)) for _ in range(20)])
    assert np.all(rows[:, 0] <= rows[:, 1] + 1e-10)  # SciPy's ends early now and then
    assert rows[:, 2].sum() <= 1.5 * rows[:, 3].sum()


@pytest.mark.parametrize("start", [(0.1, 0.9), (0.9, 0.1), (0.5, 0.5), (0.0, 0.0)])
def test_a_curved_valley(start: tuple[float, float]) -> None:
    value, right, calls, their_calls = both(lambda u: (rosen(4 * u - 2), 4 * rosen_der(4 * u - 2)), np.array(start))
    assert max(value, right) < 1e-10
    assert calls <= 1.5 * their_calls


def test_a_minimum_on_a_face() -> None:
    def function(x: np.ndarray) -> tuple[float, np.ndarray]:
        wave = np.sin(3.0 * x[1])
        return float(np.exp(x[0]) - wave), np.array([np.exp(x[0]), -3.0 * np.cos(3.0 * x[1])])

    at = minimize(function, np.array([0.7, 0.2]), 50, ftol=1e-12)
    np.testing.assert_allclose(at, [0.0, np.pi / 6.0], atol=1e-4)
    assert at[0] == 0.0


def test_a_start_that_is_the_minimum_costs_one_evaluation() -> None:
    corner = Counted(lambda x: (float(x.sum()), np.ones(2)))
    np.testing.assert_array_equal(minimize(corner, np.zeros(2), 30), [0.0, 0.0])
    assert corner.calls == 1


def test_values_that_are_no_numbers_are_stepped_back_from() -> None:
    def function(x: np.ndarray) -> tuple[float, np.ndarray]:
        if x[0] > 0.6:
            return np.nan, np.full(1, np.nan)
        return float((x[0] - 0.55) ** 2), 2.0 * (x - 0.55)

    np.testing.assert_allclose(minimize(function, np.array([0.1]), 30, ftol=1e-12), [0.55], atol=1e-4)


@pytest.mark.parametrize(("scale", "offset"), [(1e-7, 0.0), (1.0, 1e7), (1.0, -1e7)])
def test_steps_that_gain_too_little_for_the_value_end_it(scale: float, offset: float) -> None:
    """A gain counts beside ftol times the value, or ftol itself where the value is below 1."""
    function = Counted(lambda u: (offset + scale * rosen(4 * u - 2), scale * 4 * rosen_der(4 * u - 2)))
    minimize(function, np.array([0.1, 0.9]), 300, ftol=1e-3, gtol=0.0)
    assert function.calls <= 8
