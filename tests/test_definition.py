"""A study's definition through JSON and back, and what a difference reads like."""

import json

import numpy as np
import pytest

from pesmo import Choice, DefinitionError, Experiment, Float, Int, Objective, Space, StorageError, Study
from pesmo.definition import Definition, define, difference, from_json

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


def test_every_field_is_stored_and_read() -> None:
    space = Space(f=Float(-1, 2), g=Float(1, 2, log=True), i=Int(-3, 4), j=Int(1, 9, log=True), c=Choice(False, 0, "0"))
    objectives = (
        Objective("plain"),
        Objective("full", "maximize", ["g", "c"], "log", 0, "kWh", 3),
        Objective("rate", transform="logit", worst=0.25),
    )
    experiments = (Experiment("e", ["plain", "rate"], 2), Experiment("f", ["full"], lambda point: 1.0))
    written = json.loads(json.dumps(Definition(space, objectives, experiments, "random", 0).to_json(), allow_nan=False))
    assert written == {
        "format": 1,
        "inputs": [
            {"name": "f", "kind": "float", "low": -1.0, "high": 2.0, "log": False},
            {"name": "g", "kind": "float", "low": 1.0, "high": 2.0, "log": True},
            {"name": "i", "kind": "int", "low": -3, "high": 4, "log": False},
            {"name": "j", "kind": "int", "low": 1, "high": 9, "log": True},
            {"name": "c", "kind": "choice", "options": [False, 0, "0"]},
        ],
        "objectives": [
            dict.fromkeys(("inputs", "transform", "noise", "unit", "worst")) | {"name": "plain", "goal": "minimize"},
            {
                "name": "full",
                "goal": "maximize",
                "inputs": ["g", "c"],
                "transform": "log",
                "noise": 0.0,
                "unit": "kWh",
                "worst": 3.0,
            },
            dict.fromkeys(("inputs", "noise", "unit"))
            | {"name": "rate", "goal": "minimize", "transform": "logit", "worst": 0.25},
        ],
        "experiments": [
            {"name": "e", "reveals": ["plain", "rate"], "cost": 2.0},
            {"name": "f", "reveals": ["full"], "cost": None},
        ],
        "method": "random",
        "seed": 0,
    }
    back = from_json(written)
    assert (back.space, back.objectives, back.experiments[0]) == (space, objectives, experiments[0])
    assert (back.method, back.seed) == ("random", 0)
    with pytest.raises(DefinitionError, match="experiment 'f': its cost is a function"):
        back.experiments[1].cost_at({"g": 1.5})
    assert back.to_json() == written
    for other in (2, None, "1"):
        with pytest.raises(
            StorageError, match=f"the study's definition has format {other!r}, and this version reads 1"
        ):
            from_json({**written, "format": other})


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({"method": "random"}, ["method is 'random', stored is 'pesmo'"]),
        ({"seed": 0}, ["seed is 0, stored is 7"]),
        (
            {"space": Space({**SPACE.inputs, "c": Choice("relu", 1, 1.5, False)})},
            ["input 'c': options is ['relu', 1, 1.5, False], stored is ['relu', 1, 1.5, True]"],
        ),
        (
            {"space": Space({**SPACE.inputs, "c": Choice("relu", 1.0, 1.5, True)})},
            ["input 'c': options is ['relu', 1.0, 1.5, True], stored is ['relu', 1, 1.5, True]"],
        ),
        (
            {"space": Space({**SPACE.inputs, "c": Choice("relu", 1)})},
            ["input 'c': options is ['relu', 1], stored is ['relu', 1, 1.5, True]"],
        ),
        (
            {"space": Space({**SPACE.inputs, "n": Float(1, 300)})},
            [
                "input 'n': kind is 'float', stored is 'int'",
                "input 'n': low is 1.0, stored is 1",
                "input 'n': high is 300.0, stored is 300",
            ],
        ),
        (
            {"space": Space(dict(reversed(SPACE.inputs.items())))},
            ["the order of the inputs is ['c', 'n', 'learning rate'], stored is ['learning rate', 'n', 'c']"],
        ),
        (
            {"objectives": (OBJECTIVES[0], Objective("time", inputs=["n"], unit="s"))},
            ["objective 'time': goal is 'minimize', stored is 'maximize'"],
        ),
        (
            {"objectives": (OBJECTIVES[0], Objective("time", "maximize", worst=3))},
            [
                "objective 'time': inputs is not given, stored is ['n']",
                "objective 'time': unit is not given, stored is 's'",
                "objective 'time': worst is 3.0, stored is not given",
            ],
        ),
        (
            {"experiments": (*EXPERIMENTS, Experiment("more", ["time"]))},
            ["experiment 'more' is not in the stored study"],
        ),
        ({"experiments": EXPERIMENTS[:1]}, ["experiment 'clock' is only in the stored study"]),
        (
            {"experiments": (EXPERIMENTS[1], Experiment("train", ["error", "time"], 30))},
            ["experiment 'train': reveals is ['error', 'time'], stored is ['error']"],
        ),
    ],
)
def test_each_difference_is_a_line(changes: dict, lines: list[str]) -> None:
    assert difference(stored(**changes), stored()) == lines


def test_what_is_left_out_is_filled_in() -> None:
    alone = define(SPACE, "a", None, "pesmo", 3)
    assert alone.objectives == (Objective("a"),)
    assert alone.experiments == (Experiment("evaluate", ["a"]),)
    several = define(SPACE, ["a", Objective("b", "maximize")], [], "pesmo", 0)
    assert several.experiments == (Experiment("evaluate", ["a", "b"]),)
    assert several.seed == 0
    assert define(SPACE, Objective("a"), None, "pesmo", None).seed in range(2**32)
    for seed in (-1, True, 1.0, "1"):
        with pytest.raises(DefinitionError, match=r"seed must be a whole number from 0 to 2\*\*128 - 1 or None"):
            define(SPACE, "a", None, "pesmo", seed)


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
