"""What a storage is called becomes a URL, and the URL an engine: how connections to SQLite and PostgreSQL are set up.

SQLite: WAL, synchronous commits, BEGIN IMMEDIATE for every writing transaction, a busy timeout. Who only looks makes
and changes no file: see `at_rest`.
PostgreSQL: no prepared statements and no settings that outlive a transaction, since a pooler such as PgBouncer gives
each transaction another connection to the server. A client that falls silent inside a writing transaction (stopped, or
cut off) loses it after SILENCE_MS, so that nobody waits for it longer, and it waits itself as long as it takes.
"""

import os
import sqlite3
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from sqlalchemy import URL, Connection, create_engine, event, make_url
from sqlalchemy.engine import Engine
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import NullPool

from pesmo.errors import DefinitionError, StorageError
from pesmo.redact import is_address, redact

Mode = Literal["write", "read", "read at rest"]

BUSY_MS = 20_000
SILENCE_MS = 20_000


def to_url(storage: str | Path) -> URL:
    """Where a storage is, by what the user calls it: a path or a URL.

    Whatever is wrong is said in words of ours: those of others would quote the password.
    """
    text = os.fspath(storage)
    scheme, mark, _ = text.strip().partition("://")
    if mark and scheme.lower() in ("postgresql", "postgres", "postgresql+psycopg", "postgres+psycopg"):
        url = _postgres_url(text.strip())
        if url is None:
            raise DefinitionError(
                f"storage {redact(text).shown!r} is no PostgreSQL URL; write "
                "postgresql://user:password@host:5432/database, "
                "with %40 for @, %2F for /, %3A for :, %3F for ?, %23 for # and %25 for % in a name or password"
            )
        return url
    text = text.removeprefix("sqlite:///")
    if is_address(text):
        raise DefinitionError(
            f"storage {redact(text).shown!r}: give the path of a SQLite file, or postgresql://user@host/database "
            "(a file with : and @ in its name begins with ./)"
        )
    if not text or "\0" in text:
        raise DefinitionError(f"storage {text!r} is no file name")
    return URL.create("sqlite", database=os.path.abspath(text))


def _postgres_url(text: str) -> URL | None:
    """None where it cannot be read, or where a password with an "@" in it would be read as part of the rest."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        return None
    if "@" in f"{url.host}{url.database}":
        return None
    return url.set(drivername="postgresql+psycopg")


def engine_of(url: URL, mode: Mode) -> Engine:
    """Connections for one process."""
    if url.get_backend_name() != "sqlite":
        return _postgres(url)
    if mode == "write":
        engine = create_engine(url, pool_size=1, max_overflow=3, connect_args={"timeout": BUSY_MS / 1000})
        event.listen(engine, "connect", _sqlite_connection)
    else:
        uri = f"file:{quote(str(url.database))}?mode=ro&{'immutable' if mode == 'read at rest' else 'readonly_shm'}=1"
        engine = create_engine("sqlite://", creator=lambda: _sqlite_reader(uri), poolclass=NullPool)
    event.listen(engine, "begin", _sqlite_begin)
    return engine


def at_rest(path: str) -> tuple[int, ...] | None:
    """What changes when somebody writes into a SQLite file; None while it is in use, or was left so by who was killed.

    Whoever writes keeps files beside it (-wal, -shm); to be allowed to read them is enough to read the study. Where
    there are none SQLite would make them even to read. Such a file is read as one that does not change instead
    ("immutable"), for which nobody need be allowed to write; and if it did change meanwhile, it is read once more.
    """
    for beside in ("-wal", "-journal"):
        found = _stat(f"{path}{beside}")
        if found is not None and found.st_size > 0:
            return None
    found = _stat(path)
    return None if found is None else (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None  # not there, or not ours to see: SQLite says which


def _postgres(url: URL) -> Engine:
    settings = {"connect_timeout": 10, "prepare_threshold": None}
    try:
        # One connection to keep; a heartbeat beside a long ask borrows a second one and gives it back.
        engine = create_engine(url, pool_size=1, max_overflow=3, connect_args=settings)
    except ModuleNotFoundError as error:
        raise StorageError("PostgreSQL needs psycopg: pip install 'pesmo[postgres]'") from error
    event.listen(engine, "begin", _postgres_begin)
    return engine


def _postgres_begin(connection: Connection) -> None:
    if _writes(connection):
        connection.exec_driver_sql(
            f"SET LOCAL idle_in_transaction_session_timeout = {SILENCE_MS}; SET LOCAL lock_timeout = 0"
        )


def _sqlite_connection(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # BEGIN is ours: the driver's own would start every transaction as a reader
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _sqlite_reader(uri: str) -> sqlite3.Connection:
    return sqlite3.connect(uri, uri=True, timeout=BUSY_MS / 1000, isolation_level=None)


def _sqlite_begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE" if _writes(connection) else "BEGIN")


def _writes(connection: Connection) -> bool:
    return connection.get_execution_options().get("pesmo_writes", True)
