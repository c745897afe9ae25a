"""A study's points and values as headings and cells of a CSV, and back to the last bit (docs/command-line.md).

Numbers are written with every digit. Texts are written as they are, with two exceptions. One that would not come back
from a spreadsheet or an editor, or that could be mistaken for another, is written as a JSON string. And one that begins
as a formula does gets an apostrophe before it, so that no spreadsheet runs it.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pesmo.errors import ResultError, brief
from pesmo.run.programs import text
from pesmo.space import Choice, Input, Int

KINDS = ("input.", "objective.", "trial.")
FORMULA = tuple("=+-@\t\r\n'")  # ' itself, so that what begins with one comes back too
FRAGILE = re.compile(  # empty, a quotation mark first, blanks at an end, a control character, half a surrogate pair
    r'^$|^"|^\s|\s$|[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]'
)


def written(value: Any) -> str:
    """A cell: nothing for None, every digit of a number, a text that no spreadsheet takes for a formula."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return text(value)
    return f"'{value}" if value.startswith(FORMULA) else value


def headings(inputs: Sequence[str], objectives: Sequence[str]) -> tuple[list[str], list[str]]:
    """The columns of the inputs and of the objectives: their names, with the kind before those that could be both."""
    both = set(inputs) & set(objectives)

    def heading(kind: str, name: str) -> str:
        return f"{kind}{name}" if name in both or name.startswith(KINDS) else name

    return [heading("input.", name) for name in inputs], [heading("objective.", name) for name in objectives]


def quoted(name: str) -> str:
    """A text as it is, or as a JSON string where it would not come back."""
    return json.dumps(name) if FRAGILE.search(name) else name


def option_cell(spec: Input, value: Any) -> Any:
    """The cell of an input's value: a number, or a text."""
    if not isinstance(spec, Choice) or not isinstance(value, str):
        return value
    taken = any(text(option) == value for option in spec.options if not isinstance(option, str))
    return json.dumps(value) if taken else quoted(value)


def input_cells(inputs: Mapping[str, Input], point: Mapping[str, Any]) -> list[Any]:
    return [option_cell(spec, point[name]) for name, spec in inputs.items()]


def read_names(header: Sequence[str], names: Iterable[str]) -> dict[str, int]:
    """{name: index of its column} of those of `names` that a header has, written by us or by hand."""
    known = _known((written(quoted(name)), name, name) for name in names)
    found: dict[str, int] = {}
    for index, cell in enumerate(header):
        name = _value(known, cell)
        if name in found:
            raise ResultError(f"the column {brief(cell)} appears twice")
        if name is not None:
            found[name] = index
    return found


def reader(name: str, spec: Input) -> Callable[[str], Any]:
    """What gives the value of an input's cell; a text that is no option stays one, for the space to refuse."""
    if isinstance(spec, Choice):
        known = _known((written(option_cell(spec, option)), text(option), option) for option in spec.options)
        return lambda cell: cell if (value := _value(known, cell)) is None else value
    return lambda cell: _whole(name, cell) if isinstance(spec, Int) else read_number(name, cell)


def _whole(name: str, cell: str) -> int | float:
    try:
        return int(cell)  # every digit: a float has no more than 53 bits
    except ValueError:
        return read_number(name, cell)  # 3.0 and 1e3 are whole numbers too


def read_number(name: str, cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise ResultError(f"{brief(name)} must be a number, not {brief(cell)}") from None


def _known(forms: Iterable[tuple[str, str, Any]]) -> dict[str, Any]:
    """{cell: value} of (as we write it, as people do, value), where ours goes first."""
    listed = list(forms)
    known = {ours: value for ours, _, value in listed}
    for _, plain, value in listed:
        known.setdefault(plain, value)
    return known


def _value(known: Mapping[str, Any], cell: str) -> Any:
    """What a cell stands for; blanks around it are nobody's. None where it is unknown."""
    return known.get(cell, known.get(cell.strip()))
