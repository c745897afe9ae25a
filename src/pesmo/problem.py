"""What a study is about: objectives, the experiments that reveal them, trials, and the evidence methods work from."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Literal

import numpy as np

from pesmo.errors import DefinitionError, ResultError, TrialError, brief
from pesmo.space import Space

Cost = float | Callable[[dict[str, Any]], float]
State = Literal["running", "complete", "failed", "abandoned"]

TRANSFORMS = ("log", "logit")


@dataclass(frozen=True)
class Objective:
    """A named number to minimize or maximize.

    inputs     the inputs it depends on; None: all of them. The model then ignores the others.
    transform  "log" for positive values over orders of magnitude, "logit" for rates between 0 and 1.
    noise      the standard deviation of one measurement where it is known (after the transform); 0 for an exact
               computation; None: learned from the data.
    unit       shown beside the name on axes and in tables, as in unit="kWh".
    worst      the worst value of any interest, in the objective's own units; None: unknown. Trade-offs beyond it are
               not looked for, which saves the evaluations that their ends would take.
    """

    name: str
    goal: Literal["minimize", "maximize"] = "minimize"
    inputs: Sequence[str] | None = None
    transform: Literal["log", "logit"] | None = None
    noise: float | None = None
    unit: str | None = None
    worst: float | None = None

    def __post_init__(self) -> None:
        _check_name("an objective", self.name)
        if self.goal not in ("minimize", "maximize"):
            raise DefinitionError(
                f"objective {self.name!r}: goal must be 'minimize' or 'maximize', not {brief(self.goal)}"
            )
        if self.transform is not None and self.transform not in TRANSFORMS:
            raise DefinitionError(
                f"objective {self.name!r}: transform must be one of {list(TRANSFORMS)} or None, "
                f"not {brief(self.transform)}"
            )
        if self.inputs is not None:
            object.__setattr__(self, "inputs", _names(f"objective {self.name!r}: inputs", self.inputs))
        if self.noise is not None and not (is_number(self.noise) and self.noise >= 0):
            raise DefinitionError(
                f"objective {self.name!r}: noise is a standard deviation, a number >= 0, or None to learn it, "
                f"not {brief(self.noise)}"
            )
        if self.unit is not None and not (isinstance(self.unit, str) and self.unit):
            raise DefinitionError(f"objective {self.name!r}: unit must be a text such as 'kWh', not {brief(self.unit)}")
        if self.worst is not None:
            self._check_worst()

    def _check_worst(self) -> None:
        if not is_number(self.worst):
            raise DefinitionError(
                f"objective {self.name!r}: worst must be a value of the objective, or None, not {brief(self.worst)}"
            )
        try:
            self.check(self.worst)
        except ResultError as error:
            raise DefinitionError(f"objective {self.name!r}: worst is no value it can have: {error}") from error

    def check(self, value: Any) -> float:
        """The value as a finite float that the transform accepts."""
        if not is_number(value):
            raise ResultError(
                f"objective {self.name!r} must be a finite number, not {brief(value)}; "
                "report a run without a usable result with study.fail(trial, reason)"
            )
        if self.transform == "log" and not value > 0:
            raise ResultError(f"objective {self.name!r} = {value} must be above 0 for its transform 'log'")
        if self.transform == "logit" and not 0 < value < 1:
            raise ResultError(
                f"objective {self.name!r} = {value} must lie strictly between 0 and 1 for its transform 'logit'"
            )
        return float(value)

    def to_model(self, values: np.ndarray) -> np.ndarray:
        """Measured values on the scale of the model: transformed, and to be minimized."""
        if self.transform == "log":
            values = np.log(values)
        elif self.transform == "logit":
            values = np.log(values) - np.log1p(-values)
        return -values if self.goal == "maximize" else values

    def from_model(self, values: np.ndarray) -> np.ndarray:
        """The inverse of `to_model`."""
        values = -values if self.goal == "maximize" else values
        if self.transform == "log":
            return np.exp(np.clip(values, -700.0, 700.0))
        if self.transform == "logit":
            return 1.0 / (1.0 + np.exp(-np.clip(values, -700.0, 36.0)))  # strictly between 0 and 1 in float64
        return values


@dataclass(frozen=True)
class Experiment:
    """Something one can run at a point: it reveals some objectives, at a cost: a number, or a function of the point."""

    name: str
    reveals: Sequence[str]
    cost: Cost = 1.0

    def __post_init__(self) -> None:
        _check_name("an experiment", self.name)
        object.__setattr__(self, "reveals", _names(f"experiment {self.name!r}: reveals", self.reveals))
        if not callable(self.cost) and not (is_number(self.cost) and self.cost > 0):
            raise DefinitionError(
                f"experiment {self.name!r}: cost must be a number > 0 or a function of the inputs, "
                f"not {brief(self.cost)}"
            )

    def cost_at(self, point: dict[str, Any]) -> float:
        """The cost of one run at a point."""
        if not callable(self.cost):
            return float(self.cost)
        cost = self.cost(dict(point))
        if not (is_number(cost) and cost > 0):
            raise DefinitionError(
                f"experiment {self.name!r}: cost({brief(point)}) gave {brief(cost)}; it must be a number > 0"
            )
        return float(cost)


@dataclass(frozen=True)
class Trial:
    """One run of one experiment at one point.

    gain      nats of information about the Pareto set expected of it, when it was asked (None for data that was added,
              and for a first trial, which comes from the design).
    note      how it was chosen, where that was not the method's plain answer: "design", "fallback: ...", ...
    asked     when it was handed out, unix seconds; finished: when it was told or failed.
    retry_of  the id of the abandoned trial that this one repeats.
    """

    id: int
    experiment: str
    inputs: dict[str, Any]
    cost: float
    gain: float | None = None
    state: State = "running"
    values: dict[str, float] = field(default_factory=dict)
    message: str | None = None
    note: str | None = None
    asked: float | None = field(default=None, compare=False)
    finished: float | None = field(default=None, compare=False)
    retry_of: int | None = None

    _renew = None  # set by Study.ask, no field: a trial stays plain data that can be copied and sent anywhere

    def renew(self) -> None:
        """Hold the trial for another lease: see Study.renew."""
        if self._renew is None:
            raise TrialError(f"trial {self.id} is a copy that knows no study; call study.renew({self.id})")
        self._renew(self.id)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_renew"}


@dataclass(frozen=True)
class Observations:
    """What is known of one objective, in the unit cube and on the model's scale.

    unit     (n, d) where it was measured      values  (n,) what was measured
    pending  (p, d) where a measurement is running, or failed and will never come
    """

    unit: np.ndarray
    values: np.ndarray
    pending: np.ndarray


@dataclass(frozen=True)
class Evidence:
    """All that a method may look at when it picks the next trial. One entry per objective, or per experiment."""

    space: Space
    objectives: tuple[Objective, ...]
    experiments: tuple[Experiment, ...]
    observations: tuple[Observations, ...]
    taken: tuple[np.ndarray, ...]  # per experiment, (n, d): where it was run, is running or has failed
    seed: int = 0  # the study's: what must be the same at every call is drawn from it
    left_out: tuple[int, ...] = ()  # per objective, values that a model of the others does without; () where of none

    @property
    def reveals(self) -> np.ndarray:
        """(E, K) True where experiment e reveals objective k."""
        return np.array([[o.name in e.reveals for o in self.objectives] for e in self.experiments])

    @property
    def worst(self) -> np.ndarray:
        """(K,) the objectives' worst values of interest, on the model's scale; inf where none was given."""
        given = [(o, o.worst) for o in self.objectives]
        return np.array([np.inf if worst is None else float(o.to_model(np.array(worst))) for o, worst in given])

    @property
    def complete(self) -> np.ndarray:
        """(E,) True where experiment e reveals every objective."""
        return np.all(self.reveals, axis=1)

    @property
    def complete_points(self) -> tuple[np.ndarray, np.ndarray]:
        """The distinct points (n, d) where every objective was measured, and their values (n, K), repeats averaged."""
        tables = []
        for observed in self.observations:
            table: dict[bytes, list[float]] = {}
            for row, value in zip(self.space.snap(observed.unit), observed.values.tolist(), strict=True):
                table.setdefault(row.tobytes(), []).append(value)
            tables.append({key: sum(v / len(values) for v in values) for key, values in table.items()})
        keys = [key for key in tables[0] if all(key in table for table in tables)]
        unit = np.array([np.frombuffer(key) for key in keys]).reshape(-1, self.space.dim)
        return unit, np.array([[table[key] for table in tables] for key in keys]).reshape(-1, len(tables))

    def ready(self, enough: int, only_complete: bool) -> bool:
        """Whether a model has enough values: of each objective, or, for `only_complete`, points with all of them.

        What has been measured wherever it can be told apart has enough of them, however few that are.
        """
        if only_complete:
            return self._has(self.complete_points[0].shape[0], enough, self.complete)
        sizes = [o.values.size for o in self.observations]
        return all(self._has(size, enough, self.reveals[:, k]) for k, size in enumerate(sizes))

    def _has(self, values: int, enough: int, experiments: np.ndarray) -> bool:
        """Whether so many values are enough, or all that the experiments, (E,) True, can still find in new places."""
        return values >= enough or (values > 0 and all(self.is_exhausted(int(e)) for e in np.flatnonzero(experiments)))

    @property
    def measured_points(self) -> np.ndarray:
        """(n, d) the distinct points at which anything was measured or is pending."""
        parts = [part for observed in self.observations for part in (observed.unit, observed.pending)]
        return np.unique(self.space.snap(np.concatenate(parts)), axis=0)

    def relevant(self, e: int) -> np.ndarray:
        """(d,) True where an input matters to experiment e: two points equal there are one and the same run."""
        names = self.space.names
        mask = np.zeros(len(names), bool)
        for objective, revealed in zip(self.objectives, self.reveals[e], strict=True):
            if revealed:
                mask |= [objective.inputs is None or name in objective.inputs for name in names]
        return mask

    def is_taken(self, e: int, unit: np.ndarray) -> np.ndarray:
        """(n,) True where experiment e was already run at `unit` (n, d), as far as it can tell points apart."""
        seen = self._seen(e)
        return np.array([row.tobytes() in seen for row in self.space.snap(unit)[:, self.relevant(e)]], bool)

    def is_exhausted(self, e: int) -> bool:
        """Whether experiment e was run at every point that it can tell apart."""
        size = self.space.size_of(self.relevant(e))
        return size is not None and size <= self.taken[e].shape[0] and size <= len(self._seen(e))

    def free_point(self, e: int, near: np.ndarray) -> np.ndarray | None:
        """(d,) the first new point of a finite space of experiment e, as `near` (d,) in the inputs that do not matter.

        None where there is none, or an input that matters is a Float. Among n + 1 points one is not among n: the work
        grows with the runs there were, not with the space.
        """
        columns, seen = self.relevant(e), len(self._seen(e))
        size = self.space.size_of(columns)
        if size is None or size <= seen:
            return None
        points = np.repeat(near[None, :], min(size, seen + 1), axis=0)
        points[:, columns] = self.space.first_points(columns, seen + 1)
        free = points[~self.is_taken(e, points)]
        return free[0] if free.shape[0] else None

    def _seen(self, e: int) -> set[bytes]:
        """The distinct points where experiment e was run, along the inputs that matter to it."""
        return {row.tobytes() for row in self.space.snap(self.taken[e])[:, self.relevant(e)]}


@dataclass(frozen=True)
class Suggestion:
    """A method's answer: run experiment number `experiment` at `unit` (d,), expecting `gain` nats."""

    experiment: int
    unit: np.ndarray
    gain: float | None = None
    note: str | None = None


def check_objectives(space: Space, objectives: tuple[Objective, ...]) -> None:
    """Objectives fit the space and each other, or an error that names the misfit."""
    if not objectives:
        raise DefinitionError("a study needs at least one objective")
    _unique("objective", [o.name for o in objectives])
    for objective in objectives:
        for name in objective.inputs or ():
            if name not in space.names:
                raise DefinitionError(
                    f"objective {objective.name!r}: input {name!r} is not in the space {brief(list(space.names))}"
                )


def check_experiments(objectives: tuple[Objective, ...], experiments: tuple[Experiment, ...]) -> None:
    """Experiments reveal the objectives, all of them and nothing else, or an error that names the misfit."""
    _unique("experiment", [e.name for e in experiments])
    names = {o.name: None for o in objectives}
    for experiment in experiments:
        for name in experiment.reveals:
            if name not in names:
                raise DefinitionError(
                    f"experiment {experiment.name!r} reveals {name!r}, which is not among the objectives "
                    f"{brief(list(names))}"
                )
    revealed = {name for experiment in experiments for name in experiment.reveals}
    for name in names:
        if name not in revealed:
            raise DefinitionError(f"no experiment reveals the objective {name!r}; add it to an experiment's reveals")


def check_values(objectives: Mapping[str, Objective], revealed: Sequence[str], values: Any) -> dict[str, float]:
    """The values of a result, checked: exactly the revealed objectives, each a number its transform accepts."""
    if not isinstance(values, Mapping):
        raise ResultError(
            f"a result must be a dict of objective values such as {{{revealed[0]!r}: 0.5}}, not {brief(values)}"
        )
    unknown = [name for name in values if name not in revealed]
    missing = [name for name in revealed if name not in values]
    if unknown or missing:
        parts = [f"unknown objective {brief(n)}" for n in unknown] + [f"missing objective {n!r}" for n in missing]
        raise ResultError(f"{'; '.join(parts)}; expected exactly {brief(list(revealed))}")
    return {name: objectives[name].check(values[name]) for name in revealed}


def is_number(value: Any) -> bool:
    """A finite real number; a bool is none."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _check_name(what: str, name: Any) -> None:
    if not isinstance(name, str) or not name:
        raise DefinitionError(f"{what}'s name must be a non-empty string, not {brief(name)}")


def _names(what: str, names: Any) -> tuple[str, ...]:
    if isinstance(names, str) or not names or not all(isinstance(n, str) for n in names):
        raise DefinitionError(f"{what} must be a list of names, not {brief(names)}")
    _unique(f"{what}: name", list(names))
    return tuple(names)


def _unique(what: str, names: list[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise DefinitionError(f"{what} {name!r} appears twice; names must differ")
