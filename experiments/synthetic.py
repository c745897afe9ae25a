"""Objectives drawn from the GP prior (the paper's figure of hypervolumes), and two hard ones beside two linear ones.

A run starts from 5 random points. One evaluation of a decoupled run counts 1/K of a coupled one, or, with
`--costs 1:10`, its share of what a coupled one costs; such settings get names of their own. Coupled runs are the same
whatever the costs: their rows stay with the plain setting.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.problems import Problem, gp_prior_problem, half_linear_problem
from experiments.figures import draw_curves
from experiments.methods import home, is_decoupled
from experiments.results import Results
from experiments.runs import Run
from experiments.sections import (
    FLOOR,
    LABEL,
    Output,
    completed,
    counted,
    curves,
    difference,
    incomplete,
    marks_table,
    shares,
    standing,
)
from experiments.summary import Scores, finished_at
from experiments.task import Task, unit_task

TITLE = "Synthetic objectives"
STARTS = 5
MARKS = (20, 40, 60)
CHOSEN_ON = {"d3-K2-noiseless": 40}  # the first so many problems were looked at while PESMO was changed
COST_MARKS = (20, 40)  # with costs 1:10, a decoupled run makes over a hundred trials for 40 coupled evaluations
NUMBERS, EVALUATIONS, EVERY = 20, 60, 10
OPTIONS: dict[str, dict[str, Any]] = {
    "costs": {"default": "", "metavar": "1:10", "help": "of the objectives, in turn; default: all the same"}
}


@dataclass(frozen=True)
class Setting:
    """d inputs, K objectives, the prior's length-scale, the standard deviation of the noise."""

    dim: int
    objectives: int
    length_scale: float
    noise: float
    half_linear: bool = False

    def problem(self, number: int) -> Problem:
        make = half_linear_problem if self.half_linear else gp_prior_problem
        return make(number, self.dim, self.objectives, self.length_scale)


SETTINGS = {
    "d3-K2-noiseless": Setting(3, 2, 0.3, 0.0),
    "d3-K2-noise": Setting(3, 2, 0.3, 0.1),
    "d6-K4-noiseless": Setting(6, 4, 0.6, 0.0),
    "d6-K4-noise": Setting(6, 4, 0.6, 0.1),
    "half-linear": Setting(6, 4, 0.6, 0.0, half_linear=True),
}


def methods(setting: str) -> tuple[str, ...]:
    """The paper's. EHI and SUR are for two objectives there; where they are linear, only PESMO's choices matter."""
    if setting == "half-linear":
        return ("pesmo", "pesmo-decoupled")
    few = ("pesmo", "pesmo-decoupled", "parego", "smsego", "random")
    return (*few[:-1], "ehi", "sur", "random") if SETTINGS[setting].objectives == 2 else few


def adapt(run: Run) -> Run:
    """A decoupled run with costs of its own belongs to a setting of its own; to a coupled run they are all the same."""
    costs = dict(run.options).get("costs", "")
    setting = f"{run.setting}-costs-{costs.replace(':', '-')}" if costs else run.setting
    return replace(run, setting=home(setting, run.method))


def task(run: Run) -> Task:
    name, _, costs = run.setting.partition("-costs-")
    setting = SETTINGS[name]
    problem = setting.problem(run.number)
    each = tuple(float(cost) for cost in costs.split("-")) if costs else (1.0,) * setting.objectives
    if len(each) != setting.objectives or min(each) <= 0:
        raise ValueError(
            f"{name} has {setting.objectives} objectives: --costs needs as many numbers > 0, not {costs!r}"
        )
    return unit_task(problem, problem.starts(STARTS), setting.noise, each)


def section(results: Results, output: Output) -> str:
    """The paper's figure of hypervolumes, setting by setting; then the evaluations of each objective."""
    parts = [
        "Log relative hypervolume difference of the recommendation, mean ± standard error over problems; lower is "
        f"better. {FLOOR} One evaluation of a decoupled run counts as its share of a coupled one.",
        "**Paper:** PESMO is best in all four settings; decoupled, it is slightly better for K = 2 with noise, and "
        "clearly better for K = 4 (the paper gives curves, no numbers).",
    ]
    panels = {}
    settings = [s for s in results.settings("synthetic") if s.partition("-costs-")[0] in SETTINGS]
    for setting in sorted(settings, key=lambda s: (list(SETTINGS).index(s.partition("-costs-")[0]), s)):
        names = methods(setting.partition("-costs-")[0])
        marks = COST_MARKS if "-costs-" in setting else MARKS
        runs = completed(results, "synthetic", setting, names, marks[-1])
        parts += [f"### {setting}"]
        if runs:
            parts += [marks_table(runs, marks, NUMBERS), "\n".join(f"- {line}" for line in _findings(runs, marks))]
            parts += [_unseen(runs, marks, CHOSEN_ON.get(setting))]
            panels[setting] = curves(runs)
        parts += [incomplete(results, "synthetic", setting, names, marks[-1], NUMBERS)]
        parts += [_shares(results, setting, marks[-1], output)]
    if panels:
        draw_curves(output.figure("synthetic"), panels, "coupled evaluations", LABEL)
        parts.append(output.shown("synthetic", "Synthetic objectives"))
    return "\n\n".join(part for part in parts if part)


def _findings(runs: dict[str, Scores], marks: tuple[int, ...]) -> list[str]:
    """Either form of PESMO beside the coupled methods, and the two forms beside each other."""
    coupled = {method: found for method, found in runs.items() if not is_decoupled(method)}
    lines = []
    for method in [form for form in ("pesmo", "pesmo-decoupled") if form in runs]:
        lines += [standing(coupled | {method: runs[method]}, method, mark) for mark in marks[1:]]
    if "pesmo" in runs and "pesmo-decoupled" in runs:
        lines += [difference(runs, "pesmo-decoupled", "pesmo", mark) for mark in marks[1:]]
    return lines


def _unseen(runs: dict[str, Scores], marks: tuple[int, ...], chosen_on: int | None) -> str:
    """PESMO beside each coupled method on the problems that nothing was chosen on, where there are some."""
    if chosen_on is None or "pesmo" not in runs:
        return ""
    fresh = {m: {n: at_marks for n, at_marks in found.items() if n >= chosen_on} for m, found in runs.items()}
    lines = [
        difference(fresh, "pesmo", method, mark)
        for method in fresh
        if not is_decoupled(method) and method != "pesmo" and fresh[method].keys() & fresh["pesmo"].keys()
        for mark in marks[1:]
    ]
    head = f"PESMO was changed while looking at the first {chosen_on} problems. On those after them, run later:"
    return "\n".join([head, "", *[f"- {line}" for line in lines]]) if lines else ""


def _shares(results: Results, setting: str, last: int, output: Output) -> str:
    """How complete decoupled runs spread their evaluations over the objectives; a figure if half of them are linear."""
    rows = [r for r in results.read("synthetic", setting, "pesmo-decoupled").values() if finished_at(r, last)]
    if not rows:
        return ""
    names = [f"f{k + 1}" for k in range(SETTINGS[setting.partition("-costs-")[0]].objectives)]
    counts = counted(rows, names, STARTS)
    if setting != "half-linear":
        return shares(counts)
    ends = [counts[name][-1][1].value for name in names]
    draw_curves(output.figure("half-linear"), {"two hard objectives, two linear": counts}, "trials", "measured")
    ratio = f"Hard to easy: {math.fsum(ends[:2]) / math.fsum(ends[2:]):.1f} : 1 (paper: almost 3 : 1)."
    return f"{shares(counts)} {ratio}\n\n{output.shown('half-linear', 'How often each objective is measured')}"
