"""Looking at a study: status, trials, front, report, plots."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer
from rich.cells import cell_len
from rich.console import Console

from pesmo.cli.cells import headings
from pesmo.cli.opening import Target, target
from pesmo.cli.output import say_json
from pesmo.cli.tables import csv_text, trials_csv
from pesmo.cli.trials import trial_dict
from pesmo.cli.view import Limit, kept_limit, picture, summarize
from pesmo.errors import DefinitionError, PesmoError
from pesmo.front import Front
from pesmo.printable import printable
from pesmo.problem import Trial
from pesmo.redact import is_address
from pesmo.report import FIGURE_NAMES, save, write_report
from pesmo.report.data import Snapshot
from pesmo.report.tables import front_table

FORMATS = ("png", "svg", "pdf")
MOST_WIDE = 60  # cells of a column; what is longer stands out
RIGHT = (True, False, False, True, False, False)  # which columns of the trials are numbers


def show_status(place: Target, as_json: bool) -> None:
    study = place.look()
    limit = kept_limit(study)
    if limit.total is None and place.file is not None:  # it has not been run yet, only asked
        limit = Limit(place.file.evaluations, place.file.budget)
    summary = summarize(study, limit)
    if as_json:
        say_json(summary.to_dict())
    else:
        Console().print(picture(summary))


def show_trials(place: Target, as_json: bool, as_csv: bool) -> None:
    study = place.look()
    _one_format(as_json, as_csv)
    if as_json:
        say_json([trial_dict(t) for t in study.trials])
    elif as_csv:
        typer.echo(trials_csv(study), nl=False)
    else:
        typer.echo(_trial_table(study.trials), nl=False)


def _trial_table(trials: list[Trial]) -> str:
    """A line per trial: thousands are there at once, which a table that folds its cells would take a minute for."""
    rows: list[tuple[str, ...]] = [("trial", "state", "experiment", "cost", "inputs", "result")]
    for trial in trials:
        inputs = ", ".join(f"{name}={_short(value)}" for name, value in trial.inputs.items())
        result = ", ".join(f"{name}={value:.4g}" for name, value in trial.values.items())
        cells = (
            str(trial.id),
            trial.state,
            trial.experiment,
            f"{trial.cost:g}",
            inputs,
            result or _ends(trial.message),
        )
        rows.append(tuple(cell if cell.isprintable() else _one_line(cell) for cell in cells))
    wide = [min(MOST_WIDE, max(map(_cells, column))) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(_padded, row, wide, RIGHT)).rstrip() for row in rows]
    return "\n".join([lines[0], "  ".join("-" * width for width in wide), *lines[1:], ""])


def _one_line(cell: str) -> str:
    """Names and messages are data: nothing in them moves the cursor or begins another line."""
    return printable(cell).replace("\n", "\\n").replace("\t", "\\t")


def _cells(text: str) -> int:
    return len(text) if text.isascii() else cell_len(text)


def _padded(cell: str, width: int, right: bool) -> str:
    filling = " " * (width - _cells(cell))
    return filling + cell if right else cell + filling


def _ends(message: str | None) -> str:
    """The first and the last line of a message: what went wrong, and what the program said last."""
    lines = (message or "").strip().splitlines()
    return " … ".join([*lines[:1], *lines[1:][-1:]])


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def show_front(place: Target, size: int, as_json: bool, as_csv: bool) -> None:
    study = place.look()
    _one_format(as_json, as_csv)
    found = study.recommend(size)
    if as_json:
        say_json(found.to_dicts())
    elif as_csv:
        typer.echo(_front_csv(found), nl=False)
    else:
        Console().print(front_table(found, most=size))


def _front_csv(found: Front) -> str:
    """A column per input, then each objective's mean and sd, then the probability."""
    rows = found.to_dicts()
    names = [o.name for o in found.objectives]
    inputs, objectives = headings(list(rows[0]["inputs"]) if rows else [], names)
    header = [*inputs, *[column for n in objectives for column in (n, f"{n} sd")], "probability"]
    return csv_text(
        header,
        [
            [
                *row["inputs"].values(),
                *[row[part][n] for n in names for part in ("objectives", "sd")],
                row["probability"],
            ]
            for row in rows
        ],
    )


def _one_format(as_json: bool, as_csv: bool) -> None:
    if as_json and as_csv:
        raise DefinitionError("give --json or --csv, not both")


def make_report(place: Target, output: Path) -> None:
    study = place.look()
    _write(output, lambda: write_report(study, output))


def make_plots(words: list[str], storage: str | None, name: str | None, output: Path | None, form: str) -> None:
    """Figures by name, all of them where none is named; the first word is the study unless it names a figure."""
    where, figures = (words[0], words[1:]) if words and words[0] not in FIGURE_NAMES else (None, words)
    known = f"the figures are {', '.join(FIGURE_NAMES)}"
    for figure in figures:
        if figure not in FIGURE_NAMES:
            raise DefinitionError(f"there is no figure {figure!r}; {known}")
    if where is not None and not is_address(where) and not Path(where).exists():
        raise DefinitionError(f"{where!r} is neither a study nor a figure; {known}")
    if form not in FORMATS:
        raise DefinitionError(f"--format must be one of {', '.join(FORMATS)}, not {form!r}")
    paths = _paths(figures or list(FIGURE_NAMES), output, form)
    snapshot = Snapshot(target(where, storage, name).look())  # one front for all figures
    for figure, path in paths.items():
        _write(path, lambda figure=figure, path=path: save(figure, snapshot, path))


def _paths(figures: list[str], output: Path | None, form: str) -> dict[str, Path]:
    """Where each figure goes."""
    if output is None or not output.suffix:
        return {figure: (output or Path()) / f"{figure}.{form}" for figure in figures}
    if output.suffix[1:] not in FORMATS:
        raise DefinitionError(f"{output}: figures are written as {', '.join(FORMATS)}; end the name with one of them")
    if len(figures) > 1:
        raise DefinitionError(f"{output} is one file, but {len(figures)} figures are asked for; name a folder")
    return {figures[0]: output}


def _write(path: Path, write: Callable[[], Any]) -> None:
    """Write a file and say so; a place that cannot be written to is the user's to change."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write()
    except PesmoError:
        raise
    except OSError as error:
        raise DefinitionError(f"cannot write {path}: {error.strerror}") from None
    typer.echo(f"wrote {path}")
