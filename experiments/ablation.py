"""What PESMO's parts are worth: the synthetic problems again with one part changed, paired with the plain runs.

A variant is PESMO with some constants of its modules replaced. Its rows lie beside the plain ones, in `synthetic`.
"""

from __future__ import annotations

from dataclasses import replace

from experiments import synthetic
from experiments.methods import VARIANTS
from experiments.results import Results
from experiments.runs import Run
from experiments.sections import Output, completed
from experiments.summary import NONE, at, paired, table

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
    """By variant and setting, the difference to plain PESMO at each mark."""
    parts = ["PESMO with one part changed, less plain PESMO, on the same problems; negative is better than plain."]
    for setting in settings(results):
        runs = completed(results, "synthetic", setting, ["pesmo", *VARIANTS], synthetic.MARKS[-1])
        rows = []
        for name in [variant for variant in VARIANTS if variant in runs and "pesmo" in runs]:
            gaps = [paired(at(runs[name], mark), at(runs["pesmo"], mark)) for mark in synthetic.MARKS]
            cells = [gap.text() if gap.n else NONE for gap in gaps]
            rows.append([name, VARIANTS[name].words, str(gaps[-1].n), *cells])
        if rows:
            header = ["variant", "what is changed", "problems", *[f"{mark} evaluations" for mark in synthetic.MARKS]]
            parts += [f"### {setting}, varied", table(header, rows)]
    return "\n\n".join(parts)
