"""A process that runs programs for another one, and ends them, with all that they started, once that one is gone.

    python -I -S guard.py CONTROL [DESCRIPTOR…]

Only another process is still there when a worker is killed outright: this one. It has left the tree of the process it
works for, so that who kills that tree does not kill the guard before the program. CONTROL is a socket to that process.
A request is a length and a JSON list [directory, arguments, environment], with the program's standard streams as
descriptors beside the length; the guard answers `refused ERRNO`, or `started PID` and later `ended CODE`, a line each.
Once the other end is closed, or a signal asks for it, the guard ends the program and itself. The other descriptors are
only kept open, for those who wait until every guard is gone.

A program that ends by itself takes along what is left of its process group, at once: its result must not wait. One that
is ended gets SIGTERM and, after a grace time, SIGKILL, with everything that it started: on Linux also what left the
group, since the guard is where orphans go. On Linux the program itself is killed even where its guard is killed.
This file imports nothing of pesmo: a guard starts quickly.
"""

import json
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress

GRACE = 3.0  # seconds between SIGTERM and SIGKILL
PATIENCE = 10.0  # further seconds for what SIGKILL does not end at once: a process in the hands of a lost disk
POLL = 0.02  # seconds between two looks at what is left
LENGTH = 8  # bytes of the length of a request
ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name))
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h


class Guard:
    """The guard and the program it runs, one at a time."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._pid = 0
        self._code: int | None = None
        self._daemons: set[int] = set()  # what earlier programs have left behind on purpose, in sessions of its own
        self._prctl = _prctl()
        self._prctl(PR_SET_CHILD_SUBREAPER, 1)
        self._woken, wake = os.pipe()  # has a byte for every signal that came
        for end in (self._woken, wake):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake)
        for number in (signal.SIGCHLD, *ENDING):
            if number == signal.SIGCHLD or signal.getsignal(number) != signal.SIG_IGN:  # nohup: stays ignored
                signal.signal(number, lambda *_: None)

    def serve(self) -> None:
        """One request after another, until the other end is closed or a signal comes."""
        while self._waits() and (received := self._receive()):
            streams, request = received
            try:
                self._start(json.loads(request), streams)
            except OSError as error:
                self._say(f"refused {error.errno}")
                continue
            finally:
                for stream in streams:
                    os.close(stream)
            self._say(f"started {self._pid}")
            by_itself = self._watches()
            self._end(everything=not by_itself)
            self._say(f"ended {self._code}")
            if not by_itself:
                return
            self._daemons = descendants(os.getpid()) if self._reap() else set()

    def _receive(self) -> "tuple[list[int], bytes] | None":
        """The streams of a request and the rest of it; None at the end."""
        length, streams, _, _ = socket.recv_fds(self._control, LENGTH, 3)
        request = bytearray()
        while len(request) < int.from_bytes(length, "big"):
            part = self._control.recv(1 << 16)
            if not part:
                return None
            request += part
        return (streams, bytes(request)) if request else None

    def _start(self, request: "tuple[str, list[str], dict[str, str]]", streams: list[int]) -> None:
        """The program as a session, and so a process group, of its own; an OSError where it cannot be started."""
        directory, arguments, environment = request
        self._code, guard = None, os.getpid()
        read, write = os.pipe()  # closes when the program runs
        self._pid = os.fork()
        if self._pid == 0:
            try:
                os.setsid()
                self._prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
                if os.getppid() != guard:
                    os._exit(1)
                for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
                    signal.signal(number, signal.SIG_DFL)
                for target, stream in enumerate(streams):
                    os.dup2(stream, target)
                    os.close(stream)
                os.chdir(directory)
                os.execvpe(arguments[0], arguments, environment)
            except OSError as error:
                os.write(write, str(error.errno).encode())
            finally:
                os._exit(127)
        os.close(write)
        refused = os.read(read, 16)
        os.close(read)
        if refused:
            os.waitpid(self._pid, 0)
            raise OSError(int(refused), os.strerror(int(refused)))

    def _waits(self) -> bool:
        """Wait for a request; False where a signal comes instead."""
        while True:
            ready, _, _ = select.select([self._control, self._woken], [], [])
            if self._came() & set(ENDING):
                return False
            if self._control in ready:
                return True
            self._reap()

    def _watches(self) -> bool:
        """Wait until the program has ended by itself: True; or is to be ended: False."""
        while self._code is None:
            ready, _, _ = select.select([self._control, self._woken], [], [])
            if self._control in ready or self._came() & set(ENDING):
                return False
            self._reap()
        return True

    def _end(self, everything: bool) -> None:
        """End what is left of the program's group; `everything`: the program, and whatever else descends from it."""
        began, grace = time.monotonic(), GRACE if everything else 0.0
        if everything:
            self._signal(signal.SIGTERM, everything)
        while self._is_left(everything) and (waited := time.monotonic() - began) < grace + PATIENCE:
            if waited >= grace:
                self._signal(signal.SIGKILL, everything)
            select.select([self._woken], [], [], POLL)
            self._came()

    def _say(self, line: str) -> None:
        with suppress(OSError):  # nobody is left to hear it
            self._control.sendall(f"{line}\n".encode())

    def _came(self) -> set[int]:
        """The signals since the last look."""
        try:
            return set(os.read(self._woken, 4096))
        except BlockingIOError:
            return set()

    def _reap(self) -> bool:
        """Take note of children that have ended; whether there are others."""
        try:
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                if found[0] == self._pid:
                    self._code = os.waitstatus_to_exitcode(found[1])
        except ChildProcessError:
            return False
        return True

    def _signal(self, number: int, everything: bool) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._pid, number)
        for pid in descendants(os.getpid(), self._daemons) if everything else ():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def _is_left(self, everything: bool) -> bool:
        self._reap()
        if everything and descendants(os.getpid(), self._daemons):
            return True
        try:
            os.killpg(self._pid, 0)
        except (ProcessLookupError, PermissionError):  # nobody, or nobody that may be ended
            return False
        return True


def descendants(root: int, without: "set[int] | frozenset[int]" = frozenset()) -> set[int]:
    """The children of a process, and theirs, but not `without` and theirs; nothing where the system has no /proc."""
    parents = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdecimal() and int(name) not in without:
            with suppress(OSError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
                parents[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
    found: set[int] = set()
    new = {root}
    while new := {pid for pid, parent in parents.items() if parent in new} - found:
        found |= new
    return found


def _prctl():
    """prctl(option, value) of Linux; elsewhere it does nothing."""
    if sys.platform != "linux":
        return lambda *_: 0
    import ctypes

    return ctypes.CDLL(None).prctl


def main(*descriptors: str) -> None:
    if os.fork():
        os._exit(0)
    for descriptor in map(int, descriptors):
        os.set_inheritable(descriptor, False)  # they are not the program's
    Guard(socket.socket(fileno=int(descriptors[0]))).serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
