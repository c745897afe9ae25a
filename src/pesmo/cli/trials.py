"""By hand: ask for trials, tell what they gave, fail those that gave nothing."""

import json
import sys
from typing import Any

import typer

from pesmo.cli.opening import Target, target
from pesmo.errors import ResultError, TrialError
from pesmo.problem import Trial
from pesmo.study import Study


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
    study = place.make()
    asked = study.ask(number or 1, lease=lease)
    if as_json:
        rows = [{**trial_dict(t), "reveals": list(study.experiment(t.experiment).reveals)} for t in asked]
        typer.echo(json.dumps(rows if number is not None else rows[0]))
        return
    for trial in asked:
        typer.echo(_instruction(study, trial, place))


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
        typer.echo(json.dumps(trial_dict(trial)))
    else:
        said = ", ".join(f"{name} = {value:g}" for name, value in trial.values.items()) or trial.message or "no reason"
        typer.echo(f"trial {trial.id} ({trial.experiment}) is {trial.state}: {said}")


def _split(words: list[str], storage: str | None, name: str | None) -> tuple[Target, int, list[str]]:
    """[STUDY] TRIAL REST…: the first word is the study unless it is a number."""
    where, rest = (None, words) if words[0].isdecimal() else (words[0], words[1:])
    if not rest or not rest[0].isdecimal():
        said = f"not {rest[0]!r}" if rest else "and it is missing"
        raise TrialError(f"after the study comes the trial's number, {said}; `pesmo trials` lists them")
    return target(where, storage, name), int(rest[0]), rest[1:]


def _values(words: list[str], said: str) -> dict[str, Any]:
    """Results given as NAME=VALUE words, as one JSON object, or as one on standard input."""
    if len(words) == 1 and (words[0] == "-" or words[0].lstrip().startswith("{")):
        text = sys.stdin.read() if words[0] == "-" else words[0]
        try:
            found = json.loads(text)
        except ValueError as error:
            raise ResultError(f'the result is not a JSON object such as {{"error": 0.02}}: {error}') from None
        if not isinstance(found, dict):
            raise ResultError(f'the result must be a JSON object such as {{"error": 0.02}}, not {text.strip()}')
        return found
    values: dict[str, Any] = {}
    for word in words:
        name, equals, number = word.rpartition("=")
        if not equals or not name:
            raise ResultError(f"{word!r} is not NAME=VALUE; write it as in: pesmo tell {said} error=0.02")
        if name in values:
            raise ResultError(f"{name!r} is given twice")
        try:
            values[name] = float(number)
        except ValueError:
            raise ResultError(f"{name!r} must be a number, not {number!r}") from None
    return values
