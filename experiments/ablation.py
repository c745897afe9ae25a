"""What PESMO's parts are worth: the synthetic problems again with one part changed, paired with the paper's PESMO.

A variant is PESMO with some constants of its modules replaced. Its rows lie beside the others, in `synthetic`.
"""

from __future__ import annotations

from dataclasses import replace

from experiments import synthetic
from experiments.methods import LETTER, PLAIN, VARIANTS
from experiments.results import Results
from experiments.runs import Run
from experiments.sections import Output, completed, difference, marks_table
from experiments.summary import NONE, Scores, at, paired, table
from pesmo.methods.pesmo import FEW

TITLE = "Ablations"
SETTINGS = ("d3-K2-noiseless", "d3-K2-noise", "d6-K4-noiseless", "d6-K4-noise")
FIRST = 10  # problems: those of the README's table of the front's quality
NUMBERS, EVALUATIONS, EVERY = synthetic.NUMBERS, synthetic.EVALUATIONS, 20


def methods(setting: str) -> tuple[str, ...]:
    return tuple(VARIANTS)


def adapt(run: Run) -> Run:
    return replace(run, experiment="synthetic", options=(("costs", ""),))


def settings(results: Results) -> list[str]:
    """The settings that variants have rows in."""
    return [setting for setting in SETTINGS if set(VARIANTS) & set(results.methods("synthetic", setting))]


def section(results: Results, output: Output) -> str:
    """By variant and setting, the difference to the paper's PESMO at each mark."""
    parts = [
        "PESMO as in the paper with one part changed, less the same unchanged, on the same problems; negative is "
        f"better. The row pesmo is PESMO as it is now: up to {FEW} objectives the ends of the front are known, and "
        "there are twenty draws; with more objectives it is as in the paper."
    ]
    for setting in settings(results):
        runs = completed(results, "synthetic", setting, [*VARIANTS, "pesmo"], synthetic.MARKS[-1])
        plain = PLAIN if synthetic.SETTINGS[setting].objectives <= FEW else "pesmo"
        rows = []
        for name in [found for found in runs if found != plain and plain in runs]:
            gaps = [paired(at(runs[name], mark), at(runs[plain], mark)) for mark in synthetic.MARKS]
            cells = [gap.text() if gap.n else NONE for gap in gaps]
            words = VARIANTS[name].words if name in VARIANTS else "as it is now"
            rows.append([name, words, str(gaps[-1].n), *cells])
        if rows:
            header = ["variant", "what is changed", "problems", *[f"{mark} evaluations" for mark in synthetic.MARKS]]
            parts += [f"### {setting}, varied", table(header, rows)]
        parts += _beside_the_papers(
            completed(results, "synthetic", setting, ["pesmo", "pesmo-decoupled", PLAIN, LETTER], synthetic.MARKS[-1]),
            synthetic.CHOSEN_ON.get(setting, 0),
        )
    return "\n\n".join(parts)


def _beside_the_papers(runs: dict[str, Scores], chosen_on: int) -> list[str]:
    """PESMO as it is beside the paper's choices, in absolute terms, where that was run."""
    if LETTER not in runs:
        return []
    first = {m: {n: found[n] for n in found if n < FIRST} for m, found in runs.items()}
    fresh = {m: {n: found[n] for n in found if n >= chosen_on} for m, found in runs.items()}
    pairs = [(form, mark) for form in runs if form not in (PLAIN, LETTER) for mark in synthetic.MARKS[1:]]
    return [
        f"**Beside the paper's own.** {LETTER} makes every choice that the paper names: ten draws, "
        f"{VARIANTS[LETTER].words}. Still ours: EP's numerics, the hyperparameters' priors and the recommendation. "
        f"On the first {FIRST} problems:",
        marks_table(first, synthetic.MARKS, FIRST),
        "On all:",
        marks_table(runs, synthetic.MARKS, NUMBERS),
        "\n".join(f"- {difference(runs, form, LETTER, mark)}" for form, mark in pairs),
        f"On the problems after the first {chosen_on}, which nothing was chosen on:",
        "\n".join(f"- {difference(fresh, form, LETTER, mark)}" for form, mark in pairs),
    ]
