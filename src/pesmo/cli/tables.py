"""Trials as tables for other programs: CSV and JSON out, CSV in."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import typer

from pesmo.cli.opening import Target, target
from pesmo.cli.trials import trial_dict
from pesmo.definition import Definition
from pesmo.errors import DefinitionError, PesmoError, ResultError
from pesmo.run.programs import text
from pesmo.space import Choice, Space
from pesmo.study import Study

ABOUT = ("id", "state", "experiment", "cost", "gain", "asked", "finished", "message", "note")


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """CSV as spreadsheets read it; None is an empty cell."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([["" if cell is None else text(cell) for cell in row] for row in rows])
    return stream.getvalue()


def trials_csv(study: Study) -> str:
    """A row per trial: what is known about it, its inputs, its values."""
    names = [o.name for o in study.objectives]
    inputs = study.space.names
    rows = [
        [*[getattr(t, a) for a in ABOUT], *[t.inputs[i] for i in inputs], *[t.values.get(n) for n in names]]
        for t in study.trials
    ]
    return csv_text([*[f"trial.{about}" for about in ABOUT], *inputs, *names], rows)


def export_study(place: Target, output: Path | None) -> None:
    if output is not None and output.suffix not in (".csv", ".json"):
        raise DefinitionError(f"{output}: export writes .csv or .json; end the name with one of them")
    study = place.open()
    as_csv = output is None or output.suffix == ".csv"
    written = trials_csv(study) if as_csv else json.dumps(_everything(study), indent=2)
    if output is None:
        typer.echo(written, nl=False)
        return
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(written, encoding="utf-8")
    except OSError as error:
        raise DefinitionError(f"cannot write {output}: {error.strerror}") from None
    typer.echo(f"wrote {output}: {len(study.trials)} trials")


def _everything(study: Study) -> dict[str, Any]:
    """The study as JSON: what it is about and all its trials."""
    about = Definition(study.space, study.objectives, study.experiments, study.method, study.seed)
    return {"name": study.name, **about.to_json(), "trials": [trial_dict(t) for t in study.trials]}


# ------------------------------------------------------------------------------------------------------------- import


def import_csv(words: list[str], storage: str | None, name: str | None, as_json: bool) -> None:
    """Add a CSV's rows: all or, where one is wrong, none. Rows that were imported before are not added again."""
    if len(words) > 2:
        raise DefinitionError(f"import takes a study and one CSV file, not {words}")
    path = Path(words[-1])
    if path.suffix == ".toml":
        raise DefinitionError(f"which CSV file? Name it after the study: pesmo import {words[-1]} data.csv")
    study = target(words[0] if len(words) == 2 else None, storage, name).make()
    header, lines = _read(path)
    rows = [_row(study, path, number, dict(zip(header, cells, strict=True))) for number, cells in lines]
    before = Counter(_key(t.inputs, t.values) for t in study.trials if t.note == "added")
    added = empty = 0
    for inputs, values in rows:
        key = _key(inputs, values)
        if not values:
            empty += 1
        elif before[key] > 0:
            before[key] -= 1
        else:
            study.add(inputs, values)
            added += 1
    ours = [f"trial.{about}" for about in ABOUT]
    ignored = [column for column in header if column not in [*_columns(study), *ours]]
    known = len(rows) - added - empty
    if as_json:
        typer.echo(json.dumps({"added": added, "known": known, "empty": empty, "ignored_columns": ignored}))
        return
    said = [f"added {added} of {len(rows)} rows"]
    said += [f"{known} were there already"] if known else []
    said += [f"{empty} have no objective"] if empty else []
    said += [f"columns left out: {', '.join(ignored)}"] if ignored else []
    typer.echo("; ".join(said))


def _columns(study: Study) -> list[str]:
    return [*study.space.names, *[o.name for o in study.objectives]]


def _key(inputs: dict[str, Any], values: dict[str, float]) -> str:
    return json.dumps([inputs, values], sort_keys=True)


def _read(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header and the rows, each with its line; rows of the header's length."""
    try:
        source = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise DefinitionError(f"there is no file {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DefinitionError(f"cannot read {path}: {error}") from None
    reader = csv.reader(io.StringIO(source, newline=""), strict=True)
    lines: list[tuple[int, list[str]]] = []
    try:
        lines = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if any(row)]
    except csv.Error as error:
        raise ResultError(f"{path}, line {reader.line_num}: {error}") from None
    if not lines:
        raise ResultError(f"{path} is empty; its first line must name the columns")
    header = lines[0][1]
    for column in header:
        if header.count(column) > 1:
            raise ResultError(f"{path}: the column {column!r} appears twice")
    for number, cells in lines[1:]:
        if len(cells) != len(header):
            raise ResultError(f"{path}, line {number}: {len(cells)} cells, but the header has {len(header)} columns")
    return header, lines[1:]


def _row(study: Study, path: Path, line: int, cells: dict[str, str]) -> tuple[dict[str, Any], dict[str, float]]:
    """One row as a checked point and the values that are there."""
    missing = [name for name in study.space.names if name not in cells]
    if missing:
        raise ResultError(f"{path} has no column for the inputs {missing}; it has {list(cells)}")
    if not any(o.name in cells for o in study.objectives):
        raise ResultError(f"{path} has no column for any objective of {[o.name for o in study.objectives]}")
    try:
        inputs = _point(study.space, cells)
        values = {o.name: o.check(_number(o.name, cells[o.name])) for o in study.objectives if cells.get(o.name)}
    except PesmoError as error:
        raise ResultError(f"{path}, line {line}: {error}. Nothing was added") from None
    return inputs, values


def _point(space: Space, cells: dict[str, str]) -> dict[str, Any]:
    point: dict[str, Any] = {}
    for name, spec in space.inputs.items():
        if isinstance(spec, Choice):
            options = {text(option): option for option in spec.options}
            point[name] = options.get(cells[name], cells[name])
        else:
            point[name] = _number(name, cells[name])
    return space.check(point)


def _number(name: str, cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise ResultError(f"{name!r} must be a number, not {cell!r}") from None
