"""NSGA-II (Deb et al., 2002), one child at a time: no model, for many cheap evaluations and as a rival.

Parents are the best POPULATION complete points, by non-domination rank and then crowding distance; two are picked by
binary tournaments, crossed (simulated binary crossover) and mutated (polynomial mutation).
"""

import numpy as np

from pesmo.methods.design import first_new, most_behind
from pesmo.methods.protocol import Answer, State
from pesmo.pareto.dominance import ranks
from pesmo.problem import Evidence

POPULATION = 20
CROSSOVER, CROSSOVER_INDEX = 0.9, 15.0  # probability; the larger the index, the nearer a child is to its parents
MUTATION_INDEX = 20.0
CHILDREN = 64  # tries for a point that is new


class Nsga2:
    needs_design = True
    needs_complete = True
    most_objectives: int | None = None

    def suggest(self, evidence: Evidence, state: State | None, rng: np.random.Generator) -> Answer:
        unit, values = evidence.complete_points
        rank, crowding = ranks(values), crowding_distances(values, ranks(values))
        best = np.lexsort((-crowding, rank))[:POPULATION]
        parents, fitness = unit[best], np.arange(best.size)  # the smaller the better

        def tournament() -> np.ndarray:
            return parents[min(rng.integers(best.size, size=2), key=lambda i: fitness[i])]

        children = (mutate(cross(tournament(), tournament(), rng), rng) for _ in range(CHILDREN))
        e = most_behind(evidence, only_complete=True)
        return Answer(first_new(evidence, e, children, None))


def crowding_distances(values: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """(n,) how far apart the neighbours of each row of values (n, K) are within its rank; infinite at the ends."""
    distance = np.zeros(values.shape[0])
    for r in np.unique(rank):
        members = np.flatnonzero(rank == r)
        for column in values[members].T:
            order = members[np.argsort(column, kind="stable")]
            ordered = np.sort(column)
            extent = 0.5 * ordered[-1] - 0.5 * ordered[0]
            distance[order[[0, -1]]] = np.inf
            if extent > 0.0:
                distance[order[1:-1]] += (0.5 * ordered[2:] - 0.5 * ordered[:-2]) / extent
    return distance


def cross(one: np.ndarray, other: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One child (d,) of two parents in the unit cube by simulated binary crossover."""
    if rng.uniform() >= CROSSOVER:
        return one.copy()
    u = rng.uniform(size=one.size)
    power = 1.0 / (CROSSOVER_INDEX + 1.0)
    spread = np.where(u < 0.5, (2.0 * u) ** power, (0.5 / (1.0 - u)) ** power)
    sign = rng.choice([-1.0, 1.0])  # the two children lie symmetrically; one of them is taken
    child = 0.5 * (one + other) + sign * 0.5 * spread * (one - other)
    return np.clip(np.where(rng.uniform(size=one.size) < 0.5, child, one), 0.0, 1.0)


def mutate(point: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Polynomial mutation of each coordinate with probability 1 / d."""
    u = rng.uniform(size=point.size)
    power = 1.0 / (MUTATION_INDEX + 1.0)
    step = np.where(u < 0.5, (2.0 * u) ** power - 1.0, 1.0 - (2.0 * (1.0 - u)) ** power)
    chosen = rng.uniform(size=point.size) < 1.0 / point.size
    return np.clip(point + np.where(chosen, step, 0.0), 0.0, 1.0)
