"""What is wrong with a study file, as sentences: where, what, and what is allowed there."""

import difflib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_core import ErrorDetails

from pesmo.cli.locate import key_lines, line_of
from pesmo.cli.schema import INPUT_TABLES, TABLES, StudyFileTable, Table
from pesmo.errors import DefinitionError, brief

MOST = 8  # complaints shown at once: one screen

KINDS = {
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "string_type": "must be a string",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "greater_than": "must be above 0",
    "greater_than_equal": "must be 0 or more",
    "less_than_equal": "is too large",
    "string_too_short": "must not be empty",
    "too_short": "has too few entries",
    "dict_type": "must be tables",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
    "literal_error": "must be one of these",
}


class StudyFileError(DefinitionError):
    """A study file that cannot be used; the message has a line per problem."""


@dataclass(frozen=True)
class Complaint:
    """One problem: at a key, such as ("inputs", "lr", "low")."""

    key: tuple[str, ...]
    what: str


def study_file_error(path: Path, source: str, document: dict[str, Any], complaints: Iterable[Complaint]) -> Exception:
    """All complaints about one file as one error, in the order of the lines."""
    lines = key_lines(source, document)
    placed = [(line_of(lines, c.key), c) for c in complaints]
    placed.sort(key=lambda pair: pair[0] or 0)
    rows = [
        f"  {f'line {line}, ' if line else ''}{_cut('.'.join(c.key)) or 'the file'}: {c.what}"
        for line, c in placed[:MOST]
    ]
    if len(placed) > MOST:
        rows.append(f"  … and {len(placed) - MOST} more")
    count = "a problem" if len(placed) == 1 else f"{len(placed)} problems"
    return StudyFileError("\n".join([f"{path} has {count}:", *rows]))


def complaint_of(error: ErrorDetails, document: dict[str, Any]) -> Complaint:
    """One of pydantic's errors in our words."""
    location = [str(part) for part in error["loc"]]
    if location[:1] == ["inputs"] and len(location) > 2:
        del location[2]  # pydantic names the type of input here
    key, kind, value = tuple(location), error["type"], error["input"]
    allowed = _allowed(key, document)
    if kind == "extra_forbidden":
        return Complaint(key, _unknown(key, document))
    if kind == "missing":
        return Complaint(key, f"is missing; give {allowed}")
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        wrong = f"not {_shown(value.get('type'))}" if kind == "union_tag_invalid" else "and is missing"
        return Complaint((*key, "type"), f"must be 'float', 'int' or 'choice', {wrong}")
    if kind == "value_error":
        return Complaint(key, error["msg"].removeprefix("Value error, "))
    if kind == "float_type" and isinstance(value, int) and not isinstance(value, bool):
        kind = "finite_number"  # so many digits that no float holds it
    what = KINDS.get(kind, error["msg"])
    found = "" if key[-1] == "storage" else f", not {_shown(value)}"  # it may hold a password
    return Complaint(key, f"{what}{found}" + (f"; allowed: {allowed}" if allowed else ""))


def _table_of(key: tuple[str, ...], document: dict[str, Any]) -> type[Table] | None:
    """The model of the table whose setting a key names."""
    match key:
        case (_,):
            return StudyFileTable
        case ("study", _):
            return TABLES["study"]
        case ("inputs", name, _):
            return INPUT_TABLES.get(document["inputs"][name].get("type"))
        case (section, _, _):
            return TABLES.get(section)
    return None


def _allowed(key: tuple[str, ...], document: dict[str, Any]) -> str:
    """What the setting at a key may be (for an entry of a list: what the list may be)."""
    if len(key) == 2 and key[0] == "inputs":
        return f"[inputs.{key[1]}] with type and low, high or choices"
    for setting in (key, key[:-1]):
        table = _table_of(setting, document)
        if table is not None and setting[-1] in table.model_fields:
            return table.model_fields[setting[-1]].description or ""
    return ""


def _unknown(key: tuple[str, ...], document: dict[str, Any]) -> str:
    table = _table_of(key, document)
    names = list(table.model_fields) if table else []
    close = difflib.get_close_matches(key[-1], names, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"there is no such setting; {hint}allowed: {', '.join(names)}"


def _shown(value: Any) -> str:
    """A value as one would write it in the file."""
    try:
        return _cut(json.dumps(value, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):  # a date, for one
        return _cut(brief(value))


def _cut(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[:most] + "…"
