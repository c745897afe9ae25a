"""Synthetic problems drawn from a Matérn-5/2 Gaussian process prior, with their (nearly) true Pareto fronts.

Needs numpy, scipy and moocore only, so that pesmo's environment and the peers' can both import it. Every
objective is minimized over the unit cube, without noise:

    problem = gp_prior_problem(seed=0, dim=3, objectives=2, length_scale=0.3)
    x = problem.starts(5)
    y = problem.evaluate(x)
    problem.log_relative_hv_difference(y)

| name | meaning | shape |
|---|---|---|
| d, K, F | inputs, objectives, random features | |
| omega | frequencies of the features, shared by the objectives | (F, d) |
| theta | weights of the features | (F, K) |
| archive | non-dominated points found so far | x (n, d), y (n, K) |
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import moocore
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import qmc

Array = NDArray[np.float64]
Floats = NDArray[Any]  # of single or double precision

FEATURES = 4000
CACHE = Path(__file__).parent / ".cache"
FRONTS = Path(__file__).parent / "fronts.jsonl"  # what scores need of fronts found before: no clone searches again
CACHE_VERSION = 1  # raise it when a change below would give another front
FRONT_POINTS = 3000  # what front() gives; the hypervolume is that of the whole archive
ARCHIVE_POINTS = {2: (3000, 10000), 3: (8000, 50000), 4: (20000, 100000)}  # K (4: or more): small, large
CHILDREN = 32768
SOBOL_LOG2 = 18
DESCENTS, DESCENT_STEPS = 16384, 150
FLOOR = 1e-4  # of HV*: no smaller difference is told apart


@dataclass(frozen=True)
class Front:
    """The Pareto front of a problem: inputs x (n, d), values y (n, K), and what is derived from them."""

    x: Array
    y: Array
    reference_point: Array
    hypervolume: float


@dataclass(frozen=True)
class Problem:
    """K objectives to minimize over the unit cube of d inputs; `gp_prior_problem` makes one."""

    seed: int
    dim: int
    objectives: int
    length_scale: float
    omega: Array = field(repr=False, compare=False)
    theta: Array = field(repr=False, compare=False)
    phase: Array = field(repr=False, compare=False)
    kind: str = ""  # of problems that are no plain draws from the prior

    @property
    def name(self) -> str:
        """A name for files: inputs, objectives, length-scale, kind and seed."""
        return f"d{self.dim}-K{self.objectives}-l{self.length_scale:g}-{self.kind}{self.seed}"

    def evaluate(self, x: Array) -> Array:
        """Values (n, K) at points x (n, d): f(x) = sqrt(2/F) sum_i theta_i cos(omega_i.x + phase_i)."""
        return _features_sum(np.asarray(x, dtype=np.float64), self.omega, self.phase, self.theta)

    def _evaluate_fast(self, x: Array) -> Array:
        """The same in single precision: 15 times faster, to about 1e-5, for the search of the front."""
        single = (a.astype(np.float32) for a in (x, self.omega, self.phase, self.theta))
        return _features_sum(*single).astype(np.float64)

    def gradient(self, x: Array) -> Array:
        """Gradients (d, K) of the objectives at one point x (d,)."""
        return (-np.sin(self.omega @ x + self.phase)[:, None] * self.omega).T @ self.theta

    def starts(self, n: int, seed: int = 0) -> Array:
        """n points (n, d), uniform at random: the same for everyone who asks with this seed."""
        return np.random.default_rng([self.seed, seed, 1]).random((n, self.dim))

    def front(self) -> Array:
        """Values (n, K) of a few thousand points spread over the Pareto front."""
        return self.pareto.y

    @property
    def reference_point(self) -> Array:
        """Nadir of the front plus 10 % of its range, (K,)."""
        return self.scale[0]

    @cached_property
    def pareto(self) -> Front:
        """The front, computed once (a minute or so) and then read from the cache folder."""
        path = CACHE / f"front-v{CACHE_VERSION}-{self.name}.npz"
        if not path.exists():
            front = approximate_front(self)
            CACHE.mkdir(exist_ok=True)
            partial = path.with_suffix(".partial.npz")
            np.savez_compressed(partial, **vars(front))
            partial.replace(path)
        with np.load(path) as stored:
            return Front(stored["x"], stored["y"], stored["reference_point"], float(stored["hypervolume"]))

    @cached_property
    def scale(self) -> tuple[Array, float]:
        """Reference point (K,) and HV*: from the list of fronts, or from a search that adds to the list."""
        key = f"v{CACHE_VERSION}-{self.name}"
        for line in FRONTS.read_text().splitlines() if FRONTS.exists() else []:
            entry = json.loads(line)
            if entry["front"] == key:
                return np.array(entry["reference"]), entry["hypervolume"]
        front = self.pareto
        reference = front.reference_point.tolist()
        with FRONTS.open("a") as file:  # one short write: processes may add at once
            file.write(json.dumps({"front": key, "reference": reference, "hypervolume": front.hypervolume}) + "\n")
        return front.reference_point, front.hypervolume

    def log_relative_hv_difference(self, values: Array) -> float:
        """log((HV* - HV(values)) / HV*), natural; 0 when no value dominates the reference point.

        A difference under FLOOR counts as FLOOR (log 1e-4 = -9.2). HV* itself is low by about 1e-5 for K = 2
        and, because its front has three dimensions to fill, by about 1 % (log 0.01 = -4.6) for K = 4.
        """
        reference, best = self.scale
        found = moocore.hypervolume(np.atleast_2d(values), ref=reference)
        return float(np.log(max(1.0 - found / best, FLOOR)))


def gp_prior_problem(seed: int, dim: int, objectives: int, length_scale: float) -> Problem:
    """A draw of K independent objectives from a Matérn-5/2 prior of unit amplitude, by random features.

    The spectral density of Matérn-nu is a multivariate Student-t with 2 nu degrees of freedom, scaled by
    1 / length_scale (Rasmussen & Williams, 2006, eq. 4.15).
    """
    rng = np.random.default_rng([seed, dim, objectives, round(1e6 * length_scale)])
    normal = rng.standard_normal((FEATURES, dim))
    chi2 = rng.chisquare(5.0, size=(FEATURES, 1))
    omega = normal * np.sqrt(5.0 / chi2) / length_scale
    phase = rng.uniform(0.0, 2.0 * np.pi, FEATURES)
    theta = np.sqrt(2.0 / FEATURES) * rng.standard_normal((FEATURES, objectives))
    return Problem(seed, dim, objectives, length_scale, omega, theta, phase)


def half_linear_problem(seed: int, dim: int, objectives: int, length_scale: float) -> Problem:
    """The first half of the objectives drawn from the prior, the others linear: hard ones and easy ones.

    A linear objective is one feature of a very long wave, w.x = sin(t w.x) / t to one part in a thousand, so that all
    that is known of problems holds for this one too. Its slope has the length that makes it range over about two.
    """
    drawn = gp_prior_problem(seed, dim, objectives, length_scale)
    rng = np.random.default_rng([seed, dim, objectives, 4])
    easy = range(objectives - objectives // 2, objectives)
    wave, omega, theta, phase = 0.05, drawn.omega, drawn.theta.copy(), drawn.phase
    theta[:, easy] = 0.0
    for k in easy:
        slope = rng.standard_normal(dim)
        weight = np.zeros((1, objectives))
        weight[0, k] = 2.0 / (wave * np.abs(slope).sum())
        omega, theta = np.vstack([omega, wave * slope]), np.vstack([theta, weight])
        phase = np.append(phase, -np.pi / 2)
    return Problem(seed, dim, objectives, length_scale, omega, theta, phase, kind="half-linear-")


def _features_sum(x: Floats, omega: Floats, phase: Floats, theta: Floats) -> Floats:
    """Values (n, K), a few rows at a time so that the (rows, F) block stays in the processor's cache."""
    x = np.atleast_2d(x)
    values = np.empty((len(x), theta.shape[1]), x.dtype)
    for rows in range(0, len(x), 64):
        block = x[rows : rows + 64] @ omega.T
        block += phase
        values[rows : rows + 64] = np.cos(block, out=block) @ theta
    return values


def approximate_front(problem: Problem, *, tolerance: float = 1e-4, patience: int = 200) -> Front:
    """The Pareto front by search: a Sobol set, descents from it, then mutation of the non-dominated archive.

    A small archive evolves until ten generations together improve its hypervolume by less than `tolerance`,
    relatively (or until `patience` generations); then a large one fills the gaps.
    """
    rng = np.random.default_rng([problem.seed, problem.dim, problem.objectives, 2])
    small, large = ARCHIVE_POINTS[min(problem.objectives, 4)]
    sobol = qmc.Sobol(problem.dim, rng=rng).random_base2(SOBOL_LOG2)
    values = problem._evaluate_fast(sobol)
    minima = np.array(list(_minima(problem, sobol, values)))
    ends = problem.evaluate(minima)
    low, low_values = _descend(problem, sobol[:DESCENTS], values[:DESCENTS], ends.min(axis=0), rng)
    x, y = survivors(np.vstack([sobol, low, minima]), np.vstack([values, low_values, ends]), small)
    reference, last = _reference(y), 0.0
    for _ in range(patience // 10):
        x, y = _evolve(problem, x, y, size=small, rng=rng)
        volume = moocore.hypervolume(y, ref=reference)
        if volume - last < tolerance * volume:
            break
        last = volume
    x, y = _evolve(problem, x, y, size=large, rng=rng)
    x = np.vstack([x, minima])  # single precision may have pushed the exact minima out
    x, y = survivors(x, problem.evaluate(x), large)
    reference = _reference(y)
    volume = float(moocore.hypervolume(y, ref=reference))
    x, y = _thin(x, y, FRONT_POINTS)
    return Front(x, y, reference, volume)


def _evolve(
    problem: Problem, x: Array, y: Array, *, size: int, rng: np.random.Generator, generations: int = 10
) -> tuple[Array, Array]:
    """The archive after some generations of mutation and selection."""
    for _ in range(generations):
        parents = np.concatenate([rng.integers(len(x), size=CHILDREN // 2), boundary(y, CHILDREN // 2, rng)])
        new = mutate(x, parents, rng)
        x, y = survivors(np.vstack([x, new]), np.vstack([y, problem._evaluate_fast(new)]), size)
    return x, y


def boundary(y: Array, n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """n indices of points that are non-dominated for some of the objectives alone.

    They are the edges of the front, which set the nadir and which a search of the whole reaches last.
    """
    objectives = range(y.shape[1])
    subsets = [s for size in objectives if size for s in combinations(objectives, size)]
    share = -(-n // len(subsets))
    edges = [np.flatnonzero(moocore.is_nondominated(y[:, s], keep_weakly=True)) for s in subsets]
    return np.concatenate([rng.choice(edge, share) for edge in edges])[:n]


def _reference(y: Array) -> Array:
    nadir, ideal = y.max(axis=0), y.min(axis=0)
    return nadir + 0.1 * (nadir - ideal)


def _minima(problem: Problem, x: Array, y: Array, tries: int = 10) -> Iterator[Array]:
    """Each objective's minimum, by L-BFGS-B from its best points: where the front ends."""
    for k in range(problem.objectives):
        runs = [
            minimize(
                lambda u, k=k: (problem.evaluate(u)[0, k], problem.gradient(u)[:, k]),
                start,
                jac=True,
                method="L-BFGS-B",
                bounds=[(0.0, 1.0)] * problem.dim,
                options={"ftol": 1e-14, "gtol": 1e-8},
            )
            for start in x[np.argsort(y[:, k])[:tries]]
        ]
        yield np.clip(min(runs, key=lambda run: run.fun).x, 0.0, 1.0)


def _descend(problem: Problem, x: Array, y: Array, ideal: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Each point moved downhill on a Chebyshev scalarization of its own, by a (1+1) evolution strategy.

    From many starts it reaches parts of the front that lie apart, which selection alone would lose early.
    """
    weights = rng.dirichlet(np.full(problem.objectives, 0.5), size=len(x)) / np.std(y, axis=0)
    sigma = np.full((len(x), 1), 0.1)
    score = np.max(weights * (y - ideal), axis=1)
    for _ in range(DESCENT_STEPS):
        new = np.clip(x + sigma * rng.standard_normal(x.shape), 0.0, 1.0)
        values = problem._evaluate_fast(new)
        new_score = np.max(weights * (values - ideal), axis=1)
        better = (new_score < score)[:, None]
        x, y = np.where(better, new, x), np.where(better, values, y)
        score = np.minimum(score, new_score)
        sigma = np.clip(sigma * np.where(better, 1.5, 0.9), 1e-4, 0.3)  # balanced at one success in five
    return x, y


def mutate(x: Array, parents: NDArray[np.intp], rng: np.random.Generator) -> Array:
    """A child of each parent: a share of the difference of two points is added, then a small step."""
    n = len(parents)
    one, other = x[rng.integers(len(x), size=(2, n))]
    share = rng.uniform(0.0, 0.6, (n, 1)) * rng.integers(0, 2, (n, 1))  # half the children: local step only
    step = 10.0 ** rng.uniform(-4.0, -1.0, (n, 1)) * rng.standard_normal(one.shape)
    return np.clip(x[parents] + share * (one - other) + step, 0.0, 1.0)


def survivors(x: Array, y: Array, size: int) -> tuple[Array, Array]:
    """The non-dominated points; thinned to `size` when they are a quarter more than that."""
    keep = moocore.is_nondominated(y)
    x, y = x[keep], y[keep]
    return _thin(x, y, size) if len(y) > 1.25 * size else (x, y)


def _thin(x: Array, y: Array, size: int) -> tuple[Array, Array]:
    """At most `size` points, evenly spread: one per cell of a grid over the values, and every minimum."""
    if len(y) <= size:
        return x, y
    objectives = y.shape[1]
    unit = (y - y.min(axis=0)) / np.maximum(np.ptp(y, axis=0), 1e-300)
    order = np.argsort(unit.sum(axis=1))  # so that the first point of a cell is the one of the smallest sum
    unit = unit[order]
    few, many, chosen = 1, 2 ** (60 // objectives), order[:1]  # cells per objective; ids fit in 64 bits
    while many - few > max(1, few // 50):
        cells = int(np.sqrt(few * many)) if many > 2 * few else (few + many) // 2
        ids = (unit * (cells - 1)).astype(np.int64) @ (cells ** np.arange(objectives, dtype=np.int64))
        _, first = np.unique(ids, return_index=True)
        if len(first) <= size - objectives:
            few, chosen = cells, order[first]
        else:
            many = cells
    keep = np.union1d(chosen, y.argmin(axis=0))
    return x[keep], y[keep]
