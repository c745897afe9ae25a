"""`pesmo run` and `pesmo worker`: a study's programs, run until its limit.

With a study file, its commands and limit are kept with the study in its storage. Without one they are taken from there,
so that another machine needs nothing but the storage and the programs.
"""

import shutil
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.text import Text
from threadpoolctl import threadpool_limits

from pesmo.cli.live import LiveView
from pesmo.cli.opening import Target
from pesmo.cli.output import say_json
from pesmo.cli.view import Limit, has_front, kept_limit, summarize
from pesmo.errors import DefinitionError, RunError, TrialError
from pesmo.front import Front
from pesmo.printable import excerpt, printable
from pesmo.report.tables import front_table, spending_table
from pesmo.run.programs import Program, program_of
from pesmo.study import Study


@dataclass(frozen=True)
class Wishes:
    """What the command line says about a run."""

    workers: int
    limit: Limit
    max_failures: int
    quiet: bool
    as_json: bool


def run_study(place: Target, wishes: Wishes) -> None:
    """Run a study: its file says how, or else what was kept in its storage."""
    if place.file is not None:
        programs, known = place.file.programs, Limit(place.file.evaluations, place.file.budget)
        limit = _limit(wishes.limit, known, f"in [study] of {place.said}")
        _check_programs(programs, [e.name for e in place.file.experiments], place)
        study = place.make()
        study.keep_settings(to_settings(programs, limit))
    else:
        study = place.open()
        programs, known = from_settings(study)
        limit = _limit(wishes.limit, known, "in its study file")
        _check_programs(programs, [e.name for e in study.experiments], place)
    _run(study, programs, limit, wishes, place)


def to_settings(programs: dict[str, Program], limit: Limit) -> dict[str, Any]:
    """What a worker elsewhere needs to know. Folders are each machine's own."""
    commands = {name: {"command": list(p.command), "timeout": p.timeout} for name, p in programs.items()}
    return {"commands": commands, "evaluations": limit.evaluations, "budget": limit.budget}


def from_settings(study: Study) -> tuple[dict[str, Program], Limit]:
    """The programs, to run in this folder, and the limit that `pesmo run` kept with the study."""
    programs = {
        name: Program(tuple(c["command"]), tuple(study.experiment(name).reveals), c["timeout"], name, str(Path.cwd()))
        for name, c in study.settings.get("commands", {}).items()
    }
    return programs, kept_limit(study)


def _limit(given: Limit, other: Limit, where: str) -> Limit:
    """The limit of the command line, else the other one."""
    if given.evaluations is not None and given.budget is not None:
        raise DefinitionError("give --evaluations or --budget, not both: a study has one limit")
    chosen = given if given.total is not None else other
    if chosen.total is None:
        raise DefinitionError(f"when is it done? Give --evaluations or --budget here, or evaluations or budget {where}")
    return chosen


def _check_programs(programs: dict[str, Program], experiments: list[str], place: Target) -> None:
    """Every experiment has a command, and its program is there: better said before the first trial than after all."""
    without = [name for name in experiments if name not in programs]
    if without:
        raise DefinitionError(
            f"no command is known for the experiment {', '.join(map(repr, without))}: give it one in the study file, "
            f"or run it by hand with `pesmo ask {place.said}` and `pesmo tell`"
        )
    for name, program in programs.items():
        first = program_of(program.command)
        if first is not None and not _exists(first, program.directory):
            raise DefinitionError(
                f"experiment {name!r}: there is no program {first!r} that can be executed"
                + (f" in {program.directory}" if "/" in first else " on the PATH")
                + "; mend its command, or make the file executable"
            )


def _exists(program: str, directory: str | None) -> bool:
    path = Path(directory or ".") / program if "/" in program else program
    return shutil.which(path) is not None


def _run(study: Study, programs: dict[str, Program], limit: Limit, wishes: Wishes, place: Target) -> None:
    console = Console(stderr=wishes.as_json)
    before = limit.done(study.trials)
    if limit.total is not None and before >= limit.total:
        more = "--evaluations" if limit.evaluations is not None else "--budget"
        _say(console, f"Done already: {before:g} of {limit.total:g}. To go on, give a larger {more}.")
    threadpool_limits(limits=1, user_api="blas")  # the view's thread and the loop's share one process
    try:
        with nullcontext() if wishes.quiet else LiveView(study, limit, console):
            front = _loop(study, programs, limit, wishes)
    except KeyboardInterrupt:
        done = limit.done(study.trials)
        with suppress(OSError):  # a closed terminal hears nothing
            _say(console, f"Stopped: {done:g} of {limit.total:g}, nothing lost. The same command goes on.")
        raise
    except RunError as error:
        typer.echo(f"error: {printable(str(error))}", err=True)
        raise typer.Exit(1) from None
    if wishes.as_json:
        say_json(summarize(study, limit, front).to_dict())
    else:
        _conclude(study, front, console, place.said)
    if front is None:
        failed = [t for t in study.trials if t.state == "failed"]
        why = f" The last failure, trial {failed[-1].id}: {excerpt(failed[-1].message or '')}" if failed else ""
        typer.echo(f"error: no front: not every objective has a value.{why}", err=True)
        raise typer.Exit(1)


def _loop(study: Study, programs: dict[str, Program], limit: Limit, wishes: Wishes) -> Front | None:
    """The front; None where an objective has no value."""
    try:
        return study.run(
            programs,
            evaluations=limit.evaluations,
            budget=limit.budget,
            workers=wishes.workers,
            max_failures=wishes.max_failures,
            progress=False,
        )
    except TrialError:
        if has_front(study):
            raise
        return None


def _conclude(study: Study, front: Front | None, console: Console, said: str) -> None:
    """What came out, and where to look next."""
    console.print(spending_table(study))
    if front is not None:
        console.print(front_table(front))
        _say(console, f"More: pesmo front {said}, pesmo trials {said}, pesmo report {said} -o report.html")


def _say(console: Console, line: str) -> None:
    console.print(Text(printable(line)), soft_wrap=True)
