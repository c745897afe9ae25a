"""The loop: ask, evaluate, tell, until a limit is reached; on as many workers as wanted; with a progress bar.

Any number of processes may run one stored study at the same time: each asks, holds its trials by a heartbeat, and
tells; the storage is all they share. With several workers the next trial is ready before a worker is.
"""

import time
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pesmo.errors import CannotStart, DefinitionError, Finished, ResultError, RunError, StorageError, TrialError
from pesmo.front import Front
from pesmo.printable import excerpt, printable
from pesmo.problem import Trial
from pesmo.run.executors import EvaluationFailed, Inline, Processes
from pesmo.run.heartbeat import LEASE, Heartbeat
from pesmo.run.progress import Bar
from pesmo.store.contract import RETRIES, Terms
from pesmo.store.owner import this_process

if TYPE_CHECKING:
    from pesmo.study import Study

Function = Callable[[dict[str, Any]], Any]
FAILURES_IN_A_ROW = 10
POLL = 1.0  # seconds between two looks at what other processes do, where that matters
SOON = 10.0  # seconds between two looks where every worker is busy


@dataclass(frozen=True)
class Limits:
    """When a run ends: at whichever comes first."""

    evaluations: int | None
    budget: float | None
    deadline: float | None  # of time.monotonic()

    def leave_room(self, count: int, cost: float) -> bool:
        """True where another trial may start beside `count` trials of this `cost` in all."""
        return (
            (self.evaluations is None or count < self.evaluations)
            and (self.budget is None or cost < self.budget)
            and not self.is_late
        )

    @property
    def is_late(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline


def run(
    study: "Study",
    functions: Mapping[str, Function],
    evaluations: int | None = None,
    budget: float | None = None,
    timeout: float | None = None,
    workers: int = 1,
    executor: Executor | None = None,
    evaluation_timeout: float | None = None,
    max_failures: int | None = FAILURES_IN_A_ROW,
    progress: bool = True,
) -> Front:
    """Evaluate until `evaluations` trials or `budget` units of cost have been spent in all, then recommend.

    functions    {experiment name: function of the inputs}. A function returns a dict of objective values, or just the
                 number where its experiment reveals one objective; "cost" in the dict is what it really cost. An
                 exception, a timeout or a crash makes a failed trial.
    evaluations  of the whole study, so that a run that was interrupted goes on where it stopped.
    budget       likewise; a trial starts while any of it is left, so the last ones may overdraw it.
    timeout      seconds after which this run starts no more trials; those that run are waited for.
    workers      how many trials run at once: in local processes, or in `executor` where one is given.
    executor     any concurrent.futures.Executor: Dask's client.get_executor(), pesmo.run.ray.RayExecutor(), ...
    evaluation_timeout  seconds that one evaluation may take on a local process before it is stopped.
    max_failures  this many in a row, without a success between them, end the run with a RunError; None: it goes on.
                 What cannot be started at all ends it at once, and its trial does not count.
    """
    _check(study, functions, workers, executor, evaluation_timeout)
    _whole("max_failures", max_failures)
    deadline = None if timeout is None else time.monotonic() + _positive("timeout", timeout)
    limits = Limits(_whole("evaluations", evaluations), _positive("budget", budget), deadline)
    if evaluations is None and budget is None and timeout is None:
        raise DefinitionError("give run at least one limit: evaluations=..., budget=... or timeout=...")
    if executor is not None:
        pool = executor
    elif workers == 1 and evaluation_timeout is None:
        pool = Inline()
    else:
        _check_portable(functions)
        pool = Processes(workers, evaluation_timeout)
    own = pool if executor is None else None
    try:
        with Heartbeat(study._store, LEASE) as heart, Bar(limits.evaluations, limits.budget, progress) as bar:
            _Run(study, functions, limits, max_failures, workers, pool, own, heart, bar).go()
    finally:
        if own is not None:
            own.shutdown(cancel_futures=True)
    return study.recommend()


class _Run:
    """One run in progress."""

    def __init__(
        self,
        study: "Study",
        functions: Mapping[str, Function],
        limits: Limits,
        most_failures: int | None,
        workers: int,
        pool: Executor,
        own: Executor | None,
        heart: Heartbeat,
        bar: Bar,
    ) -> None:
        self.study = study
        self.functions = functions
        self.limits = limits
        self.most_failures = most_failures
        self.places = workers if workers == 1 else workers + 1  # one more than the workers: ready when one of them is
        self.pool = pool
        self.own = own  # the pool, where it ends with this run
        self.heart = heart
        self.bar = bar
        self.running: dict[Future[Any], Trial] = {}
        self.failures = 0  # in a row

    def go(self) -> None:
        try:
            while self._step():
                pass
        except BaseException:
            self._let_go()
            raise

    def _step(self) -> bool:
        """Tell what is done, then start one trial or wait for something to happen. False at the end."""
        self._tell_done(wait_for=0.0)
        room, others, spare = self._look()
        trial = None
        if len(self.running) < self.places and not self.limits.is_late:
            trial = self._next(room, spare)
        if trial is not None:
            self._start(trial)
        elif self.running:
            self.bar.say(f"running {len(self.running)}")
            self._tell_done(wait_for=POLL if len(self.running) < self.places else SOON)
        elif spare:
            self.bar.say(f"waiting for {others} elsewhere")
            time.sleep(POLL)
        else:
            self.bar.say("done")
            return False
        return True

    def _look(self) -> tuple[bool, int, bool]:
        """Whether the limits leave room for a new trial; how many trials other processes are running; and whether
        those are all that is missing, so that one of them, if abandoned, must be run here."""
        trials = [t for t in self.study.trials if t.note != "added"]
        ended = [t for t in trials if t.state in ("complete", "failed")]
        held = {r.trial.id for r in self.study._view.unfinished if r.lease and r.trial.state == "running"}
        busy = [t for t in trials if t.id in held]
        self.bar.show(len(ended), sum(t.cost for t in ended))
        room = self.limits.leave_room(len(ended) + len(busy), sum(t.cost for t in [*ended, *busy]))
        others = len(held - {t.id for t in self.running.values()})
        spare = not room and others > 0 and self.limits.leave_room(len(ended), sum(t.cost for t in ended))
        return room, others, spare

    def _next(self, room: bool, spare: bool) -> Trial | None:
        """A trial to start; where the limits leave no room for a new one, only one that another process abandoned."""
        if not room:
            return self.study._retry(_held()) if spare else None
        self.bar.say("thinking")
        try:
            return self.study._ask(_held())
        except Finished:
            return None

    def _start(self, trial: Trial) -> None:
        self.heart.held.add(trial.id)
        self.bar.say(f"running {trial.experiment}")
        try:
            future = self.pool.submit(self.functions[trial.experiment], dict(trial.inputs))
        except BaseException:
            self.study.release([trial])
            raise
        self.running[future] = trial

    def _tell_done(self, wait_for: float) -> None:
        done, _ = wait(self.running, timeout=wait_for, return_when=FIRST_COMPLETED)
        for future in sorted(done, key=lambda f: self.running[f].id):
            self._tell(future, self.running[future])
            del self.running[future]
            if self.most_failures is not None and self.failures >= self.most_failures:
                raise RunError(
                    f"the last {self.failures} trials failed, without a success between them; mend what evaluates and "
                    "run again, it goes on where it stopped; or, where failures are to be expected, allow more of them "
                    f"(max_failures=, --max-failures). The latest: {excerpt(self.bar.last)}"
                )

    def _tell(self, future: Future[Any], trial: Trial) -> None:
        """The outcome of an evaluation becomes the outcome of its trial."""
        self.heart.held.discard(trial.id)
        if future.cancelled():  # by whoever owns the executor
            self.study.release([trial])
            return
        error = future.exception()
        error = getattr(error, "cause", None) or error  # Ray wraps what the function raised
        if isinstance(error, CannotStart):
            raise RunError(f"{printable(str(error))}. Trial {trial.id} is given back; mend that and run again")
        if error is None:
            try:
                self.bar.last = self._tell_result(trial, future.result())
                self.failures = 0
                return
            except ResultError as wrong:
                error = wrong
        self.bar.last = _described(error)
        self.failures += 1
        try:
            self.study.fail(trial, self.bar.last)
        except TrialError:
            return  # somebody else has ended it; there is nothing to add to that

    def _tell_result(self, trial: Trial, result: Any) -> str:
        reveals = self.study.experiment(trial.experiment).reveals
        values = result if isinstance(result, Mapping) or len(reveals) > 1 else {reveals[0]: result}
        cost = None
        if isinstance(values, Mapping) and "cost" in values and "cost" not in reveals:
            cost = values["cost"]
            values = {name: value for name, value in values.items() if name != "cost"}
        try:
            told = self.study.tell(trial, values, cost)
        except TrialError:  # somebody else has ended it: what was measured is kept beside that
            told = self.study.add(trial.inputs, values)
        return ", ".join(f"{name} = {value:.4g}" for name, value in told.values.items())

    def _let_go(self) -> None:
        """The run ends before its time: end what runs, tell what was measured, give the rest back; a failure too,
        as the same signal may have ended the program."""
        self.failures = 0
        with suppress(KeyboardInterrupt):  # a second Ctrl-C says nothing new
            if self.own is not None:  # before a trial is given back nothing works on it any more
                self.own.shutdown(cancel_futures=True)
        with suppress(StorageError):  # where the storage is gone too, the leases run out by themselves
            for future in [f for f in self.running if _succeeded(f)]:
                self._tell(future, self.running.pop(future))
            for future in self.running:
                future.cancel()
            self.study.release(self.running.values())


def _held() -> Terms:
    """The terms of a trial that a run holds: by its heartbeat, and no longer than its process lives."""
    return Terms(LEASE, RETRIES, this_process())


def _succeeded(future: Future[Any]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


def _described(error: BaseException) -> str:
    """What a failed trial's message says."""
    return str(error) if isinstance(error, EvaluationFailed) else f"{type(error).__name__}: {error}"


def _check(
    study: "Study", functions: Any, workers: Any, executor: Executor | None, evaluation_timeout: float | None
) -> None:
    if not isinstance(functions, Mapping):
        raise DefinitionError(f"functions must be a dict {{experiment: function}}, not {functions!r}")
    names = [e.name for e in study.experiments]
    for name in functions:
        if name not in names:
            raise DefinitionError(f"functions names {name!r}, which is not among the experiments {names}")
    for name in names:
        if not callable(functions.get(name)):
            raise DefinitionError(f"functions has no function for the experiment {name!r}; the experiments are {names}")
    _whole("workers", workers)
    _positive("evaluation_timeout", evaluation_timeout)
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise DefinitionError(f"executor must be a concurrent.futures.Executor, not {executor!r}")
    if executor is not None and evaluation_timeout is not None:
        raise DefinitionError("evaluation_timeout is for local processes; an executor stops its tasks by its own means")


def _check_portable(functions: Mapping[str, Function]) -> None:
    """The functions can be sent to another process, or an error says which cannot."""
    import cloudpickle

    for name, function in functions.items():
        try:
            cloudpickle.dumps(function)
        except Exception as error:  # pickling runs code of the function's own objects
            raise DefinitionError(
                f"the function of experiment {name!r} cannot be sent to a worker process ({error}); "
                "open files, locks and connections inside it, or run with workers=1"
            ) from error


def _whole(name: str, value: Any) -> Any:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise DefinitionError(f"{name} must be a whole number >= 1, not {value!r}")
    return value


def _positive(name: str, value: Any) -> Any:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not value > 0):
        raise DefinitionError(f"{name} must be a number > 0, not {value!r}")
    return value
