"""From the evidence to a proposal that a store can reserve.

A process that finds, when it reserves, that others reserved much the same point meanwhile, thinks again: with those
trials in its evidence, and with randomness of its own, as the others' was the same as its own the first time.
"""

import secrets
from collections.abc import Mapping
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from pesmo.errors import NumericalFailure
from pesmo.methods.design import EXHAUSTED, from_design
from pesmo.methods.protocol import Answer, Method, State
from pesmo.methods.sequence import sobol
from pesmo.methods.subset import modelled
from pesmo.problem import Evidence, Suggestion
from pesmo.space import Space
from pesmo.store.contract import Clash, Memory, Proposal

ENOUGH = 5  # measurements of every objective before the model takes over from the design
NEAR = 0.02  # of the unit cube, in every input: two suggestions this close were not meant to be two
THINK_AGAIN = 3  # times that a suggestion is dropped because another is near; then it must only be a different point
SPARE = 128  # points of the design that are offered at once where many processes want the next one

blas = ThreadpoolController()


def rng_for(seed: int, stream: int, number: int, attempt: int = 0) -> np.random.Generator:
    """Randomness that depends on the seed and what it is for, not on who asks; a second attempt has its own."""
    entropy = [seed, stream, number] if attempt == 0 else [seed, stream, number, secrets.randbits(64)]
    return np.random.default_rng(np.random.SeedSequence(entropy))


def propose(
    method: Method, evidence: Evidence, memory: Memory | None, number: int, attempt: int, after: int
) -> Proposal:
    """Suggestion `number` of the study, as something to reserve; `after` is the last trial that `evidence` knows."""
    answer = _answer(method, evidence, memory, rng_for(evidence.seed, 0, number, attempt))
    suggestion = answer.suggestion
    experiment = evidence.experiments[suggestion.experiment]
    units = [suggestion.unit]
    if attempt and suggestion.note == "design":
        units += _spare(evidence, suggestion)
    points = [evidence.space.from_unit(unit) for unit in units]
    return Proposal(
        experiment=experiment.name,
        points=points,
        costs=[experiment.cost_at(point) for point in points],
        gain=suggestion.gain,
        note=suggestion.note,
        memory=to_memory(answer.state),
        after=after,
        clash=_clash(evidence, suggestion, attempt),
    )


def _answer(method: Method, evidence: Evidence, memory: Memory | None, rng: np.random.Generator) -> Answer:
    if method.needs_design and not evidence.ready(ENOUGH, method.needs_complete):
        return Answer(from_design(evidence, method.needs_complete, "design"))
    seen = modelled(evidence) if method.needs_design else evidence
    try:
        with blas.limit(limits=1, user_api="blas"):
            return method.suggest(seen, to_state(memory), rng)
    except NumericalFailure as failure:
        note = f"fallback to the space-filling design: {failure}"
        return Answer(from_design(evidence, method.needs_complete, note))


def _spare(evidence: Evidence, suggestion: Suggestion) -> list[np.ndarray]:
    """More new points of the design, for when the first ones go to others."""
    e = suggestion.experiment
    following = sobol(evidence.space.dim, SPARE, evidence.seed, skip=evidence.taken[e].shape[0])
    points = np.stack([evidence.space.tidy(point) for point in following])
    return list(points[~evidence.is_taken(e, points)])


def _clash(evidence: Evidence, suggestion: Suggestion, attempt: int) -> Clash:
    """Whether two points of the suggested experiment are one and the same run, or nearly."""
    if suggestion.note is not None and EXHAUSTED in suggestion.note:
        return lambda one, other: False
    columns = evidence.relevant(suggestion.experiment)
    from_model = suggestion.gain is not None
    near = NEAR if from_model and attempt < THINK_AGAIN else 0.0

    def clash(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        gap = _snapped(evidence.space, one)[columns] - _snapped(evidence.space, other)[columns]
        return bool(np.max(np.abs(gap)) <= near)

    return clash


def _snapped(space: Space, point: Mapping[str, Any]) -> np.ndarray:
    return space.snap(space.to_unit(point))


def to_memory(state: State | None) -> Memory | None:
    """A method's state as plain lists: every float survives JSON to the last bit."""
    return None if state is None else {name: [array.tolist() for array in arrays] for name, arrays in state.items()}


def to_state(memory: Memory | None) -> State | None:
    """The inverse of `to_memory`."""
    return None if memory is None else {name: [np.array(a, float) for a in arrays] for name, arrays in memory.items()}
