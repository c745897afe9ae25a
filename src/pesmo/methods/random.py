"""Random search and the space-filling design as methods: uniform in the space, whatever the objectives say."""

import numpy as np

from pesmo.methods.design import first_new, from_design, most_behind
from pesmo.methods.protocol import Answer, State
from pesmo.problem import Evidence

TRIES = 64  # draws, to find a point that is new


class Random:
    needs_design = False
    needs_complete = False
    most_objectives: int | None = None

    def suggest(self, evidence: Evidence, state: State | None, rng: np.random.Generator) -> Answer:
        draws = (rng.uniform(size=evidence.space.dim) for _ in range(TRIES))
        return Answer(first_new(evidence, most_behind(evidence, only_complete=False), draws, None))


class Sobol:
    needs_design = False
    needs_complete = False
    most_objectives: int | None = None

    def suggest(self, evidence: Evidence, state: State | None, rng: np.random.Generator) -> Answer:
        return Answer(from_design(evidence, only_complete=False, note=None))
