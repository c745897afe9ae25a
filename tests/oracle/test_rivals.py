"""Each rival's acquisition beside the slow, obvious one."""

import numpy as np
import pytest

from pesmo import Float, Space, Study
from pesmo.gp.posterior import joint, mean_and_variance
from pesmo.methods import pal, parego, smsego, sur
from pesmo.methods.ehi import log_expected_gain, rough_log_expected_gain
from pesmo.methods.fronts import Known, known_fronts
from pesmo.methods.improvement import log_h, log_h_slope
from pesmo.methods.model import fit
from pesmo.pareto.boxes import undominated_boxes
from pesmo.pareto.dominance import nondominated
from tests.oracle import rivals


def front(k: int, n: int, seed: int) -> Known:
    values = np.random.default_rng(seed).uniform(size=(n, k))
    values = values[nondominated(values)]
    reference = np.full(k, 1.1)
    extent = np.ptp(values, axis=0)
    return Known(np.empty((0, 2)), values, extent, reference, *undominated_boxes(values, reference))


@pytest.mark.parametrize("k", [2, 3, 4])
def test_ehi_is_the_mean_gain_of_a_million_samples(k: int) -> None:
    known, rng = front(k, 25, seed=k), np.random.default_rng(k)
    for case in range(4):
        mean, sd = rng.uniform(-0.1, 0.9, k), rng.uniform(0.05, 0.5, k)
        expected, error = rivals.sampled_gain(known.values, known.reference, mean, sd, 1_000_000, seed=case)
        value = np.exp(log_expected_gain(known, mean[None], sd[None])[0])
        assert abs(value - expected) < 3.0 * error
        assert rough_log_expected_gain(known, mean[None], sd[None])[0] == pytest.approx(np.log(value), abs=1e-7)


def test_ehi_keeps_a_slope_where_there_is_next_to_nothing_to_gain() -> None:
    known = front(2, 25, seed=0)
    means = np.linspace(2.0, 4.0, 5)[:, None] * np.ones(2)
    values = log_expected_gain(known, means, np.full((5, 2), 0.02))
    assert np.all(np.isfinite(values))
    assert np.all(np.diff(values) < -1000.0)


def test_log_h_and_its_slope_from_end_to_end() -> None:
    z = np.array([-1e8, -2e3, -40.0, -5.0, -1.0 - 1e-9, -1.0 + 1e-9, 0.0, 3.0, 30.0])
    value = log_h(z)
    for at, log_value in zip(z[3:], value[3:], strict=True):
        assert np.exp(log_value) == pytest.approx(rivals.expected_improvement(0.0, 1.0, at), rel=1e-8)
    assert value[2] == pytest.approx(-0.5 * 1600 - 0.5 * np.log(2 * np.pi) - np.log(1600.0), abs=3e-3)
    assert np.all(np.diff(value) > 0)
    assert log_h(np.array([-np.inf]))[0] == -np.inf
    step = 1e-6 * np.maximum(1.0, np.abs(z))
    slope = (log_h(z + step) - log_h(z - step)) / (2 * step)
    assert log_h_slope(z)[2:] == pytest.approx(slope[2:], rel=1e-4)


def test_smsego_is_the_plain_hypervolume_difference_or_the_penalty() -> None:
    for k in (1, 2, 3, 4):
        known = front(k, 25, seed=k)
        estimates = np.random.default_rng(k).uniform(-0.3, 1.2, (60, k))
        values = smsego.gain_or_penalty(known, estimates)
        expected = [rivals.penalized_gain(known.values, known.reference, smsego.epsilon(known), e) for e in estimates]
        assert values == pytest.approx(expected, abs=1e-12)
        assert values.min() < 0 < values.max()


def small_study(k: int) -> tuple:
    """A fitted model of k objectives, on which the model-based acquisitions can be judged."""
    rng = np.random.default_rng(3)
    study = Study(Space(x=Float(0, 1), y=Float(0, 1)), [f"f{i}" for i in range(k)], seed=0)
    for x, y in rng.uniform(size=(9, 2)).tolist():
        study.add({"x": x, "y": y}, {f"f{i}": np.sin(4 * x + i) + (y - 0.4 * i) ** 2 for i in range(k)})
    evidence = study._evidence("test")
    return evidence, fit(evidence, None, rng), rng


def test_parego_is_expected_improvement_and_its_gradient_is_its_slope() -> None:
    _, model, rng = small_study(2)
    posterior = model.surrogates[0].posterior
    best = np.min(mean_and_variance(posterior, posterior.x)[0], axis=1)
    for point in rng.uniform(0.05, 0.95, (5, 1, 2)):
        mean, variance = mean_and_variance(posterior, point)
        each = [
            rivals.expected_improvement(m, s, b)
            for m, s, b in zip(mean[:, 0], np.sqrt(variance[:, 0]), best, strict=True)
        ]
        value, gradient = parego.log_improvement_slope(posterior, best, point)
        assert np.exp(value) == pytest.approx(np.mean(each), rel=1e-6)
        assert value == pytest.approx(parego.log_improvement(posterior, best, point)[0], abs=1e-10)
        for j in range(2):
            step = np.zeros((1, 2))
            step[0, j] = 1e-5
            up, down = (parego.log_improvement(posterior, best, point + s)[0] for s in (step, -step))
            assert gradient[0, j] == pytest.approx((up - down) / 2e-5, rel=1e-3, abs=1e-4)


def test_parego_scalarizes_by_the_augmented_chebyshev_function() -> None:
    rng = np.random.default_rng(0)
    values, theta = rng.uniform(size=(6, 3)), rng.dirichlet(np.ones(3), size=4)
    for s in range(4):
        for i in range(6):
            weighted = [theta[s, k] * values[i, k] for k in range(3)]
            assert parego.scalarize(values, theta)[s, i] == pytest.approx(max(weighted) + 0.05 * sum(weighted))
    wide = np.array([[1e308, 5.0], [-1e308, 5.0], [0.0, 5.0]])
    assert parego.to_unit_range(wide, np.full(2, np.inf)).tolist() == [[1.0, 0.0], [0.0, 0.0], [0.5, 0.0]]
    assert parego.to_unit_range(wide, np.array([0.0, 4.0])).tolist() == [[2.0, 0.0], [0.0, 0.0], [1.0, 0.0]]


@pytest.mark.parametrize("k", [1, 2, 3])
def test_sur_is_how_often_the_candidate_takes_an_improvement_away(k: int) -> None:
    evidence, model, rng = small_study(k)
    fronts = known_fronts(model, evidence, rng)
    points, candidates = rng.uniform(size=(5, 2)), rng.uniform(size=(2, 2))
    draws = 60_000
    for s in (0, 5):
        plan = sur.plan(model, fronts[s], s, points)
        value = sur.decrease(model, plan, s, model.features(candidates))
        for i, candidate in enumerate(candidates):
            total, variance = 0.0, 0.0
            for point in points:
                pair = np.stack([candidate, point])
                here, there = np.empty((draws, k)), np.empty((draws, k))
                for j, (surrogate, x) in enumerate(zip(model.surrogates, model.features(pair), strict=True)):
                    mean, covariance, _ = joint(surrogate.posterior, np.broadcast_to(x, (len(fronts), *x.shape)))
                    root = np.linalg.cholesky(covariance[s] + 1e-12 * np.eye(2))
                    here[:, j], there[:, j] = mean[s][:, None] + root @ rng.standard_normal((2, draws))
                mean, error = rivals.sampled_decrease(fronts[s].values, fronts[s].reference, here, there)
                total, variance = total + mean, variance + error**2
            # Besides sampling: the middle of a stratum stands for it, and hopeless points were dropped.
            assert abs(value[i] - total) < 4.0 * np.sqrt(variance) + 0.01 * total + 5 * sur.HOPELESS


def test_pal_classifies_by_the_definition() -> None:
    rng = np.random.default_rng(5)
    names = {pal.OUT: "out", pal.UNCERTAIN: "uncertain", pal.OPTIMAL: "optimal"}
    seen = set()
    for width in (0.0, 0.05, 0.2, 0.5):
        for k in (1, 2, 3):
            low = rng.uniform(size=(40, k))
            high = low + width * rng.uniform(size=(40, k))
            tolerance = np.full(k, 0.02)
            found = [names[int(c)] for c in pal.classify(low, high, tolerance)]
            assert found == rivals.classes(low, high, tolerance)
            seen |= set(found)
    assert seen == {"out", "uncertain", "optimal"}


def test_pal_regions_only_shrink_unless_the_model_was_wrong() -> None:
    old = (np.array([[0.0, 0.0]]), np.array([[1.0, 1.0]]))
    new = (np.array([[0.5, 2.0]]), np.array([[2.0, 3.0]]))
    low, high = pal.intersect(old, new)
    assert low.tolist() == [[0.5, 2.0]]
    assert high.tolist() == [[1.0, 3.0]]
