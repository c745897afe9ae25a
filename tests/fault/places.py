"""Storages that fail: no space, no permission, a server that goes away."""

import os
import resource
from pathlib import Path
from typing import Any

from pesmo.errors import StorageError
from tests.fault.processes import SPACE, Child, both, study


def full(storage: str) -> dict:
    """Files may not grow beyond a limit: what is told before is kept, the error is clear, and afterwards it goes on."""

    def fill() -> dict:
        one = study(storage)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
        told = 0
        try:
            while told < 5000:
                one.add({"x": told / 5000, "y": 0.5}, {"a": 1.0, "b": 2.0})
                told += 1
        except StorageError as error:
            return {"told": told, "error": str(error)}
        return {"told": told, "error": "none"}

    answer = Child(fill).join()[1]
    one = study(storage)
    kept = len(one.trials)
    after = one.add({"x": 0.999, "y": 0.5}, {"a": 1.0, "b": 2.0}).id
    return {"answer": answer, "kept": kept, "after": after}


def readonly(storage: str) -> dict:
    """A file that may only be read, seen by a user who is not root."""
    one = study(storage)
    one.add({"x": 0.5, "y": 0.5}, {"a": 1.0, "b": 2.0})
    one.close()
    path = Path(storage)

    def write() -> dict:
        path.chmod(0o444)
        path.parent.chmod(0o555)
        if os.geteuid() == 0:
            for folder in path.parents[1:-1]:
                folder.chmod(folder.stat().st_mode | 0o011)
            os.setgid(65534)
            os.setuid(65534)
        try:
            other = study(storage)
            other.add({"x": 0.6, "y": 0.5}, {"a": 1.0, "b": 2.0})
        except StorageError as error:
            return {"error": str(error)}
        return {"error": "none"}

    answer = Child(write).join()[1]
    path.parent.chmod(0o755)
    path.chmod(0o644)
    return {"answer": answer, "kept": len(study(storage).trials)}


def going_on(storage: str, trials: str) -> dict:
    """Asks and tells while the server is stopped and started by somebody else; says how far it is in a file."""
    log = Path(os.environ["LOG"])
    one = study(storage)
    told: list[Any] = []
    for _ in range(int(trials)):
        trial = one.ask(lease=600)
        told.append([trial.id, one.tell(trial, both(trial.inputs)).values])
        log.write_text(str(len(told)))
    return {"told": told, "space": list(SPACE.names)}


SCENARIOS = {"full": full, "readonly": readonly, "going_on": going_on}
