"""How a command ends: whatever it meets becomes one screen and a documented exit code (docs/command-line.md).

This is the only place that does so. What pesmo raises on purpose says itself what is wrong. What nobody expected is
written with its traceback to a log file, and the screen says where that is.
"""

import errno
import os
import platform
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO

import typer

from pesmo import __version__
from pesmo.errors import PesmoError
from pesmo.printable import printable
from pesmo.redact import redacted

UsageError: Any = typer.BadParameter.__base__  # typer has a click of its own, or the one that is installed
FAULT, WRONG, STOPPED, PIPE_CLOSED = 1, 2, 130, 141
MOST_CHARACTERS, MOST_LINES = 4000, 30  # of a message: one screen
OUTPUT = {
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EIO,
    errno.EBADF,
}  # a write that names no file: standard output


def ended(command: Callable[[], int | None]) -> int:
    """The exit code of a command, which gives none where it worked, and may raise anything."""
    _open_streams()
    threading.excepthook = _in_a_thread
    try:
        code = _code_of(command)
        sys.stdout.flush()  # here, not after the last line of ours, where nobody could say what went wrong
    except BaseException as error:
        code = _explained(error)
    _drop_what_is_left(sys.stdout)
    _drop_what_is_left(sys.stderr)
    return code


def _code_of(command: Callable[[], int | None]) -> int:
    try:
        return command() or 0
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # typer and rich end with 1 there
            raise end.__context__ from None
        raise


def _explained(error: BaseException) -> int:
    """Say what an error means; the exit code that stands for it."""
    match error:
        case KeyboardInterrupt():
            return STOPPED
        case BrokenPipeError():  # whoever read the output has enough: nothing to say, as every program of a pipeline
            return PIPE_CLOSED
        case PesmoError():
            said = str(error)
        case UsageError():
            said = error.format_message()  # nothing, where the help was shown instead
            said = f"{said}\n{error.ctx.get_usage()}" if said and error.ctx else said
        case OSError(filename=str() | bytes() as name, strerror=str(reason)):
            said = f"cannot use {os.fsdecode(name)!r}: {reason}; check that it is there and who may use it"
        case OSError(strerror=str(reason)) if error.errno in OUTPUT:
            said = f"cannot write the output: {reason}; free some space there, or write it elsewhere"
        case _:
            return _unexpected(error)
    if said:
        say(f"error: {said}")
    return WRONG


def _unexpected(error: BaseException) -> int:
    what = _last_line(error)
    try:
        said = f"The details are in {_write_log(error)}; please report it with that file."
    except (OSError, MemoryError) as refused:
        said = (
            f"The details could not be kept ({refused}); set TMPDIR to a folder that can be written to, and try again."
        )
    say(f"error: pesmo met what it did not expect: {what}\nWhat was told before is safe. {said}")
    return FAULT


def _last_line(error: BaseException) -> str:
    return traceback.format_exception_only(error)[-1].strip()


def _write_log(error: BaseException) -> str:
    """The path of a new file, readable by its owner alone, that holds the traceback."""
    began = time.strftime("%Y%m%d-%H%M%S")
    number, path = tempfile.mkstemp(prefix=f"pesmo-error-{began}-", suffix=".log")
    about = f"pesmo {__version__}, Python {platform.python_version()}, {platform.platform()}\n\n"
    text = about + "".join(traceback.format_exception(error))
    with open(number, "w", encoding="utf-8", errors="backslashreplace") as log:
        log.write(redacted(text))
    return path


def say(message: str) -> None:
    """A message on standard error: at most a screen, no secrets, nothing that a terminal would obey."""
    lines = printable(redacted(message)[:MOST_CHARACTERS]).split("\n")
    shown = "\n".join(lines[:MOST_LINES])
    cut = len(message) > MOST_CHARACTERS or len(lines) > MOST_LINES
    with suppress(OSError, ValueError):  # a closed or full standard error: there is nowhere left to say it
        print(f"{shown} …" if cut else shown, file=sys.stderr, flush=True)


def _in_a_thread(fault: threading.ExceptHookArgs) -> None:
    """A thread beside the command ended by an error; the command goes on, and meets a broken output itself."""
    error = fault.exc_value
    broken = isinstance(error, OSError) and error.errno in {*OUTPUT, errno.EPIPE}
    if error is not None and not broken and not isinstance(error, SystemExit):
        _unexpected(error)


def _open_streams() -> None:
    """Standard streams that can be used, whatever their encoding and whoever closed them."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed: this one refuses to be written to
            setattr(sys, name, open(os.open(os.devnull, os.O_RDONLY), mode, encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):  # another program's stand-in for a stream
            stream.reconfigure(errors="backslashreplace")  # pyright: ignore[reportAttributeAccessIssue]


def _drop_what_is_left(stream: TextIO) -> None:
    """What could not be written is not tried again when Python ends: it would end with a code of its own."""
    with suppress(OSError, ValueError):
        stream.flush()
        return
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
