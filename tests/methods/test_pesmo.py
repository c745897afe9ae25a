"""What PESMO prepares for the entropy room: its draws, and which Pareto points are an objective's best."""

import numpy as np
import pytest

from pesmo.methods.model import SAMPLES
from pesmo.methods.pesmo import DRAWS, condition_on_pareto_sets, fit_and_draw
from pesmo.problem import Evidence, Experiment, Objective, Observations
from pesmo.space import Float, Space

SPACE = Space(x=Float(0, 1), y=Float(0, 1))


def evidence(objectives: int, worst: dict[int, float] | None = None) -> Evidence:
    """Ten measurements of squared distances from `objectives` places."""
    unit = np.random.default_rng(0).uniform(size=(10, 2))
    limits = worst or {}
    named = tuple(Objective(f"f{k}", worst=limits.get(k)) for k in range(objectives))
    observed = tuple(Observations(unit, np.sum((unit - k / 3) ** 2, axis=1), unit[:0]) for k in range(objectives))
    return Evidence(SPACE, named, (Experiment("all", [o.name for o in named]),), observed, (unit,))


@pytest.mark.parametrize(("objectives", "draws"), [(1, DRAWS), (3, DRAWS), (4, 1)])
def test_few_objectives_are_drawn_twice_from_each_hyperparameter_sample(objectives: int, draws: int) -> None:
    rng = np.random.default_rng(1)
    model = fit_and_draw(evidence(objectives), None, rng)
    for surrogate, theta in zip(model.surrogates, model.state["theta"], strict=True):
        assert surrogate.theta.shape[0] == draws * SAMPLES
        np.testing.assert_array_equal(theta, surrogate.theta[:SAMPLES])
        np.testing.assert_array_equal(surrogate.theta[-SAMPLES:], theta)
    if draws > 1:
        values = model.evaluate_paths(np.array([[0.9, 0.1]]))[:, 0, 0]
        assert np.unique(values).size == draws * SAMPLES  # one sample's two draws are two


@pytest.mark.parametrize(
    ("objectives", "worst", "known"),
    [
        (2, None, [True, True]),
        (2, {0: 0.3}, [True, False]),
        (2, {0: 0.3, 1: 0.3}, [False, False]),
        (4, None, [False] * 4),
    ],
)
def test_the_ends_of_a_front_are_known_where_no_limit_cuts_it_off(objectives: int, worst, known: list[bool]) -> None:
    rng = np.random.default_rng(1)
    given = evidence(objectives, worst)
    acquisition = condition_on_pareto_sets(fit_and_draw(given, None, rng), given, rng)
    best = acquisition.conditioned.best
    assert best.any(axis=(0, 2)).tolist() == known
    for s, front in enumerate(acquisition.fronts):
        for k in np.flatnonzero(known):
            assert best[s, k].sum() == 1
            assert best[s, k, np.argmin(front.values[:, k])]
