"""PESMO end to end on mixed and declared inputs: alpha_k against EP by loops, its gradient, and which data count."""

import math

import numpy as np
import pytest

from pesmo.arrays import as_numpy
from pesmo.entropy import propagate as ep
from pesmo.gp.posterior import distinct, project
from pesmo.gp.scaling import scaling_of
from pesmo.methods import model as models
from pesmo.methods import pesmo
from pesmo.methods.model import Model
from pesmo.methods.pesmo import Acquisition, condition_on_pareto_sets, fit_and_draw
from pesmo.pareto.solve import Front, Search
from tests.methods.cases import SPACE, mixed_evidence, moments_by_hand, random_points, units
from tests.oracle import ep as loops


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few samples, few Pareto points, fewer of one draw, every data point with factors, and eight sweeps for all."""
    search = pesmo.pareto_sets

    def uneven(*args) -> list[Front]:
        fronts = search(*args)
        return [Front(fronts[0].points[:2], fronts[0].values[:2]), *fronts[1:]]

    monkeypatch.setattr(pesmo, "pareto_sets", uneven)
    monkeypatch.setattr(models, "SAMPLES", 2)
    monkeypatch.setattr(pesmo, "SEARCH", Search(points=4, archive=20, rounds=2))
    monkeypatch.setattr(pesmo, "RELEVANT", 1e-300)
    monkeypatch.setattr(pesmo, "DATA_ROWS", 100)
    monkeypatch.setattr(ep, "TOLERANCE", 0.0)


def acquisition(seed: int = 0) -> tuple[Acquisition, Model]:
    evidence, _ = mixed_evidence()
    rng = np.random.default_rng(seed)
    model = fit_and_draw(evidence, None, rng)
    return condition_on_pareto_sets(model, evidence, rng), model


def by_loops(acq: Acquisition, model: Model, at: list[dict]) -> tuple[np.ndarray, np.ndarray]:
    """alpha_k (K, n) without the candidate's own factors, as a screening has it, and with them."""
    evidence, measured = mixed_evidence()
    data = list({tuple(p.values()): p for points in measured.values() for p in points}.values())
    table = []
    for s, front in enumerate(acq.fronts):
        pareto = [SPACE.from_unit(row) for row in front.points]
        np.testing.assert_allclose(SPACE.features(units(pareto)), SPACE.features(front.points), atol=1e-9)
        points, size = pareto + data, len(pareto)
        active = np.array([[p != q for q in pareto] for p in points])
        best = np.zeros((2, size), bool)
        for k in range(2):
            best[k, int(np.argmin(front.values[:, k]))] = True
        base = [moments_by_hand(model, evidence, k, s, points) for k in range(2)]
        q = loops.propagate(
            np.array([m for m, _ in base]), np.array([c for _, c in base]), active, best, sweeps=8, damping=0.6
        )
        noise = [math.exp(surrogate.theta[s, -1]) for surrogate in model.surrogates]
        for x in at:
            both = [moments_by_hand(model, evidence, k, s, [*points, x]) for k in range(2)]
            mean, cov = np.array([m for m, _ in both]), np.array([c for _, c in both])
            table.append(loops.gain(mean, cov, q, best, noise, share=0.2))
    gains = np.array(table).reshape(len(acq.fronts), len(at), 2, 2)
    each = np.moveaxis(gains, (2, 3), (0, 1))  # (2, K, S, n)
    # A screening looks at one draw of each of the two hyperparameter samples.
    return each[0, :, :2].mean(axis=1), each[1].mean(axis=1)


@pytest.mark.parametrize("seed", [1, 2])
def test_alpha_is_that_of_the_loops(small: None, seed: int) -> None:
    acq, model = acquisition(seed)
    assert {len(front.points) for front in acq.fronts} == {2, 4}  # one draw has padding
    at = random_points(3, np.random.default_rng(seed))
    without, full = by_loops(acq, model, at)
    assert full.max() > 0.02
    np.testing.assert_allclose(acq.alpha(units(at)), full, rtol=2e-3, atol=1e-5)
    np.testing.assert_allclose(acq.value(units(at)), [full[0], full[1], full[0] + full[1]], rtol=2e-3, atol=1e-5)
    np.testing.assert_allclose(acq.screen(units(at))[:2], without, rtol=2e-3, atol=1e-5)


@pytest.mark.parametrize("e", [0, 1, 2])
def test_the_gradient_is_the_slope_along_floats_and_nothing_along_the_others(small: None, e: int) -> None:
    acq, _ = acquisition(1)
    for unit in units(random_points(4, np.random.default_rng(3))):
        value, gradient = acq.value_and_gradient(unit, e)
        assert value == pytest.approx(acq.value(unit[None])[e, 0], rel=1e-9)
        assert gradient.shape == (5,)
        assert np.all(gradient[1:4] == 0.0)
        for i in (0, 4):
            step = np.zeros(5)
            step[i] = 1e-5
            up, down = (acq.value((unit + t * step)[None])[e, 0] for t in (1, -1))
            assert gradient[i] == pytest.approx((up - down) / 2e-5, rel=1e-3, abs=1e-6)


def test_blurred_alpha_is_that_of_a_less_precise_reading(small: None) -> None:
    """log((v_PD + noise + blur) / (v_CPD + noise + blur)) / 2, draw by draw: the smaller the more is blurred."""
    acq, _ = acquisition(1)
    unit = units(random_points(5, np.random.default_rng(3)))
    plain, blurred = acq.value(unit), acq.compare(unit)
    assert np.all(blurred < plain)
    assert np.all(blurred > 0.0)
    np.testing.assert_allclose(blurred[2], blurred[0] + blurred[1])


# ---------------------------------------------------------------- the pieces
def padded() -> tuple[list[Front], np.ndarray]:
    rng = np.random.default_rng(0)
    fronts = [Front(rng.uniform(size=(m, 2)), rng.uniform(size=(m, 2)) * [1.0, 3.0]) for m in (3, 1, 2)]
    return fronts, np.array([[True, True, True], [True, False, False], [True, True, False]])


def test_sets_are_padded_to_the_largest() -> None:
    fronts, real = padded()
    stacked, mask = pesmo._stack([front.points for front in fronts], 0.5)
    assert mask.tolist() == real.tolist()
    for s, front in enumerate(fronts):
        np.testing.assert_array_equal(stacked[s, : len(front.points)], front.points)
        assert np.all(stacked[s, len(front.points) :] == 0.5)


def test_a_factor_exists_between_two_different_points_that_are_no_padding() -> None:
    points = np.array([[[0.1, 0.1], [0.5, 0.5], [0.1, 0.1 + 1e-10], [0.9, 0.2], [0.5, 0.5]]] * 2)
    real = np.array([[True, True], [True, False]])
    valid = np.array([[True, True, True, True, False], [True, False, True, True, True]])
    found = pesmo._active(points, valid, real)
    for s in range(2):
        for i in range(5):
            for j in range(2):
                one = np.max(np.abs(points[s, i] - points[s, j])) < 1e-9
                assert found[s, i, j] == (valid[s, i] and real[s, j] and not one)
    assert found[0, 3, 0]
    assert not found[0, 3, 1] or real[0, 1]


def test_the_resolution_is_a_share_of_the_front_in_the_objective_known_least() -> None:
    fronts, real = padded()
    rng = np.random.default_rng(1)
    roots = rng.standard_normal((2, 3, 4, 4)) * np.array([0.3, 0.1])[:, None, None, None]
    covariances = [root @ root.transpose(0, 2, 1) for root in roots]
    found = pesmo._blur(fronts, covariances, real)
    shares, extents = [], []
    for k in range(2):
        extents.append(np.median([max(f.values[:, k]) - min(f.values[:, k]) for f in fronts]))
        variances = [covariances[k][s, j, j] for s in range(3) for j in range(3) if real[s, j]]
        shares.append(math.sqrt(sum(variances) / len(variances)) / extents[k])
    np.testing.assert_allclose(found, [(0.3 * max(shares) * extent) ** 2 for extent in extents])
    one = [Front(f.points[:1], f.values[:1]) for f in fronts]  # no extent: its own scale
    assert np.all(np.isfinite(pesmo._blur(one, covariances, real)))


def test_the_best_of_an_objective_is_its_least_value() -> None:
    fronts, _ = padded()
    found = pesmo._best(fronts, np.inf, 3)
    for s, front in enumerate(fronts):
        for k in range(2):
            expected = [j == int(np.argmin(front.values[:, k])) for j in range(len(front.values))]
            assert found[s, k, : len(front.values)].tolist() == expected
            assert not found[s, k, len(front.values) :].any()


# ---------------------------------------------------------------- which data count
def plain_model() -> tuple[Model, np.ndarray, np.ndarray]:
    """A model of two objectives, data points of which few matter, and Pareto points, (S, M, d)."""
    evidence, measured = mixed_evidence()
    rng = np.random.default_rng(0)
    surrogates = []
    for objective, observed, d in zip(evidence.objectives, evidence.observations, (5, 3), strict=True):
        theta = np.concatenate([rng.uniform(0.5, 1.0, (5, d)), np.log([[0.7, 1e-4]] * 5)], axis=1)
        scaling = scaling_of(observed.values)
        surrogates.append(models.surrogate(SPACE, objective, observed, scaling, theta, rng, draws=2))
    model = Model(SPACE, tuple(surrogates), draws=2)
    data = units([p for points in measured.values() for p in points])
    rng = np.random.default_rng(1)
    pareto = np.stack([units(random_points(3, rng)) for _ in range(10)])
    return model, data, pareto


def relevant(model: Model, data: np.ndarray, pareto: np.ndarray, real: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    at_pareto = [project(s.posterior, x) for s, x in zip(model.surrogates, model.features(pareto), strict=True)]
    at_data = [project(distinct(s.posterior), x) for s, x in zip(model.surrogates, model.features(data), strict=True)]
    return pesmo._relevant_data(model, at_data, at_pareto, real)


def likely(model: Model, s: int, data: np.ndarray, pareto: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each data point, the largest bound on, and the largest share of joint draws of, its dominating one of the
    Pareto points (M, d)."""
    evidence, _ = mixed_evidence()
    points = [SPACE.from_unit(row) for row in np.concatenate([data, pareto])]
    rng, n = np.random.default_rng(0), len(data)
    bounds, below = np.ones((n, len(pareto))), np.ones((4000, n, len(pareto)), bool)
    for k in range(2):
        mean, cov = moments_by_hand(model, evidence, k, s, points)
        draws = rng.multivariate_normal(mean, cov, 4000, check_valid="ignore")
        below &= draws[:, :n, None] < draws[:, None, n:]
        sd = np.sqrt(np.maximum(np.diag(cov), 0.0))
        for i in range(n):
            for j in range(len(pareto)):
                t = max(0.0, mean[i] - mean[n + j]) / (sd[i] + sd[n + j])
                bounds[i, j] *= math.exp(-0.5 * t * t)
    return bounds.max(axis=1), below.mean(axis=0).max(axis=1)


def test_the_data_that_count_are_those_that_may_dominate_a_pareto_point() -> None:
    model, data, pareto = plain_model()
    draws = len(pareto)
    real = np.ones((draws, 3), bool)
    real[1, 2] = real[3, 1:] = False  # padding
    rows, present = relevant(model, data, pareto, real)
    dropped = 0
    for s in range(draws):
        kept = rows[s][present[s]]
        bound, share = likely(model, s, data, pareto[s][real[s]])
        assert set(np.flatnonzero(share > 0.015)) <= set(kept)  # whatever dominates with some probability is kept
        assert set(np.flatnonzero(bound > 0.0101)) <= set(kept)
        assert set(kept) <= set(np.flatnonzero(bound > 0.0099))
        assert np.all(np.diff(bound[kept]) <= 1e-12)  # the likeliest first
        dropped += len(data) - len(kept)
    assert dropped > draws  # and much of it does not count


def test_no_more_data_points_than_rows_are_kept_the_likeliest_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    model, data, pareto = plain_model()
    real = np.ones((len(pareto), 3), bool)
    monkeypatch.setattr(pesmo, "DATA_ROWS", 2)
    rows, present = relevant(model, data, pareto, real)
    assert rows.shape == present.shape == (len(pareto), 2)
    for s in range(0, len(pareto), 3):
        bound, _ = likely(model, s, data, pareto[s])
        kept = rows[s][present[s]]
        assert np.all(bound[kept] >= np.sort(bound)[-2] - 1e-9)


def test_padding_does_not_make_data_count() -> None:
    """The only real Pareto point is far better than any data point; the padding is far worse."""
    model, data, pareto = plain_model()
    means = model.means(data).sum(axis=2)
    worst = data[np.argmax(means, axis=1)]
    real = np.zeros((len(pareto), 3), bool)
    real[:, 0] = True
    other = pareto.copy()
    other[:, 1:] = worst[:, None, :]
    right = relevant(model, data, pareto, real)
    for found, expected in zip(relevant(model, data, other, real), right, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_of_much_data_only_that_of_the_best_ranks_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    model, data, _ = plain_model()
    assert pesmo._hopeful(model, data) is data
    monkeypatch.setattr(pesmo, "DATA_CHECKED", 5)
    kept = pesmo._hopeful(model, data)
    average = np.mean(model.evaluate_paths(data), axis=0)
    ranks = []
    for one in average:  # how long a chain of points, each dominating the next, ends here
        ranks.append(sum(bool(np.all(other <= one) and np.any(other < one)) for other in average))
    assert len(kept) == 5
    free = {tuple(row) for row, beaten in zip(data, ranks, strict=True) if beaten == 0}
    assert len(free) >= 5 or free <= {tuple(row) for row in kept}
    assert len(free) < 5 or {tuple(row) for row in kept} <= free
    assert as_numpy(kept) is kept
