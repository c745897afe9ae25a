"""The first trials of small studies of every kind, by every method: what a change of code must not change unsaid.

`python -m tests.suggestions.studies` prints them as JSON; with a file's name it writes them there:
`python -m tests.suggestions.studies tests/suggestions/recorded.json` is how a commit says that it changes suggestions.

Rounding differs between processors, and a suggestion may grow a difference of 1e-16 to one that shows. So the
environment of `PLAIN` keeps NumPy and its BLAS to instructions that every x86-64 processor of the last ten years has.
"""

import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pesmo

TRIALS = 12
PLAIN = {
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
PLANE = {"x": pesmo.Float(0, 1), "y": pesmo.Float(-1, 3)}


@dataclass(frozen=True)
class Case:
    space: pesmo.Space
    objectives: list[pesmo.Objective | str]
    values: Callable[[dict[str, Any]], dict[str, float]]
    experiments: list[pesmo.Experiment] | None = None
    method: str = "pesmo"


def two(i: dict[str, Any]) -> dict[str, float]:
    return {
        "a": (i["x"] - 0.2) ** 2 + 0.1 * (i["y"] - 1) ** 2,
        "b": (i["x"] - 0.8) ** 2 + 0.2 * math.cos(3 * i["y"]) + 0.3 * i["x"] * i["y"],
    }


def noisy(i: dict[str, Any]) -> dict[str, float]:
    """The noise is a function of the last digits of the inputs, so that it comes again."""
    wobble = math.sin(1e4 * i["x"]) + math.cos(1e4 * i["y"])
    return {name: value + 0.1 * wobble for name, value in two(i).items()}


def mixed(i: dict[str, Any]) -> dict[str, float]:
    weight = {"oak": 1.0, "ash": 1.4, "elm": 0.8}[i["wood"]]
    return {"a": weight * i["n"] + math.log10(i["rate"]) ** 2, "b": 9.0 / i["n"] + weight * abs(math.log10(i["rate"]))}


def one(i: dict[str, Any]) -> dict[str, float]:
    return {"a": math.sin(5 * i["x"]) + (i["y"] - 1) ** 2}


def four(i: dict[str, Any]) -> dict[str, float]:
    return {f"f{k}": (i["x"] - k / 3) ** 2 + (i["y"] / 4 - k / 5) ** 2 + 0.1 * k * i["z"] for k in range(4)}


def separate(i: dict[str, Any]) -> dict[str, float]:
    return {"error": 0.1 + 0.3 * (i["x"] - 0.3) ** 2 + 0.2 / i["n"], "time": 0.2 * i["n"] ** 1.3}


MIXED = {"rate": pesmo.Float(1e-3, 1.0, log=True), "n": pesmo.Int(1, 9), "wood": pesmo.Choice("oak", "ash", "elm")}
CHEAP_AND_EXPENSIVE = [pesmo.Experiment("cheap", ["a"], cost=1), pesmo.Experiment("long", ["b"], cost=10)]
CASES = {
    "coupled": Case(pesmo.Space(PLANE), ["a", "b"], two),
    "decoupled with costs": Case(pesmo.Space(PLANE), ["a", "b"], two, CHEAP_AND_EXPENSIVE),
    "mixed inputs": Case(pesmo.Space(MIXED), ["a", pesmo.Objective("b", transform="log")], mixed),
    "noisy": Case(pesmo.Space(PLANE), ["a", pesmo.Objective("b", goal="maximize")], noisy),
    "declared inputs": Case(
        pesmo.Space(x=pesmo.Float(0, 1), n=pesmo.Int(1, 5)),
        [pesmo.Objective("error", transform="logit"), pesmo.Objective("time", inputs=["n"])],
        separate,
        [
            pesmo.Experiment("train", ["error"], cost=lambda i: 10.0 + i["n"]),
            pesmo.Experiment("clock", ["time"], cost=1),
        ],
    ),
    "one objective": Case(pesmo.Space(PLANE), ["a"], one),
    "four objectives": Case(pesmo.Space({**PLANE, "z": pesmo.Float(0, 1)}), [f"f{k}" for k in range(4)], four),
    **{
        method: Case(pesmo.Space(PLANE), ["a", pesmo.Objective("b", worst=1.5)], two, method=method)
        for method in ("parego", "smsego", "ehi", "sur", "pal", "nsga2", "random", "sobol")
    },
}


def trials_of(case: Case) -> dict[str, Any]:
    """The trials of a study that asks and tells, and what it says at the end."""
    study = pesmo.Study(case.space, case.objectives, case.experiments, case.method, seed=5)
    trials = []
    for _ in range(TRIALS):
        trial = study.ask()
        values = case.values(trial.inputs)
        study.tell(trial, {name: values[name] for name in study.experiment(trial.experiment).reveals})
        trials.append({"experiment": trial.experiment, "inputs": trial.inputs, "gain": trial.gain})
    front = study.recommend(size=8)
    corner = study.space.from_unit([0.25] * study.space.dim)
    alpha = study.acquisition([corner])
    return {
        "trials": trials,
        "front": [
            {"inputs": point, "means": mean.tolist()} for point, mean in zip(front.inputs, front.means, strict=True)
        ],
        "acquisition": {name: float(value[0]) for name, value in alpha.items()},
    }


def main() -> None:
    text = json.dumps({name: trials_of(case) for name, case in CASES.items()}, indent=1)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text + "\n", encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
