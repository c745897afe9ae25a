"""The curve of progress, against a direct computation: one GP, one Pareto set and one volume for each time."""

import math

import numpy as np
import pytest

import pesmo
from pesmo.methods.design import candidates
from pesmo.report import progress
from pesmo.report.data import Snapshot
from tests.report.direct import DirectGP, features, front_rows, matern, on_scale, volume

FILL = 24


def told(trial, count: int, finished: list) -> bool:
    """Whether a trial's values were there after so many evaluations."""
    return trial.note == "added" or trial in finished[:count]


def earlier_mean(gp: DirectGP, trials: list, point: dict) -> float:
    """The standardized mean at a point given some trials only, with the hyperparameters of now, averaged."""
    rows = [t for t in trials if gp.objective.name in t.values]
    scales = np.exp(np.mean([np.log(s) for s, _, _ in gp.samples], axis=0))
    amplitude = math.exp(np.mean([math.log(a) for _, a, _ in gp.samples]))
    noise = np.mean([n for _, _, n in gp.samples])
    x = [features(gp.space, gp.objective, t.inputs) for t in rows]
    y = [(on_scale(gp.objective, t.values[gp.objective.name]) - gp.centre) / gp.size for t in rows]
    gram = np.array([[matern(a, b, scales, amplitude) for b in x] for a in x]) + noise * np.eye(len(x))
    here = features(gp.space, gp.objective, point)
    return float(np.array([matern(here, there, scales, amplitude) for there in x]) @ np.linalg.solve(gram, y))


def reference_of(values: list[list[float]]) -> list[float]:
    """A tenth of the front's range beyond its worst."""
    front = [values[i] for i in front_rows(values)]
    return [max(c) + 0.1 * (max(c) - min(c)) for c in zip(*front, strict=True)]


def coupled_and_apart() -> pesmo.Study:
    """Two objectives, mostly measured together, twice apart; one to maximize."""
    space = pesmo.Space(x=pesmo.Float(0, 1), n=pesmo.Int(1, 4))
    objectives = [pesmo.Objective("a", transform="log"), pesmo.Objective("b", "maximize")]
    experiments = [pesmo.Experiment("both", ["a", "b"], cost=3), pesmo.Experiment("one", ["a"], cost=1)]
    study = pesmo.Study(space, objectives, experiments, method="sobol", seed=5)
    study.add({"x": 0.2, "n": 1}, {"a": 3.0, "b": 0.5})
    waiting = study.ask(9)
    for trial in [waiting[1], waiting[0], *waiting[2:8]]:  # the second comes first
        x, n = trial.inputs["x"], trial.inputs["n"]
        if trial.id == 5:
            study.fail(trial, "no")
            continue
        values = {"a": math.exp(3 * x + 0.3 * n), "b": math.sin(5 * x) + 0.2 * n}
        study.tell(trial, {name: values[name] for name in study.experiment(trial.experiment).reveals})
    return study


def test_hypervolume_over_evaluations_and_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "FILL", FILL)
    study = coupled_and_apart()
    s = Snapshot(study)
    found = s.progress
    gps = [DirectGP(study, k) for k in range(2)]
    fill = candidates(study.space, FILL, np.random.default_rng(study.seed))
    points = [*s.front.inputs, *s.tried.inputs, *(study.space.from_unit(u) for u in fill)]
    now = [[gp.moments(p)[0] for gp in gps] for p in points]
    reference = reference_of(now)
    whole = volume([now[i] for i in front_rows(now)], reference)

    finished = s.finished
    assert [t.id for t in finished] == [3, 2, 4, 5, 6, 7, 8, 9]
    assert found.evaluations.tolist() == list(range(1, 9))
    assert found.cost.tolist() == pytest.approx(np.cumsum([t.cost for t in finished]).tolist())
    both = []
    for i, count in enumerate(range(1, 9)):
        trials = [t for t in study.trials if told(t, count, finished)]
        if any(sum(o.name in t.values for t in trials) < 5 for o in study.objectives):
            assert np.isnan(found.predicted[i])
        else:
            then = [[earlier_mean(gp, trials, p) for gp in gps] for p in points]
            share = volume([now[j] for j in front_rows(then)], reference) / whole
            assert found.predicted[i] == pytest.approx(share, rel=1e-5)
        together = [t for t in trials if len(t.values) == 2]
        scaled = [
            [(on_scale(g.objective, t.values[g.objective.name]) - g.centre) / g.size for g in gps] for t in together
        ]
        both.append(volume(scaled, reference) / whole)
    assert found.measured is not None
    np.testing.assert_allclose(found.measured, both, rtol=1e-9)
    assert np.sum(np.isnan(found.predicted)) in range(1, 7)
    assert 0.0 < both[0] < both[-1]


def test_progress_of_points_measured_in_everything_needs_two_of_them() -> None:
    study = coupled_and_apart()
    apart = pesmo.Study(
        study.space, study.objectives, [pesmo.Experiment("a", ["a"]), pesmo.Experiment("b", ["b"])], seed=0
    )
    for x in (0.1, 0.4, 0.6, 0.9):
        apart.add({"x": x, "n": 2}, {"a": 1.0 + x})
        apart.add({"x": x, "n": 2}, {"b": x})
    apart.add({"x": 0.2, "n": 1}, {"a": 1.0, "b": 2.0})
    assert Snapshot(apart).progress.measured is None
    apart.add({"x": 0.3, "n": 1}, {"a": 1.5, "b": 2.5})
    found = Snapshot(apart).progress
    assert found.evaluations.tolist() == [0]  # nothing was run, all of it was added
    assert found.cost.tolist() == [0.0]
    assert found.measured is not None
    assert found.measured.shape == (1,)
    assert found.predicted[0] == pytest.approx(1.0, abs=0.2)


def test_a_long_curve_has_as_many_points_as_can_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "FILL", FILL)
    monkeypatch.setattr(progress, "TIMES", 3)
    found = Snapshot(coupled_and_apart()).progress
    assert found.evaluations.tolist() == [1, 4, 8]
    assert found.cost.size == found.predicted.size == 3


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_volume_is_that_of_the_boxes_within_the_reference(k: int) -> None:
    rng = np.random.default_rng(k)
    values = rng.uniform(0.0, 1.2, (12, k))
    values[0] = 1.5
    found = progress._volume(values, np.ones(k))
    assert found == pytest.approx(volume(values.tolist(), [1.0] * k))
    assert progress._volume(values + 2.0, np.ones(k)) == 0.0
    assert progress._volume(np.ones((1, k)), np.ones(k)) == 0.0


@pytest.mark.parametrize(("k", "most"), [(2, 100), (5, 100), (6, 50), (8, 50), (9, 20)])
def test_a_front_that_would_cost_too_much_is_thinned(k: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []
    monkeypatch.setattr(progress, "hypervolume", lambda front, _: counted.append(front.shape[0]) or 0.0)
    directions = np.abs(np.random.default_rng(0).standard_normal((300, k)))
    progress._volume(1.0 - directions / np.linalg.norm(directions, axis=1, keepdims=True), np.ones(k))
    assert counted == [most]


def test_the_reference_lies_a_tenth_beyond_the_front() -> None:
    values = np.array([[0.0, 2.0], [1.0, 1.0], [4.0, 0.5], [9.0, 9.0]])
    np.testing.assert_allclose(progress._reference(values), [4.4, 2.15])
    np.testing.assert_allclose(progress._reference(np.array([[1.0, 1.0], [3.0, 5.0]])), [3.0, 5.0])  # one point alone
