"""From trials to evidence: what each kind of trial counts for, and what a process reads of what others changed."""

import numpy as np
import pytest

from pesmo import Experiment, Float, Objective, Space, Study
from pesmo.problem import Trial
from pesmo.store.contract import Record

SPACE = Space(x=Float(0, 1))


def study(**changes) -> Study:
    """`both` reveals a and b, `one` only a; a is to be maximized, b on a log scale."""
    objectives = [Objective("a", "maximize"), Objective("b", transform="log")]
    experiments = [Experiment("both", ["a", "b"], cost=2), Experiment("one", ["a"])]
    return Study(SPACE, objectives, experiments, seed=0, method="sobol", **changes)


def put(one: Study, *trials: Trial) -> None:
    """Trials as a store would have them."""
    for n, trial in enumerate(trials):
        one._view.put(Record(trial, revision=n + 1))


def at(trial_id: int, x: float, experiment: str = "both", **changes) -> Trial:
    return Trial(trial_id, experiment, {"x": x}, 1.0, **changes)


def columns(array: np.ndarray) -> list[float]:
    return array[:, 0].tolist()


def test_what_every_kind_of_trial_counts_for() -> None:
    one = study()
    put(
        one,
        at(1, 0.1, state="complete", values={"a": 3.0, "b": 2.0}),
        at(2, 0.2, "one", state="complete", values={"a": 4.0}),
        at(3, 0.3, state="failed"),
        at(4, 0.4, "one"),
        at(5, 0.5, state="abandoned"),
        at(6, 0.6, "added", state="complete", values={"b": 5.0}, note="added"),
        at(7, 0.7, "one", state="abandoned"),
        at(8, 0.7, "one", retry_of=7),
        at(9, 0.9, state="abandoned"),
        at(10, 0.9, state="complete", values={"a": 1.0, "b": 1.0}, retry_of=9),
    )
    evidence = one._view.evidence()
    a, b = evidence.observations
    assert columns(a.unit) == [0.1, 0.2, 0.9]
    np.testing.assert_allclose(a.values, [-3.0, -4.0, -1.0])
    assert columns(a.pending) == [0.3, 0.4, 0.5, 0.7]  # 7 only by its retry, 9 is told by its own
    assert columns(b.unit) == [0.1, 0.6, 0.9]
    np.testing.assert_allclose(b.values, np.log([2.0, 5.0, 1.0]))
    assert columns(b.pending) == [0.3, 0.5]
    both, single = evidence.taken
    assert columns(both) == [0.1, 0.3, 0.5, 0.9]
    assert columns(single) == [0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9]  # where `both` was run, a is known
    assert evidence.seed == 0


def test_a_late_result_of_a_trial_that_was_asked_again_counts_beside_the_retry() -> None:
    one = study()
    put(
        one,
        at(1, 0.1, state="complete", values={"a": 3.0, "b": 2.0}),
        at(2, 0.1, state="complete", values={"a": 5.0, "b": 4.0}, retry_of=1),
    )
    assert columns(one._view.evidence().observations[0].unit) == [0.1, 0.1]


def test_suggestions_are_counted_without_their_retries() -> None:
    one = study()
    assert (one._view.suggested, one._view.last) == (0, 0)
    put(one, at(1, 0.1, state="abandoned"), at(2, 0.1, retry_of=1), at(3, 0.5), at(7, 0.7))
    assert (one._view.suggested, one._view.last) == (3, 7)
    assert [t.id for t in one._view.trials] == [1, 2, 3, 7]


def test_what_was_read_before_another_thread_changed_it_is_not_put_over_that() -> None:
    one = study()
    running, done = at(1, 0.1), at(1, 0.1, state="complete", values={"a": 1.0, "b": 1.0})
    one._view.put(Record(done, revision=5))
    one._view.put(Record(running, revision=4))
    assert one._view.trials == [done]
    assert one._view.unfinished == []
    one._view.put(Record(running, revision=6))
    assert [r.trial for r in one._view.unfinished] == [running]
    one._view.put(Record(at(1, 0.1, state="abandoned"), revision=7))
    assert [r.trial.state for r in one._view.unfinished] == ["abandoned"]
    one._view.put(Record(done, revision=7))  # of the same revision the latest holds
    assert one._view.unfinished == []


@pytest.fixture
def counted(tmp_path, monkeypatch: pytest.MonkeyPatch) -> tuple[Study, Study, list]:
    """A study, the same in another process, and every question the latter asks the storage."""
    one = study(storage=tmp_path / "study.db")
    other = Study.open(tmp_path / "study.db")
    asked: list = []
    for name in ("changes", "get"):
        real = getattr(other._store, name)
        monkeypatch.setattr(other._store, name, lambda n, name=name, real=real: (asked.append((name, n)), real(n))[1])
    return one, other, asked


def test_only_what_changed_is_read_again(counted) -> None:
    one, other, asked = counted
    one.tell(one.ask(), {"a": 1.0} if one.trials[0].experiment == "one" else {"a": 1.0, "b": 2.0})
    assert other.trials == one.trials
    latest = other._view.revision
    assert latest == one._store.changes(0)[-1].revision
    one.add({"x": 0.5}, {"a": 2.0})
    assert other.trials == one.trials
    assert asked == [("changes", 0), ("changes", latest)]


def test_a_trial_that_is_known_is_not_looked_up(counted) -> None:
    one, other, asked = counted
    first = one.add({"x": 0.5}, {"a": 2.0})
    found = other._view.find(1)
    assert found is not None
    assert found.trial == first
    assert other._view.find(1) == found
    assert asked == [("get", 1)]
    assert other._view.find(2) is None
