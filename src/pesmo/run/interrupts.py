"""Ctrl-C and its like, kept out of where they would do harm."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def uninterrupted() -> Iterator[None]:
    """A context in which no signal raises or ends this process: one that comes meanwhile is delivered afterwards.

    Only the main thread is ever interrupted by signals; elsewhere there is nothing to do. One that is ignored stays so.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {n: h for n in ENDING if (h := signal.getsignal(n)) not in (None, signal.SIG_IGN)}
    for number in before:
        signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])
