"""Seconds a suggestion, PESMO beside its peers, from one run on one machine, one thread each: `make bench`.

Everything counts: hyperparameters, paths, Pareto sets, EP, maximization; for a peer, fitting and optimizing. The
problems are draws from a Matérn-5/2 prior (problems.py); each method gets the same N random points, then suggests
REPEATS times, PESMO with the new value told each time. Reported are medians of CPU seconds: with one thread they are
the wall seconds of an idle machine, and they are what a busy one does not distort.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from peer_client import THREADS, Peer
from problems import gp_prior_problem

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "speed.json"
REPEATS = 5
CASES = [(2, 3, 20), (2, 3, 50), (2, 3, 100), (2, 3, 200), (4, 6, 100)]  # K, d, N: for everyone
ALONE = [(2, 3, 400), (8, 6, 100)]  # for PESMO: how it grows
RIVALS = {
    "ParEGO": 1.0,
    "SMSego": 1.0,
    "EHI": 3.0,
    "SUR": 3.0,
}  # ours, and how many times PESMO's seconds they may take
LENGTH_SCALE = {3: 0.3, 6: 0.6}
# Peer, Pareto points asked for, suggestions timed, seconds each may take. JES and PES raise where a draw's Pareto set
# has fewer points than asked for, as those with K = 2 have: so they are also asked for 10.
PEERS = [("qlognehvi", 50, 3, 300), ("optuna_gp", 50, 3, 300), ("jes", 50, 1, 200), ("jes", 10, 1, 200),
         ("pes", 50, 1, 200), ("pes", 10, 1, 200)]  # fmt: skip


def time_ours(method: str, objectives: int, dim: int, data: int, decoupled: bool) -> dict[str, float]:
    """CPU seconds of suggestions by one of our methods; runs in a process of its own, for its peak memory."""
    import pesmo

    problem = gp_prior_problem(0, dim, objectives, LENGTH_SCALE[dim])
    names = [f"f{k}" for k in range(objectives)]
    experiments = [pesmo.Experiment(name, [name]) for name in names] if decoupled else None
    space = pesmo.Space({f"x{i}": pesmo.Float(0, 1) for i in range(dim)})
    study = pesmo.Study(space, names, experiments, method, seed=0)

    def values(point: dict[str, Any]) -> dict[str, float]:
        row = problem.evaluate(np.array([[point[name] for name in space.names]]))[0]
        return dict(zip(names, row.tolist(), strict=True))

    for x in problem.starts(data):
        point = dict(zip(space.names, x.tolist(), strict=True))
        study.add(point, values(point))
    seconds = []
    for _ in range(REPEATS + 1):
        begin = time.process_time()
        trial = study.ask()
        seconds.append(time.process_time() - begin)
        every = values(trial.inputs)
        study.tell(trial, {name: every[name] for name in study.experiment(trial.experiment).reveals})
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": median(seconds[1:]), "first": seconds[0], "peak_mb": peak}


def our_row(method: str, case: tuple[int, int, int], decoupled: bool = False) -> dict[str, float]:
    command = [sys.executable, __file__, "--ours", method, *map(str, case), str(int(decoupled))]
    environment = os.environ | dict.fromkeys(THREADS, "1")
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout)


def peer_row(name: str, points: int, repeats: int, limit: float, case: tuple[int, int, int]) -> dict[str, Any]:
    objectives, dim, data = case
    problem = gp_prior_problem(0, dim, objectives, LENGTH_SCALE[dim])
    x = problem.starts(data + repeats)
    y = problem.evaluate(x)
    seconds, peak = [], 0.0
    with Peer(name) as peer:
        for i in range(repeats + 1):  # the first call, at 20 points, warms the process up
            rows = 20 if i == 0 else data + i - 1
            asked = 5 if i == 0 else points
            reply = peer.suggest(x[:rows], y[:rows], seed=i, pareto_points=asked, timeout=limit)
            if "error" in reply and i > 0:
                return {"error": reply["error"][:90]}
            if i > 0:
                seconds.append(reply["cpu_seconds"])
                peak = max(peak, reply["peak_mb"])
    return {"seconds": median(seconds), "peak_mb": peak}


def label(case: tuple[int, int, int]) -> str:
    return "K={} d={} N={}".format(*case)


def run(peers: bool) -> dict[str, dict[str, Any]]:
    """{method: {case: row}}, printed as it grows."""
    results: dict[str, dict[str, Any]] = {}

    def record(method: str, case: tuple[int, int, int], row: dict[str, Any]) -> None:
        results.setdefault(method, {})[label(case)] = row
        text = row.get("error") or f"{row['seconds']:.3f} s, peak {row['peak_mb']:.0f} MB"
        print(f"{method:28s} {label(case):15s} {text}", flush=True)

    for case in CASES + ALONE:
        for decoupled in (False, True):
            record("PESMO decoupled" if decoupled else "PESMO", case, our_row("pesmo", case, decoupled))
        for method in RIVALS if case in CASES[:3] else ():
            record(method, case, our_row(method.lower(), case))
        if peers and case in CASES:
            for name, points, repeats, limit in PEERS:
                method = {"qlognehvi": "BoTorch qLogNEHVI", "optuna_gp": "Optuna GPSampler"}.get(
                    name, f"BoTorch {name.upper()}, {points} points"
                )
                record(method, case, peer_row(name, points, repeats, limit, case))
    return results


def table(results: dict[str, dict[str, Any]]) -> str:
    cases = [label(case) for case in CASES + ALONE]
    lines = [["CPU seconds a suggestion", *cases], ["---"] * (1 + len(cases))]
    for method, rows in results.items():
        cells = []
        for case in cases:
            row = rows.get(case)
            cells.append("" if row is None else "raises" if "error" in row else f"{row['seconds']:.2f}")
        lines.append([method, *cells])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def bars(results: dict[str, dict[str, Any]], peers: bool) -> list[str]:
    """Each bar of the issue: what was measured, what was asked for; without the peers' where they were not run."""

    def seconds(method: str, case: tuple[int, int, int]) -> float:
        row = results.get(method, {}).get(label(case), {})
        return row.get("seconds", float("nan"))

    lines = []

    def bar(text: str, value: float, limit: float, at_least: bool = False) -> None:
        if math.isnan(value) and not peers:
            return
        kept = value >= limit if at_least else value <= limit
        lines.append(f"{'ok  ' if kept else 'MISS'} {text}: {value:.2f} (bar: {'>=' if at_least else '<='} {limit:g})")

    for case in CASES[:4]:
        ratio = seconds("PESMO", case) / seconds("BoTorch qLogNEHVI", case)
        bar(f"PESMO / qLogNEHVI at {label(case)}", ratio, 0.75)
    bar("PESMO / qLogNEHVI at K=4", seconds("PESMO", CASES[4]) / seconds("BoTorch qLogNEHVI", CASES[4]), 0.2)
    pes = seconds("BoTorch PES, 50 points", CASES[1])
    points = "50 points"
    if math.isnan(pes):
        points, pes = "10 points, as it raises with 50", seconds("BoTorch PES, 10 points", CASES[1])
    bar(f"BoTorch PES ({points}) / PESMO at N=50", pes / seconds("PESMO", CASES[1]), 20, at_least=True)
    bar("PESMO at N=400 / N=50", seconds("PESMO", ALONE[0]) / seconds("PESMO", CASES[1]), 3)
    bar("PESMO at K=8 / K=4 (d=6, N=100)", seconds("PESMO", ALONE[1]) / seconds("PESMO", CASES[4]), 2.5)
    for case in CASES[:4]:
        bar(f"decoupled / coupled at {label(case)}", seconds("PESMO decoupled", case) / seconds("PESMO", case), 1.6)
    for case in CASES[:3]:
        for method, limit in RIVALS.items():
            bar(f"{method} / PESMO at {label(case)}", seconds(method, case) / seconds("PESMO", case), limit)
    peak = max(row["peak_mb"] for method in ("PESMO", "PESMO decoupled") for row in results[method].values())
    bar("PESMO's peak memory in MB", peak, 500)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--ours", nargs=5, help=argparse.SUPPRESS)
    parser.add_argument("--alone", action="store_true", help="our methods only, no peers")
    arguments = parser.parse_args()
    if arguments.ours:
        method, *case, decoupled = arguments.ours
        print(json.dumps(time_ours(method, *map(int, case), bool(int(decoupled)))))
        return
    results = run(peers=not arguments.alone)
    print("\n" + table(results) + "\n")
    print("\n".join(bars(results, peers=not arguments.alone)))
    if not arguments.alone:
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
