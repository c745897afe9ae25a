"""Today's rivals on the same problems, starts and budgets: BoTorch, Optuna and pymoo, in .venv-peers.

Their rows lie beside our methods' rows, in `classic` and `synthetic`. All are scored alike: by what pesmo's models
recommend from their data, and by the data alone. HVKG, which is decoupled and slow, runs on problems of two objectives.
"""

from __future__ import annotations

import math
from dataclasses import replace

from benchmarks.peer_client import NAMES as PEERS
from experiments import classic, synthetic
from experiments.figures import Curve, draw_curves
from experiments.methods import home
from experiments.results import Results
from experiments.runs import TINY, Row, Run
from experiments.sections import LABEL, Output, completed, curves, difference
from experiments.summary import NONE, Scores, at, best_bold, mean, paired, table

TITLE = "Today's rivals"
SETTINGS = (*classic.SETTINGS, "d3-K2-noiseless", "d3-K2-noise", "d6-K4-noiseless", "d6-K4-noise")
NUMBERS, EVALUATIONS, EVERY = 5, 50, 5  # a divisor of every mark below
OPTIONS = synthetic.OPTIONS
BESIDE = ("pesmo", "pesmo-decoupled", "random")
SLOW = ("branin-currin", "d3-K2-noiseless")  # where HVKG runs too


def methods(setting: str) -> tuple[str, ...]:
    each = ("qlognehvi", "qlognparego", "jes", "optuna_default", "optuna_gp", "pymoo_nsga2")
    return (*each, "hvkg") if setting in SLOW else each


def adapt(run: Run) -> Run:
    """The run as one of the experiment whose problem it is."""
    if run.setting in classic.SETTINGS:
        return replace(run, experiment="classic", options=())
    return synthetic.adapt(replace(run, experiment="synthetic"))


def settings(results: Results) -> list[tuple[str, str]]:
    """(experiment, setting) of all that peers have rows in."""
    return [
        (experiment, setting)
        for experiment in ("classic", "synthetic")
        for setting in results.settings(experiment)
        if any(results.read(experiment, home(setting, peer), peer) for peer in PEERS)
    ]


def marks(experiment: str, setting: str) -> tuple[int, ...]:
    """The coupled evaluations at which a setting's scores are shown."""
    if experiment == "classic":
        return (classic.EVALUATIONS // 2, classic.EVALUATIONS)
    return synthetic.COST_MARKS if "-costs-" in setting else synthetic.MARKS


def section(results: Results, output: Output) -> str:
    """A table for each setting; curves against evaluations, and against seconds of thinking."""
    parts = [
        "Log relative hypervolume difference of the recommendation after so many coupled evaluations, or what they "
        "cost, and of the data alone at the end (not for decoupled runs, which measure no point in full); CPU seconds "
        "of thinking up to there, one thread; mean ± standard error over runs, on the problems that at least half of "
        "the peers were run on. *less pesmo*: the difference to PESMO on the same problems, at the last mark a method "
        "has reached; positive is worse than PESMO. On the test problems every method that can use the reference point "
        "is told it."
    ]
    by_evaluations: dict[str, dict[str, Curve]] = {}
    by_seconds: dict[str, dict[str, Curve]] = {}
    for experiment, setting in settings(results):
        shown = marks(experiment, setting)
        everything = completed(results, experiment, setting, [*BESIDE, *PEERS], shown[0])
        runs = _common(everything)
        observed = _on(runs, completed(results, experiment, setting, [*BESIDE, *PEERS], shown[0], "observed"))
        seconds = _on(runs, {m: thinking(results.read(experiment, home(setting, m), m)) for m in runs})
        parts += [f"### {setting}", _table(runs, observed, seconds, shown) if runs else "No run is complete yet."]
        forms = [form for form in ("pesmo", "pesmo-decoupled") if form in everything and home(setting, form) == setting]
        parts += [_ended_early(results, experiment, setting), _beyond(forms, everything, runs, shown)]
        if runs:
            by_evaluations[setting] = curves(runs)
            by_seconds[setting] = {m: _against(runs[m], seconds[m]) for m in runs}
    if by_evaluations:
        draw_curves(output.figure("rivals"), by_evaluations, "coupled evaluations", LABEL)
        draw_curves(output.figure("rivals-seconds"), by_seconds, "CPU seconds of thinking", LABEL, logx=True)
        parts += [output.shown("rivals", "against evaluations"), output.shown("rivals-seconds", "against seconds")]
    return "\n\n".join(part for part in parts if part)


def _common(runs: dict[str, Scores]) -> dict[str, Scores]:
    """The runs on problems that at least half of the peers have: others may be harder or easier."""
    peers = [found for method, found in runs.items() if method in PEERS]
    numbers = {n for found in peers for n in found if 2 * sum(n in other for other in peers) >= len(peers)}
    return {m: {n: found[n] for n in found if n in numbers} for m, found in runs.items() if numbers & found.keys()}


def _on(runs: dict[str, Scores], others: dict[str, Scores]) -> dict[str, Scores]:
    """Other figures of the same runs."""
    return {m: {n: others[m][n] for n in found} for m, found in runs.items()}


def _beyond(forms: list[str], everything: dict[str, Scores], shown: dict[str, Scores], marks: tuple[int, ...]) -> str:
    """Forms of PESMO beside each peer that was run on more problems than the table has, on all that both have."""
    lines = [
        f"- {difference(everything, form, peer, mark)}"
        for peer in PEERS
        if everything.get(peer, {}).keys() - shown.get(peer, {}).keys()
        for form in forms
        for mark in marks[1:]
    ]
    return "\n".join(["On more problems than the table has:", "", *lines]) if lines else ""


def _ended_early(results: Results, experiment: str, setting: str) -> str:
    """The runs of peers that are shorter than planned, or than the same peer's others: it raised, or took too long."""
    words = []
    for peer in PEERS:
        ends = {n: float(rows[-1]["spent"]) for n, rows in results.read(experiment, home(setting, peer), peer).items()}
        whole = classic.EVALUATIONS if experiment == "classic" else max(ends.values(), default=0.0)
        words += [
            f"{peer} on {'repetition' if experiment == 'classic' else 'problem'} {number} after {end:g} evaluations"
            for number, end in ends.items()
            if end < whole - TINY
        ]
    return f"Not to the end, as the peer raised or has still to go on: {'; '.join(words)}." if words else ""


def thinking(runs: dict[int, list[Row]]) -> Scores:
    """CPU seconds of thinking up to each mark, by run."""
    return {
        number: {
            int(row["mark"]): math.fsum(float(earlier["seconds"]) for earlier in rows[: i + 1])
            for i, row in enumerate(rows)
            if row["mark"] != ""
        }
        for number, rows in runs.items()
    }


def _table(
    runs: dict[str, Scores], observed: dict[str, Scores], seconds: dict[str, Scores], shown: tuple[int, ...]
) -> str:
    columns = [best_bold([mean(list(at(found, mark).values())) for found in runs.values()]) for mark in shown]
    rows = []
    for i, (method, found) in enumerate(runs.items()):
        last = max(mark for mark in shown if at(found, mark))
        behind = paired(at(found, last), at(runs["pesmo"], last)) if "pesmo" in runs else mean([])
        data = NONE if "decoupled" in method or method == "hvkg" else _mean(at(observed[method], last))
        rows.append(
            [
                method,
                str(len(at(found, last))),
                *[column[i] for column in columns],
                behind.text() if behind.n and method != "pesmo" else NONE,
                data,
                _mean(at(seconds[method], last), 1),
            ]
        )
    return table(["method", "runs", *map(str, shown), "less pesmo", "data", "seconds"], rows)


def _mean(values: dict[int, float], digits: int = 2) -> str:
    return mean(list(values.values())).text(digits)


def _against(runs: Scores, seconds: Scores) -> Curve:
    """Scores at each mark, at the mean seconds of that mark; the starts cost no thought and are left out."""
    reached = sorted({mark for marks in runs.values() for mark in marks})[1:]
    spent = [mean([seconds[n][m] for n in runs if m in runs[n]]).value for m in reached]
    return [(max(s, 1e-3), mean(list(at(runs, m).values()))) for s, m in zip(spent, reached, strict=True)]
