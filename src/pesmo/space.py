"""The search space: named inputs, their checks, and the map to the unit cube and back.

Three views of one point:

| view     | type             | who uses it                                                              |
|----------|------------------|--------------------------------------------------------------------------|
| point    | dict name: value | people, storage, experiments                                             |
| unit     | (d,) in [0, 1]   | design, search and maximization: one coordinate per input                |
| features | (F,)             | the GP: a Float or Int is one column, a Choice of c options is c columns |

A discrete input cuts its unit coordinate into equal (for a log Int: logarithmic) bins, one per value. `snap` moves a
coordinate to the place that stands for its bin, so the GP, which sees only snapped points, is constant within one
integer or choice (Garrido-Merchan and Hernandez-Lobato, 2020). Two points a Choice apart are at distance 1.

No view of a point grows with the number of points of a discrete space: a Choice of more than MANY options has MANY
columns, of random signs, so that any two of its options are nearly at distance 1.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product
from numbers import Integral, Real
from typing import Any

import numpy as np

from pesmo.errors import SpaceError, brief

TIDY_DIGITS = 10  # a suggested float is rounded to this many digits of its range: nobody wants 17
LARGEST_LOG = 709.0  # exp of it is nearly the largest float
MOST_INTEGERS = 2**50  # beyond this a bin is narrower than float64 resolves
MANY = 256  # options of a Choice: with more, it has this many feature columns, and as many neighbours, as with these


def _real(value: Any, what: str) -> float:
    """`value` as a finite float; a bool is not a number here."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise SpaceError(f"{what} must be a number, not {brief(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise SpaceError(f"{what} must be a finite number, not {brief(value)}")
    return number


def _check_bounds(kind: str, low: float, high: float, log: bool) -> None:
    if not low < high:
        raise SpaceError(f"{kind}: low must be below high, but low = {low} and high = {high}; swap or widen the bounds")
    if not math.isfinite(high - low):
        raise SpaceError(f"{kind}: the range from {low} to {high} is too wide for a float; narrow the bounds")
    if log and low <= 0:
        raise SpaceError(f"{kind}: log=True needs low > 0, but low = {low}; raise low or drop log=True")


@dataclass(frozen=True)
class Float:
    """A real input in [low, high]; `log=True` searches it on a logarithmic scale."""

    low: float
    high: float
    log: bool = False
    size = None  # how many values there are: uncountably many

    def __post_init__(self) -> None:
        low, high = _real(self.low, "Float: low"), _real(self.high, "Float: high")
        _check_bounds("Float", low, high, self.log)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def check(self, value: Any, name: str) -> float:
        number = _real(value, f"input {name!r}")
        if not self.low <= number <= self.high:
            raise SpaceError(f"input {name!r} = {number} lies outside [{self.low}, {self.high}]; move it inside")
        return number

    def to_unit(self, value: float) -> float:
        if self.log:
            return self._log(value) / self._log(self.high)
        return (value - self.low) / (self.high - self.low)

    def _raw(self, unit: float) -> float:
        value = self._exp(unit * self._log(self.high)) if self.log else self.low + unit * (self.high - self.low)
        return min(max(value, self.low), self.high)

    def _rounded(self, value: float, digits: int) -> float:
        """`value` to `digits` digits: of the range on a linear scale, significant ones on a log scale."""
        if self.log:
            narrow = max(0, -math.floor(math.log10(self._log(self.high))))
            value = float(f"{value:.{digits + narrow}g}")
        else:
            try:
                value = round(value, digits - math.ceil(math.log10(self.high - self.low)))
            except OverflowError:  # rounded away from 0, beyond the largest float
                value = math.copysign(math.inf, value)
        return min(max(value, self.low), self.high)

    def _log(self, value: float) -> float:
        """ln(value / low), where the quotient has no float too."""
        quotient = value / self.low
        return math.log(quotient) if math.isfinite(quotient) else math.log(value) - math.log(self.low)

    def _exp(self, log: float) -> float:
        """low * exp(log), the inverse of `_log`; in three steps where exp(log) has no float."""
        if log < LARGEST_LOG:
            return self.low * math.exp(log)
        return self.low * math.exp(log / 3) * math.exp(log / 3) * math.exp(log / 3)

    def from_unit(self, unit: float) -> float:
        """The shortest decimal that `to_unit` maps back to exactly this coordinate, if there is one.

        So every value pesmo hands out, and every value a person would type, survives the round trip to the last bit.
        """
        raw = self._raw(unit)
        for digits in range(TIDY_DIGITS, 18):
            short = self._rounded(raw, digits)
            if self.to_unit(short) == unit:
                return short
        return raw

    def tidy(self, unit: float) -> float:
        """The coordinate of the nearby value that has few digits."""
        return self.to_unit(self._rounded(self._raw(unit), TIDY_DIGITS))

    def plain(self, unit: float) -> float:
        """The same of one digit, where the bounds let it."""
        return self.to_unit(self._rounded(self._raw(unit), 1))

    def snap(self, unit: np.ndarray) -> np.ndarray:
        return unit


@dataclass(frozen=True)
class Int:
    """A whole-number input from low to high, both included; `log=True` searches it on a logarithmic scale."""

    low: int
    high: int
    log: bool = False

    def __post_init__(self) -> None:
        for field in ("low", "high"):
            value = getattr(self, field)
            if isinstance(value, bool) or not isinstance(value, Integral):
                raise SpaceError(f"Int: {field} must be a whole number, not {brief(value)}")
            _real(value, f"Int: {field}")
            object.__setattr__(self, field, int(value))
        _check_bounds("Int", self.low, self.high, self.log)
        if self.size > MOST_INTEGERS:
            raise SpaceError(f"Int: {self.size} values are more than can be told apart; use Float")

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    def check(self, value: Any, name: str) -> int:
        number = _real(value, f"input {name!r}")
        if number != int(number):
            raise SpaceError(f"input {name!r} must be a whole number, not {brief(value)}")
        if not self.low <= int(value) <= self.high:
            raise SpaceError(f"input {name!r} = {value} lies outside [{self.low}, {self.high}]; move it inside")
        return int(value)

    def _edges(self) -> tuple[float, float]:
        """The logarithms of the outer edges of the first and the last bin."""
        return math.log(self.low - 0.5), math.log(self.high + 0.5)

    def to_unit(self, value: int) -> float:
        if self.log:
            first, last = self._edges()
            return (math.log(value) - first) / (last - first)
        return (value - self.low + 0.5) / self.size

    def from_unit(self, unit: float) -> int:
        if self.log:
            first, last = self._edges()
            value = round(math.exp(first + unit * (last - first)))
        else:
            value = self.low + math.floor(unit * self.size)
        return min(max(value, self.low), self.high)

    def tidy(self, unit: float) -> float:
        return self.to_unit(self.from_unit(unit))

    def snap(self, unit: np.ndarray) -> np.ndarray:
        if self.log:
            first, last = self._edges()
            values = np.clip(np.round(np.exp(first + unit * (last - first))), self.low, self.high)
            return (np.log(values) - first) / (last - first)
        return (np.clip(np.floor(unit * self.size), 0, self.size - 1) + 0.5) / self.size


@dataclass(frozen=True, init=False)
class Choice:
    """One of several options without order: strings, numbers or booleans."""

    options: tuple[Any, ...]

    def __init__(self, *options: Any) -> None:
        if len(options) < 2:
            raise SpaceError(
                f"Choice needs at least two options, got {brief(list(options))}; drop the input or add an option"
            )
        for option in options:
            if not isinstance(option, str | bool | Real):
                raise SpaceError(f"Choice: {brief(option)} must be a string, a number or a boolean")
            if isinstance(option, Real) and not isinstance(option, bool):
                _real(option, "Choice: an option")
        if len({(isinstance(o, bool), o) for o in options}) < len(options):
            raise SpaceError(f"Choice: {brief(list(options))} names an option twice; name each once")
        object.__setattr__(self, "options", options)
        object.__setattr__(self, "_places", {(isinstance(o, bool), o): i for i, o in enumerate(options)})

    @property
    def size(self) -> int:
        return len(self.options)

    def _index(self, value: Any) -> int | None:
        places: dict[tuple[bool, Any], int] = self._places  # pyright: ignore[reportAttributeAccessIssue]
        try:
            return places.get((isinstance(value, bool), value))
        except TypeError:  # no hash: a list, a dict
            return None

    def check(self, value: Any, name: str) -> Any:
        index = self._index(value)
        if index is None:
            raise SpaceError(f"input {name!r} = {brief(value)} is not one of {brief(list(self.options))}")
        return self.options[index]

    def to_unit(self, value: Any) -> float:
        index = self._index(value)
        if index is None:
            raise SpaceError(f"{brief(value)} is not one of {brief(list(self.options))}")
        return (index + 0.5) / self.size

    def from_unit(self, unit: float) -> Any:
        return self.options[min(max(math.floor(unit * self.size), 0), self.size - 1)]

    def tidy(self, unit: float) -> float:
        return self.to_unit(self.from_unit(unit))

    def snap(self, unit: np.ndarray) -> np.ndarray:
        return (np.clip(np.floor(unit * self.size), 0, self.size - 1) + 0.5) / self.size


Input = Float | Int | Choice


class Space:
    """The named inputs, in the order given: `Space(lr=Float(1e-4, 1e-1, log=True), layers=Int(1, 3))`.

    Names that are no Python names go in a mapping: `Space({"learning rate": Float(0, 1)})`.
    """

    def __init__(self, inputs: Mapping[str, Input] | None = None, /, **named: Input) -> None:
        self.inputs: dict[str, Input] = {**(inputs or {}), **named}
        if not self.inputs:
            raise SpaceError("a space needs at least one input, as in Space(x=Float(0, 1))")
        for name, spec in self.inputs.items():
            if not isinstance(name, str) or not name:
                raise SpaceError(f"an input's name must be a non-empty string, not {brief(name)}")
            if not isinstance(spec, Float | Int | Choice):
                raise SpaceError(f"input {name!r} must be a Float, an Int or a Choice, not {brief(spec)}")
        self.names: tuple[str, ...] = tuple(self.inputs)
        self._specs = tuple(self.inputs.values())

    def __repr__(self) -> str:
        return "Space(" + ", ".join(f"{name}={spec}" for name, spec in self.inputs.items()) + ")"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and list(self.inputs.items()) == list(other.inputs.items())

    def __hash__(self) -> int:
        return hash(tuple(self.inputs.items()))

    @property
    def dim(self) -> int:
        """d, the number of inputs and of unit-cube coordinates."""
        return len(self._specs)

    @property
    def size(self) -> int | None:
        """How many points there are; None where an input is a Float."""
        return self.size_of(np.ones(self.dim, bool))

    def size_of(self, inputs: np.ndarray) -> int | None:
        """How many points there are along some of the inputs, (d,) True; None where one of them is a Float."""
        sizes = [spec.size for spec, chosen in zip(self._specs, inputs, strict=True) if chosen]
        return None if None in sizes else math.prod(s for s in sizes if s is not None)

    @property
    def continuous(self) -> np.ndarray:
        """(d,) True where the input is a Float."""
        return np.array([isinstance(spec, Float) for spec in self._specs])

    def check(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """The point with every value checked and in its own type, in the order of the space."""
        if not isinstance(point, Mapping):
            raise SpaceError(f"a point must be a dict of input values, not {brief(point)}")
        unknown = [name for name in point if name not in self.inputs]
        missing = [name for name in self.names if name not in point]
        if unknown or missing:
            parts = [f"unknown input {brief(name)}" for name in unknown] + [
                f"missing input {name!r}" for name in missing
            ]
            raise SpaceError(f"{'; '.join(parts)}; the inputs are {brief(list(self.names))}")
        return {name: spec.check(point[name], name) for name, spec in self.inputs.items()}

    def to_unit(self, point: Mapping[str, Any]) -> np.ndarray:
        """(d,) coordinates of a point."""
        checked = self.check(point)
        return np.array([spec.to_unit(checked[name]) for name, spec in self.inputs.items()])

    def from_unit(self, unit: Sequence[float] | np.ndarray) -> dict[str, Any]:
        """The point at unit-cube coordinates (d,)."""
        return {name: spec.from_unit(float(u)) for (name, spec), u in zip(self.inputs.items(), unit, strict=True)}

    def tidy(self, unit: np.ndarray) -> np.ndarray:
        """(d,) coordinates of the nearby point whose values have few digits: what is handed out."""
        return np.array([spec.tidy(float(u)) for spec, u in zip(self._specs, unit, strict=True)])

    @property
    def middle(self) -> np.ndarray:
        """(d,) a point in the middle, of values as plain as can be."""
        return np.array([spec.plain(0.5) if isinstance(spec, Float) else spec.tidy(0.5) for spec in self._specs])

    def snap(self, unit: np.ndarray) -> np.ndarray:
        """(..., d) with every discrete coordinate moved to the place that stands for its value."""
        columns = [spec.snap(unit[..., i]) for i, spec in enumerate(self._specs)]
        return np.stack(columns, axis=-1)

    @property
    def owners(self) -> np.ndarray:
        """(F,) the index of the input each feature column belongs to."""
        return np.array([i for i, spec in enumerate(self._specs) for _ in range(_columns(spec))])

    def features(self, unit: np.ndarray) -> np.ndarray:
        """(..., F) what the GP sees at (..., d): snapped coordinates, a Choice as a scaled one-hot vector, or signs."""
        snapped = self.snap(unit)
        parts = []
        for i, spec in enumerate(self._specs):
            column = snapped[..., i : i + 1]
            if isinstance(spec, Choice) and spec.size > MANY:
                column = _signs(spec.size)[np.floor(column[..., 0] * spec.size).astype(int)]
            elif isinstance(spec, Choice):
                centres = (np.arange(spec.size) + 0.5) / spec.size
                column = (np.abs(column - centres) < 0.25 / spec.size) / math.sqrt(2.0)
            parts.append(column)
        return np.concatenate(parts, axis=-1)

    def enumerate(self) -> np.ndarray:
        """(size, d) every point of a finite space."""
        for name, spec in self.inputs.items():
            if isinstance(spec, Float):
                raise SpaceError(f"input {name!r} is a Float: the space is not finite")
        return self.first_points(np.ones(self.dim, bool), self.size or 0)

    def first_points(self, inputs: np.ndarray, most: int) -> np.ndarray:
        """(n, inputs) the first points, at most `most`, along some of the inputs, (d,) True, none of them a Float.

        In the order of `enumerate`: the last input changes first.
        """
        axes = []
        for spec, chosen in zip(self._specs, inputs, strict=True):
            if chosen and not isinstance(spec, Float):
                count = min(spec.size, most)  # beyond these no input gets within the first `most` points
                values = spec.options[:count] if isinstance(spec, Choice) else range(spec.low, spec.low + count)
                axes.append([spec.to_unit(value) for value in values])
        return np.array(list(islice(product(*axes), most))).reshape(-1, len(axes))

    def neighbours(self, unit: np.ndarray) -> np.ndarray:
        """(n, d) points that differ from `unit` (d,) in one discrete input: the next integers, the other options.

        Of a Choice with more than MANY options, MANY of them, evenly spread.
        """
        rows = []
        for i, spec in enumerate(self._specs):
            if isinstance(spec, Float):
                continue
            value = spec.from_unit(float(unit[i]))
            if isinstance(spec, Choice):
                others = _others(spec, value)
            else:
                others = [v for v in (value - 1, value + 1) if spec.low <= v <= spec.high]
            for other in others:
                row = unit.copy()
                row[i] = spec.to_unit(other)
                rows.append(row)
        return np.array(rows).reshape(-1, self.dim)


def _columns(spec: Input) -> int:
    return min(spec.size, MANY) if isinstance(spec, Choice) else 1


def _others(spec: Choice, value: Any) -> list[Any]:
    """The options beside `value`, in their order; of more than MANY, at even steps from it."""
    here = math.floor(spec.to_unit(value) * spec.size)
    if spec.size <= MANY:
        return [option for i, option in enumerate(spec.options) if i != here]
    steps = (1 + i * (spec.size - 1) // MANY for i in range(MANY))
    return [spec.options[(here + step) % spec.size] for step in steps]


@lru_cache(maxsize=8)
def _signs(options: int) -> np.ndarray:
    """(options, MANY) a row of random signs for each option, always the same, of squared length 1/2."""
    signs = np.random.default_rng(0).integers(2, size=(options, MANY)) * 2.0 - 1.0
    return signs / math.sqrt(2.0 * MANY)
