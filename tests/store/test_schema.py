"""Opening databases: new ones, shared ones, newer ones, damaged ones."""

import os
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect, text

from pesmo import DefinitionError, Float, Space, StorageError, Study
from pesmo.store import find_study, open_study, study_names
from pesmo.store.database import Database
from pesmo.store.schema import HEAD
from pesmo.store.tables import metadata

SPACE = Space(x=Float(0, 1))


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path) -> str:
    if request.param == "postgresql":
        return request.getfixturevalue("postgres").new_database()
    return str(tmp_path / "a folder's %20 name" / "studies ?#.db")


@pytest.fixture(autouse=True)
def folder(tmp_path) -> None:
    (tmp_path / "a folder's %20 name").mkdir()


def execute(place: str, *statements: str) -> list:
    engine = create_engine(Database(place).url)
    rows: list = []
    with engine.begin() as connection:
        for statement in statements:
            result = connection.execute(text(statement))
            rows = list(result) if result.returns_rows else []
    engine.dispose()
    return rows


def test_the_migrations_make_the_tables_that_the_code_knows(place) -> None:
    open_study(place, "s", {}).close()
    engine = create_engine(Database(place).url)
    inspector = inspect(engine)
    for table in metadata.sorted_tables:
        columns = {c["name"]: c["nullable"] for c in inspector.get_columns(table.name)}
        assert columns == {c.name: bool(c.nullable) for c in table.columns}
        assert {i["name"] for i in inspector.get_indexes(table.name)} >= {i.name for i in table.indexes}
    engine.dispose()
    assert execute(place, "SELECT version_num FROM pesmo_version") == [(HEAD,)]


def test_tables_of_others_are_left_alone(place) -> None:
    if not place.startswith("postgresql"):
        Path(place).touch()
    made = "CREATE TABLE alembic_version (version_num VARCHAR(32)); CREATE TABLE studies (name TEXT)"
    execute(
        place, *made.split("; "), "INSERT INTO alembic_version VALUES ('theirs')", "INSERT INTO studies VALUES ('x')"
    )
    with pytest.raises(StorageError, match="holds no studies of pesmo"):
        Study.open(place)
    Study(SPACE, ["a"], storage=place).close()
    assert execute(place, "SELECT * FROM alembic_version") == [("theirs",)]
    assert execute(place, "SELECT * FROM studies") == [("x",)]


def test_a_newer_schema_is_refused_and_not_changed(place) -> None:
    Study(SPACE, ["a"], storage=place).close()
    execute(place, "UPDATE pesmo_version SET version_num = '9999'")
    for call in (lambda: Study(SPACE, ["a"], storage=place), lambda: Study.open(place), lambda: study_names(place)):
        with pytest.raises(StorageError, match=f"newer pesmo .its schema is 9999, this version knows up to {HEAD}"):
            call()
    assert execute(place, "SELECT version_num FROM pesmo_version") == [("9999",)]


def test_names_are_listed_and_errors_name_them(place) -> None:
    with pytest.raises(StorageError, match="there is no file|holds no studies"):
        study_names(place)
    Study(SPACE, ["a"], storage=place, name="one").close()
    assert Study.open(place).name == "one"
    Study(SPACE, ["a"], storage=place, name="two; DROP TABLE pesmo_studies").close()
    assert study_names(place) == ["one", "two; DROP TABLE pesmo_studies"]
    with pytest.raises(StorageError, match="which study. Give its name; it has the studies .'one', 'two"):
        Study.open(place)
    with pytest.raises(StorageError, match="no study is called 'three'; it has the studies"):
        find_study(place, "three")


@pytest.mark.parametrize("size", [0, 100, 5000, 20000])
def test_a_damaged_file_is_named_and_not_touched(tmp_path, size: int) -> None:
    path = tmp_path / "study.db"
    study = Study(SPACE, ["a"], storage=path, seed=0)
    for x in range(100):
        study.add({"x": x / 100}, {"a": 1.0})
    study.close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    whole = path.read_bytes()
    assert len(whole) > 20000
    path.write_bytes(whole[:size])
    with pytest.raises(StorageError, match="damaged|holds no studies"):
        damaged = Study.open(path)
        assert len(damaged.trials) == 100
    assert path.read_bytes()[:size] == whole[:size]


def test_other_bad_places_are_named(tmp_path) -> None:
    (tmp_path / "notes.txt").write_text("These are notes, and long enough to be read as a header of something. " * 20)
    for storage, words in [
        (tmp_path / "notes.txt", "no SQLite database"),
        (tmp_path / "missing" / "study.db", "check that its folder exists"),
        ("postgresql://nobody@/none?host=/nowhere", "nowhere"),
    ]:
        with pytest.raises(StorageError, match=words):
            Study(SPACE, ["a"], storage=storage)
    for storage, words in [
        ("mysql://a/b", "give the path of a SQLite file"),
        ("", "no file name"),
        (3, "must be a path"),
    ]:
        with pytest.raises(DefinitionError, match=words):
            Study(SPACE, ["a"], storage=storage)  # pyright: ignore
    with pytest.raises(DefinitionError, match="non-empty string"):
        Study(SPACE, ["a"], storage=tmp_path / "a.db", name="")
    assert not os.path.exists(tmp_path / "a.db")
    with pytest.raises(StorageError) as caught:
        Study(SPACE, ["a"], storage="postgresql://me:secret@localhost:1/none")
    assert "secret" not in str(caught.value)
