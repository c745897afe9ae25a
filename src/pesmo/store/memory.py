"""The store of a study without storage: a dict, gone with the process."""

import time
from collections.abc import Collection, Sequence
from copy import deepcopy
from dataclasses import replace
from threading import RLock
from typing import Any

from pesmo.problem import Trial
from pesmo.store.contract import ADDED, Memory, Outcome, Proposal, Record, Terms, not_yet_added


class MemoryStore:
    def __init__(self, definition: dict[str, Any]) -> None:
        self.definition = definition
        self._records: dict[int, Record] = {}
        self._deadlines: dict[int, float] = {}
        self._memory: Memory | None = None
        self._settings: dict[str, Any] = {}
        self._revision = 0
        self._lock = RLock()  # a heartbeat may renew while the study asks

    def changes(self, since: int) -> list[Record]:
        with self._lock:
            if since == self._revision:
                return []
            changed = [r for r in self._records.values() if r.revision > since]
            return sorted(changed, key=lambda r: r.revision)

    def get(self, trial_id: int) -> Record | None:
        return self._records.get(trial_id)

    def memory(self) -> Memory | None:
        return self._memory

    def settings(self) -> dict[str, Any]:
        return deepcopy(self._settings)

    def keep_settings(self, settings: dict[str, Any]) -> None:
        self._settings = deepcopy(settings)

    def reserve(self, proposal: Proposal, terms: Terms) -> Record | None:
        with self._lock:
            unseen = [self._records[i].trial for i in range(proposal.after + 1, len(self._records) + 1)]
            taken = [t.inputs for t in unseen if t.experiment == proposal.experiment and t.retry_of is None]
            trial = proposal.choose(taken)
            if trial is None:
                return None
            if proposal.memory is not None:
                self._memory = proposal.memory
            return self._insert(trial, terms, again=terms.retries)

    def claim(self, terms: Terms, dead: Collection[str]) -> Record | None:
        with self._lock:
            now = time.monotonic()
            for record in list(self._records.values()):
                expired = record.trial.id in self._deadlines and self._deadlines[record.trial.id] <= now
                if record.trial.state == "running" and (expired or record.owner in dead):
                    self._put(replace(record, trial=replace(record.trial, state="abandoned")))
            for record in self._records.values():
                if record.trial.state == "abandoned" and record.again > 0:
                    break
            else:
                return None
            self._put(replace(record, again=0))
            trial = replace(record.trial, state="running", asked=time.time(), retry_of=record.trial.id, message=None)
            return self._insert(trial, terms, again=record.again - 1)

    def add(self, trial: Trial) -> Record:
        with self._lock:
            return self._insert(trial, Terms(), again=0)

    def add_many(self, given: Sequence[Trial]) -> list[Record]:
        with self._lock:
            added = [r.trial for r in self._records.values() if r.trial.note == ADDED]
            missing = not_yet_added(given, ((t.inputs, t.values) for t in added))
            return [self._insert(trial, Terms(), again=0) for trial in missing]

    def finish(self, trial_id: int, outcome: Outcome) -> Record | None:
        with self._lock:
            record = self._records.get(trial_id)
            if record is None or record.trial.state not in ("running", "abandoned"):
                return record
            cost = record.trial.cost if outcome.cost is None else outcome.cost
            trial = replace(
                record.trial,
                state=outcome.state,
                values=outcome.values,
                message=outcome.message,
                cost=cost,
                finished=time.time(),
            )
            return self._put(replace(record, trial=trial))

    def renew(self, trial_ids: Collection[int]) -> set[int]:
        with self._lock:
            held = {i for i in trial_ids if i in self._records and self._records[i].trial.state == "running"}
            for i in held & set(self._deadlines):
                self._deadlines[i] = time.monotonic() + (self._records[i].lease or 0.0)
            return held

    def release(self, trial_ids: Collection[int]) -> None:
        with self._lock:
            for i in trial_ids:
                record = self._records.get(i)
                if record is not None and record.trial.state == "running":
                    trial = replace(record.trial, state="abandoned", message="released")
                    self._put(replace(record, trial=trial, again=record.again + 1))

    def close(self) -> None:
        """Nothing to let go of."""

    def _insert(self, trial: Trial, terms: Terms, again: int) -> Record:
        trial = replace(trial, id=len(self._records) + 1)
        if terms.lease is not None:
            self._deadlines[trial.id] = time.monotonic() + terms.lease
        return self._put(Record(trial, 0, terms.lease, terms.owner, again))

    def _put(self, record: Record) -> Record:
        self._revision += 1
        record = replace(record, revision=self._revision)
        self._records[record.trial.id] = record
        return record
