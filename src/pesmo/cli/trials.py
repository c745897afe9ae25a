"""By hand: ask for trials, tell what they gave, fail those that gave nothing."""

import json
import sys
from typing import Any

import typer

from pesmo.cli.opening import Target, target
from pesmo.cli.output import say_json
from pesmo.cli.reading import read_stream
from pesmo.errors import ResultError, TrialError, brief
from pesmo.printable import printable
from pesmo.problem import Trial
from pesmo.study import Study

LARGEST = 10_000_000  # characters of a result
MOST_DIGITS = 20  # of a trial's number; more than any has, and few enough for int()


def trial_dict(trial: Trial) -> dict[str, Any]:
    """A trial for other programs."""
    return {
        "id": trial.id,
        "state": trial.state,
        "experiment": trial.experiment,
        "inputs": trial.inputs,
        "values": trial.values,
        "cost": trial.cost,
        "gain": trial.gain,
        "asked": trial.asked,
        "finished": trial.finished,
        "message": trial.message,
        "note": trial.note,
    }


def ask_trials(place: Target, number: int | None, lease: float | None, as_json: bool) -> None:
    """Trials for whoever reads the output. Those that nobody will ever read of are given back."""
    study = place.make()
    asked: list[Trial] = []
    try:
        for _ in range(number or 1):
            asked.append(study.ask(lease=lease))
        if as_json:
            rows = [{**trial_dict(t), "reveals": list(study.experiment(t.experiment).reveals)} for t in asked]
            say_json(rows if number is not None else rows[0])
        else:
            typer.echo(printable("\n".join(_instruction(study, trial, place) for trial in asked)))
    except BaseException:  # a closed pipe, a full disk, Ctrl-C, a method that has finished
        study.release(asked)
        raise


def _instruction(study: Study, trial: Trial, place: Target) -> str:
    """What a person is to do."""
    width = max(len(name) for name in trial.inputs)
    lines = [f"Trial {trial.id}: run {trial.experiment!r} (cost {trial.cost:g}) at"]
    lines += [f"    {name:<{width}} = {value}" for name, value in trial.inputs.items()]
    if trial.gain is not None:
        lines.append(f"It is expected to teach {trial.gain:.3g} nats about the best trade-offs.")
    results = " ".join(f"{_quoted(name)}=…" for name in study.experiment(trial.experiment).reveals)
    lines.append(f"Then: pesmo tell {place.said} {trial.id} {results}")
    return "\n".join(lines)


def _quoted(name: str) -> str:
    return name if name.isidentifier() else repr(name)


def tell_trial(words: list[str], storage: str | None, name: str | None, as_json: bool) -> None:
    place, trial_id, rest = _split(words, storage, name)
    study = place.open()
    values = _values(rest, f"{place.said} {trial_id}")
    cost = None if any(o.name == "cost" for o in study.objectives) else values.pop("cost", None)
    _answer(study.tell(trial_id, values, cost=cost), as_json)


def fail_trial(words: list[str], storage: str | None, name: str | None, as_json: bool) -> None:
    place, trial_id, rest = _split(words, storage, name)
    _answer(place.open().fail(trial_id, " ".join(rest)), as_json)


def _answer(trial: Trial, as_json: bool) -> None:
    if as_json:
        say_json(trial_dict(trial))
    else:
        said = ", ".join(f"{name} = {value:g}" for name, value in trial.values.items()) or trial.message or "no reason"
        typer.echo(printable(f"trial {trial.id} ({trial.experiment}) is {trial.state}: {said}"))


def _split(words: list[str], storage: str | None, name: str | None) -> tuple[Target, int, list[str]]:
    """[STUDY] TRIAL REST…: the first word is the study unless it is a number."""
    where, rest = (None, words) if words[0].isdecimal() else (words[0], words[1:])
    if not rest or not rest[0].isdecimal():
        said = f"not {brief(rest[0])}" if rest else "and it is missing"
        raise TrialError(f"after the study comes the trial's number, {said}; `pesmo trials` lists them")
    if len(rest[0]) > MOST_DIGITS:
        raise TrialError(f"there is no trial {brief(rest[0])}; `pesmo trials` lists them")
    return target(where, storage, name), int(rest[0]), rest[1:]


def _values(words: list[str], said: str) -> dict[str, Any]:
    """Results given as NAME=VALUE words, as one JSON object, or as one on standard input."""
    if len(words) == 1 and (words[0] == "-" or words[0].lstrip().startswith("{")):
        return _json_object(_standard_input() if words[0] == "-" else words[0])
    values: dict[str, Any] = {}
    for word in words:
        name, equals, number = word.rpartition("=")
        if not equals or not name:
            raise ResultError(f"{brief(word)} is not NAME=VALUE; write it as in: pesmo tell {said} error=0.02")
        if name in values:
            raise ResultError(f"{brief(name)} is given twice")
        try:
            values[name] = float(number)
        except ValueError:
            raise ResultError(f"{brief(name)} must be a number, not {brief(number)}") from None
    return values


def _standard_input() -> str:
    try:
        return read_stream(sys.stdin, LARGEST)
    except UnicodeDecodeError as error:
        raise ResultError(f"standard input is not text in UTF-8 (byte {error.start})") from None
    except OSError as error:
        raise ResultError(f"cannot read standard input: {error.strerror}") from None


def _json_object(text: str) -> dict[str, Any]:
    """The result in a JSON text; every number as a float, which an integer of any length is too."""
    try:
        found = json.loads(text, parse_int=float)
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise ResultError(f'the result is not a JSON object such as {{"error": 0.02}}: {why}') from None
    if not isinstance(found, dict):
        raise ResultError(f'the result must be a JSON object such as {{"error": 0.02}}, not {brief(text.strip())}')
    return found
