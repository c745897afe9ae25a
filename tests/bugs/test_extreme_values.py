"""Values of 1.7e308 of both signs, and noise of 1e300, ended `recommend` in an OverflowError or a front of Infinity."""

import json
import math
from contextlib import suppress

import numpy as np
import pytest

from pesmo import Finished, Float, Int, Objective, Space, Study
from pesmo.gp.scaling import scaling_of
from pesmo.methods.registry import METHODS

PLAIN = [1.0, 2.0, 0.5, 3.0, 1.5, 2.5, 0.7]
BOTH_ENDS = [1.7e308, -1.7e308, 1.0, 0.0, -1.7e308, 1.7e308, 1e308]
HUGE = [1.7e308, 1.6e308, 1.79e308, 1.5e308, 1.7e308, 1.65e308, 1.75e308]
ONE_HUGE = [1e308, 1.0, 2.0, 3.0, 4.0, 5.0, 2.5]
DENORMAL = [5e-324, 1e-320, 1e-310, 0.0, 2e-323, 1e-315, 3e-310]
POSITIVE = [1e-300, 1e-308, 1e300, 1.0, 5e-324, 1.7e308, 2.0]
RATES = [1e-300, 0.5, 1 - 1e-16, 0.2, 0.3, 5e-324, 0.4]


def served(values: list[float], method: str = "pesmo", **objective) -> None:
    """Suggestions and a front of finite numbers, without a warning (they are errors here) or a fallback."""
    objectives = [Objective("a", **objective), Objective("b")]
    study = Study(Space(x=Float(0, 1), n=Int(1, 5)), objectives, method=method, seed=0)
    for i, value in enumerate(values):
        study.add({"x": (0.37 * i) % 1, "n": 1 + i % 5}, {"a": value, "b": float(i % 3)})
    with suppress(Finished):  # PAL's right
        for _ in range(2):
            trial = study.ask()
            assert "fallback" not in (trial.note or "")
            assert trial.gain is None or math.isfinite(trial.gain)
            study.tell(trial, {"a": values[1], "b": 1.0})
    json.dumps(study.recommend().to_dicts(), allow_nan=False)


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"random", "sobol"}))
@pytest.mark.parametrize("values", [BOTH_ENDS, HUGE])
def test_every_method_serves_values_at_the_ends_of_what_a_float_can_be(method: str, values: list[float]) -> None:
    served(values, method)


@pytest.mark.parametrize(
    ("values", "objective"),
    [
        (PLAIN, {"noise": 1e300}),
        (PLAIN, {"noise": 1e-320}),
        (PLAIN, {"worst": 1e308}),
        (DENORMAL, {}),
        (DENORMAL, {"noise": 1.0}),
        (ONE_HUGE, {"goal": "maximize"}),
        (BOTH_ENDS, {"worst": 1e308}),
        (POSITIVE, {"transform": "log"}),
        (RATES, {"transform": "logit"}),
    ],
)
def test_extremes_of_an_objective_are_served(values: list[float], objective: dict) -> None:
    served(values, **objective)


@pytest.mark.parametrize("values", [PLAIN, BOTH_ENDS, HUGE, ONE_HUGE, POSITIVE])
def test_standardized_values_are_finite_and_come_back(values: list[float]) -> None:
    array = np.array(values)
    scaling = scaling_of(array)
    standardized = scaling.standardize(array)
    assert np.all(np.abs(standardized) < 3)
    assert np.allclose(scaling.restore(standardized) / 1e308, array / 1e308, atol=1e-12)
    assert np.all(np.isfinite(scaling.restore(np.array([-1e6, 1e6]))))
