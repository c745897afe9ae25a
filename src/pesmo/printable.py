"""Text that others wrote, made fit for a terminal.

What a program wrote to its standard error, a name in a file, a cell of a table is data: shown, it must not move the
cursor, clear the screen, set the window's title or turn the line around. What is stored keeps the text as it was.
"""

import unicodedata

KEPT = "\n\t"
ESCAPED = ("Cc", "Cs", "Zl", "Zp")  # control characters, halves of surrogate pairs (bytes that are no text), separators
BIDIRECTIONAL = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable(text: str) -> str:
    """The text with what would control a terminal as escapes, such as \\x1b; CR LF is a line end like LF."""
    return "".join(c if _is_plain(c) else _escape(c) for c in text.replace("\r\n", "\n"))


def excerpt(message: str, lines: int = 10) -> str:
    """The first line of a message and its last ones: what went wrong, and what the program said last."""
    first, *rest = message.strip().splitlines() or [""]
    left_out = ["…"] if len(rest) > lines else []
    return printable("\n".join([first, *left_out, *rest[max(0, len(rest) - lines) :]]))


def _is_plain(character: str) -> bool:
    return character in KEPT or (unicodedata.category(character) not in ESCAPED and character not in BIDIRECTIONAL)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
