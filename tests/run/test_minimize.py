"""`pesmo.minimize`: the study that it makes of functions."""

import pytest

import pesmo
from pesmo import DefinitionError, Experiment, Float, ResultError, Space

SPACE = Space(x=Float(0, 1))
APART = {"a": lambda p: p["x"], "b": lambda p: 1 - p["x"]}


def test_functions_apart_are_experiments_at_their_costs() -> None:
    result = pesmo.minimize(APART, SPACE, 6, costs={"b": 5}, method="sobol", seed=3, progress=False)
    study = result.study
    assert study.experiments == (Experiment("a", ["a"], 1.0), Experiment("b", ["b"], 5))
    assert [o.name for o in study.objectives] == ["a", "b"]
    assert (study.method, study.seed, len(study.trials)) == ("sobol", 3, 6)
    for trial in study.trials:
        assert trial.values == {trial.experiment: APART[trial.experiment](trial.inputs)}
        assert trial.cost == (5.0 if trial.experiment == "b" else 1.0)
    assert result.front.to_dicts() == study.recommend().to_dicts()


def test_one_function_is_one_experiment_and_is_called_as_often_as_allowed() -> None:
    calls = []

    def both(point: dict) -> dict:
        calls.append(dict(point))
        return {"u": point["x"], "v": -point["x"]}

    study = pesmo.minimize(both, SPACE, 4, method="sobol", progress=False).study
    assert study.experiments == (Experiment("evaluate", ["u", "v"]),)
    assert [t.inputs for t in study.trials] == calls
    assert [t.values for t in study.trials] == [{"u": p["x"], "v": -p["x"]} for p in calls]
    assert len(calls) == 4
    again = pesmo.minimize(both, SPACE, 4, method="sobol", seed=study.seed, progress=False).study
    assert [t.inputs for t in again.trials] == [t.inputs for t in study.trials]


@pytest.mark.parametrize(
    ("functions", "costs", "error", "words"),
    [
        (APART, {"c": 1}, DefinitionError, r"costs names \['c'\], which are not among the functions \['a', 'b'\]"),
        (3, None, DefinitionError, "must be a function or a dict of functions, not 3"),
        (lambda p: {"a": 1.0}, {"a": 1}, DefinitionError, "costs belongs to a dict of functions"),
        (lambda p: 1.0, None, ResultError, r"must return a dict \{objective: value\}, not 1.0"),
        (lambda p: {}, None, ResultError, r"must return a dict \{objective: value\}, not \{\}"),
    ],
)
def test_what_cannot_be_minimized_is_named(functions, costs, error, words: str) -> None:
    with pytest.raises(error, match=words):
        pesmo.minimize(functions, SPACE, 3, costs=costs, progress=False)
