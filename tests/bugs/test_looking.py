"""Looking at a study asks no model, changes nothing, needs to be allowed nothing but to read, and waits for nobody."""

import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from sqlalchemy import text
from typer.testing import CliRunner

import pesmo
import pesmo.cli.live
import pesmo.methods.model
from pesmo import Float, Space, StorageError, Study
from pesmo.cli.app import app
from pesmo.cli.live import LiveView
from pesmo.cli.view import Limit
from pesmo.store import study_names
from pesmo.store.database import Database
from tests.waiting import until

SPACE = Space(x=Float(0, 1))
ROOT = Path(__file__).parents[2]
LOOKS = [["status"], ["status", "--json"], ["trials"], ["trials", "--json"], ["trials", "--csv"], ["export"]]


@pytest.fixture
def path() -> Iterator[Path]:
    """A study of three trials, at rest: nobody has its file open. In a folder that other users can reach."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield three_trials(Path(folder))


def three_trials(folder: Path) -> Path:
    study = Study(SPACE, ["a", "b"], seed=0, method="random", storage=folder / "study.db")
    fill(study, 3)
    study.close()
    return folder / "study.db"


def fill(study: Study, n: int) -> None:
    for _ in range(n):
        study.tell(trial := study.ask(), {"a": trial.inputs["x"], "b": 1 - trial.inputs["x"]})


def look(path: Path | str, *words: str) -> str:
    result = CliRunner().invoke(app, [words[0], str(path), *words[1:]], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def files(folder: Path) -> dict[str, tuple[Any, ...]]:
    """All files of a folder, and what of each would tell that somebody wrote to it."""
    found = {p.name: p.stat() for p in [folder, *folder.iterdir()]}
    return {name: (s.st_ino, s.st_mode, s.st_uid, s.st_size, s.st_mtime_ns) for name, s in found.items()}


KILLED = """
import os, signal, sys
from pesmo import Study
study = Study.open(sys.argv[1])
study.add({"x": 0.5}, {"a": 0.1, "b": 0.2})
os.kill(os.getpid(), signal.SIGKILL)
"""


def killed_writer(path: Path) -> None:
    """A process that wrote a fourth trial and was killed before it could tidy up."""
    ended = subprocess.run([sys.executable, "-c", KILLED, str(path)], cwd=ROOT, check=False).returncode
    assert ended == -signal.SIGKILL
    assert path.with_name("study.db-wal").stat().st_size > 0


# --------------------------------------------------------------------------------------------------- asks no model


@pytest.fixture
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def fit(*_: object, **__: object) -> None:
        raise AssertionError("a model was fitted")

    monkeypatch.setattr(pesmo.study, "fit", fit)
    monkeypatch.setattr(pesmo.methods.model, "fit", fit)


@pytest.mark.usefixtures("no_model")
def test_looking_fits_no_model(path: Path) -> None:
    for words in LOOKS:
        assert look(path, *words)
    status = json.loads(look(path, "status", "--json"))
    assert (status["points"], status["measured_front"]) == (3, 3)
    assert 0 < status["measured_hypervolume"] < 1
    assert "3 of 3 points non-dominated; hypervolume 0." in look(path, "status")


@pytest.mark.usefixtures("no_model")
def test_the_live_view_of_many_trials_fits_no_model(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pesmo.cli.live, "MOST_TRIALS", 3)
    console = Console(file=(shown := io.StringIO()), force_terminal=True, width=120)
    study = Study.open(path)
    with LiveView(study, Limit(evaluations=9), console) as view:
        fill(study, 1)
        until(lambda: "4 of 9 evaluations" in shown.getvalue() or not view._thread.is_alive())
        fill(study, 1)
        until(lambda: "5 of 9 evaluations" in shown.getvalue() or not view._thread.is_alive())
    assert "5 of 5 points non-dominated" in shown.getvalue()
    study.close()


def test_a_table_of_trials_has_a_line_for_each_whatever_is_in_them(path: Path) -> None:
    study = Study.open(path)
    study.fail(study.ask(), "no\x1b[31m result\rdone 日本語")
    study.close()
    head, rule, *lines = look(path, "trials").splitlines()
    assert head.split() == ["trial", "state", "experiment", "cost", "inputs", "result"]
    assert set(rule) == {"-", " "}
    assert [line.split()[:2] for line in lines] == [[str(i), "complete"] for i in (1, 2, 3)] + [["4", "failed"]]
    assert lines[3].endswith("no\\x1b[31m result … done 日本語")
    assert len({line.index("x=") for line in lines}) == 1


# ------------------------------------------------------------------------------------------------ changes nothing


def test_looking_makes_and_changes_no_file(path: Path) -> None:
    before = files(path.parent)
    for words in LOOKS:
        look(path, *words)
    assert study_names(path) == ["study"]
    assert files(path.parent) == before == files(path.parent)
    killed_writer(path)  # leaves its files behind
    before = files(path.parent)
    for words in LOOKS:
        assert "4" in look(path, *words)
    assert files(path.parent) == before


def test_looking_sees_what_a_writer_that_goes_on_has_told(path: Path) -> None:
    study = Study.open(path)
    for n in range(4, 8):
        fill(study, 1)
        assert json.loads(look(path, "status", "--json"))["complete"] == n
    study.close()
    assert json.loads(look(path, "status", "--json"))["complete"] == 7


def test_looking_waits_for_no_writer(path: Path) -> None:
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE pesmo_trials SET cost = 7")
    assert json.loads(look(path, "status", "--json"))["cost"] == 3
    writer.execute("COMMIT")
    assert json.loads(look(path, "status", "--json"))["cost"] == 21
    writer.close()


def test_what_changed_while_it_was_read_is_read_again(path: Path) -> None:
    """A file at rest is read as one that does not change; a writer may begin, and end, in the middle of that."""
    database = Database(path, read_only=True)
    seen = []

    def slowly(connection: Any, _: int) -> int:
        first = connection.execute(text("SELECT count(*) FROM pesmo_trials")).scalar()
        if not seen:
            study = Study.open(path)
            study.add({"x": 0.5}, {"a": 0.1, "b": 0.2})
            study.close()  # the last one to close it writes all into the file
        seen.append(first)
        return first

    assert database.read(slowly) == 4
    assert seen == [3, 4]


WRITER = """
import sys
from pesmo import Study
for i in range(int(sys.argv[2])):
    study = Study.open(sys.argv[1])
    for j in range(3):
        study.add({"x": i / 1000}, {"a": float(i), "b": float(j)})
    study.close()
"""


def test_looks_beside_a_writer_that_comes_and_goes_are_whole(path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path), "60"], cwd=ROOT) as writer:
        counts = [3]
        while writer.poll() is None or counts[-1] < 183:
            study = Study.open(path, read_only=True)
            trials = study.trials
            assert [t.id for t in trials] == list(range(1, len(trials) + 1))
            assert all(t.values for t in trials)
            counts.append(len(trials))
            study.close()
            assert writer.poll() in (None, 0)
    assert counts == sorted(counts)
    assert len(set(counts)) > 10


def test_who_looks_cannot_write(path: Path) -> None:
    study = Study.open(path, read_only=True)
    for write in (study.ask, lambda: study.add({"x": 0.5}, {"a": 1.0}), lambda: study.keep_settings({})):
        with pytest.raises(StorageError, match="was opened to read only; nothing was changed"):
            write()
    assert len(study.trials) == 3
    study.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_looking_migrates_nothing(kind: str, path: Path, request: pytest.FixtureRequest) -> None:
    place = str(path) if kind == "sqlite" else request.getfixturevalue("postgres").new_database()
    study = Study(SPACE, ["a", "b"], seed=0, method="random", storage=place)
    study._store._database.write(lambda connection, _: connection.execute(text("DELETE FROM pesmo_version")))
    study.close()
    before = files(path.parent)
    for look_at in (lambda: Study.open(place, read_only=True), lambda: study_names(place)):
        with pytest.raises(StorageError, match="written by an older pesmo, and looking changes nothing"):
            look_at()
    assert files(path.parent) == before


# ------------------------------------------------------------------------------------------------ who may only read

READER = """
import json, os, sys
from typer.testing import CliRunner
from pesmo import StorageError, Study
from pesmo.cli.app import app

def look(path):
    said = {}
    for words in json.loads(sys.argv[2]):
        result = CliRunner().invoke(app, [words[0], path, *words[1:]], catch_exceptions=False)
        said[" ".join(words)] = [result.exit_code, result.output]
    try:
        Study.open(path).add({"x": 0.5}, {"a": 1.0})
        said["write"] = "done"
    except StorageError as error:
        said["write"] = str(error)
    return said

look(sys.argv[1] + ".warm")  # imports: those of the one who looks are not ours to read in some places
if os.geteuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)  # nobody
print(json.dumps(look(sys.argv[1])))
"""


@pytest.mark.parametrize("state", ["at rest", "beside a writer", "after a writer was killed"])
def test_who_may_only_read_the_file_can_look(path: Path, state: str) -> None:
    warm = Study(SPACE, ["a", "b"], storage=f"{path}.warm")
    warm.close()
    writer = Study.open(path)
    count = 3
    if state == "beside a writer":
        writer.add({"x": 0.5}, {"a": 0.1, "b": 0.2})
        count = 4
    else:
        writer.close()
    if state == "after a writer was killed":
        killed_writer(path)
        count = 4
    others = [p for p in path.parent.iterdir() if not p.name.endswith(".warm")]
    for file in others:
        file.chmod(0o444)
    path.parent.chmod(0o555)
    if os.geteuid() == 0:
        assert not any(p.stat().st_uid == 65534 for p in others)
    ran = subprocess.run(
        [sys.executable, "-c", READER, str(path), json.dumps(LOOKS)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    assert "read-only" in said.pop("write")
    assert {code for code, _ in said.values()} == {0}, said
    assert json.loads(said["status --json"][1])["points"] == count
    assert len(json.loads(said["trials --json"][1])) == count
    path.parent.chmod(0o755)
    writer.close()


# ------------------------------------------------------------------------------------------------- whose file it is


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_a_new_file_is_its_owners_alone(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        study = Study(SPACE, ["a"], storage=tmp_path / "study.db")
        study.add({"x": 0.5}, {"a": 1.0})
    finally:
        os.umask(before)
    modes = {p.name: p.stat().st_mode & 0o777 for p in tmp_path.iterdir()}
    assert modes == dict.fromkeys(("study.db", "study.db-wal", "study.db-shm"), 0o600)
    study.close()


def test_a_file_that_was_made_to_be_shared_stays_so(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    path.touch()
    path.chmod(0o660)
    study = Study(SPACE, ["a"], storage=path)
    study.add({"x": 0.5}, {"a": 1.0})
    assert {p.stat().st_mode & 0o777 for p in tmp_path.iterdir()} == {0o660}
    study.close()
