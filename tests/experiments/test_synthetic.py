"""Draws from the prior, linear objectives, costs, and peers: what a run is made of, without running a method."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pesmo
from benchmarks import problems
from benchmarks.problems import half_linear_problem
from experiments import ablation, classic, methods, rivals, runs, synthetic
from experiments.results import Results
from experiments.runs import Run, perform
from experiments.sections import Output
from experiments.summary import Scores
from pesmo.methods import model


def test_half_of_the_objectives_are_linear() -> None:
    problem = half_linear_problem(0, 6, 4, 0.6)
    rng = np.random.default_rng(0)
    one, other = rng.random((2, 200, 6))
    bend = problem.evaluate((one + other) / 2) - (problem.evaluate(one) + problem.evaluate(other)) / 2
    size = np.ptp(problem.evaluate(one), axis=0)
    assert np.all(np.abs(bend[:, 2:]) < 2e-3 * size[2:])
    assert np.all(np.abs(bend[:, :2]).max(axis=0) > 0.05 * size[:2])


def test_a_front_found_once_is_kept_as_two_numbers(tmp_path: Path, monkeypatch: Any) -> None:
    problem = synthetic.SETTINGS["d3-K2-noiseless"].problem(77)
    entry = {"front": f"v{problems.CACHE_VERSION}-{problem.name}", "reference": [1.0, 2.0], "hypervolume": 3.0}
    (tmp_path / "fronts.jsonl").write_text(json.dumps(entry) + "\n")
    monkeypatch.setattr(problems, "FRONTS", tmp_path / "fronts.jsonl")
    assert problem.log_relative_hv_difference(np.array([[0.0, 0.5]])) == pytest.approx(np.log(0.5))


def test_costs_make_settings_of_their_own() -> None:
    run = synthetic.adapt(Run("synthetic", "d3-K2-noise", "pesmo-decoupled", 0, 60, 10, (("costs", "1:10"),)))
    assert run.setting == "d3-K2-noise-costs-1-10"
    assert run.task().costs == (1.0, 10.0)
    with pytest.raises(ValueError, match="--costs needs as many numbers"):
        synthetic.task(Run("synthetic", "d6-K4-noise-costs-1-10", "pesmo-decoupled", 0, 60, 10))


def test_costs_leave_coupled_runs_where_they_are_and_the_page_compares_both(tmp_path: Path) -> None:
    results = Results(tmp_path)
    for method, score in (("pesmo", -1.0), ("pesmo-decoupled", -1.5), ("qlognehvi", -0.7)):
        run = synthetic.adapt(Run("synthetic", "d3-K2-noiseless", method, 0, 40, 20, (("costs", "1:10"),)))
        assert run.setting == "d3-K2-noiseless" + ("-costs-1-10" if "decoupled" in method else "")
        for spent in (5, 20, 40):
            row = {"number": 0, "spent": spent, "f1": 1, "f2": 1, "gain": "", "seconds": 1.0}
            results.append(run, row | {"mark": spent, "score": score, "observed": score}, 1)
    text = synthetic.section(results, Output(tmp_path))
    assert "| pesmo | 1 of 20 | −1.00 | −1.00 |" in text.partition("costs-1-10")[2]
    assert "pesmo-decoupled less pesmo at 40 evaluations: −0.50" in text
    assert "| qlognehvi | 1 | −0.70 | −0.70 | 0.30 |" in rivals.section(results, Output(tmp_path))


def test_noise_is_the_same_for_every_method_and_none_is_in_the_truth() -> None:
    rows = [list(perform(Run("synthetic", "d3-K2-noise", m, 3, 5, 0), [])) for m in ("random", "pesmo-decoupled")]
    assert rows[0] == rows[1]
    problem = synthetic.SETTINGS["d3-K2-noise"].problem(3)
    noise = np.array([[r["f1"], r["f2"]] for r in rows[0]]) - problem.evaluate(problem.starts(5))
    assert 0.02 < noise.std() < 0.3


def test_a_method_that_finishes_keeps_its_score(monkeypatch: Any) -> None:
    @contextmanager
    def two_steps(method: str, task: Any, number: int) -> Iterator[Any]:
        def search(study: pesmo.Study) -> methods.Step:
            if len(study.trials) == 8:
                raise pesmo.Finished("all is classified")
            return methods.ask_study(study)

        yield search

    monkeypatch.setattr(runs, "searching", two_steps)
    run = Run("classic", "branin-currin", "random", 0, 20, 5)
    rows = list(perform(run, []))
    assert [row["spent"] for row in rows[6:]] == [7.0, 8.0, 10.0, 15.0, 20.0]
    assert [row["mark"] for row in rows[8:]] == [10, 15, 20]
    assert len({row["score"] for row in rows[8:]}) == 1
    assert {(row["x1"], row["f1"]) for row in rows[8:]} == {("", "")}
    assert runs.finished(run, rows)
    assert list(perform(replace(run, evaluations=25), rows))[-1]["mark"] == 25


class FakePeer:
    """Answers as benchmarks/peers/serve.py does: always the second objective, at the middle."""

    asked: tuple[dict[str, Any], ...] = ()

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> "FakePeer":
        return self

    def __exit__(self, *_: object) -> None: ...

    def suggest(self, x: np.ndarray, y: np.ndarray, **more: Any) -> dict[str, Any]:
        FakePeer.asked += ({"x": x, "y": y, **more},)
        return {"x": [0.5] * x.shape[1], "objective": 1, "cpu_seconds": 2.5}


def test_a_peer_sees_the_data_and_may_choose_the_objective(monkeypatch: Any) -> None:
    monkeypatch.setattr(methods, "Peer", FakePeer)
    monkeypatch.setattr(FakePeer, "asked", ())
    run = rivals.adapt(Run("rivals", "d3-K2-noiseless", "hvkg", 2, 6, 0, (("costs", "1:3"),)))
    assert (run.experiment, run.setting) == ("synthetic", "d3-K2-noiseless-costs-1-3")
    rows = list(perform(run, []))
    assert [row["spent"] for row in rows[5:]] == [5.75, 6.5]
    assert all(row["f1"] == "" and row["f2"] != "" and row["seconds"] == 2.5 for row in rows[5:])
    last = FakePeer.asked[-1]
    assert (last["run"], last["starts"], last["costs"]) == (2, 5, (1.0, 3.0))
    assert np.isnan(last["y"][5]).tolist() == [True, False]


def test_a_peer_that_finds_too_few_pareto_points_is_asked_for_fewer(monkeypatch: Any) -> None:
    class Poor(FakePeer):
        def suggest(self, x: np.ndarray, y: np.ndarray, **more: Any) -> dict[str, Any]:
            reply = super().suggest(x, y, **more) | {"objective": None}
            if more["pareto_points"] > 2:
                return {"error": "RuntimeError: Only found 3 optimal points instead of 5.", "cpu_seconds": 2.5}
            return reply

    monkeypatch.setattr(methods, "Peer", Poor)
    rows = list(perform(rivals.adapt(Run("rivals", "d3-K2-noiseless", "jes", 0, 6, 0, (("costs", ""),))), []))
    assert rows[-1]["seconds"] == 7.5  # what it took in all: for 10, 5 and 2 points


@pytest.mark.parametrize(("error", "tries"), [("RuntimeError: nan", 4), ("Timeout: no answer in 9 s", 1)])
def test_a_peer_that_raises_is_asked_again_from_another_seed(monkeypatch: Any, error: str, tries: int) -> None:
    class Raising(FakePeer):
        def suggest(self, x: np.ndarray, y: np.ndarray, **more: Any) -> dict[str, Any]:
            super().suggest(x, y, **more)
            return {"error": error}

    monkeypatch.setattr(methods, "Peer", Raising)
    monkeypatch.setattr(FakePeer, "asked", ())
    run = rivals.adapt(Run("rivals", "d3-K2-noiseless", "qlognehvi", 0, 6, 0, (("costs", ""),)))
    with pytest.raises(RuntimeError, match="qlognehvi at evaluation 6"):
        list(perform(run, []))
    assert len({asked["seed"] for asked in FakePeer.asked}) == len(FakePeer.asked) == tries


def test_the_page_names_runs_of_peers_that_did_not_reach_the_end(tmp_path: Path) -> None:
    results = Results(tmp_path)
    for number, last in ((0, 8), (1, 6)):
        run = Run("synthetic", "d3-K2-noiseless", "jes", number, 8, 0)
        for spent in range(1, last + 1):
            results.append(run, {"number": number, "spent": float(spent)}, 1)
    text = rivals._ended_early(results, "synthetic", "d3-K2-noiseless")
    assert text.endswith("go on: jes on problem 1 after 6 evaluations.")


def test_ours_stand_beside_peers_on_the_problems_that_peers_have() -> None:
    runs = {
        "pesmo": {n: {40: float(n)} for n in range(9)},
        "jes": {1: {40: 0.0}, 3: {40: 0.0}},
        "random": {8: {40: 1.0}},
    }
    assert rivals._common(runs) == {"pesmo": {1: {40: 1.0}, 3: {40: 3.0}}, "jes": runs["jes"]}


def test_a_peer_run_on_more_problems_than_most_is_compared_on_all_of_them() -> None:
    runs = {
        "pesmo": {n: {20: 0.0, 40: float(n)} for n in range(9)},
        **{peer: {n: {20: 0.0, 40: 1.0} for n in range(2)} for peer in ("jes", "qlognparego")},
        "optuna_gp": {n: {20: 0.0, 40: 2.0} for n in range(5)},
    }
    table = rivals._common(runs)
    assert {method: len(found) for method, found in table.items()} == dict.fromkeys(runs, 2)
    lines = rivals._beyond(["pesmo"], runs, table, (20, 40)).splitlines()[2:]
    assert lines == ["- pesmo less optuna_gp at 40 evaluations: 0.00 ± 0.71 over 5 problems (negative is better)"]


def test_problems_that_nothing_was_chosen_on_are_shown_apart() -> None:
    runs = {"pesmo": {n: {40: -2.0, 60: -3.0} for n in range(44)}, "sur": {n: {40: -1.0, 60: -1.0} for n in range(43)}}
    runs["parego"] = {n: {40: 0.0, 60: 0.0} for n in range(40)}
    text = synthetic._unseen(runs, (20, 40, 60), 40)
    assert "pesmo less sur at 60 evaluations: −2.00 ± 0.00 over 3 problems" in text
    assert "parego" not in text
    assert synthetic._unseen(runs, (20, 40, 60), None) == ""


@pytest.mark.parametrize("setting", rivals.SETTINGS)
def test_scores_are_taken_where_the_page_shows_them(setting: str) -> None:
    experiment = "classic" if setting in classic.SETTINGS else "synthetic"
    own = classic if experiment == "classic" else synthetic
    for mark in rivals.marks(experiment, setting):
        assert mark % own.EVERY == 0
        assert mark % rivals.EVERY == 0


def test_a_variant_changes_its_constants_only_while_it_runs() -> None:
    name = "pesmo+draws-24"
    with methods.varied(name):
        assert model.SAMPLES == 24
    with methods.varied("pesmo"):
        assert model.SAMPLES == 10
    run = ablation.adapt(Run("ablation", "d3-K2-noiseless", name, 0, 6, 0))
    assert (run.experiment, methods.own_name(name)) == ("synthetic", "pesmo")
    assert len(list(perform(run, []))) == 6
    for variant in methods.VARIANTS.values():
        for module, constant in variant.constants:
            assert hasattr(import_module(module), constant)


@pytest.mark.parametrize("name", ablation.SETTINGS)
def test_known_length_scales_are_those_the_problems_are_drawn_with(name: str) -> None:
    setting = synthetic.SETTINGS[name]
    rng = np.random.default_rng(0)
    x, y = rng.random((12, setting.dim)), rng.standard_normal(12)
    with methods.varied("pesmo+scales"):
        theta = model.sample_hyperparameters(x, y, np.arange(setting.dim), setting.dim, None, None, rng)
    assert np.allclose(np.exp(theta[:, : setting.dim]), setting.length_scale)
    assert np.all(np.ptp(theta[:, setting.dim :], axis=0) > 0.0)  # amplitude and noise are still learned


def test_a_variant_is_compared_with_plain_pesmo_on_the_same_problems(tmp_path: Path) -> None:
    results = Results(tmp_path)
    for number, (plain, varied) in enumerate([(-1.0, -1.5), (-2.0, -2.1)]):
        for method, score in (("pesmo+paper", plain), ("pesmo+draws-24", varied)):
            run = Run("synthetic", "d3-K2-noiseless", method, number, 60, 20)
            for mark in (20, 40, 60):
                results.append(run, {"number": number, "spent": mark, "mark": mark, "score": score, "observed": 0}, 1)
    text = ablation.section(results, Output(tmp_path))
    assert "Beside the paper's own" not in text
    assert "| pesmo+draws-24 | 24 hyperparameter samples and draws, not 10 | 2 | −0.30 ± 0.20 |" in text


def test_pesmo_is_set_beside_the_papers_on_the_first_problems_on_all_and_on_the_fresh_ones() -> None:
    def flat(score: float) -> Scores:
        return {n: {20: 0.0, 40: score if n < 50 else score - 1.0, 60: 0.0} for n in range(60)}

    parts = "\n".join(ablation._beside_the_papers({"pesmo": flat(-2.0), "pesmo+letter": flat(-1.5)}, 50))
    first, everything = parts.split("On all:")
    assert "| pesmo | 10 | **0.00 ± 0.00** | **−2.00 ± 0.00** |" in first
    assert "| pesmo+letter | 60 | **0.00 ± 0.00** | −1.67 ± 0.05 |" in everything
    assert "pesmo less pesmo+letter at 40 evaluations: −0.50 ± 0.00 over 60 problems" in everything
    assert "pesmo less pesmo+letter at 40 evaluations: −0.50 ± 0.00 over 10 problems" in everything
    assert ablation._beside_the_papers({"pesmo": flat(-2.0)}, 50) == []
