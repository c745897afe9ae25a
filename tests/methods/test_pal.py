"""PAL on a study of one input."""

import numpy as np

from pesmo import Float, Space, Study
from pesmo.methods import pal as room


def test_the_tolerance_is_a_share_of_each_objectives_half_range(monkeypatch) -> None:
    """Of half the way from the lowest lower end to the highest upper one; here all comes in halves."""
    seen = []

    def classify(low, high, tolerance):
        seen.append((low, high, tolerance))
        return np.zeros(low.shape[0], int)

    monkeypatch.setattr(room, "classify", classify)
    study = Study(Space(x=Float(0, 1)), ["a", "b"], method="pal", seed=0)
    for i in range(6):
        study.add({"x": i / 5}, {"a": 3.0 + i, "b": -2.0 * i})
    study.ask()
    ((low, high, tolerance),) = seen
    np.testing.assert_allclose(tolerance, 0.5 * room.EPSILON * (high.max(axis=0) - low.min(axis=0)), rtol=1e-12)
