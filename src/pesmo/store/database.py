"""Connections and transactions: one way to read and one to write, the same for SQLite and PostgreSQL.

SQLite: WAL, synchronous commits, BEGIN IMMEDIATE for every writing transaction, a busy timeout, and one more try
where the file is busy all the same (100 processes that open a new file at once do that).
PostgreSQL: one connection, kept open; a lost one is opened again and the transaction tried again, for PATIENCE
seconds: a restart of the server is a pause, not an error. A client that falls silent inside a transaction (stopped, or
cut off) loses it after SILENCE_MS, so that nobody waits for it longer; if it lives on, it tries again.
"""

import os
import random
import re
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, create_engine, event, make_url
from sqlalchemy.engine import Engine
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from pesmo.errors import DefinitionError, StorageError

T = TypeVar("T")

PATIENCE = {"sqlite": 180.0, "postgresql": 60.0}  # seconds that a busy file or a lost server is waited for
BUSY_MS = 20_000
SILENCE_MS = 20_000
PASSING = re.compile(  # what passes by itself, in the words of SQLite and PostgreSQL
    "database is locked|database table is locked|database schema is locked|deadlock detected|could not serialize|"
    "starting up|shutting down|too many clients|recovery mode|remaining connection slots|not yet accepting",
    re.IGNORECASE,
)
LOST = re.compile(
    "terminating connection|server closed the connection|connection is closed|connection refused|connection is lost|"
    "consuming input failed|connection not open|no such file or directory|connection timeout|sending query failed|"
    "eof detected|connection reset",
    re.IGNORECASE,
)


class Database:
    """A SQLite file or a PostgreSQL server, by what the user calls it: a path or a URL."""

    def __init__(self, storage: str | Path) -> None:
        self.url = _url(storage)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.label = self.url.database if self.is_sqlite else self.url.render_as_string(hide_password=True)
        self._engine: Engine | None = None
        self._pid = 0
        self._reached = False  # a server that has answered once is worth waiting for

    @property
    def exists(self) -> bool:
        """False where the file is not there; a server is asked by connecting to it."""
        return not self.is_sqlite or Path(self.url.database or "").exists()

    def read(self, work: Callable[[Connection, int], T]) -> T:
        """work(connection, attempt) in a transaction that does not write."""
        return self._repeat(work, writes=False)

    def write(self, work: Callable[[Connection, int], T]) -> T:
        """work(connection, attempt) in a writing transaction, committed before this returns.

        After a lost connection nobody knows whether the commit arrived: with attempt > 0, `work` must look first.
        """
        return self._repeat(work, writes=True)

    def close(self) -> None:
        if self._engine is not None:
            _dispose(self._engine, self._pid)
        self._engine = None

    def _repeat(self, work: Callable[[Connection, int], T], writes: bool) -> T:
        give_up = time.monotonic() + PATIENCE[self.url.get_backend_name()]
        attempt = 0
        while True:
            try:
                with self._connected().connect() as connection:
                    self._reached = True
                    with connection.execution_options(pesmo_writes=writes).begin():
                        return work(connection, attempt)
            except SQLAlchemyError as error:
                if not self._passes(error) or time.monotonic() > give_up:
                    raise self._explained(error) from error
            attempt += 1
            time.sleep(random.uniform(0.5, 1.0) * min(1.0, 0.01 * 2**attempt))

    def _passes(self, error: SQLAlchemyError) -> bool:
        """True where the same call may succeed in a moment."""
        words = str(error.orig) if isinstance(error, DBAPIError) else str(error)
        if PASSING.search(words):
            return True
        lost = isinstance(error, DBAPIError) and (error.connection_invalidated or LOST.search(words) is not None)
        return lost and self._reached and not self.is_sqlite

    def _connected(self) -> Engine:
        """The engine of this process: a connection that crossed a fork is not ours to use."""
        if self._engine is not None and self._pid != os.getpid():
            self._engine.dispose(close=False)
            self._engine = None
        if self._engine is None:
            self._pid = os.getpid()
            self._engine = _engine(self.url, self.is_sqlite)
            weakref.finalize(self, _dispose, self._engine, self._pid)
        return self._engine

    def _explained(self, error: SQLAlchemyError) -> StorageError:
        words = str(error.orig if isinstance(error, DBAPIError) else error).strip()
        for known, remedy in _REMEDIES.items():
            if known in words:
                return StorageError(f"storage {self.label!r}: {remedy} ({words})")
        return StorageError(f"storage {self.label!r}: {words}")


_REMEDIES = {
    "unable to open database file": "the file cannot be opened or made; check that its folder exists and is writable",
    "readonly database": "the file is read-only; make it and its folder writable. Nothing was changed",
    "disk is full": "no space is left; what was told before is safe. Free some space and go on",
    "disk I/O error": "the file cannot be read or written; what was told before is safe. Check space and disk",
    "not a database": "this file is no SQLite database, or it is damaged; restore it from a copy or use another name",
    "malformed": "the database file is damaged (truncated?); restore it from a copy, or try sqlite3's .recover",
    "database is locked": "another process has held it for minutes; continue or end one that is stopped (Ctrl-Z)",
    "authentication failed": "the server refuses this user or password; check the URL",
    "refused": "no server answers there; check host and port, and that it runs",
}


def _url(storage: str | Path) -> URL:
    text = os.fspath(storage)
    if re.match(r"(postgresql|postgres)(\+psycopg)?://", text):
        try:
            return make_url(text).set(drivername="postgresql+psycopg")
        except (ArgumentError, ValueError) as error:
            raise DefinitionError(f"storage {text!r} is no PostgreSQL URL: {error}") from error
    text = text.removeprefix("sqlite:///")
    if "://" in text:
        raise DefinitionError(f"storage {text!r}: give the path of a SQLite file, or postgresql://user@host/database")
    if not text or "\0" in text:
        raise DefinitionError(f"storage {text!r} is no file name")
    return URL.create("sqlite", database=os.path.abspath(text))


def _engine(url: URL, is_sqlite: bool) -> Engine:
    if not is_sqlite:
        try:
            # One connection to keep; a heartbeat beside a long ask borrows a second one and gives it back.
            engine = create_engine(url, pool_size=1, max_overflow=3, connect_args={"connect_timeout": 10})
        except ModuleNotFoundError as error:
            raise StorageError("PostgreSQL needs psycopg: pip install 'pesmo[postgres]'") from error
        event.listen(engine, "connect", _postgres_connection)
        return engine
    engine = create_engine(url, pool_size=1, max_overflow=3, connect_args={"timeout": BUSY_MS / 1000})
    event.listen(engine, "connect", _sqlite_connection)
    event.listen(engine, "begin", _sqlite_begin)
    return engine


def _dispose(engine: Engine, pid: int) -> None:
    """Close the connections; after a fork they are the parent's, and closing them here would end them there."""
    engine.dispose(close=pid == os.getpid())


def _postgres_connection(connection: Any, _record: Any) -> None:
    connection.execute(f"SET idle_in_transaction_session_timeout = {SILENCE_MS}")
    connection.commit()


def _sqlite_connection(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # BEGIN is ours: the driver's own would start every transaction as a reader
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _sqlite_begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("pesmo_writes", True)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
