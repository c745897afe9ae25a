"""The space: round trips, bins, and errors that name the input and the remedy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pesmo import Choice, Float, Int, Space, SpaceError

MIXED = Space(
    lr=Float(1e-4, 1e-1, log=True), depth=Int(1, 7), units=Int(1, 5000, log=True), kind=Choice("a", "b", True, 3)
)


@given(st.floats(-5, 12), st.integers(1, 5000), st.sampled_from(["a", "b", True, 3]))
def test_a_point_survives_the_round_trip(exponent: float, units: int, kind: object) -> None:
    lr = float(f"{min(max(10.0**exponent, 1e-4), 1e-1):.10g}")
    point = {"lr": lr, "depth": 1 + units % 7, "units": units, "kind": kind}
    back = MIXED.from_unit(MIXED.to_unit(point))
    assert back == point
    assert [type(v) for v in back.values()] == [type(v) for v in point.values()]


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_what_is_handed_out_survives_the_round_trip(unit: list[float]) -> None:
    tidy = MIXED.tidy(np.array(unit))
    point = MIXED.from_unit(tidy)
    assert np.array_equal(MIXED.to_unit(point), tidy)
    assert MIXED.from_unit(MIXED.to_unit(point)) == point
    np.testing.assert_allclose(tidy[0], unit[0], atol=1e-9)
    np.testing.assert_allclose(MIXED.snap(np.array(unit))[1:], tidy[1:], atol=1e-12)


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.floats(0, 1), st.integers(1, 10), st.booleans())
def test_every_short_decimal_is_exact(low: float, width: float, share: float, digits: int, log: bool) -> None:
    low = abs(low) + 1e-3 if log else low
    spec = Float(low, low + width, log=log)
    value = min(max(round(low + share * width, digits - math.ceil(math.log10(width))), spec.low), spec.high)
    assert spec.from_unit(spec.to_unit(value)) == pytest.approx(value, rel=0, abs=1e-15 * (abs(low) + width))


def test_floats_typed_by_people_come_back_to_the_last_bit() -> None:
    spec = Float(0.0, 1.0)
    for value in (0.1, 0.25, 0.3, 1 / 3, 0.123456789, 1e-5):
        assert spec.from_unit(spec.to_unit(value)) == value
    log = Float(1e-5, 1.0, log=True)
    for value in (1e-5, 1e-4, 3e-4, 0.001, 0.02, 0.7, 1.0):
        assert log.from_unit(log.to_unit(value)) == value


def test_the_model_is_constant_within_an_integer_and_within_a_choice() -> None:
    space = Space(n=Int(0, 3), c=Choice("x", "y", "z"))
    rng = np.random.default_rng(0)
    unit = rng.uniform(size=(200, 2))
    features = space.features(unit)
    for n in range(4):
        for c in "xyz":
            same = [i for i, u in enumerate(unit) if space.from_unit(u) == {"n": n, "c": c}]
            assert same, "the sample should reach every point"
            assert len(np.unique(features[same], axis=0)) == 1
    assert list(space.owners) == [0, 1, 1, 1]
    apart = space.features(np.array([[0.1, 0.1], [0.1, 0.5]]))
    assert np.linalg.norm(apart[0] - apart[1]) == pytest.approx(1.0)


def test_every_integer_has_its_own_bin_also_on_a_log_scale() -> None:
    for spec in (Int(-3, 40), Int(1, 300, log=True), Int(7, 2**40, log=True)):
        values = range(spec.low, spec.high + 1) if spec.size < 1000 else [7, 8, 9, 10**6, 2**40 - 1, 2**40]
        for value in values:
            assert spec.from_unit(spec.to_unit(value)) == value
        assert spec.from_unit(0.0) == spec.low
        assert spec.from_unit(1.0) == spec.high


@pytest.mark.parametrize(
    ("spec", "value", "unit"),
    [
        (Float(-2.0, 6.0), 0.0, 0.25),
        (Float(-2.0, 6.0), -2.0, 0.0),
        (Float(-2.0, 6.0), 6.0, 1.0),
        (Float(1e-4, 1.0, log=True), 1e-3, 0.25),
        (Float(1e-4, 1.0, log=True), 1.0, 1.0),
        (Int(3, 6), 3, 0.125),
        (Int(3, 6), 6, 0.875),
        (Int(1, 7, log=True), 1, math.log(1 / 0.5) / math.log(7.5 / 0.5)),  # bins of a log Int: from n - 1/2 to n + 1/2
        (Int(1, 7, log=True), 6, math.log(6 / 0.5) / math.log(7.5 / 0.5)),
        (Choice("a", "b", 7, True, 1.5), "a", 0.1),
        (Choice("a", "b", 7, True, 1.5), True, 0.7),
    ],
)
def test_where_each_kind_of_value_lies_in_the_unit_cube(spec, value, unit: float) -> None:
    assert spec.to_unit(value) == pytest.approx(unit, abs=1e-12)
    assert spec.from_unit(unit) == value
    assert type(spec.from_unit(unit)) is type(value)
    assert spec.tidy(unit) == spec.to_unit(value)
    assert spec.snap(np.array([unit]))[0] == pytest.approx(unit, abs=1e-12)


@pytest.mark.parametrize("spec", [Int(-3, 4), Int(5, 9, log=True), Int(1, 40, log=True), Choice("x", "y", "z")])
def test_every_place_belongs_to_the_value_whose_bin_it_is_in(spec) -> None:
    """snap goes to the place of the value that from_unit names; bins are equal, or equal in n - 1/2 to n + 1/2."""
    unit = np.linspace(0, 1, 2001)
    values = [spec.from_unit(float(u)) for u in unit]
    np.testing.assert_allclose(spec.snap(unit), [spec.to_unit(value) for value in values], atol=1e-12)
    np.testing.assert_allclose(spec.snap(np.array([-0.3, 1.7])), [spec.snap(unit)[0], spec.snap(unit)[-1]])
    for value in set(values):
        share = values.count(value) / 2001
        if isinstance(spec, Int) and spec.log:
            width = math.log((value + 0.5) / (value - 0.5)) / math.log((spec.high + 0.5) / (spec.low - 0.5))
        else:
            width = 1.0 / spec.size
        assert share == pytest.approx(width, abs=2e-3)
    assert spec.size == len(set(values))


def test_each_choice_has_columns_of_its_own() -> None:
    """Two Choices side by side and a Float after them: none writes into another's columns."""
    space = Space(c=Choice("x", "y", "z"), d=Choice(1, 2), f=Float(0, 4), n=Int(1, 2))
    assert space.owners.tolist() == [0, 0, 0, 1, 1, 2, 3]
    one = 1.0 / math.sqrt(2.0)
    for i, c in enumerate("xyz"):
        for j, d in enumerate((1, 2)):
            row = [0.0] * 7
            row[i], row[3 + j], row[5], row[6] = one, one, 0.75, 0.25
            np.testing.assert_allclose(space.features(space.to_unit({"c": c, "d": d, "f": 3.0, "n": 1})), row)
    many = np.random.default_rng(0).uniform(size=(3, 4, 4))
    np.testing.assert_array_equal(space.features(many)[2, 1], space.features(many[2, 1]))
    assert space.continuous.tolist() == [False, False, True, False]


def test_a_handed_out_float_has_few_digits() -> None:
    assert Float(0, 1).from_unit(Float(0, 1).tidy(1 / 3)) == 0.3333333333
    assert Float(0, 1000).from_unit(Float(0, 1000).tidy(1 / 3)) == 333.3333333
    assert Float(-1e-3, 1e-3).from_unit(Float(-1e-3, 1e-3).tidy(1 / 3)) == -0.000333333333
    log = Float(1e-6, 1.0, log=True)
    assert log.from_unit(log.tidy(1 / 3)) == 1e-4
    assert log.from_unit(log.tidy(0.4)) == 0.0002511886432
    near = Float(1.0, 1.0 + 1e-6, log=True)  # a range so small keeps more digits
    assert near.from_unit(near.tidy(0.5)) == 1.000000499999875


def test_spaces_compare_by_their_inputs_in_order() -> None:
    space = Space(x=Float(0, 1), n=Int(1, 2))
    assert space == Space({"x": Float(0, 1), "n": Int(1, 2)})
    assert hash(space) == hash(Space(x=Float(0, 1), n=Int(1, 2)))
    assert space != Space(n=Int(1, 2), x=Float(0, 1))
    assert space != "a space"
    assert space.dim == 2
    assert repr(space) == "Space(x=Float(low=0.0, high=1.0, log=False), n=Int(low=1, high=2, log=False))"


def test_finite_spaces_are_enumerated_and_neighbours_differ_in_one_input() -> None:
    space = Space(n=Int(1, 3), c=Choice("x", "y"))
    assert space.size == 6
    assert len({tuple(space.from_unit(u).values()) for u in space.enumerate()}) == 6
    here = space.to_unit({"n": 2, "c": "x"})
    around = [space.from_unit(u) for u in space.neighbours(here)]
    assert around == [{"n": 1, "c": "x"}, {"n": 3, "c": "x"}, {"n": 2, "c": "y"}]
    assert Space(x=Float(0, 1), n=Int(0, 1)).size is None
    every = [space.from_unit(u) for u in space.enumerate()]
    assert every == [{"n": n, "c": c} for n in (1, 2, 3) for c in "xy"]
    mixed = Space(x=Float(0, 1), n=Int(1, 3), c=Choice("x", "y", "z"))
    with pytest.raises(SpaceError, match="input 'x' is a Float"):
        mixed.enumerate()
    around = mixed.neighbours(mixed.to_unit({"x": 0.3, "n": 1, "c": "y"}))
    assert [mixed.from_unit(u) for u in around] == [
        {"x": 0.3, "n": 2, "c": "y"},
        {"x": 0.3, "n": 1, "c": "x"},
        {"x": 0.3, "n": 1, "c": "z"},
    ]
    assert Space(x=Float(0, 1)).neighbours(np.array([0.3])).shape == (0, 1)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Float(1, 0), "low must be below high"),
        (lambda: Float(1, 1), "low must be below high"),
        (lambda: Float(0, 1, log=True), "log=True needs low > 0"),
        (lambda: Float(math.nan, 1), "Float: low must be a finite number"),
        (lambda: Float(0, math.inf), "Float: high must be a finite number"),
        (lambda: Float("0", 1), "Float: low must be a number"),  # pyright: ignore
        (lambda: Float(-1.7e308, 1.7e308), "too wide"),
        (lambda: Int(0.5, 2), "Int: low must be a whole number"),  # pyright: ignore
        (lambda: Int(3, 2), "low must be below high"),
        (lambda: Int(0, 9, log=True), "log=True needs low > 0"),
        (lambda: Int(0, 2**60), "use Float"),
        (lambda: Choice("a"), "at least two options"),
        (lambda: Choice("a", "a"), "names an option twice"),
        (lambda: Choice("a", None), "must be a string, a number or a boolean"),
        (lambda: Choice("a", math.nan), "Choice: an option must be a finite number"),
        (lambda: Space(), "at least one input"),
        (lambda: Space(x=3), "input 'x' must be a Float"),  # pyright: ignore
        (lambda: Space({"": Float(0, 1)}), "non-empty string"),
    ],
)
def test_a_bad_definition_names_the_field_and_the_remedy(make, words: str) -> None:
    with pytest.raises(SpaceError, match=words):
        make()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"lr": 1.0}, r"input 'lr' = 1.0 lies outside \[0.0001, 0.1\]"),
        ({"lr": math.nan}, "input 'lr' must be a finite number"),
        ({"lr": "fast"}, "input 'lr' must be a number"),
        ({"lr": True}, "input 'lr' must be a number"),
        ({"depth": 2.5}, "input 'depth' must be a whole number"),
        ({"depth": 8}, "input 'depth' = 8 lies outside"),
        ({"kind": "c"}, "input 'kind' = 'c' is not one of"),
        ({"kind": 1}, "input 'kind' = 1 is not one of"),  # 1 is not True
        ({"speed": 1}, "unknown input 'speed'"),
    ],
)
def test_a_bad_point_names_the_input_and_what_is_allowed(change: dict, words: str) -> None:
    point = {"lr": 0.01, "depth": 2, "units": 10, "kind": "a"}
    with pytest.raises(SpaceError, match=words):
        MIXED.check({**point, **change})
    with pytest.raises(SpaceError, match="missing input 'lr'"):
        MIXED.check({"depth": 2, "units": 10, "kind": "a"})
    with pytest.raises(SpaceError, match="must be a dict"):
        MIXED.check([1, 2])  # pyright: ignore
