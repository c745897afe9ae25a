"""The recommendation beside plain loops: means, standard deviations, and probabilities by joint draws."""

import math

import numpy as np
import pytest

from pesmo.front import Front
from pesmo.gp.scaling import scaling_of
from pesmo.methods import recommend as room
from pesmo.methods.model import Model, surrogate
from pesmo.methods.recommend import mean_front, recommend
from pesmo.pareto.solve import Search, pareto_sets
from pesmo.problem import Evidence, Experiment, Objective, Observations
from pesmo.space import Choice, Float, Int, Space
from tests.oracle import ep as loops

# Three hyperparameter samples that disagree: (length-scale, amplitude, noise), one table an objective.
THETA = (
    np.log([[0.1, 1.0, 0.01], [0.4, 2.0, 0.001], [1.0, 0.5, 0.3]]),
    np.log([[0.2, 0.7, 0.02], [0.6, 1.5, 0.2], [0.3, 1.0, 0.001]]),
)
GOALS = (Objective("low", unit="kg"), Objective("high", goal="maximize"))


def study(space: Space, count: int = 6, pending: int = 0) -> tuple[Model, Evidence]:
    rng = np.random.default_rng(0)
    unit = np.stack([space.tidy(row) for row in rng.uniform(size=(count, 1))])
    coming = np.array([space.tidy(row) for row in rng.uniform(size=(pending, 1))]).reshape(-1, 1)
    x = unit[:, 0]
    values = (20.0 + 30.0 * np.sin(5 * x), -(x**2) + 0.1 * np.cos(9 * x))  # the second maximized: on the model's scale
    observed = tuple(Observations(unit, v, coming) for v in values)
    evidence = Evidence(space, GOALS, (Experiment("all", ["low", "high"]),), observed, (unit,))
    surrogates = tuple(
        surrogate(space, objective, o, scaling_of(o.values), theta, rng)
        for objective, o, theta in zip(GOALS, observed, THETA, strict=True)
    )
    return Model(space, surrogates), evidence


def by_hand(evidence: Evidence, k: int, s: int, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of objective k under sample s, standardized, of what was measured alone."""
    observed, (scale, amplitude, noise) = evidence.observations[k], np.exp(THETA[k][s])
    y = (observed.values - observed.values.mean()) / observed.values.std()
    return loops.posterior(evidence.space.snap(observed.unit), y, unit, np.array([scale]), amplitude, noise)


@pytest.mark.parametrize("pending", [0, 3])
def test_means_and_deviations_are_those_of_the_mixture_of_all_samples(pending: int) -> None:
    """A value is that of a sample drawn at random: the deviation has the samples' own and the spread between them."""
    space = Space(x=Float(0, 1))
    model, evidence = study(space, pending=pending)
    front = recommend(model, evidence, 12, np.random.default_rng(1))
    assert 2 < len(front) <= 12
    unit = np.array([space.to_unit(point) for point in front.inputs])
    rng = np.random.default_rng(2)
    for k, sign in ((0, 1.0), (1, -1.0)):
        values = evidence.observations[k].values
        for i, row in enumerate(unit):
            mixture = []
            for s in range(3):
                mean, covariance = by_hand(evidence, k, s, row[None])
                draws = mean[0] + math.sqrt(covariance[0, 0]) * rng.standard_normal(20_000)
                mixture.append(sign * (values.mean() + values.std() * draws))
            everything = np.concatenate(mixture)
            assert front.means[i, k] == pytest.approx(everything.mean(), abs=0.02 * everything.std())
            assert front.sds[i, k] == pytest.approx(everything.std(), rel=0.02)
    between = max(
        np.std([by_hand(evidence, 0, s, row[None])[0][0] for s in range(3)])
        / math.sqrt(np.mean([by_hand(evidence, 0, s, row[None])[1][0, 0] for s in range(3)]))
        for row in unit
    )
    assert between > 0.3  # the samples do disagree


def test_the_recommended_points_are_the_pareto_set_of_the_average_means() -> None:
    space = Space(x=Float(0, 1))
    model, evidence = study(space)
    front = recommend(model, evidence, 40, np.random.default_rng(1))
    assert np.all(np.diff(front.means[:, 0]) >= 0.0)  # ordered by the first objective
    grid = np.linspace(0, 1, 301)[:, None]
    average = np.stack([np.mean([by_hand(evidence, k, s, grid)[0] for s in range(3)], axis=0) for k in (0, 1)], axis=1)
    unit = np.array([space.to_unit(point) for point in front.inputs])
    ours = np.stack([np.mean([by_hand(evidence, k, s, unit)[0] for s in range(3)], axis=0) for k in (0, 1)], axis=1)
    for value in ours:
        assert not np.any(np.all(average < value - 1e-3, axis=1))  # nothing on the grid is better
    optimal = [v for v in average if not np.any(np.all(average < v - 1e-12, axis=1))]
    gaps = [np.min(np.max(np.abs(ours - v), axis=1)) for v in optimal]
    assert max(gaps) < 0.1  # and no part of the grid's front is left out
    at = [float(evidence.observations[k].values.std()) for k in (0, 1)]
    np.testing.assert_allclose(front.means[:, 0], evidence.observations[0].values.mean() + at[0] * ours[:, 0])
    np.testing.assert_allclose(front.means[:, 1], -(evidence.observations[1].values.mean() + at[1] * ours[:, 1]))


def test_the_probability_is_the_share_of_joint_draws_that_nothing_dominates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Over a finite space, where the points that may dominate are all of it."""
    monkeypatch.setattr(room, "DRAWS", 400)
    space = Space(n=Int(0, 14))
    model, evidence = study(space, pending=2)
    front = recommend(model, evidence, 15, np.random.default_rng(1))
    every = space.enumerate()
    rng, counts = np.random.default_rng(2), np.zeros(15)
    for s in range(3):
        both = [by_hand(evidence, k, s, every) for k in (0, 1)]
        draws = np.stack(
            [rng.multivariate_normal(m, c + 1e-9 * np.eye(15), 1500, check_valid="ignore") for m, c in both], axis=2
        )
        for f in draws:
            for i in range(15):
                beaten = any(
                    f[j, 0] <= f[i, 0] and f[j, 1] <= f[i, 1] and tuple(f[j]) != tuple(f[i]) for j in range(15)
                )
                counts[i] += not beaten
    share = counts / 4500
    right = np.array([share[point["n"]] for point in front.inputs])
    np.testing.assert_allclose(front.probability, right, atol=0.05)
    assert np.ptp(right) > 0.2


def test_points_off_the_grid_are_compared_with_it_and_with_the_data() -> None:
    """A point that a measured one, which is not recommended, surely dominates has probability 0."""
    space = Space(x=Float(0, 1), c=Choice("p", "q"))
    unit = np.array([space.to_unit({"x": x, "c": c}) for x in np.linspace(0.05, 0.95, 7) for c in "pq"])
    a = unit[:, 0] + 10.0 * (unit[:, 1] > 0.5)
    observed = tuple(Observations(unit, v, unit[:0]) for v in (a, 1.0 - unit[:, 0] + 10.0 * (unit[:, 1] > 0.5)))
    objectives = (Objective("a"), Objective("b"))
    evidence = Evidence(space, objectives, (Experiment("all", ["a", "b"]),), observed, (unit,))
    theta = np.log([[0.5, 1.0, 1.0, 1e-6]] * 2)
    rng = np.random.default_rng(0)
    pairs = zip(objectives, observed, strict=True)
    surrogates = tuple(surrogate(space, o, v, scaling_of(v.values), theta, rng) for o, v in pairs)
    model = Model(space, surrogates)
    asked = np.array([space.to_unit({"x": 0.5, "c": "p"}), space.to_unit({"x": 0.5, "c": "q"})])
    probability = room._probability(model, evidence, asked, rng)
    assert probability[1] == 0.0
    assert probability[0] > 0.1


def test_of_many_measured_points_those_of_the_best_ranks_bear_witness(monkeypatch: pytest.MonkeyPatch) -> None:
    """One measured point dominates everything; it is kept when only a few are."""
    monkeypatch.setattr(room, "WITNESSES", 2)
    compared, joint = [], room.joint

    def looking(posterior, points):
        compared.append(points.shape[1])
        return joint(posterior, points)

    monkeypatch.setattr(room, "joint", looking)
    space = Space(x=Float(0, 1))
    unit = np.linspace(0.0, 1.0, 12)[:, None]
    values = np.where(np.arange(12) == 7, -5.0, 1.0)
    observed = tuple(Observations(unit, values + 0.01 * k, unit[:0]) for k in (0, 1))
    evidence = Evidence(space, GOALS, (Experiment("all", ["low", "high"]),), observed, (unit,))
    rng = np.random.default_rng(0)
    theta = np.log([[0.05, 1.0, 1e-6]] * 2)
    pairs = zip(GOALS, observed, strict=True)
    surrogates = tuple(surrogate(space, o, v, scaling_of(v.values), theta, rng) for o, v in pairs)
    probability = room._probability(Model(space, surrogates), evidence, np.array([[0.25], [0.95]]), rng)
    assert probability.max() < 0.1
    assert compared == [6, 6]  # the two asked, two measured, two of the space: joint draws cost their cube


def test_the_front_of_the_means_is_one_of_one_function() -> None:
    space = Space(x=Float(0, 1))
    model, evidence = study(space)
    found = mean_front(model, evidence.measured_points, Search(points=5), np.random.default_rng(0))
    assert found.points.shape == (5, 1)
    for k in (0, 1):
        right = np.mean([by_hand(evidence, k, s, found.points)[0] for s in range(3)], axis=0)
        np.testing.assert_allclose(found.values[:, k], right, atol=1e-6)


@pytest.mark.parametrize(("size", "kept"), [(12, 100), (250, 250)])
def test_the_recommendation_looks_harder_than_a_suggestion_does(
    size: int, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked for rarely, and its points are the answer: more rounds, more children, more descents."""
    seen: list[Search] = []

    def searching(functions, initial, search, rng):
        seen.append(search)
        assert len(initial) == 2048 + 6  # a grid, and what was measured
        return pareto_sets(functions, initial[:64], Search(points=3, rounds=1), rng)

    monkeypatch.setattr(room, "pareto_sets", searching)
    model, evidence = study(Space(x=Float(0, 1)))
    front = recommend(model, evidence, size, np.random.default_rng(0))
    assert seen == [Search(points=kept, archive=kept, descents=kept, steps=20, rounds=40, children=128)]
    count = 3 * 24 * front.probability  # 24 joint draws of each sample
    np.testing.assert_allclose(count, np.round(count), atol=1e-9)


def test_a_front_as_dicts() -> None:
    front = Front(
        GOALS, ({"x": 1}, {"x": 2}), np.array([[1.0, 2.0], [3.0, 4.0]]), np.full((2, 2), 0.5), np.array([0.1, 0.9])
    )
    assert len(front) == 2
    assert front.to_dicts()[1] == {
        "inputs": {"x": 2},
        "objectives": {"low": 3.0, "high": 4.0},
        "sd": {"low": 0.5, "high": 0.5},
        "probability": 0.9,
    }
