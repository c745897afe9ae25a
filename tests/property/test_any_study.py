"""Whatever the study, however odd the data: always a valid new suggestion, no warning, no NaN, no exception.

(Warnings are errors in this test run.)
"""

import math
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pesmo import Choice, Experiment, Finished, Float, Int, Objective, Space, Study
from pesmo.methods.registry import METHODS

INPUTS = st.one_of(
    st.just(Float(0, 1)),
    st.just(Float(1e-6, 1e3, log=True)),
    st.just(Float(-1e12, 1e12)),
    st.just(Float(1.0, 1.0 + 1e-9)),
    st.builds(lambda low, more: Int(low, low + more), st.integers(-5, 5), st.integers(1, 40)),
    st.just(Int(1, 10_000, log=True)),
    st.just(Choice("a", "b")),
    st.just(Choice("a", "b", 3, True, 2.5)),
)
VALUES = ["plain", "constant", "huge", "tiny", "step", "one"]  # "one": a single point beats all others everywhere


@st.composite
def studies(draw, method="pesmo"):
    most = METHODS[method].most_objectives or 8
    d, k = draw(st.integers(1, 20)), draw(st.integers(1, most))
    space = Space({f"input {i}": draw(INPUTS) for i in range(d)})
    objectives = [
        Objective(
            f"objective {j}",
            goal=draw(st.sampled_from(["minimize", "maximize"])),
            inputs=draw(st.one_of(st.none(), st.just(space.names[: 1 + j % d]))),
            noise=draw(st.sampled_from([None, 0.0, 0.1])),
            worst=draw(st.sampled_from([None, None, 0.3, -1e12, 1e308])),
        )
        for j in range(k)
    ]
    names = [o.name for o in objectives]
    experiments = None
    if draw(st.booleans()) and not METHODS[method].needs_complete:
        experiments = [Experiment(f"run {n}", [n], cost=1.0 + i) for i, n in enumerate(names)]
    study = Study(space, objectives, experiments, method, seed=draw(st.integers(0, 2**32 - 1)))
    kinds = [draw(st.sampled_from(VALUES)) for _ in names]
    _fill(study, kinds, draw(st.integers(0, 60)), np.random.default_rng(draw(st.integers(0, 1000))))
    return study


def _fill(study: Study, kinds: list[str], rows: int, rng: np.random.Generator) -> None:
    """Observations with repeated points, points 1e-12 apart, and odd values; some objectives missing at some points."""
    unit = np.empty((0, study.space.dim))
    for _ in range(rows):
        row = rng.uniform(size=study.space.dim)
        if len(unit) and rng.uniform() < 0.3:
            row = np.clip(unit[rng.integers(len(unit))] + rng.choice([0.0, 1e-12]), 0.0, 1.0)
        unit = np.concatenate([unit, row[None]])
        values = {o.name: _value(kind, row, rng) for o, kind in zip(study.objectives, kinds, strict=True)}
        if len(study.experiments) > 1 and rng.uniform() < 0.5:
            name = study.objectives[rng.integers(len(kinds))].name
            values = {name: values[name]}
        study.add(study.space.from_unit(row), values)


def _value(kind: str, row: np.ndarray, rng: np.random.Generator) -> float:
    plain = float(np.sin(5 * row.sum()) + rng.normal(0, 0.01))
    return {
        "plain": plain,
        "constant": 5.0,
        "huge": 1e12 * plain,
        "tiny": 1e-12 * plain,
        "step": float(row[0] > 0.5),
        "one": float(np.sum((row - 0.5) ** 2)),
    }[kind]


def check(study: Study, trial) -> None:
    assert study.space.check(trial.inputs) == trial.inputs
    assert trial.gain is None or (math.isfinite(trial.gain) and trial.gain >= -1e-6)
    assert "fallback" not in (trial.note or ""), trial.note
    reveals = set(study.experiment(trial.experiment).reveals)
    earlier = study.trials[: trial.id - 1]
    before = [t.inputs for t in earlier if reveals <= set(t.values or study.experiment(t.experiment).reveals)]
    if trial.inputs in before:
        assert "every point" in (trial.note or "")


def examples(count: int) -> settings:
    """The same examples every time, so that CI does not fail by chance; PESMO_FUZZ=1 draws new ones.

    No shrinking: one example takes seconds.
    """
    return settings(
        max_examples=count,
        deadline=None,
        derandomize="PESMO_FUZZ" not in os.environ,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
        phases=[Phase.explicit, Phase.generate],
    )


THEN = st.sampled_from(["tell", "fail", "leave"])


@examples(60)
@given(studies(), THEN)
def test_any_study_gets_a_valid_new_suggestion(study: Study, then: str) -> None:
    ask_three(study, then)


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"pesmo"}))
@examples(8)
@given(st.data(), THEN)
def test_so_it_does_from_every_rival(method: str, data: st.DataObject, then: str) -> None:
    ask_three(data.draw(studies(method)), then)


def ask_three(study: Study, then: str) -> None:
    for _ in range(3):
        try:
            trial = study.ask()
        except Finished:  # PAL's right, where everything is classified
            assert study.method == "pal"
            return
        check(study, trial)
        if then == "tell":
            study.tell(trial, dict.fromkeys(study.experiment(trial.experiment).reveals, 0.5))
        elif then == "fail":
            study.fail(trial, "no luck")


def test_failed_trials_only() -> None:
    study = Study(Space(x=Float(0, 1), n=Int(0, 3)), ["a", "b"], seed=0)
    seen = []
    for _ in range(12):
        trial = study.ask()
        check(study, trial)
        seen.append(tuple(trial.inputs.values()))
        study.fail(trial, "crashed")
    assert len(set(seen)) == 12


def test_a_pareto_point_on_a_data_point() -> None:
    """All the data on the optimum: the sampled Pareto sets coincide with it."""
    study = Study(Space(x=Float(0, 1)), [Objective("a", noise=0.0), Objective("b", noise=0.0)], seed=0)
    for x in np.linspace(0, 1, 30):
        study.add({"x": float(x)}, {"a": (x - 0.5) ** 2, "b": (x - 0.5) ** 2 * 2})
    check(study, study.ask())
    assert len(study.recommend()) >= 1
