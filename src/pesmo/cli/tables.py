"""Trials as tables for other programs: CSV and JSON out, CSV in."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import typer

from pesmo.cli.cells import headings, input_cells, quoted, read_names, read_number, reader, written
from pesmo.cli.opening import Target, target
from pesmo.cli.output import json_text, say_json
from pesmo.cli.reading import read_file
from pesmo.cli.trials import trial_dict
from pesmo.definition import Definition
from pesmo.errors import DefinitionError, PesmoError, ResultError, brief
from pesmo.study import Study

LARGEST = 200_000_000  # bytes of a table: a million rows
ABOUT = ("id", "state", "experiment", "cost", "gain", "asked", "finished", "message", "note")
Row = tuple[dict[str, Any], dict[str, float]]  # a point and what was measured there


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """CSV as spreadsheets read it; None is an empty cell, and no text is a formula."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([written(quoted(name)) for name in header])
    writer.writerows([[written(cell) for cell in row] for row in rows])
    return stream.getvalue()


def trials_csv(study: Study) -> str:
    """A row per trial: what is known about it, its inputs, its values."""
    names = [o.name for o in study.objectives]
    inputs, objectives = headings(study.space.names, names)
    rows = [
        [
            *[getattr(t, a) for a in ABOUT],
            *input_cells(study.space.inputs, t.inputs),
            *[t.values.get(n) for n in names],
        ]
        for t in study.trials
    ]
    return csv_text([*[f"trial.{about}" for about in ABOUT], *inputs, *objectives], rows)


def export_study(place: Target, output: Path | None) -> None:
    if output is not None and output.suffix not in (".csv", ".json"):
        raise DefinitionError(f"{output}: export writes .csv or .json; end the name with one of them")
    study = place.look()
    as_csv = output is None or output.suffix == ".csv"
    content = trials_csv(study) if as_csv else json_text(_everything(study), indent=2)
    if output is None:
        typer.echo(content, nl=False)
        return
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(content, encoding="utf-8", errors="backslashreplace", newline="")
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
    source = _text(path)
    study = target(words[0] if len(words) == 2 else None, storage, name).make()
    try:
        rows, ignored = read_csv(study, source)
    except PesmoError as error:
        raise ResultError(f"{path}{error}") from None
    told = [row for row in rows if row[1]]
    added, empty = len(study.add_many(told)), len(rows) - len(told)
    known = len(told) - added
    if as_json:
        say_json({"added": added, "known": known, "empty": empty, "ignored_columns": ignored})
        return
    said = [f"added {added} of {len(rows)} rows"]
    said += [f"{known} were there already"] if known else []
    said += [f"{empty} have no objective"] if empty else []
    said += [f"columns left out: {', '.join(ignored)}"] if ignored else []
    typer.echo("; ".join(said))


def _text(path: Path) -> str:
    """A file's text without the mark that spreadsheets put before it, and with its line ends as they are."""
    try:
        return read_file(path, LARGEST).decode("utf-8-sig")
    except FileNotFoundError:
        raise DefinitionError(f"there is no file {path}") from None
    except OSError as error:
        raise DefinitionError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise DefinitionError(f"{path} is not text in UTF-8 (byte {error.start}); save it as CSV in UTF-8") from None


def read_csv(study: Study, source: str) -> tuple[list[Row], list[str]]:
    """The checked rows of a CSV, those without any value too, and the columns that mean nothing here.

    An error says where in the file it is, as what follows the file's name.
    """
    header, lines = _lines(source)
    names = [o.name for o in study.objectives]
    inputs, objectives = headings(study.space.names, names)
    about = [f"trial.{part}" for part in ABOUT]
    try:
        columns = read_names(header, [*inputs, *objectives, *about])
    except ResultError as error:
        raise ResultError(f": {error}") from None
    missing = [name for name in inputs if name not in columns]
    if missing:
        raise ResultError(f" has no column for the inputs {brief(missing)}; it has {brief(header)}")
    if not any(name in columns for name in objectives):
        raise ResultError(f" has no column for any objective of {brief(objectives)}")
    readers = [
        (name, columns[heading], reader(name, spec))
        for (name, spec), heading in zip(study.space.inputs.items(), inputs, strict=True)
    ]
    measured = [
        (objective, columns[heading])
        for objective, heading in zip(study.objectives, objectives, strict=True)
        if heading in columns
    ]
    rows = []
    for number, cells in lines:
        try:
            point = study.space.check({name: read(cells[i]) for name, i, read in readers})
            values = {o.name: o.check(read_number(o.name, cells[i])) for o, i in measured if cells[i].strip()}
            rows.append((point, values))
        except PesmoError as error:
            raise ResultError(f", line {number}: {error}. Nothing was added") from None
    used = set(columns.values())
    return rows, [cell for index, cell in enumerate(header) if index not in used]


def _lines(source: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header and the rows, each with its line; rows of the header's length."""
    csv.field_size_limit(2**31 - 1)  # a reason of a failed trial may be longer than 128 kB
    reader = csv.reader(io.StringIO(source, newline=""), strict=True)
    try:
        lines = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise ResultError(f", line {reader.line_num}: {error}") from None
    if not lines:
        raise ResultError(" is empty; its first line must name the columns")
    header = lines[0][1]
    for number, cells in lines[1:]:
        if len(cells) != len(header):
            raise ResultError(f", line {number}: {len(cells)} cells, but the header has {len(header)} columns")
    return header, lines[1:]
