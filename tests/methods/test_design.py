"""The design and the candidates: which experiment is behind, which point comes next, what is left of a small space."""

import numpy as np
import pytest
from scipy.stats import qmc

from pesmo.methods.design import EXHAUSTED, candidates, design_point, first_new, from_design, most_behind
from pesmo.methods.registry import METHODS
from pesmo.problem import Evidence, Experiment, Objective, Observations
from pesmo.space import Choice, Float, Int, Space

PLANE = Space(x=Float(0, 1), y=Float(0, 1))
TABLE = Space(n=Int(1, 3), c=Choice("p", "q"))


def evidence(
    space: Space,
    counts: list[int],
    pending: list[int],
    reveals: list[list[str]],
    taken: list[np.ndarray] | None = None,
) -> Evidence:
    """Objectives o0, o1, ... with so many values and pending points each."""
    rng = np.random.default_rng(0)
    observed = tuple(
        Observations(rng.uniform(size=(n, space.dim)), np.zeros(n), rng.uniform(size=(p, space.dim)))
        for n, p in zip(counts, pending, strict=True)
    )
    runs = tuple(taken) if taken is not None else (np.empty((0, space.dim)),) * len(reveals)
    experiments = tuple(Experiment(f"e{i}", names) for i, names in enumerate(reveals))
    return Evidence(space, tuple(Objective(f"o{k}") for k in range(len(counts))), experiments, observed, runs, seed=11)


@pytest.mark.parametrize(
    ("counts", "pending", "expected"),
    [
        ([3, 2, 4], [0, 0, 0], 1),
        ([3, 2, 4], [0, 2, 0], 0),
        ([5, 5, 1], [0, 0, 0], 2),
        ([2, 2, 2], [0, 0, 0], 0),
    ],
)
def test_the_experiment_with_the_fewest_values_of_an_objective_is_behind(counts, pending, expected: int) -> None:
    apart = evidence(PLANE, counts, pending, [["o0"], ["o1"], ["o2"]])
    assert most_behind(apart, only_complete=False) == expected


def test_an_experiment_is_as_far_behind_as_its_least_known_objective_and_may_have_to_be_complete() -> None:
    given = evidence(PLANE, [1, 5, 3], [0, 0, 0], [["o1", "o2"], ["o0", "o1"], ["o0", "o1", "o2"]])
    assert most_behind(given, only_complete=False) == 1
    assert most_behind(given, only_complete=True) == 2


def test_the_design_is_scipys_scrambled_sobol_sequence_tidied() -> None:
    right = qmc.Sobol(2, rng=np.random.default_rng(11)).random(8)
    for index in range(8):
        np.testing.assert_allclose(design_point(PLANE, 11, index), right[index], atol=1e-9)
    empty = evidence(PLANE, [0], [0], [["o0"]])
    first = from_design(empty, False, "design")
    np.testing.assert_allclose(first.unit, right[0], atol=1e-9)
    assert (first.experiment, first.gain, first.note) == (0, None, "design")
    third = from_design(evidence(PLANE, [2], [0], [["o0"]], [right[:2]]), False, None)
    np.testing.assert_allclose(third.unit, right[2], atol=1e-9)
    assert third.note is None
    # a point of the design that someone has run already is passed over
    passed = from_design(evidence(PLANE, [1], [0], [["o0"]], [design_point(PLANE, 11, 1)[None]]), False, None)
    np.testing.assert_allclose(passed.unit, right[2], atol=1e-9)


def test_the_first_new_point_or_any_that_is_left_or_the_last_again() -> None:
    taken = TABLE.enumerate()[:4]
    given = evidence(TABLE, [4], [0], [["o0"]], [taken])
    found = first_new(given, 0, [taken[0], taken[2], TABLE.enumerate()[4] + 0.01, taken[1]], "why")
    np.testing.assert_allclose(found.unit, TABLE.enumerate()[4])
    assert found.note == "why"
    left = first_new(given, 0, [taken[0]], None)
    np.testing.assert_allclose(left.unit, TABLE.enumerate()[4])
    full = evidence(TABLE, [6], [0], [["o0"]], [TABLE.enumerate()])
    again = first_new(full, 0, [taken[0], taken[2]], None)
    np.testing.assert_allclose(again.unit, taken[2])
    assert again.note == EXHAUSTED
    assert first_new(full, 0, [], "why").note == f"why; {EXHAUSTED}"


def test_candidates_fill_the_space_without_repeats() -> None:
    every = candidates(TABLE, 6, np.random.default_rng(0))
    np.testing.assert_array_equal(every, TABLE.enumerate())
    few = candidates(TABLE, 4, np.random.default_rng(0))  # fewer than there are
    assert len(few) <= 4
    assert len(np.unique(few, axis=0)) == len(few)
    np.testing.assert_array_equal(few, TABLE.snap(few))
    plane = candidates(PLANE, 64, np.random.default_rng(0))
    assert len(np.unique(plane, axis=0)) == 64
    assert np.histogram2d(plane[:, 0], plane[:, 1], 8, [[0, 1], [0, 1]])[0].max() == 1  # a net: one point a cell
    other = candidates(PLANE, 64, np.random.default_rng(1))
    assert not np.any(np.all(np.abs(plane[:, None] - other[None]) < 1e-9, axis=2))
    mixed = Space(x=Float(0, 1), n=Int(1, 3))
    found = candidates(mixed, 64, np.random.default_rng(0))
    np.testing.assert_array_equal(found, mixed.snap(found))


@pytest.mark.parametrize("method", ["random", "sobol"])
def test_methods_without_a_model_run_what_is_behind(method: str) -> None:
    given = evidence(PLANE, [3, 1], [0, 0], [["o0"], ["o1"]])
    suggestion = METHODS[method].suggest(given, None, np.random.default_rng(0)).suggestion
    assert suggestion.experiment == 1
    assert suggestion.note is None
    other = METHODS[method].suggest(given, None, np.random.default_rng(1)).suggestion
    same = np.array_equal(suggestion.unit, other.unit)
    assert same == (method == "sobol")  # the design is the study's, chance the call's


MODELS = {"parego", "smsego", "ehi", "sur", "pal"}


@pytest.mark.parametrize("name", METHODS)
def test_what_each_method_needs_before_it_can_judge(name: str) -> None:
    """A model needs values to learn from; a method that judges a point by all objectives needs them all there."""
    method = METHODS[name]
    assert method.needs_design == (name in MODELS | {"pesmo", "nsga2"})
    assert method.needs_complete == (name in MODELS | {"nsga2"})
    assert method.most_objectives == (3 if name == "sur" else None)
