"""Every error pesmo raises on purpose. Each message says what is wrong, where, and what to do."""

from typing import Any

MOST_SHOWN = 200  # characters of a value in a message: the message stays one screen


def brief(value: Any) -> str:
    """A value as messages show it: its repr, cut where it is long. Python refuses the digits of very long integers."""
    try:
        written = repr(value)
    except (ValueError, RecursionError):
        return f"a value of type {type(value).__name__} that is too large to be shown"
    return written if len(written) <= MOST_SHOWN else f"{written[:MOST_SHOWN]}…"


class PesmoError(Exception):
    """The root: catch this to catch everything pesmo raises on purpose."""


class SpaceError(PesmoError, ValueError):
    """An input, a space or a point in it is not valid."""


class DefinitionError(PesmoError, ValueError):
    """The objectives, experiments or settings of a study do not fit together."""


class ResultError(PesmoError, ValueError):
    """A reported result is not valid (not a finite number, a wrong name, a missing value)."""


class ProgramError(PesmoError, RuntimeError):
    """An external program gave no usable result: it failed, took too long, or printed something else."""


class CannotStart(ProgramError):
    """A program, or a process to evaluate in, cannot be started at all: it is not there, or the system refuses it."""


class RunError(PesmoError, RuntimeError):
    """A run ended before its limit: what evaluates cannot be started, or failed too many times in a row."""


class TrialError(PesmoError, ValueError):
    """A trial is unknown, or is not in a state that allows what was asked of it."""


class StorageError(PesmoError, OSError):
    """The database cannot be reached, read or written; nothing that was committed is lost."""


class Finished(PesmoError):
    """The method has nothing left to ask: what it looks for is found, to its own accuracy. A run ends normally."""


class NumericalFailure(PesmoError, ArithmeticError):
    """No rung of the jitter ladder held. Never reaches a user: `Study.ask` turns it into a named fallback."""
