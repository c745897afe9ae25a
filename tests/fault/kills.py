"""A process is killed at a named point of its work; another one goes on."""

import os
import signal
from collections.abc import Callable
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine

from pesmo.study import Study
from tests.fault.processes import SPACE, Child, both, study

EVALUATIONS = 7  # five from the design, then the model's


def die(*_: Any, **__: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def patch(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    setattr(owner, name, make(getattr(owner, name)))


def at_call(number: int, before: bool) -> Callable[[Any], Any]:
    """Dies before, or after, call `number` of a function."""

    def make(function: Any) -> Any:
        calls = [0]

        def called(*args: Any, **kwargs: Any) -> Any:
            calls[0] += 1
            if before and calls[0] == number:
                die()
            result = function(*args, **kwargs)
            if calls[0] == number:
                die()
            return result

        return called

    return make


def at_commit_of(method: str, number: int) -> Callable[[], None]:
    """Dies inside call `number` of a store's method: all is written, nothing is committed."""

    def arm() -> None:
        from pesmo.store.sql import SqlStore

        def make(function: Any) -> Any:
            calls = [0]

            def called(*args: Any, **kwargs: Any) -> Any:
                calls[0] += 1
                if calls[0] == number:
                    event.listen(Engine, "commit", die)
                return function(*args, **kwargs)

            return called

        patch(SqlStore, method, make)

    return arm


def at(place: str, name: str, number: int, before: bool) -> Callable[[], None]:
    def arm() -> None:
        import importlib

        module, _, owner = place.partition(":")
        home = importlib.import_module(module)
        patch(getattr(home, owner) if owner else home, name, at_call(number, before))

    return arm


STORE = "pesmo.store.sql:SqlStore"
POINTS: dict[str, tuple[str, Callable[[], None]]] = {
    "before the reservation": ("random", at(STORE, "reserve", 3, before=True)),
    "before the commit of the reservation": ("random", at_commit_of("reserve", 3)),
    "after the reservation": ("pesmo", at(STORE, "reserve", 7, before=False)),
    "in the middle of a suggestion": ("pesmo", at("pesmo.methods.pesmo", "condition_on_pareto_sets", 1, before=True)),
    "before tell": ("random", at(STORE, "finish", 3, before=True)),
    "before the commit of tell": ("random", at_commit_of("finish", 3)),
    "after the commit of tell": ("random", at(STORE, "finish", 3, before=False)),
    "in the middle of a migration": ("random", at("alembic.op", "create_index", 2, before=False)),
}


def killed(storages: str) -> dict:
    """For every point: a run killed there, what it left behind, and what a second run makes of it."""
    report: dict = {"whole": {method: whole(method) for method in ("random", "pesmo")}}
    for (point, (method, arm)), storage in zip(POINTS.items(), storages.split("|"), strict=True):

        def run(storage: str = storage, method: str = method, arm: Callable[[], None] | None = None) -> list:
            if arm is not None:
                arm()
            one = study(storage, method)
            one.run({"evaluate": both}, evaluations=EVALUATIONS, progress=False)
            return trials(storage)

        ended, answer = Child(lambda run=run, arm=arm: run(arm=arm)).join()
        left = [] if "migration" in point else trials(storage)
        _, second = Child(run).join()
        report[point] = {"ended": ended, "answer": answer, "left": left, "resumed": second, "method": method}
    return report


def whole(method: str) -> list:
    """The trials of a run that nobody kills, in memory."""
    one = Study(SPACE, ["a", "b"], seed=7, method=method)
    one.run({"evaluate": both}, evaluations=EVALUATIONS, progress=False)
    return listed(one)


def trials(storage: str) -> list:
    one = Study.open(storage)
    found = listed(one)
    one.close()
    return found


def listed(one: Study) -> list:
    return [[t.id, t.state, t.inputs, t.values, t.gain, t.retry_of] for t in one.trials]


SCENARIOS = {"killed": killed}
