"""report and plot: thin commands that write where they are told, or say why not."""

import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Pesmo


@pytest.fixture
def told(pesmo: Pesmo, study_file: Path) -> Pesmo:
    """A study with a few results."""
    rows = [f"{x},good,{x**2},{(x - 1) ** 2}" for x in (-1.0, -0.3, 0.2, 0.7, 1.1, 1.9)]
    Path("data.csv").write_text("\n".join(["x,kind,a,b", *rows]), encoding="utf-8")
    pesmo("import", "data.csv")
    return pesmo


def test_report_and_plots_are_written(told: Pesmo) -> None:
    assert told("report", "study.db", "-o", "out/report.html").stdout == "wrote out/report.html\n"
    assert Path("out/report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert told("plot", "study.toml", "front", "-o", "front.svg").stdout == "wrote front.svg\n"
    assert "<svg" in Path("front.svg").read_text(encoding="utf-8")
    told("plot", "evaluations", "-o", "out", "--format", "pdf")
    assert Path("out/evaluations.pdf").read_bytes().startswith(b"%PDF")


WRONG = [
    (["plot", "frnt"], "'frnt' is neither a study nor a figure; the figures are front, "),
    (["plot", "study.toml", "frnt"], "there is no figure 'frnt'; the figures are front, "),
    (["plot", "front", "-o", "front.gif"], "figures are written as png, svg, pdf; end the name with one of them"),
    (["plot", "front", "--format", "gif"], "--format must be one of png, svg, pdf, not 'gif'"),
    (["plot", "-o", "all.png"], "all.png is one file, but 6 figures are asked for; name a folder"),
    (["plot", "front", "-o", "study.toml/front.png"], "cannot write study.toml/front.png"),
    (["report", "-o", "study.toml/report.html"], "cannot write study.toml/report.html"),
]


def test_what_cannot_be_written_is_said(told: Pesmo) -> None:
    for words, message in WRONG:
        assert message in told(*words, code=2).stderr


def test_without_matplotlib_plot_says_what_to_install(told: Pesmo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert "pip install 'pesmo[plot]'" in told("plot", "front", code=2).stderr
    assert not Path("front.png").exists()


def test_status_of_a_study_that_was_not_run(told: Pesmo) -> None:
    status = json.loads(told("status", "--json").stdout)
    assert (status["complete"], status["added"], status["evaluations"], status["done"]) == (0, 6, 8, 0)
    assert "limit" in told("status").stdout
