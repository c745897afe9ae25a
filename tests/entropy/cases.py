"""Small acquisition problems for the tests of this room."""

import numpy as np

from pesmo.entropy.candidate import View
from pesmo.entropy.propagate import Conditioned, propagate
from pesmo.gp.posterior import Posterior, condition, joint, repeated


def acquisition_case(
    objectives: int,
    seed: int,
    samples: int = 3,
    data: int = 8,
    pareto: int = 5,
    dim: int = 2,
    candidates: int = 6,
    ends: bool = False,
    times: int = 1,
) -> tuple[list[View], Conditioned, list[np.ndarray]]:
    """Views and EP result of random data and random Pareto points, and random candidates' features.

    Each of the hyperparameter samples is drawn from `times` times, so there are samples * times sets of Pareto points.
    """
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(data, dim))
    draws = samples * times
    points = np.concatenate([rng.uniform(size=(draws, pareto, dim)), np.broadcast_to(x[:3], (draws, 3, dim))], axis=1)
    views, means, covariances = [], [], []
    for _ in range(objectives):
        posterior = condition(
            x,
            rng.standard_normal(data),
            scales=rng.uniform(0.2, 0.6, (samples, dim)),
            amplitude=rng.uniform(0.5, 2.0, samples),
            noise=rng.uniform(1e-3, 1e-2, samples),
        )
        posterior = repeated(posterior, times)
        mean, covariance, whitened = joint(posterior, points)
        views.append(View(posterior, points, whitened))
        means.append(mean)
        covariances.append(covariance)
    active = np.broadcast_to(~np.eye(pareto + 3, pareto, dtype=bool), (draws, pareto + 3, pareto))
    real = np.ones((draws, pareto), bool)
    best = np.zeros((draws, objectives, pareto), bool)
    if ends:
        best[:, range(objectives), range(objectives)] = True
    conditioned = propagate(np.stack(means, axis=1), np.stack(covariances, axis=1), active, real, best)
    return views, conditioned, [rng.uniform(size=(candidates, dim))] * objectives


def moved(xp, views: list[View], conditioned: Conditioned, features: list[np.ndarray]):
    """The same case in another array library."""
    others = []
    for view in views:
        p = view.posterior
        parts = (xp.asarray(a) for a in (p.x, p.scales, p.amplitude, p.noise, p.root, p.weights))
        posterior = Posterior(*parts, times=p.times)
        others.append(View(posterior, xp.asarray(view.points), xp.asarray(view.whitened)))
    q = conditioned
    parts = (xp.asarray(a) for a in (q.mean, q.cov, q.whiten, q.narrow, q.half, q.push, q.real, q.best))
    return others, Conditioned(*parts, sweeps=q.sweeps), [xp.asarray(x) for x in features]
