"""The recommendation as a surface: thousands of points on the Pareto set of the posterior means.

`Study.recommend` gives the 50 or so points a person can look at. Their hypervolume falls short of the surface's by how
few they are (K = 4: 1000 points on the true front of a problem score -3.1, 200 points -2.3), which would hide what the
methods differ in. So a score is taken from the same Pareto set, filled in by mutation.
"""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

import pesmo
from benchmarks.problems import boundary, mutate, survivors

POINTS = {2: 2000, 3: 5000, 4: 10_000}  # about, by K (4: or more)
SEEDS = 100
GENERATIONS = 12  # 40 of them change a score by less than 0.05
CHILDREN = {2: 1024, 3: 2048, 4: 4096}


def dense_recommendation(study: pesmo.Study) -> np.ndarray:
    """Points (n, d) of the unit cube: the recommendation, and all that mutation finds to add to it."""
    kind = min(len(study.objectives), 4)
    rng = np.random.default_rng([study.seed, len(study.trials), 5])
    space = study.space
    seeds = [space.to_unit(point) for point in study.recommend(size=SEEDS).inputs]
    x = np.array(seeds + [space.to_unit(trial.inputs) for trial in study.trials])
    with threadpool_limits(1):
        model = study.fitted().without_pending()
        y = np.mean(model.means(x), axis=0)
        for _ in range(GENERATIONS):
            x, y = survivors(x, y, POINTS[kind])
            half = CHILDREN[kind] // 2
            parents = np.concatenate([rng.integers(len(x), size=half), boundary(y, half, rng)])
            new = space.snap(mutate(x, parents, rng))
            x, y = np.vstack([x, new]), np.vstack([y, np.mean(model.means(new), axis=0)])
        return survivors(x, y, POINTS[kind])[0]
