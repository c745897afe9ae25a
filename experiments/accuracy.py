"""How near PESMO's α_k is to the exact one, in one dimension (paper, figures acq and acq_dec; DESIGN 4.5).

Objectives are drawn from the prior and observed 8 to 10 times; both sides know the true hyperparameters. The exact
estimates (tests/oracle/exact.py; half an hour) are kept in experiments/results/accuracy and reused; PESMO's values are
computed anew and stored beside them, and the page is made of both.
"""

# ruff: noqa: RUF001 (Greek letters in the table)
from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from experiments.results import Results
from experiments.sections import Output
from tests.oracle.exact import Exact, Objective, exact_alpha, matern52, posterior

TITLE = "Accuracy of the acquisition"
Floats = NDArray[np.floating]

GRID = np.linspace(0, 1, 101)
CASES = {2: 16, 3: 4, 4: 4}  # how many, for each number of objectives; every other one decoupled
# Of `exact_alpha`, by (two objectives, whole): for the whole condition rejection accepts next to nothing.
EFFORT = {
    (True, False): {"sets": 300, "draws": 600, "pool": 2_000_000},
    (False, False): {"sets": 200, "draws": 600, "pool": 400_000},
    (True, True): {"sets": 150, "draws": 400, "pool": 0, "chains": 4, "thin": 15},
    (False, True): {"sets": 100, "draws": 400, "pool": 0, "chains": 2, "thin": 8},
}
COLORS = ("#0b6fb8", "#d1495b", "#3a8f5c", "#8a5fb0")


# ---------------------------------------------------------------- cases
@dataclass(frozen=True)
class Case:
    name: str
    decoupled: bool  # every objective observed at inputs of its own
    objectives: tuple[Objective, ...]

    @property
    def fingerprint(self) -> Floats:
        """All its numbers: tells whether a cached result belongs to it."""
        parts = [(*o.x, *o.y, o.lengthscale, o.amplitude, o.noise) for o in self.objectives]
        return np.concatenate(parts)


def cases() -> Iterator[Case]:
    """Length-scales U(0.15, 0.3), noise variances log-U(1e-4, 1e-2), amplitude 1, inputs U(0, 1)."""
    for number, count in CASES.items():
        for i in range(count):
            rng = np.random.default_rng([2016, number, i])
            decoupled = i % 2 == 1
            shared = rng.uniform(size=rng.integers(8, 11))
            objectives = []
            for _ in range(number):
                x = rng.uniform(size=rng.integers(8, 11)) if decoupled else shared
                lengthscale, noise = rng.uniform(0.15, 0.3), 10 ** rng.uniform(-4, -2)
                gram = matern52(x, x, lengthscale, 1.0) + noise * np.eye(len(x))
                y = np.linalg.cholesky(gram) @ rng.standard_normal(len(x))
                objectives.append(Objective(x, y, lengthscale, 1.0, noise))
            name = f"K{number}-{i:02d}-{'decoupled' if decoupled else 'coupled'}"
            yield Case(name, decoupled, tuple(objectives))


def same_case(one: Floats, other: Floats) -> bool:
    """Whether two fingerprints are of one case: another processor rounds its numbers otherwise in the last digits."""
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-9, atol=1e-9)


# ---------------------------------------------------------------- exact
@dataclass(frozen=True)
class Truth:
    """What the cache keeps of an `Exact`."""

    alpha: Floats  # (K, n)
    se: Floats  # (K, n)
    se_total: Floats  # (n,) of the sum over k
    halves: Floats  # (2, K, n) alpha from either half of the Pareto sets
    star: NDArray[np.bool_]  # (S, n)
    accepted: NDArray[np.intp]  # (S,)
    seconds: float

    @staticmethod
    def of(exact: Exact, seconds: float) -> Truth:
        halves = np.stack([exact.gain[0::2].mean(0), exact.gain[1::2].mean(0)])
        return Truth(exact.alpha, exact.se, exact.se_total, halves, exact.star, exact.accepted, seconds)


def exact(case: Case, whole: bool, folder: Path) -> Truth:
    """α_k given X* as in the paper, or `whole`: given that X* is all of the Pareto set. Cached."""
    path = folder / f"{case.name}{'-whole' if whole else ''}.npz"
    if path.exists():
        with np.load(path) as stored:
            if same_case(stored["fingerprint"], case.fingerprint):
                return Truth(**{name: stored[name] for name in stored.files if name != "fingerprint"})
    effort = EFFORT[len(case.objectives) == 2, whole]
    begin = time.perf_counter()
    result = exact_alpha(case.objectives, GRID, np.random.default_rng(1), whole=whole, **effort)
    truth = Truth.of(result, time.perf_counter() - begin)
    print(f"{path.stem}: {truth.seconds:.0f} s, standard error {truth.se_total.max():.3f}", flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial.npz")  # so that an interrupted run leaves no broken file
    np.savez_compressed(partial, fingerprint=case.fingerprint, **vars(truth))
    partial.replace(path)
    return truth


# ---------------------------------------------------------------- PESMO
def pesmo_alpha(case: Case, x: Floats, seed: int, draws: int | None = None) -> Floats:
    """PESMO's α_k at x, (K, n): production settings, the hyperparameters fixed at the truth."""
    import pesmo
    from pesmo.gp.scaling import Scaling
    from pesmo.methods.model import SAMPLES, Model, surrogate
    from pesmo.methods.pesmo import DRAWS, FEW, condition_on_pareto_sets
    from pesmo.problem import Evidence, Observations

    rng = np.random.default_rng(seed)
    space = pesmo.Space(x=pesmo.Float(0.0, 1.0))
    names = tuple(f"f{k + 1}" for k in range(len(case.objectives)))
    objectives = tuple(pesmo.Objective(name) for name in names)
    observed = tuple(Observations(o.x[:, None], o.y, np.empty((0, 1))) for o in case.objectives)
    experiments = (pesmo.Experiment("all", reveals=names),)
    taken = (np.unique(np.concatenate([o.unit for o in observed]), axis=0),)
    draws = draws or SAMPLES * (DRAWS if len(objectives) <= FEW else 1)
    surrogates = []
    for objective, data, truth in zip(objectives, observed, case.objectives, strict=True):
        theta = np.log([[truth.lengthscale, truth.amplitude, truth.noise]] * draws)
        surrogates.append(surrogate(space, objective, data, Scaling(0.0, 1.0), theta, rng))
    evidence = Evidence(space, objectives, experiments, observed, taken)
    acquisition = condition_on_pareto_sets(Model(space, tuple(surrogates)), evidence, rng)
    return np.asarray(acquisition.alpha(x[:, None]))


# ---------------------------------------------------------------- the comparison
def correlation(a: Floats, b: Floats) -> float:
    return float(np.corrcoef(a, b)[0, 1])


def kept(approximate: Floats, truth: Floats) -> float:
    """Of the largest true value, the share that is left at the approximation's maximizer."""
    return float(truth.ravel()[approximate.argmax()] / truth.max())


@dataclass(frozen=True)
class Row:
    case: Case
    pesmo: Floats  # (K, n)
    paper: Truth
    whole: Truth

    COLUMNS = (
        "corr Σα", "at max", "corr α_k, least", "at max, decoupled", "min α_k", "max Σα", "exact max Σα ± se",
        "exact min α_k", "exact with itself", "whole: corr Σα", "whole: at max", "whole: max Σα",
    )  # fmt: skip

    @property
    def numbers(self) -> tuple[float, ...]:
        """In the order of COLUMNS; the standard error, which belongs to the maximum, follows it."""
        total, paper, whole = self.pesmo.sum(0), self.paper.alpha.sum(0), self.whole.alpha.sum(0)
        halves = self.paper.halves.sum(1)
        return (
            correlation(total, paper),
            kept(total, paper),
            min(correlation(a, b) for a, b in zip(self.pesmo, self.paper.alpha, strict=True)),
            kept(self.pesmo, self.paper.alpha),
            self.pesmo.min(),
            total.max(),
            paper.max(),
            self.paper.alpha.min(),
            correlation(halves[0], halves[1]),
            correlation(total, whole),
            kept(total, whole),
            whole.max(),
        )

    @property
    def cells(self) -> list[str]:
        out = [f"{value:.3f}" for value in self.numbers]
        out[4] = f"{self.numbers[4]:.1e}"
        out[6] += f" ± {self.paper.se_total[self.paper.alpha.sum(0).argmax()]:.3f}"
        return out


def table(rows: list[Row]) -> str:
    """A line a case, then medians and the least of each group."""
    lines = [["case", *Row.COLUMNS], ["---"] * (1 + len(Row.COLUMNS))]
    lines += [[row.case.name, *row.cells] for row in rows]
    summaries: tuple[tuple[str, Callable[..., Floats]], ...] = (("median", np.median), ("least", np.min))
    for number in CASES:
        group = np.array([row.numbers for row in rows if len(row.case.objectives) == number])
        for word, summary in summaries:
            cells = [f"{value:.3f}" for value in summary(group, axis=0)]
            cells[4] = f"{summary(group[:, 4]):.1e}"
            lines.append([f"**K = {number}, {word}**", *cells])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


EXPLANATION = """
*corr Σα*: correlation of PESMO's Σ_k α_k with the exact one over the grid. *at max*: exact Σα at PESMO's
maximizer, over its maximum. *decoupled*: the same for the choice of (k, x) by the largest α_k. *exact with
itself*: the correlation of two estimates from half the Pareto sets each. *exact*: given that no point
dominates a point of X*, the condition of the paper and of EP. *whole*: given that X* is all of the Pareto
set.
"""


# ---------------------------------------------------------------- figures
def draw(row: Row, path: Path) -> None:
    """Observations and posteriors on top; below, α (coupled) or every α_k (decoupled), by PESMO and exact."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    case, paper = row.case, row.paper
    total = "$\\alpha(x) = " + " + ".join(f"\\alpha_{k + 1}" for k in range(len(case.objectives))) + "$"
    curves = [(total, row.pesmo.sum(0), paper.alpha.sum(0), paper.se_total, row.whole.alpha.sum(0))]
    if case.decoupled:
        parts = zip(row.pesmo, paper.alpha, paper.se, row.whole.alpha, strict=True)
        curves = [(f"$\\alpha_{k + 1}(x)$", *part) for k, part in enumerate(parts)]
    heights = [1.5, *[1] * len(curves)]
    size = (9, 1.9 * sum(heights))
    figure, axes = plt.subplots(len(heights), sharex=True, figsize=size, height_ratios=heights)
    figure.set_layout_engine("constrained")
    for k, (obj, color) in enumerate(zip(case.objectives, COLORS, strict=False)):
        mean, cov = posterior(obj, GRID)
        sd = np.sqrt(np.diag(cov))
        axes[0].fill_between(GRID, mean - sd, mean + sd, color=color, alpha=0.18, lw=0)
        axes[0].plot(GRID, mean, color=color, label=f"$f_{k + 1}$: mean ± sd")
        label, marker = f"$y_{k + 1}$: observations", "osD^"[k]
        axes[0].plot(obj.x, obj.y, marker, color=color, mec="white", ms=6.5, label=label)
    axes[0].set_ylabel("objectives")
    axes[0].set_title(f"{'Decoupled' if case.decoupled else 'Coupled'}, {len(case.objectives)} objectives")
    for ax, (label, approximate, truth, se, whole) in zip(axes[1:], curves, strict=True):
        ax.fill_between(GRID, truth - 2 * se, truth + 2 * se, color="0.35", alpha=0.25, lw=0)
        ax.plot(GRID, truth, color="0.2", label="exact (± 2 se)")
        ax.plot(GRID, whole, color="0.5", ls=":", lw=1.2, label="exact, X* the whole Pareto set")
        ax.plot(GRID, approximate, color="#e07b00", ls="--", lw=1.8, label="PESMO")
        for values, color in ((truth, "0.2"), (approximate, "#e07b00")):
            ax.axvline(GRID[values.argmax()], color=color, lw=0.8, ls=":")
        ax.set_ylabel(f"{label}  [nats]")
        ax.set_ylim(bottom=min(0, 1.1 * truth.min()))
    axes[-1].set_xlabel("$x$")
    axes[0].set_xlim(0, 1)
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100, metadata={"Software": None})
    plt.close(figure)


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--seed", type=int, default=0, help="of PESMO's draws")
    command.add_argument("--draws", type=int, help="of PESMO, instead of what it uses in production")


def run(results: Results, arguments: argparse.Namespace, command: str) -> None:
    """PESMO's α_k in every case, stored in pesmo.npz; exact estimates that are missing are computed first."""
    folder, found = results.root / "accuracy", {}
    with threadpool_limits(1):
        for case in cases():
            for whole in (False, True):
                exact(case, whole, folder)
            found[case.name] = pesmo_alpha(case, GRID, arguments.seed, arguments.draws)
    np.savez_compressed(folder / "pesmo.npz", batch=results.new_batch(command), **found)


def rows_of(results: Results) -> list[Row]:
    """The stored estimates, case by case."""
    folder = results.root / "accuracy"
    with np.load(folder / "pesmo.npz") as stored:
        return [Row(c, stored[c.name], exact(c, False, folder), exact(c, True, folder)) for c in cases()]


def settings(results: Results) -> bool:
    """Whether there is something to show."""
    return (results.root / "accuracy" / "pesmo.npz").exists()


def batches(results: Results) -> dict[int, int]:
    """{batch: cases} of the stored values."""
    with np.load(results.root / "accuracy" / "pesmo.npz") as stored:
        return {int(stored["batch"]): len(stored.files) - 1}


def section(results: Results, output: Output) -> str:
    """The table and the paper's two figures."""
    rows = rows_of(results)
    for name, decoupled in (("accuracy-coupled", False), ("accuracy-decoupled", True)):
        draw(next(row for row in rows if row.case.decoupled == decoupled), output.figure(name))
    words = (
        "**Paper:** in one problem of one input, PESMO's acquisition and the exact one look very similar, maximizer "
        "included (a figure, no numbers). **Ours:** 24 problems, K = 2 to 4. What they say: [accuracy](accuracy.md)."
    )
    figures = [output.shown("accuracy-coupled", "coupled"), output.shown("accuracy-decoupled", "decoupled")]
    return "\n\n".join([words, table(rows), EXPLANATION.strip(), *figures])
