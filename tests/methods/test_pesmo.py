"""PESMO's choice: alpha at the resolution that matters."""

import numpy as np
import pytest

import pesmo
from pesmo.methods import pesmo as method
from pesmo.methods.model import fit
from pesmo.methods.pesmo import Acquisition, condition_on_pareto_sets


def acquisition(known: int, unknown: int) -> Acquisition:
    """Of two objectives on one input, measured at so many points each."""
    study = pesmo.Study(
        pesmo.Space(x=pesmo.Float(0, 1)),
        [pesmo.Objective("f", noise=0.0), pesmo.Objective("g", noise=0.0)],
        [pesmo.Experiment("f", ["f"]), pesmo.Experiment("g", ["g"])],
        seed=0,
    )
    for name, count, shift in (("f", known, 0.0), ("g", unknown, 2.0)):
        for x in np.linspace(0.02, 0.98, count):
            study.add({"x": float(x)}, {name: float(np.sin(7 * x + shift))})
    evidence = study._view.evidence()
    rng = np.random.default_rng(0)
    return condition_on_pareto_sets(fit(evidence, None, rng), evidence, rng)


X = np.linspace(0.0, 1.0, 101)[:, None]


def test_digits_of_what_is_known_best_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    found = acquisition(known=12, unknown=4)
    full, counted = found.alpha(X), found.value(X)  # an experiment for each objective
    assert np.all(counted <= full + 1e-9)
    assert counted[0].max() < 0.1 * full[0].max()
    assert counted[1].max() > 0.5 * full[1].max()
    monkeypatch.setattr(method, "RESOLUTION", 0.0)
    found = acquisition(known=12, unknown=4)
    np.testing.assert_allclose(found.value(X), found.alpha(X), rtol=1e-12)


def test_the_gradient_is_of_what_counts() -> None:
    found = acquisition(known=6, unknown=5)
    for e in (0, 1):
        value, slope = found.value_and_gradient(np.array([0.31]), e)
        ends = found.value(np.array([[0.31 - 1e-6], [0.31 + 1e-6]]))[e]
        assert value == pytest.approx(found.value(np.array([[0.31]]))[e, 0])
        assert slope[0] == pytest.approx((ends[1] - ends[0]) / 2e-6, rel=1e-3, abs=1e-6)


def test_a_trial_reports_the_full_information() -> None:
    study = pesmo.Study(pesmo.Space(x=pesmo.Float(0, 1)), ["f", "g"], seed=3)
    for x in np.linspace(0.0, 1.0, 6):
        study.add({"x": float(x)}, {"f": float(x**2), "g": float((x - 1) ** 2)})
    alpha = []
    plain = Acquisition.alpha

    def watched(self: Acquisition, unit: np.ndarray) -> np.ndarray:
        alpha.append(plain(self, unit))
        return alpha[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Acquisition, "alpha", watched)
        trial = study.ask()
    assert trial.gain == pytest.approx(float(alpha[-1].sum()))
