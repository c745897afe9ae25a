"""Two executors of our own: in this thread, and on local worker processes that may die or hang without harm.

Python's ProcessPoolExecutor breaks as a whole when one of its processes dies, cannot stop a call that takes too long,
and runs the user's script again in every process. Ours starts plain `python` processes and sends the functions there.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from pesmo.errors import CannotStart
from pesmo.run import guard, guarded
from pesmo.run.interrupts import uninterrupted
from pesmo.run.worker import CANNOT_START, GRACE, RESULT

# Isolated, with the standard library alone on its path: a json.py of the working directory is not what it imports. What
# a worker is made of comes next; only then this process' path, where the user's functions are.
START = (
    "import sys, json; needed, path = json.loads(sys.argv[2]); sys.path += needed; from pesmo.run.worker import main; "
    "import site; site.main(); sys.path[:] = path; main(int(sys.argv[1]))"
)
LOOK = 1.0  # seconds between two looks whether a worker that evaluates is still there


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

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        guarded.dismiss()


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
        """End the processes; with `cancel_futures` also those in the middle of a call. A second Ctrl-C must wait."""
        with uninterrupted():
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
        with suppress(CannotStart):  # too many processes, say: then the first call says so
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
        try:
            worker = _Worker()
        except OSError as error:
            raise CannotStart(f"cannot start a worker process: {error}") from error
        self._workers.add(worker)
        if self._stopping:  # since before it was among those that are ended
            worker.kill()
        return worker


class _Worker:
    """One process and the socket to it."""

    def __init__(self) -> None:
        self._reaped = False
        self._ended = False
        self._ending = threading.Lock()
        ours, theirs = socket.socketpair()
        self.connection = Connection(ours.detach())
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", START, str(theirs.fileno()), json.dumps(_paths())],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is for the parent to handle; and kill() takes the children along
            )

    @property
    def is_gone(self) -> bool:
        """Found so, what it left behind is ended at that moment, while nobody else can have its number."""
        if not self._reaped and self._process.poll() is not None:
            self._signal(signal.SIGKILL)
            self._reaped = True
        return self._reaped

    def call(self, call: bytes, timeout: float | None) -> Any:
        import pickle

        try:
            self.connection.send_bytes(call)
            if not self._answers(timeout):
                self.kill()
                raise EvaluationFailed(f"timeout: it took longer than {timeout:g} s and was stopped")
            kind, result = pickle.loads(self.connection.recv_bytes())
        except (EOFError, OSError) as error:
            self.kill()
            raise EvaluationFailed(f"the worker process died: {_end(self._process.returncode)}") from error
        if kind == CANNOT_START:
            raise CannotStart(result)
        if kind != RESULT:
            raise EvaluationFailed(result)
        return result

    def _answers(self, timeout: float | None) -> bool:
        """Wait for an answer; False after `timeout` seconds. An EOFError where the worker is gone: its children may
        still hold the socket open."""
        began = time.monotonic()
        while (left := LOOK if timeout is None else timeout - (time.monotonic() - began)) > 0:
            if self.connection.poll(min(left, LOOK)):
                return True
            if self.is_gone and not self.connection.poll(0):
                raise EOFError
        return False

    def terminate(self) -> None:
        """Ask it to end: a function cleans up (an external program is ended) on the way out."""
        if not self.is_gone:
            self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the process and all that it started, and wait for that. Its own thread then finds the socket closed."""
        with self._ending:
            if self._ended:
                return
            self.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE)
            if not self._reaped:
                self._signal(signal.SIGKILL)
                self._reaped = True
            self._process.wait()
            self._wait_for_guards()
            self._ended = True

    def _wait_for_guards(self) -> None:
        """Every guard holds the other end of the socket: when that is closed, all its programs are gone."""
        hung_up = select.poll()
        hung_up.register(self.connection.fileno(), 0)
        hung_up.poll(1000 * (guard.GRACE + guard.PATIENCE))

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def _end(code: int) -> str:
    """How a process ended, in words."""
    return f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"


def _paths() -> tuple[list[str], list[str]]:
    """Where a worker's own modules are, and this process' path: the working directory, where it is meant by an empty
    entry, comes last, so that nothing there stands for a module of the standard library."""
    import cloudpickle

    needed = [str(Path(file).absolute().parents[depth]) for file, depth in ((__file__, 2), (cloudpickle.__file__, 1))]
    here = [os.getcwd()] if "" in sys.path else []
    return needed, [*[os.path.abspath(entry) for entry in sys.path if entry], *here]
