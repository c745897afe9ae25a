"""What a store promises. Memory, SQLite and PostgreSQL keep the same promises and pass the same tests (tests/store).

1. What a call returns has been committed: a process killed afterwards loses nothing, killed before leaves nothing.
2. `reserve` and `claim` give a trial an id nobody else has, before anyone is told of the trial.
3. A trial ends once. Of many `finish` calls one changes it; all of them return what it became. An abandoned trial can
   still finish (a late result is a result); a complete or failed one never changes again.
4. Only a trial with a lease can run out of it. Time is the database server's (PostgreSQL) or the machine's time since
   it started (SQLite, memory): setting a clock moves no lease. Nothing happens to a trial whose lease ran out until
   somebody calls `claim`; then it is abandoned and, if it may be asked again, repeated by a new trial, in one step.
5. Every change of a trial gets a revision number, in the order of the commits: `changes(since)` misses nothing. A
   renewed lease is no change of a trial.
6. A call that lost its connection half-way is tried again and does its work once.
7. Names, messages and inputs are data: any text comes back as it was. Nothing is pickled.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pesmo.problem import Trial

RETRIES = 2  # how often an abandoned trial is asked again, unless its terms say otherwise
ADDED = "added"  # the note of a trial that was not asked for
Memory = dict[str, list[Any]]  # what a method remembers: names to lists of nested lists of numbers
Clash = Callable[[Mapping[str, Any], Mapping[str, Any]], bool]


@dataclass(frozen=True)
class Record:
    """A trial and what only the machinery needs to know of it."""

    trial: Trial
    revision: int
    lease: float | None = None  # seconds it is held without a sign of life; None: for ever
    owner: str | None = None  # the process that holds it: see owner.py
    again: int = 0  # how often it may be asked again, once abandoned


@dataclass(frozen=True)
class Terms:
    """On what terms a trial is handed out."""

    lease: float | None = None
    retries: int = 0
    owner: str | None = None


@dataclass(frozen=True)
class Proposal:
    """A trial to be: at the first of `points` that does not clash with a trial reserved after trial `after`.

    The trials up to `after` are those the proposal was made with; what was reserved meanwhile it cannot know.
    """

    experiment: str
    points: Sequence[dict[str, Any]]
    costs: Sequence[float]
    gain: float | None
    note: str | None
    memory: Memory | None  # of the method, for whoever asks next; None leaves the stored one as it is
    after: int
    clash: Clash

    def choose(self, taken: Collection[Mapping[str, Any]]) -> Trial | None:
        """The trial to write, given the points reserved meanwhile; None where there is no room left."""
        for inputs, cost in zip(self.points, self.costs, strict=True):
            if not any(self.clash(inputs, other) for other in taken):
                return Trial(0, self.experiment, inputs, cost, self.gain, note=self.note, asked=time.time())
        return None


@dataclass(frozen=True)
class Outcome:
    """How a trial ended. `cost` where it turned out to be another than was planned."""

    state: Literal["complete", "failed"]
    values: dict[str, float]
    message: str | None = None
    cost: float | None = None


def not_yet_added(trials: Sequence[Trial], known: Iterable[tuple[dict[str, Any], dict[str, float]]]) -> list[Trial]:
    """The trials beyond those with the same (inputs, values) among the `known` ones."""

    def key(inputs: dict[str, Any], values: dict[str, float]) -> str:
        return json.dumps([inputs, values], sort_keys=True)

    left = Counter(key(inputs, values) for inputs, values in known)
    missing = []
    for trial in trials:
        if left[this := key(trial.inputs, trial.values)] > 0:
            left[this] -= 1
        else:
            missing.append(trial)
    return missing


class Store(Protocol):
    """One study's trials."""

    definition: dict[str, Any]

    def changes(self, since: int) -> list[Record]:
        """The trials changed after revision `since`, in the order of their revisions."""
        ...

    def get(self, trial_id: int) -> Record | None:
        """One trial, or None."""
        ...

    def memory(self) -> Memory | None:
        """What the method remembered at the latest reservation that carried something to remember."""
        ...

    def settings(self) -> dict[str, Any]:
        """What was kept with the study last; empty where nothing was."""
        ...

    def keep_settings(self, settings: dict[str, Any]) -> None:
        """Keep these settings, in place of any others. They are no part of the definition and may change."""
        ...

    def reserve(self, proposal: Proposal, terms: Terms) -> Record | None:
        """A new running trial; None, and no trace, where every one of its points clashes."""
        ...

    def claim(self, terms: Terms, dead: Collection[str]) -> Record | None:
        """Abandon what ran out of its lease or is held by a `dead` owner; repeat the oldest abandoned trial that may be
        asked again, as a new running trial. None where there is nothing to repeat."""
        ...

    def add(self, trial: Trial) -> Record:
        """A trial that is complete already. Its id is given here."""
        ...

    def add_many(self, given: Sequence[Trial]) -> list[Record]:
        """Add those complete trials that were not added before, all or none of them; the new ones.

        A trial is known by its inputs and values. Afterwards each was added at least as often as it is given: of equal
        ones among those given all count, of trials that were given before, by whomever and at the same moment, none.
        """
        ...

    def finish(self, trial_id: int, outcome: Outcome) -> Record | None:
        """End a running or abandoned trial; one that has ended stays as it is. What it is now; None where unknown."""
        ...

    def renew(self, trial_ids: Collection[int]) -> set[int]:
        """Start the leases of running trials anew. Returns those that are still running."""
        ...

    def release(self, trial_ids: Collection[int]) -> None:
        """Give running trials back: abandoned, to be asked again without using up a retry."""
        ...

    def close(self) -> None:
        """Let go of connections. The store opens them again when it is used again."""
        ...
