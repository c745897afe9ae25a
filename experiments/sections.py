"""What the sections of the page share: a table of scores at marks, and the curves behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.figures import Curve
from experiments.results import Results
from experiments.runs import Row
from experiments.summary import MINUS, Scores, at, best_bold, complete, mean, paired, scores, table

LABEL = "log relative hypervolume difference"
FLOOR = "A difference under one in ten thousand counts as that, so that no score is below -9.21.".replace("-", MINUS)


@dataclass(frozen=True)
class Output:
    """Where the page goes: its figures lie in a folder beside it."""

    docs: Path

    def figure(self, name: str) -> Path:
        return self.docs / "experiments" / f"{name}.png"

    def shown(self, name: str, title: str) -> str:
        return f"![{title}](experiments/{name}.png)"


def completed(
    results: Results, experiment: str, setting: str, methods: Sequence[str], last: int, column: str = "score"
) -> dict[str, Scores]:
    """By method, the runs that reached the mark `last`; methods without any are left out."""
    found = {m: complete(scores(results, experiment, setting, m, column), last) for m in methods}
    return {method: runs for method, runs in found.items() if runs}


def marks_table(runs: dict[str, Scores], marks: Sequence[int], planned: int) -> str:
    """A row per method: how many runs are complete, and mean ± standard error at each mark."""
    columns = [best_bold([mean(list(at(found, mark).values())) for found in runs.values()]) for mark in marks]
    rows = [
        [
            method,
            f"{len(found)} of {planned}" if len(found) < planned else str(len(found)),
            *[column[i] for column in columns],
        ]
        for i, (method, found) in enumerate(runs.items())
    ]
    return table(["method", "runs", *[f"{mark} evaluations" for mark in marks]], rows)


def end_table(runs: dict[str, dict[str, Scores]], methods: Sequence[str], mark: int) -> str:
    """A row per method, a column per setting: mean ± standard error at a mark, and how many runs."""
    columns = []
    for found in runs.values():
        means = [mean(list(at(found.get(method, {}), mark).values())) for method in methods]
        columns.append([f"{t} ({m.n})" if m.n else t for t, m in zip(best_bold(means), means, strict=True)])
    return table(["method", *runs], [[m, *[column[i] for column in columns]] for i, m in enumerate(methods)])


def incomplete(results: Results, experiment: str, setting: str, methods: Sequence[str], last: int, planned: int) -> str:
    """Plain words for what is missing: methods with fewer complete runs than planned; empty when nothing is."""
    counts = {m: len(complete(scores(results, experiment, setting, m), last)) for m in methods}
    short = [f"{method} {count}" for method, count in counts.items() if count < planned]
    if not any(counts.values()):
        return f"No run has a score at {last} evaluations yet."
    return f"Not complete: of {planned} runs, {', '.join(short)} reached {last} evaluations." if short else ""


def curves(runs: dict[str, Scores]) -> dict[str, Curve]:
    """By method, the mean at every mark."""
    return {
        method: [
            (float(mark), mean(list(at(found, mark).values())))
            for mark in sorted({mark for marks in found.values() for mark in marks})
        ]
        for method, found in runs.items()
    }


def counted(runs: Sequence[Sequence[Row]], names: Sequence[str], starts: int) -> dict[str, Curve]:
    """By objective, how often decoupled runs measured it, after the starts, against their trials; means over runs."""
    shortest = min(len(rows) for rows in runs) - starts
    trials = sorted({*range(0, shortest + 1, max(1, shortest // 20)), shortest})
    return {
        name: [
            (float(n), mean([sum(r[name] != "" for r in rows[starts : starts + n]) for rows in runs])) for n in trials
        ]
        for name in names
    }


def shares(counts: dict[str, Curve]) -> str:
    """The ends of those curves, in words."""
    words = ", ".join(f"{name} {curve[-1][1].text(1)}" for name, curve in counts.items())
    trials = next(iter(counts.values()))[-1][0]
    return f"Measured by pesmo-decoupled in its {trials:.0f} trials after the starts: {words}."


def standing(runs: dict[str, Scores], method: str, mark: int) -> str:
    """How a method stands at a mark among coupled ones: the best, or how far from it, over the problems both have."""
    means = {name: mean(list(at(found, mark).values())) for name, found in runs.items()}
    best = min(means, key=lambda name: means[name].value)
    if best == method:
        return f"at {mark} evaluations no coupled method is ahead of {method}"
    gap = paired(at(runs[method], mark), at(runs[best], mark))
    within, own = gap.value <= gap.error, means[best].error
    text = f"at {mark} evaluations {method} is {gap.text()} behind {best}, problem by problem: "
    text += f"{'within' if within else 'more than'} one standard error of the best"
    return (
        text if within else f"{text} by the differences ({gap.value:.3f}, {gap.error:.3f}); the best's own is {own:.2f}"
    )


def difference(runs: dict[str, Scores], one: str, other: str, mark: int) -> str:
    """Method `one` less method `other`, over the problems both have; negative: `one` is better."""
    gap = paired(at(runs[one], mark), at(runs[other], mark))
    return f"{one} less {other} at {mark} evaluations: {gap.text()} over {gap.n} problems (negative is better)"
