"""Brings a database to the schema this version knows, by Alembic's migrations; leaves other tables alone.

Every process that opens a database asks for its version first, with one query: Alembic is imported only where there is
something to do, and that is done inside one transaction that holds the database's lock.
"""

import re
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from pesmo.errors import StorageError, brief
from pesmo.store.database import Database

VERSION_TABLE = "pesmo_version"
KNOWN = ("0001",)  # every schema there has been
HEAD = KNOWN[-1]
LOCK = 0x7065736D6F  # of PostgreSQL's advisory locks: "pesmo"


def prepare(database: Database) -> None:
    """The tables are there, in the form this version knows, or an error that says why not."""
    if database.read(lambda connection, _: is_current(connection, database.label)):
        return
    database.write(lambda connection, _: _migrate(connection, database))


def require(database: Database) -> None:
    """Like `prepare`, for a database that has studies already: an error where it has no tables of ours."""
    if not database.exists:
        raise StorageError(f"there is no file {database.label!r}; make a study in it with pesmo.Study(storage=...)")
    if not database.read(lambda connection, _: inspect(connection).has_table(VERSION_TABLE)):
        raise StorageError(f"storage {database.label!r} holds no studies of pesmo; is it the right one?")
    if not database.read_only:
        prepare(database)
    elif not database.read(lambda connection, _: is_current(connection, database.label)):
        raise StorageError(
            f"storage {database.label!r} was written by an older pesmo, and looking changes nothing; open it with "
            "pesmo.Study.open once to bring it up to date"
        )


def is_current(connection: Connection, label: str | None) -> bool:
    """True where the schema is this version's; False where it is older or missing; another one is an error."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return False
    found = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()  # a constant, no data
    if found is None or found in KNOWN:
        return found == HEAD
    if re.fullmatch("[0-9]{4}", str(found)) and found > HEAD:
        raise StorageError(
            f"storage {label!r} was written by a newer pesmo (its schema is {found}, this version knows up to {HEAD}); "
            "install the newer pesmo. Nothing was changed"
        )
    raise StorageError(
        f"storage {label!r} says that its schema is {brief(found)}, which no pesmo has written; restore it from a "
        "copy. Nothing was changed"
    )


def exclusive(connection: Connection) -> None:
    """Nobody else makes tables or studies until the commit. (SQLite: a writing transaction has that already.)"""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})


def _migrate(connection: Connection, database: Database) -> None:
    exclusive(connection)
    if is_current(connection, database.label):
        return  # another process was faster

    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
