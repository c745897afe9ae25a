"""What the storage costs with many trials, and what workers gain: `python benchmarks/store.py [postgresql://...]`.

Prints milliseconds (median and largest of 30 calls) for opening a study, for ask's storage part and for tell, on SQLite
and, where a URL is given, on PostgreSQL, at 100, 1,000 and 10,000 trials; then the throughput of 1 and 4 local
processes on an evaluation that sleeps 2 s, with PESMO's suggestions.
"""

import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from pesmo import Float, Space, Study
from pesmo.problem import Trial
from pesmo.store.contract import Proposal, Terms
from pesmo.store.database import Database
from pesmo.store.tables import to_row, trials

SPACE = Space(x=Float(0, 1), y=Float(0, 1), z=Float(0, 1))
SIZES = (100, 1_000, 10_000)
REPEATS = 30


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        print("storage, trials: open / first read / read again / ask's storage / tell, median (largest) ms")
        for storage in [str(Path(folder) / "study.db"), *sys.argv[1:]]:
            for size in SIZES:
                print(f"{storage.split(':')[0][-10:]:>10}, {size:>6}:", *storage_times(storage, size))
        one, four = (throughput(Path(folder) / f"{workers}.db", workers) for workers in (1, 4))
        print(f"2 s evaluations an hour: {3600 * one:.0f} with 1 process, {3600 * four:.0f} with 4: {four / one:.2f} x")


def storage_times(storage: str, size: int) -> list[str]:
    name = f"benchmark {uuid.uuid4()}"
    study = Study(SPACE, ["a", "b"], seed=0, method="random", storage=storage, name=name)
    fill(study, storage, size)
    opened, first, again, asked, told = [], [], [], [], []
    for i in range(REPEATS):
        other, seconds = timed(partial(Study.open, storage, name))
        opened.append(seconds)
        first.append(timed(partial(getattr, other, "trials"))[1])
        again.append(timed(partial(getattr, other, "trials"))[1])
        last = other._view.last
        point = {"x": i / REPEATS, "y": 0.5, "z": 0.5}
        proposal = Proposal("evaluate", [point], [1.0], 1.0, None, {"theta": [[[0.5] * 5] * 10] * 2}, last, same)
        record, seconds = timed(partial(other._store.reserve, proposal, Terms(60.0, 2, "me")))
        asked.append(seconds)
        told.append(timed(partial(other.tell, record.trial.id, {"a": 1.0, "b": 2.0}))[1])
        other.close()
    study.close()
    return [f"{1e3 * statistics.median(t):.1f} ({1e3 * max(t):.1f})" for t in (opened, first, again, asked, told)]


def fill(study: Study, storage: str, size: int) -> None:
    """Complete trials, written in one go: adding them one by one would take most of the benchmark's time."""
    values = {"a": 1.0, "b": 2.0}
    rows = []
    for i in range(1, size + 1):
        point = {"x": i / size, "y": (7 * i % size) / size, "z": 0.5}
        trial = Trial(i, "evaluate", point, 1.0, 0.5, "complete", values, asked=0.0, finished=1.0)
        machinery = {"study": study._store._study, "id": i, "revision": i, "again": 0, "token": uuid.uuid4().hex}
        rows.append({**to_row(trial), **machinery})
    from sqlalchemy import insert, update

    from pesmo.store.tables import studies

    def work(connection: Any, _: int) -> None:
        connection.execute(insert(trials), rows)
        mine = studies.c.id == study._store._study
        connection.execute(update(studies).where(mine).values(revision=size, trials=size))

    database = Database(storage)
    database.write(work)
    database.close()


def throughput(path: Path, workers: int) -> float:
    """Evaluations a second, from the first start to the last end; the first six trials are given, not run."""
    study = Study(SPACE, ["a", "b"], seed=0, storage=path)
    for i in range(6):
        study.add({"x": i / 6, "y": (5 * i % 6) / 6, "z": (2 * i % 6) / 6}, {"a": float(i), "b": float(i % 3)})
    study.run({"evaluate": sleepy}, evaluations=4 * workers + 2, workers=workers, progress=False)
    ran = [t for t in study.trials if t.note != "added"]
    return len(ran) / (max(t.finished or 0.0 for t in ran) - min(t.asked or 0.0 for t in ran))


def sleepy(inputs: dict[str, Any]) -> dict[str, float]:
    time.sleep(2.0)
    return {"a": inputs["x"], "b": inputs["y"]}


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    began = time.perf_counter()
    return call(), time.perf_counter() - began


def same(one: Any, other: Any) -> bool:
    return one == other


if __name__ == "__main__":
    main()
