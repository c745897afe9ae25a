"""The command line as `pesmo` starts it, in this process: its real entry point, with streams of our own."""

import io
import os
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pesmo.cli.app import main
from pesmo.run.interrupts import ENDING


@dataclass(frozen=True)
class Ended:
    """How a command ended and what it said."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        return self.stdout + self.stderr


class Broken(io.RawIOBase):
    """A standard output that takes nothing."""

    def __init__(self, number: int) -> None:
        self.number: int | None = number  # of the error
        self._file = os.open(os.devnull, os.O_WRONLY)

    def fileno(self) -> int:
        return self._file

    def close(self) -> None:
        if not self.closed:
            os.close(self._file)
        super().close()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if self.number is not None:
            raise OSError(self.number, os.strerror(self.number))
        return len(data)


def call(words: Sequence[str], stdin: str | bytes = b"", broken: int | None = None, encoding: str = "utf-8") -> Ended:
    """Run `pesmo WORDS`; an exception that leaves it leaves this too. broken: the error of every write to stdout."""
    raw = None if broken is None else Broken(broken)
    out, err = io.BytesIO() if raw is None else io.BufferedWriter(raw), io.BytesIO()
    kept = sys.argv, sys.stdin, sys.stdout, sys.stderr, threading.excepthook
    handlers = {number: signal.getsignal(number) for number in ENDING}  # a command leaves them ignored: it ends
    sys.argv = ["pesmo", *words]
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode() if isinstance(stdin, str) else stdin), encoding="utf-8")
    streams = sys.stdout, sys.stderr = (
        io.TextIOWrapper(out, encoding=encoding),
        io.TextIOWrapper(err, encoding=encoding, errors="backslashreplace"),
    )
    try:
        code = main()
        sys.stderr.flush()
    finally:
        sys.argv, sys.stdin, sys.stdout, sys.stderr, threading.excepthook = kept
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if raw is not None:
            raw.number = None
        for stream in streams:
            stream.detach()  # its buffer is ours
    written = out.getvalue() if isinstance(out, io.BytesIO) else b""
    read = "utf-8" if encoding == "ascii" else encoding  # typer takes an ASCII terminal for a misconfigured one
    return Ended(code, written.decode(read), err.getvalue().decode(read))
