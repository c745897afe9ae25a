"""Six test problems (DTLZ2 with two objectives and with three): every method, 50 evaluations, the starts included."""

from __future__ import annotations

from benchmarks.classic import CLASSIC
from experiments.methods import OURS
from experiments.runs import Run
from experiments.task import Task, unit_task

SETTINGS = tuple(CLASSIC)

NUMBERS, EVALUATIONS, EVERY = 5, 50, 10


def task(run: Run) -> Task:
    """The problem, from the Latin hypercube of this repetition."""
    problem = CLASSIC[run.setting]
    return unit_task(problem, problem.starts(seed=run.number))


def methods(setting: str) -> tuple[str, ...]:
    return OURS
