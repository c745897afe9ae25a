"""A study's definition as strict JSON, back again, and the difference between two of them in words.

A cost that is a function of the point cannot be stored: it is null, and whoever opens the study gives it again.
"""

import math
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from pesmo.errors import DefinitionError, StorageError, brief
from pesmo.methods.registry import method_for
from pesmo.problem import Experiment, Objective, check_experiments, check_objectives
from pesmo.space import Choice, Float, Input, Int, Space

FORMAT = 1
SEED_BITS = 128
COUPLED = "evaluate"  # the name of the experiment that reveals everything, where none was given
KINDS = {"float": Float, "int": Int, "choice": Choice}


@dataclass(frozen=True)
class Definition:
    space: Space
    objectives: tuple[Objective, ...]
    experiments: tuple[Experiment, ...]
    method: str
    seed: int

    def to_json(self) -> dict[str, Any]:
        """Plain dicts, lists, strings and finite numbers."""
        return {
            "format": FORMAT,
            "inputs": [{"name": name, **_input(name, spec)} for name, spec in self.space.inputs.items()],
            "objectives": [
                {
                    "name": o.name,
                    "goal": o.goal,
                    "inputs": None if o.inputs is None else list(o.inputs),
                    "transform": o.transform,
                    "noise": None if o.noise is None else float(o.noise),
                    "unit": o.unit,
                    "worst": None if o.worst is None else float(o.worst),
                }
                for o in self.objectives
            ],
            "experiments": [
                {"name": e.name, "reveals": list(e.reveals), "cost": None if callable(e.cost) else float(e.cost)}
                for e in self.experiments
            ],
            "method": self.method,
            "seed": self.seed,
        }


def define(space: Any, objectives: Any, experiments: Any, method: str, seed: Any) -> Definition:
    """A definition whose parts fit together, or an error that names the misfit."""
    if not isinstance(space, Space):
        raise DefinitionError(f"space must be a pesmo.Space, not {brief(space)}")
    listed = [objectives] if isinstance(objectives, str | Objective) else list(objectives)
    checked = tuple(o if isinstance(o, Objective) else Objective(o) for o in listed)
    check_objectives(space, checked)
    runs = tuple(experiments) if experiments else (Experiment(COUPLED, tuple(o.name for o in checked)),)
    check_experiments(checked, runs)
    method_for(method, checked, runs)
    check_seed(seed)
    return Definition(space, checked, runs, method, secrets.randbits(32) if seed is None else seed)


def check_seed(seed: Any) -> None:
    """A seed is a whole number of at most 128 bits, as many as NumPy's own have; None draws one."""
    if seed is None:
        return
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**SEED_BITS:
        raise DefinitionError(f"seed must be a whole number from 0 to 2**{SEED_BITS} - 1 or None, not {brief(seed)}")


def from_json(stored: dict[str, Any]) -> Definition:
    """The inverse of `Definition.to_json`."""
    if isinstance(stored, dict) and stored.get("format") != FORMAT:
        raise StorageError(
            f"the study's definition has format {brief(stored.get('format'))}, and this version reads {FORMAT}; "
            "open it with the pesmo that wrote it, or a newer one"
        )
    try:
        return _definition(stored)
    except (KeyError, TypeError, ValueError) as error:
        raise StorageError(
            f"the study's definition is damaged ({type(error).__name__}: {error}): {brief(stored)}; it was changed by "
            "another program: restore it from a copy"
        ) from error


def _definition(stored: dict[str, Any]) -> Definition:
    return Definition(
        space=Space({spec["name"]: _from_input(spec) for spec in stored["inputs"]}),
        objectives=tuple(Objective(**o) for o in stored["objectives"]),
        experiments=tuple(
            Experiment(e["name"], e["reveals"], UnknownCost(e["name"]) if e["cost"] is None else e["cost"])
            for e in stored["experiments"]
        ),
        method=stored["method"],
        seed=stored["seed"],
    )


@dataclass(frozen=True)
class UnknownCost:
    """Stands for a cost function that was not stored."""

    experiment: str

    def __call__(self, point: dict[str, Any]) -> float:
        raise DefinitionError(
            f"experiment {self.experiment!r}: its cost is a function, and functions are not stored; to ask for trials "
            "open the study with pesmo.Study(space, objectives, experiments, storage=...), the function in its place"
        )


def difference(given: dict[str, Any], stored: dict[str, Any]) -> list[str]:
    """What differs between a definition and the stored one, a line each; none where they agree."""
    lines = []
    for what, singular in (("inputs", "input"), ("objectives", "objective"), ("experiments", "experiment")):
        mine, theirs = _by_name(given[what]), _by_name(stored[what])
        lines += [f"{singular} {name!r} is not in the stored study" for name in mine if name not in theirs]
        lines += [f"{singular} {name!r} is only in the stored study" for name in theirs if name not in mine]
        for name in (n for n in mine if n in theirs):
            fields = dict.fromkeys([*mine[name], *theirs[name]])
            lines += _unequal(f"{singular} {name!r}: ", fields, mine[name], theirs[name])
        if not lines and list(mine) != list(theirs):
            lines.append(f"the order of the {what} is {list(mine)}, stored is {list(theirs)}")
    return lines + _unequal("", ("method", "seed"), given, stored)


def _unequal(prefix: str, fields: Iterable[str], mine: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    return [
        f"{prefix}{field} is {_shown(mine.get(field))}, stored is {_shown(theirs.get(field))}"
        for field in fields
        if not _same(mine.get(field), theirs.get(field))
    ]


def _same(a: Any, b: Any) -> bool:
    """Equal in value and kind: 1 and true are not, nor 1 and 1.0 among the options of a Choice."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    return type(a) is type(b) and a == b


def _shown(value: Any) -> str:
    return "not given" if value is None else brief(value)


def _by_name(items: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {item["name"]: item for item in items}


def _input(name: str, spec: Input) -> dict[str, Any]:
    if isinstance(spec, Choice):
        return {"kind": "choice", "options": [_option(name, option) for option in spec.options]}
    kind = "float" if isinstance(spec, Float) else "int"
    return {"kind": kind, "low": spec.low, "high": spec.high, "log": bool(spec.log)}


def _option(name: str, option: Any) -> str | bool | int | float:
    """An option as JSON has it."""
    if isinstance(option, bool):
        return option
    if isinstance(option, str):
        return str(option)  # NumPy's strings are strings, of another type
    if isinstance(option, Integral):
        return int(option)
    if isinstance(option, Real) and math.isfinite(option) and float(option) == option:
        return float(option)
    raise DefinitionError(f"input {name!r}: the option {brief(option)} cannot be stored; use a string for it")


def _from_input(spec: dict[str, Any]) -> Input:
    if spec["kind"] == "choice":
        return Choice(*spec["options"])
    return KINDS[spec["kind"]](spec["low"], spec["high"], spec["log"])
