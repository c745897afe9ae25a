"""Tables and pictures show what is there, for one to five objectives; a missing matplotlib says what to do."""

import io
import sys

import numpy as np
import pytest
from rich.console import Console

import pesmo
from pesmo.report.tables import front_table, spending_table


def front(k: int) -> pesmo.Front:
    rng = np.random.default_rng(k)
    names = [f"objective {i}" for i in range(k)]
    study = pesmo.Study(pesmo.Space(x=pesmo.Float(0, 1), n=pesmo.Int(1, 9), c=pesmo.Choice("a", "b")), names, seed=0)
    for _ in range(6):
        trial = study.ask()
        study.tell(trial, dict(zip(names, rng.standard_normal(k).tolist(), strict=True)))
    return study.recommend(size=12)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_a_front_is_drawn_with_a_label_for_every_objective(k: int, tmp_path) -> None:
    path = tmp_path / "folder" / "front.png"
    found = front(k)
    figure = found.plot(path)
    assert path.read_bytes().startswith(b"\x89PNG")
    axes = figure.axes[0]
    named = [a.label.get_text() for a in (axes.xaxis, axes.yaxis, getattr(axes, "zaxis", axes.xaxis))]
    shown = "|".join([*named, *[tick.get_text() for tick in axes.get_xticklabels()]]).replace("\n", " ")
    for objective in found.objectives:
        assert f"{objective.name} (minimize)" in shown


def test_tables_show_points_and_spending() -> None:
    found = front(2)
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(front_table(found, most=5))
    text = console.export_text()
    assert "objective 0" in text
    assert "±" in text
    study = pesmo.Study(pesmo.Space(x=pesmo.Float(0, 1)), ["a"], seed=0)
    study.fail(study.ask(), "no")
    console.print(spending_table(study))
    assert "evaluate" in console.export_text()


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(pesmo.PesmoError, match="pip install 'pesmo"):
        front(1).plot()
