"""CPU seconds a suggestion takes each method (the paper's table): d = 3, K = 2, noiseless; nothing is scored."""

from __future__ import annotations

from experiments import synthetic
from experiments.results import Results
from experiments.runs import Run
from experiments.sections import Output
from experiments.summary import NONE, finished_at, mean, table
from experiments.task import Task

TITLE = "Seconds a suggestion"
SETTINGS = ("d3-K2-noiseless",)
NUMBERS, EVALUATIONS, EVERY = 2, 60, 0
PAPER = {
    "pesmo": "33 ± 1.0", "pesmo-decoupled": "52 ± 2.5", "parego": "11 ± 0.2", "smsego": "16 ± 1.3", "ehi": "405 ± 115",
    "sur": "623 ± 59",
}  # fmt: skip


def methods(setting: str) -> tuple[str, ...]:
    return tuple(method for method in synthetic.methods(setting) if method != "random")


def task(run: Run) -> Task:
    return synthetic.task(run)


def section(results: Results, output: Output) -> str:
    """Our row and the paper's."""
    names = methods(SETTINGS[0])
    cells = []
    for method in names:
        runs = results.read("times", SETTINGS[0], method).values()
        rows = [row for run in runs if finished_at(run, EVALUATIONS) for row in run[synthetic.STARTS :]]
        # a decoupled run's suggestions reveal one objective each: seconds are per suggestion, as in the paper
        cells.append(mean([float(row["seconds"]) for row in rows]))
    ours = [f"{cell.text()} ({cell.n})" if cell.n else NONE for cell in cells]
    return "\n\n".join(
        [
            "CPU seconds of one suggestion, one thread, mean ± standard error (of how many, in brackets), over "
            f"whole runs of {EVALUATIONS} evaluations at d = 3, K = 2; the paper's are from its own machine.",
            table(["", *names], [["ours", *ours], ["paper", *[PAPER[name] for name in names]]]),
        ]
    )
