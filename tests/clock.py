"""Time that passes when a test says so."""

import time

import pytest
from sqlalchemy import update

from pesmo.store.contract import Store
from pesmo.store.sql import SqlStore
from pesmo.store.tables import trials


class Clock:
    """The machine's time, moved on by `passes`; a server has its own, so there the deadlines come nearer instead."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._ahead = 0.0
        real = time.monotonic
        monkeypatch.setattr(time, "monotonic", lambda: real() + self._ahead)

    def passes(self, seconds: float, store: Store) -> None:
        if isinstance(store, SqlStore) and not store._database.is_sqlite:
            nearer = update(trials).values(deadline=trials.c.deadline - seconds)
            store._database.write(lambda connection, _: connection.execute(nearer))
        else:
            self._ahead += seconds
