"""docs/experiments.md, from the raw files: nothing on that page is written by hand."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from pathlib import Path

from experiments import accuracy
from experiments.results import Results
from experiments.sections import Output
from experiments.summary import table

DOCS = Path(__file__).parents[1] / "docs"
SECTIONS = ("accuracy", "synthetic", "ablation", "times", "mnist", "trees", "classic", "rivals")
INTRODUCTION = """\
# Experiments

The paper's experiments and ours, run with this package, the paper's figures beside ours. Every number and figure below
comes from the raw files in `experiments/results` (one row per run and evaluation) by

    python -m experiments report

and a test checks that. `make experiment NAME=synthetic ARGS="--jobs 2"` runs an experiment, or goes on with it where it
stopped; `--help` shows what can be chosen. Where runs are missing, the page says so."""


def write_page(results: Results, docs: Path = DOCS) -> Path:
    """Write the page and its figures; the page's path."""
    output = Output(docs)
    parts = [INTRODUCTION]
    modules = {name: import_module(f"experiments.{name}") for name in SECTIONS}
    there = {n: m.settings(results) if hasattr(m, "settings") else results.settings(n) for n, m in modules.items()}
    absent = [f"{modules[name].TITLE} (`{name}`)" for name in SECTIONS if not there[name]]
    if absent:
        parts.append(f"**No rows yet:** {', '.join(absent)}.")
    for name, module in modules.items():
        if there[name]:
            parts += [f"## {module.TITLE}\n\n`python -m experiments {name}`", module.section(results, output)]
    parts.append(_provenance(results))
    path = docs / "experiments.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")
    return path


def _provenance(results: Results) -> str:
    """The batches the rows come from."""
    counts: Counter[int] = Counter(accuracy.batches(results) if accuracy.settings(results) else {})
    for experiment in SECTIONS:
        for setting in results.settings(experiment):
            for method in results.methods(experiment, setting):
                for rows in results.read(experiment, setting, method).values():
                    counts.update(int(row["batch"]) for row in rows)
    columns = ("batch", "date", "machine", "commit", "command")
    rows = [
        [*[f"`{entry[c]}`" if c == "command" else str(entry[c]) for c in columns], str(counts[batch])]
        for batch, entry in sorted(results.batches().items())
        if counts[batch]
    ]
    if not rows:
        return ""
    return "## Where the rows come from\n\n" + table([*columns, "rows"], rows)
