"""A study's definition through JSON and back, and what a difference reads like."""

import json

import numpy as np
import pytest

from pesmo import Choice, DefinitionError, Experiment, Float, Int, Objective, Space, Study
from pesmo.definition import Definition, difference, from_json

SPACE = Space({"learning rate": Float(1e-4, 0.1, log=True), "n": Int(1, 300), "c": Choice("relu", 1, 1.5, True)})
OBJECTIVES = (Objective("error", transform="logit", noise=0.1), Objective("time", "maximize", inputs=["n"], unit="s"))
EXPERIMENTS = (Experiment("train", ["error"], cost=30), Experiment("clock", ["time"]))


def stored(**changes) -> dict:
    parts = {"space": SPACE, "objectives": OBJECTIVES, "experiments": EXPERIMENTS, "method": "pesmo", "seed": 7}
    return Definition(**{**parts, **changes}).to_json()


def test_json_and_back() -> None:
    written = json.dumps(stored(), allow_nan=False)
    back = from_json(json.loads(written))
    assert (back.space, back.objectives, back.experiments) == (SPACE, OBJECTIVES, EXPERIMENTS)
    assert (back.method, back.seed) == ("pesmo", 7)
    assert [type(o) for o in back.space.inputs["c"].options] == [str, int, float, bool]  # pyright: ignore
    assert difference(stored(), json.loads(written)) == []


def test_the_difference_in_words() -> None:
    other = stored(
        space=Space({"learning rate": Float(1e-4, 0.2, log=True), "m": Int(1, 300), "c": Choice("relu", 1, 1.5, True)}),
        objectives=(Objective("error", transform="logit"), OBJECTIVES[1]),
        experiments=(Experiment("train", ["error"], cost=lambda point: 1.0), EXPERIMENTS[1]),
        seed=8,
    )
    assert difference(other, stored()) == [
        "input 'm' is not in the stored study",
        "input 'n' is only in the stored study",
        "input 'learning rate': high is 0.2, stored is 0.1",
        "objective 'error': noise is not given, stored is 0.1",
        "experiment 'train': cost is not given, stored is 30.0",
        "seed is 8, stored is 7",
    ]
    turned = stored(objectives=OBJECTIVES[::-1])
    assert difference(turned, stored()) == [
        "the order of the objectives is ['time', 'error'], stored is ['error', 'time']"
    ]


def test_a_cost_function_is_given_again_when_the_study_is_opened(tmp_path) -> None:
    path = tmp_path / "study.db"
    experiments = [Experiment("run", ["a"], cost=lambda point: 1 + point["n"])]
    space = Space(n=Int(1, 3))
    first = Study(space, ["a"], experiments, seed=0, storage=path)
    trial = first.ask()
    assert trial.cost == 1 + trial.inputs["n"]
    again = Study(space, ["a"], experiments, storage=path)
    assert again.seed == 0
    assert again.trials == [trial]
    opened = Study.open(path)
    opened.tell(trial, {"a": 1.0})
    with pytest.raises(DefinitionError, match="functions are not stored; to ask for trials open the study with"):
        opened.ask()


def test_numbers_of_numpy_are_stored_as_plain_ones(tmp_path) -> None:
    space = Space(c=Choice(np.int64(1), np.float32(0.5), np.str_("x")), x=Float(np.float64(0), 1))
    study = Study(space, ["a"], seed=0, storage=tmp_path / "study.db")
    for _ in range(6):
        trial = study.ask()
        study.tell(trial, {"a": np.float64(1.0)})
    assert {type(t.inputs["c"]) for t in study.trials} <= {int, float, str}
    from fractions import Fraction

    with pytest.raises(DefinitionError, match="cannot be stored"):
        Study(Space(c=Choice(Fraction(1, 3), "x")), ["a"], storage=tmp_path / "other.db")


def test_another_definition_is_refused_with_the_difference(tmp_path) -> None:
    path = tmp_path / "study.db"
    Study(SPACE, OBJECTIVES, EXPERIMENTS, seed=7, storage=path)
    with pytest.raises(DefinitionError, match="defined otherwise: seed is 8, stored is 7. Define it as it was"):
        Study(SPACE, OBJECTIVES, EXPERIMENTS, seed=8, storage=path)
    assert Study(SPACE, OBJECTIVES, EXPERIMENTS, storage=path).seed == 7
    assert Study(SPACE, OBJECTIVES, EXPERIMENTS, seed=8, storage=path, name="another").seed == 8
