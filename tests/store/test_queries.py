"""What a call asks of the database does not grow with the study."""

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from pesmo import Float, Space, Study

SPACE = Space(x=Float(0, 1))


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path) -> str:
    if request.param == "postgresql":
        return request.getfixturevalue("postgres").new_database()
    return str(tmp_path / "study.db")


class Counted:
    """A context that counts statements and the rows they bring."""

    def __enter__(self) -> "Counted":
        self.statements: list[str] = []
        event.listen(Engine, "before_cursor_execute", self._count)
        return self

    def __exit__(self, *_: object) -> None:
        event.remove(Engine, "before_cursor_execute", self._count)

    def _count(self, _connection, _cursor, statement, *_) -> None:
        self.statements.append(statement)


def test_queries_per_call_do_not_grow(place) -> None:
    study = Study(SPACE, ["a"], seed=0, method="random", storage=place)

    def counts() -> dict[str, int]:
        with Counted() as opened:
            other = Study.open(place)
        len(study.trials)
        with Counted() as asked:
            trial = study.ask(lease=600)
        with Counted() as told:
            study.tell(trial, {"a": 1.0})
        with Counted() as listed:
            len(study.trials)
        other.close()
        return {
            "open": len(opened.statements),
            "ask": len(asked.statements),
            "tell": len(told.statements),
            "list": len(listed.statements),
        }

    study.tell(study.ask(), {"a": 0.0})
    few = counts()
    for i in range(150):
        study.add({"x": i / 150}, {"a": 1.0})
    for _ in range(20):
        study.ask()  # outstanding ones do not count either
    assert counts() == few
    assert few["ask"] <= 10
    assert few["tell"] <= 5
    study.close()


def test_a_study_reads_only_what_changed(place) -> None:
    study = Study(SPACE, ["a"], seed=0, method="random", storage=place)
    for i in range(30):
        study.add({"x": i / 30}, {"a": 1.0})
    other = Study.open(place)
    assert len(other.trials) == 30
    seen = other._view.revision
    study.add({"x": 1.0}, {"a": 2.0})
    assert [r.trial.id for r in other._store.changes(seen)] == [31]
    assert other.trials == study.trials
    assert other._store.changes(other._view.revision) == []
    for one in (study, other):
        one.close()
