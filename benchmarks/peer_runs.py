"""Runs of the peers for the comparison of front quality: the same random starts, then suggestions one by one.

    python benchmarks/peer_runs.py qlognehvi random [--settings d3-K2 d6-K4] [--problems 0 1 2]

Each run is one file, benchmarks/results/quality/<setting>-<method>-<problem>.csv, with the columns
evaluation, x1.., y1.., seconds (of the suggestion; 0 for a start). A row is written as soon as it is known,
and a run that was interrupted goes on from its last row: the same command may be given again at any time.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from peer_client import NAMES, Peer
from problems import Problem, gp_prior_problem

RESULTS = Path(__file__).parent / "results" / "quality"
STARTS, EVALUATIONS = 5, 40
Suggest = Callable[[np.ndarray, np.ndarray, int], tuple[np.ndarray, float]]  # x, y, seed -> point, seconds


@dataclass(frozen=True)
class Setting:
    """One kind of problem: d inputs, K objectives, the prior's length-scale."""

    dim: int
    objectives: int
    length_scale: float

    def problem(self, seed: int) -> Problem:
        """Problem number `seed` of this setting."""
        return gp_prior_problem(seed, self.dim, self.objectives, self.length_scale)


SETTINGS = {"d3-K2": Setting(3, 2, 0.3), "d6-K4": Setting(6, 4, 0.6)}


def run_file(setting: str, method: str, problem: int) -> Path:
    """Where a run is stored."""
    return RESULTS / f"{setting}-{method}-{problem}.csv"


def read_run(path: Path, dim: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs (n, d), values (n, K) and seconds (n,) of a stored run; a row cut short is left out."""
    whole = path.read_text().rpartition("\n")[0]
    header, *rows = csv.reader(whole.splitlines())
    table = np.array(rows, dtype=float).reshape(-1, len(header))
    return table[:, 1 : 1 + dim], table[:, 1 + dim : -1], table[:, -1]


def complete_run(path: Path, problem: Problem, suggest: Suggest) -> None:
    """Carry a run on to its last evaluation, storing every row."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        x, y, seconds = read_run(path, problem.dim)
    else:
        x = problem.starts(STARTS)
        y, seconds = problem.evaluate(x), np.zeros(STARTS)
    if len(x) >= EVALUATIONS:
        return
    columns = [f"x{i + 1}" for i in range(problem.dim)] + [f"y{k + 1}" for k in range(problem.objectives)]
    partial = path.with_suffix(".partial")  # replaced at once: a kill at any moment loses no row
    with partial.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["evaluation", *columns, "seconds"])
        table.writerows([i + 1, *x[i].tolist(), *y[i].tolist(), float(seconds[i])] for i in range(len(x)))
    partial.replace(path)
    with path.open("a", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        for n in range(len(x), EVALUATIONS):
            point, took = suggest(x, y, 1000 * problem.seed + n)
            x = np.vstack([x, point])
            y = np.vstack([y, problem.evaluate(point)])
            table.writerow([n + 1, *x[-1].tolist(), *y[-1].tolist(), took])
            file.flush()


@contextmanager
def method_of(name: str) -> Iterator[Suggest]:
    """The rule called `name`: uniform random search, or a peer served by a process of its own."""
    if name == "random":
        yield lambda x, y, seed: (np.random.default_rng([seed, 3]).random(x.shape[1]), 0.0)
        return
    with Peer(name) as peer:

        def suggest(x: np.ndarray, y: np.ndarray, seed: int) -> tuple[np.ndarray, float]:
            reply = peer.suggest(x, y, seed=seed)
            if "error" in reply:
                raise RuntimeError(f"{name} at evaluation {len(x) + 1}: {reply['error']}")
            return np.array(reply["x"]), reply["seconds"]

        yield suggest


def main() -> None:
    """Complete every run asked for, one after another; a peer's error ends its run, not the others."""
    parser = argparse.ArgumentParser(description="Runs of the peers on problems drawn from a GP prior.")
    parser.add_argument("methods", nargs="+", choices=["random", *NAMES])
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--problems", nargs="+", type=int, default=list(range(10)))
    arguments = parser.parse_args()
    for setting in arguments.settings:
        for method in arguments.methods:
            with method_of(method) as suggest:
                for number in arguments.problems:
                    began = time.perf_counter()
                    try:
                        complete_run(run_file(setting, method, number), SETTINGS[setting].problem(number), suggest)
                        outcome = "done"
                    except RuntimeError as error:
                        outcome = f"stopped: {error}"
                    took = time.perf_counter() - began
                    print(f"{setting} {method} {number}: {outcome} ({took:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
