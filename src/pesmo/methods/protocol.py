"""What a method is."""

from typing import Protocol

import numpy as np

from pesmo.problem import Evidence, Suggestion

State = list[np.ndarray]


class Method(Protocol):
    """A rule that picks the next trial. It holds nothing: what it wants to remember travels as `state`."""

    def suggest(
        self, evidence: Evidence, state: State | None, rng: np.random.Generator
    ) -> tuple[Suggestion, State | None]:
        """The next trial, and the state to pass to the next call."""
        ...
