"""What the two real problems share (networks, trees): random starts, and a score by measuring the recommendation again.

There is no ground truth and the objectives are noisy, so, as in the paper, every recommended point is measured three
times, the results averaged, and the hypervolume of the averages taken, in the objectives' transformed units. Higher is
better; the reference points are ours (the paper does not give its own), so only differences compare with the paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import moocore
import numpy as np

import pesmo
from experiments.figures import draw_curves
from experiments.results import Results
from experiments.runs import Row
from experiments.sections import Output, counted, shares
from experiments.summary import NONE, best_bold, complete, finished_at, mean, scores, table
from experiments.task import Inputs, Task

Measure = Callable[[Inputs, Sequence[str], np.random.Generator], dict[str, float]]
AGAIN = 3
TRANSFORMS: dict[str | None, Callable[[float], float]] = {
    None: float,
    "log": math.log,
    "logit": lambda p: math.log(p / (1.0 - p)),
}
METHODS = ("pesmo", "pesmo-decoupled", "parego", "smsego", "ehi", "sur", "random")


@dataclass(frozen=True)
class Scale:
    """How large: runs, coupled evaluations of each and between scores, points of the recommendation, starts."""

    numbers: int
    evaluations: int
    every: int
    points: int
    starts: int = 6


def applied_task(
    space: pesmo.Space,
    objectives: tuple[pesmo.Objective, ...],
    reference: tuple[float, ...],  # in transformed units
    measure: Measure,
    scale: Scale,
    number: int,
) -> Task:
    names = [objective.name for objective in objectives]

    def score(study: pesmo.Study) -> dict[str, float | str]:
        rng = np.random.default_rng([number, len(study.trials), 9])
        front = []
        for point in study.recommend(size=scale.points).inputs:
            again = [measure(dict(point), names, rng) for _ in range(AGAIN)]
            front.append([math.fsum(values[name] for values in again) / AGAIN for name in names])
        transformed = [[TRANSFORMS[o.transform](v) for o, v in zip(objectives, row, strict=True)] for row in front]
        volume = float(moocore.hypervolume(np.array(transformed), ref=np.array(reference)))
        shown = " ".join(":".join(f"{value:.6g}" for value in row) for row in front)
        return {"score": volume, "front": shown}

    unit = np.random.default_rng([number, 12]).random((scale.starts, space.dim))
    return Task(
        space=space,
        objectives=objectives,
        starts=tuple(dict(space.from_unit(row)) for row in unit),
        measure=measure,
        score=score,
        costs=(1.0,) * len(objectives),
        extra=("front",),
    )


def applied_section(
    results: Results, output: Output, experiment: str, scales: dict[str, Scale], paper: dict[str, tuple[str, str]]
) -> list[str]:
    """For every scale with rows: hypervolumes half way and at the end, the paper's under ours; who was measured."""
    parts = []
    for name in [scale for scale in scales if scale in results.settings(experiment)]:
        scale = scales[name]
        marks = (scale.evaluations // 2, scale.evaluations)
        runs = {m: complete(scores(results, experiment, name, m), marks[1]) for m in METHODS}
        columns = [best_bold([mean([s[mark] for s in runs[m].values()]) for m in METHODS], 3, False) for mark in marks]
        rows = [[f"ours, {mark} coupled", *cells] for mark, cells in zip(marks, columns, strict=True)]
        rows.append(["runs", *[str(len(runs[m])) for m in METHODS]])
        for i, evaluations in enumerate((100, 200)):
            rows.append([f"paper, {evaluations} of objectives", *[paper.get(m, (NONE, NONE))[i] for m in METHODS]])
        parts += [f"### {experiment}, {name}", table(["hypervolume", *METHODS], rows)]
        decoupled = results.read(experiment, name, "pesmo-decoupled")
        parts += [_shares(decoupled, scale, output, f"{experiment}-{name}")]
    return [part for part in parts if part]


def _shares(runs: dict[int, list[Row]], scale: Scale, output: Output, name: str) -> str:
    """How decoupled runs spread their evaluations over the objectives: the paper's figure, and its end in words."""
    done = [rows for rows in runs.values() if finished_at(rows, scale.evaluations)]
    if not done:
        return ""
    columns = list(done[0][0])
    counts = counted(done, columns[columns.index("gain") - 2 : columns.index("gain")], scale.starts)
    draw_curves(output.figure(name), {name: counts}, "trials", "measured")
    return f"{shares(counts)}\n\n{output.shown(name, 'How often each objective is measured')}"
