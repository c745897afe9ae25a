"""PESMO's alpha_k beside the exact one, hyperparameters known (docs/accuracy.md has 24 such cases).

The exact estimate is small and rough here; what it must show is that alpha_k has the right size, sign and place.
"""

import numpy as np
import pytest

from pesmo.gp.scaling import Scaling
from pesmo.methods.model import Model, surrogate
from pesmo.methods.pesmo import condition_on_pareto_sets
from pesmo.problem import Evidence, Experiment, Observations
from pesmo.problem import Objective as Named
from pesmo.space import Float, Space
from tests.oracle.exact import Floats, Objective, exact_alpha
from tests.oracle.test_exact import objectives

GRID = np.linspace(0, 1, 41)


def pesmo_alpha(truth: list[Objective], seed: int) -> Floats:
    """alpha_k (K, n) on the grid, from twenty draws."""
    rng, space = np.random.default_rng(seed), Space(x=Float(0, 1))
    named = tuple(Named(f"f{k}") for k in range(len(truth)))
    observed = tuple(Observations(o.x[:, None], o.y, np.empty((0, 1))) for o in truth)
    theta = [np.log([[o.lengthscale, o.amplitude, o.noise]] * 20) for o in truth]
    surrogates = tuple(
        surrogate(space, name, data, Scaling(0.0, 1.0), row, rng)
        for name, data, row in zip(named, observed, theta, strict=True)
    )
    evidence = Evidence(space, named, (Experiment("all", [n.name for n in named]),), observed, (np.empty((0, 1)),))
    return condition_on_pareto_sets(Model(space, surrogates), evidence, rng).alpha(GRID[:, None])


@pytest.mark.parametrize("case", [0, 1])
def test_alpha_is_near_the_exact_mutual_information(case: int) -> None:
    truth = objectives(2, np.random.default_rng([2016, case]), 8)  # each observed at inputs of its own
    rng = np.random.default_rng(1)
    exact = exact_alpha(truth, GRID, rng, sets=50, draws=120, pool=0, chains=3, thin=5, whole=True)
    ours = np.mean([pesmo_alpha(truth, seed) for seed in range(3)], axis=0)
    total, right = ours.sum(axis=0), exact.alpha.sum(axis=0)
    assert np.corrcoef(total, right)[0, 1] > 0.9
    assert right[np.argmax(total)] > 0.8 * right.max()  # what is asked is worth asking
    assert total.max() == pytest.approx(right.max(), rel=0.5)
    assert ours.min() >= 0.0
    k, x = np.unravel_index(np.argmax(ours), ours.shape)
    assert exact.alpha[k, x] > 0.7 * exact.alpha.max()  # also of which objective
