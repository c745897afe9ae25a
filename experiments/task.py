"""What a run needs to know of a problem: its inputs and objectives, where to start, how to measure, how to score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

import pesmo
from experiments.dense import dense_recommendation

Inputs = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """A problem as a run sees it.

    starts   points measured in full before the method takes over, the same for every method
    measure  (inputs, names of objectives, rng) -> their values, noise included
    score    (study) -> scores of what is known now, {column: value}
    costs    of each objective; a coupled evaluation costs their sum, and is the unit of what a run spends
    extra    columns that `score` fills beside score and observed
    """

    space: pesmo.Space
    objectives: tuple[pesmo.Objective, ...]
    starts: tuple[Inputs, ...]
    measure: Callable[[Inputs, Sequence[str], np.random.Generator], dict[str, float]]
    score: Callable[[pesmo.Study], Mapping[str, float | str]]
    costs: tuple[float, ...]
    extra: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        return [objective.name for objective in self.objectives]


class UnitProblem(Protocol):
    """K objectives to minimize over the unit cube, with a known front: benchmarks/problems.py and classic.py."""

    @property
    def dim(self) -> int: ...
    @property
    def objectives(self) -> int: ...
    def evaluate(self, x: np.ndarray) -> np.ndarray: ...
    def log_relative_hv_difference(self, values: np.ndarray) -> float: ...


def unit_task(
    problem: UnitProblem,
    starts: np.ndarray,
    noise: float = 0.0,
    costs: tuple[float, ...] | None = None,
    reference: tuple[float, ...] | None = None,
) -> Task:
    """The task of a problem over the unit cube. Scores are of noiseless values, also where the runs see noise.

    A `reference` is what hypervolume is measured from; who is told it knows the worst values of interest.

    score     log relative hypervolume difference of the recommendation, as a surface
    observed  the same of the points where every objective was measured (none but the starts, in a decoupled run)
    """
    names = [f"f{k + 1}" for k in range(problem.objectives)]
    space = pesmo.Space({f"x{i + 1}": pesmo.Float(0, 1) for i in range(problem.dim)})

    def values(points: Sequence[Inputs]) -> np.ndarray:
        return problem.evaluate(np.array([[point[name] for name in space.names] for point in points], dtype=float))

    def measure(inputs: Inputs, wanted: Sequence[str], rng: np.random.Generator) -> dict[str, float]:
        noisy = values([inputs])[0] + noise * rng.standard_normal(len(names))
        return {name: float(noisy[names.index(name)]) for name in wanted}

    def score(study: pesmo.Study) -> dict[str, float]:
        observed = [trial.inputs for trial in study.trials if len(trial.values) == len(names)]
        return {
            "score": problem.log_relative_hv_difference(problem.evaluate(dense_recommendation(study))),
            "observed": problem.log_relative_hv_difference(values(observed)),
        }

    return Task(
        space=space,
        objectives=tuple(
            pesmo.Objective(name, worst=reference[k] if reference else None) for k, name in enumerate(names)
        ),
        starts=tuple(dict(zip(space.names, map(float, x), strict=True)) for x in starts),
        measure=measure,
        score=score,
        costs=costs or (1.0,) * problem.objectives,
    )
