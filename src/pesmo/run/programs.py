"""External programs as functions of the inputs: `Program(["./solve", "--x", "{x}"])({"x": 0.5})`.

A program gets its inputs three ways, to take whichever suits it:

    {name} in its arguments     JSON object on standard input     PESMO_NAME in its environment

and gives its result as the last JSON object on standard output. There is no shell: a value stays one argument
whatever it contains. Standard streams are files, so a program that prints gigabytes or leaves a child behind that
holds the stream open does not stop the study. A guard (guard.py) sees to it that none outlives its run.
"""

import errno
import json
import math
import os
import re
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from pesmo.errors import CannotStart, ProgramError
from pesmo.run.guarded import execute

RESULT_TAIL = 1_000_000  # bytes of standard output searched for the result
STDERR_TAIL = 2_000  # bytes of standard error kept with a failed trial
PYTHON = "python"  # {python}: the interpreter that runs pesmo, wherever that is

_BRACES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


@dataclass(frozen=True)
class Program:
    """A command as a function of the inputs.

    command    the program and its arguments, with {placeholders}
    reveals    the objectives its result must have; anything else in the result but "cost" is left out
    timeout    seconds after which it is ended, with all it started
    directory  where it runs; None: where pesmo runs
    """

    command: tuple[str, ...]
    reveals: tuple[str, ...] = ()
    timeout: float | None = None
    experiment: str = ""
    directory: str | None = None

    def __call__(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The result for these inputs, or a ProgramError that says why there is none."""
        arguments = [fill(argument, inputs) for argument in self.command]
        environment = {**os.environ, **variables(inputs, self.experiment)}
        with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            stdin.write(json.dumps(dict(inputs)).encode())
            stdin.seek(0)
            try:
                code = self._execute(arguments, environment, (stdin, stdout, stderr))
                if code != 0:
                    raise ProgramError(_how_it_ended(code))
                return self._result(_tail(stdout, RESULT_TAIL))
            except CannotStart:
                raise
            except ProgramError as error:
                said = _tail(stderr, STDERR_TAIL).strip()
                ending = f"; its stderr ends with:\n{said}" if said else "; it wrote nothing to stderr"
                raise ProgramError(f"{error}{ending}") from None

    def _execute(
        self, arguments: list[str], environment: dict[str, str], streams: tuple[IO[bytes], IO[bytes], IO[bytes]]
    ) -> int:
        """The exit code. However this call ends, nothing of the program's process group is left."""
        try:
            return execute(arguments, environment, streams, self.directory, self.timeout)
        except TimeoutError:
            raise ProgramError(f"ended after its time-out of {self.timeout:g} s") from None
        except (OSError, ValueError) as error:  # no such program, not executable, a NUL in an argument, ...
            where = self.directory or os.getcwd()
            raise self._kind(error)(f"cannot start {arguments[0]!r} in {where}: {error}") from None

    def _kind(self, error: OSError | ValueError) -> type[ProgramError]:
        """CannotStart where no other point would fare better: it is not these inputs that the system refuses."""
        by_point = isinstance(error, ValueError) or error.errno == errno.E2BIG or program_of(self.command) is None
        return ProgramError if by_point else CannotStart

    def _result(self, output: str) -> dict[str, Any]:
        found = last_object(output)
        if found is None:
            said = output.strip()[-200:]
            raise ProgramError(
                "no JSON object on standard output; print one such as "
                f"{json.dumps(dict.fromkeys(self.reveals or ('error',), 0.5))} at the end"
                + (f", not {said!r}" if said else "")
            )
        missing = [name for name in self.reveals if name not in found]
        if missing:
            raise ProgramError(f"the result {_brief(found)} lacks {missing}; expected {list(self.reveals)}")
        for name in self.reveals:
            if not _is_number(found[name]):
                raise ProgramError(f"the result has {name!r} = {_brief(found[name])}, which is not a finite number")
        wanted = (*self.reveals, "cost") if self.reveals else tuple(found)
        return {name: found[name] for name in wanted if name in found}


def placeholders(argument: str) -> list[str]:
    """The names in braces. {{ and }} are literal braces; a single one is a ProgramError."""
    names = []
    for match in _BRACES.finditer(argument):
        if match[0] in ("{", "}"):
            raise ProgramError(f"a single {match[0]} in {argument!r}; write {match[0] * 2} for a literal brace")
        if match[1] is not None:
            names.append(match[1])
    return names


def fill(argument: str, inputs: Mapping[str, Any]) -> str:
    """An argument with its placeholders replaced by values; what a value contains is not looked at again."""
    values = {PYTHON: sys.executable, **inputs}
    for name in placeholders(argument):
        if name not in values:
            raise ProgramError(f"{{{name}}} in {argument!r} is no input; there are {sorted(values)}")
    return _BRACES.sub(lambda match: match[0][0] if match[1] is None else text(values[match[1]]), argument)


def text(value: Any) -> str:
    """A value as one argument or variable: true and false in lower case, every digit of a number."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def variable(name: str) -> str:
    """The environment variable of an input: PESMO_ and the name in capitals, other characters as _."""
    return "PESMO_" + re.sub(r"[^A-Z0-9]", "_", name.upper())


def variables(inputs: Mapping[str, Any], experiment: str) -> dict[str, str]:
    """The environment of a program: its experiment and every input."""
    return {"PESMO_EXPERIMENT": experiment, **{variable(name): text(value) for name, value in inputs.items()}}


def last_object(output: str) -> dict[str, Any] | None:
    """The last JSON object in a program's output, on one line or over several, with anything around it."""
    decoder, found, position = json.JSONDecoder(), None, output.find("{")
    while position >= 0:
        try:
            found, position = decoder.raw_decode(output, position)
        except (ValueError, RecursionError):  # a brace in a log line
            position += 1
        position = output.find("{", position)
    return found


def _how_it_ended(code: int) -> str:
    names = {number.value: number.name for number in signal.Signals}
    return f"exit code {code}" if code > 0 else f"ended by {names.get(-code, f'signal {-code}')}"


def _tail(stream: IO[bytes], size: int) -> str:
    end = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, end - size))
    return stream.read().decode(errors="replace")


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond any float
        return False


def _brief(value: Any, most: int = 200) -> str:
    written = json.dumps(value)
    return written if len(written) <= most else written[:most] + "…"


def program_of(command: Sequence[str]) -> str | None:
    """The program a command starts, where it does not depend on the inputs."""
    names = placeholders(command[0])
    return None if set(names) - {PYTHON} else fill(command[0], {})
