"""Running a study: limits, workers, outcomes, interruptions."""

import functools
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from pesmo import DefinitionError, Experiment, Finished, Float, Objective, RunError, Space, Study
from pesmo.run import loop
from pesmo.run.executors import Processes
from pesmo.store.owner import _started, this_process
from tests.run.functions import both, misbehave
from tests.waiting import gone, until

SPACE = Space(x=Float(0, 1), y=Float(0, 1))


def study(storage: Path | None = None, **changes) -> Study:
    return Study(SPACE, ["a", "b"], seed=0, storage=storage, **changes)


@pytest.fixture(params=["memory", "sqlite"])
def place(request, tmp_path) -> Path | None:
    return None if request.param == "memory" else tmp_path / "run.db"


def states(study: Study) -> list[str]:
    return [t.state for t in study.trials]


def test_local_processes_evaluate_any_function_even_a_closure(place) -> None:
    shift = 3.0
    here = os.getpid()

    def shifted(inputs: dict) -> dict:
        assert os.getpid() != here
        return {name: value + shift for name, value in both(inputs).items()}

    one = study(place)
    front = one.run({"evaluate": shifted}, evaluations=5, workers=2, progress=False)
    assert states(one) == ["complete"] * 5
    assert len({tuple(t.inputs.values()) for t in one.trials}) == 5
    assert all(t.values["a"] >= shift for t in one.trials)
    assert len(front) > 0


def test_exceptions_timeouts_and_crashes_are_failed_trials_and_the_run_goes_on(tmp_path) -> None:
    one = study()
    function = functools.partial(misbehave, tmp_path)
    one.run({"evaluate": function}, evaluations=7, workers=2, evaluation_timeout=10, progress=False)
    messages = [t.message or "" for t in one.trials if t.state == "failed"]
    assert len(messages) == 5
    for words in (
        "ValueError: it <b>diverged</b> [red]",
        "the worker process died: killed by SIGSEGV",
        "timeout: it took longer than 10 s and was stopped",
        "objective 'a' must be a finite number, not 'nonsense'",
        "SystemExit: 3",
    ):
        assert any(words in message for message in messages), messages
    assert states(one).count("complete") == 2


def test_a_worker_that_dies_is_noticed_though_its_children_live(tmp_path) -> None:
    pid = tmp_path / "pid"

    def dies(inputs: dict) -> dict:
        child = os.fork()
        if child == 0:
            time.sleep(600)  # with all that the worker had open
        pid.write_text(str(child))
        os.kill(os.getpid(), signal.SIGKILL)
        return both(inputs)

    one = study()
    with pytest.raises(RunError, match="the worker process died: killed by SIGKILL"):
        one.run({"evaluate": dies}, evaluations=5, workers=2, max_failures=1, progress=False)
    until(lambda: gone(pid.read_text()))


def test_a_worker_that_starts_while_the_others_are_ended_is_ended_too() -> None:
    pool = Processes(1)
    pool._stopping = True
    worker = pool._new()
    assert worker.is_gone
    pool.shutdown(cancel_futures=True)


def test_too_many_failures_in_a_row_stop_the_run_with_the_reason(place) -> None:
    one = study(place)
    with pytest.raises(RunError, match="the last 10 trials failed, .*The latest: ZeroDivisionError"):
        one.run({"evaluate": lambda inputs: 1 / 0}, evaluations=50, workers=2, progress=False)
    counted = states(one)
    assert counted.count("failed") >= 10
    assert "running" not in counted


def test_a_result_may_carry_what_it_really_cost_and_a_budget_counts_that() -> None:
    one = study()
    one.run({"evaluate": lambda inputs: {**both(inputs), "cost": 4.0}}, budget=10, progress=False)
    assert [t.cost for t in one.trials] == [4.0, 4.0, 4.0]
    named = Study(SPACE, [Objective("cost")], [Experiment("pay", ["cost"], cost=2)], seed=0)
    named.run({"pay": lambda inputs: {"cost": inputs["x"]}}, evaluations=2, progress=False)
    assert [t.cost for t in named.trials] == [2.0, 2.0]
    assert named.trials[0].values == {"cost": named.trials[0].inputs["x"]}


def test_a_timeout_starts_no_more_trials() -> None:
    one = study()
    one.run({"evaluate": both}, timeout=100, evaluations=1, progress=False)
    assert len(one.trials) == 1
    one.run({"evaluate": lambda i: (time.sleep(0.2), both(i))[1]}, timeout=0.5, progress=False)
    assert 1 <= len(one.trials) <= 4
    assert "running" not in states(one)


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_any_executor_of_concurrent_futures_will_do(place, kind: str) -> None:
    spawn = get_context("spawn")
    pool = ThreadPoolExecutor(3) if kind == "threads" else ProcessPoolExecutor(2, mp_context=spawn)
    with pool as executor:
        one = study(place)
        one.run({"evaluate": both}, evaluations=5, workers=3, executor=executor, progress=False)
    assert states(one) == ["complete"] * 5


class Recording(Executor):
    """Evaluates in two threads, neither of which ends before three trials were given out."""

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(2)
        self.submitted = 0
        self.full = threading.Event()  # three were given out before one of them was done

    def submit(self, fn, /, *args, **kwargs) -> Future:
        self.submitted += 1
        if self.submitted == 3:
            self.full.set()
        return self.pool.submit(self._call, fn, *args)

    def _call(self, fn, *args):
        assert self.full.wait(120)
        return fn(*args)


def test_the_next_trial_is_ready_before_a_worker_is() -> None:
    executor = Recording()
    one = study()
    one.run({"evaluate": both}, evaluations=5, workers=2, executor=executor, progress=False)
    executor.pool.shutdown()
    assert states(one) == ["complete"] * 5


def test_ctrl_c_releases_what_runs_and_the_study_resumes(place) -> None:
    one, other = study(place), study(None)
    calls = []

    def interrupted(inputs: dict) -> dict:
        calls.append(inputs)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return both(inputs)

    with pytest.raises(KeyboardInterrupt):
        one.run({"evaluate": interrupted}, evaluations=7, progress=False)
    assert states(one) == ["complete", "complete", "abandoned"]
    assert one.trials[2].message == "released"
    if place is not None:
        one = Study.open(place)
    one.run({"evaluate": interrupted}, evaluations=7, progress=False)
    other.run({"evaluate": both}, evaluations=7, progress=False)
    kept = [t for t in one.trials if t.state == "complete"]
    assert [(t.inputs, t.values, t.gain) for t in kept] == [(t.inputs, t.values, t.gain) for t in other.trials]


def test_ctrl_c_with_worker_processes_keeps_what_is_done(tmp_path) -> None:
    one = study(tmp_path / "run.db")
    seen = threading.Event()

    def slow(inputs: dict) -> dict:
        if inputs["x"] > 0.5:
            time.sleep(300)
        return both(inputs)

    def interrupt() -> None:
        watcher = Study.open(tmp_path / "run.db")
        give_up = time.monotonic() + 120
        while time.monotonic() < give_up:  # until both workers sleep and the next trial is ready
            now = states(watcher)
            if now.count("complete") >= 1 and now.count("running") == 3:
                break
            time.sleep(0.1)
        time.sleep(1.0)
        watcher.close()
        seen.set()
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        one.run({"evaluate": slow}, evaluations=30, workers=2, progress=False)
    assert seen.is_set()
    assert "running" not in states(one)
    assert states(one).count("complete") >= 1
    assert states(one).count("abandoned") >= 1


def test_two_runs_share_a_study_and_count_each_others_trials(tmp_path) -> None:
    ones = [study(tmp_path / "run.db") for _ in range(2)]
    threads = [
        threading.Thread(target=one.run, args=({"evaluate": both},), kwargs={"evaluations": 8, "progress": False})
        for one in ones
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    trials = ones[0].trials
    assert 8 <= len(trials) <= 9
    assert len({tuple(t.inputs.values()) for t in trials}) == len(trials)


def test_what_somebody_else_ended_keeps_the_measured_result_beside_it() -> None:
    one = study()

    def failed_by_hand(inputs: dict) -> dict:
        if len(one.trials) == 1:
            one.fail(1, "by hand")
        return both(inputs)

    one.run({"evaluate": failed_by_hand}, evaluations=2, progress=False)
    assert [(t.state, t.note) for t in one.trials[:2]] == [("failed", "design"), ("complete", "added")]


def test_a_machine_that_starts_no_more_processes_ends_the_run_and_costs_no_trial(monkeypatch) -> None:
    def refused(*_args, **_kwargs):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    one = study()
    monkeypatch.setattr(subprocess, "Popen", refused)
    with pytest.raises(RunError, match="cannot start a worker process: .*Resource temporarily unavailable"):
        one.run({"evaluate": both}, evaluations=50, workers=2, progress=False)
    assert set(states(one)) == {"abandoned"}


def test_a_run_whose_method_has_nothing_left_to_ask_ends_normally(monkeypatch) -> None:
    one = study()
    ask = one._ask

    def finished(*args, **kwargs):
        if len(one.trials) == 3:
            raise Finished("found")
        return ask(*args, **kwargs)

    monkeypatch.setattr(one, "_ask", finished)
    front = one.run({"evaluate": both}, evaluations=20, progress=False)
    assert states(one) == ["complete"] * 3
    assert len(front) > 0


def test_a_limit_that_is_reached_runs_nothing_even_if_something_was_abandoned(place) -> None:
    one = study(place)
    one.run({"evaluate": both}, evaluations=2, progress=False)
    one.release([one.ask()])
    one.run({"evaluate": lambda inputs: 1 / 0}, evaluations=2, progress=False)
    assert states(one) == ["complete", "complete", "abandoned"]
    one.run({"evaluate": both}, evaluations=3, progress=False)
    assert states(one) == ["complete", "complete", "abandoned", "complete"]
    assert one.trials[3].retry_of == 3


def test_trials_of_a_process_that_died_are_run_to_reach_the_limit(tmp_path) -> None:
    one = study(tmp_path / "run.db")
    one.ask(lease=600)
    with sqlite3.connect(tmp_path / "run.db") as connection:
        connection.execute("UPDATE pesmo_trials SET owner = ?", [this_process_dead()])
    connection.close()
    other = Study.open(tmp_path / "run.db")
    other.run({"evaluate": both}, evaluations=1, progress=False)
    assert [(t.state, t.retry_of) for t in other.trials] == [("abandoned", None), ("complete", 1)]


def this_process_dead() -> str:
    """The name of a process of this machine that is no more."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    name = f"{this_process()}".split("/")
    started = _started(child.pid)
    child.communicate(timeout=120)
    return "/".join([*name[:-2], str(child.pid), str(started)])


def test_bad_arguments_are_named() -> None:
    one = study()
    with ThreadPoolExecutor(1) as pool:
        for arguments, words in [
            ({}, "at least one limit"),
            ({"evaluations": 0}, "evaluations must be a whole number"),
            ({"evaluations": 2.5}, "evaluations must be a whole number"),
            ({"budget": -1}, "budget must be a number > 0"),
            ({"timeout": 0}, "timeout must be a number > 0"),
            ({"evaluations": 3, "workers": 0}, "workers must be a whole number"),
            ({"evaluations": 3, "executor": 7}, "executor must be"),
            ({"evaluations": 3, "executor": pool, "evaluation_timeout": 3}, "is for local processes"),
        ]:
            with pytest.raises(DefinitionError, match=words):
                loop.run(one, {"evaluate": both}, progress=False, **arguments)
        with pytest.raises(DefinitionError, match="cannot be sent to a worker process"):
            lock = threading.Lock()
            loop.run(one, {"evaluate": lambda i: (lock, both(i))[1]}, evaluations=2, workers=2, progress=False)
    assert one.trials == []
