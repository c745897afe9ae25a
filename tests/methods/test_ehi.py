"""EHI improves on what was measured: a place that only promises much is not counted as won."""

import numpy as np
import pytest

from pesmo import Float, Space, Study
from pesmo.methods import ehi


def test_the_front_to_improve_on_is_of_measured_points(monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study(Space(x=Float(0, 1), y=Float(0, 1)), ["a", "b"], method="ehi", seed=0)
    points = np.random.default_rng(0).uniform(size=(10, 2))
    for x, y in points.tolist():
        study.add({"x": x, "y": y}, {"a": x + y, "b": 1.0 - x + y**2})
    seen, maximize = [], ehi.maximize

    def looking(acquisition, evidence, rng):
        seen.append(acquisition.promising)
        return maximize(acquisition, evidence, rng)

    monkeypatch.setattr(ehi, "maximize", looking)
    study.ask()
    (promising,) = seen
    gaps = np.abs(promising[:, None, :] - points[None, :, :]).max(axis=2).min(axis=1)
    assert gaps.max() < 1e-9
