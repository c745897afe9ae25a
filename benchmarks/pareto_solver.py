"""The Pareto search of a draw (pesmo.pareto.solve) beside NSGA-II and a plain grid.

The functions are the true objectives of the synthetic problems (problems.py): draws from the same prior as the paths
that PESMO searches. Reported is the log relative hypervolume difference of at most 50 points given back (smaller is
better), and evaluations, a gradient counted as three. One line per method; medians over the seeds.
"""

from __future__ import annotations

import numpy as np
from problems import Problem, gp_prior_problem
from scipy.stats import qmc

from pesmo.pareto.dominance import nondominated, ranks
from pesmo.pareto.solve import Functions, Search, pareto_sets
from pesmo.pareto.subset import representatives

SETTINGS = [(3, 2, 0.3), (6, 4, 0.6)]  # d, K, length-scale
SEEDS = range(5)
POINTS = 50
CROSSOVER_ETA, MUTATION_ETA = 15.0, 20.0


def sobol(dim: int, count: int, seed: int) -> np.ndarray:
    return qmc.Sobol(dim, rng=np.random.default_rng(seed)).random(count)


def ours(problem: Problem, seed: int) -> tuple[np.ndarray, int]:
    counted = [0]

    def evaluate(unit: np.ndarray) -> np.ndarray:
        flat = unit.reshape(-1, problem.dim)
        counted[0] += len(flat)
        return problem._evaluate_fast(flat)[None]

    def slopes(unit: np.ndarray) -> np.ndarray:
        flat = unit.reshape(-1, problem.dim)
        counted[0] += 3 * len(flat)
        return np.stack([problem.gradient(x).T for x in flat])[None]

    functions = Functions(evaluate, slopes, lambda unit: unit)
    start = sobol(problem.dim, 1024, seed)
    (front,) = pareto_sets(functions, start, Search(points=POINTS), np.random.default_rng(seed))
    return front.values, counted[0]


def grid(problem: Problem, seed: int) -> tuple[np.ndarray, int]:
    """The paper's: 1000 d points."""
    count = 1024 * problem.dim
    values = problem._evaluate_fast(qmc.Sobol(problem.dim, rng=np.random.default_rng(seed)).random(8192)[:count])
    return _thin(values), count


def nsga2(problem: Problem, seed: int, generations: int, population: int = 100) -> tuple[np.ndarray, int]:
    """NSGA-II (Deb et al., 2002): binary tournaments by rank and crowding, SBX and polynomial mutation, elitism."""
    rng = np.random.default_rng(seed)
    x = sobol(problem.dim, 128, seed)[:population]
    y = problem._evaluate_fast(x)
    for _ in range(generations):
        rank, crowd = ranks(y), _crowding(y)
        pairs = rng.integers(population, size=(2, population))
        first = (rank[pairs[0]] < rank[pairs[1]]) | (
            (rank[pairs[0]] == rank[pairs[1]]) & (crowd[pairs[0]] > crowd[pairs[1]])
        )
        parents = x[np.where(first, pairs[0], pairs[1])]
        children = _mutate(_cross(parents, rng), rng)
        x, y = np.concatenate([x, children]), np.concatenate([y, problem._evaluate_fast(children)])
        keep = np.lexsort((-_crowding(y), ranks(y)))[:population]
        x, y = x[keep], y[keep]
    return _thin(y), population * (generations + 1)


def _crowding(y: np.ndarray) -> np.ndarray:
    """Crowding distance within each front."""
    out = np.zeros(len(y))
    rank = ranks(y)
    for r in np.unique(rank):
        rows = np.flatnonzero(rank == r)
        for column in y[rows].T:
            order = np.argsort(column)
            extent = np.ptp(column) or 1.0
            out[rows[order[[0, -1]]]] = np.inf
            out[rows[order[1:-1]]] += (column[order[2:]] - column[order[:-2]]) / extent
    return out


def _cross(parents: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Simulated binary crossover of consecutive parents."""
    one, other = parents[0::2], parents[1::2]
    u = rng.uniform(size=one.shape)
    power = 1.0 / (CROSSOVER_ETA + 1.0)
    beta = np.where(u < 0.5, (2 * u) ** power, (0.5 / (1 - u)) ** power)
    beta = np.where(rng.uniform(size=(len(one), 1)) < 0.9, beta, 1.0)
    middle, half = (one + other) / 2, beta * (one - other) / 2
    return np.clip(np.concatenate([middle + half, middle - half]), 0, 1)


def _mutate(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Polynomial mutation, one coordinate a child on average."""
    u = rng.uniform(size=x.shape)
    power = 1.0 / (MUTATION_ETA + 1.0)
    step = np.where(u < 0.5, (2 * u) ** power - 1, 1 - (2 * (1 - u)) ** power)
    return np.clip(x + np.where(rng.uniform(size=x.shape) < 1 / x.shape[1], step, 0.0), 0, 1)


def _thin(y: np.ndarray) -> np.ndarray:
    front = y[nondominated(y)]
    return front[representatives(front, POINTS)]


def main() -> None:
    methods = {
        "ours": ours,
        "grid of 1000 d": grid,
        "NSGA-II, 25 generations": lambda p, s: nsga2(p, s, 25),
        "NSGA-II, 50 generations": lambda p, s: nsga2(p, s, 50),
    }
    print("| problem | method | evaluations | log relative hypervolume difference |\n|---|---|---|---|")
    for dim, objectives, length_scale in SETTINGS:
        for name, method in methods.items():
            scores, counts = [], []
            for seed in SEEDS:
                problem = gp_prior_problem(seed, dim, objectives, length_scale)
                values, count = method(problem, seed)
                scores.append(problem.log_relative_hv_difference(values))
                counts.append(count)
            print(
                f"| d={dim}, K={objectives} | {name} | {np.median(counts):.0f} | {np.median(scores):.2f} |", flush=True
            )


if __name__ == "__main__":
    main()
