"""Four local processes are kept as busy as one."""

import os
import time
from functools import partial
from pathlib import Path

from pesmo import Float, Space, Study


def sleepy(log: Path, inputs: dict) -> dict:
    began = time.monotonic()  # the machine's, the same for all its processes
    time.sleep(2.0)
    with log.open("a") as file:
        file.write(f"{os.getpid()} {began} {time.monotonic()}\n")
    return {"a": inputs["x"], "b": inputs["y"]}


def test_four_workers_do_the_work_of_more_than_three(tmp_path) -> None:
    """How many evaluate at a time, from when the last of them has started to when the first has no more to do."""
    log = tmp_path / "log"
    study = Study(
        Space(x=Float(0, 1), y=Float(0, 1)), ["a", "b"], seed=0, method="sobol", storage=tmp_path / "study.db"
    )
    study.run({"evaluate": partial(sleepy, log)}, evaluations=14, workers=4, progress=False)
    spans: dict[str, list[tuple[float, float]]] = {}
    for line in log.read_text().splitlines():
        pid, began, ended = line.split()
        spans.setdefault(pid, []).append((float(began), float(ended)))
    assert len(spans) == 4
    start = max(worker[0][0] for worker in spans.values())
    end = min(worker[-1][1] for worker in spans.values())
    busy = sum(max(0.0, min(e, end) - max(b, start)) for worker in spans.values() for b, e in worker)
    assert end > start
    assert busy / (end - start) >= 3.0  # one worker by itself makes at most 1
