"""One run: a method on a problem, evaluation by evaluation, from wherever it stopped."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

import pesmo
from experiments.methods import new_study, searching, varied
from experiments.task import Task

Row = dict[str, Any]
TINY = 1e-9  # spent is a sum of fractions


@dataclass(frozen=True)
class Run:
    """Method `method` on problem `number` of a setting.

    experiment   the module of this folder that makes the task
    evaluations  coupled ones, the starts among them: where the run ends
    every        coupled evaluations between scores; 0: none is taken
    options      of the experiment, as given on the command line
    """

    experiment: str
    setting: str
    method: str
    number: int
    evaluations: int
    every: int
    options: tuple[tuple[str, str], ...] = ()

    @property
    def label(self) -> str:
        return f"{self.experiment} {self.setting} {self.method} {self.number}"

    def task(self) -> Task:
        return import_module(f"experiments.{self.experiment}").task(self)


def finished(run: Run, stored: list[Row]) -> bool:
    """Whether the stored rows reach the end of the run."""
    return bool(stored) and float(stored[-1]["spent"]) >= run.evaluations - TINY


def perform(run: Run, stored: list[Row]) -> Iterator[Row]:
    """The rows that follow the stored ones, each as soon as it is known.

    A resumed run has the stored data and goes on from it; the hyperparameters' chains start afresh.
    """
    task = run.task()
    study = new_study(task, run.method, run.number)
    spent = 0.0
    for row in stored:
        spent = float(row["spent"])
        if any(row[name] != "" for name in task.names):
            study.add(_inputs(task, row), {name: float(row[name]) for name in task.names if row[name] != ""})
    for number, inputs in enumerate(task.starts[len(stored) :], start=len(stored)):
        values = task.measure(inputs, task.names, _noise(run, number))
        study.add(inputs, values)
        spent += 1.0
        row = _row(run, task, number, spent, inputs, values)
        if run.every and number == len(task.starts) - 1:
            row |= {"mark": number + 1, **task.score(study)}
        yield row
    number = max(len(stored), len(task.starts))
    with varied(run.method), searching(run.method, task, run.number) as search:
        while spent < run.evaluations - TINY:
            try:
                step = search(study)
            except pesmo.Finished:  # PAL knows when it is done; what it recommends then stands
                yield from _afterwards(run, task, study, number, spent)
                return
            values = task.measure(step.inputs, step.reveals, _noise(run, number))
            if step.trial is None:
                study.add(step.inputs, values)
            else:
                study.tell(step.trial, values)
            before = spent
            spent += sum(task.costs[task.names.index(name)] for name in step.reveals) / sum(task.costs)
            row = _row(run, task, number, spent, step.inputs, values)
            row |= {"gain": "" if step.gain is None else step.gain, "seconds": step.seconds}
            yield row | _scores(run, task, study, before, spent)
            number += 1


def _afterwards(run: Run, task: Task, study: pesmo.Study, number: int, spent: float) -> Iterator[Row]:
    """Rows without a point, one for each mark to come, of a method that asks no more: the score stays what it is."""
    scores = task.score(study) if run.every else {}
    step = run.every or run.evaluations
    for mark in range(step, run.evaluations + 1, step):
        if mark > spent + TINY:
            row = _row(run, task, number - 1, float(mark), dict.fromkeys(task.space.names, ""), {})
            yield row | ({"mark": mark, **scores} if run.every else {})


def _inputs(task: Task, row: Row) -> dict[str, Any]:
    """The point of a stored row: text becomes what the input takes."""
    kinds = {pesmo.Float: float, pesmo.Int: int}
    return {name: kinds.get(type(spec), str)(row[name]) for name, spec in task.space.inputs.items()}


def _noise(run: Run, number: int) -> np.random.Generator:
    """The randomness of measurement `number`: the same for every method, and for a run that was resumed."""
    return np.random.default_rng([run.number, number, 7])


def _row(run: Run, task: Task, number: int, spent: float, inputs: Row, values: dict[str, float]) -> Row:
    return {
        "number": run.number,
        "evaluation": number + 1,
        "spent": round(spent, 9),
        **{name: inputs[name] for name in task.space.names},
        **{name: values.get(name, "") for name in task.names},
        "gain": "",
        "seconds": 0.0,
        "mark": "",
        "score": "",
        "observed": "",
        **dict.fromkeys(task.extra, ""),
    }


def _scores(run: Run, task: Task, study: pesmo.Study, before: float, spent: float) -> Row:
    """The scores, where a multiple of `every` was passed."""
    if not run.every:
        return {}
    mark = run.every * math.floor((spent + TINY) / run.every)
    if mark <= before + TINY:
        return {}
    return {"mark": mark, **task.score(study)}
