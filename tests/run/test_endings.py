"""What takes too long is gone afterwards, even where it does not listen."""

import os
import signal
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from pesmo import Float, ProgramError, Space, Study
from pesmo.run import executors
from pesmo.run.programs import Program
from tests.waiting import gone, until, within

DEAF = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"])
with open(sys.argv[1] + ".part", "w") as file:
    file.write(f"{os.getpid()} {child.pid}")
os.rename(sys.argv[1] + ".part", sys.argv[1])
time.sleep(600)
"""


def test_a_program_that_ignores_being_asked_to_end_is_gone_after_its_time_out(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    (tmp_path / "deaf.py").write_text(DEAF, encoding="utf-8")
    try:
        for timeout in (2.0, 20.0, 90.0):  # on a busy machine it may take long to get as far as writing the file
            call = Program((sys.executable, "-I", "-S", str(tmp_path / "deaf.py"), str(pids)), timeout=timeout)
            with pytest.raises(ProgramError, match=f"ended after its time-out of {timeout:g} s"):
                within(lambda call=call: call({}), timeout + 30)
            if pids.exists():
                break
        program, child = pids.read_text().split()
        assert gone(program)  # when the call is over, not some time later
        until(lambda: gone(child))
    finally:
        kill(pids)


def kill(pids: Path) -> None:
    """What a failed test would leave behind."""
    for pid in pids.read_text().split() if pids.exists() else []:
        with suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)


def deaf(folder: Path, inputs: dict) -> dict:
    """The first evaluation neither ends nor listens."""
    try:
        (folder / "first").touch(exist_ok=False)
    except FileExistsError:
        return {"a": inputs["x"]}
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    (folder / "pid").write_text(str(os.getpid()), encoding="utf-8")
    while True:
        time.sleep(600)


def test_a_worker_that_ignores_being_asked_to_end_is_gone_after_the_time_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "GRACE", 0.2)
    for timeout in (4.0, 30.0, 90.0):  # a worker may take long to start
        study = Study(Space(x=Float(0, 1)), ["a"], seed=0, method="sobol")
        function = {"evaluate": partial(deaf, tmp_path)}
        limits = {"evaluations": 2, "evaluation_timeout": timeout, "progress": False}
        try:
            within(partial(study.run, function, **limits), timeout + 60)
            left = (tmp_path / "pid").exists() and not gone((tmp_path / "pid").read_text())
        finally:
            kill(tmp_path / "pid")
        if (tmp_path / "first").exists():
            break
    assert [t.state for t in study.trials] == ["failed", "complete"]
    assert study.trials[0].message == f"timeout: it took longer than {timeout:g} s and was stopped"
    assert not left


def test_workers_are_gone_when_their_run_is(tmp_path: Path) -> None:
    def here(inputs: dict) -> dict:
        (tmp_path / str(os.getpid())).touch()
        return {"a": inputs["x"]}

    study = Study(Space(x=Float(0, 1)), ["a"], seed=0, method="sobol")
    study.run({"evaluate": here}, evaluations=4, workers=2, progress=False)
    pids = [path.name for path in tmp_path.iterdir()]
    assert pids
    assert str(os.getpid()) not in pids
    assert all(gone(pid) for pid in pids)
