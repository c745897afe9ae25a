"""The studies of one database, by name."""

from typing import Any

from sqlalchemy import Connection, insert, select

from pesmo.errors import StorageError, brief
from pesmo.store.database import Database
from pesmo.store.schema import exclusive
from pesmo.store.sql import SqlStore
from pesmo.store.tables import digest, dump, load, studies


def names(database: Database) -> list[str]:
    """Of all studies, oldest first."""
    query = select(studies.c.name).order_by(studies.c.id)
    return database.read(lambda connection, _: [load(name) for name in connection.execute(query).scalars()])


def enter(database: Database, name: str, definition: dict[str, Any] | None) -> SqlStore:
    """The study called `name`; where there is none, and a definition to make it from, a new one."""
    query = select(studies.c.id, studies.c.definition).where(studies.c.digest == digest(name))
    found = database.read(lambda connection, _: connection.execute(query).first())
    if found is None and definition is not None:
        row = {"digest": digest(name), "name": dump(name), "definition": dump(definition), "revision": 0, "trials": 0}

        def make(connection: Connection, _: int) -> Any:
            exclusive(connection)
            if connection.execute(query).first() is None:
                connection.execute(insert(studies).values(row))
            return connection.execute(query).one()

        found = database.write(make)
    if found is None:
        raise StorageError(  # the caller has looked
            f"storage {database.label!r} lists the study {brief(name)} and does not find it; it was changed by another "
            "program, or is damaged: restore it from a copy"
        )
    return SqlStore(database, found.id, load(found.definition))
