"""Two executors of our own: in this thread, and on local worker processes that may die or hang without harm.

Python's ProcessPoolExecutor breaks as a whole when one of its processes dies, cannot stop a call that takes too long,
and runs the user's script again in every process. Ours starts plain `python` processes and sends the functions there.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

from pesmo.run.worker import GRACE

START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); from pesmo.run.worker import main; main(int(sys.argv[1]))"
)


class EvaluationFailed(Exception):
    """An evaluation on another process went wrong; the message is what the trial's message shall be."""


class Inline(Executor):
    """Calls at once, in the calling thread. Ctrl-C reaches the function, and then the caller."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # whatever the user's function does is the trial's outcome
            future.set_exception(error)
        return future


class Processes(Executor):
    """`workers` local processes; a call that takes longer than `timeout` seconds is stopped with its process."""

    def __init__(self, workers: int, timeout: float | None = None) -> None:
        self._timeout = timeout
        self._calls: SimpleQueue[tuple[Future[Any], bytes] | None] = SimpleQueue()
        self._workers: set[_Worker] = set()
        self._stopping = False
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(workers)]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        import cloudpickle

        future: Future[Any] = Future()
        self._calls.put((future, cloudpickle.dumps((fn, args))))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes; with `cancel_futures` also those in the middle of a call."""
        self._stopping = cancel_futures
        for _ in self._threads:
            self._calls.put(None)
        if cancel_futures:
            for worker in list(self._workers):
                worker.terminate()
            for worker in list(self._workers):
                worker.kill()
        if wait:
            for thread in self._threads:
                thread.join()

    def _serve(self) -> None:
        """One thread per process: starts it, sends it calls, and replaces it when it is gone."""
        worker = None
        with suppress(OSError):  # too many processes, say: then the first call says so
            worker = self._new()
        while (item := self._calls.get()) is not None:
            future, call = item
            if self._stopping or not future.set_running_or_notify_cancel():
                future.cancel()
                continue
            try:
                if worker is None or worker.is_gone:
                    self._drop(worker)
                    worker = None
                    worker = self._new()
                future.set_result(worker.call(call, self._timeout))
            except Exception as error:
                future.set_exception(error)
        self._drop(worker)

    def _drop(self, worker: "_Worker | None") -> None:
        if worker is None:
            return
        self._workers.discard(worker)
        worker.kill()
        worker.connection.close()

    def _new(self) -> "_Worker":
        worker = _Worker()
        self._workers.add(worker)
        return worker


class _Worker:
    """One process and the socket to it."""

    def __init__(self) -> None:
        self._reaped = False
        ours, theirs = socket.socketpair()
        self.connection = Connection(ours.detach())
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", START, str(theirs.fileno()), json.dumps(sys.path)],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is for the parent to handle; and kill() takes the children along
            )

    @property
    def is_gone(self) -> bool:
        return self._process.poll() is not None

    def call(self, call: bytes, timeout: float | None) -> Any:
        import pickle

        try:
            self.connection.send_bytes(call)
            if not self.connection.poll(timeout):
                self.kill()
                raise EvaluationFailed(f"timeout: it took longer than {timeout:g} s and was stopped")
            succeeded, result = pickle.loads(self.connection.recv_bytes())
        except (EOFError, OSError) as error:
            self.kill()
            raise EvaluationFailed(f"the worker process died: {_end(self._process.returncode)}") from error
        if not succeeded:
            raise EvaluationFailed(result)
        return result

    def terminate(self) -> None:
        """Ask it to end: a function cleans up (an external program is ended) on the way out."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the process and all that it started. Its own thread then finds the socket closed."""
        self.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)
        self._signal(signal.SIGKILL)
        self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        if not self._reaped:
            self._reaped = self._process.poll() is not None  # its children may still be there: once more to the group
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)


def _end(code: int) -> str:
    """How a process ended, in words."""
    return f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"
