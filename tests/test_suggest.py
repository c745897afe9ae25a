"""From the evidence to a proposal: randomness, fallback, spare points, and which points are one and the same run."""

import numpy as np
import pytest

from pesmo import suggest
from pesmo.errors import NumericalFailure
from pesmo.methods.design import EXHAUSTED
from pesmo.methods.protocol import Answer, State
from pesmo.problem import Evidence, Experiment, Objective, Observations, Suggestion
from pesmo.space import Float, Int, Space

SPACE = Space(x=Float(0.0, 10.0), n=Int(1, 5))


def evidence(values: int = 6, inputs: list[str] | None = None) -> Evidence:
    unit = np.random.default_rng(0).uniform(size=(values, 2))
    observed = (Observations(unit, np.arange(float(values)), unit[:0]),)
    cost = Experiment("run", ["a"], cost=lambda point: point["x"] + 1.0)
    return Evidence(SPACE, (Objective("a", inputs=inputs),), (cost,), observed, (unit,), seed=4)


class Fixed:
    """A method that always suggests one thing, and says what it was given."""

    needs_design = True
    needs_complete = False
    most_objectives: int | None = None

    def __init__(self, suggestion: Suggestion, state: State | None = None) -> None:
        self.suggestion, self.state, self.seen = suggestion, state, []

    def suggest(self, evidence: Evidence, state: State | None, rng: np.random.Generator) -> Answer:
        self.seen.append((state, rng.uniform()))
        return Answer(self.suggestion, self.state)


POINT = Suggestion(0, SPACE.to_unit({"x": 2.5, "n": 3}), gain=0.7)


def test_a_proposal_says_where_and_at_what_cost_and_what_to_remember() -> None:
    method = Fixed(POINT, {"theta": [np.array([[0.1, 1 / 3]])]})
    memory = {"theta": [[[1.0, 2.0]]]}
    found = suggest.propose(method, evidence(), memory, number=7, attempt=0, after=12)
    assert (found.experiment, found.points, found.costs) == ("run", [{"x": 2.5, "n": 3}], [3.5])
    assert (found.gain, found.note, found.after) == (0.7, None, 12)
    assert found.memory == {"theta": [[[0.1, 1 / 3]]]}
    state, _ = method.seen[0]
    np.testing.assert_array_equal(state["theta"][0], [[1.0, 2.0]])
    assert suggest.to_memory(None) is None
    assert suggest.to_state(None) is None
    np.testing.assert_array_equal(suggest.to_state(found.memory)["theta"][0], [[0.1, 1 / 3]])  # pyright: ignore


def test_randomness_depends_on_seed_purpose_and_number_and_is_new_at_a_second_attempt() -> None:
    draws = {key: suggest.rng_for(*key).uniform() for key in [(4, 0, 7), (5, 0, 7), (4, 1, 7), (4, 0, 8)]}
    assert len(set(draws.values())) == 4
    assert suggest.rng_for(4, 0, 7).uniform() == draws[4, 0, 7]
    assert suggest.rng_for(4, 0, 7, attempt=1).uniform() != suggest.rng_for(4, 0, 7, attempt=1).uniform()
    method = Fixed(POINT)
    suggest.propose(method, evidence(), None, number=7, attempt=0, after=0)
    assert method.seen[0][1] == draws[4, 0, 7]


def test_the_design_comes_first_and_steps_in_where_numbers_fail() -> None:
    method = Fixed(POINT)
    early = suggest.propose(method, evidence(4), None, 0, 0, 0)
    assert early.note == "design"
    assert early.gain is None
    assert not method.seen
    assert suggest.propose(method, evidence(5), None, 0, 0, 0).note is None
    method.needs_design = False
    assert suggest.propose(method, evidence(0), None, 0, 0, 0).note is None

    class Failing(Fixed):
        def suggest(self, evidence: Evidence, state: State | None, rng: np.random.Generator) -> Answer:
            raise NumericalFailure("no factor")

    fallen = suggest.propose(Failing(POINT), evidence(), None, 0, 0, 0)
    assert fallen.note == "fallback to the space-filling design: no factor"
    assert fallen.memory is None


def test_spare_points_of_the_design_are_offered_when_others_took_the_first() -> None:
    alone = suggest.propose(Fixed(POINT), evidence(2), None, 0, 0, 0)
    assert len(alone.points) == 1
    crowd = suggest.propose(Fixed(POINT), evidence(2), None, 0, 1, 0)
    assert crowd.points[0] == alone.points[0]
    assert len(crowd.points) == len(crowd.costs) == 129
    assert crowd.costs == [point["x"] + 1.0 for point in crowd.points]
    assert crowd.points[1] == alone.points[0]  # the design goes on from as many points as were run
    assert len({tuple(p.values()) for p in crowd.points}) == 128
    small = Space(n=Int(1, 3))
    unit = small.enumerate()[:2]
    given = Evidence(
        small, (Objective("a"),), (Experiment("run", ["a"]),), (Observations(unit, np.zeros(2), unit[:0]),), (unit,)
    )
    offered = suggest.propose(Fixed(POINT), given, None, 0, 1, 0)
    assert {p["n"] for p in offered.points} == {3}  # none that was run
    modelled = suggest.propose(Fixed(POINT), evidence(), None, 0, 1, 0)
    assert len(modelled.points) == 1


@pytest.mark.parametrize(
    ("other", "attempt", "gain", "one"),
    [
        ({"x": 2.5, "n": 3}, 0, 0.7, True),
        ({"x": 2.69, "n": 3}, 0, 0.7, True),  # within 0.02 of the unit cube
        ({"x": 2.71, "n": 3}, 0, 0.7, False),
        ({"x": 2.69, "n": 4}, 0, 0.7, False),  # near in every input, or not near
        ({"x": 2.69, "n": 3}, 2, 0.7, True),
        ({"x": 2.69, "n": 3}, 3, 0.7, False),  # after three times only the same point is one
        ({"x": 2.5, "n": 3}, 3, 0.7, True),
        ({"x": 2.69, "n": 3}, 0, None, False),  # a design's points may be near each other
    ],
)
def test_which_points_are_one_and_the_same_run(other: dict, attempt: int, gain: float | None, one: bool) -> None:
    suggestion = Suggestion(0, POINT.unit, gain=gain)
    clash = suggest.propose(Fixed(suggestion), evidence(), None, 0, attempt, 0).clash
    assert clash({"x": 2.5, "n": 3}, other) is one
    assert clash(other, {"x": 2.5, "n": 3}) is one


def test_an_input_that_the_experiment_ignores_does_not_make_two_runs_of_one() -> None:
    clash = suggest.propose(Fixed(POINT), evidence(inputs=["n"]), None, 0, 0, 0).clash
    assert clash({"x": 1.0, "n": 3}, {"x": 9.0, "n": 3})
    assert not clash({"x": 1.0, "n": 3}, {"x": 1.0, "n": 4})


def test_where_every_point_was_run_a_repeat_clashes_with_nothing() -> None:
    again = Suggestion(0, POINT.unit, gain=0.1, note=f"why; {EXHAUSTED}")
    clash = suggest.propose(Fixed(again), evidence(), None, 0, 0, 0).clash
    assert not clash({"x": 2.5, "n": 3}, {"x": 2.5, "n": 3})
