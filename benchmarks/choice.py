"""What is the point that PESMO chooses really worth? In three dimensions, where no exact acquisition can be computed.

    python benchmarks/choice.py            # about ten minutes, one thread

EP replaces the condition "this is the Pareto set" by Gaussians, and a suggestion averages over a few draws only. Here
the condition is kept as it is: for each of 40 draws, elliptical slice sampling (Murray et al., 2010), started at the
draw itself, gives f at the Pareto points and the data under the condition, and so the variance that f keeps at any x.
The mean of log(variance before / after) / 2 over the draws is the reference for the sum of alpha_k. PESMO then chooses
points, each time from new draws; the table has the reference there, as a share of its maximum over a thousand points.

States: the first 22 and 45 evaluations of SUR on the synthetic problems, from experiments/results.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).parent.parent))

import pesmo
from pesmo.gp.kernels import kernel
from pesmo.gp.posterior import joint, project
from pesmo.methods import model as models
from pesmo.methods import pesmo as method
from pesmo.methods.maximize import maximize
from pesmo.problem import Evidence, Observations

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

ROWS = Path(__file__).parent.parent / "experiments" / "results" / "synthetic" / "d3-K2-noiseless" / "sur.csv"
PROBLEMS = (0, 4, 8, 12, 16, 20)
COUNTS = (22, 45)  # evaluations
REFERENCES, STEPS, THIN = 4, 1500, 4  # batches of ten draws; steps of each chain, every fourth one kept
CHOICES = 5  # of each form and state
FORMS = {  # name: (draws for each of ten hyperparameter samples, the ends of the front known)
    "10 draws": (1, False),
    "20 draws": (2, False),
    "40 draws": (4, False),
    "10 draws, ends": (1, True),
    "20 draws, ends": (2, True),
}


def evidence(problem: int, count: int) -> Evidence:
    """What SUR had measured after `count` evaluations."""
    with ROWS.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if int(row["number"]) == problem][:count]
    unit = np.array([[float(row[f"x{i}"]) for i in (1, 2, 3)] for row in rows])
    space = pesmo.Space({f"x{i}": pesmo.Float(0.0, 1.0) for i in (1, 2, 3)})
    objectives = (pesmo.Objective("f1"), pesmo.Objective("f2"))
    observed = [Observations(unit, np.array([float(r[o.name]) for r in rows]), unit[:0]) for o in objectives]
    return Evidence(space, objectives, (pesmo.Experiment("all", ["f1", "f2"]),), tuple(observed), (unit,))


def acquisition(known: Evidence, chains: list[Floats], draws: int, ends: bool, seed: int) -> method.Acquisition:
    """PESMO's, from ten of the hyperparameter samples, by chance."""
    rng = np.random.default_rng(seed)
    theta = [chain[rng.permutation(len(chain))[: models.SAMPLES]] for chain in chains]
    method.FEW = 3 if ends else 0
    return method.condition_on_pareto_sets(models.fit(known, {"theta": theta}, rng, draws), known, rng)


@dataclass(frozen=True)
class Reference:
    """One batch of draws: v_after(x) = v_before(x) - u removed u^T, u = cov(f(x), f(points))."""

    model: models.Model
    points: Floats  # (S, P, d)
    whitened: list[Floats]
    removed: Floats  # (S, K, P, P)

    def alpha(self, unit: Floats) -> Floats:
        """(n,) the mean over the draws of log(v_before / v_after) / 2, summed over the objectives."""
        total = np.zeros(unit.shape[0])
        pairs = zip(self.model.surrogates, self.model.features(unit), self.model.features(self.points), strict=True)
        for k, (surrogate, x, z) in enumerate(pairs):
            p = surrogate.posterior
            e = project(p, x)[1].mT
            u = kernel(x, z, p.scales, p.amplitude) - e @ self.whitened[k]
            before = np.maximum(p.amplitude[:, None] - np.sum(e * e, axis=-1), 1e-9)
            after = np.maximum(before - np.einsum("snp,spq,snq->sn", u, self.removed[:, k], u), 1e-8)
            noise = p.noise[:, None]
            total += np.mean(np.log((before + noise) / (after + noise)), axis=0) / 2.0
        return total


def reference(of: method.Acquisition, data: Floats, rng: np.random.Generator) -> Reference:
    """The chains' covariances of f at the Pareto points and the data, for the draws of an acquisition."""
    best = of.conditioned.best  # (S, K, m)
    m = best.shape[2]
    pareto = np.stack([front.points[np.arange(m) % len(front.points)] for front in of.fronts])  # repeated: harmless
    points = np.concatenate([pareto, np.broadcast_to(data, (len(pareto), *data.shape))], axis=1)
    joints = [joint(s.posterior, x) for s, x in zip(of.model.surrogates, of.model.features(points), strict=True)]
    mean, cov = (np.stack([parts[i] for parts in joints], axis=1) for i in (0, 1))
    cov = cov + 1e-8 * np.max(np.diagonal(cov, axis1=2, axis2=3), axis=-1)[..., None, None] * np.eye(cov.shape[-1])
    start = np.moveaxis(of.model.evaluate_paths(points), 2, 1)  # (S, K, P)
    apart = np.max(np.abs(points[:, :, None] - points[:, None, :m]), axis=-1) > 1e-9
    apart &= ~broken(start, best, apart)  # what rounding breaks at the start is no condition
    sample = chain(start, mean, np.linalg.cholesky(cov), lambda f, s: broken(f, best[s], apart[s]), rng)
    centred = sample - sample.mean(axis=0)
    remaining = np.einsum("tskp,tskq->skpq", centred, centred) / (len(sample) - 1)
    inverse = np.linalg.inv(cov)
    return Reference(of.model, points, [parts[2] for parts in joints], inverse - inverse @ remaining @ inverse)


def broken(f: Floats, best: Bools, apart: Bools) -> Bools:
    """(S, P, m): point i dominates Pareto point j, or is better than it in an objective of which j is the best."""
    better = f[:, :, :, None] < f[:, :, None, : best.shape[2]]  # (S, K, P, m)
    return (np.all(better, axis=1) | np.any(better & best[:, :, None, :], axis=1)) & apart


def chain(
    start: Floats,
    mean: Floats,
    root: Floats,
    violated: Callable[[Floats, NDArray[np.intp]], Bools],
    rng: np.random.Generator,
) -> Floats:
    """(T, S, K, P) states of elliptical slice sampling of N(mean, root root^T) where nothing is violated."""
    here, kept, every = start - mean, [], np.arange(len(start))
    for step in range(STEPS):
        other = (root @ rng.standard_normal((*here.shape, 1)))[..., 0]
        angle = rng.uniform(0.0, 2.0 * np.pi, len(here))
        low, high, todo = angle - 2.0 * np.pi, angle.copy(), every
        while todo.size:
            turn = angle[todo, None, None]
            moved = here[todo] * np.cos(turn) + other[todo] * np.sin(turn)
            good = ~np.any(violated(moved + mean[todo], todo), axis=(1, 2))
            here[todo[good]] = moved[good]
            todo = todo[~good]
            back = angle[todo] < 0.0
            low[todo[back]], high[todo[~back]] = angle[todo[back]], angle[todo[~back]]
            angle[todo] = rng.uniform(low[todo], high[todo])
        if step >= STEPS // 10 and step % THIN == 0:
            kept.append(here + mean)
    return np.array(kept)


def shares(problem: int, count: int) -> dict[str, list[float]]:
    """The reference at the points that each form chooses, over its maximum, in one state."""
    known = evidence(problem, count)
    samples, models.SAMPLES = models.SAMPLES, 240
    chains = models.fit(known, None, np.random.default_rng(1)).state["theta"]
    models.SAMPLES = samples
    found: dict[str, list[float]] = {}
    for ends in (False, True):
        made = [acquisition(known, chains, 1, ends, 100 + i) for i in range(REFERENCES)]
        right = [reference(one, known.measured_points, np.random.default_rng(i)) for i, one in enumerate(made)]

        def value(unit: Floats, right: list[Reference] = right) -> Floats:
            return np.mean([one.alpha(unit) for one in right], axis=0)

        everywhere = [np.random.default_rng(0).random((500, 3)), *[one.promising[::4] for one in made]]
        most = value(np.concatenate(everywhere)).max()
        for name in [name for name, form in FORMS.items() if form[1] == ends]:
            tries = [acquisition(known, chains, FORMS[name][0], ends, 1000 + i) for i in range(CHOICES)]
            chosen = [maximize(one, known, np.random.default_rng(i)).unit for i, one in enumerate(tries)]
            found[name] = list(value(np.array(chosen)) / most)
    return found


def main() -> None:
    print("share of the largest reference value, mean ± standard error (tenth percentile)")
    with threadpool_limits(1):
        for count in COUNTS:
            states = [shares(problem, count) for problem in PROBLEMS]
            for name in FORMS:
                all_ = np.concatenate([state[name] for state in states])
                error = all_.std(ddof=1) / len(all_) ** 0.5
                print(
                    f"{count} evaluations, {name}: {all_.mean():.2f} ± {error:.2f} ({np.quantile(all_, 0.1):.2f})",
                    flush=True,
                )


if __name__ == "__main__":
    main()
