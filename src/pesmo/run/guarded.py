"""Runs programs under a guard, a process that ends them when this one is gone: see guard.py."""

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO

from pesmo.run import guard
from pesmo.run.interrupts import uninterrupted

held_open: set[int] = set()  # descriptors that guards keep open: closed once this process and all its guards are gone
_idle: list[socket.socket] = []  # to guards that wait for a program


def execute(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    streams: tuple[IO[bytes], IO[bytes], IO[bytes]],
    directory: str | None,
    timeout: float | None,
) -> int:
    """The exit code of a program. TimeoutError after `timeout` seconds, another OSError where it cannot be started.

    However this call ends, by an interrupt say, the program has been ended before.
    """
    if any("\0" in word for word in (*arguments, *environment.values())):
        raise ValueError("embedded null byte")
    request = json.dumps([directory or os.getcwd(), list(arguments), dict(environment)]).encode()
    control, program, is_over = None, 0, False
    try:
        with uninterrupted():
            control = _idle_guard() or _new_guard()
        socket.send_fds(control, [len(request).to_bytes(guard.LENGTH, "big")], [s.fileno() for s in streams])
        control.sendall(request)
        event, program = _heard(control)
        if event == "refused":
            is_over = True
            raise OSError(program, os.strerror(program))
        control.settimeout(timeout)
        event, code = _heard(control)
        is_over = event == "ended"
        return code if is_over else -signal.SIGKILL  # somebody has killed the guard
    finally:
        with uninterrupted():
            if control is not None and is_over:
                control.settimeout(None)
                _idle.append(control)
            elif control is not None:
                _end(control, program)


@atexit.register
def dismiss() -> None:
    """End the guards that have nothing to do."""
    while _idle:
        _end(_idle.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # they are the parent's


def _idle_guard() -> socket.socket | None:
    """One that is still there."""
    while _idle:
        control = _idle.pop()
        said = select.poll()
        said.register(control, select.POLLIN)
        if not said.poll(0):
            return control
        control.close()  # it had nothing to say but that it is gone
    return None


def _new_guard() -> socket.socket:
    """A guard, isolated: no module of the working directory is imported, however it is called."""
    ours, theirs = socket.socketpair()
    with theirs:
        descriptors = [theirs.fileno(), *held_open]
        try:
            starter = subprocess.Popen(
                [sys.executable, "-I", "-S", guard.__file__, *map(str, descriptors)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=descriptors,
                start_new_session=True,  # Ctrl-C is for this process to handle
            )
            starter.wait()  # the guard is its child, and so no child of this process
        except BaseException:
            ours.close()
            raise
    return ours


def _heard(control: socket.socket) -> tuple[str, int]:
    """What the guard says next; ("", 0) where it is gone."""
    line = b""
    while not line.endswith(b"\n"):
        byte = control.recv(1)
        if not byte:
            return "", 0
        line += byte
    event, number = line.decode().split()
    return event, int(number)


def _end(control: socket.socket, program: int = 0) -> None:
    """Let a guard end its program and itself, and wait for that; where it was killed, end the program's group here."""
    said = b""
    with control, suppress(OSError):
        control.settimeout(guard.GRACE + 2 * guard.PATIENCE)
        control.shutdown(socket.SHUT_WR)
        while part := control.recv(100):
            said += part
    if program and b"ended" not in said:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(program, signal.SIGKILL)
