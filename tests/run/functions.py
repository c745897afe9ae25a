"""Evaluations for worker processes, in a module that imports next to nothing: workers start fast."""

import os
import signal
import time
from pathlib import Path


def both(inputs: dict) -> dict:
    return {"a": (inputs["x"] - 0.2) ** 2 + inputs["y"], "b": (inputs["x"] - 0.8) ** 2 + (inputs["y"] - 0.7) ** 2}


def misbehave(folder: Path, inputs: dict) -> dict:
    """The first evaluations go wrong, each in its own way."""
    for kind in ("raise", "crash", "hang", "nonsense", "exit"):
        try:
            (folder / kind).touch(exist_ok=False)
        except FileExistsError:
            continue
        if kind == "raise":
            raise ValueError("it <b>diverged</b> [red]")
        if kind == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if kind == "hang":
            time.sleep(300)
        if kind == "exit":
            raise SystemExit(3)
        return {"a": "nonsense", "b": 1.0}
    return both(inputs)
