"""What a process knows of a study's trials: read once, then only what changed; also as the evidence of methods."""

from collections.abc import Sequence
from threading import RLock

import numpy as np

from pesmo.definition import Definition
from pesmo.problem import Evidence, Observations, Trial
from pesmo.store.contract import Record, Store


class View:
    def __init__(self, definition: Definition, store: Store) -> None:
        self._definition = definition
        self._store = store
        self._reveals = {e.name: e.reveals for e in definition.experiments}
        self._records: dict[int, Record] = {}
        self._units: dict[int, np.ndarray] = {}
        self._repeated: set[int] = set()  # trials that a retry stands for
        self._unfinished: dict[int, Record] = {}
        self.revision = 0
        self._lock = RLock()  # one thread may tell while another asks

    def sync(self) -> None:
        """Read what changed since the last time."""
        with self._lock:
            for record in self._store.changes(self.revision):
                self.put(record)
                self.revision = record.revision

    def put(self, record: Record) -> None:
        """Take over a trial as the store has it now."""
        trial = record.trial
        with self._lock:
            known = self._records.get(trial.id)
            if known is not None and known.revision > record.revision:
                return  # read before another thread changed it
            self._records[trial.id] = record
            if trial.retry_of is not None:
                self._repeated.add(trial.retry_of)
            if trial.state in ("running", "abandoned"):
                self._unfinished[trial.id] = record
            else:
                self._unfinished.pop(trial.id, None)

    def find(self, trial_id: int) -> Record | None:
        """One trial, read again only where it is not known yet: what it is about never changes."""
        if trial_id not in self._records:
            record = self._store.get(trial_id)
            if record is None:
                return None
            self.put(record)
        return self._records[trial_id]

    @property
    def unfinished(self) -> list[Record]:
        """The trials that are running or abandoned."""
        with self._lock:
            return list(self._unfinished.values())

    @property
    def trials(self) -> list[Trial]:
        """In the order of their ids."""
        with self._lock:
            return [self._records[i].trial for i in sorted(self._records)]

    @property
    def suggested(self) -> int:
        """How many trials there are that repeat no other: the next suggestion is number suggested + 1."""
        return sum(trial.retry_of is None for trial in self.trials)

    @property
    def last(self) -> int:
        """The largest id."""
        return max(self._records, default=0)

    def evidence(self) -> Evidence:
        """The trials as methods see them. One that a retry stands for counts only if it was told after all."""
        space, objectives, experiments = (
            self._definition.space,
            self._definition.objectives,
            self._definition.experiments,
        )
        seen = [t for t in self.trials if t.values or t.id not in self._repeated]
        units = [self._unit(t) for t in seen]
        revealed = [self._revealed(t) for t in seen]

        def stacked(rows: list[np.ndarray]) -> np.ndarray:
            return np.array(rows).reshape(-1, space.dim)

        observations = []
        for objective in objectives:
            name = objective.name
            told = [(u, t.values[name]) for u, t in zip(units, seen, strict=True) if name in t.values]
            coming = [u for u, t, r in zip(units, seen, revealed, strict=True) if not t.values and name in r]
            observations.append(
                Observations(
                    unit=stacked([u for u, _ in told]),
                    values=objective.to_model(np.array([value for _, value in told], float)),
                    pending=stacked(coming),
                )
            )
        taken = tuple(
            stacked([u for u, names in zip(units, revealed, strict=True) if set(e.reveals) <= set(names)])
            for e in experiments
        )
        return Evidence(space, objectives, experiments, tuple(observations), taken, self._definition.seed)

    def _unit(self, trial: Trial) -> np.ndarray:
        if trial.id not in self._units:
            self._units[trial.id] = self._definition.space.to_unit(trial.inputs)
        return self._units[trial.id]

    def _revealed(self, trial: Trial) -> Sequence[str]:
        """The objectives a trial has revealed or was to reveal."""
        return tuple(trial.values) or self._reveals.get(trial.experiment, ())
