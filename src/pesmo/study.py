"""A study: ask what to run next, tell what came out, recommend the trade-offs found so far."""

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np
from threadpoolctl import ThreadpoolController

from pesmo.errors import DefinitionError, NumericalFailure, ResultError, TrialError
from pesmo.front import Front
from pesmo.methods.design import from_design
from pesmo.methods.model import fit
from pesmo.methods.pesmo import condition_on_pareto_sets
from pesmo.methods.protocol import State
from pesmo.methods.recommend import recommend
from pesmo.methods.registry import method_for
from pesmo.problem import (
    Evidence,
    Experiment,
    Objective,
    Observations,
    Suggestion,
    Trial,
    check_experiments,
    check_objectives,
    check_values,
)
from pesmo.space import Space

ENOUGH = 5  # measurements of every objective before the model takes over from the design
COUPLED = "evaluate"  # the name of the experiment that reveals everything, where none was given
RECOMMEND, ACQUISITION = 1, 2  # streams of randomness beside the trials'

_blas = ThreadpoolController()


class Study:
    """Space, objectives, experiments, a method, and the trials so far.

    objectives   Objective or just a name each.
    experiments  Experiment each; without any, one experiment reveals every objective.
    seed         fixes every suggestion; None draws one (kept in `study.seed`).
    """

    def __init__(
        self,
        space: Space,
        objectives: Iterable[Objective | str],
        experiments: Iterable[Experiment] | None = None,
        method: str = "pesmo",
        seed: int | None = None,
    ) -> None:
        if not isinstance(space, Space):
            raise DefinitionError(f"space must be a pesmo.Space, not {space!r}")
        self.space = space
        self.objectives = tuple(o if isinstance(o, Objective) else Objective(o) for o in _listed(objectives))
        check_objectives(space, self.objectives)
        names = tuple(o.name for o in self.objectives)
        self.experiments = tuple(experiments) if experiments else (Experiment(COUPLED, names),)
        check_experiments(self.objectives, self.experiments)
        self.method = method
        self._method = method_for(method, self.objectives, self.experiments)
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
            raise DefinitionError(f"seed must be a whole number >= 0 or None, not {seed!r}")
        self.seed = secrets.randbits(32) if seed is None else seed
        self._by_name = {o.name: o for o in self.objectives}
        self._trials: dict[int, Trial] = {}
        self._state: State | None = None

    @property
    def trials(self) -> list[Trial]:
        """All trials, in the order of their ids."""
        return list(self._trials.values())

    def experiment(self, name: str) -> Experiment:
        """An experiment by its name."""
        for experiment in self.experiments:
            if experiment.name == name:
                return experiment
        raise DefinitionError(f"no experiment is called {name!r}; there are {[e.name for e in self.experiments]}")

    # ----------------------------------------------------------------------------------------------- ask and tell

    @overload
    def ask(self) -> Trial: ...
    @overload
    def ask(self, n: int) -> list[Trial]: ...
    def ask(self, n: int | None = None) -> Trial | list[Trial]:
        """The next trial to run, or a list of n. It counts as pending until it is told or failed."""
        if n is None:
            return self._ask()
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise DefinitionError(f"ask(n): n must be a whole number >= 1, not {n!r}")
        return [self._ask() for _ in range(n)]

    def _ask(self) -> Trial:
        trial_id = self._next_id()
        suggestion = self._suggest(trial_id)
        experiment = self.experiments[suggestion.experiment]
        inputs = self.space.from_unit(suggestion.unit)
        trial = Trial(
            id=trial_id,
            experiment=experiment.name,
            inputs=inputs,
            cost=experiment.cost_at(inputs),
            gain=suggestion.gain,
            note=suggestion.note,
        )
        self._trials[trial_id] = trial
        return trial

    def _suggest(self, trial_id: int) -> Suggestion:
        evidence = self._evidence()
        if self._method.needs_design and min(o.values.size for o in evidence.observations) < ENOUGH:
            return from_design(evidence, self._method.needs_complete, "design")
        try:
            with _blas.limit(limits=1, user_api="blas"):
                answer = self._method.suggest(evidence, self._state, self._rng(0, trial_id))
        except NumericalFailure as failure:
            note = f"fallback to the space-filling design: {failure}"
            return from_design(evidence, self._method.needs_complete, note)
        self._state = answer.state
        return answer.suggestion

    def tell(self, trial: Trial | int, values: Mapping[str, float]) -> Trial:
        """Record what a trial revealed. The same values told again change nothing; other values are an error."""
        current = self._find(trial)
        checked = check_values(self._by_name, self.experiment(current.experiment).reveals, values)
        if current.state == "complete":
            if current.values == checked:
                return current
            raise TrialError(
                f"trial {current.id} was already told {current.values}; a second, different result {checked} is "
                "refused. Add a repeated measurement with study.add(trial.inputs, values)"
            )
        if current.state == "failed":
            raise TrialError(f"trial {current.id} was reported as failed ({current.message}); it cannot be told now")
        return self._replace(replace(current, state="complete", values=checked))

    def fail(self, trial: Trial | int, message: str = "") -> Trial:
        """Record that a trial gave no usable result. Its point is not asked again."""
        current = self._find(trial)
        if not isinstance(message, str):
            raise ResultError(f"the message of a failed trial must be a string, not {message!r}")
        if current.state == "complete":
            raise TrialError(f"trial {current.id} is complete with {current.values}; it cannot fail now")
        return self._replace(replace(current, state="failed", message=message))

    def add(self, inputs: Mapping[str, Any], values: Mapping[str, float]) -> Trial:
        """Record data you already have: one point and any of the objectives measured there."""
        point = self.space.check(inputs)
        if not isinstance(values, Mapping) or not values:
            raise ResultError(f"values must be a dict with at least one objective, not {values!r}")
        known = tuple(name for name in values if name in self._by_name)
        checked = check_values(self._by_name, known or tuple(self._by_name), values)
        matching = [e for e in self.experiments if set(e.reveals) == set(checked)]
        name = matching[0].name if matching else "added"
        trial = Trial(self._next_id(), name, point, cost=0.0, state="complete", values=checked, note="added")
        return self._replace(trial)

    # -------------------------------------------------------------------------------------------------- knowledge

    def recommend(self, size: int = 50) -> Front:
        """The front: at most `size` points on the best trade-offs, as the model sees them now."""
        evidence = self._evidence()
        self._need_data(evidence, "recommend")
        rng = self._rng(RECOMMEND, len(self._trials))
        with _blas.limit(limits=1, user_api="blas"):
            return recommend(fit(evidence, self._state, rng), evidence, size, rng)

    def acquisition(self, points: Iterable[Mapping[str, Any]]) -> dict[str, np.ndarray]:
        """alpha_k in nats at each point: {objective: array}. What measuring it there is expected to teach."""
        evidence = self._evidence()
        self._need_data(evidence, "compute the acquisition")
        unit = np.array([self.space.to_unit(point) for point in points]).reshape(-1, self.space.dim)
        rng = self._rng(ACQUISITION, len(self._trials))
        with _blas.limit(limits=1, user_api="blas"):
            acquisition = condition_on_pareto_sets(fit(evidence, self._state, rng), evidence, rng)
            alpha = acquisition.alpha(unit)
        return {o.name: row for o, row in zip(self.objectives, alpha, strict=True)}

    def run(self, functions: Mapping[str, Callable[[dict[str, Any]], Any]], **limits: Any) -> Front:
        """Evaluate until a limit: see pesmo.run.loop.run for the limits."""
        from pesmo.run.loop import run

        return run(self, functions, **limits)

    # --------------------------------------------------------------------------------------------------- internal

    def _rng(self, stream: int, number: int) -> np.random.Generator:
        """Randomness that depends on the seed and what it is for, not on who asks."""
        return np.random.default_rng(np.random.SeedSequence([self.seed, stream, number]))

    def _next_id(self) -> int:
        return len(self._trials) + 1

    def _find(self, trial: Trial | int) -> Trial:
        trial_id = trial.id if isinstance(trial, Trial) else trial
        if isinstance(trial_id, bool) or not isinstance(trial_id, int) or trial_id not in self._trials:
            raise TrialError(f"there is no trial {trial_id!r} in this study; it has {len(self._trials)} trials")
        return self._trials[trial_id]

    def _replace(self, trial: Trial) -> Trial:
        self._trials[trial.id] = trial
        return trial

    def _need_data(self, evidence: Evidence, what: str) -> None:
        for objective, observed in zip(self.objectives, evidence.observations, strict=True):
            if observed.values.size == 0:
                raise TrialError(f"cannot {what} yet: objective {objective.name!r} has no value; tell or add one")

    def _evidence(self) -> Evidence:
        """The trials as methods see them."""
        units = {t.id: self.space.to_unit(t.inputs) for t in self._trials.values()}
        revealed = {t.id: self._revealed(t) for t in self._trials.values()}

        def stacked(rows: list[np.ndarray]) -> np.ndarray:
            return np.array(rows).reshape(-1, self.space.dim)

        observations = []
        for objective in self.objectives:
            told = [t for t in self._trials.values() if objective.name in t.values]
            open_ = [t for t in self._trials.values() if not t.values and objective.name in revealed[t.id]]
            observations.append(
                Observations(
                    unit=stacked([units[t.id] for t in told]),
                    values=objective.to_model(np.array([t.values[objective.name] for t in told], float)),
                    pending=stacked([units[t.id] for t in open_]),
                )
            )
        taken = tuple(
            stacked([units[i] for i, names in revealed.items() if set(e.reveals) <= set(names)])
            for e in self.experiments
        )
        return Evidence(self.space, self.objectives, self.experiments, tuple(observations), taken, self.seed)

    def _revealed(self, trial: Trial) -> Sequence[str]:
        """The objectives a trial has revealed or was to reveal."""
        return tuple(trial.values) or self.experiment(trial.experiment).reveals


def _listed(objectives: Any) -> list[Any]:
    if isinstance(objectives, str | Objective):
        return [objectives]
    return list(objectives)
