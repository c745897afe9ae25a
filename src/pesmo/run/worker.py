"""A worker process: evaluates what its parent sends, one call at a time, and ends when the parent does."""

import os
import pickle
import signal
import threading
import time
from multiprocessing.connection import Connection
from queue import SimpleQueue

GRACE = 5.0  # seconds between the wish that a worker ends and its end


class Ended(BaseException):
    """The parent wants this process to end: an evaluation cleans up after itself on the way out."""


def main(descriptor: int) -> None:
    """Serve the parent at the other end of a socket. Never returns."""
    signal.signal(signal.SIGTERM, _on_sigterm)
    parent = Connection(descriptor)
    calls: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(parent, calls), daemon=True).start()
    try:
        while True:
            parent.send_bytes(_evaluate(calls.get()))
    except Ended:
        os._exit(1)


def _receive(parent: Connection, calls: "SimpleQueue[bytes]") -> None:
    """A thread of its own, so that the parent's death ends an evaluation that nobody waits for any more."""
    try:
        while True:
            calls.put(parent.recv_bytes())
    except (EOFError, OSError):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE)
        os._exit(1)


def _on_sigterm(_number: int, _frame: object) -> None:
    raise Ended


def _evaluate(call: bytes) -> bytes:
    """(True, result) or (False, what went wrong), pickled."""
    import cloudpickle

    try:
        function, arguments = pickle.loads(call)
        return cloudpickle.dumps((True, function(*arguments)))
    except Ended:
        raise
    except BaseException as error:
        return pickle.dumps((False, f"{type(error).__name__}: {error}"))
