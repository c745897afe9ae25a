"""Every field of a trial through a database and back, to the last bit; and what does not belong there."""

import math

import pytest

from pesmo import StorageError
from pesmo.problem import Trial
from pesmo.store import open_study
from pesmo.store.contract import Outcome, Proposal, Store, Terms
from pesmo.store.tables import digest, dump, load

FULL = Trial(
    id=1,
    experiment="run",
    inputs={"x": 0.1 + 0.2, "n": 2**60, "c": "é", "flag": False},
    cost=1 / 3,
    gain=5e-324,
    state="complete",
    values={"a": -1e308, "b": 1e-17},
    message="why",
    note="added",
    asked=1234567890.125,
    finished=1234567891.5,
    retry_of=7,
)


def test_every_field_comes_back(store: Store) -> None:
    found = store.add(FULL)
    (again,) = store.changes(0)
    one = store.get(1)
    assert one == again == found
    assert again.trial == FULL
    assert (again.trial.asked, again.trial.finished) == (FULL.asked, FULL.finished)  # which == does not look at
    assert [type(v) for v in again.trial.inputs.values()] == [float, int, str, bool]
    assert (again.lease, again.owner, again.again) == (None, None, 0)


def test_the_terms_come_back(store: Store) -> None:
    proposal = Proposal("run", [{"x": 0.5}], [2.0], None, None, None, 0, lambda one, other: False)
    record = store.reserve(proposal, Terms(lease=12.5, retries=3, owner="somebody"))
    assert record is not None
    assert (record.lease, record.owner, record.again) == (12.5, "somebody", 3)
    assert store.get(1) == record
    assert (record.trial.gain, record.trial.note, record.trial.values, record.trial.finished) == (None, None, {}, None)


def test_an_outcome_keeps_the_planned_cost_unless_it_says_another(store: Store) -> None:
    for n in range(3):
        store.reserve(Proposal("run", [{"x": float(n)}], [2.0], None, None, None, n, lambda one, other: False), Terms())
    outcomes = [Outcome("complete", {"a": 1.0}), Outcome("complete", {"a": 1.0}, cost=0.0), Outcome("failed", {}, "m")]
    ended = [store.finish(n + 1, outcome) for n, outcome in enumerate(outcomes)]
    assert [None if e is None else (e.trial.state, e.trial.cost, e.trial.message) for e in ended] == [
        ("complete", 2.0, None),
        ("complete", 0.0, None),
        ("failed", 2.0, "m"),
    ]


@pytest.mark.parametrize("gain", [math.inf, math.nan])
def test_a_gain_that_is_no_number_is_none(tmp_path, gain: float) -> None:
    store = open_study(str(tmp_path / "store.db"), "study", {})
    store.reserve(Proposal("run", [{"x": 0.5}], [2.0], gain, None, None, 0, lambda one, other: False), Terms())
    found = store.get(1)
    assert found is not None
    assert found.trial.gain is None


def test_studies_of_one_place_know_nothing_of_each_other(place) -> None:
    one, other = open_study(place, "one", {"n": 1}), open_study(place, "other", {"n": 2})
    one.add(FULL)
    one.keep_settings({"budget": 1})
    for call in (
        lambda: other.finish(1, Outcome("failed", {})),
        lambda: other.get(1),
        lambda: other.memory(),
        lambda: other.claim(Terms(), []),
    ):
        assert call() is None
    assert other.renew([1]) == set()
    other.release([1])
    assert (other.changes(0), other.settings(), other.definition) == ([], {}, {"n": 2})
    assert other.add(FULL).trial.id == 1
    assert one.settings() == {"budget": 1}
    assert len(one.changes(0)) == 1


def test_only_strict_json_is_written_and_read() -> None:
    assert dump({"ü": [1, None, True, 0.1]}) == '{"\\u00fc":[1,null,true,0.1]}'
    assert load(dump("\ud800 \0")) == "\ud800 \0"
    for value in (math.nan, math.inf, -math.inf):
        with pytest.raises(ValueError, match="not JSON compliant"):
            dump(value)
    for text in ("NaN", "[Infinity]", '{"a":-Infinity}'):
        with pytest.raises(StorageError, match="where a finite number belongs"):
            load(text)
    assert digest("a") != digest("b")
    assert len(digest("x" * 10**5)) == 64
