"""Promises of the documentation that no other test holds; the pages name the tests."""

import ast
import re
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from pesmo import Float, Space, StorageError, Study
from pesmo.errors import NumericalFailure
from pesmo.store import database, engines
from pesmo.study import Study as AnyStudy
from tests.cli.conftest import Pesmo, pesmo, study_file

__all__ = ["pesmo", "study_file"]  # fixtures
ROOT = Path(__file__).parents[2]
SPACE = Space(x=Float(0, 1))


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_every_test_that_a_page_names_exists() -> None:
    """`tests/x/test_y.py`, or a test of it: `tests/x/test_y.py::test_z`."""
    named = {(page.name, name) for page in pages() for name in re.findall(r"tests/[\w/.:]+", page.read_text("utf-8"))}
    assert len(named) > 30
    for page, name in sorted(named):
        path, _, function = name.partition("::")
        assert (ROOT / path).exists(), f"{page} names {name}"
        if function:
            tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
            assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, (page, name)


def test_p_processes_exceed_a_limit_by_p_minus_1_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three see room for one more at the same moment; all of them start it, and none starts another."""
    studies = [Study(SPACE, ["a"], method="random", storage=tmp_path / "a.db") for _ in range(3)]
    barrier, ask = threading.Barrier(3), AnyStudy._ask
    begun: set[AnyStudy] = set()

    def at_once(study: AnyStudy, *given: Any, **named: Any) -> Any:
        if study not in begun:
            begun.add(study)
            barrier.wait(120)
        return ask(study, *given, **named)

    monkeypatch.setattr(AnyStudy, "_ask", at_once)
    functions, limits = {"evaluate": lambda inputs: inputs["x"]}, {"evaluations": 1, "progress": False}
    runs = [threading.Thread(target=study.run, args=(functions,), kwargs=limits) for study in studies]
    for run in runs:
        run.start()
    for run in runs:
        run.join(240)
    assert [t.state for t in studies[0].trials] == ["complete"] * (1 + 3 - 1)


def test_a_wrong_value_is_corrected_in_an_export_and_imported_under_another_name(
    pesmo: Pesmo, study_file: Path
) -> None:
    pesmo("ask", "-n", 2)
    pesmo("tell", 1, "a=1", "b=20")
    pesmo("tell", 2, "a=3", "b=4")
    pesmo("export", "-o", "data.csv")
    data = Path("data.csv")
    data.write_text(data.read_text(encoding="utf-8").replace(",1.0,20.0\n", ",1.0,2.0\n"), encoding="utf-8")
    again = study_file.read_text(encoding="utf-8").replace("[study]", '[study]\nname = "again"\nstorage = "study.db"')
    Path("again.toml").write_text(again, encoding="utf-8")
    pesmo("import", "again.toml", "data.csv")
    told, corrected = (Study.open("study.db", name).trials for name in ("study", "again"))
    assert [t.inputs for t in corrected] == [t.inputs for t in told]
    assert [t.values for t in corrected] == [{"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 4.0}]


def test_a_command_may_change_at_any_time_and_the_definition_may_not(pesmo: Pesmo, study_file: Path) -> None:
    text = study_file.read_text(encoding="utf-8")
    pesmo("run", "--evaluations", 1, "-q")
    study_file.with_name("both.py").rename(study_file.with_name("new.py"))
    study_file.write_text(text.replace("both.py", "new.py") + "timeout = 60\n", encoding="utf-8")
    pesmo("run", "--evaluations", 2, "-q")
    assert [t.state for t in Study.open("study.db").trials] == ["complete", "complete"]
    for old, new in (("seed = 1", "seed = 2"), ('method = "random"', 'method = "sobol"'), ("low = -1", "low = -2")):
        study_file.write_text(text.replace(old, new), encoding="utf-8")
        assert "is defined otherwise" in pesmo("run", code=2).stderr


def test_a_file_that_another_process_holds_for_minutes_is_said_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(database.PATIENCE, "sqlite", 0.0)  # the minutes
    monkeypatch.setattr(engines, "BUSY_MS", 1)
    study = Study(SPACE, ["a"], method="random", storage=tmp_path / "a.db")
    trial = study.ask()
    held = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    held.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match=r"another process has held it for minutes.*\(database is locked\)"):
        study.tell(trial, {"a": 1.0})
    held.close()
    assert study.tell(trial, {"a": 1.0}).state == "complete"


class Failing:
    """A method whose numbers fail, and that looks at the threads it may use."""

    needs_design, needs_complete = True, False
    threads: tuple[int, ...] = ()

    def suggest(self, *_: object) -> Any:
        found = [p for p in threadpool_info() if p["user_api"] == "blas" and "scipy.libs" not in p["filepath"]]
        self.threads = tuple(p["num_threads"] for p in found)  # of NumPy's, with which pesmo computes
        raise NumericalFailure("no rung held")


def test_a_numerical_failure_is_a_point_of_the_design_with_a_note_and_thinking_takes_one_thread() -> None:
    study = Study(SPACE, ["a"], seed=0)
    study._method = method = Failing()  # pyright: ignore[reportAttributeAccessIssue]
    for x in range(5):
        study.add({"x": x / 5}, {"a": float(x)})
    with threadpool_limits(limits=2, user_api="blas"):
        trial = study.ask()
    assert trial.note == "fallback to the space-filling design: no rung held"
    assert method.threads and set(method.threads) == {1}
