"""Real processes for the fault tests: a script of scenarios, started once, that forks as many as a scenario needs.

`python -m tests.fault.processes SCENARIO STORAGE [ARGUMENTS]` imports pesmo once and forks from there: a hundred
processes cost little more than one. It prints one JSON object: what the test asserts on.
"""

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pesmo.methods.pesmo
import pesmo.run.heartbeat
import pesmo.run.loop
import pesmo.store.database
import pesmo.store.directory
import pesmo.store.engines
import pesmo.store.schema
from pesmo.errors import TrialError
from pesmo.space import Float, Space
from pesmo.store.contract import Terms
from pesmo.store.owner import this_process
from pesmo.study import Study

SPACE = Space(x=Float(0, 1), y=Float(0, 1))
PATIENCE = 120.0


def study(storage: str, method: str = "random") -> Study:
    return Study(SPACE, ["a", "b"], seed=7, method=method, storage=storage)


def both(inputs: dict) -> dict:
    return {"a": (inputs["x"] - 0.2) ** 2 + inputs["y"], "b": (inputs["x"] - 0.8) ** 2 + (inputs["y"] - 0.7) ** 2}


class Child:
    """A forked process that runs work() and sends back what it returns, or the error it dies of."""

    def __init__(self, work: Callable[[], Any]) -> None:
        read, write = os.pipe()
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(read)
            try:
                answer = {"result": work()}
            except BaseException:
                answer = {"error": traceback.format_exc()}
            os.write(write, json.dumps(answer).encode()[:60_000])
            os._exit(0)
        os.close(write)
        self._pipe = os.fdopen(read, "rb")

    def kill(self, number: int = signal.SIGKILL) -> None:
        os.kill(self.pid, number)

    def stop(self) -> None:
        """Stop it, and return when it stands still."""
        self.kill(signal.SIGSTOP)
        os.waitpid(self.pid, os.WUNTRACED)

    def join(self) -> tuple[int, dict]:
        """The signal that ended it (0 for none) and its answer."""
        answer = self._pipe.read()
        self._pipe.close()
        _, status = os.waitpid(self.pid, 0)
        return (os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0), json.loads(answer or b"{}")


def together(count: int, work: Callable[[int], Any]) -> list[dict]:
    """The answers of `count` processes that start at the same moment."""
    read, write = os.pipe()

    def waiting(i: int) -> Callable[[], Any]:
        def start() -> Any:
            os.close(write)
            os.read(read, 1)  # ends when the parent closes the other end
            return work(i)

        return start

    children = [Child(waiting(i)) for i in range(count)]
    os.close(read)
    os.close(write)
    return [child.join()[1] for child in children]


def wait_until(condition: Callable[[], Any]) -> Any:
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up:
        if found := condition():
            return found
        time.sleep(0.02)
    raise TimeoutError(f"{condition} did not come true in {PATIENCE} s")


# ------------------------------------------------------------------------------------------------------ scenarios


def crowd(storage: str, processes: str, trials: str) -> dict:
    """Many processes start at once on a storage that is empty or not there, and each runs some trials."""

    def work(_: int) -> int:
        one = study(storage)
        for _ in range(int(trials)):
            trial = one.ask(lease=600)
            one.tell(trial, both(trial.inputs))
        return os.getpid()

    answers = together(int(processes), work)
    return {"errors": [a["error"] for a in answers if "error" in a]}


def tellers(storage: str, *counts: str) -> dict:
    """Many processes tell one trial different results; then each tells its own once more. A new trial per count."""
    report = {}
    for count in counts:
        one = study(storage)
        trial = one.ask().id
        one.close()

        def work(i: int, trial: int = trial) -> list:
            mine = study(storage)
            answers = []
            for _ in range(2):
                try:
                    answers.append(mine.tell(trial, {"a": float(i), "b": 0.0}).values["a"])
                except TrialError:
                    answers.append("refused")
            return answers

        answers = together(int(count), work)
        report[count] = {
            "errors": [a["error"] for a in answers if "error" in a],
            "answers": [a.get("result") for a in answers],
            "stored": study(storage).trials[trial - 1].values["a"],
        }
    return report


def imports(storage: str, processes: str) -> dict:
    """Many processes add at once: each the rows that all have, and a row of its own."""
    rows = [({"x": i / 100, "y": 0.5}, {"a": float(i), "b": 0.0}) for i in range(100)] * 2

    def work(i: int) -> int:
        return len(study(storage).add_many([*rows, ({"x": 0.5, "y": (i + 1) / 100}, {"a": float(i)})]))

    study(storage).close()
    answers = together(int(processes), work)
    return {"added": sorted((a.get("result", a.get("error")) for a in answers), key=str)}


def killing(storage: str, seed: str) -> dict:
    """Four workers, one of them killed at a random moment again and again, until 100 trials are complete."""
    import random

    random.seed(int(seed))
    log = Path(os.environ["LOG"])

    def work() -> None:
        one = study(storage)
        while True:
            trial = one._ask(Terms(600, 1000, this_process()))
            time.sleep(0.05)
            told = one.tell(trial, both(trial.inputs))
            with log.open("a") as file:
                file.write(json.dumps([told.id, told.values]) + "\n")

    one = study(storage)
    workers = [Child(work) for _ in range(4)]
    counts, kills = [0], 0

    def complete() -> int:
        return sum(t.state == "complete" for t in one.trials)

    while counts[-1] < 100:
        goal = counts[-1] + random.randint(1, 4)  # some progress between two kills, however slow the machine
        wait_until(lambda goal=goal: complete() >= goal)
        time.sleep(random.uniform(0.0, 0.1))
        unlucky = random.randrange(4)
        workers[unlucky].kill()
        ended, answer = workers[unlucky].join()
        if ended != signal.SIGKILL:
            return {"error": answer}
        kills += 1
        workers[unlucky] = Child(work)
        counts.append(complete())
    for worker in workers:
        worker.kill()
        worker.join()
    return {"counts": counts, "kills": kills}


def stopped(storage: str) -> dict:
    """A run is stopped beyond its lease and continued; meanwhile another process takes its trial over."""
    pesmo.run.loop.LEASE = 6.0
    gate = Path(os.environ["LOG"])

    def work() -> list:
        def evaluate(inputs: dict) -> dict:
            wait_until(gate.exists)
            return both(inputs)

        one = study(storage)
        one.run({"evaluate": evaluate}, evaluations=3, progress=False)
        return [t.state for t in one.trials]

    worker = Child(work)
    other = study(storage)
    wait_until(lambda: other.trials)
    time.sleep(7.0)  # the heartbeat holds it beyond its first lease
    held = other.retry(lease=600) is None
    other._store._database.write(lambda connection, _: worker.stop())  # a process stopped inside a write locks SQLite
    retry = wait_until(lambda: other.retry(lease=600))
    abandoned = other.trials[0].state
    gate.touch()
    worker.kill(signal.SIGCONT)
    wait_until(lambda: other.trials[0].state == "complete")
    other.tell(retry, {"a": 1.0, "b": 1.0})
    _, answer = worker.join()
    return {"held": held, "abandoned": abandoned, "worker": answer, "trials": [[t.id, t.state] for t in other.trials]}


def silent(storage: str) -> dict:
    """A process is stopped inside a writing transaction; another one does not wait for it; both go on."""
    pesmo.store.engines.SILENCE_MS = 1000
    one = study(storage)
    trial = one.ask()

    def work() -> int:
        mine = study(storage)

        def stop_inside(connection: Any, attempt: int) -> int:
            mine._store._next(connection)
            if attempt == 0:
                os.kill(os.getpid(), signal.SIGSTOP)
            return attempt

        return mine._store._database.write(stop_inside)

    worker = Child(work)
    os.waitpid(worker.pid, os.WUNTRACED)
    told = one.tell(trial, {"a": 1.0, "b": 1.0})
    worker.kill(signal.SIGCONT)
    return {"told": told.values, "worker": worker.join()[1]}


SCENARIOS = {f.__name__: f for f in (crowd, tellers, imports, killing, stopped, silent)}

if __name__ == "__main__":
    from tests.fault import kills, places

    Study.recommend = lambda self, size=50: None  # what a run ends with takes longest, and is not looked at here
    SCENARIOS |= kills.SCENARIOS | places.SCENARIOS
    print(json.dumps(SCENARIOS[sys.argv[1]](*sys.argv[2:])))
