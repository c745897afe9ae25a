"""A worker process: evaluates what its parent sends, one call at a time, and ends when the parent does."""

import os
import pickle
import signal
import threading
import time
from multiprocessing.connection import Connection
from queue import SimpleQueue

import cloudpickle

from pesmo.errors import CannotStart
from pesmo.run import guard, guarded

GRACE = guard.GRACE + 2.0  # seconds between the order that a worker ends and its end: its program goes first
RESULT, FAILED, CANNOT_START = "result", "failed", "cannot start"  # what an answer is


class Ended(BaseException):
    """The parent wants this process to end: an evaluation cleans up after itself on the way out."""


def main(descriptor: int) -> None:
    """Serve the parent at the other end of a socket. Never returns."""
    signal.signal(signal.SIGTERM, _on_sigterm)
    guarded.held_open.add(descriptor)  # so the parent sees when the last program is gone, however this process ends
    parent = Connection(descriptor)
    calls: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(parent, calls), daemon=True).start()
    try:
        while True:
            parent.send_bytes(_evaluate(calls.get()))
    except Ended:
        os.killpg(0, signal.SIGKILL)  # and what the function has left behind


def _receive(parent: Connection, calls: "SimpleQueue[bytes]") -> None:
    """A thread of its own, so that the parent's death ends an evaluation that nobody waits for any more."""
    try:
        while True:
            calls.put(parent.recv_bytes())
    except (EOFError, OSError):
        os.killpg(0, signal.SIGTERM)  # this process and whatever the function has started
        time.sleep(GRACE)
        os.killpg(0, signal.SIGKILL)


def _on_sigterm(_number: int, _frame: object) -> None:
    raise Ended


def _evaluate(call: bytes) -> bytes:
    """(what it is, the result or what went wrong), pickled."""
    try:
        function, arguments = pickle.loads(call)
        return cloudpickle.dumps((RESULT, function(*arguments)))
    except Ended:
        raise
    except CannotStart as error:
        return pickle.dumps((CANNOT_START, str(error)))
    except BaseException as error:
        return pickle.dumps((FAILED, f"{type(error).__name__}: {error}"))
