"""`Objective(worst=...)`: no method looks beyond it, and the recommendation stays within it."""

import numpy as np
import pytest

from pesmo import DefinitionError, Float, Objective, Space, Study
from pesmo.methods.fronts import known_fronts
from pesmo.methods.model import fit
from pesmo.methods.pesmo import condition_on_pareto_sets
from pesmo.problem import Evidence, Observations

SPACE = Space(x=Float(0, 1), y=Float(0, 1))


def measured(*objectives: Objective, method: str = "pesmo") -> Study:
    """Twelve measurements of (x + y^2 / 10, 1 - x + y^2 / 10): the front is y = 0, every x."""
    study = Study(SPACE, objectives, method=method, seed=0)
    for x, y in np.random.default_rng(0).uniform(size=(12, 2)).tolist():
        values = {"a": x + y**2 / 10, "b": 1.0 - x + y**2 / 10}
        study.add({"x": x, "y": y}, {o.name: values[o.name] * (1 if o.goal == "minimize" else -1) for o in objectives})
    return study


def evidence(study: Study) -> Evidence:
    unit = np.array([study.space.to_unit(t.inputs) for t in study.trials])
    observations = tuple(
        Observations(unit, o.to_model(np.array([t.values[o.name] for t in study.trials])), np.empty((0, 2)))
        for o in study.objectives
    )
    return Evidence(study.space, tuple(study.objectives), tuple(study.experiments), observations, (unit,))


def test_the_recommendation_stays_within_the_limits() -> None:
    study = measured(Objective("a", worst=0.4), Objective("b", goal="maximize", worst=-0.9))
    front = study.recommend()
    assert len(front) > 10
    assert front.means[:, 0].max() <= 0.4 + 1e-9
    assert front.means[:, 1].min() >= -0.9 - 1e-9


def test_limits_that_nothing_meets_are_no_limits() -> None:
    front = measured(Objective("a", worst=-5.0), Objective("b")).recommend()
    assert np.ptp(front.means[:, 0]) > 0.8


def test_pesmo_conditions_on_the_pareto_points_within_the_limits() -> None:
    study, rng = measured(Objective("a", worst=0.4), Objective("b")), np.random.default_rng(0)
    model = fit(evidence(study), None, rng)
    acquisition = condition_on_pareto_sets(model, evidence(study), rng)
    limit = model.surrogates[0].scaling.standardize(np.array(0.4))
    for front in acquisition.fronts:
        assert front.values[:, 0].max() <= limit + 1e-9
    assert study.ask().inputs["x"] < 0.5


def test_the_reference_point_is_the_limit_where_one_is_known() -> None:
    study, rng = measured(Objective("a", worst=0.4), Objective("b")), np.random.default_rng(0)
    model = fit(evidence(study), None, rng)
    for known in known_fronts(model, evidence(study), rng):
        assert known.reference[0] == pytest.approx(float(model.surrogates[0].scaling.standardize(np.array(0.4))))
        assert known.reference[1] == pytest.approx(known.values[:, 1].max() + 0.1 * known.extent[1])


@pytest.mark.parametrize("method", ["ehi", "smsego", "sur", "pal"])
def test_no_rival_asks_beyond_the_limits(method: str) -> None:
    study = measured(Objective("a", worst=0.3), Objective("b", worst=1.1), method=method)
    assert study.ask().inputs["x"] < 0.35


@pytest.mark.parametrize(
    ("transform", "worst", "says"),
    [
        (None, "much", "a value of the objective"),
        (None, np.nan, "a value"),
        ("log", -1.0, "above 0"),
        ("logit", 1.0, ""),
    ],
)
def test_a_limit_is_a_value_the_objective_can_have(transform, worst, says: str) -> None:
    with pytest.raises(DefinitionError, match=f"'a': worst .*{says}"):
        Objective("a", transform=transform, worst=worst)


def test_a_limit_is_part_of_the_stored_definition(tmp_path) -> None:
    Study(SPACE, [Objective("a", worst=0.4), "b"], storage=tmp_path / "s.db", seed=1)
    assert Study.open(tmp_path / "s.db").objectives[0].worst == 0.4
    with pytest.raises(DefinitionError, match=r"objective 'a': worst is 0\.5, stored is 0\.4"):
        Study(SPACE, [Objective("a", worst=0.5), "b"], storage=tmp_path / "s.db", seed=1)
