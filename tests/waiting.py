"""Waiting for other processes: for a condition, never for a time."""

import threading
import time
from collections.abc import Callable
from pathlib import Path


def gone(pid: int | str) -> bool:
    """True where there is no such process any more; one that only waits to be reaped is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def until(condition: Callable[[], object], seconds: float = 120.0) -> None:
    """Return as soon as the condition holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def within(call: Callable[[], object], seconds: float = 60.0) -> None:
    """Call in a thread; what hangs is a failed test, not a hanging one."""
    outcome: list[BaseException | None] = []

    def run() -> None:
        try:
            call()
            outcome.append(None)
        except BaseException as error:
            outcome.append(error)

    threading.Thread(target=run, daemon=True).start()
    until(lambda: outcome, seconds)
    if outcome[0] is not None:
        raise outcome[0]
