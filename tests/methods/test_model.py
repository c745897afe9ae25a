"""The models against plain formulas on mixed and declared inputs: features, noise, fantasies, slopes, chains."""

import math

import numpy as np
import pytest

from pesmo.gp.scaling import Scaling, scaling_of
from pesmo.methods import model as room
from pesmo.methods.model import Model, feature_columns, fit, fit_one, sample_hyperparameters, surrogate
from pesmo.problem import Evidence, Experiment, Objective, Observations
from pesmo.space import Float, Space
from tests.methods.cases import (
    SPACE,
    features_by_hand,
    mixed_evidence,
    moments_by_hand,
    random_points,
    units,
)


def mixed_model(pending: int = 0, draws: int = 1) -> tuple[Model, Evidence]:
    evidence, _ = mixed_evidence(pending=pending)
    return fit(evidence, None, np.random.default_rng(0), draws), evidence


def test_features_are_those_written_down_by_hand() -> None:
    points = random_points(20, np.random.default_rng(0))
    model, evidence = mixed_model()
    for objective, found in zip(evidence.objectives, model.features(units(points)), strict=True):
        inputs = None if objective.inputs is None else tuple(objective.inputs)
        np.testing.assert_allclose(found, [features_by_hand(p, inputs) for p in points], atol=1e-12)


def test_the_columns_of_an_objective_are_those_of_its_inputs() -> None:
    columns, owners, d = feature_columns(SPACE, Objective("a"))
    assert (columns.tolist(), owners.tolist(), d) == (list(range(8)), [0, 1, 2, 2, 2, 3, 3, 4], 5)
    columns, owners, d = feature_columns(SPACE, Objective("b", inputs=["y", "c", "d"]))
    assert (columns.tolist(), owners.tolist(), d) == ([2, 3, 4, 5, 6, 7], [0, 0, 0, 1, 1, 2], 3)


@pytest.mark.parametrize("k", [0, 1])
def test_moments_are_the_textbooks_on_features_by_hand(k: int) -> None:
    model, evidence = mixed_model(draws=2)
    at = random_points(6, np.random.default_rng(1))
    mean, sd = model.moments(units(at))
    means = model.means(units(at))
    assert model.surrogates[k].theta.shape == (20, (7, 5)[k])
    for s in range(20):
        right, covariance = moments_by_hand(model, evidence, k, s, at)
        np.testing.assert_allclose(mean[s, :, k], right, atol=1e-6)
        np.testing.assert_allclose(means[s, :, k], right, atol=1e-6)
        np.testing.assert_allclose(sd[s, :, k] ** 2, np.diag(covariance), atol=1e-6)


@pytest.mark.parametrize("which", ["means", "paths"])
def test_gradients_are_slopes_along_floats_and_nothing_along_the_others(which: str) -> None:
    model, _ = mixed_model(draws=2)
    unit = np.stack([units(random_points(3, np.random.default_rng(s))) for s in range(20)])
    function, slopes, step, off = {
        "means": (model.means, model.mean_slopes, 1e-5, 1e-5),
        "paths": (model.evaluate_paths, model.path_slopes, 2e-3, 5e-3),  # float32 has no finer differences
    }[which]
    gradient = slopes(unit)
    assert gradient.shape == (20, 3, 2, 5)
    assert np.all(gradient[..., 1:4] == 0.0)
    for i in (0, 4):
        shift = step * np.eye(5)[i]
        difference = (function(unit + shift) - function(unit - shift)) / (2 * step)
        np.testing.assert_allclose(gradient[..., i], difference, atol=off * np.abs(gradient).max())


# ---------------------------------------------------------------- noise and scaling
@pytest.mark.parametrize(("size", "noise"), [(1.0, 0.3), (250.0, 20.0), (1e-3, 2e-4)])
def test_a_known_noise_is_in_the_objectives_own_units(size: float, noise: float) -> None:
    space = Space(x=Float(0, 1))
    rng = np.random.default_rng(0)
    unit = rng.uniform(size=(8, 1))
    values = 5.0 * size + size * np.sin(6.0 * unit[:, 0])
    one = fit_one(space, Objective("a", noise=noise), Observations(unit, values, unit[:0]), None, rng)
    np.testing.assert_allclose(np.sqrt(one.data.noise) * values.std(), noise)
    np.testing.assert_allclose(np.exp(one.theta[:, -1]), (noise / values.std()) ** 2)
    assert one.scaling == scaling_of(values)


def test_limits_are_standardized_and_those_far_away_are_none() -> None:
    space = Space(x=Float(0, 1))
    unit = np.linspace(0, 1, 6)[:, None]
    values = np.array([1.0, 4.0, 2.0, 8.0, 5.0, 7.0])
    limits = {"near": 3.0, "none": None, "beyond": 1e9, "below": -1e12}
    evidence = Evidence(
        space,
        tuple(Objective(name, worst=worst) for name, worst in limits.items()),
        (Experiment("all", list(limits)),),
        tuple(Observations(unit, values, unit[:0]) for _ in limits),
        (unit,),
    )
    found = fit(evidence, None, np.random.default_rng(0)).worst
    np.testing.assert_allclose(found, [(3.0 - values.mean()) / values.std(), np.inf, np.inf, -1e6])


# ---------------------------------------------------------------- pending points
def test_pending_points_count_as_measured_where_each_path_goes_through() -> None:
    model, evidence = mixed_model(pending=2, draws=2)
    coming = evidence.observations[0].pending
    paths = model.evaluate_paths(coming)  # (S, p, K)
    at = random_points(4, np.random.default_rng(1))
    mean, sd = model.moments(units(at))
    only = model.without_pending()
    plain_mean, plain_sd = only.moments(units(at))
    for k, surrogate_k in enumerate(model.surrogates):
        observed = evidence.observations[k]
        y = surrogate_k.scaling.standardize(observed.values)
        for s in range(20):
            right, covariance = moments_by_hand(model, evidence, k, s, at)
            np.testing.assert_allclose(plain_mean[s, :, k], right, atol=1e-6)
            np.testing.assert_allclose(plain_sd[s, :, k] ** 2, np.diag(covariance), atol=1e-6)
            together = Observations(
                np.concatenate([observed.unit, coming]), np.concatenate([y, paths[s, :, k]]), coming[:0]
            )
            alone = surrogate(
                SPACE,
                evidence.objectives[k],
                together,
                Scaling(0.0, 1.0),
                surrogate_k.theta[s : s + 1],
                np.random.default_rng(0),
            )
            right, variance = (part[0] for part in Model(SPACE, (alone,)).moments(units(at)))
            np.testing.assert_allclose(mean[s, :, k], right[:, 0], atol=1e-6)
            np.testing.assert_allclose(sd[s, :, k], variance[:, 0], atol=1e-6)
    assert np.all(sd <= plain_sd + 1e-9)
    assert np.max(plain_sd - sd) > 1e-3


def test_the_paths_of_a_model_go_near_its_data() -> None:
    model, evidence = mixed_model(draws=2)
    for k, one in enumerate(model.surrogates):
        observed = evidence.observations[k]
        off = model.evaluate_paths(observed.unit)[..., k] - one.scaling.standardize(observed.values)
        sd = np.sqrt(np.exp(one.theta[:, -1]))[:, None]
        assert np.sqrt(np.mean((off / np.maximum(sd, 0.01)) ** 2)) < 2.0


# ---------------------------------------------------------------- chains
def recorded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int, int]]:
    """(chains, observations, moves) of each sampling that is asked for."""
    seen: list[tuple[int, int, int]] = []

    def sampling(theta, distances, y, prior, moves, rng):
        assert distances.shape[1] == y.shape[-1] ** 2
        assert y.ndim == 1 or y.shape[0] == theta.shape[0]
        seen.append((theta.shape[0], y.shape[-1], moves))
        return theta + 0.25

    monkeypatch.setattr(room, "slice_sample", sampling)
    return seen


@pytest.mark.parametrize(
    ("rows", "warm", "expected"),
    [
        (30, False, [(10, 30, 20), (10, 30, 20)]),
        (60, False, [(10, 60, 20), (10, 60, 20)]),
        (100, False, [(10, 60, 20), (10, 60, 20), (10, 100, 2)]),
        (5, True, [(10, 5, 8)]),
        (50, True, [(10, 50, 4)]),
        (100, True, [(10, 100, 2)]),
        (500, True, [(4, 500, 1)]),
        (3000, True, [(1, 3000, 1)]),
    ],
)
def test_how_many_chains_make_how_many_moves(
    rows: int, warm: bool, expected: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = recorded(monkeypatch)
    monkeypatch.setattr(room, "pairwise", lambda x, owners, d: np.zeros((d, len(x) ** 2)))
    rng = np.random.default_rng(0)
    x, y = rng.uniform(size=(rows, 2)), rng.standard_normal((10, rows))
    previous = np.zeros((10, 4)) if warm else None
    theta = sample_hyperparameters(x, y, np.arange(2), 2, None, previous, rng)
    assert seen == expected
    if warm:  # those that moved, and only those
        moved = np.flatnonzero(np.any(theta != np.clip(0.0, None, math.log(2.0)), axis=1))
        assert len(moved) == expected[0][0]


def test_chains_go_on_from_the_last_ones_within_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = recorded(monkeypatch)
    rng = np.random.default_rng(0)
    x, y = rng.uniform(size=(6, 1)), rng.standard_normal(6)
    previous = np.tile([50.0, 0.5, -3.0], (10, 1))
    theta = sample_hyperparameters(x, y, np.zeros(1, int), 1, None, previous, rng)
    np.testing.assert_allclose(theta, np.tile([math.log(1e3), 0.5, -3.0], (10, 1)) + 0.25)
    assert seen == [(10, 6, 8)]


def test_a_fit_goes_on_from_the_state_of_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    model, evidence = mixed_model(draws=2)
    assert [theta.shape for theta in model.state["theta"]] == [(10, 7), (10, 5)]
    recorded(monkeypatch)
    later = fit(evidence, model.state, np.random.default_rng(1), draws=2)
    for old, new in zip(model.state["theta"], later.state["theta"], strict=True):
        np.testing.assert_allclose(new, old + 0.25)
    for one in later.surrogates:
        np.testing.assert_array_equal(one.theta[:10], one.theta[10:])
