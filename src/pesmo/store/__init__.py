"""Where a study lives: memory, a SQLite file, a PostgreSQL server. See contract.py for what they promise."""

from pathlib import Path
from typing import Any

from pesmo import redact
from pesmo.errors import DefinitionError, StorageError
from pesmo.store.contract import Store
from pesmo.store.memory import MemoryStore

__all__ = ["check_place", "find_study", "open_study", "short", "shown", "study_names"]


def check_place(storage: Any, name: Any) -> None:
    """A storage and a name that could be, or an error that says why not."""
    if storage is not None and not isinstance(storage, str | Path):
        raise DefinitionError(f"storage must be a path, a URL or None, not of the type {type(storage).__name__}")
    if not isinstance(name, str) or not name:
        raise DefinitionError(f"a study's name must be a non-empty string, not {name!r}")


def shown(storage: str | Path) -> str:
    """A storage as messages show it: no password."""
    return repr(redact.shown(storage))


def short(name: str) -> str:
    """A study's name as messages show it."""
    return repr(name if len(name) <= 80 else f"{name[:80]}…")


def open_study(storage: str | Path | None, name: str, definition: dict[str, Any]) -> Store:
    """The study called `name`, made with this definition where it is not there yet."""
    if storage is None:
        return MemoryStore(definition)
    from pesmo.store.database import Database  # late: a study in memory needs no database library
    from pesmo.store.directory import enter
    from pesmo.store.schema import prepare

    database = Database(storage)
    database.make()
    prepare(database)
    return enter(database, name, definition)


def find_study(storage: str | Path, name: str | None, read_only: bool = False) -> tuple[str, Store]:
    """A study that is there, and its name, which may be left out where there is only one."""
    from pesmo.store.database import Database
    from pesmo.store.directory import enter, names
    from pesmo.store.schema import require

    database = Database(storage, read_only)
    require(database)
    known = names(database)
    if name is None and len(known) == 1:
        name = known[0]
    if name is None or name not in known:
        there = f"it has the studies {known}" if known else "it has no study"
        asked = "which study? Give its name" if name is None else f"no study is called {name!r}"
        raise StorageError(f"storage {database.label!r}: {asked}; {there}")
    return name, enter(database, name, None)


def study_names(storage: str | Path) -> list[str]:
    """The names of the studies there, in the order they were made."""
    from pesmo.store.database import Database
    from pesmo.store.directory import names
    from pesmo.store.schema import require

    database = Database(storage, read_only=True)
    try:
        require(database)
        return names(database)
    finally:
        database.close()
