"""`python -m experiments NAME [options]` runs an experiment, or goes on with it; `report` makes the page of all."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pesmo
from experiments import accuracy
from experiments.methods import missing, new_study
from experiments.page import DOCS, write_page
from experiments.pool import execute
from experiments.results import RESULTS, Results
from experiments.runs import Run

NAMES = ("synthetic", "ablation", "times", "mnist", "trees", "classic", "rivals")
PRIVATE = ("--data", "--results")  # options that name a path of this machine: not for the files


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    commands = top.add_subparsers(dest="name", required=True, metavar="NAME")
    for name in NAMES:
        module = import_module(f"experiments.{name}")
        command = commands.add_parser(name, help=(module.__doc__ or "").splitlines()[0], description=module.__doc__)
        if hasattr(module, "SCALES"):
            command.add_argument("--scale", choices=module.SCALES, default="small", help="default: %(default)s")
        else:
            command.add_argument("--settings", nargs="+", choices=module.SETTINGS, default=list(module.SETTINGS))
        command.add_argument("--methods", nargs="+", help="default: those the experiment is about")
        command.add_argument("--problems", type=int, help="runs of each method: problems or repetitions 0 to N - 1")
        command.add_argument("--evaluations", type=int, help="of each run: coupled ones, the starts included")
        command.add_argument("--every", type=int, help="evaluations between scores; 0: none is taken")
        command.add_argument("--jobs", type=int, default=1, help="processes (default %(default)s)")
        command.add_argument("--results", type=Path, default=RESULTS, help="folder of the raw files")
        for option, settings in getattr(module, "OPTIONS", {}).items():
            command.add_argument(f"--{option}", **settings)
    command = commands.add_parser("accuracy", help=(accuracy.__doc__ or "").splitlines()[0])
    command.add_argument("--results", type=Path, default=RESULTS, help="folder of the raw files")
    accuracy.add_options(command)
    command = commands.add_parser("report", help="make docs/experiments.md and its figures from the raw files")
    command.add_argument("--results", type=Path, default=RESULTS, help="folder of the raw files")
    command.add_argument("--docs", type=Path, default=DOCS, help="folder of the page")
    command = commands.add_parser("gather", help="take over runs of another folder that are missing here, or go on")
    command.add_argument("other", type=Path)
    command.add_argument("--results", type=Path, default=RESULTS, help="folder of the raw files")
    return top


def plan(arguments: argparse.Namespace) -> tuple[list[Run], list[str]]:
    """The runs asked for, problem by problem, so that what is done early is balanced; and what is left out, and why."""
    module = import_module(f"experiments.{arguments.name}")
    options = tuple((name, str(getattr(arguments, name))) for name in getattr(module, "OPTIONS", {}))
    runs, left_out = [], []
    numbers, evaluations, every = _sizes(arguments, module)
    for setting in [arguments.scale] if hasattr(module, "SCALES") else arguments.settings:
        for method in arguments.methods or module.methods(setting):
            run = Run(arguments.name, setting, method, 0, evaluations, every, options)
            if hasattr(module, "adapt"):
                run = module.adapt(run)
            reason = missing(method) or _misfit(run)
            if reason:
                left_out.append(f"{run.experiment} {run.setting} {method} is left out: {reason}")
            else:
                runs += [replace(run, number=number) for number in range(numbers)]
    return sorted(runs, key=lambda run: run.number), left_out


def _sizes(arguments: argparse.Namespace, module: Any) -> tuple[int, int, int]:
    """Runs, evaluations of each and between scores: as given, or the experiment's own."""
    if hasattr(module, "SCALES"):
        scale = module.SCALES[arguments.scale]
        own = (scale.numbers, scale.evaluations, scale.every)
    else:
        own = (module.NUMBERS, module.EVALUATIONS, module.EVERY)
    given = (arguments.problems, arguments.evaluations, arguments.every)
    return tuple(o if g is None else g for g, o in zip(given, own, strict=True))


def _misfit(run: Run) -> str | None:
    """Why a method does not serve a setting, in the words of the study."""
    try:
        new_study(run.task(), run.method, seed=0)
    except pesmo.DefinitionError as error:
        return str(error)
    return None


def main(words: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if words is None else words)
    arguments = parser().parse_args(words)
    if arguments.name == "report":
        write_page(Results(arguments.results), arguments.docs)
        return 0
    if arguments.name == "gather":
        with Results(arguments.results).writing():
            print(f"{Results(arguments.results).gather(Results(arguments.other))} runs taken over")
        return 0
    if arguments.name == "accuracy":
        accuracy.run(Results(arguments.results), arguments, _public(words))
        return 0
    runs, left_out = plan(arguments)
    print("\n".join(left_out), file=sys.stderr, end="\n" if left_out else "")
    errors = execute(runs, Results(arguments.results), arguments.jobs, _public(words))
    print("\n".join(errors), file=sys.stderr, end="\n" if errors else "")
    return 1 if errors else 0


def _public(words: Sequence[str]) -> str:
    """The command without what is this machine's own."""
    kept = [w for w, before in zip(words, ["", *words[:-1]], strict=True) if w not in PRIVATE and before not in PRIVATE]
    return " ".join(["python -m experiments", *kept])


if __name__ == "__main__":
    sys.exit(main())
