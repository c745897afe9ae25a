"""What a study keeps and hands on: costs, retries, renewals, data that was added, and a model of what is known now."""

import math

import numpy as np
import pytest

from pesmo import DefinitionError, Experiment, Float, Objective, ResultError, Space, Study, TrialError
from pesmo.report.data import Snapshot

SPACE = Space(x=Float(0, 1))


def study(**changes) -> Study:
    experiments = [Experiment("both", ["a", "b"], cost=3), Experiment("one", ["a"])]
    return Study(SPACE, ["a", "b"], experiments, **{"seed": 0, "method": "sobol", **changes})


@pytest.fixture(params=["memory", "sqlite"])
def stored(request, tmp_path) -> Study:
    return study(storage=None if request.param == "memory" else tmp_path / "study.db")


def filled(one: Study) -> Study:
    for x in (0.1, 0.35, 0.6, 0.8):
        one.add({"x": x}, {"a": math.sin(7 * x), "b": (x - 0.5) ** 2})
    return one


# --------------------------------------------------------------------------------------------------------- the model


def test_the_model_is_kept_until_a_trial_changes_and_then_made_anew(stored: Study) -> None:
    one = filled(stored)

    def values() -> list[int]:
        return [s.data.x.shape[0] for s in one.fitted().surrogates]

    first = one.fitted()
    assert one.fitted() is first
    _ = one.settings, one.trials, one.acquisition([{"x": 0.5}])  # looking changes nothing
    assert one.fitted() is first
    assert values() == [4, 4]
    trial = one.ask()
    pending = one.fitted()
    assert pending is not first
    assert one.fitted() is pending
    one.tell(trial, {"a": -1.0, "b": 0.5} if trial.experiment == "both" else {"a": -1.0})
    assert one.fitted() is not pending
    assert values() == [5, 5 if trial.experiment == "both" else 4]
    failed = one.ask()
    waiting = one.fitted()
    one.fail(failed)
    assert one.fitted() is not waiting
    one.add({"x": 0.2}, {"b": 7.0})
    assert values()[1] == (6 if trial.experiment == "both" else 5)
    there = Snapshot(one)
    assert there.predict(there.units([{"x": 0.2}])).mean[0, 1] > 3.0  # what was added is believed


def test_the_model_is_made_anew_when_another_process_told(tmp_path) -> None:
    one = filled(study(storage=tmp_path / "study.db"))
    first = one.fitted()
    Study.open(tmp_path / "study.db").add({"x": 0.9}, {"a": 3.0})
    assert one.fitted() is not first
    assert one.fitted().surrogates[0].data.x.shape[0] == 5


def test_knowing_needs_a_value_of_every_objective() -> None:
    one = study()
    one.add({"x": 0.5}, {"a": 1.0})
    for call, what in [
        (one.recommend, "recommend"),
        (one.fitted, "fit the model"),
        (lambda: one.acquisition([{"x": 0.5}]), "compute the acquisition"),
    ]:
        with pytest.raises(TrialError, match=f"cannot {what} yet: objective 'b' has no value; tell or add one"):
            call()


def test_the_acquisition_is_by_objective_in_their_order_and_a_row_a_point() -> None:
    one = filled(study())
    points = [{"x": 0.05}, {"x": 0.5}, {"x": 0.95}]
    alpha = one.acquisition(points)
    assert list(alpha) == ["a", "b"]
    turned = one.acquisition(points[::-1])
    for name in alpha:
        np.testing.assert_allclose(turned[name], alpha[name][::-1])
        assert np.ptp(alpha[name]) > 0


# ------------------------------------------------------------------------------------------------------------- costs


def test_a_trial_costs_what_was_planned_unless_it_is_told_otherwise(stored: Study) -> None:
    first, second, third = stored.ask(3)
    assert (first.experiment, first.cost) == ("both", 3.0)
    values = {"a": 1.0, "b": 2.0}
    told = stored.tell(first, values if first.experiment == "both" else {"a": 1.0}, cost=0)
    assert told.cost == 0.0
    assert isinstance(told.cost, float)
    assert stored.tell(second, dict.fromkeys(stored.experiment(second.experiment).reveals, 1.0)).cost == second.cost
    for bad in (-1, math.nan, math.inf, True, "1"):
        with pytest.raises(ResultError, match=f"trial {third.id}: cost must be a number >= 0, not {bad!r}"):
            stored.tell(third, dict.fromkeys(stored.experiment(third.experiment).reveals, 1.0), cost=bad)  # type: ignore[arg-type]
    assert stored.trials[2].state == "running"


def test_a_cost_function_is_asked_for_each_point() -> None:
    one = Study(SPACE, ["a"], [Experiment("e", ["a"], cost=lambda p: 1 + p["x"])], seed=0, method="sobol")
    assert all(t.cost == 1 + t.inputs["x"] for t in one.ask(5))


# ------------------------------------------------------------------------------------------------------ told and added


def test_what_was_told_stays_and_a_second_result_is_refused_in_words(stored: Study) -> None:
    trial = stored.ask()
    values = {"a": 1.0, "b": 2.0}
    told = stored.tell(trial, values)
    assert (told.state, told.values, told.message) == ("complete", values, None)
    assert told.asked is not None
    assert told.finished is not None
    assert told.finished >= told.asked
    assert stored.tell(trial.id, values, cost=99.0).cost == told.cost  # the same again changes nothing
    with pytest.raises(TrialError, match=r"trial 1 was already told .* Add a repeated measurement with study.add"):
        stored.tell(trial, {"a": 1.0, "b": 2.5})
    with pytest.raises(TrialError, match=r"trial 1 is complete with .*; it cannot fail now"):
        stored.fail(trial, "late")
    failed = stored.fail(stored.ask(), "broke")
    assert stored.fail(failed, "again").message == "broke"
    with pytest.raises(TrialError, match=r"trial 2 was reported as failed \(broke\); it cannot be told now"):
        stored.tell(failed, values)


def test_added_data_belongs_to_the_experiment_that_reveals_just_that(stored: Study) -> None:
    both = stored.add({"x": 0.5}, {"b": 2, "a": 1})
    one = stored.add({"x": 0.5}, {"a": 3.0})
    other = stored.add({"x": 0.25}, {"b": 4.0})
    assert [t.experiment for t in (both, one, other)] == ["both", "one", "added"]
    assert [t.id for t in stored.trials] == [1, 2, 3]
    for trial in stored.trials:
        assert (trial.state, trial.note, trial.cost, trial.gain) == ("complete", "added", 0.0, None)
        assert trial.asked == trial.finished is not None
    assert both.values == {"a": 1.0, "b": 2.0}
    assert other.inputs == {"x": 0.25}
    for values, words in [
        ({}, "at least one objective"),
        ([1.0], "values must be a dict"),
        ({"c": 1.0}, "unknown objective 'c'"),
        ({"a": 1.0, "c": 1.0}, "unknown objective 'c'"),
    ]:
        with pytest.raises(ResultError, match=words):
            stored.add({"x": 0.5}, values)  # type: ignore[arg-type]
    assert len(stored.trials) == 3


def test_a_trial_is_named_by_itself_or_its_number_and_by_nothing_else(stored: Study) -> None:
    trial = stored.ask()
    assert stored.fail(trial.id).id == 1
    for nothing in (True, 1.0, "1", None, 2, 0, -1):
        with pytest.raises(TrialError, match=r"there is no trial .* in this study; it has 1 trials"):
            stored.fail(nothing)  # type: ignore[arg-type]
    with pytest.raises(DefinitionError, match=r"no experiment is called 'two'; there are \['both', 'one'\]"):
        stored.experiment("two")


def test_settings_are_kept_with_the_study(stored: Study) -> None:
    assert stored.settings == {}
    stored.keep_settings({"budget": 3})
    assert stored.settings == {"budget": 3}
    if stored.storage is not None:
        assert Study.open(stored.storage).settings == {"budget": 3}


# ---------------------------------------------------------------------------------------------- leases and retries


def test_a_renewed_lease_holds_and_one_that_ran_out_is_asked_again(stored: Study, clock) -> None:
    trial = stored.ask(lease=100, retries=1)
    for renew in (trial.renew, lambda: stored.renew(trial), lambda: stored.renew(trial.id)):
        clock.passes(60, stored._store)
        renew()
        assert stored.retry() is None
    clock.passes(101, stored._store)
    again = stored.ask(lease=100)
    assert (again.id, again.retry_of, again.inputs, again.cost) == (2, 1, trial.inputs, trial.cost)
    with pytest.raises(TrialError, match="trial 1 is abandoned and cannot be renewed; if it was abandoned, tell it"):
        trial.renew()
    again.renew()
    clock.passes(101, stored._store)
    assert stored.ask().retry_of is None  # it was asked again as often as it may be
    assert [t.state for t in stored.trials] == ["abandoned", "abandoned", "running"]


def test_a_trial_that_ended_cannot_be_renewed(stored: Study) -> None:
    trial = stored.ask(lease=100)
    stored.fail(trial)
    with pytest.raises(TrialError, match="trial 1 is failed and cannot be renewed"):
        stored.renew(trial)
    with pytest.raises(TrialError, match="there is no trial 7"):
        stored.renew(7)


def test_without_retries_a_lease_that_ran_out_gives_its_point_up(stored: Study, clock) -> None:
    trial = stored.ask(lease=100, retries=0)
    clock.passes(101, stored._store)
    other = stored.ask()
    assert other.retry_of is None
    assert other.inputs != trial.inputs
    late = stored.tell(trial, {"a": 1.0, "b": 1.0})
    assert late.state == "complete"  # a late result is a result


def test_retry_asks_for_nothing_new(stored: Study) -> None:
    assert stored.retry() is None
    one, other = stored.ask(2)
    assert stored.retry() is None
    stored.release([other, one.id])
    repeated = stored.retry(lease=50)
    assert repeated is not None
    assert (repeated.retry_of, repeated.inputs) == (1, one.inputs)
    repeated.renew()
    second = stored.retry()
    assert second is not None
    assert second.retry_of == 2
    assert stored.retry() is None
    assert len(stored.trials) == 4


def test_asking_for_several_is_asking_several_times() -> None:
    one, other = study(), study()
    batch = one.ask(3)
    assert [t.inputs for t in batch] == [other.ask().inputs for _ in range(3)]
    assert [t.id for t in batch] == [1, 2, 3]
    for bad in (0, -1, 1.5, True, "2"):
        with pytest.raises(DefinitionError, match=r"ask\(n\): n must be a whole number >= 1"):
            one.ask(bad)  # type: ignore[call-overload]
    for bad in (-1, 1.5, True):
        with pytest.raises(DefinitionError, match="retries must be a whole number from 0"):
            one.ask(retries=bad)  # type: ignore[arg-type]


def test_a_seed_that_was_drawn_is_kept(tmp_path) -> None:
    drawn = [Study(SPACE, [Objective("a")]).seed for _ in range(3)]
    assert len(set(drawn)) == 3
    assert all(isinstance(seed, int) and seed >= 0 for seed in drawn)
    one = Study(SPACE, ["a"], storage=tmp_path / "study.db")
    assert Study(SPACE, ["a"], storage=tmp_path / "study.db").seed == Study.open(tmp_path / "study.db").seed == one.seed
