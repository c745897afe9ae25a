"""What a study survives: kills, crowds, stopped processes, full disks, lost servers. Real processes, real signals."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pesmo import Float, Space, Study, TrialError
from tests.fault.kill_loop import one_round
from tests.fault.kills import POINTS

ROOT = Path(__file__).parents[2]


def start(*arguments: str, log: Path | str = "") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.fault.processes", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        start_new_session=True,
        env={**os.environ, "LOG": str(log), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )


def finish(process: subprocess.Popen[str]) -> dict:
    try:
        out, err = process.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # what it forked too: a child that is stopped holds the pipes open
        pytest.fail(f"{process.args}: {process.communicate()[1]}")
    assert process.returncode == 0, err
    return json.loads(out)


def scenario(*arguments: str, log: Path | str = "") -> dict:
    return finish(start(*arguments, log=log))


@pytest.fixture(params=["sqlite", "postgresql"])
def storage(request, tmp_path) -> str:
    if request.param == "postgresql":
        return request.getfixturevalue("postgres").new_database()
    return str(tmp_path / "study.db")


def distinct(study: Study) -> int:
    return len({tuple(t.inputs.values()) for t in study.trials})


@pytest.mark.parametrize(("processes", "trials"), [(8, 20), (32, 20), (100, 5)])
def test_a_crowd_starts_at_once_on_a_file_that_is_not_there(tmp_path, processes: int, trials: int) -> None:
    path = tmp_path / "study.db"
    assert scenario("crowd", str(path), str(processes), str(trials)) == {"errors": []}
    study = Study.open(path)
    assert [t.id for t in study.trials] == list(range(1, processes * trials + 1))
    assert {t.state for t in study.trials} == {"complete"}
    assert distinct(study) == processes * trials


def test_a_crowd_starts_at_once_on_an_empty_server(postgres) -> None:
    url = postgres.new_database()
    assert scenario("crowd", url, "32", "5") == {"errors": []}
    study = Study.open(url)
    assert len(study.trials) == distinct(study) == 160
    study.close()


def test_of_many_tellers_exactly_one_wins_and_a_replay_gives_the_same_answer(storage) -> None:
    for count, report in scenario("tellers", storage, "2", "8", "32").items():
        assert report["errors"] == []
        winners = [a for a in report["answers"] if a[0] != "refused"]
        assert winners == [[report["stored"]] * 2]
        assert report["answers"].count(["refused", "refused"]) == int(count) - 1


def test_what_many_import_at_once_is_added_once(storage) -> None:
    assert scenario("imports", storage, "8") == {"added": [1] * 7 + [201]}
    study = Study.open(storage)
    assert [t.id for t in study.trials] == list(range(1, 209))
    shared = [t for t in study.trials if t.inputs["y"] == 0.5 and "b" in t.values]
    assert sorted(t.inputs["x"] for t in shared) == sorted([i / 100 for i in range(100)] * 2)
    study.close()


def test_killed_at_every_named_point_nothing_is_lost_and_the_study_resumes(request, tmp_path, storage) -> None:
    if storage.startswith("postgresql"):
        server = request.getfixturevalue("postgres")
        storages = [server.new_database() for _ in POINTS]
    else:
        storages = [str(tmp_path / f"{i}.db") for i in range(len(POINTS))]
    report = scenario("killed", "|".join(storages))
    whole = report.pop("whole")
    for point, found in report.items():
        assert found["ended"] == 9, (point, found)
        for trial_id, state, inputs, values, *_ in found["left"]:
            assert state in ("running", "complete"), point
            assert (set(values) == {"a", "b"}) == (state == "complete"), point
            assert whole[found["method"]][trial_id - 1][2] == inputs, point
        resumed = found["resumed"]["result"]
        told = {trial[0]: trial[3] for trial in resumed}
        assert all(told[t[0]] == t[3] for t in found["left"] if t[1] == "complete"), point
        kept = [t[1:5] for t in resumed if t[1] != "abandoned"]
        assert kept == [t[1:5] for t in whole[found["method"]]], point


def test_workers_are_killed_at_random_until_100_trials_are_complete(storage, tmp_path) -> None:
    log = tmp_path / "told"
    report = scenario("killing", storage, "1", log=log)
    counts = report["counts"]
    assert counts == sorted(counts)
    assert counts[-1] >= 100
    assert report["kills"] >= 5
    study = Study.open(storage)
    trials = {t.id: t for t in study.trials}
    for line in log.read_text().splitlines():
        trial_id, values = json.loads(line)
        assert (trials[trial_id].state, trials[trial_id].values) == ("complete", values)
    complete = [tuple(t.inputs.values()) for t in trials.values() if t.state == "complete"]
    assert len(set(complete)) == len(complete)
    assert {t.state for t in trials.values()} <= {"complete", "abandoned", "running"}
    study.close()


def test_two_runs_are_killed_in_every_way_and_nothing_is_lost_doubled_or_left(tmp_path) -> None:
    kinds = ("KILL process", "KILL tree", "KILL worker", "TERM twice")
    count = one_round(tmp_path, str(tmp_path / "study.db"), random.Random(0), kinds)
    assert (count.lost, count.doubled, count.left, count.remarks) == (0, 0, 0, [])
    assert count.kills == len(kinds) + 2
    assert count.complete >= 8


def test_a_stopped_worker_lives_on_and_its_late_result_is_kept(storage, tmp_path) -> None:
    report = scenario("stopped", storage, log=tmp_path / "gate")
    assert report["held"]
    assert report["abandoned"] == "abandoned"
    assert "error" not in report["worker"]
    assert report["trials"][:2] == [[1, "complete"], [2, "complete"]]
    assert all(state == "complete" for _, state in report["trials"])
    study = Study.open(storage)
    assert study.trials[1].retry_of == 1
    assert study.trials[1].inputs == study.trials[0].inputs  # two observations of one point
    assert len(study._view.evidence().observations[0].values) == len(report["trials"])
    study.close()


def test_nobody_waits_for_a_client_that_fell_silent_inside_a_transaction(postgres) -> None:
    report = scenario("silent", postgres.new_database())
    assert report == {"told": {"a": 1.0, "b": 1.0}, "worker": {"result": 1}}  # 1: its second attempt


@pytest.mark.parametrize("jump", [3600.0, -3600.0])
def test_a_clock_that_jumps_an_hour_breaks_no_lease(storage, jump: float, monkeypatch) -> None:
    study = Study(Space(x=Float(0, 1)), ["a"], seed=0, method="random", storage=storage)
    held = study.ask(lease=600)
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + jump)
    assert study.retry() is None
    held.renew()
    short = study.ask(lease=0.2)
    monkeypatch.setattr(time, "time", real)
    deadline = time.monotonic() + 60
    while (again := study.retry()) is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert again is not None
    assert again.retry_of == short.id
    assert study.trials[0].state == "running"
    with pytest.raises(TrialError, match="is abandoned and cannot be renewed"):
        short.renew()
    study.close()


def test_a_full_disk_is_a_clear_error_and_loses_nothing(tmp_path) -> None:
    report = scenario("full", str(tmp_path / "study.db"))
    assert "what was told before is safe" in report["answer"]["result"]["error"]
    assert 0 < report["kept"] == report["answer"]["result"]["told"] < 5000
    assert report["after"] == report["kept"] + 1


def test_a_read_only_file_is_a_clear_error_and_changes_nothing(tmp_path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    report = scenario("readonly", str(folder / "study.db"))
    assert "writable" in report["answer"]["result"]["error"]
    assert report["kept"] == 1


def test_a_server_that_restarts_is_a_pause(postgres, tmp_path) -> None:
    url, log = postgres.new_database(), tmp_path / "log"
    process = start("going_on", url, "250", log=log)
    deadline = time.monotonic() + 120
    for mode, told in (("fast", 20), ("immediate", 120)):
        while not (log.exists() and int(log.read_text() or 0) >= told) and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        postgres.stop(mode)
        postgres.start()
    report = finish(process)
    assert [trial_id for trial_id, _ in report["told"]] == list(range(1, 251))
    study = Study.open(url)
    assert [[t.id, t.values] for t in study.trials] == report["told"]
    assert distinct(study) == 250
    study.close()
