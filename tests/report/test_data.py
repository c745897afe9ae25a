"""The numbers of the figures, against a direct computation: direct.py."""

import math

import numpy as np
import pytest
from scipy.stats import qmc

import pesmo
from pesmo import Choice, Front, Objective
from pesmo.report import data
from pesmo.report.data import Snapshot, near, parallel_axes
from tests.report.direct import DirectGP, on_scale

POINTS = [
    {"x": -1.0, "rate": 1e-3, "n": 1, "c": "tin"},
    {"x": 0.7, "rate": 0.05, "n": 3, "c": "gold"},
    {"x": 2.9, "rate": 0.9, "n": 5, "c": "iron"},
]


@pytest.fixture(scope="module")
def gps(lab) -> list[DirectGP]:
    return [DirectGP(lab, k) for k in range(len(lab.objectives))]


def test_predictions_are_the_mixtures_mean_and_interval_in_own_units(lab, snapshot, gps) -> None:
    points = [*POINTS, lab.trials[0].inputs]
    found = snapshot.predict(snapshot.units(points))
    for n, point in enumerate(points):
        for k, gp in enumerate(gps):
            mean, low, high = gp.predicted(point)
            assert found.mean[n, k] == pytest.approx(mean, rel=1e-6)
            assert found.low[n, k] == pytest.approx(low, rel=1e-6)
            assert found.high[n, k] == pytest.approx(high, rel=1e-6)
            assert low < mean < high
    spread = [np.ptp([mean for mean, _ in gp.by_sample(POINTS[2])]) for gp in gps]
    assert max(spread) > 0.5  # the samples disagree: an interval without their spread would be another


def test_a_known_noise_is_in_the_units_after_the_transform() -> None:
    space = pesmo.Space(x=pesmo.Float(0, 1))
    values = [0.2, 0.9, 0.4, 0.7, 0.55]
    for transform in (None, "log", "logit"):
        objective = Objective("a", transform=transform, noise=0.3)
        study = pesmo.Study(space, [objective], seed=0)
        for n, value in enumerate(values):
            study.add({"x": n / 4}, {"a": value})
        moved = np.array([on_scale(objective, v) for v in values])
        assert moved.std() != pytest.approx(np.std(values)) or transform is None
        noise = np.exp(study.fitted().surrogates[0].theta[:, -1])
        np.testing.assert_allclose(noise, (0.3 / moved.std()) ** 2)


def test_what_was_tried_is_measured_where_it_was_and_predicted_elsewhere(lab, snapshot, gps) -> None:
    points = []
    for trial in lab.trials:
        if trial.values and trial.inputs not in points:
            points.append(trial.inputs)
    tried = snapshot.tried
    assert tried.inputs == points
    for n, point in enumerate(points):
        for k, objective in enumerate(lab.objectives):
            told = [t.values[objective.name] for t in lab.trials if t.inputs == point and objective.name in t.values]
            assert tried.measured[n, k] == bool(told)
            expected = sum(told) / len(told) if told else gps[k].predicted(point)[0]
            assert tried.values[n, k] == pytest.approx(expected, rel=1e-6)
    repeated = points.index(lab.trials[0].inputs)
    assert tried.values[repeated, 0] == pytest.approx((lab.trials[0].values["cost"] + 11.0 + 13.0) / 3)
    assert np.all(tried.measured[repeated])


def test_finished_is_what_ended_in_the_order_of_the_results() -> None:
    study = pesmo.Study(pesmo.Space(x=pesmo.Float(0, 1)), ["a"], seed=0)
    trials = study.ask(4)
    study.tell(trials[2], {"a": 1.0})
    study.add({"x": 0.5}, {"a": 2.0})
    study.fail(trials[0], "no")
    study.tell(trials[1], {"a": 3.0})
    study.release([trials[3]])
    assert [t.id for t in Snapshot(study).finished] == [3, 1, 2]


def test_the_compromise_is_nearest_to_the_best_of_every_objective(snapshot) -> None:
    front = snapshot.front
    columns = []
    for k, objective in enumerate(front.objectives):
        moved = [on_scale(objective, v) for v in front.means[:, k].tolist()]
        columns.append([(v - min(moved)) / (max(moved) - min(moved)) for v in moved])
    distance = [math.hypot(*row) for row in zip(*columns, strict=True)]
    assert snapshot.compromise == front.inputs[distance.index(min(distance))]
    assert distance.index(min(distance)) != 0


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch, lab) -> Snapshot:
    """Averages over 8 points and 5 values an input: enough to tell one formula from another."""
    monkeypatch.setattr(data, "BACKGROUND", 8)
    monkeypatch.setattr(data, "STEPS", 5)
    monkeypatch.setattr(data, "SLICE", 7)
    return Snapshot(lab)


def background(study: pesmo.Study, count: int) -> list[dict]:
    return [study.space.from_unit(u) for u in qmc.Sobol(study.space.dim, rng=study.seed).random(count)]


GRIDS = {"x": [-1, 0, 1, 2, 3], "rate": [10**e for e in (-3, -2.25, -1.5, -0.75, 0)], "n": [1, 2, 3, 4, 5]}


def test_the_effect_is_the_variance_of_the_partial_dependence(lab, few, gps) -> None:
    found = few.sensitivity
    assert found.inputs == ["x", "rate", "n", "c"]
    assert found.effect.shape == found.relevance.shape == (3, 4)
    points = background(lab, 32)
    for k, gp in enumerate(gps):
        total = np.var([gp.moments(p)[0] for p in points])
        for i, name in enumerate(found.inputs):
            if gp.objective.inputs is not None and name not in gp.objective.inputs:
                assert np.isnan(found.effect[k, i])
                continue
            values = GRIDS.get(name, ["tin", "iron", "gold"])
            along = [np.mean([gp.moments({**p, name: value})[0] for p in points[:8]]) for value in values]
            assert found.effect[k, i] == pytest.approx(min(1.0, np.var(along) / total), rel=1e-6)
    assert np.unique(np.round(found.effect[~np.isnan(found.effect)], 9)).size == 10  # no two alike: no order is hidden


def test_the_relevance_is_the_mean_inverse_length_scale(lab, few) -> None:
    for k, objective in enumerate(lab.objectives):
        names = [n for n in lab.space.names if objective.inputs is None or n in objective.inputs]
        theta = lab.fitted().surrogates[k].theta
        inverse = {n: np.mean([1.0 / math.exp(row[i]) for row in theta]) for i, n in enumerate(names)}
        for i, name in enumerate(lab.space.names):
            if name in names:
                assert few.sensitivity.relevance[k, i] == pytest.approx(inverse[name] / sum(inverse.values()))
            else:
                assert np.isnan(few.sensitivity.relevance[k, i])


AT = {"x": 0.25, "rate": 0.02, "n": 4, "c": "iron"}


@pytest.mark.parametrize("name", ["x", "rate", "n", "c"])
def test_a_slice_changes_its_own_input_and_nothing_else(lab, few, gps, name: str) -> None:
    point, (cut,) = few.slices(name, AT)
    assert point == AT
    assert (cut.name, cut.words, cut.log) == (name, name == "c", name == "rate")
    assert cut.values[cut.nearest] == AT[name]
    if name == "n":
        assert cut.values == [1, 2, 3, 4, 5]
    elif name == "c":
        assert cut.values == ["tin", "iron", "gold"]
    else:
        assert len(cut.values) == 7 + 1  # the point's own value is one more
        assert cut.values == sorted(cut.values)
        spec = lab.space.inputs[name]
        assert (cut.values[0], cut.values[-1]) == (spec.low, spec.high)
        others = [v for v in cut.values if v != AT[name]]
        steps = np.diff(np.log(others) if name == "rate" else others)
        np.testing.assert_allclose(steps, steps[0], rtol=1e-6)
    points = [{**AT, name: value} for value in cut.values]
    alpha = lab.acquisition(points)
    for k, gp in enumerate(gps):
        for n, there in enumerate(points):
            assert (cut.prediction.mean[n, k], cut.prediction.low[n, k], cut.prediction.high[n, k]) == pytest.approx(
                gp.predicted(there), rel=1e-6
            )
            averaged = np.mean([gp.moments({**p, name: there[name]})[0] for p in background(lab, 8)])
            assert cut.average[n, k] == pytest.approx(gp.restored(float(averaged)), rel=1e-6)
        np.testing.assert_allclose(cut.alpha[:, k], alpha[gp.objective.name], rtol=1e-9)


def test_slices_go_along_the_inputs_that_matter_most_in_the_order_of_the_space(few, monkeypatch) -> None:
    s = few.sensitivity
    matters = {n: max(np.nan_to_num(s.effect[:, i] + s.relevance[:, i])) for i, n in enumerate(s.inputs)}
    best = sorted(matters, key=lambda n: -matters[n])[:2]
    monkeypatch.setattr(data, "MOST_SLICED", 2)
    point, cuts = few.slices()
    assert [c.name for c in cuts] == [n for n in s.inputs if n in best]
    assert point == few.compromise
    for cut in cuts:  # all in one call: each has its own rows
        assert len(cut.values) == cut.alpha.shape[0] == cut.prediction.mean.shape[0]
        (alone,) = few.slices(cut.name)[1]
        np.testing.assert_allclose(cut.prediction.mean, alone.prediction.mean)
        assert cut.values[cut.nearest] == point[cut.name]


def test_parallel_axes_have_the_better_end_at_zero_whatever_the_goal() -> None:
    objectives = (Objective("a"), Objective("b", "maximize"), Objective("c"), Objective("d", "maximize"))
    means = np.array([[1.0, 10.0, 7.0, 0.1], [2.0, 20.0, 7.0, 0.4], [5.0, 50.0, 7.0, 0.2]])
    sds = np.array([[0.4, 4.0, 0.5, 0.03]] * 3)
    front = Front(objectives, ({},) * 3, means, sds, np.ones(3))
    scaled, bars, ends = parallel_axes(front)
    np.testing.assert_allclose(scaled[:, 0], [0.0, 0.25, 1.0])
    np.testing.assert_allclose(scaled[:, 1], [1.0, 0.75, 0.0])
    np.testing.assert_allclose(scaled[:, 2], [0.0, 0.0, 0.0])  # all alike
    np.testing.assert_allclose(scaled[:, 3], [1.0, 0.0, 2 / 3])
    np.testing.assert_allclose(bars, [[0.1, 0.1, 0.5, 0.1]] * 3)
    assert ends == [("1", "5"), ("50", "10"), ("7", "7"), ("0.4", "0.1")]
    np.testing.assert_allclose(front.means, means)  # the front itself is as it was


@pytest.mark.parametrize("log", [False, True])
def test_an_axis_reaches_half_the_fronts_width_beyond_its_bars_where_something_was_tried(log: bool) -> None:
    objective = Objective("a", transform="log" if log else None)

    def scale(value: float) -> float:
        return math.log10(value) if log else value

    def ends(mean: list[float], sd: list[float], tried: list[float]) -> tuple[float, float]:
        low, high = near(objective, np.array(mean), np.array(sd), np.array(tried))
        return scale(low), scale(high)

    first, last = scale(10.0 - 2.0), scale(100.0 + 20.0)
    width = last - first
    assert ends([10.0, 100.0], [2.0, 20.0], [1e-9, 1e9] if log else [-1e3, 1e3]) == pytest.approx(
        (first - 0.5 * width, last + 0.5 * width)
    )
    some = scale(9.0), scale(130.0)
    assert ends([10.0, 100.0], [2.0, 20.0], [9.0, 130.0]) == pytest.approx(
        (min(some[0], first) - 0.04 * width, some[1] + 0.04 * width)
    )
    alone = ends([4.0], [0.0], [4.0])  # no width at all: its own magnitude
    assert alone == pytest.approx((scale(4.0) - 0.04 * scale(4.0), scale(4.0) + 0.04 * scale(4.0)))
    zero = ends([1.0] if log else [0.0], [0.0], [1.0] if log else [0.0])
    assert zero == pytest.approx((-0.04, 0.04))


def test_a_long_bar_on_a_logarithmic_axis_ends_above_zero() -> None:
    low, high = near(Objective("a", transform="log"), np.array([10.0]), np.array([9.0]), np.array([10.0]))
    width = math.log10(19.0) - math.log10(3.0)
    assert math.log10(low) == pytest.approx(math.log10(3.0) - 0.04 * width)
    assert math.log10(high) == pytest.approx(math.log10(19.0) + 0.04 * width)


def test_a_grid_of_many_integers_is_thinned_and_keeps_its_ends() -> None:
    grid = data._grid(pesmo.Int(10, 1000), 11)
    assert (grid[0], grid[-1], len(grid)) == (10, 1000, 11)
    assert data._grid(pesmo.Int(10, 20), 11) == list(range(10, 21))
    assert data._grid(pesmo.Int(1, 4, log=True), 3) == sorted(set(data._grid(pesmo.Int(1, 4, log=True), 3)))
    assert data._grid(Choice(3, 1, 2), 2) == [3, 1, 2]
    assert data._with([1, 3], 2) == [1, 2, 3]
    assert data._with([1, 3], 3) == [1, 3]
