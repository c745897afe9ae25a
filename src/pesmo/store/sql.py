"""The store on SQLite and PostgreSQL.

Every writing transaction first takes the study's row, by raising its revision: writers of one study follow each other
(PostgreSQL; SQLite has one writer anyway), revisions appear in the order of their numbers, and there is no deadlock.
"""

import time
import uuid
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Double,
    and_,
    cast,
    extract,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)

from pesmo.problem import Trial
from pesmo.store.contract import ADDED, Memory, Outcome, Proposal, Record, Terms, not_yet_added
from pesmo.store.database import Database
from pesmo.store.tables import dump, load, optional, studies, to_record, to_row, trials

OPEN_STATES = ("running", "abandoned")


class SqlStore:
    def __init__(self, database: Database, study: int, definition: dict[str, Any]) -> None:
        self.definition = definition
        self._database = database
        self._study = study
        self._here = trials.c.study == study

    def changes(self, since: int) -> list[Record]:
        query = select(trials).where(self._here, trials.c.revision > since).order_by(trials.c.revision)
        return self._database.read(lambda connection, _: [to_record(row) for row in connection.execute(query)])

    def get(self, trial_id: int) -> Record | None:
        return self._database.read(lambda connection, _: self._get(connection, trial_id))

    def memory(self) -> Memory | None:
        query = select(studies.c.memory).where(studies.c.id == self._study)
        text = self._database.read(lambda connection, _: connection.execute(query).scalar())
        return None if text is None else load(text)

    def settings(self) -> dict[str, Any]:
        query = select(studies.c.settings).where(studies.c.id == self._study)
        text = self._database.read(lambda connection, _: connection.execute(query).scalar())
        return {} if text is None else load(text)

    def keep_settings(self, settings: dict[str, Any]) -> None:
        change = update(studies).where(studies.c.id == self._study).values(settings=dump(settings))
        self._database.write(lambda connection, _: connection.execute(change))

    def reserve(self, proposal: Proposal, terms: Terms) -> Record | None:
        token = uuid.uuid4().hex

        def work(connection: Connection, attempt: int) -> Record | None:
            if attempt and (written := self._by_token(connection, token)):
                return written
            revision, _ = self._next(connection)
            unseen = select(trials.c.inputs).where(
                self._here,
                trials.c.id > proposal.after,
                trials.c.retry_of.is_(None),
                trials.c.experiment == dump(proposal.experiment),
            )
            taken = [load(inputs) for inputs in connection.execute(unseen).scalars()]
            trial = proposal.choose(taken)
            if trial is None:
                return None
            if proposal.memory is not None:
                remember = update(studies).where(studies.c.id == self._study).values(memory=dump(proposal.memory))
                connection.execute(remember)
            return self._insert(connection, trial, terms, terms.retries, revision, token)

        return self._database.write(work)

    def claim(self, terms: Terms, dead: Collection[str]) -> Record | None:
        token = uuid.uuid4().hex
        owned = trials.c.owner.in_(list(dead))
        waiting = and_(self._here, trials.c.state == "abandoned", trials.c.again > 0)

        def gone() -> ColumnElement[bool]:
            return and_(self._here, trials.c.state == "running", or_(self._ran_out(), owned))

        look = select(trials.c.id).where(or_(gone(), waiting)).limit(1)
        if self._database.read(lambda connection, _: connection.execute(look).first()) is None:
            return None  # as nearly always: nobody need wait for a writing transaction

        def work(connection: Connection, attempt: int) -> Record | None:
            if attempt and (written := self._by_token(connection, token)):
                return written
            revision, _ = self._next(connection)
            connection.execute(update(trials).where(gone()).values(state="abandoned", revision=revision))
            row = connection.execute(select(trials).where(waiting).order_by(trials.c.id).limit(1)).first()
            if row is None:
                return None
            old = to_record(row)
            this = and_(self._here, trials.c.id == old.trial.id)
            connection.execute(update(trials).where(this).values(again=0, revision=revision))
            trial = replace(old.trial, state="running", asked=time.time(), retry_of=old.trial.id, message=None)
            return self._insert(connection, trial, terms, old.again - 1, revision, token)

        return self._database.write(work)

    def add(self, trial: Trial) -> Record:
        token = uuid.uuid4().hex

        def work(connection: Connection, attempt: int) -> Record:
            if attempt and (written := self._by_token(connection, token)):
                return written
            revision, _ = self._next(connection)
            return self._insert(connection, trial, Terms(), 0, revision, token)

        return self._database.write(work)

    def add_many(self, given: Sequence[Trial]) -> list[Record]:
        token = uuid.uuid4().hex
        added = select(trials.c.inputs, trials.c.outcome).where(self._here, trials.c.note == dump(ADDED))

        def work(connection: Connection, attempt: int) -> list[Record]:
            if attempt and (written := self._all_by_token(connection, token)):
                return written
            revision, count = self._next(connection)  # nobody else adds from here on
            known = ((load(inputs), load(outcome)) for inputs, outcome in connection.execute(added))
            missing = [replace(t, id=count + n) for n, t in enumerate(not_yet_added(given, known), start=1)]
            if missing:
                here = update(studies).where(studies.c.id == self._study)
                connection.execute(here.values(trials=count + len(missing)))
                connection.execute(insert(trials), [self._row(t, Terms(), 0, revision, token) for t in missing])
            return [Record(trial, revision) for trial in missing]

        return self._database.write(work)

    def finish(self, trial_id: int, outcome: Outcome) -> Record | None:
        columns: dict[str, Any] = {
            "state": outcome.state,
            "outcome": dump(outcome.values),
            "message": optional(outcome.message),
            "finished": time.time(),
        }
        if outcome.cost is not None:
            columns["cost"] = outcome.cost

        def work(connection: Connection, _: int) -> Record | None:
            revision, _ = self._next(connection)
            unfinished = and_(self._here, trials.c.id == trial_id, trials.c.state.in_(OPEN_STATES))
            connection.execute(update(trials).where(unfinished).values(revision=revision, **columns))
            return self._get(connection, trial_id)

        return self._database.write(work)

    def renew(self, trial_ids: Collection[int]) -> set[int]:
        running = and_(self._here, trials.c.id.in_(list(trial_ids)), trials.c.state == "running")

        def work(connection: Connection, _: int) -> set[int]:
            connection.execute(update(trials).where(running).values(deadline=self._now() + trials.c.lease))
            return set(connection.execute(select(trials.c.id).where(running)).scalars())

        return self._database.write(work)

    def release(self, trial_ids: Collection[int]) -> None:
        running = and_(self._here, trials.c.id.in_(list(trial_ids)), trials.c.state == "running")

        def work(connection: Connection, _: int) -> None:
            revision, _ = self._next(connection)
            columns = {"state": "abandoned", "message": dump("released"), "again": trials.c.again + 1}
            connection.execute(update(trials).where(running).values(revision=revision, **columns))

        self._database.write(work)

    def close(self) -> None:
        self._database.close()

    # --------------------------------------------------------------------------------------- inside a transaction

    def _next(self, connection: Connection) -> tuple[int, int]:
        """Takes the study's row until the commit; the new revision, and how many trials there are."""
        query = update(studies).where(studies.c.id == self._study).values(revision=studies.c.revision + 1)
        revision, count = connection.execute(query.returning(studies.c.revision, studies.c.trials)).one()
        return revision, count

    def _insert(
        self, connection: Connection, trial: Trial, terms: Terms, again: int, revision: int, token: str
    ) -> Record:
        query = update(studies).where(studies.c.id == self._study).values(trials=studies.c.trials + 1)
        trial = replace(trial, id=connection.execute(query.returning(studies.c.trials)).scalar_one())
        connection.execute(insert(trials).values(self._row(trial, terms, again, revision, token)))
        return Record(trial, revision, terms.lease, terms.owner, again)

    def _row(self, trial: Trial, terms: Terms, again: int, revision: int, token: str) -> dict[str, Any]:
        return {
            **to_row(trial),
            "study": self._study,
            "id": trial.id,
            "revision": revision,
            "again": again,
            "lease": terms.lease,
            "deadline": None if terms.lease is None else self._now() + terms.lease,
            "owner": terms.owner,
            "token": token,
        }

    def _get(self, connection: Connection, trial_id: int) -> Record | None:
        row = connection.execute(select(trials).where(self._here, trials.c.id == trial_id)).first()
        return None if row is None else to_record(row)

    def _by_token(self, connection: Connection, token: str) -> Record | None:
        return next(iter(self._all_by_token(connection, token)), None)

    def _all_by_token(self, connection: Connection, token: str) -> list[Record]:
        rows = connection.execute(select(trials).where(self._here, trials.c.token == token).order_by(trials.c.id))
        return [to_record(row) for row in rows]

    def _now(self) -> ColumnElement[float]:
        """The time that leases are measured in: see promise 4 of the contract."""
        if self._database.is_sqlite:
            return literal(time.monotonic(), Double)
        return cast(extract("epoch", func.clock_timestamp()), Double)

    def _ran_out(self) -> ColumnElement[bool]:
        """A lease is over after its deadline, or where the deadline is from before the machine was started anew."""
        now = self._now()
        impossible = trials.c.deadline > now + trials.c.lease + 1.0
        return or_(trials.c.deadline <= now, impossible) if self._database.is_sqlite else trials.c.deadline <= now
