"""The test problems against what is known of them on paper."""

import moocore
import numpy as np
import pytest

from benchmarks.classic import CLASSIC


def test_values_known_on_paper() -> None:
    zdt = [CLASSIC[name].evaluate(np.array([[0.25, 0, 0, 0, 0, 0]]))[0] for name in ("zdt1", "zdt2", "zdt3")]
    np.testing.assert_allclose(zdt, [[0.25, 0.5], [0.25, 0.9375], [0.25, 0.25]], atol=1e-12)
    minimum = CLASSIC["branin-currin"].evaluate(np.array([[(np.pi + 5) / 15, 2.275 / 15]]))[0, 0]
    assert minimum == pytest.approx(0.397887, abs=1e-6)
    thin = CLASSIC["vehicle-safety"].evaluate(np.zeros((1, 5)))[0]  # every thickness is 1
    np.testing.assert_allclose(thin, [1661.7078225, 8.3046, 0.0708], rtol=1e-6)
    half = np.full((1, 6), 0.5)
    for name in ("dtlz2-K2", "dtlz2-K3"):
        assert np.linalg.norm(CLASSIC[name].evaluate(half)) == pytest.approx(1.0)


@pytest.mark.parametrize("name", CLASSIC)
def test_front_reaches_its_hypervolume_and_no_more(name: str) -> None:
    problem = CLASSIC[name]
    share = moocore.hypervolume(problem.front(), ref=problem.reference_point) / problem.hypervolume
    assert 0.97 < share <= 1.0 + 1e-9
    assert problem.log_relative_hv_difference(problem.front()) < -3.5


@pytest.mark.parametrize("name", CLASSIC)
def test_no_point_lies_beyond_the_front(name: str) -> None:
    problem = CLASSIC[name]
    values = problem.evaluate(np.random.default_rng(0).random((20_000, problem.dim)))
    front = problem.front()
    together = moocore.hypervolume(np.vstack([front, values]), ref=problem.reference_point)
    assert together <= problem.hypervolume * (1 + 1e-9)


def test_starts_are_everyones_and_fill_every_row() -> None:
    problem = CLASSIC["zdt1"]
    assert problem.starts(seed=3).shape == (14, 6)
    np.testing.assert_array_equal(problem.starts(seed=3), problem.starts(seed=3))
    assert not np.array_equal(problem.starts(seed=3), problem.starts(seed=4))
    rows = np.sort(np.floor(problem.starts(seed=3) * 14), axis=0)
    np.testing.assert_array_equal(rows, np.tile(np.arange(14.0)[:, None], 6))
