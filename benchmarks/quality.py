"""How good the recommended front is after 40 evaluations: PESMO, PESMO decoupled, qLogNEHVI and random search.

    python benchmarks/quality.py run [--settings d3-K2] [--problems 0 1]    PESMO's runs (the peers': peer_runs.py)
    python benchmarks/quality.py table                                       score all stored runs, print the table

Every method starts from the same 5 random points. All are scored alike, by what is recommended from their data: the
Pareto set of the posterior means (`Study.recommend`), evaluated on the true objectives; the score is the log of the
relative hypervolume difference to the true front. One evaluation of a decoupled run counts 1/K. Runs are files in
benchmarks/results/quality and one file a run, and are resumed by repeating the command.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from peer_runs import EVALUATIONS, RESULTS, SETTINGS, STARTS, Setting, read_run

import pesmo

SIZES = {2: 200, 4: 1000}  # points of the recommendation: a front of K objectives has K - 1 dimensions
MARKS = (10, 20, 30, 40)
METHODS = ("random", "qlognehvi", "pesmo", "pesmo-decoupled", "pesmo-exact")  # exact: noise=0 is declared


def new_study(setting: Setting, seed: int, method: str = "pesmo") -> pesmo.Study:
    names = [f"f{k}" for k in range(setting.objectives)]
    objectives = [pesmo.Objective(name, noise=0.0 if method == "pesmo-exact" else None) for name in names]
    experiments = [pesmo.Experiment(name, [name]) for name in names] if method == "pesmo-decoupled" else None
    space = pesmo.Space({f"x{i}": pesmo.Float(0, 1) for i in range(setting.dim)})
    return pesmo.Study(space, objectives, experiments, seed=seed)


def add(study: pesmo.Study, x: np.ndarray, y: np.ndarray, which: np.ndarray | None = None) -> None:
    """One point (d,) and its values (K,), or those of the objectives `which`."""
    values = {o.name: float(v) for k, (o, v) in enumerate(zip(study.objectives, y, strict=True))
              if which is None or which[k]}  # fmt: skip
    study.add(dict(zip(study.space.names, x.tolist(), strict=True)), values)


def score(setting: Setting, number: int, study: pesmo.Study) -> float:
    problem = setting.problem(number)
    front = study.recommend(size=SIZES[setting.objectives])
    points = np.array([[point[name] for name in study.space.names] for point in front.inputs])
    return problem.log_relative_hv_difference(problem.evaluate(points))


def run_pesmo(name: str, number: int, method: str) -> None:
    """One run of PESMO, stored as JSON when it is complete: its trials, and the scores at MARKS."""
    setting = SETTINGS[name]
    path = RESULTS / f"{name}-{method}-{number}.json"
    if path.exists():
        return
    stored = {"trials": [], "scores": {}}
    problem = setting.problem(number)
    study = new_study(setting, number, method)
    for x in problem.starts(STARTS):
        add(study, x, problem.evaluate(x[None])[0])
    spent, names = STARTS * setting.objectives, [o.name for o in study.objectives]
    while spent < EVALUATIONS * setting.objectives:
        trial = study.ask()
        x = [trial.inputs[name] for name in study.space.names]
        values = dict(zip(names, problem.evaluate(np.array([x]))[0].tolist(), strict=True))
        revealed = study.experiment(trial.experiment).reveals
        study.tell(trial, {n: values[n] for n in revealed})
        stored["trials"].append({"experiment": trial.experiment, "x": x, "gain": trial.gain})
        spent += len(revealed)
        if spent in [mark * setting.objectives for mark in MARKS]:
            stored["scores"][str(spent // setting.objectives)] = score(setting, number, study)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(stored))
    print(f"{name} {method} {number}: {stored['scores']}", flush=True)


def stored_scores(name: str, method: str, number: int) -> dict[str, float] | None:
    """Scores of a run at MARKS; those of the peers' data are computed here and kept beside them."""
    setting = SETTINGS[name]
    path = RESULTS / f"{name}-{method}-{number}.json"
    data = path.with_suffix(".csv")
    if path.exists():
        scores = json.loads(path.read_text())["scores"]
        return scores if str(EVALUATIONS) in scores else None
    if not data.exists():
        return None
    x, y, _ = read_run(data, setting.dim)
    if len(x) < EVALUATIONS:
        return None
    scores = {}
    for mark in MARKS:
        study = new_study(setting, number)
        for row, values in zip(x[:mark], y[:mark], strict=True):
            add(study, row, values)
        scores[str(mark)] = score(setting, number, study)
    path.write_text(json.dumps({"scores": scores}))
    return scores


def table() -> str:
    lines = ["| problems | method | n | " + " | ".join(f"{m} evaluations" for m in MARKS) + " |",
             "|---|---|---|" + "---|" * len(MARKS)]  # fmt: skip
    for name, setting in SETTINGS.items():
        for method in METHODS:
            rows = [s for number in range(10) if (s := stored_scores(name, method, number)) is not None]
            if not rows:
                continue
            values = np.array([[row[str(mark)] for mark in MARKS] for row in rows])
            cells = [f"{mean:.2f}" for mean in values.mean(axis=0)]
            if len(rows) > 1:
                errors = values.std(axis=0, ddof=1) / np.sqrt(len(rows))
                cells = [f"{cell} ± {error:.2f}" for cell, error in zip(cells, errors, strict=True)]
            kind = f"d={setting.dim}, K={setting.objectives}"
            lines.append(f"| {kind} | {method} | {len(rows)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("action", choices=("run", "table"))
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--problems", nargs="+", type=int, default=list(range(10)))
    parser.add_argument("--methods", nargs="+", choices=METHODS[2:], default=METHODS[2:])
    arguments = parser.parse_args()
    if arguments.action == "run":
        for name in arguments.settings:
            for number in arguments.problems:
                for method in arguments.methods:
                    run_pesmo(name, number, method)
    text = table()
    print(text)
    (Path(RESULTS) / "table.md").write_text(text + "\n")


if __name__ == "__main__":
    main()
