"""PostgreSQL as others set it up: behind PgBouncer in transaction mode, and for roles that do not wait for locks."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from sqlalchemy.exc import SQLAlchemyError

from pesmo.store import study_names
from pesmo.store.database import Database
from tests.fault.processes import both, study
from tests.fault.test_faults import distinct, scenario
from tests.postgres import Pooler, Server
from tests.waiting import until

WAITING = b"""SELECT 1 FROM pg_stat_activity
              WHERE wait_event_type = 'Lock' AND query_start < clock_timestamp() - '0.1 s'::interval"""


@pytest.fixture
def pooler(postgres: Server) -> Iterator[Pooler]:
    with Pooler(postgres, postgres.new_role(lock_timeout="7s")) as running:
        yield running


def test_a_run_of_several_processes_goes_through_pgbouncer_in_transaction_mode(pooler: Pooler) -> None:
    assert scenario("crowd", pooler.url, "4", "12") == {"errors": []}
    one = study(pooler.url)
    one.run({"evaluate": both}, evaluations=60, workers=2, progress=False)
    assert len(one.trials) == distinct(one) == 60
    assert {t.state for t in one.trials} == {"complete"}
    rows = [({"x": i / 500, "y": 0.5}, {"a": 1.0, "b": 2.0}) for i in range(500)]
    assert len(one.add_many(rows)) == 500
    assert one.add_many(rows) == []
    one.close()
    assert study_names(pooler.url) == ["study"]


def test_the_settings_of_our_transactions_stay_in_them(pooler: Pooler) -> None:
    """Connections behind a pooler are shared with others, who did not ask for our limits."""
    one = study(pooler.url)
    one.tell(one.ask(), {"a": 1.0, "b": 2.0})
    with psycopg.connect(pooler.url, autocommit=True, prepare_threshold=None) as other:
        assert other.execute("SHOW idle_in_transaction_session_timeout").fetchone() == ("0",)
        assert other.execute("SHOW lock_timeout").fetchone() == ("7s",)  # the role's own
    one.close()


def test_a_server_behind_pgbouncer_that_restarts_is_a_pause(pooler: Pooler, postgres: Server) -> None:
    one = study(pooler.url)
    one.tell(one.ask(), {"a": 1.0, "b": 2.0})
    postgres.stop("immediate")
    teller = Teller(lambda: one.tell(one.ask(), {"a": 1.0, "b": 2.0}).id)
    postgres.start()
    teller.join()
    assert teller.result == 2
    assert [t.state for t in one.trials] == ["complete", "complete"]
    one.close()


@pytest.fixture
def impatient(postgres: Server) -> str:
    """The URL of a role whose statements give up at once where they would have to wait for a lock."""
    return postgres.url_of(postgres.new_role(lock_timeout="1ms"))


class Teller(threading.Thread):
    """A thread that keeps what its work gave."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__()
        self._work = work
        self.result: Any = None
        self.start()

    def run(self) -> None:
        self.result = self._work()


def test_a_writer_waits_for_others_whatever_its_role_says(impatient: str) -> None:
    one = study(impatient)
    trial = one.ask()
    with psycopg.connect(impatient, autocommit=True) as watch, psycopg.connect(impatient) as other:
        other.execute(b"LOCK TABLE pesmo_studies IN EXCLUSIVE MODE")
        teller = Teller(lambda: one.tell(trial, {"a": 1.0, "b": 2.0}).state)
        until(lambda: not teller.is_alive() or watch.execute(WAITING).fetchone())
    teller.join()
    assert teller.result == "complete"
    one.close()


def test_a_reader_that_gave_up_waiting_tries_again(impatient: str, monkeypatch: pytest.MonkeyPatch) -> None:
    study(impatient).close()
    passes, tries = Database._passes, []

    def counted(database: Database, error: SQLAlchemyError) -> bool:
        tries.append(error)
        return passes(database, error)

    monkeypatch.setattr(Database, "_passes", counted)
    with psycopg.connect(impatient) as other:
        other.execute(b"LOCK TABLE pesmo_studies IN ACCESS EXCLUSIVE MODE")
        reader = Teller(lambda: study_names(impatient))
        until(lambda: not reader.is_alive() or len(tries) > 1)
    reader.join()
    assert reader.result == ["study"]
