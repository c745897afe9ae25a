"""`pesmo`: the list of commands. Each imports what it needs when it is called, so that --help answers at once."""

import math
import signal
import time
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from pesmo import __version__
from pesmo.cli.ending import ended
from pesmo.run.interrupts import ENDING

app = typer.Typer(
    name="pesmo",
    help="The best trade-offs between several expensive objectives, with the fewest evaluations.\n\n"
    "Start with: pesmo init, then pesmo run study.toml.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

MOST = 2**31 - 1  # of anything counted: the largest id of a trial
MOST_POINTS = 1000  # of a front: more take longer than one wants to wait


def _positive(number: float | None) -> float | None:
    if number is not None and not 0 < number < math.inf:
        raise typer.BadParameter(f"it must be a finite number > 0, not {number:g}")
    return number


Where = Annotated[
    str | None,
    typer.Argument(
        metavar="[STUDY]", help="A study file, a database file or a URL. Left out: study.toml in this folder."
    ),
]
Storage = Annotated[str | None, typer.Option("--storage", help="Instead of STUDY: a SQLite file or postgresql://…")]
Name = Annotated[str | None, typer.Option("--study", help="The study's name, where the storage has several.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for other programs.")]
Csv = Annotated[bool, typer.Option("--csv", help="Print CSV, for spreadsheets.")]
Evaluations = Annotated[int | None, typer.Option(min=1, max=MOST, help="Stop after this many trials in all.")]
Budget = Annotated[
    float | None, typer.Option(callback=_positive, help="Stop when this much cost has been spent in all.")
]
MaxFailures = Annotated[
    int, typer.Option(min=1, help="End after this many failed trials in a row. More than the limit: never.")
]
Workers = Annotated[int, typer.Option(min=1, max=MOST, help="How many programs run at once.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No live view.")]
STOPPING = 10.0  # seconds that a run has to end before Ctrl-C interrupts that too
STUDY, RUN, HAND, LOOK = "The study", "Run it", "By hand", "Look at it"


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pesmo {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")] = False,
) -> None:
    pass


def main() -> int:
    """The entry point; the exit code. SIGTERM (a scheduler, `kill`) and SIGHUP (a closed terminal) stop a run as Ctrl-C
    does."""
    until = 0.0

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal until
        if time.monotonic() >= until:  # a second one says nothing new: the programs are being ended
            until = time.monotonic() + STOPPING
            raise KeyboardInterrupt

    for number in ENDING:
        if number == signal.SIGTERM or signal.getsignal(number) != signal.SIG_IGN:  # under nohup it goes on
            signal.signal(number, stop)
    try:
        return ended(lambda: app(standalone_mode=False))
    finally:
        for number in ENDING:
            signal.signal(number, signal.SIG_IGN)


@app.command(rich_help_panel=STUDY)
def init(
    path: Annotated[Path, typer.Argument(metavar="[FILE]", help="The file to write.")] = Path("study.toml"),
    coupled: Annotated[
        bool, typer.Option("--coupled/--decoupled", help="One program for all objectives, or one for each.")
    ] = True,
) -> None:
    """Write a commented study file that runs as it is, and the small program it calls."""
    from pesmo.cli.template import write_template

    written = write_template(path, coupled)
    typer.echo(f"wrote {' and '.join(str(p) for p in written)}; now: pesmo run {path}")


@app.command(rich_help_panel=STUDY)
def schema() -> None:
    """Print the JSON schema of study files, for editors."""
    import json

    from pesmo.cli.schema import json_schema

    typer.echo(json.dumps(json_schema(), indent=2))


@app.command(rich_help_panel=RUN)
def run(
    where: Where = None,
    workers: Workers = 1,
    evaluations: Evaluations = None,
    budget: Budget = None,
    max_failures: MaxFailures = 10,
    storage: Storage = None,
    study: Name = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run the study's programs until its limit. Ctrl-C stops; the same command goes on."""
    from pesmo.cli.opening import target
    from pesmo.cli.running import Wishes, run_study
    from pesmo.cli.view import Limit

    run_study(target(where, storage, study), Wishes(workers, Limit(evaluations, budget), max_failures, quiet, json))


@app.command(rich_help_panel=RUN)
def worker(
    where: Where = None,
    workers: Workers = 1,
    evaluations: Evaluations = None,
    budget: Budget = None,
    max_failures: MaxFailures = 10,
    storage: Storage = None,
    study: Name = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Join a study from any machine: its commands and limit come from the storage, and run in this folder."""
    from pesmo.cli.opening import target
    from pesmo.cli.running import Wishes, run_study
    from pesmo.cli.view import Limit

    run_study(target(where, storage, study), Wishes(workers, Limit(evaluations, budget), max_failures, quiet, json))


@app.command(rich_help_panel=HAND)
def ask(
    where: Where = None,
    number: Annotated[int | None, typer.Option("-n", min=1, max=MOST, help="How many trials.")] = None,
    lease: Annotated[
        float | None,
        typer.Option(callback=_positive, help="Seconds after which it may be asked again. Default: never."),
    ] = None,
    json: Json = False,
    storage: Storage = None,
    study: Name = None,
) -> None:
    """Say what to run next. It counts as running until you tell or fail it."""
    from pesmo.cli.opening import target
    from pesmo.cli.trials import ask_trials

    ask_trials(target(where, storage, study), number, lease, json)


@app.command(rich_help_panel=HAND)
def tell(
    words: Annotated[
        list[str], typer.Argument(metavar="[STUDY] TRIAL NAME=VALUE…", help="Values may also be one JSON object, or -.")
    ],
    json: Json = False,
    storage: Storage = None,
    study: Name = None,
) -> None:
    """Tell what a trial gave: pesmo tell study.toml 12 error=0.02"""
    from pesmo.cli.trials import tell_trial

    tell_trial(words, storage, study, json)


@app.command(rich_help_panel=HAND)
def fail(
    words: Annotated[list[str], typer.Argument(metavar="[STUDY] TRIAL [REASON]", help="Why there is no result.")],
    json: Json = False,
    storage: Storage = None,
    study: Name = None,
) -> None:
    """Say that a trial gave no result: pesmo fail study.toml 12 "it broke" """
    from pesmo.cli.trials import fail_trial

    fail_trial(words, storage, study, json)


@app.command("import", rich_help_panel=HAND)
def import_(
    words: Annotated[
        list[str], typer.Argument(metavar="[STUDY] DATA.csv", help="A header line, then a row per point.")
    ],
    json: Json = False,
    storage: Storage = None,
    study: Name = None,
) -> None:
    """Add measurements you already have; an empty cell is an objective not measured."""
    from pesmo.cli.tables import import_csv

    import_csv(words, storage, study, json)


@app.command(rich_help_panel=LOOK)
def status(where: Where = None, json: Json = False, storage: Storage = None, study: Name = None) -> None:
    """Show where the study stands."""
    from pesmo.cli.looking import show_status
    from pesmo.cli.opening import target

    show_status(target(where, storage, study), json)


@app.command(rich_help_panel=LOOK)
def trials(
    where: Where = None, json: Json = False, csv: Csv = False, storage: Storage = None, study: Name = None
) -> None:
    """List the trials."""
    from pesmo.cli.looking import show_trials
    from pesmo.cli.opening import target

    show_trials(target(where, storage, study), json, csv)


@app.command(rich_help_panel=LOOK)
def front(
    where: Where = None,
    size: Annotated[int, typer.Option(min=1, max=MOST_POINTS, help="At most this many points.")] = 50,
    json: Json = False,
    csv: Csv = False,
    storage: Storage = None,
    study: Name = None,
) -> None:
    """Show the best trade-offs so far, with what is predicted for each."""
    from pesmo.cli.looking import show_front
    from pesmo.cli.opening import target

    show_front(target(where, storage, study), size, json, csv)


@app.command(rich_help_panel=LOOK)
def export(
    where: Where = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A .csv or .json file. Default: CSV here.")
    ] = None,
    storage: Storage = None,
    study: Name = None,
) -> None:
    """Write the whole study: its trials as CSV, which `pesmo import` reads; or everything as JSON."""
    from pesmo.cli.opening import target
    from pesmo.cli.tables import export_study

    export_study(target(where, storage, study), output)


@app.command(rich_help_panel=LOOK)
def report(
    where: Where = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="The HTML file to write.")] = Path("report.html"),
    storage: Storage = None,
    study: Name = None,
) -> None:
    """Write a report: one HTML file that needs nothing else."""
    from pesmo.cli.looking import make_report
    from pesmo.cli.opening import target

    make_report(target(where, storage, study), output)


@app.command(rich_help_panel=LOOK)
def plot(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[STUDY] [FIGURE…]", help="Which figures. Left out: all of them.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A .png, .svg or .pdf file for one figure, or a folder.")
    ] = None,
    form: Annotated[str, typer.Option("--format", help="png, svg or pdf, where the output is a folder.")] = "png",
    storage: Storage = None,
    study: Name = None,
) -> None:
    """Draw figures: pesmo plot study.toml front -o front.pdf"""
    from pesmo.cli.looking import make_plots

    make_plots(words or [], storage, study, output, form)
