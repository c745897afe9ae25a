"""A study: ask what to run next, tell what came out, recommend the trade-offs found so far."""

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from pesmo.definition import Definition, define, difference, from_json
from pesmo.errors import DefinitionError, ResultError, TrialError, brief
from pesmo.front import Front
from pesmo.methods.model import Model, fit
from pesmo.methods.pesmo import condition_on_pareto_sets, fit_and_draw
from pesmo.methods.recommend import recommend
from pesmo.methods.registry import method_for
from pesmo.methods.subset import modelled
from pesmo.problem import Evidence, Experiment, Objective, Trial, check_values, is_number
from pesmo.space import Space
from pesmo.store import check_place, find_study, open_study, short, shown
from pesmo.store.contract import ADDED, RETRIES, Outcome, Record, Store, Terms
from pesmo.store.owner import is_dead
from pesmo.suggest import blas, propose, rng_for, to_state
from pesmo.view import View

if TYPE_CHECKING:
    from pesmo.report.gallery import Gallery

MOST_TRIALS = 2**31 - 1  # a trial's id is a 32-bit integer in every storage
RECOMMEND, ACQUISITION, FITTED = 1, 2, 3  # streams of randomness beside the trials'


class Study:
    """Space, objectives, experiments, a method, and the trials so far.

    objectives   Objective or just a name each.
    experiments  Experiment each; without any, one experiment reveals every objective.
    seed         fixes every suggestion; None draws one (kept in `study.seed`).
    storage      where the study lives: None for memory, the path of a SQLite file, or postgresql://user@host/database.
                 A study of that name that is there already goes on where it stopped.
    name         of the study, among those of its storage.
    """

    def __init__(
        self,
        space: Space,
        objectives: Iterable[Objective | str],
        experiments: Iterable[Experiment] | None = None,
        method: str = "pesmo",
        seed: int | None = None,
        storage: str | Path | None = None,
        name: str = "study",
    ) -> None:
        definition = define(space, objectives, experiments, method, seed)
        check_place(storage, name)
        if storage is None:
            self._settle(definition, open_study(None, name, {}), None, name)
            return
        given = definition.to_json()
        store = open_study(storage, name, given)
        if seed is None:
            given["seed"] = store.definition["seed"]
        lines = difference(given, store.definition)
        if lines:
            store.close()
            raise DefinitionError(
                f"the study {short(name)} in {shown(storage)} is defined otherwise: {'; '.join(lines)}. "
                "Define it as it was, or give this one another name; pesmo.Study.open opens it as it is"
            )
        stored = from_json(store.definition)  # plain numbers; only the cost functions are those given
        self._settle(
            Definition(stored.space, stored.objectives, definition.experiments, method, stored.seed),
            store,
            storage,
            name,
        )

    @classmethod
    def open(cls, storage: str | Path, name: str | None = None, read_only: bool = False) -> "Study":
        """A study that is there, as it was defined. The name may be left out where there is only one.

        read_only  to look: nothing in the storage is made or changed, so that it is enough to be allowed to read it.
        """
        check_place(storage, "study" if name is None else name)
        name, store = find_study(storage, name, read_only)
        study = cls.__new__(cls)
        study._settle(from_json(store.definition), store, storage, name)
        return study

    def _settle(self, definition: Definition, store: Store, storage: str | Path | None, name: str) -> None:
        self.space = definition.space
        self.objectives = definition.objectives
        self.experiments = definition.experiments
        self.method = definition.method
        self.seed = definition.seed
        self.storage = None if storage is None else str(storage)
        self.name = name
        self._method = method_for(self.method, self.objectives, self.experiments)
        self._by_name = {o.name: o for o in self.objectives}
        self._store = store
        self._view = View(definition, store)
        self._fitted: tuple[int, Model] | None = None

    @property
    def trials(self) -> list[Trial]:
        """All trials, in the order of their ids."""
        self._view.sync()
        return self._view.trials

    def experiment(self, name: str) -> Experiment:
        """An experiment by its name."""
        for experiment in self.experiments:
            if experiment.name == name:
                return experiment
        raise DefinitionError(f"no experiment is called {name!r}; there are {[e.name for e in self.experiments]}")

    @property
    def settings(self) -> dict[str, Any]:
        """What `keep_settings` kept last: how the study is run (the command line's programs and limit)."""
        return self._store.settings()

    def keep_settings(self, settings: dict[str, Any]) -> None:
        """Keep a JSON object with the study, for whoever runs it elsewhere. It is no part of the definition."""
        self._store.keep_settings(settings)

    def close(self) -> None:
        """Let go of the database's connections. A study that is used again opens them again."""
        self._store.close()

    # ----------------------------------------------------------------------------------------------- ask and tell

    @overload
    def ask(self, n: None = None, lease: float | None = None, retries: int = RETRIES) -> Trial: ...
    @overload
    def ask(self, n: int, lease: float | None = None, retries: int = RETRIES) -> list[Trial]: ...
    def ask(self, n: int | None = None, lease: float | None = None, retries: int = RETRIES) -> Trial | list[Trial]:
        """The next trial to run, or a list of n. It counts as pending until it is told or failed.

        lease    seconds after which the trial is abandoned, and may be asked again, unless `trial.renew()` is called or
                 it is told before; None: it is held for ever. A result that comes late is still welcome. The lease
                 runs by the clock alone: this process may end meanwhile.
        retries  how often it may be asked again.
        """
        if lease is not None and not (is_number(lease) and lease > 0):
            raise DefinitionError(f"lease must be a number of seconds > 0 or None, not {brief(lease)}")
        if isinstance(retries, bool) or not isinstance(retries, int) or not 0 <= retries <= MOST_TRIALS:
            raise DefinitionError(f"retries must be a whole number from 0 to {MOST_TRIALS}, not {brief(retries)}")
        terms = Terms(lease, retries)
        if n is None:
            return self._ask(terms)
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise DefinitionError(f"ask(n): n must be a whole number >= 1, not {brief(n)}")
        return [self._ask(terms) for _ in range(n)]

    def _ask(self, terms: Terms) -> Trial:
        """A trial on these terms: a run's have an owner, which others may find dead before the lease is over."""
        self._view.sync()
        return self._handed_out(self._claim(terms) or self._reserve(terms))

    def retry(self, lease: float | None = None) -> Trial | None:
        """Only a trial that was abandoned and may be asked again; None where there is none."""
        return self._retry(Terms(lease))

    def _retry(self, terms: Terms) -> Trial | None:
        self._view.sync()
        record = self._claim(terms)
        return None if record is None else self._handed_out(record)

    def release(self, trials: Iterable[Trial | int]) -> None:
        """Give running trials back, to be asked again by whoever asks next."""
        self._store.release([self._find(trial).id for trial in trials])

    def _handed_out(self, record: Record) -> Trial:
        self._view.put(record)
        trial = record.trial
        object.__setattr__(trial, "_renew", self.renew)
        return trial

    def _claim(self, terms: Terms) -> Record | None:
        """A trial that was abandoned and may be asked again; the database is asked only where there may be one."""
        unfinished = self._view.unfinished
        held = [r for r in unfinished if r.trial.state == "running" and r.lease is not None]
        if not held and not any(r.again for r in unfinished if r.trial.state == "abandoned"):
            return None
        dead = {owner for owner in {r.owner for r in held} if owner is not None and is_dead(owner)}
        record = self._store.claim(terms, dead)
        self._view.sync()
        return record

    def _reserve(self, terms: Terms) -> Record:
        attempt = 0
        while True:
            view = self._view
            proposal = propose(
                self._method, view.evidence(), self._store.memory(), view.suggested + 1, attempt, view.last
            )
            record = self._store.reserve(proposal, terms)
            if record is not None:
                return record
            attempt += 1
            view.sync()

    def tell(self, trial: Trial | int, values: Mapping[str, float], cost: float | None = None) -> Trial:
        """Record what a trial revealed. The same values told again change nothing; other values are an error.

        cost  what the run really cost, where that is not what was planned.
        """
        known = self._find(trial)
        checked = check_values(self._by_name, self.experiment(known.experiment).reveals, values)
        if cost is not None and not (is_number(cost) and cost >= 0):
            raise ResultError(f"trial {known.id}: cost must be a number >= 0, not {brief(cost)}")
        told = self._finish(known, Outcome("complete", checked, cost=None if cost is None else float(cost)))
        if told.state == "failed":
            raise TrialError(f"trial {told.id} was reported as failed ({told.message}); it cannot be told now")
        if told.values != checked:
            raise TrialError(
                f"trial {told.id} was already told {told.values}; a second, different result {checked} is "
                "refused. Add a repeated measurement with study.add(trial.inputs, values)"
            )
        return told

    def fail(self, trial: Trial | int, message: str = "") -> Trial:
        """Record that a trial gave no usable result. Its point is not asked again."""
        known = self._find(trial)
        if not isinstance(message, str):
            raise ResultError(f"the message of a failed trial must be a string, not {brief(message)}")
        failed = self._finish(known, Outcome("failed", {}, message))
        if failed.state == "complete":
            raise TrialError(f"trial {failed.id} is complete with {failed.values}; it cannot fail now")
        return failed

    def renew(self, trial: Trial | int) -> None:
        """Hold a trial for another lease, from now."""
        known = self._find(trial)
        if not self._store.renew([known.id]):
            record = self._store.get(known.id)
            state = "unknown" if record is None else record.trial.state
            raise TrialError(f"trial {known.id} is {state} and cannot be renewed; if it was abandoned, tell it anyway")

    def add(self, inputs: Mapping[str, Any], values: Mapping[str, float]) -> Trial:
        """Record data you already have: one point and any of the objectives measured there."""
        record = self._store.add(self._measured(inputs, values))
        self._view.put(record)
        return record.trial

    def add_many(self, rows: Iterable[tuple[Mapping[str, Any], Mapping[str, float]]]) -> list[Trial]:
        """Record a table you already have, a row (inputs, values) per measurement: all of it, or, where a row is wrong,
        none. Returns the trials that are new.

        What was added before is not added again, not even by two processes at once: afterwards each row is there at
        least as often as the table has it. Equal rows of one table are repeated measurements, and all count.
        """
        records = self._store.add_many([self._measured(inputs, values) for inputs, values in rows])
        for record in records:
            self._view.put(record)
        return [record.trial for record in records]

    def _measured(self, inputs: Mapping[str, Any], values: Mapping[str, float]) -> Trial:
        """A trial that is complete already; the store gives it an id."""
        point = self.space.check(inputs)
        if not isinstance(values, Mapping) or not values:
            raise ResultError(f"values must be a dict with at least one objective, not {brief(values)}")
        known = tuple(name for name in values if name in self._by_name)
        checked = check_values(self._by_name, known or tuple(self._by_name), values)
        matching = [e for e in self.experiments if set(e.reveals) == set(checked)]
        name = matching[0].name if matching else "added"
        now = time.time()
        return Trial(0, name, point, 0.0, None, "complete", checked, note=ADDED, asked=now, finished=now)

    # -------------------------------------------------------------------------------------------------- knowledge

    def recommend(self, size: int = 50) -> Front:
        """The front: at most `size` points on the best trade-offs, as the model sees them now."""
        evidence = self._evidence("recommend")
        rng = rng_for(self.seed, RECOMMEND, self._view.suggested)
        with blas.limit(limits=1, user_api="blas"):
            return recommend(fit(evidence, to_state(self._store.memory()), rng), evidence, size, rng)

    def acquisition(self, points: Iterable[Mapping[str, Any]]) -> dict[str, np.ndarray]:
        """alpha_k in nats at each point: {objective: array}. What measuring it there is expected to teach."""
        evidence = self._evidence("compute the acquisition")
        unit = np.array([self.space.to_unit(point) for point in points]).reshape(-1, self.space.dim)
        rng = rng_for(self.seed, ACQUISITION, self._view.suggested)
        with blas.limit(limits=1, user_api="blas"):
            model = fit_and_draw(evidence, to_state(self._store.memory()), rng)
            alpha = condition_on_pareto_sets(model, evidence, rng).alpha(unit)
        return {o.name: row for o, row in zip(self.objectives, alpha, strict=True)}

    def fitted(self) -> Model:
        """The model of all objectives, given the data now; the same one until a trial changes."""
        evidence = self._evidence("fit the model")
        if self._fitted is None or self._fitted[0] != self._view.revision:
            rng = rng_for(self.seed, FITTED, self._view.suggested)
            with blas.limit(limits=1, user_api="blas"):
                self._fitted = self._view.revision, fit(evidence, to_state(self._store.memory()), rng)
        return self._fitted[1]

    @property
    def plot(self) -> "Gallery":
        """Pictures: study.plot.front(), .progress(), .evaluations(), .slices(), ... as plotly figures (pesmo[plot])."""
        from pesmo.report.gallery import Gallery

        return Gallery(self)

    def run(self, functions: Mapping[str, Callable[[dict[str, Any]], Any]], **limits: Any) -> Front:
        """Evaluate until a limit: see pesmo.run.loop.run for the limits."""
        from pesmo.run.loop import run

        return run(self, functions, **limits)

    # --------------------------------------------------------------------------------------------------- internal

    def _find(self, trial: Trial | int) -> Trial:
        trial_id = trial.id if isinstance(trial, Trial) else trial
        whole = isinstance(trial_id, int) and not isinstance(trial_id, bool)
        record = self._view.find(trial_id) if whole and 0 < trial_id <= MOST_TRIALS else None
        if record is None:
            raise TrialError(f"there is no trial {brief(trial_id)} in this study; it has {len(self.trials)} trials")
        return record.trial

    def _finish(self, trial: Trial, outcome: Outcome) -> Trial:
        record = self._store.finish(trial.id, outcome)
        if record is None:
            raise TrialError(f"trial {trial.id} is no longer in the storage")
        self._view.put(record)
        return record.trial

    def _evidence(self, what: str) -> Evidence:
        self._view.sync()
        evidence = self._view.evidence()
        for objective, observed in zip(self.objectives, evidence.observations, strict=True):
            if observed.values.size == 0:
                raise TrialError(f"cannot {what} yet: objective {objective.name!r} has no value; tell or add one")
        return modelled(evidence)
