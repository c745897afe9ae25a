"""One suite over every store: the promises of store/contract.py."""

import ast
import json
from dataclasses import replace
from pathlib import Path

import pytest

import pesmo.store
from pesmo.problem import Trial
from pesmo.store import open_study
from pesmo.store.contract import Outcome, Proposal, Record, Store, Terms
from pesmo.store.sql import SqlStore
from tests.clock import Clock

NASTY = [
    "Robert'); DROP TABLE pesmo_trials;--",
    "\"quotes\" and 'quotes' and `quotes`",
    "../../etc/passwd",
    "<script>alert(1)</script>",
    "nul \0 inside, lone surrogate \ud800, tab\t, newline\n",
    "日本語 العربية 🎉 " * 600,  # more than 10 kB
    "%s %(name)s :name ? {x} \\",
]


def same(one, other) -> bool:
    return one == other


def proposal(after: int = 0, *points: dict, experiment: str = "run", **changes) -> Proposal:
    some = list(points) or [{"x": 0.5 + after / 1000}]
    fields = {"gain": 1.5, "note": None, "memory": None, "clash": same, **changes}
    return Proposal(experiment, some, [2.0] * len(some), after=after, **fields)


def reserved(store: Store, proposed: Proposal, terms: Terms = Terms()) -> Record:  # noqa: B008 (frozen)
    record = store.reserve(proposed, terms)
    assert record is not None
    return record


def test_a_study_comes_back_with_its_definition_and_trials(place) -> None:
    store = open_study(place, "one", {"format": 1, "π": [0.1, True, None]})
    first = reserved(store, proposal(0, {"x": 0.1, "n": 3, "c": "relu", "b": True}, note="design"))
    assert (first.trial.id, first.trial.state, first.trial.gain, first.trial.cost) == (1, "running", 1.5, 2.0)
    told = store.finish(1, Outcome("complete", {"error": 1 / 3}, cost=7.0))
    assert told is not None
    if place is not None:
        again = open_study(place, "one", {"format": 1, "another": "definition"})
        assert again.definition == {"format": 1, "π": [0.1, True, None]}
        assert again.changes(0) == store.changes(0) == [told]
        assert open_study(place, "two", {}).changes(0) == []
    assert told.trial.values == {"error": 1 / 3}
    assert told.trial.cost == 7.0
    assert told.trial.inputs == {"x": 0.1, "n": 3, "c": "relu", "b": True}
    assert isinstance(told.trial.inputs["n"], int)
    assert told.trial.asked is not None
    assert told.trial.finished is not None
    assert told.trial.finished >= told.trial.asked


def test_changes_are_only_what_changed(store: Store) -> None:
    for i in range(5):
        reserved(store, proposal(i))
    seen = store.changes(0)
    assert [r.trial.id for r in seen] == [1, 2, 3, 4, 5]
    assert [r.revision for r in seen] == sorted({r.revision for r in seen})
    latest = seen[-1].revision
    assert store.changes(latest) == []
    store.finish(2, Outcome("failed", {}, "no"))
    store.renew([3])
    (changed,) = store.changes(latest)
    assert (changed.trial.id, changed.trial.state, changed.trial.message) == (2, "failed", "no")
    assert changed.revision > latest
    assert store.get(2) == changed
    assert store.get(99) is None
    store.finish(5, Outcome("complete", {"a": 1.0}))
    store.finish(1, Outcome("complete", {"a": 2.0}))
    store.release([3])
    later = store.changes(changed.revision)
    assert [r.trial.id for r in later] == [5, 1, 3]  # in the order of the changes, not of the trials
    assert [r.revision for r in later] == sorted({r.revision for r in later})
    assert [r.trial.id for r in store.changes(later[0].revision)] == [1, 3]


def test_a_reservation_takes_its_first_point_that_is_free(store: Store) -> None:
    points = [{"x": 0.1}, {"x": 0.2}]
    assert reserved(store, proposal(0, *points)).trial.inputs == {"x": 0.1}
    assert reserved(store, proposal(0, *points)).trial.inputs == {"x": 0.2}
    assert store.reserve(proposal(0, *points), Terms()) is None
    assert len(store.changes(0)) == 2
    assert reserved(store, proposal(0, *points, experiment="other")).trial.id == 3
    assert reserved(store, proposal(2, *points)).trial.id == 4  # it was made knowing the first two


def test_the_memory_of_a_method_travels_with_the_reservation(store: Store) -> None:
    assert store.memory() is None
    memory = {"theta": [[[0.1, 1e-300, -1 / 3]], []]}
    reserved(store, proposal(0, memory=memory))
    assert store.memory() == memory
    reserved(store, proposal(1))
    assert store.reserve(proposal(0, memory={"theta": []}), Terms()) is None
    assert store.memory() == memory


def test_settings_are_kept_and_replaced(store: Store) -> None:
    assert store.settings() == {}
    settings = {"commands": {"run": {"command": ["./solve", "{x}"], "timeout": None}}, "budget": 2.5}
    store.keep_settings(settings)
    assert store.settings() == settings
    store.keep_settings({"evaluations": 3})
    assert store.settings() == {"evaluations": 3}


def test_a_trial_ends_once(store: Store) -> None:
    reserved(store, proposal())
    first = store.finish(1, Outcome("complete", {"a": 1.0}))
    assert store.finish(1, Outcome("complete", {"a": 1.0})) == first
    assert store.finish(1, Outcome("complete", {"a": 2.0})) == first
    assert store.finish(1, Outcome("failed", {}, "late")) == first
    assert store.finish(2, Outcome("complete", {"a": 2.0})) is None


def test_without_a_lease_nothing_runs_out(store: Store) -> None:
    reserved(store, proposal(), Terms(retries=3, owner="somebody"))
    assert store.claim(Terms(), []) is None
    assert store.changes(0)[0].trial.state == "running"


def test_a_lease_that_ran_out_is_abandoned_and_asked_again_so_many_times(store: Store, clock: Clock) -> None:
    reserved(store, proposal(), Terms(lease=100.0, retries=2))
    for retry_of in (1, 2):
        clock.passes(101.0, store)
        again = store.claim(Terms(lease=100.0, retries=99, owner="me"), [])
        assert again is not None
        assert (again.trial.id, again.trial.retry_of, again.trial.state) == (retry_of + 1, retry_of, "running")
        assert again.trial.inputs == {"x": 0.5}
        assert (again.lease, again.owner, again.again) == (100.0, "me", 2 - retry_of)
        old = store.get(retry_of)
        assert old is not None
        assert (old.trial.state, old.again) == ("abandoned", 0)
    clock.passes(101.0, store)
    assert store.claim(Terms(), []) is None
    assert [r.trial.state for r in store.changes(0)] == ["abandoned"] * 3


def test_a_lease_that_is_renewed_holds_from_then_on(store: Store, clock: Clock) -> None:
    reserved(store, proposal(0), Terms(lease=100.0, retries=1))
    reserved(store, proposal(1), Terms(retries=1))
    for _ in range(3):
        clock.passes(60.0, store)
        assert store.renew([1, 2, 77]) == {1, 2}
        assert store.claim(Terms(), []) is None
    assert [r.trial.state for r in store.changes(0)] == ["running"] * 2
    clock.passes(90.0, store)
    assert store.claim(Terms(), []) is None
    clock.passes(20.0, store)
    again = store.claim(Terms(), [])
    assert again is not None
    assert again.trial.retry_of == 1


def test_a_trial_that_ended_or_was_abandoned_is_renewed_no_more(store: Store, clock: Clock) -> None:
    for after in range(3):
        reserved(store, proposal(after), Terms(lease=100.0))
    store.finish(1, Outcome("complete", {"a": 1.0}))
    store.finish(2, Outcome("failed", {}, "no"))
    assert store.renew([1, 2, 3]) == {3}
    store.release([3])
    assert store.renew([3]) == set()


def test_only_what_ran_out_is_abandoned(store: Store, clock: Clock) -> None:
    for after, lease in enumerate((50.0, 200.0, None, 100.0)):
        reserved(store, proposal(after), Terms(lease=lease))
    clock.passes(150.0, store)
    assert [r.trial.state for r in store.changes(0)] == ["running"] * 4  # until somebody asks for one
    assert store.claim(Terms(), []) is None
    states = {r.trial.id: r.trial.state for r in store.changes(0)}
    assert states == {1: "abandoned", 2: "running", 3: "running", 4: "abandoned"}


def test_a_lease_from_before_the_machine_was_started_anew_is_over(tmp_path, clock: Clock) -> None:
    """A server keeps its time, a process ends with the machine: only a file outlives it."""
    store = open_study(str(tmp_path / "store.db"), "one", {})
    clock.passes(1e6, store)
    reserved(store, proposal(0), Terms(lease=100.0, retries=1))
    assert store.claim(Terms(), []) is None
    clock.passes(-1e6, store)  # as long as it runs now, it could not have given such a deadline
    again = store.claim(Terms(), [])
    assert again is not None
    assert again.trial.retry_of == 1
    store.close()


def test_the_oldest_that_may_be_asked_again_comes_first(store: Store, clock: Clock) -> None:
    for after, retries in enumerate((0, 1, 2)):
        reserved(store, proposal(after, memory={"theta": [after]}), Terms(lease=100.0, retries=retries))
    clock.passes(101.0, store)
    for expected in (2, 3):
        again = store.claim(Terms(lease=1000.0), [])
        assert again is not None
        assert (again.trial.retry_of, again.trial.inputs) == (expected, {"x": 0.5 + (expected - 1) / 1000})
        assert (again.trial.gain, again.trial.cost) == (1.5, 2.0)
    assert store.claim(Terms(lease=1000.0), []) is None
    assert store.memory() == {"theta": [2]}


def test_what_a_retry_repeats_does_not_clash_with_a_reservation(store: Store) -> None:
    reserved(store, proposal(0, {"x": 0.1}), Terms(lease=100.0))
    store.release([1])
    assert store.claim(Terms(), []) is not None
    assert reserved(store, proposal(1, {"x": 0.1})).trial.id == 3  # made with trial 1: its retry is no news


def test_the_owner_that_died_holds_nothing(store: Store) -> None:
    reserved(store, proposal(0), Terms(lease=1000.0, retries=1, owner="a/1/2"))
    reserved(store, proposal(1), Terms(lease=1000.0, retries=1, owner="b/1/2"))
    again = store.claim(Terms(), ["a/1/2", "c"])
    assert again is not None
    assert again.trial.retry_of == 1
    assert store.claim(Terms(), ["a/1/2", "c"]) is None
    second = store.get(2)
    assert second is not None
    assert second.trial.state == "running"


def test_a_late_result_completes_the_abandoned_trial_and_the_retry_is_a_replicate(store: Store, clock: Clock) -> None:
    reserved(store, proposal(), Terms(lease=100.0, retries=1))
    clock.passes(101.0, store)
    assert store.claim(Terms(), []) is not None
    late = store.finish(1, Outcome("complete", {"a": 1.0}))
    assert late is not None
    assert (late.trial.state, late.trial.values) == ("complete", {"a": 1.0})
    replicate = store.finish(2, Outcome("complete", {"a": 1.1}))
    assert replicate is not None
    assert replicate.trial.values == {"a": 1.1}
    assert store.claim(Terms(), []) is None


def test_a_released_trial_is_asked_again_without_using_up_a_retry(store: Store) -> None:
    reserved(store, proposal(), Terms(lease=1000.0, retries=0))
    for trial_id in (1, 2, 3):
        store.release([trial_id, 50])
        again = store.claim(Terms(), [])
        assert again is not None
        assert again.trial.retry_of == trial_id
        assert again.trial.message is None
    store.finish(4, Outcome("complete", {"a": 1.0}))
    store.release([4])
    assert store.claim(Terms(), []) is None


def test_added_data_is_complete_at_once(store: Store) -> None:
    record = store.add(Trial(0, "added", {"x": 1.0}, 0.0, state="complete", values={"a": 2.0}, note="added"))
    assert (record.trial.id, record.trial.state) == (1, "complete")
    assert store.changes(0) == [record]


def added(x: float, a: float = 1.0) -> Trial:
    return Trial(0, "added", {"x": x, "c": "1"}, 0.0, state="complete", values={"a": a}, note="added")


def test_many_are_added_that_were_not_added_before(store: Store) -> None:
    reserved(store, proposal(0, {"x": 0.1, "c": "1"}))
    store.finish(1, Outcome("complete", {"a": 1.0}))  # measured, not added: another measurement
    table = [added(0.1), added(0.2), added(0.1), added(0.1, a=2.0)]
    new = store.add_many(table)
    assert [r.trial.id for r in new] == [2, 3, 4, 5]
    assert [(r.trial.inputs["x"], r.trial.values["a"]) for r in new] == [(0.1, 1.0), (0.2, 1.0), (0.1, 1.0), (0.1, 2.0)]
    assert store.changes(0)[1:] == new
    assert store.add_many(table) == store.add_many(table[::-1]) == store.add_many([]) == []
    (another,) = store.add_many([added(0.2), *table])
    assert (another.trial.id, another.trial.inputs["x"]) == (6, 0.2)
    assert store.add(added(0.1)).trial.id == 7  # by itself, every one counts
    assert store.add_many([added(0.1), added(0.1), added(0.1)]) == []
    assert len(store.changes(0)) == 7


def test_one_and_true_and_a_text_are_different_inputs(store: Store) -> None:
    rows = [replace(added(0.1), inputs={"c": c}) for c in ("1", 1, True, "true")]
    assert len(store.add_many(rows)) == 4
    assert [r.trial.inputs["c"] for r in store.changes(0)] == ["1", 1, True, "true"]
    assert len(store.add_many([replace(added(0.1), inputs={"c": 1, "x": 0.1})])) == 1
    assert store.add_many([replace(added(0.1), inputs={"x": 0.1, "c": 1})]) == []  # in another order


def test_many_are_added_once_where_the_answer_to_the_commit_was_lost(place, monkeypatch) -> None:
    store = open_study(place, "one", {"format": 1})
    if isinstance(store, SqlStore):
        write = store._database.write

        def twice(work):
            write(work)
            return write(lambda connection, attempt: work(connection, attempt + 1))

        monkeypatch.setattr(store._database, "write", twice)
    new = store.add_many([added(0.1), added(0.2)])
    assert [r.trial.id for r in new] == [1, 2]
    assert store.changes(0) == new
    store.close()


@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_any_text_comes_back_as_it_was(place, text: str) -> None:
    store = open_study(place, text, {"name": text})
    reserved(store, proposal(0, {text: text}, experiment=text, note=text))
    store.finish(1, Outcome("complete", {text: 1.0}, text))
    if place is not None:
        store = open_study(place, text, {})
    trial = store.changes(0)[0].trial
    assert (trial.experiment, trial.inputs, trial.note) == (text, {text: text}, text)
    assert (trial.values, trial.message) == ({text: 1.0}, text)
    assert store.definition == {"name": text}
    assert json.dumps(store.definition)


def test_nothing_is_pickled() -> None:
    folder = Path(pesmo.store.__file__).parent
    for path in folder.rglob("*.py"):
        imported = [
            n
            for n in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(n, ast.Import | ast.ImportFrom)
        ]
        names = [alias.name for n in imported for alias in n.names] + [
            n.module or "" for n in imported if isinstance(n, ast.ImportFrom)
        ]
        assert not {"pickle", "cloudpickle", "marshal", "shelve"} & set(names), path
