"""What the live view shows, on a terminal and elsewhere; names and messages are shown as they are."""

import io
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import pesmo
from pesmo.cli.live import LiveView
from pesmo.cli.view import Limit, duration, outcome_line, picture, summarize
from pesmo.report.tables import front_table, spending_table


@pytest.fixture
def study(tmp_path: Path) -> pesmo.Study:
    """Decoupled, two results and a failure; its names look like markup."""
    made = pesmo.Study(
        pesmo.Space(x=pesmo.Float(0, 1)),
        ["a", "b"],
        [pesmo.Experiment("[red]", ["a"], 2), pesmo.Experiment("cheap", ["b"], 1)],
        method="random",
        seed=0,
        storage=tmp_path / "study.db",
        name="[/bold]",
    )
    for trial in made.ask(3):
        if trial.id == 3:
            made.fail(trial, "[blue]it broke\nbadly")
        else:
            made.tell(trial, dict.fromkeys(made.experiment(trial.experiment).reveals, 0.5))
    return made


def shown(renderable) -> str:
    console = Console(file=io.StringIO(), width=120, record=True)
    console.print(renderable)
    return console.export_text()


def test_a_summary_counts_and_its_picture_shows_it(study: pesmo.Study) -> None:
    summary = summarize(study, Limit(budget=10.0), None)
    assert (summary.complete, summary.failed, summary.running) == (2, 1, 0)
    assert summary.cost == summary.done == sum(t.cost for t in study.trials)
    assert sum(e.complete + e.failed for e in summary.experiments) == 3
    text = shown(picture(summary, left=75.0, last="trial 3"))
    for part in (
        "[/bold]",
        "[red]",
        "[blue]it broke",
        "2 complete, 0 running, 1 failed",
        "of 10 cost",
        "about 75 s left",
    ):
        assert part in text
    assert "none yet" in text
    assert "none given" in shown(picture(summarize(study, Limit(), None)))


def test_tables_show_names_and_values_as_they_are(study: pesmo.Study) -> None:
    objective = pesmo.Objective("[/a]", unit="[/kg]")
    values = np.array([[0.5]])
    front = pesmo.Front((objective,), ({"[/x]": "[/red]"},), values, values, np.array([1.0]))
    text = shown(front_table(front))
    for part in ("[/a]", "[/kg]", "[/x]", "[/red]"):
        assert part in text
    study.ask()  # still running: not spent yet
    bill = shown(spending_table(study))
    assert "[red]" in bill
    runs = [int(line.split()[2]) for line in bill.splitlines() if line.strip().startswith(("[red]", "cheap"))]
    assert sum(runs) == 3


@pytest.mark.parametrize("terminal", [True, False])
def test_the_live_view_shows_what_happens_meanwhile(terminal: bool, study: pesmo.Study) -> None:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=120)
    with LiveView(study, Limit(evaluations=4), console):
        trial = study.ask()
        study.tell(trial, dict.fromkeys(study.experiment(trial.experiment).reveals, 0.25))
    text = console.file.getvalue()  # pyright: ignore[reportAttributeAccessIssue]
    assert "trial 4 " in text
    assert "trial 3 " not in text.replace("last failure: trial 3", "")
    assert ("4 of 4 evaluations" in text) if terminal else text.startswith("4/4  trial 4 ")


def test_outcomes_and_durations_in_words(study: pesmo.Study) -> None:
    assert outcome_line(study.trials[2]).endswith(": failed: [blue]it broke badly")
    assert " = 0.5" in outcome_line(study.trials[0])
    assert [duration(s) for s in (0.2, 45, 700, 12000, 200_000)] == ["1 s", "45 s", "12 min", "3 h 20 min", "2 d 7 h"]
