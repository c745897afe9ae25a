"""What each rival hands to the maximization: its acquisition at points, beside the definition by loops."""

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest

from pesmo.methods import ehi, parego, smsego, sur
from pesmo.methods import model as models
from pesmo.methods.fronts import Known, known_fronts, measured_fronts
from pesmo.methods.maximize import OfPoints, by_differences
from pesmo.methods.model import Model, fit
from pesmo.methods.registry import METHODS
from pesmo.problem import Evidence, Experiment, Objective, Observations
from pesmo.space import Choice, Float, Int, Space
from tests.oracle import ep as loops
from tests.oracle import rivals

SPACE = Space(x=Float(0, 1), c=Choice("p", "q", "r"), n=Int(1, 3), y=Float(0, 1))


def evidence(count: int = 9, pending: int = 0, worst: float | None = None, noise: float | None = None) -> Evidence:
    rng = np.random.default_rng(0)
    unit = np.stack([SPACE.tidy(row) for row in rng.uniform(size=(count, 4))])
    coming = np.stack([SPACE.tidy(row) for row in rng.uniform(size=(2, 4))])[:pending]
    x, c, n, y = unit.T
    values = (5.0 + 3.0 * np.sin(5 * x) + y * n, (y - 0.4) ** 2 + 0.2 * c + np.cos(3 * x))
    observed = tuple(Observations(unit, v, coming) for v in values)
    objectives = (Objective("a", worst=worst, noise=noise), Objective("b", noise=noise))
    return Evidence(SPACE, objectives, (Experiment("all", ["a", "b"]),), observed, (unit,))


def handed(
    room: ModuleType, method: str, given: Evidence, monkeypatch: pytest.MonkeyPatch
) -> tuple[OfPoints, Any, Any]:
    """The acquisition that a method hands to `maximize`, its model (None for ParEGO), and its answer's state."""
    seen: list[OfPoints] = []
    fitted: list[Model] = []

    def looking(acquisition, evidence, rng):
        seen.append(acquisition)
        return "a suggestion"

    def fitting(*args):
        fitted.append(fit(*args))
        return fitted[-1]

    monkeypatch.setattr(room, "maximize", looking)
    if hasattr(room, "fit"):
        monkeypatch.setattr(room, "fit", fitting)
    answer = METHODS[method].suggest(given, None, np.random.default_rng(1))
    assert answer.suggestion == "a suggestion"
    assert seen[0].usable.tolist() == given.complete.tolist()
    return seen[0], (fitted or [None])[0], answer.state


def moments(model: Model, s: int, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations (n, K) under one sample."""
    mean, sd = model.moments(at)
    return mean[s], sd[s]


def somewhere(count: int, seed: int = 5) -> np.ndarray:
    return SPACE.snap(np.random.default_rng(seed).uniform(size=(count, 4)))


def near(fronts: list[Known], count: int) -> np.ndarray:
    """Points a step away from those of the fronts."""
    rng = np.random.default_rng(7)
    points = np.concatenate([front.points for front in fronts])
    chosen = points[rng.integers(len(points), size=count)]
    return SPACE.snap(np.clip(chosen + 0.1 * rng.standard_normal(chosen.shape), 0.0, 1.0))


# ---------------------------------------------------------------- EHI, SMSego, SUR
def test_ehi_is_the_expected_gain_over_the_measured_front_averaged_over_samples(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = evidence()
    acq, model, state = handed(ehi, "ehi", given, monkeypatch)
    at = somewhere(3)
    total, error = np.zeros(3), np.zeros(3)
    for s in range(10):
        measured = model.means(given.measured_points)[s]
        front = Known(given.measured_points, *known_by_hand(measured), np.empty(0), np.empty(0))
        mean, sd = moments(model, s, at)
        for i in range(3):
            value, one = rivals.sampled_gain(front.values, front.reference, mean[i], sd[i], 40_000, seed=s)
            total[i], error[i] = total[i] + value / 10, error[i] + (one / 10) ** 2
    assert np.all(np.abs(np.exp(acq.at(at)) - total) < 4.0 * np.sqrt(error) + 1e-6)
    assert acq.rough is not None
    np.testing.assert_allclose(acq.rough(at), acq.at(at), atol=1e-5)
    assert acq.logarithmic
    assert {tuple(p) for p in acq.promising} <= {tuple(p) for p in given.measured_points}
    for theta, one in zip(state["theta"], model.surrogates, strict=True):
        np.testing.assert_array_equal(theta, one.theta)


def known_by_hand(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The front's values, extent, and a reference a tenth of its extent beyond its worst values."""
    front = np.array([v for v in values if not any(np.all(w <= v) and np.any(w < v) for w in values)])
    extent = np.maximum(front.max(axis=0) - front.min(axis=0), 0.1)
    return front, extent, front.max(axis=0) + 0.1 * extent


def test_smsego_is_the_gain_of_a_deviation_better_averaged_over_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    given = evidence()
    fronts: list[list[Known]] = []

    def fronting(model: Model, evidence: Evidence, rng: np.random.Generator) -> list[Known]:
        fronts.append(known_fronts(model, evidence, rng))
        return fronts[0]

    monkeypatch.setattr(smsego, "known_fronts", fronting)
    acq, model, _ = handed(smsego, "smsego", given, monkeypatch)
    at = np.concatenate([near(fronts[0], 12), given.measured_points[:3]])
    values = np.zeros(len(at))
    for s, front in enumerate(fronts[0]):
        mean, sd = moments(model, s, at)
        left = (1.0 - 1.0 / 2**2) * 50
        epsilon = front.extent / (len(front.values) + left)
        values += [rivals.penalized_gain(front.values, front.reference, epsilon, e) / 10 for e in mean - sd]
    np.testing.assert_allclose(acq.at(at), values, atol=1e-10)
    assert values.min() < 0 < values.max()
    assert not acq.logarithmic
    assert acq.rough is None
    assert len(acq.promising) == sum(len(front.points) for front in fronts[0])


def test_sur_is_averaged_over_samples_and_space(monkeypatch: pytest.MonkeyPatch) -> None:
    """The decrease at each of eight integration points, by joint draws; and the screening by draws of a value."""
    monkeypatch.setattr(models, "SAMPLES", 3)
    given = evidence()
    fronts: list[list[Known]] = []
    points: list[np.ndarray] = []

    def fronting(model: Model, evidence: Evidence, rng: np.random.Generator) -> list[Known]:
        fronts.append(known_fronts(model, evidence, rng))
        return fronts[0]

    def gridding(space: Space, count: int, rng: np.random.Generator) -> np.ndarray:
        assert (space, count) == (SPACE, 128)
        points.append(near(fronts[0], 8))
        return points[0]

    monkeypatch.setattr(sur, "known_fronts", fronting)
    monkeypatch.setattr(sur, "candidates", gridding)
    acq, model, _ = handed(sur, "sur", given, monkeypatch)
    at = near(fronts[0], 10)[8:]
    rng, draws = np.random.default_rng(0), 6000
    total, error = np.zeros(2), np.zeros(2)
    for s, front in enumerate(fronts[0]):
        for i, x in enumerate(at):
            for q in points[0]:
                both = np.empty((2, draws, 2))
                for k, one in enumerate(model.surrogates):
                    p = one.posterior
                    pair = SPACE.features(np.stack([x, q]))
                    y = one.scaling.standardize(given.observations[k].values)
                    mean, cov = loops.posterior(p.x, y, pair, p.scales[s], p.amplitude[s], p.noise[s])
                    both[:, :, k] = rng.multivariate_normal(mean, cov, draws, check_valid="ignore").T
                value, one_error = rivals.sampled_decrease(front.values, front.reference, both[0], both[1])
                total[i] += value / 3 / len(points[0])
                error[i] += (one_error / 3 / len(points[0])) ** 2
    found = acq.at(at)
    assert np.all(np.abs(found - total) < 4.0 * np.sqrt(error) + 0.02 * total + 2e-4)
    assert total.max() > 0.005
    assert acq.rough is not None
    at = near(fronts[0], 4)
    rough = acq.rough(at)
    mean, sd = model.moments(at)
    right = np.zeros(4)
    for s, front in enumerate(fronts[0]):
        for i in range(4):
            y = mean[s, i] + sd[s, i] * rng.standard_normal((20_000, 2))
            free = np.all(y < front.reference, axis=1)
            for v in front.values:
                free &= ~np.all(v <= y, axis=1)
            right[i] += free.mean() * np.sqrt(sd[s, i, 0] * sd[s, i, 1]) / 3
    np.testing.assert_allclose(rough, right, atol=0.01)


@pytest.mark.parametrize("worst", [None, 6.5])
def test_the_known_front_is_that_of_the_means_over_the_space(worst: float | None) -> None:
    given = evidence(worst=worst)
    model = fit(given, None, np.random.default_rng(0))
    fronts = known_fronts(model, given, np.random.default_rng(1))
    axis = np.linspace(0, 1, 41)
    grid = np.array(
        [[x, c, n, y] for x in axis for c in (1 / 6, 0.5, 5 / 6) for n in (1 / 6, 0.5, 5 / 6) for y in axis]
    )
    means = model.means(np.concatenate([grid, given.measured_points]))
    limit = np.inf if worst is None else float(model.surrogates[0].scaling.standardize(np.array(worst)))
    for s, (front, values) in enumerate(zip(fronts, means, strict=True)):
        inside = values[values[:, 0] <= limit]
        np.testing.assert_allclose(front.values, model.means(front.points)[s], atol=1e-9)
        for v in front.values:
            assert v[0] <= limit + 1e-9
        best = inside.min(axis=0)
        assert np.all(front.values.min(axis=0) <= best + 0.03)
        extent = np.maximum(front.values.max(axis=0) - front.values.min(axis=0), 0.1)
        np.testing.assert_allclose(front.extent, extent)
        reference = front.values.max(axis=0) + 0.1 * extent
        np.testing.assert_allclose(front.reference, [reference[0] if worst is None else limit, reference[1]])


def test_the_measured_front_is_that_of_the_measured_points_means() -> None:
    given = evidence(pending=2)
    model = fit(given, None, np.random.default_rng(0))
    assert len(given.measured_points) == 11  # those that are coming too, at the values of the paths
    for s, front in enumerate(measured_fronts(model, given)):
        values, extent, reference = known_by_hand(model.means(given.measured_points)[s])
        assert sorted(map(tuple, front.values)) == sorted(map(tuple, values))
        np.testing.assert_allclose(front.extent, extent)
        np.testing.assert_allclose(front.reference, reference)
        np.testing.assert_allclose(front.values, model.means(front.points)[s])


# ---------------------------------------------------------------- ParEGO
def weights_of(count: int, monkeypatch: pytest.MonkeyPatch, seed: int = 0) -> list[np.ndarray]:
    """theta (10, 2) of each of some suggestions, each with the randomness of its own."""
    seen: list[np.ndarray] = []
    scalarize = parego.scalarize

    def looking(values: np.ndarray, theta: np.ndarray) -> np.ndarray:
        seen.append(theta)
        return scalarize(values, theta)

    monkeypatch.setattr(parego, "scalarize", looking)
    monkeypatch.setattr(parego, "maximize", lambda acquisition, evidence, rng: None)
    monkeypatch.setattr(
        parego, "sample_hyperparameters", lambda x, y, *rest: np.tile([0.0] * 6 + [-5.0], (10, 1))[:, 1:]
    )
    for number in range(count):
        METHODS["parego"].suggest(evidence(), None, np.random.default_rng([seed, number]))
    return seen


def test_parego_draws_new_weights_for_every_sample_of_every_suggestion(monkeypatch: pytest.MonkeyPatch) -> None:
    """Uniform on the simplex: of two objectives, the first one's weight is uniform between 0 and 1."""
    seen = np.concatenate(weights_of(40, monkeypatch))
    assert seen.shape == (400, 2)
    np.testing.assert_allclose(seen.sum(axis=1), 1.0)
    assert np.unique(seen[:, 0]).size == 400
    assert kstest(seen[:, 0], "uniform").statistic < 0.068  # 1.36 / sqrt(400)


def test_parego_models_the_augmented_chebyshev_function_of_its_own_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    given = evidence(pending=1)
    thetas: list[np.ndarray] = []
    modelled: list[tuple] = []
    scalarize, surrogate = parego.scalarize, parego.surrogate

    def weighing(values: np.ndarray, theta: np.ndarray) -> np.ndarray:
        thetas.append(theta)
        return scalarize(values, theta)

    def modelling(space, objective, observed, scaling, chains, rng):
        modelled.append((observed, scaling, chains, surrogate(space, objective, observed, scaling, chains, rng)))
        return modelled[0][3]

    monkeypatch.setattr(parego, "scalarize", weighing)
    monkeypatch.setattr(parego, "surrogate", modelling)
    acq, _, state = handed(parego, "parego", given, monkeypatch)
    observed, scaling, chains, one = modelled[0]
    assert (scaling.centre, scaling.size) == (0.0, 1.0)
    np.testing.assert_array_equal(state["scalarization"][0], chains)
    unit, values = given.complete_points
    np.testing.assert_array_equal(observed.unit, unit)
    np.testing.assert_array_equal(observed.pending, given.observations[0].pending)
    unit_range = (values - values.min(axis=0)) / (values.max(axis=0) - values.min(axis=0))
    for s, theta in enumerate(thetas[0]):
        g = [max(t * v for t, v in zip(theta, row, strict=True)) + 0.05 * (theta @ row) for row in unit_range]
        right = (np.array(g) - np.mean(g)) / np.std(g)
        np.testing.assert_allclose(observed.values[s], right, atol=1e-9)
    # EI on the least posterior mean at what was measured or is coming, averaged over the samples
    p, at = one.posterior, somewhere(3)
    each = np.empty((10, 3))
    for s in range(10):
        y = np.linalg.solve(  # what the posterior was given, pending values included
            np.linalg.inv(loops.matern52(p.x, p.x, p.scales[s], p.amplitude[s]) + p.noise[s] * np.eye(len(p.x))),
            p.weights[s],
        )
        np.testing.assert_allclose(y[: len(unit)], observed.values[s], atol=1e-4)
        best = loops.posterior(p.x, y, p.x, p.scales[s], p.amplitude[s], p.noise[s])[0].min()
        mean, cov = loops.posterior(p.x, y, SPACE.features(at), p.scales[s], p.amplitude[s], p.noise[s])
        sd = np.sqrt(np.diag(cov))
        each[s] = [rivals.expected_improvement(m, d, best) for m, d in zip(mean, sd, strict=True)]
    np.testing.assert_allclose(acq.at(at), np.log(each.mean(axis=0)), atol=1e-3)
    assert acq.slope is not None
    for point in at:
        value, gradient = acq.slope(point)
        assert value == pytest.approx(acq.at(point[None])[0])
        assert np.all(gradient[1:3] == 0.0)
        _, differences = by_differences(acq.at, point)
        np.testing.assert_allclose(gradient[[0, 3]], differences[[0, 3]], rtol=2e-2, atol=2e-2)


def test_parego_goes_on_from_its_last_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def sampling(x, y, owners, d, noise, previous, rng):
        seen.append((owners.tolist(), d, noise, previous))
        return np.tile([0.0] * 5 + [-5.0], (10, 1))

    monkeypatch.setattr(parego, "sample_hyperparameters", sampling)
    monkeypatch.setattr(parego, "maximize", lambda acquisition, evidence, rng: None)
    state = {"scalarization": [np.full((10, 6), 0.25)]}
    METHODS["parego"].suggest(evidence(), state, np.random.default_rng(0))
    owners, d, noise, previous = seen[0]
    assert (owners, d, noise) == ([0, 1, 1, 1, 2, 3], 4, None)
    np.testing.assert_array_equal(previous, state["scalarization"][0])


def test_a_constant_scalarization_is_zero() -> None:
    found = parego.standardized(np.array([[1.0, 3.0], [5.0, 5.0]]))
    assert found.tolist() == [[-1.0, 1.0], [0.0, 0.0]]
