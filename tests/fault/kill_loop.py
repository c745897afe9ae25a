"""Two runs share a study and are killed in every way, again and again: nothing lost, nothing doubled, no program left.

    python -m tests.fault.kill_loop --rounds 20 --storage sqlite|postgresql

In a round `pesmo run` works with 4 workers and with 2 on one study. Each is ended nine times or so: SIGKILL to the
process, to its whole tree and to a worker; SIGINT, SIGTERM and SIGHUP, once and twice. Half of the programs ignore all
of these but SIGKILL, and each has a child. Then both run to the end. What is counted:

    lost      a result that a run or the storage has shown as complete, and that is not there at the end
    doubled   one evaluation's result in two trials
    left      a program or its child that is there when its run is gone (at once after INT, TERM, HUP; a few seconds
              after SIGKILL, which leaves nobody but the guards to end it)
"""

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from pesmo import Study
from pesmo.errors import PesmoError
from pesmo.run.guard import descendants
from tests.postgres import Server
from tests.waiting import gone, until

PROGRAM = """
import json, os, random, signal, subprocess, sys, time
if os.urandom(1)[0] < 128:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # and so does the child
child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"])
time.sleep(random.uniform(0.2, 1.5))
result = {"a": int.from_bytes(os.urandom(6), "big"), "b": json.load(sys.stdin)["x"]}  # no two evaluations share an a
with open("measured", "a") as log:
    log.write(f"{result['a']}\\n")
print(json.dumps(result))
"""
STUDY = """
[study]
name = "kill loop"
storage = "{storage}"
method = "random"

[inputs.x]
type = "float"
low = 0
high = 1

[objectives.a]
[objectives.b]

[experiments.both]
command = ["{{python}}", "-I", "-S", "program.py"]
"""
KINDS = (
    "KILL process", "KILL tree", "KILL worker", "INT", "INT twice", "TERM", "TERM twice", "HUP", "HUP twice"
)  # fmt: skip
MARK = "KILL_LOOP_RUN"
BEYOND = 100_000  # evaluations: a limit that is not reached while anything is killed


class Run:
    """`pesmo run`, and by its mark in their environment every process that it started."""

    def __init__(self, folder: Path, workers: int, evaluations: int) -> None:
        self.mark = uuid4().hex
        self.log = folder / f"{self.mark}.log"
        words = ["run", "study.toml", "--workers", str(workers), "--evaluations", str(evaluations)]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "pesmo", *words, "--max-failures", "1000"],
                cwd=folder,
                stdout=log,
                stderr=log,
                env={**os.environ, MARK: self.mark},
            )

    def ours(self) -> set[int]:
        """All its processes, itself included."""
        found = set()
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal():
                try:
                    environment = (entry / "environ").read_bytes()
                except OSError:
                    continue
                if f"{MARK}={self.mark}".encode() in environment and not gone(entry.name):
                    found.add(int(entry.name))
        return found

    def programs(self) -> set[int]:
        """Its programs and their children: what sleeps."""
        return {pid for pid in self.ours() if is_program(pid)}

    def completed(self) -> set[int]:
        """The trials that its view has shown as complete."""
        return {int(found) for found in re.findall(r"trial (\d+) both: a = ", self.log.read_text())}


def is_program(pid: int) -> bool:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    is_guard = any(word.endswith(b"guard.py") for word in words)
    return not is_guard and (b"program.py" in words or b"import time; time.sleep(600)" in words)


@dataclass
class Count:
    """What a round, or all of them, came to."""

    kills: int = 0
    complete: int = 0
    failed: int = 0
    abandoned: int = 0
    cut: int = 0  # measured, and its run killed before it could be told: measured again
    lost: int = 0
    doubled: int = 0
    left: int = 0
    slowest: float = 0.0  # seconds from a SIGKILL until the last program was gone
    remarks: list[str] = field(default_factory=list)

    def add(self, other: "Count") -> None:
        for name in ("kills", "complete", "failed", "abandoned", "cut", "lost", "doubled", "left"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.slowest = max(self.slowest, other.slowest)
        self.remarks += other.remarks


def end(run: Run, kind: str, count: Count, chance: random.Random) -> None:
    """End a run, or one of its workers, and look for what is left of its programs."""
    how, _, what = kind.partition(" ")
    number = getattr(signal, f"SIG{how}")
    count.kills += 1
    if what == "worker":
        workers = [pid for pid in descendants(run.process.pid) if b"pesmo.run.worker" in command(pid)]
        running = run.programs()  # its own among them; the others end by themselves
        os.kill(chance.choice(sorted(workers)), signal.SIGKILL)
        wait_for(lambda: {pid for pid in running if not gone(pid)}, kind, count)
        return
    if what == "tree":
        while pids := {pid for pid in {run.process.pid, *descendants(run.process.pid)} if not gone(pid)}:
            for pid in sorted(pids, key=lambda _: chance.random()):
                signal_to(pid, signal.SIGKILL)
        run.process.wait(60)
    else:
        signal_to(run.process.pid, number)
        if what == "twice":
            time.sleep(chance.uniform(0.0, 1.0))
            signal_to(run.process.pid, number)
        code = run.process.wait(120)
        if how != "KILL":
            if code != 130:
                count.remarks.append(f"{kind}: exit code {code}: {run.log.read_text()[-300:]}")
            if left := run.programs():
                count.left += len(left)
                count.remarks.append(f"{kind}: {len(left)} left at once")
    wait_for(run.programs, kind, count)


def wait_for(left: Callable[[], set[int]], kind: str, count: Count, most: float = 30.0) -> None:
    began = time.monotonic()
    while found := left():
        if time.monotonic() > began + most:
            count.left += len(found)
            count.remarks.append(f"{kind}: {len(found)} left after {most:g} s")
            for pid in found:
                signal_to(pid, signal.SIGKILL)
            return
        time.sleep(0.05)
    count.slowest = max(count.slowest, time.monotonic() - began)


def signal_to(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def complete(storage: str) -> dict[int, float]:
    """{trial: a} of what the storage has as complete."""
    try:
        study = Study.open(storage, "kill loop")
    except PesmoError:
        return {}
    found = {t.id: t.values["a"] for t in study.trials if t.state == "complete"}
    study.close()
    return found


def one_round(folder: Path, storage: str, chance: random.Random, kinds: tuple[str, ...] = KINDS) -> Count:
    """Both runs are ended in all ways, in random order, each way by one of them; then both run to the end."""
    count, seen = Count(), dict[int, float]()
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    (folder / "measured").touch()
    (folder / "study.toml").write_text(STUDY.format(storage=storage), encoding="utf-8")
    all_runs: list[Run] = []

    def begin(workers: int, evaluations: int = BEYOND) -> Run:
        all_runs.append(Run(folder, workers, evaluations))
        return all_runs[-1]

    try:
        killing(storage, begin, chance, kinds, count, seen)
    finally:
        for run in all_runs:
            run.process.kill()
            run.process.wait(60)
    return judge(folder, storage, seen, all_runs, count)


def killing(
    storage: str,
    begin: Callable[..., Run],
    chance: random.Random,
    kinds: tuple[str, ...],
    count: Count,
    seen: dict[int, float],
) -> None:
    """Both runs, killed and begun again; then to the end. `seen` are the results that were complete before a kill."""
    runs = {workers: begin(workers) for workers in (4, 2)}
    order = chance.sample(kinds, len(kinds))
    for kind, workers in zip(order, [4, 2] * len(order), strict=False):
        run = runs[workers]
        until(lambda run=run: run.completed() and run.programs())
        time.sleep(chance.uniform(0.0, 0.5))
        seen.update(complete(storage))
        end(run, kind, count, chance)
        if run.process.poll() is not None:
            runs[workers] = begin(workers)
    for run in runs.values():  # to the end: ended once more in the kindest way, and let finish
        until(lambda run=run: run.completed())
        end(run, "INT", count, chance)
    done = len(complete(storage)) + 8
    for run in [begin(workers, done) for workers in runs]:
        run.process.wait(300)
        if run.process.returncode != 0:
            count.remarks.append(f"the end: exit code {run.process.returncode}: {run.log.read_text()[-300:]}")
        wait_for(run.programs, "the end", count)


def judge(folder: Path, storage: str, seen: dict[int, float], runs: list[Run], count: Count) -> Count:
    study = Study.open(storage, "kill loop")
    trials = {t.id: t for t in study.trials}
    study.close()
    kept = {t.id: t.values["a"] for t in trials.values() if t.state == "complete"}
    shown = set().union(*(run.completed() for run in runs))
    measured = [float(line) for line in (folder / "measured").read_text().split()]
    count.lost = len({i for i, a in seen.items() if kept.get(i) != a} | {i for i in shown if i not in kept})
    count.doubled = len(kept) - len(set(kept.values()))
    count.cut = len(set(measured) - set(kept.values()))
    count.complete = len(kept)
    count.failed = sum(t.state == "failed" for t in trials.values())
    count.abandoned = sum(t.state == "abandoned" for t in trials.values())
    if invented := set(kept.values()) - set(measured):
        count.remarks.append(f"values that no program measured: {invented}")
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--storage", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGHUP):  # in the background, or under nohup, they are ignored: not by runs
        signal.signal(number, signal.SIG_DFL)
    server = Server() if arguments.storage == "postgresql" else None
    total = Count()
    try:
        for number in range(arguments.rounds):
            chance = random.Random(f"{arguments.seed}/{number}")
            with tempfile.TemporaryDirectory() as folder:
                storage = str(Path(folder) / "study.db") if server is None else server.new_database()
                began = time.monotonic()
                count = one_round(Path(folder), storage, chance)
            total.add(count)
            print(f"round {number + 1}: {json.dumps(vars(count))}; {time.monotonic() - began:.0f} s", flush=True)
    finally:
        if server is not None:
            server.remove()
    print(f"{arguments.rounds} rounds on {arguments.storage}: {json.dumps(vars(total))}")
    sys.exit(1 if total.lost or total.doubled or total.left else 0)


if __name__ == "__main__":
    main()
