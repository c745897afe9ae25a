"""Where in a TOML file a key stands: tomllib parses well but forgets the lines."""

import re
import tomllib
from typing import Any

Path = tuple[str, ...]

DEPTH = 4  # no setting has more parts: [inputs.NAME] low, and an entry of a list

_HEADER = re.compile(r"^\s*(\[.*\])\s*(#.*)?$")
_KEY = re.compile(r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")


def line_of(lines: dict[Path, int], path: Path) -> int | None:
    """The line (from 1) of the deepest part of `path` that the file has; None where it has none of it."""
    while path:
        if path in lines:
            return lines[path]
        path = path[:-1]
    return None


def key_lines(source: str, document: dict[str, Any]) -> dict[Path, int]:
    """{path: line} of every table header and key, down to DEPTH parts. A line inside a long string that looks like a
    key is left out unless the document has such a key."""
    lines: dict[Path, int] = {}
    table: Path = ()
    for number, line in enumerate(source.splitlines(), start=1):
        if header := _HEADER.match(line):
            named = _names(header[1])
            if named is None:
                continue
            table = path = named
        elif key := _KEY.match(line):
            named = _names(f"{key[1]} = 0")
            if named is None:
                continue
            path = table + named
        else:
            continue
        if _has(document, path):
            for depth in range(1, min(len(path), DEPTH) + 1):
                lines.setdefault(path[:depth], number)
    return lines


def _names(statement: str) -> Path | None:
    """The path one TOML statement sets."""
    try:
        node: Any = tomllib.loads(statement)
    except tomllib.TOMLDecodeError:  # not a header nor a key after all
        return None
    path = []
    while isinstance(node, dict) and len(node) == 1:
        name, node = next(iter(node.items()))
        path.append(name)
    return tuple(path)


def _has(document: Any, path: Path) -> bool:
    for name in path:
        if not isinstance(document, dict) or name not in document:
            return False
        document = document[name]
    return True
