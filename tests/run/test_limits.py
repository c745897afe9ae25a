"""When a run ends and what it counts; that it holds its trials while it runs; what its bar shows."""

import sqlite3
import threading
from collections.abc import Collection
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

from pesmo import Experiment, Float, PesmoError, Space, StorageError, Study
from pesmo.run import loop
from pesmo.run.heartbeat import BEATS, Heartbeat
from pesmo.run.loop import Limits
from pesmo.run.progress import Bar
from tests.waiting import until, within

SPACE = Space(x=Float(0, 1))


def study(**changes) -> Study:
    return Study(SPACE, ["a"], [Experiment("e", ["a"], cost=2)], **{"seed": 0, "method": "sobol", **changes})


def once(inputs: dict) -> dict:
    return {"a": inputs["x"]}


@pytest.mark.parametrize(
    ("evaluations", "budget", "count", "cost", "room"),
    [
        (None, None, 10**6, 1e9, True),
        (5, None, 4, 1e9, True),
        (5, None, 5, 0.0, False),
        (None, 10.0, 10**6, 9.99, True),
        (None, 10.0, 0, 10.0, False),
        (5, 10.0, 4, 10.0, False),
        (5, 10.0, 5, 9.0, False),
        (5, 10.0, 4, 9.0, True),
    ],
)
def test_the_first_limit_that_is_reached_ends_a_run(evaluations, budget, count, cost, room) -> None:
    assert Limits(evaluations, budget, None).leave_room(count, cost) is room
    assert Limits(evaluations, budget, float("inf")).leave_room(count, cost) is room
    assert not Limits(evaluations, budget, 0.0).leave_room(count, cost)  # the time is over
    assert Limits(evaluations, budget, 0.0).is_late
    assert not Limits(evaluations, budget, None).is_late


def test_a_limit_counts_what_ended_failures_too_and_nothing_that_was_added() -> None:
    one = study()
    one.add({"x": 0.5}, {"a": 1.0})
    one.fail(one.ask())
    one.run({"e": once}, evaluations=3, progress=False)
    assert [t.state for t in one.trials] == ["complete", "failed", "complete", "complete"]


def test_a_trial_that_somebody_holds_without_a_lease_does_not_count() -> None:
    one = study()
    held = one.ask()
    one.run({"e": once}, evaluations=2, progress=False)
    assert [t.state for t in one.trials] == ["running", "complete", "complete"]
    one.tell(held, {"a": 1.0})


def test_a_budget_counts_what_the_trials_cost_and_the_last_may_overdraw_it() -> None:
    one = study()
    one.run({"e": once}, budget=5, progress=False)
    assert sum(t.cost for t in one.trials) == 6.0
    one.run({"e": lambda inputs: {"a": inputs["x"], "cost": 0.25}}, budget=6.5, progress=False)
    assert [t.cost for t in one.trials] == [2.0, 2.0, 2.0, 0.25, 0.25]
    one.run({"e": once}, budget=6.5, progress=False)  # it is spent
    assert len(one.trials) == 5


def test_a_success_between_failures_starts_their_count_anew() -> None:
    one = study()
    calls = []

    def flaky(inputs: dict) -> dict:
        calls.append(inputs)
        if len(calls) % 10:
            raise RuntimeError("no")
        return once(inputs)

    one.run({"e": flaky}, evaluations=25, progress=False)
    assert [t.state for t in one.trials].count("failed") == 23
    with pytest.raises(PesmoError, match="the last 10 trials failed"):
        one.run({"e": lambda inputs: 1 / 0}, evaluations=90, progress=False)
    assert len(one.trials) == 25 + 10


def test_a_single_objective_may_be_a_plain_number_and_several_may_not() -> None:
    one = study()
    one.run({"e": lambda inputs: inputs["x"]}, evaluations=2, progress=False)
    assert [t.values["a"] for t in one.trials] == [t.inputs["x"] for t in one.trials]
    two = Study(SPACE, ["a", "b"], seed=0, method="sobol")
    both = iter([0.5, {"a": 1.0, "b": 2.0}])
    two.run({"evaluate": lambda inputs: next(both)}, evaluations=2, progress=False)
    assert [t.state for t in two.trials] == ["failed", "complete"]
    assert "must be a dict of objective values" in (two.trials[0].message or "")


# -------------------------------------------------------------------------------------------------------- heartbeat


class Renewed:
    """A store of which only renewals are wanted."""

    def __init__(self, fails: bool = False) -> None:
        self.calls: list[set[int]] = []
        self._fails = fails

    def renew(self, trial_ids: Collection[int]) -> set[int]:
        self.calls.append(set(trial_ids))
        if self._fails:
            raise StorageError("the server is away")
        return set(trial_ids)


@pytest.mark.parametrize("fails", [False, True])
def test_what_is_held_is_renewed_again_and_again_until_it_is_not_held(fails: bool) -> None:
    store: Any = Renewed(fails)
    with Heartbeat(store, lease=0.06) as heart:
        heart.held.update({3, 5})
        until(lambda: len(store.calls) >= 3, 20)  # a storage that is away is asked again
        heart.held.discard(3)
        until(lambda: store.calls[-1] == {5}, 20)
        heart.held.clear()
    assert all(call in ({3, 5}, {5}) for call in store.calls)  # nobody is asked where nothing is held
    assert not heart._thread.is_alive()


def test_several_beats_fall_into_a_lease() -> None:
    waits = []
    heart = Heartbeat(Renewed(), lease=60.0)  # type: ignore[arg-type]

    class Over(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waits.append(timeout)
            return True

    heart._over = Over()
    with heart:
        pass
    assert waits == [60.0 / BEATS]
    assert BEATS >= 2


def test_a_run_renews_its_trial_while_it_evaluates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "LEASE", 1.0)
    path = tmp_path / "run.db"
    one = study(storage=path)

    def deadline() -> float:
        connection = sqlite3.connect(path)
        (found,) = connection.execute("SELECT deadline FROM pesmo_trials ORDER BY id DESC LIMIT 1").fetchone()
        connection.close()
        return found

    def patient(inputs: dict) -> dict:
        for _ in range(2):
            before = deadline()
            until(lambda before=before: deadline() > before, 20)
        return once(inputs)

    one.run({"e": patient}, evaluations=2, progress=False)
    assert [(t.state, t.retry_of) for t in one.trials] == [("complete", None)] * 2


# -------------------------------------------------------------------------------------------------------------- bar


def test_the_bar_counts_evaluations_or_cost() -> None:
    for evaluations, budget, total, text in [
        (7, 9.0, 7, "evaluations"),
        (None, 9.0, 9.0, "cost"),
        (None, None, None, ""),
    ]:
        bar = Bar(evaluations, budget, shown=False)
        bar.last = "a = 1"
        bar.show(3, 4.5)
        bar.say("thinking")
        task = bar._progress.tasks[0]
        assert task.total == total
        assert task.completed == (4.5 if text == "cost" else 3)
        assert task.description == "thinking"
        assert task.fields["last"] == "a = 1"


def test_the_bar_is_told_what_ended_and_what_it_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[int, float]] = []
    monkeypatch.setattr(Bar, "show", lambda _, evaluations, cost: shown.append((evaluations, cost)))
    one = study()
    one.add({"x": 0.5}, {"a": 1.0})
    one.run({"e": once}, evaluations=3, progress=False)
    assert list(dict.fromkeys(shown)) == [(0, 0), (1, 2.0), (2, 4.0), (3, 6.0)]


# ------------------------------------------------------------------------------------------------- beside others


@pytest.mark.parametrize("limit", [{"evaluations": 3}, {"budget": 6}])
def test_what_runs_elsewhere_counts_and_is_waited_for(limit: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another holds one of three: two are left for this run, which ends when the third has."""
    monkeypatch.setattr(loop, "POLL", 0.01)
    one = study()
    elsewhere = one.ask(lease=600)
    waited: list[str] = []

    def say(_: Bar, what: str) -> None:
        waited.append(what)
        if waited.count("waiting for 1 elsewhere") == 3:
            one.tell(elsewhere, {"a": 1.0})

    monkeypatch.setattr(Bar, "say", say)
    within(lambda: one.run({"e": once}, progress=False, **limit), 30)
    assert [t.state for t in one.trials] == ["complete"] * 3
    assert waited.count("waiting for 1 elsewhere") == 3
    assert waited[-1] == "done"


def test_what_was_held_elsewhere_and_is_given_back_is_run_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "POLL", 0.01)
    one = study()
    elsewhere = one.ask(lease=600)
    monkeypatch.setattr(
        Bar, "say", lambda _, what: one.release([elsewhere]) if what.startswith("waiting for 1 elsewhere") else None
    )
    within(lambda: one.run({"e": once}, evaluations=3, progress=False), 30)
    assert [t.state for t in one.trials] == ["abandoned", "complete", "complete", "complete"]
    assert one.trials[3].retry_of == 1


class Unwilling(Executor):
    """Cancels the first call, as a cluster that is taken away does."""

    def __init__(self) -> None:
        self.calls = 0

    def submit(self, fn, /, *args, **kwargs) -> Future:
        future: Future = Future()
        self.calls += 1
        if self.calls == 1:
            future.cancel()
            future.set_running_or_notify_cancel()
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_a_call_that_its_executor_cancelled_is_given_back_and_asked_again() -> None:
    one = study()
    within(lambda: one.run({"e": once}, evaluations=2, executor=Unwilling(), progress=False), 30)
    assert [(t.state, t.retry_of, t.message) for t in one.trials] == [
        ("abandoned", None, "released"),
        ("complete", 1, None),
        ("complete", None, None),
    ]


def test_the_bar_says_how_the_latest_trial_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    bars: list[Bar] = []
    monkeypatch.setattr(Bar, "__enter__", lambda bar: (bars.append(bar), bar)[1])
    monkeypatch.setattr(Bar, "__exit__", lambda *_: None)
    one = study()
    one.run({"e": lambda inputs: {"a": 1 / 3, "cost": 5}}, evaluations=1, progress=False)
    assert bars[-1].last == "a = 0.3333"
    one.run({"e": lambda inputs: 1 / 0}, evaluations=2, progress=False)
    assert bars[-1].last == "ZeroDivisionError: division by zero"
    assert one.trials[1].message == "ZeroDivisionError: division by zero"
    one.run({"e": lambda inputs: {"b": 1.0}}, evaluations=3, progress=False)
    assert bars[-1].last == "ResultError: unknown objective 'b'; missing objective 'a'; expected exactly ['a']"


def test_a_function_gets_the_inputs_of_its_trial_and_may_do_with_them_what_it_likes() -> None:
    one = study()
    seen = []

    def greedy(inputs: dict) -> float:
        seen.append(dict(inputs))
        return inputs.pop("x")

    one.run({"e": greedy}, evaluations=2, progress=False)
    assert [t.inputs for t in one.trials] == seen


class Interrupted(Executor):
    """Ctrl-C comes with the second call, when the first is just done."""

    def __init__(self) -> None:
        self.first: Future = Future()

    def submit(self, fn, /, *args, **kwargs) -> Future:
        if not self.first.running():
            self.first.set_running_or_notify_cancel()
            return self.first
        self.first.set_result({"a": 0.25})
        raise KeyboardInterrupt


def test_a_result_that_is_there_when_a_run_is_interrupted_is_told() -> None:
    one = study()
    with pytest.raises(KeyboardInterrupt):
        one.run({"e": once}, evaluations=5, workers=2, executor=Interrupted(), progress=False)
    assert [(t.state, t.values) for t in one.trials] == [("complete", {"a": 0.25}), ("abandoned", {})]
