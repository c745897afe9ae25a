"""What a study is about: what is refused and in which words, costs, and the evidence as methods see it, by loops."""

import math
from typing import Any

import numpy as np
import pytest

from pesmo import Choice, DefinitionError, Experiment, Float, Int, Objective, ResultError, Space, TrialError
from pesmo.problem import (
    Evidence,
    Observations,
    Trial,
    check_experiments,
    check_objectives,
    check_values,
    is_number,
)

SPACE = Space(x=Float(0, 1), n=Int(1, 4), c=Choice("a", "b"))


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        (0, True),
        (-1.5, True),
        (np.float32(2), True),
        (np.int64(2), True),
        (10**300, True),
        (10**400, False),
        (math.inf, False),
        (math.nan, False),
        (True, False),
        ("1", False),
        (None, False),
        (1j, False),
    ],
)
def test_what_a_number_is(value: Any, is_one: bool) -> None:
    assert is_number(value) is is_one


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Objective(3), "an objective's name must be a non-empty string, not 3"),  # pyright: ignore
        (lambda: Objective("a", "least"), "goal must be 'minimize' or 'maximize', not 'least'"),  # pyright: ignore
        (lambda: Objective("a", transform="exp"), r"transform must be one of \['log', 'logit'\] or None, not 'exp'"),  # pyright: ignore
        (lambda: Objective("a", inputs=[]), r"inputs must be a list of names, not \[\]"),
        (lambda: Objective("a", inputs=["x", 3]), "inputs must be a list of names"),  # pyright: ignore
        (lambda: Objective("a", inputs=["x", "x"]), "name 'x' appears twice"),
        (lambda: Objective("a", noise=math.nan), "noise is a standard deviation, a number >= 0"),
        (lambda: Objective("a", noise=True), "noise is a standard deviation"),
        (lambda: Objective("a", unit=""), "unit must be a text such as 'kWh', not ''"),
        (lambda: Objective("a", worst="bad"), "worst must be a value of the objective, or None, not 'bad'"),  # pyright: ignore
        (lambda: Objective("a", worst=math.inf), "worst must be a value of the objective"),
        (lambda: Objective("a", transform="log", worst=0), "worst is no value it can have: .* must be above 0"),
        (lambda: Objective("a", transform="logit", worst=1), "worst is no value it can have: .* between 0 and 1"),
        (lambda: Experiment("", ["a"]), "an experiment's name must be a non-empty string, not ''"),
        (lambda: Experiment("e", "a"), "experiment 'e': reveals must be a list of names, not 'a'"),
        (lambda: Experiment("e", ["a", "a"]), "appears twice"),
        (lambda: Experiment("e", ["a"], cost=-1), "cost must be a number > 0 or a function"),
        (lambda: Experiment("e", ["a"], cost="1"), "cost must be a number > 0 or a function"),  # pyright: ignore
        (lambda: check_objectives(SPACE, ()), "at least one objective"),
        (lambda: check_objectives(SPACE, (Objective("a"), Objective("a"))), "objective 'a' appears twice"),
        (lambda: check_objectives(SPACE, (Objective("a", inputs=["x", "z"]),)), "input 'z' is not in the space"),
        (lambda: check_experiments((Objective("a"),), (Experiment("e", ["a"]),) * 2), "experiment 'e' appears twice"),
        (lambda: check_experiments((Objective("a"),), (Experiment("e", ["a", "b"]),)), "reveals 'b', which is not"),
        (lambda: check_experiments((Objective("a"), Objective("b")), (Experiment("e", ["a"]),)), "no experiment .*'b'"),
    ],
)
def test_a_definition_that_cannot_be_is_refused(make, words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        make()


def test_what_just_passes() -> None:
    objective = Objective("a", noise=0, inputs=["x", "c"], worst=-3, unit="m")
    assert (objective.noise, objective.inputs, objective.worst) == (0, ("x", "c"), -3)
    assert Experiment("e", ["a", "b"], cost=1e-9).reveals == ("a", "b")
    check_objectives(SPACE, (objective, Objective("b")))
    check_experiments((objective, Objective("b")), (Experiment("e", ["b"]), Experiment("f", ["a", "b"])))


def test_values_just_within_the_range_of_a_transform() -> None:
    log, logit = Objective("a", transform="log"), Objective("a", transform="logit")
    assert log.check(5e-324) == 5e-324
    assert logit.check(1 - 1e-16) < 1
    assert isinstance(Objective("a").check(np.int64(3)), float)
    for objective, value in ((log, 0.0), (log, -1.0), (logit, 0.0), (logit, 1.0), (logit, 2)):
        with pytest.raises(ResultError, match=f"'a' = {value}"):
            objective.check(value)


def test_values_are_exactly_what_was_to_be_revealed() -> None:
    objectives = {name: Objective(name) for name in "abc"}
    assert check_values(objectives, ("b", "a"), {"a": 1, "b": 2}) == {"b": 2.0, "a": 1.0}
    for values, words in [
        ({"a": 1}, r"missing objective 'b'; expected exactly \['a', 'b'\]"),
        ({"a": 1, "b": 2, "c": 3}, "unknown objective 'c'; expected"),
        ({"a": 1, "c": 3}, "unknown objective 'c'; missing objective 'b'"),
        ([1, 2], r"must be a dict of objective values such as \{'a': 0.5\}, not \[1, 2\]"),
    ]:
        with pytest.raises(ResultError, match=words):
            check_values(objectives, ("a", "b"), values)


def test_a_cost_is_a_number_or_a_function_of_the_point() -> None:
    assert Experiment("e", ["a"], cost=3).cost_at({"x": 1}) == 3.0
    seen = {"x": 2.0}
    assert Experiment("e", ["a"], cost=lambda p: p.pop("x") + 1).cost_at(seen) == 3.0
    assert seen == {"x": 2.0}  # a function gets a copy
    for bad in (0, -1, math.nan, "1", None):
        with pytest.raises(DefinitionError, match=r"cost\(.*\) gave .*; it must be a number > 0"):
            Experiment("e", ["a"], cost=lambda _, bad=bad: bad).cost_at({"x": 1})  # type: ignore[arg-type,return-value]


def test_a_trial_on_its_own_cannot_be_renewed_and_times_do_not_count_when_trials_are_compared() -> None:
    trial = Trial(3, "e", {"x": 1}, 1.0, asked=1.0, finished=2.0)
    assert trial == Trial(3, "e", {"x": 1}, 1.0, asked=5.0, finished=6.0)
    assert trial != Trial(3, "e", {"x": 1}, 2.0)
    with pytest.raises(TrialError, match=r"trial 3 is a copy that knows no study; call study.renew\(3\)"):
        trial.renew()


# --------------------------------------------------------------------------------------------------------- evidence

POINTS = [
    {"x": 0.1, "n": 1, "c": "a"},
    {"x": 0.1, "n": 2, "c": "b"},
    {"x": 0.7, "n": 2, "c": "b"},
    {"x": 0.7, "n": 4, "c": "a"},
]


def units(*rows: int) -> np.ndarray:
    return np.array([SPACE.to_unit(POINTS[row]) for row in rows]).reshape(-1, 3)


def evidence() -> Evidence:
    """Three objectives: `a` on n and c, `b` on everything, `size` on x. Point 0 has all of them, a and b twice."""
    return Evidence(
        SPACE,
        (
            Objective("a", inputs=["n", "c"], worst=2.0),
            Objective("b", "maximize", transform="log", worst=0.5),
            Objective("size", inputs=["x"]),
        ),
        (Experiment("one", ["a"]), Experiment("two", ["a", "size"]), Experiment("all", ["size", "a", "b"])),
        (
            Observations(units(0, 1, 0, 3), np.array([1.0, 2.0, 4.0, 5.0]), units(2)),
            Observations(units(3, 0, 0), np.array([7.0, 10.0, 12.0]), units()),
            Observations(units(0, 2, 3), np.array([3.0, 3.5, 3.75]), units(1, 1)),
        ),
        (units(0, 1), units(2), units(3)),
    )


def test_what_experiments_reveal_and_which_reveal_everything() -> None:
    assert evidence().reveals.tolist() == [[True, False, False], [True, False, True], [True, True, True]]
    assert evidence().complete.tolist() == [False, False, True]


def test_the_worst_is_on_the_models_scale_and_infinite_where_none_was_given() -> None:
    np.testing.assert_allclose(evidence().worst, [2.0, -math.log(0.5), math.inf])


def test_points_measured_in_everything_with_repeats_averaged() -> None:
    unit, values = evidence().complete_points
    rows = {tuple(u): v for u, v in zip(unit.tolist(), values.tolist(), strict=True)}
    assert rows == {
        tuple(units(0)[0].tolist()): pytest.approx([2.5, 11.0, 3.0]),
        tuple(units(3)[0].tolist()): pytest.approx([5.0, 7.0, 3.75]),
    }
    empty = Evidence(SPACE, (Objective("a"),), (), (Observations(units(), np.zeros(0), units()),), ())
    assert [part.shape for part in empty.complete_points] == [(0, 3), (0, 1)]


def test_when_there_is_enough_for_a_model() -> None:
    assert evidence().ready(3, only_complete=False)  # b and size have three values
    assert not evidence().ready(4, only_complete=False)
    assert evidence().ready(2, only_complete=True)  # two points have all
    assert not evidence().ready(3, only_complete=True)


def test_measured_points_are_all_points_each_once() -> None:
    found = evidence().measured_points
    assert {tuple(row) for row in found.tolist()} == {tuple(row) for row in units(0, 1, 2, 3).tolist()}
    assert found.shape == (4, 3)


def test_the_inputs_that_matter_to_an_experiment_are_those_of_what_it_reveals() -> None:
    assert [evidence().relevant(e).tolist() for e in range(3)] == [[False, True, True], [True, True, True], [True] * 3]


def test_a_point_is_taken_where_nothing_that_matters_differs() -> None:
    asked = [
        {"x": 0.9, "n": 2, "c": "b"},  # as point 1 to experiment one, which ignores x
        {"x": 0.7, "n": 2, "c": "b"},
        {"x": 0.1, "n": 2, "c": "a"},
    ]
    unit = np.array([SPACE.to_unit(p) for p in asked])
    unit[1, 1] += 0.1  # still n = 2: a coordinate within its bin
    assert SPACE.from_unit(unit[1]) == asked[1]
    assert evidence().is_taken(0, unit).tolist() == [True, True, False]
    assert evidence().is_taken(1, unit).tolist() == [False, True, False]
    assert evidence().is_taken(2, unit).tolist() == [False, False, False]
    assert evidence().is_taken(0, units()).shape == (0,)
