"""Docstrings for the reference: aligned names and meanings become lists, as Markdown would run them together."""

import re
from typing import Any

import griffe

FIRST = re.compile(r"^(\w+)(?: {2,}| {2})(\S.*)$")


def as_list(paragraph: str) -> str:
    """A paragraph of `name  meaning` lines, the meanings continued by indented lines, as a list; others as they are."""
    lines = paragraph.split("\n")
    if not FIRST.match(lines[0]) or not all(FIRST.match(line) or line.startswith("   ") for line in lines):
        return paragraph
    out = []
    for line in lines:
        found = FIRST.match(line)
        out.append(f"- `{found[1]}`: {found[2]}" if found else f"    {line.strip()}")
    return "\n".join(out)


class ArgumentLists(griffe.Extension):
    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = "\n\n".join(as_list(p) for p in obj.docstring.value.split("\n\n"))
