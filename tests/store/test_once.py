"""A call whose commit arrived, but not the word of it, is tried again and has been done once."""

import sqlite3
from collections.abc import Callable

import psycopg
import pytest
from sqlalchemy.engine.default import DefaultDialect

from pesmo.problem import Trial
from pesmo.store import open_study
from pesmo.store.contract import Outcome, Proposal, Record, Store, Terms

PROPOSAL = Proposal("run", [{"x": 0.5}], [2.0], 1.5, None, {"theta": [1.0]}, 0, lambda one, other: False)
ADDED = Trial(0, "added", {"x": 1.0}, 0.0, state="complete", values={"a": 2.0}, note="added")
CALLS: dict[str, Callable[[Store], Record | None]] = {
    "reserve": lambda store: store.reserve(PROPOSAL, Terms(lease=100.0)),
    "claim": lambda store: store.claim(Terms(lease=100.0), []),
    "add": lambda store: store.add(ADDED),
    "finish": lambda store: store.finish(1, Outcome("complete", {"a": 1.0})),
}


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path) -> str:
    if request.param == "postgresql":
        return request.getfixturevalue("postgres").new_database()
    return str(tmp_path / "store.db")


class Lost:
    """The next commit is made, and then the connection is lost."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.commits, self.armed = 0, False
        real = DefaultDialect.do_commit

        def commit(dialect, connection) -> None:
            real(dialect, connection)
            self.commits += self.armed or self.commits > 0
            if self.armed:
                self.armed = False
                if dialect.name == "sqlite":
                    raise sqlite3.OperationalError("database is locked")
                raise psycopg.OperationalError("server closed the connection unexpectedly")

        monkeypatch.setattr(DefaultDialect, "do_commit", commit)


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_is_tried_again_writes_once(place: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_study(place, "study", {})
    if name in ("claim", "finish"):
        assert store.reserve(PROPOSAL, Terms(lease=100.0)) is not None
    if name == "claim":
        store.release([1])
    before = len(store.changes(0))
    lost = Lost(monkeypatch)
    if name == "claim":  # it looks first, in a transaction of its own
        real = store._database.write  # type: ignore[attr-defined]

        def armed(work):
            lost.armed = True
            return real(work)

        monkeypatch.setattr(store._database, "write", armed)  # type: ignore[attr-defined]
    else:
        lost.armed = True
    record = CALLS[name](store)
    assert lost.commits >= 2  # it was tried again
    assert not lost.armed
    after = {r.trial.id: r for r in store.changes(0)}
    assert len(after) == before + (name != "finish")
    assert record is not None
    assert after[record.trial.id].trial == record.trial
    following = store.add(ADDED)
    assert following.trial.id == len(after) + 1  # no id was left out either
    store.close()
