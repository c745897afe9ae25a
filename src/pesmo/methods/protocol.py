"""What a method is."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pesmo.problem import Evidence, Suggestion

State = dict[str, list[np.ndarray]]  # what a method remembers, by name: plain arrays, so that any store can keep it


@dataclass(frozen=True)
class Answer:
    """The next trial, and the state to pass to the next call."""

    suggestion: Suggestion
    state: State | None = None


class Method(Protocol):
    """A rule that picks the next trial. It holds nothing: what it wants to remember travels as `state`.

    needs_design     its first trials come from the space-filling design, until every objective has enough values
    needs_complete   it judges a point by all objectives together: it only runs experiments that reveal them all
    most_objectives  how many it can serve; None for any number
    """

    needs_design: bool
    needs_complete: bool
    most_objectives: int | None

    def suggest(self, evidence: Evidence, state: State | None, rng: np.random.Generator) -> Answer:
        """The next trial; raises pesmo.Finished where the method has nothing left to ask."""
        ...
