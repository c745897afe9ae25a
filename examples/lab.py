"""A lab study by ask and tell: pesmo says what to run, a person runs it and types what came out.

The study lives in a file. Close the terminal in the middle, start again tomorrow: it asks for what is still open, and
goes on. Three vials fit the heater, so it asks for three at a time.

    python examples/lab.py               # asks; type "yield impurity", or "x why" for a run that failed
    python examples/lab.py --simulate    # a chemist made of formulas answers
"""

import argparse
import math
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

import pesmo
from pesmo.report.tables import front_table

space = pesmo.Space(
    temperature=pesmo.Float(20, 120),  # °C
    hours=pesmo.Float(0.5, 24, log=True),
    catalyst=pesmo.Choice("none", "Pd/C", "zeolite"),
)
EARLIER = [({"temperature": 60.0, "hours": 4.0, "catalyst": "none"}, {"yield": 31.0, "impurity": 3.5})]

Answer = Callable[[pesmo.Trial], str]


def person(trial: pesmo.Trial) -> str:
    """Someone at the bench."""
    settings = ", ".join(f"{name} = {value}" for name, value in trial.inputs.items())
    return input(f"trial {trial.id}: {settings}\n  yield and impurity in %, or x and the reason: ")


def chemist(trial: pesmo.Trial) -> str:
    """Someone made of formulas: hot and long gives much of it, too hot spoils it, and zeolite cracks when cold."""
    t, h, catalyst = (trial.inputs[name] for name in space.names)
    if catalyst == "zeolite" and t < 30:
        return "x it cracked"
    rate = 0.08 * math.exp((t - 60) / 25) * {"none": 1.0, "Pd/C": 3.0, "zeolite": 1.8}[catalyst]
    spoilt = 1 - math.exp(-0.01 * h * math.exp((t - 70) / 15))
    impurity = 1 + 60 * spoilt + (3 if catalyst == "Pd/C" else 0)
    return f"{100 * (1 - math.exp(-rate * h)) * (1 - spoilt):.1f} {impurity:.1f}"


def hand_in(study: pesmo.Study, trial: pesmo.Trial, answer: str) -> None:
    """Tell the study what was typed."""
    if answer.startswith("x"):
        study.fail(trial, answer[1:].strip())
        return
    amount, impurity = (float(word) for word in answer.split())
    study.tell(trial, {"yield": amount, "impurity": impurity})


def main(storage: str | Path = "lab.db", rounds: int = 6, answer: Answer = person) -> pesmo.Study:
    study = pesmo.Study(
        space,
        objectives=[
            pesmo.Objective("yield", goal="maximize", unit="%"),
            pesmo.Objective("impurity", transform="log", unit="%"),
        ],
        seed=3,
        storage=storage,
        name="lab",
    )
    if not study.trials:
        for inputs, values in EARLIER:
            study.add(inputs, values)
    for _ in range(rounds):
        open_ = [t for t in study.trials if t.state == "running"]
        for trial in open_ or study.ask(n=3):
            hand_in(study, trial, answer(trial))
    Console().print(front_table(study.recommend()))
    return study


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A lab study by ask and tell.")
    parser.add_argument("--simulate", action="store_true", help="let formulas answer instead of a person")
    parser.add_argument("--storage", default="lab.db")
    parser.add_argument("--rounds", type=int, default=6)
    chosen = parser.parse_args()
    main(chosen.storage, chosen.rounds, chemist if chosen.simulate else person)
