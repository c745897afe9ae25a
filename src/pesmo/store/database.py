"""Transactions: one way to read and one to write, the same for SQLite and PostgreSQL (engines.py makes connections).

SQLite: one more try where the file is busy all the same (100 processes that open a new file at once do that).
PostgreSQL: one connection, kept open; a lost one is opened again and the transaction tried again, for PATIENCE
seconds: a restart of the server is a pause, not an error. So it is where somebody fell silent inside a transaction.
"""

import os
import random
import re
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.engine import Engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from pesmo.errors import StorageError
from pesmo.redact import redact
from pesmo.store.engines import Mode, at_rest, engine_of, to_url

T = TypeVar("T")

PATIENCE = {"sqlite": 180.0, "postgresql": 60.0}  # seconds that a busy file or a lost server is waited for
PASSING_STATES = ("55P03", "40001", "40P01")  # SQLSTATE: a lock not had in time, a serialization failure, a deadlock
PASSING = re.compile(  # what passes by itself, in the words of SQLite and PostgreSQL
    "database is locked|database table is locked|database schema is locked|deadlock detected|could not serialize|"
    "starting up|shutting down|too many clients|recovery mode|remaining connection slots|not yet accepting",
    re.IGNORECASE,
)
LOST = re.compile(  # the server, in the words of PostgreSQL, libpq and PgBouncer
    "terminating connection|server closed the connection|connection is closed|connection refused|connection is lost|"
    "consuming input failed|connection not open|no such file or directory|connection timeout|sending query failed|"
    "eof detected|connection reset|server conn crashed|server login has been failing|cannot connect to server",
    re.IGNORECASE,
)


class Database:
    """A SQLite file or a PostgreSQL server, by what the user calls it: a path or a URL."""

    def __init__(self, storage: str | Path, read_only: bool = False) -> None:
        self.url = to_url(storage)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.read_only = read_only
        self._said = redact(storage)
        self.label = str(self.url.database) if self.is_sqlite else self._said.shown
        self._engines: dict[Mode, Engine] = {}
        self._pid = 0
        self._reached = False  # a server that has answered once is worth waiting for

    @property
    def exists(self) -> bool:
        """False where the file is not there; a server is asked by connecting to it."""
        if not self.is_sqlite:
            return True
        try:
            os.stat(self.label)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise StorageError(f"storage {self.label!r}: {error.strerror}; check who may use its folder") from error
        return True

    def make(self) -> None:
        """The file is there: a new one is its owner's alone, whatever the umask; one that is there stays as it is.

        SQLite gives the files beside it the same permissions.
        """
        if self.exists:
            return
        try:
            os.close(os.open(self.label, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            return  # another process was faster
        except OSError as error:
            remedy = _REMEDIES["unable to open database file"]
            raise StorageError(f"storage {self.label!r}: {remedy} ({error.strerror})") from error

    def read(self, work: Callable[[Connection, int], T]) -> T:
        """work(connection, attempt) in a transaction that does not write."""
        return self._repeat(work, writes=False)

    def write(self, work: Callable[[Connection, int], T]) -> T:
        """work(connection, attempt) in a writing transaction, committed before this returns.

        After a lost connection nobody knows whether the commit arrived: with attempt > 0, `work` must look first.
        """
        if self.read_only:
            raise StorageError(f"storage {self.label!r} was opened to read only; nothing was changed")
        return self._repeat(work, writes=True)

    def close(self) -> None:
        for engine in self._engines.values():
            _dispose(engine, self._pid)
        self._engines.clear()

    def _repeat(self, work: Callable[[Connection, int], T], writes: bool) -> T:
        give_up = time.monotonic() + PATIENCE[self.url.get_backend_name()]
        attempt = 0
        while True:
            mode, state = self._mode()
            try:
                with self._connected(mode).connect() as connection:
                    self._reached = True
                    with connection.execution_options(pesmo_writes=writes).begin():
                        result = work(connection, attempt)
                if mode != "read at rest" or self._mode() == (mode, state):
                    return result
                failure, passes = StorageError(f"storage {self.label!r} changed while it was read; try again"), True
            except SQLAlchemyError as error:
                failure, passes = self._explained(error), self._passes(error) or self._mode() != (mode, state)
            except UnicodeDecodeError as error:
                words = f"it holds bytes that are no text ({error}); the file is damaged: restore it from a copy"
                failure, passes = StorageError(f"storage {self.label!r}: {words}"), False
            if time.monotonic() > give_up or not passes:
                raise failure  # with no cause: a driver's own error may quote the password
            attempt += 1
            time.sleep(random.uniform(0.5, 1.0) * min(1.0, 0.01 * 2**attempt))

    def _mode(self) -> tuple[Mode, tuple[int, ...] | None]:
        """How to connect now, and the state of a file that is at rest."""
        if not self.read_only or not self.is_sqlite:
            return "write", None
        state = at_rest(self.label)
        return ("read", None) if state is None else ("read at rest", state)

    def _passes(self, error: SQLAlchemyError) -> bool:
        """True where the same call may succeed in a moment."""
        words = str(error.orig) if isinstance(error, DBAPIError) else str(error)
        if PASSING.search(words):
            return True
        if not isinstance(error, DBAPIError) or self.is_sqlite:
            return False
        if getattr(error.orig, "sqlstate", None) in PASSING_STATES:
            return True
        return self._reached and (error.connection_invalidated or LOST.search(words) is not None)

    def _connected(self, mode: Mode) -> Engine:
        """The engine of this process: a connection that crossed a fork is not ours to use."""
        if self._pid != os.getpid():
            for engine in self._engines.values():
                engine.dispose(close=False)
            self._engines.clear()
            self._pid = os.getpid()
        if mode not in self._engines:
            self._engines[mode] = engine_of(self.url, mode)
            weakref.finalize(self, _dispose, self._engines[mode], self._pid)
        return self._engines[mode]

    def _explained(self, error: SQLAlchemyError) -> StorageError:
        words = self._said.scrub(str(error.orig if isinstance(error, DBAPIError) else error).strip())
        for known, remedy in _REMEDIES.items():
            if known in words:
                return StorageError(f"storage {self.label!r}: {remedy} ({words})")
        return StorageError(f"storage {self.label!r}: {words}")


_REMEDIES = {
    "unable to open database file": "the file cannot be opened or made; check that its folder exists and is writable",
    "readonly database": "the file is read-only: make it and its folder writable, or, to look, open it with "
    "read_only=True. Nothing was changed",
    "disk is full": "no space is left; what was told before is safe. Free some space and go on",
    "disk I/O error": "the file cannot be read or written; what was told before is safe. Check space and disk",
    "not a database": "this file is no SQLite database, or it is damaged; restore it from a copy or use another name",
    "malformed": "the database file is damaged (truncated?); restore it from a copy, or try sqlite3's .recover",
    "database is locked": "another process has held it for minutes; continue or end one that is stopped (Ctrl-Z)",
    "authentication failed": "the server refuses this user or password; check the URL",
    "refused": "no server answers there; check host and port, and that it runs",
}


def _dispose(engine: Engine, pid: int) -> None:
    """Close the connections; after a fork they are the parent's, and closing them here would end them there."""
    engine.dispose(close=pid == os.getpid())
