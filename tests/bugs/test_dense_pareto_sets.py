"""Fifty neighbouring Pareto points of a nearly exact GP: what once went wrong there.

1. q at a candidate was computed from lap - lap C lap, a small difference of large numbers: variances of -13 where they
   lie in [0, 0.2], and gradients of 1e6.
2. Factors with tau < 0 that kept their nu let EP's means run away, hundreds of standard deviations.
"""

import numpy as np

import pesmo
from pesmo.gp.posterior import joint
from pesmo.methods.model import fit
from pesmo.methods.pesmo import condition_on_pareto_sets


def acquisition():
    rng = np.random.default_rng(0)
    space = pesmo.Space(x=pesmo.Float(0, 1), y=pesmo.Float(0, 1))
    study = pesmo.Study(space, [pesmo.Objective(n, noise=0.0) for n in ("a", "b")], seed=0)
    for x, y in rng.uniform(size=(14, 2)).tolist():
        study.add({"x": x, "y": y}, {"a": np.sin(6 * x) + y**2, "b": np.cos(5 * y) + (x - 0.3) ** 2})
    evidence = study._view.evidence()
    model = fit(evidence, None, rng)
    return model, condition_on_pareto_sets(model, evidence, rng), rng


def test_the_gradient_is_the_slope() -> None:
    _, acq, rng = acquisition()
    for point in rng.uniform(0.05, 0.95, (10, 2)):
        value, gradient = acq.value_and_gradient(point, 0)
        assert abs(value - acq.alpha(point[None]).sum()) < 1e-8
        for j in range(2):
            step = np.zeros(2)
            step[j] = 1e-6
            slope = (acq.alpha((point + step)[None]).sum() - acq.alpha((point - step)[None]).sum()) / 2e-6
            assert abs(gradient[j] - slope) < 1e-2 * (1 + abs(slope))


def test_ep_stays_where_the_draws_are() -> None:
    model, acq, _ = acquisition()
    q = acq.conditioned
    assert q.real.sum(axis=1).max() == 50
    points = acq.views[0].points[:, : q.real.shape[1]]
    for k, surrogate in enumerate(model.surrogates):
        mean, cov, _ = joint(surrogate.posterior, points)
        sd = np.sqrt(np.maximum(np.diagonal(cov, axis1=1, axis2=2), 1e-10))
        assert np.max(np.abs(q.mean[:, k] - mean) / sd * q.real) < 20
