"""31 s for a recommendation from 2,000 values, and no memory for one from 20,000: the model takes a stated subset."""

import io
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from pesmo import Finished, Float, Int, Objective, Space, Study
from pesmo.methods import subset
from pesmo.methods.model import fit
from pesmo.methods.recommend import recommend
from pesmo.methods.subset import modelled
from pesmo.pareto.dominance import nondominated
from pesmo.problem import Evidence, Experiment, Observations
from pesmo.report.page import render
from pesmo.report.tables import front_table

SPACE = Space(x=Float(0, 1), y=Float(0, 1))
NONE = np.empty((0, 2))


def evidence(*observations: Observations) -> Evidence:
    names = [f"f{k}" for k in range(len(observations))]
    runs = tuple(Experiment(name, [name]) for name in names)
    return Evidence(SPACE, tuple(Objective(n) for n in names), runs, observations, (NONE,) * len(names))


def coupled(rows: int, seed: int = 0) -> Evidence:
    unit = np.random.default_rng(seed).uniform(size=(rows, 2))
    a, b = np.sum(unit**2, axis=1), np.sum((unit - [1.0, 0.3]) ** 2, axis=1)
    return evidence(Observations(unit, a, NONE), Observations(unit, b, NONE))


def test_nothing_changes_up_to_the_limit() -> None:
    known = coupled(50)
    assert modelled(known, 50) is known


def test_above_it_the_front_and_a_space_filling_half_are_kept() -> None:
    known = coupled(2_000)
    few = modelled(known, 100)
    assert few.left_out == (1_900, 1_900)
    a, b = few.observations
    assert a.values.size == b.values.size == 100
    assert np.array_equal(a.unit, b.unit)  # measured together, kept together
    values = np.stack([o.values for o in known.observations], axis=-1)
    best = {row.tobytes() for row in known.observations[0].unit[nondominated(values)]}
    assert len(best) > 100
    assert len(best & {row.tobytes() for row in a.unit}) >= 50
    grid = np.random.default_rng(1).uniform(size=(500, 2))
    hole = np.max(np.min(np.linalg.norm(grid[:, None] - a.unit[None], axis=-1), axis=1))
    assert hole < 0.2  # fifty points spread over a square leave holes of a tenth
    again = modelled(known, 100).observations[0]
    assert np.array_equal(again.unit, a.unit) and np.array_equal(again.values, a.values)


def test_values_stay_with_their_points_and_in_their_order() -> None:
    known = coupled(300)
    kept = modelled(known, 60).observations[1]
    rows = [int(np.flatnonzero(np.all(known.observations[1].unit == row, axis=1))[0]) for row in kept.unit]
    assert rows == sorted(rows)
    assert np.array_equal(kept.values, known.observations[1].values[rows])


def test_a_front_that_is_larger_than_the_limit_is_spread_over() -> None:
    x = np.linspace(0, 1, 1_001)
    unit = np.stack([x, np.zeros(1_001)], axis=-1)
    known = evidence(Observations(unit, x, NONE), Observations(unit, 1 - x, NONE))
    kept = np.sort(modelled(known, 50).observations[0].unit[:, 0])
    assert kept.size == 50
    assert np.max(np.diff(kept)) < 0.05


def test_each_objective_has_its_own_subset_and_the_small_one_keeps_everything() -> None:
    rng = np.random.default_rng(0)
    many, few = rng.uniform(size=(500, 2)), rng.uniform(size=(30, 2))
    known = evidence(Observations(many, many[:, 0], NONE), Observations(few, few[:, 1], NONE))
    found = modelled(known, 100)
    assert found.observations[0].values.size == 100
    assert found.observations[1] is known.observations[1]
    assert found.left_out == (400, 0)


def test_of_repeats_the_first_ones_are_kept_and_every_point_has_one() -> None:
    unit = np.repeat([[0.1, 0.2], [0.5, 0.5], [0.9, 0.3]], 200, axis=0)
    values = np.arange(600.0)
    kept = modelled(evidence(Observations(unit, values, NONE)), 30).observations[0].values
    assert kept.tolist() == [*range(10), *range(200, 210), *range(400, 410)]


@pytest.mark.parametrize(("values", "pending", "kept"), [(500, 3, 3), (500, 500, 20), (10, 500, 90), (90, 11, 11)])
def test_pending_points_count_too(values: int, pending: int, kept: int) -> None:
    rng = np.random.default_rng(0)
    unit, coming = rng.uniform(size=(values, 2)), rng.uniform(size=(pending, 2))
    found = modelled(evidence(Observations(unit, unit[:, 0], coming)), 100).observations[0]
    assert found.values.size == min(values, 100 - kept)
    assert np.array_equal(found.pending, coming[pending - kept :])


@pytest.fixture
def limited(monkeypatch) -> None:
    """The limit of every study, small enough to be met at once."""
    monkeypatch.setattr(subset.modelled, "__defaults__", (40,))


def crowded(method: str = "pesmo") -> Study:
    study = Study(Space(x=Float(0, 1), n=Int(1, 9)), ["a", "<b>"], method=method, seed=0)
    for x, y in np.random.default_rng(0).uniform(size=(120, 2)).tolist():
        n = 1 + int(9 * y)
        study.add({"x": x, "n": n}, {"a": x + (n - 4) ** 2, "<b>": 1 - x + (n - 5) ** 2})
    return study


def test_the_front_says_so_on_screen_and_in_the_report(limited) -> None:
    study = crowded()
    front = study.recommend()
    assert front.note == (
        "a from 40 of 120 values; <b> from 40 of 120 values: those near the front, and others spread over the space"
    )
    assert all(s.data.x.shape[0] == 40 for s in study.fitted().surrogates)
    screen = Console(file=io.StringIO(), width=300)
    screen.print(front_table(front))
    assert front.note in " ".join(screen.file.getvalue().split())  # pyright: ignore
    assert "a from 40 of 120 values; &lt;b&gt; from 40" in render(study)


def test_nothing_is_said_where_nothing_is_left_out() -> None:
    front = crowded().recommend()
    assert front.note is None


@pytest.mark.parametrize("method", ["pesmo", "parego", "ehi", "smsego", "pal", "nsga2"])
def test_suggestions_are_made_from_as_many(method: str, limited, monkeypatch) -> None:
    study = crowded(method)
    seen = []
    suggest = study._method.suggest

    def watched(found: Evidence, state, rng):
        seen.append([o.values.size for o in found.observations] + [found.taken[0].shape[0]])
        return suggest(found, state, rng)

    monkeypatch.setattr(type(study._method), "suggest", staticmethod(watched))
    with suppress(Finished):  # PAL's right
        trial = study.ask()
        assert "fallback" not in (trial.note or "")
    assert seen == [[40, 40, 120]]  # but no point is asked for a second time, whether the model knows it or not


def test_the_recommendation_is_hardly_another_one() -> None:
    known = coupled(400)
    rng = np.random.default_rng
    whole, part = (recommend(fit(e, None, rng(0)), e, 20, rng(0)) for e in (known, modelled(known, 60)))
    assert np.allclose(whole.means.min(axis=0), part.means.min(axis=0), atol=0.05)
    assert whole.note is None and part.note is not None
    assert replace(part, note=None).note is None
