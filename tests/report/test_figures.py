"""Every figure is made for one to five objectives, coupled or decoupled, with names that are data."""

import json
import sys
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

import pesmo
from pesmo.report import FIGURE_NAMES, save
from pesmo.report.data import Snapshot, near
from pesmo.report.figures import FIGURES
from pesmo.report.plots import PLOTS
from pesmo.report.style import CAPTIONS, number
from tests.report.studies import HOSTILE, coupled, decoupled


def test_report_matplotlib_and_captions_know_the_same_figures() -> None:
    assert tuple(FIGURES) == tuple(PLOTS) == FIGURE_NAMES == tuple(CAPTIONS)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_every_figure_for_k_objectives(k: int, tmp_path) -> None:
    snapshot = Snapshot(coupled(k))
    for name in FIGURE_NAMES:
        spec = FIGURES[name](snapshot)
        assert json.loads(json.dumps(spec, allow_nan=False)) == spec  # nothing but what JSON knows
        assert len(go.Figure(spec).data) == len(spec["data"]) > 0  # type: ignore[arg-type]  # every setting is one
    for name in FIGURE_NAMES if k == 2 else ["front"]:
        path = save(name, snapshot, tmp_path / "deep" / f"{name}.png")
        assert path.read_bytes().startswith(b"\x89PNG")


def test_decoupled_figures_count_each_experiment() -> None:
    study = decoupled()
    runs = {trace.name: trace.y[-1] for trace in list[Any](study.plot.evaluations().data) if trace.mode == "lines"}
    assert runs == {"price": 6, "brew": 6}
    finished = Snapshot(study).finished
    assert len(finished) == 12  # neither the running trial nor the added data
    layouts = [FIGURES[name](study)["layout"] for name in ("front", "pairs")]
    assert layouts[0]["xaxis"]["title"]["text"] == "cost in € (minimize)"
    assert layouts[1]["xaxis"]["type"] == "log"


def test_svg_and_pdf_and_an_ending_nobody_knows(tmp_path) -> None:
    snapshot = Snapshot(decoupled())
    assert save("progress", snapshot, tmp_path / "p.svg").read_text().lstrip().startswith("<?xml")
    assert save("progress", snapshot, tmp_path / "p.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(pesmo.PesmoError, match="its ending must be one of"):
        save("progress", snapshot, tmp_path / "p.docx")
    with pytest.raises(pesmo.PesmoError, match="no figure is called 'cake'"):
        save("cake", snapshot, tmp_path / "p.png")


def test_names_are_data_in_both(tmp_path) -> None:
    snapshot = Snapshot(coupled(2, names=[HOSTILE, "b $x$"]))
    for name in FIGURE_NAMES:
        assert "<script>" not in json.dumps(FIGURES[name](snapshot))
    for name in ("front", "sensitivity"):
        save(name, snapshot, tmp_path / f"{name}.svg")


def test_slices_along_one_input_through_a_point_of_ones_own() -> None:
    study = decoupled()
    figure: Any = study.plot.slices("x", at={"x": 0.25, "y": 0.75})
    assert figure.layout.xaxis3.title.text == "x"
    with pytest.raises(pesmo.SpaceError, match="no input is called 'z'"):
        study.plot.slices("z")


def test_the_sensitivity_finds_the_input_that_matters() -> None:
    found = Snapshot(decoupled(16)).sensitivity
    assert found.inputs == ["x", "y"]
    assert found.effect[1, 0] > 0.9
    assert np.isnan(found.effect[1, 1])  # declared not to depend on y
    assert np.isnan(found.relevance[1, 1])
    np.testing.assert_allclose(np.nansum(found.relevance, axis=1), 1.0)


def test_an_input_that_no_objective_depends_on_is_left_white() -> None:
    objectives = [pesmo.Objective("a", inputs=["x"]), pesmo.Objective("b", inputs=["x"])]
    study = pesmo.Study(pesmo.Space(x=pesmo.Float(0, 1), y=pesmo.Choice(1, True)), objectives, seed=0)
    for x in (0.1, 0.5, 0.9):
        study.add({"x": x, "y": True}, {"a": x, "b": 1 - x})
    assert np.all(np.isnan(Snapshot(study).sensitivity.effect[:, 1]))
    assert FIGURES["slices"](study)["layout"]["xaxis2"]["type"] == "category"


def test_progress_ends_at_todays_front_and_costs_what_was_spent() -> None:
    study = decoupled()
    progress = Snapshot(study).progress
    assert progress.predicted[-1] == pytest.approx(1.0, abs=0.1)
    assert progress.evaluations[-1] == 12
    assert progress.cost[-1] == pytest.approx(6 * 1 + 6 * 20)
    assert np.isnan(progress.predicted[0])
    both = Snapshot(coupled(2)).progress
    assert both.measured is not None
    assert np.all(np.diff(both.measured) >= 0)


def test_before_there_is_a_value_of_everything_the_error_says_so() -> None:
    study = pesmo.Study(pesmo.Space(x=pesmo.Float(0, 1)), ["a", "b"], seed=0)
    study.add({"x": 0.5}, {"a": 1.0})
    for name in ("front", "pairs", "progress", "sensitivity", "slices"):
        with pytest.raises(pesmo.TrialError, match="'b' has no value"):
            FIGURES[name](study)
    assert len(FIGURES["evaluations"](study)["data"]) == 2


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch, tmp_path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(pesmo.PesmoError, match="pip install 'pesmo"):
        save("evaluations", decoupled(), tmp_path / "front.png")


def test_without_plotly_the_error_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(pesmo.PesmoError, match="pip install 'pesmo"):
        decoupled().plot.evaluations()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (12, "12"),
        (18172.4, "18170"),
        (0.000123456, "0.0001235"),
        (1e-9, "1e-09"),
        (3.0, "3"),
        (True, "True"),
    ],
)
def test_numbers_for_people(value, text: str) -> None:
    assert number(value) == text


def test_an_axis_shows_the_front_and_what_is_near_it() -> None:
    objective = pesmo.Objective("a")
    mean, sd = np.array([1.0, 2.0]), np.array([0.0, 0.0])
    assert near(objective, mean, sd, np.array([100.0, -100.0])) == (0.5, 2.5)
    assert near(objective, mean, sd, mean) == pytest.approx((0.96, 2.04))
    low, high = near(pesmo.Objective("a", transform="log"), mean, np.array([5.0, 5.0]), mean)
    assert 0 < low < 1
    assert high > 2
