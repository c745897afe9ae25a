"""Where a study stands, as numbers and as a picture for a terminal: alone (`pesmo status`) or live (live.py).

No model is asked here: what was measured is counted.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from pesmo.cli.measured import measured
from pesmo.front import Front
from pesmo.printable import excerpt, printable
from pesmo.problem import Trial
from pesmo.study import Study


@dataclass(frozen=True)
class Limit:
    """When a study is done: a number of evaluations or a budget of cost; neither where none was given yet."""

    evaluations: int | None = None
    budget: float | None = None

    @property
    def total(self) -> float | None:
        return self.evaluations if self.evaluations is not None else self.budget

    def done(self, trials: list[Trial]) -> float:
        """How much of it is used up; data that was added costs nothing."""
        ended = [t for t in trials if t.state in ("complete", "failed") and t.note != "added"]
        return sum(t.cost for t in ended) if self.budget is not None else len(ended)


def kept_limit(study: Study) -> Limit:
    """The limit that `pesmo run` kept with the study."""
    kept = study.settings
    return Limit(kept.get("evaluations"), kept.get("budget"))


@dataclass(frozen=True)
class Spent:
    """One experiment's share."""

    experiment: str
    reveals: tuple[str, ...]
    complete: int
    running: int
    failed: int
    cost: float


@dataclass(frozen=True)
class Summary:
    """Where a study stands.

    points                where every objective was measured
    measured_front        how many of these no other one dominates
    measured_hypervolume  what they cover of the box between the best and the worst measured values (transformed); None
                          while the box has no volume, with more than 6 objectives, or with more than 4 and 200 points
    front, hypervolume    likewise of the points that a model recommended, where one was asked
    """

    name: str
    method: str
    complete: int
    running: int
    failed: int
    abandoned: int
    added: int
    cost: float
    evaluations: int | None
    budget: float | None
    done: float
    points: int
    measured_front: int
    measured_hypervolume: float | None
    experiments: tuple[Spent, ...]
    last_failure: str | None
    front: int | None = None
    hypervolume: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """For other programs; about the recommendation only where there is one."""
        known = asdict(self)
        return known if self.front is not None else {k: known[k] for k in known if k not in ("front", "hypervolume")}


def summarize(study: Study, limit: Limit, front: Front | None = None) -> Summary:
    """Of a recommendation too, where one was made."""
    trials = study.trials
    found = measured(study, trials)
    best = found.front
    asked = [t for t in trials if t.note != "added"]
    states = {state: sum(t.state == state for t in asked) for state in ("complete", "running", "failed", "abandoned")}
    failures = [t for t in asked if t.state == "failed"]
    return Summary(
        name=study.name,
        method=study.method,
        **states,
        added=len(trials) - len(asked),
        cost=sum(t.cost for t in asked if t.state in ("complete", "failed")),
        evaluations=limit.evaluations,
        budget=limit.budget,
        done=limit.done(trials),
        points=len(found.points),
        measured_front=len(best),
        measured_hypervolume=found.covered(best) if len(best) else None,
        experiments=tuple(_spent(e.name, tuple(e.reveals), asked) for e in study.experiments),
        last_failure=f"trial {failures[-1].id}: {failures[-1].message}" if failures else None,
        front=None if front is None else len(front),
        hypervolume=None if front is None else found.covered(_on_the_scale_of_the_model(front)),
    )


def _on_the_scale_of_the_model(front: Front) -> np.ndarray:
    return np.stack([o.to_model(front.means[:, k]) for k, o in enumerate(front.objectives)], axis=-1)


def _spent(name: str, reveals: tuple[str, ...], asked: list[Trial]) -> Spent:
    mine = [t for t in asked if t.experiment == name]
    counts = [sum(t.state == state for t in mine) for state in ("complete", "running", "failed")]
    return Spent(name, reveals, *counts, cost=sum(t.cost for t in mine if t.state in ("complete", "failed")))


def has_front(study: Study) -> bool:
    """True where every objective has a value."""
    measured = {name for t in study.trials for name in t.values}
    return all(o.name in measured for o in study.objectives)


# ------------------------------------------------------------------------------------------------------------ picture


def picture(summary: Summary, left: float | None = None, last: str = "") -> RenderableType:
    """The summary for a terminal; names and messages are data, so they are Text and never markup."""
    s = summary
    head = Text.assemble((printable(s.name), "bold"), f"  method {s.method}")
    counts = [f"{s.complete} complete", f"{s.running} running", f"{s.failed} failed"]
    counts += [f"{s.abandoned} abandoned"] if s.abandoned else []
    counts += [f"{s.added} added"] if s.added else []
    parts: list[RenderableType] = [head, Text(f"trials    {', '.join(counts)}; cost {s.cost:g}"), _bar(s, left)]
    if s.points == 0:
        parts.append(Text("measured  none yet: no point has a value of every objective"))
    else:
        of = f"{s.measured_front} of {s.points} point{'' if s.points == 1 else 's'}"
        parts.append(Text(f"measured  {of} non-dominated{_covered(s.measured_hypervolume)}"))
    if s.front is not None:
        parts.append(Text(f"front     {s.front} point{'' if s.front == 1 else 's'}{_covered(s.hypervolume)}"))
    parts.append(_table(s))
    if s.last_failure:
        parts.append(Text(f"last failure: {excerpt(s.last_failure)}", style="red"))
    if last:
        parts.append(Text(printable(last)))
    return Group(*parts)


def _covered(share: float | None) -> str:
    return "" if share is None else f"; hypervolume {share:.3f} of the measured range"


def _bar(s: Summary, left: float | None) -> RenderableType:
    total = s.evaluations if s.evaluations is not None else s.budget
    if total is None:
        return Text("limit     none given")
    row = Table.grid(padding=(0, 1))
    said = f"{s.done:g} of {total:g} {'evaluations' if s.evaluations is not None else 'cost'}"
    remaining = "" if left is None or s.done >= total else f"about {duration(left)} left"
    row.add_row(Text("limit    "), ProgressBar(total, min(s.done, total), width=30), Text(f"{said}  {remaining}"))
    return row


def _table(s: Summary) -> Table:
    table = Table(box=SIMPLE_HEAD, header_style="bold", padding=(0, 2, 0, 0), pad_edge=False)
    for column in ("experiment", "reveals", "complete", "running", "failed", "cost"):
        table.add_column(column, justify="left" if column in ("experiment", "reveals") else "right")
    for e in s.experiments:
        table.add_row(
            Text(printable(e.experiment)),
            Text(printable(", ".join(e.reveals))),
            str(e.complete),
            str(e.running),
            str(e.failed),
            f"{e.cost:g}",
        )
    return table


def duration(seconds: float) -> str:
    """Two units at most: 45 s, 12 min, 3 h 20 min, 2 d 4 h."""
    if seconds < 90:
        return f"{math.ceil(seconds)} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"


def outcome_line(trial: Trial) -> str:
    """What became of a trial, in one line."""
    values = ", ".join(f"{name} = {value:.4g}" for name, value in trial.values.items())
    message = " ".join((trial.message or "").split())
    return printable(f"trial {trial.id} {trial.experiment}: {values or f'{trial.state}: {message[:100]}'}")
