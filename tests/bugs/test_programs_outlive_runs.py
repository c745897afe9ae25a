"""Programs that ignored SIGTERM outlived their run, and so did those of a worker or a run that was killed outright.

A second SIGTERM raised inside the killing, before it came to SIGKILL; and a program had nobody but its worker.
"""

import os
import pty
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pesmo import Study
from pesmo.run.guard import descendants
from tests.cli.conftest import STUDY
from tests.waiting import gone, until

# Ignores what can be ignored, has a child in its group and one that has left it, and says so in a file.
STUBBORN = """
import os, signal, subprocess, sys, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
sleep = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"]
pids = [os.getpid(), *(subprocess.Popen(sleep, start_new_session=new).pid for new in (False, True))]
with open(f"{os.getpid()}.part", "w") as file:
    file.write(" ".join(map(str, pids)))
os.rename(f"{os.getpid()}.part", f"{os.getpid()}.pids")
time.sleep(600)
"""
PATIENT = """
import os, time
open("patient.pids", "w").close()
while not os.path.exists("go"):
    time.sleep(0.02)
print('{"a": 1, "b": 2}')
"""
SCRIPT = """
import subprocess, sys
from pesmo import Float, Space, Study

def stubborn(inputs):
    subprocess.Popen([sys.executable, "-I", "-S", "stubborn.py"]).wait()  # not by pesmo, and in no group of its own

study = Study(Space(x=Float(0, 1)), ["a"], seed=0, method="random")
study.run({"evaluate": stubborn}, evaluations=2, workers=2, progress=False)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "stubborn.py").write_text(STUBBORN, encoding="utf-8")
    command = '["{python}", "-I", "-S", "stubborn.py"]'
    study = STUDY.replace('["{python}", "-S", "both.py"]', command)
    (tmp_path / "study.toml").write_text(study, encoding="utf-8")
    return tmp_path


def start(folder: Path, programs: int, *command: str) -> subprocess.Popen[bytes]:
    """A run, as soon as that many of its programs run."""
    environment = {**os.environ, "PESMO_TEST": str(folder)}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen([sys.executable, *command], cwd=folder, stdout=log, stderr=log, env=environment)
    until(lambda: process.poll() is not None or len(list(folder.glob("*.pids"))) == programs)
    assert process.poll() is None, (folder / "log").read_text()
    return process


def started(folder: Path) -> list[str]:
    """Every program and its children, by process id."""
    return [pid for path in folder.glob("*.pids") for pid in path.read_text().split()]


def left(folder: Path, in_group: bool = False) -> list[str]:
    """Those that are still there; `in_group`: not counting those that have left the group of their program."""
    daemons = [path.read_text().split()[2] for path in folder.glob("*.pids") if in_group]
    return [pid for pid in started(folder) if pid not in daemons and not gone(pid)]


def guards(folder: Path) -> list[int]:
    """They are no children of the run: they belong to it by its environment."""
    all_of_them = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()]
    mark = f"PESMO_TEST={folder}".encode()
    return [pid for pid in all_of_them if b"guard.py" in read(pid, "cmdline") and mark in read(pid, "environ")]


def read(pid: int, what: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{what}").read_bytes()
    except OSError:
        return b""


def end(pids: list[str]) -> None:
    for pid in pids:
        os.kill(int(pid), signal.SIGKILL)


@pytest.mark.parametrize(("number", "workers"), [(signal.SIGINT, 1), (signal.SIGTERM, 2), (signal.SIGHUP, 2)])
def test_nothing_is_left_when_a_run_that_was_asked_twice_to_end_is_gone(
    number: signal.Signals, workers: int, folder: Path
) -> None:
    process = start(folder, workers, "-m", "pesmo", "run", "--workers", str(workers))
    again = threading.Event()

    def insist() -> None:
        while not again.wait(0.2):
            process.send_signal(number)

    process.send_signal(number)
    threading.Thread(target=insist, daemon=True).start()
    code = process.wait(120)
    again.set()
    assert left(folder) == []
    assert code == 130, (folder / "log").read_text()
    assert "Traceback" not in (folder / "log").read_text()
    assert len(started(folder)) == 3 * workers


def test_a_closed_terminal_ends_a_run_in_order(folder: Path) -> None:
    ours, theirs = pty.openpty()
    code = "import os, sys; os.login_tty(0); os.execv(sys.executable, [sys.executable, '-m', 'pesmo', 'run'])"
    process = subprocess.Popen([sys.executable, "-c", code], cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    until(lambda: process.poll() is not None or list(folder.glob("*.pids")))
    os.close(ours)
    assert process.wait(120) == 130
    assert left(folder) == []
    study = Study.open(folder / "study.db")
    assert [t.state for t in study.trials] == ["abandoned"]  # given back
    study.close()


def test_under_nohup_a_closed_terminal_does_not_end_a_run(folder: Path) -> None:
    (folder / "stubborn.py").write_text(PATIENT, encoding="utf-8")
    ignoring = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); from pesmo.cli.app import main; main()"
    process = start(folder, 1, "-c", ignoring, "run", "--evaluations", "1")
    process.send_signal(signal.SIGHUP)
    (folder / "go").touch()
    assert process.wait(120) == 0, (folder / "log").read_text()


@pytest.mark.parametrize("what", ["run", "worker", "guard", "tree"])
def test_nothing_is_left_of_what_is_killed_outright(what: str, folder: Path) -> None:
    process = start(folder, 2, "-m", "pesmo", "run", "--workers", "2", "--evaluations", "2")
    try:
        tree = [process.pid, *descendants(process.pid)]
        workers = [pid for pid in tree if b"pesmo.run.worker" in read(pid, "cmdline")]
        killed = {"run": [process.pid], "worker": workers, "guard": guards(folder), "tree": tree}[what]
        assert len(killed) == {"run": 1, "worker": 2, "guard": 2, "tree": 3}[what]
        (folder / "stubborn.py").write_text('print(\'{"a": 1, "b": 2}\')', encoding="utf-8")
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        until(lambda: left(folder, in_group=what == "guard") == [], 30)  # whom a daemon belongs to only its guard knows
        assert process.wait(120) == (1 if what in ("worker", "guard") else -signal.SIGKILL)  # 1: no trial succeeded
    finally:
        process.kill()
        process.wait(120)
        end(left(folder))


@pytest.mark.parametrize("how", ["killed", "interrupted"])
def test_what_a_python_function_has_started_ends_with_the_run(how: str, folder: Path) -> None:
    (folder / "script.py").write_text(SCRIPT, encoding="utf-8")
    process = start(folder, 2, "script.py")
    process.send_signal(signal.SIGKILL if how == "killed" else signal.SIGINT)
    process.wait(120)
    try:
        if how == "interrupted":
            assert left(folder, in_group=True) == []
        until(lambda: left(folder, in_group=True) == [], 30)
    finally:
        end(left(folder))  # one that leaves its group is the function's own affair
