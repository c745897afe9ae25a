"""Six test problems (DTLZ2 with two objectives and with three): every method, 50 evaluations, the starts included."""

from __future__ import annotations

from benchmarks.classic import CLASSIC
from experiments.figures import draw_curves
from experiments.methods import OURS
from experiments.results import Results
from experiments.runs import Run
from experiments.sections import FLOOR, LABEL, Output, completed, curves, end_table, incomplete
from experiments.summary import Scores, at, paired
from experiments.task import Task, unit_task

TITLE = "Test problems"
SETTINGS = tuple(CLASSIC)

NUMBERS, EVALUATIONS, EVERY = 5, 50, 25


def task(run: Run) -> Task:
    """The problem, from the Latin hypercube of this repetition. The methods are told its published reference point."""
    problem = CLASSIC[run.setting]
    return unit_task(problem, problem.starts(seed=run.number), reference=problem.reference)


def methods(setting: str) -> tuple[str, ...]:
    return OURS


def section(results: Results, output: Output) -> str:
    """Tables of all problems at the end of the runs, who beats random search, and the curves."""
    settings = [s for s in SETTINGS if s in results.settings("classic")]
    names = [m for m in OURS if any(m in results.methods("classic", s) for s in settings)]
    runs = {s: completed(results, "classic", s, names, EVALUATIONS) for s in settings}
    data = {s: completed(results, "classic", s, names, EVALUATIONS, "observed") for s in settings}
    for found in data.values():
        found.pop("pesmo-decoupled", None)  # it measures no point in full, but the starts
    parts = [
        f"Log relative hypervolume difference after {EVALUATIONS} evaluations, the 2(d + 1) of the start included: "
        f"mean ± standard error (over how many runs); lower is better. {FLOOR} The methods are told the problem's "
        "published reference point (`worst`). Of the recommendation, which random search gets from our model too:",
        end_table(runs, names, EVALUATIONS),
        "Of the data alone (a decoupled run measures no point in full):",
        end_table(data, [name for name in names if name != "pesmo-decoupled"], EVALUATIONS),
        "Better than random search, in the mean over the same repetitions:\n\n"
        f"- data against data: {_beaten(data, data)}\n"
        f"- recommendation against the recommendation of our model from random points: {_beaten(runs, runs)}\n"
        "- what a method recommends against what random search has measured, which is unequal (a model on one side "
        f"only): {_beaten(runs, data)}",
        "Not a test on unseen problems: `worst`, EHI's front (two forms) and PAL's width and tolerance (six settings) "
        "were chosen while looking at DTLZ2 from the first five starts, PAL's candidates on six starts that are not "
        "here, so its columns may flatter EHI and PAL. From the starts after the first five, which no choice was made "
        f"on: data against data {_beaten(_unseen(data), _unseen(data))}; "
        f"recommendations {_beaten(_unseen(runs), _unseen(runs))}.",
    ]
    missing = {s: incomplete(results, "classic", s, OURS, EVALUATIONS, NUMBERS) for s in SETTINGS}
    parts += ["\n".join(f"- {setting}: {text}" for setting, text in missing.items() if text)]
    panels = {setting: curves(found) for setting, found in runs.items() if found}
    if panels:
        draw_curves(output.figure("classic"), panels, "evaluations", LABEL)
        parts.append(output.shown("classic", TITLE))
    return "\n\n".join(part for part in parts if part)


def _unseen(runs: dict[str, dict[str, Scores]]) -> dict[str, dict[str, Scores]]:
    """The runs of DTLZ2 that no choice was made on."""
    return {
        setting: {m: {n: marks for n, marks in scores.items() if n >= NUMBERS} for m, scores in found.items()}
        for setting, found in runs.items()
        if setting.startswith("dtlz2") and all(max(scores) >= NUMBERS for scores in found.values())
    }


def _beaten(runs: dict[str, dict[str, Scores]], against: dict[str, dict[str, Scores]]) -> str:
    """How many means of methods and problems are below random search's in `against`; where not, by how much."""
    gaps = {
        f"{method} on {setting}": paired(at(found[method], EVALUATIONS), at(against[setting]["random"], EVALUATIONS))
        for setting, found in runs.items()
        for method in OURS[:-1]
        if method in found and "random" in against[setting]
    }
    losses = [f"{where} ({gap.text()})" for where, gap in gaps.items() if not gap.value < 0]
    return f"{len(gaps) - len(losses)} of {len(gaps)}" + (f"; not {', '.join(losses)}" if losses else "")
