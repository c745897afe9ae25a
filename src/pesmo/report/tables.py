"""The front and the bill, as tables for a terminal."""

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from pesmo.front import Front
from pesmo.printable import printable
from pesmo.report.style import number, with_unit

if TYPE_CHECKING:
    from pesmo.study import Study


def front_table(front: Front, most: int = 15) -> Table:
    """The recommended points, evenly thinned to `most` rows."""
    names = [objective.name for objective in front.objectives]
    caption = "mean ±sd as the model predicts them; P: probability that no known point is better in everything"
    caption += f"; {front.note}" if front.note else ""
    title = f"Recommended trade-offs ({len(front)} points)"
    table = Table(
        title=title, caption=Text(caption), header_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False
    )
    for name in front.inputs[0]:
        table.add_column(Text(printable(name)), justify="right", no_wrap=True)  # Text: names are data, never markup
    for objective in front.objectives:
        table.add_column(Text(printable(with_unit(objective))), justify="right", style="cyan", no_wrap=True)
    table.add_column("P", justify="right", no_wrap=True)
    rows = front.to_dicts()
    step = max(1, -(-len(rows) // most))
    for row in [*rows[::step], *([rows[-1]] if (len(rows) - 1) % step else [])]:
        values = [f"{number(row['objectives'][n], 3)} ±{number(row['sd'][n], 1)}" for n in names]
        table.add_row(
            *[Text(printable(number(v, 3))) for v in row["inputs"].values()], *values, f"{row['probability']:.0%}"
        )
    return table


def spending_table(study: "Study") -> Table:
    """Where the budget went: runs and cost per experiment."""
    table = Table(title="Where the budget went", header_style="bold", box=SIMPLE_HEAD)
    for column in ("experiment", "reveals", "runs", "failed", "cost"):
        table.add_column(column, justify="left" if column in ("experiment", "reveals") else "right")
    for experiment in study.experiments:
        asked = [t for t in study.trials if t.experiment == experiment.name and t.note != "added"]
        trials = [t for t in asked if t.state in ("complete", "failed")]  # an abandoned one was run again
        failed = len([t for t in trials if t.state == "failed"])
        cost = sum(t.cost for t in trials)
        names = Text(printable(experiment.name)), Text(printable(", ".join(experiment.reveals)))
        table.add_row(*names, str(len(trials)), str(failed), f"{cost:g}")
    return table
