"""A lease lasts as long as it says: whoever asks by hand may go; only a run's own process may be found dead before."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pesmo import Float, Space, Study
from pesmo.store import owner
from pesmo.store.owner import is_dead, this_process
from tests.waiting import until

SPACE = Space(x=Float(0, 1))
ROOT = Path(__file__).parents[2]


def python(script: str, *arguments: object) -> list[str]:
    return [sys.executable, "-c", script, *map(str, arguments)]


def ended(script: str, *arguments: object) -> int:
    """The exit code of a process that runs this script."""
    return subprocess.run(python(script, *arguments), stdout=subprocess.DEVNULL, cwd=ROOT, check=False).returncode


ASK = """
import sys
from pesmo import Study
study = Study.open(sys.argv[1])
print(study.ask(lease=600).id)
"""
COMMAND = """
import sys
from pesmo.cli.app import main
sys.argv[1:] = ["ask", sys.argv[1], "--lease", "600", "--json"]
main()
"""


@pytest.mark.parametrize("script", [ASK, COMMAND], ids=["study.ask", "pesmo ask"])
def test_what_was_asked_by_hand_is_held_after_the_process_that_asked_has_ended(tmp_path, script: str) -> None:
    study = Study(SPACE, ["a"], seed=0, method="random", storage=tmp_path / "study.db")
    for _ in range(2):
        assert ended(script, tmp_path / "study.db") == 0
    third = study.ask(lease=600)
    assert study.retry(lease=600) is None
    assert [t.state for t in study.trials] == ["running"] * 3
    assert len({t.inputs["x"] for t in study.trials}) == 3
    assert third.retry_of is None


def test_what_was_asked_again_by_hand_is_held_likewise(tmp_path) -> None:
    study = Study(SPACE, ["a"], seed=0, method="random", storage=tmp_path / "study.db")
    study.release([study.ask(lease=600)])
    assert ended(ASK.replace("ask(", "retry("), tmp_path / "study.db") == 0
    assert study.retry() is None
    assert [t.state for t in study.trials] == ["abandoned", "running"]


def test_a_lease_without_owner_still_ends_by_the_clock(tmp_path) -> None:
    study = Study(SPACE, ["a"], seed=0, method="random", storage=tmp_path / "study.db")
    trial = study.ask(lease=0.05)
    until(lambda: study.retry(lease=600))
    assert [t.state for t in study.trials] == ["abandoned", "running"]
    assert study.trials[1].retry_of == trial.id


RUN = """
import sys, time
from pesmo import Study
def evaluate(inputs):
    print("running", flush=True)
    time.sleep(600)
Study.open(sys.argv[1]).run({"evaluate": evaluate}, evaluations=9, progress=False)
"""


def test_a_trial_of_a_run_that_was_killed_is_free_before_its_lease_is_over(tmp_path) -> None:
    study = Study(SPACE, ["a"], seed=0, method="random", storage=tmp_path / "study.db")
    with subprocess.Popen(python(RUN, tmp_path / "study.db"), stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        assert study.retry() is None
        process.kill()
    again = study.retry()  # at once: a run's lease is a minute
    assert again is not None
    assert again.retry_of == 1


# ------------------------------------------------------------------------------------------------- who is dead


def named(pid: int, started: object = 1) -> str:
    """The owner's name that a process of this machine has."""
    return f"{owner._here()}/{pid}/{started}"


def test_this_process_lives_and_one_of_another_machine_is_not_ours_to_judge() -> None:
    me = this_process()
    assert me is not None
    assert not is_dead(me)
    assert not is_dead("another boot/pid:[1]/1/1")


def test_a_process_that_has_ended_is_dead_reaped_or_not() -> None:
    child = subprocess.Popen(["sleep", "600"])
    name = named(child.pid, owner._started(child.pid))
    assert not is_dead(name)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # a zombie
    assert is_dead(name)
    child.wait()
    assert is_dead(name)


def test_another_process_under_a_used_id_is_not_the_owner() -> None:
    assert is_dead(named(os.getpid(), "0"))


def test_what_proc_hides_lives(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """hidepid=2 hides other users' folders in /proc, hidepid=1 forbids to read them."""
    child = subprocess.Popen(["sleep", "600"])
    name = named(child.pid, owner._started(child.pid))
    monkeypatch.setattr(owner, "PROC", tmp_path)
    assert not is_dead(name)
    child.kill()
    child.wait()
    assert is_dead(name)


def test_who_may_not_be_signalled_lives(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(pid: int, number: int) -> None:
        assert (pid, number) == (1, 0)
        raise PermissionError

    monkeypatch.setattr(owner, "PROC", tmp_path)
    monkeypatch.setattr(os, "kill", refused)
    assert not is_dead(named(1))


def test_where_proc_is_another_namespaces_nobody_has_a_name(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "self").symlink_to("1")
    monkeypatch.setattr(owner, "PROC", tmp_path)
    assert owner._here.__wrapped__() is None


OTHER = """
import os, sys
from pesmo.store.owner import is_dead
if os.geteuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)  # nobody
sys.exit(is_dead(sys.argv[1]))
"""


def test_another_users_process_is_seen_alive_by_who_may_not_signal_it() -> None:
    assert ended(OTHER, named(1, owner._started(1))) == 0
