"""Tables and pictures show what is there, for one to five objectives; a missing matplotlib says what to do."""

import io
import sys

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table

import pesmo
from pesmo.report.style import number
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


def cells(table: Table) -> list[list[str]]:
    """The texts of a table, a list a row, its head first."""
    columns = [[str(cell) for cell in column.cells] for column in table.columns]
    return [[str(column.header) for column in table.columns], *map(list, zip(*columns, strict=True))]


def test_a_front_in_numbers() -> None:
    objectives = (pesmo.Objective("cost", unit="€"), pesmo.Objective("gain", "maximize"))
    inputs = tuple({"x": n / 8, "c": "up"} for n in range(7))
    rows = np.arange(7.0)
    found = pesmo.Front(
        objectives, inputs, np.stack([rows + 0.123456, 9 - rows], 1), np.stack([rows / 7, rows + 1], 1), rows / 10
    )
    assert cells(front_table(found)) == [
        ["x", "c", "cost in €", "gain", "P"],
        *[
            [f"{n / 8:g}", "up", f"{number(n + 0.123456, 3)} ±{number(n / 7, 1)}", f"{9 - n:g} ±{n + 1}", f"{10 * n}%"]
            for n in range(7)
        ],
    ]
    for most, shown in ((7, range(7)), (6, [0, 2, 4, 6]), (3, [0, 3, 6]), (2, [0, 4, 6]), (1, [0, 6])):
        assert [row[0] for row in cells(front_table(found, most))[1:]] == [f"{n / 8:g}" for n in shown]
    assert front_table(found).title == "Recommended trade-offs (7 points)"


def test_the_bill_counts_what_ended_and_no_more() -> None:
    experiments = [pesmo.Experiment("one", ["a"], cost=2.5), pesmo.Experiment("both", ["a", "b"], cost=10)]
    study = pesmo.Study(pesmo.Space(x=pesmo.Float(0, 1)), ["a", "b"], experiments, seed=0, method="sobol")
    for trial in study.ask(6):
        names = study.experiment(trial.experiment).reveals
        if trial.id in (2, 3):
            study.fail(trial, "no")
        elif trial.id == 4:
            study.release([trial])
        elif trial.id != 5:
            study.tell(trial, dict.fromkeys(names, 1.0), cost=3.25 if trial.id == 1 else None)
    study.add({"x": 0.5}, {"a": 1.0})
    expected = []
    for experiment in study.experiments:
        ended = [t for t in study.trials[:6] if t.experiment == experiment.name and t.state in ("complete", "failed")]
        failed = [t for t in ended if t.id in (2, 3)]
        cost = sum(3.25 if t.id == 1 else float(experiment.cost) for t in ended)  # type: ignore[arg-type]
        expected.append(
            [experiment.name, ", ".join(experiment.reveals), f"{len(ended)}", f"{len(failed)}", f"{cost:g}"]
        )
    head, *rows = cells(spending_table(study))
    assert head == ["experiment", "reveals", "runs", "failed", "cost"]
    assert rows == expected
    assert sum(int(row[2]) for row in rows) == 4


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(pesmo.PesmoError, match="pip install 'pesmo"):
        front(1).plot()
