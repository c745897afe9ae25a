"""NSGA-II's operators against their distributions, and whom it lets breed."""

import numpy as np
import pytest
from scipy.stats import kstest

from pesmo.methods import nsga2
from pesmo.methods.nsga2 import cross, crowding_distances, mutate
from pesmo.methods.registry import METHODS
from pesmo.problem import Evidence, Experiment, Objective, Observations
from pesmo.space import Float, Int, Space


def test_crossover_spreads_children_as_simulated_binary_crossover_does() -> None:
    """beta = |2 child - p - q| / |p - q| has density (eta + 1) beta^eta / 2 below 1, and the mirror of it above."""
    rng, one, other = np.random.default_rng(0), np.array([0.45]), np.array([0.55])
    children = np.array([cross(one, other, rng)[0] for _ in range(6000)])
    changed = children[children != 0.45]
    assert len(changed) == pytest.approx(0.9 * 0.5 * 6000, rel=0.05)  # crossed, and of that half the coordinates
    beta = np.abs(2.0 * changed - 1.0) / 0.1

    def below(b: np.ndarray) -> np.ndarray:
        return np.where(b < 1.0, 0.5 * b**16, 1.0 - 0.5 / np.maximum(b, 1.0) ** 16)

    assert kstest(beta, below).statistic < 1.36 / np.sqrt(len(changed))
    assert np.mean(changed > 0.5) == pytest.approx(0.5, abs=0.04)  # either of the two children


def test_a_child_takes_about_half_its_coordinates_from_a_parent_and_stays_in_the_cube() -> None:
    rng, one, other = np.random.default_rng(1), np.zeros(40), np.ones(40)
    children = np.array([cross(one, other, rng) for _ in range(400)])
    assert children.min() == 0.0
    assert children.max() == 1.0
    whole = np.all(children == 0.0, axis=1)
    assert np.mean(whole) == pytest.approx(0.1, abs=0.05)
    assert np.mean(children[~whole] != 0.0) > 0.2


def test_mutation_moves_a_coordinate_in_d_by_the_polynomial_distribution() -> None:
    """Step t: distribution (1 + t)^(eta + 1) / 2 below 0, 1 - (1 - t)^(eta + 1) / 2 above."""
    rng, point = np.random.default_rng(2), np.full(4, 0.5)
    steps = np.array([mutate(point, rng) for _ in range(6000)]) - 0.5
    moved = steps[steps != 0.0]
    assert moved.size == pytest.approx(6000, rel=0.05)  # a quarter of four
    assert np.all(np.abs(np.mean(steps != 0.0, axis=0) - 0.25) < 0.03)

    def below(t: np.ndarray) -> np.ndarray:
        return np.where(t < 0.0, 0.5 * (1.0 + t) ** 21, 1.0 - 0.5 * (1.0 - t) ** 21)

    assert kstest(moved, below).statistic < 1.36 / np.sqrt(moved.size)
    edges = np.array([mutate(np.array([0.0, 1.0]), rng) for _ in range(500)])
    assert edges.min() == 0.0
    assert edges.max() == 1.0


def test_crowding_counts_neighbours_of_the_same_rank_alone() -> None:
    values = np.array([[0.0, 4.0], [1.0, 3.0], [4.0, 0.0], [0.1, 9.0], [5.0, 8.0], [9.0, 1.0], [6.0, 7.0]])
    rank = np.array([0, 0, 0, 1, 1, 1, 1])
    distance = crowding_distances(values, rank)
    assert np.isinf(distance[[0, 2, 3, 5]]).all()
    assert distance[1] == pytest.approx(1.0 + 1.0)
    assert distance[4] == pytest.approx((6.0 - 0.1) / 8.9 + (9.0 - 7.0) / 8.0)
    assert distance[6] == pytest.approx((9.0 - 5.0) / 8.9 + (8.0 - 1.0) / 8.0)
    flat = crowding_distances(np.array([[1.0, 2.0]] * 3), np.zeros(3, int))
    assert np.isinf(flat[[0, 2]]).all()
    assert flat[1] == 0.0


def bred(values: np.ndarray, monkeypatch: pytest.MonkeyPatch, rounds: int) -> np.ndarray:
    """(parents,) how often each measured point is picked as a first or second parent."""
    n = len(values)
    unit = np.linspace(0.01, 0.99, n)[:, None]
    space = Space(x=Float(0, 1))
    evidence = Evidence(
        space,
        tuple(Objective(f"f{k}") for k in range(values.shape[1])),
        (Experiment("all", [f"f{k}" for k in range(values.shape[1])]),),
        tuple(Observations(unit, column, unit[:0]) for column in values.T),
        (unit,),
    )
    counts = np.zeros(n)

    def crossing(one: np.ndarray, other: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        for parent in (one, other):
            counts[int(np.argmin(np.abs(unit[:, 0] - parent[0])))] += 1
        return rng.uniform(size=1)

    monkeypatch.setattr(nsga2, "cross", crossing)
    for number in range(rounds):
        METHODS["nsga2"].suggest(evidence, None, np.random.default_rng(number))
    return counts


def test_the_twenty_best_breed_and_the_better_of_two_is_picked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of thirty points on a line of one objective, the better of two drawn: (2 (20 - r) - 1) / 400 for rank r."""
    values = np.random.default_rng(0).permutation(30.0 * np.arange(30))[:, None]
    counts = bred(values, monkeypatch, 1000)
    order = np.argsort(values[:, 0])
    right = np.array([(2 * (20 - r) - 1) / 400 if r < 20 else 0.0 for r in range(30)])
    np.testing.assert_allclose(counts[order] / counts.sum(), right, atol=0.02)


def test_of_equal_rank_the_lonelier_breeds_more(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.array([0.0, 0.01, 0.02, 0.03, 0.5, 1.0])
    counts = bred(np.stack([x, 1.0 - x], axis=1), monkeypatch, 600)
    assert counts[[0, 4, 5]].min() > counts[[1, 2]].max()


def test_a_child_that_was_run_already_is_bred_again(monkeypatch: pytest.MonkeyPatch) -> None:
    space = Space(n=Int(0, 9))
    unit = np.array([space.to_unit({"n": n}) for n in range(9)])
    values = np.arange(9.0)
    evidence = Evidence(
        space,
        (Objective("a"),),
        (Experiment("all", ["a"]),),
        (Observations(unit, values, unit[:0]),),
        (unit,),
    )
    answer = METHODS["nsga2"].suggest(evidence, None, np.random.default_rng(0))
    assert space.from_unit(answer.suggestion.unit) == {"n": 9}
