"""What PESMO's parts are worth: the synthetic problems again with one part changed, paired with the paper's PESMO.

A variant is PESMO with some constants of its modules replaced. Its rows lie beside the others, in `synthetic`.
"""

from __future__ import annotations

from dataclasses import replace

from experiments import synthetic
from experiments.methods import PLAIN, VARIANTS
from experiments.results import Results
from experiments.runs import Run
from experiments.sections import Output, completed
from experiments.summary import NONE, at, paired, table
from pesmo.methods.pesmo import FEW

TITLE = "Ablations"
SETTINGS = ("d3-K2-noiseless", "d3-K2-noise", "d6-K4-noiseless", "d6-K4-noise")
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
    return "\n\n".join(parts)
