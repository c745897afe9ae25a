"""`pesmo.minimize`: one call from functions and a space to the front."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pesmo.definition import COUPLED
from pesmo.errors import DefinitionError, ResultError
from pesmo.front import Front
from pesmo.problem import Experiment, Objective
from pesmo.space import Space
from pesmo.study import Study


@dataclass(frozen=True)
class Result:
    """The front that was found, and the study behind it."""

    front: Front
    study: Study


def minimize(
    functions: Callable[[dict[str, Any]], Any] | Mapping[str, Callable[[dict[str, Any]], Any]],
    space: Space,
    evaluations: int = 60,
    *,
    costs: Mapping[str, float] | None = None,
    method: str = "pesmo",
    seed: int | None = None,
    progress: bool = True,
) -> Result:
    """Minimize several objectives.

    functions    {objective: function of the inputs} to evaluate each objective on its own, where it teaches most
                 (decoupled); or one function that returns {objective: value} for all of them at once (coupled).
    evaluations  how many function calls to spend in all.
    costs        {objective: cost of one call}, where the calls of a decoupled problem differ in cost.
    """
    if isinstance(functions, Mapping):
        unknown = [name for name in costs or {} if name not in functions]
        if unknown:
            raise DefinitionError(f"costs names {unknown}, which are not among the functions {list(functions)}")
        experiments = [Experiment(name, (name,), (costs or {}).get(name, 1.0)) for name in functions]
        study = Study(space, [Objective(name) for name in functions], experiments, method, seed)
        return Result(study.run(functions, evaluations=evaluations, progress=progress), study)
    if not callable(functions):
        raise DefinitionError(f"functions must be a function or a dict of functions, not {functions!r}")
    if costs is not None:
        raise DefinitionError("costs belongs to a dict of functions; one function has one cost")
    return _coupled(functions, space, evaluations, method, seed, progress)


def _coupled(
    function: Callable[[dict[str, Any]], Any],
    space: Space,
    evaluations: int,
    method: str,
    seed: int | None,
    progress: bool,
) -> Result:
    """The objectives' names come from the first result, so the first point is evaluated before the study exists."""
    probe = Study(space, ["unknown"], method=method, seed=seed)
    first = probe.ask().inputs
    values = function(dict(first))
    if not isinstance(values, Mapping) or not values:
        raise ResultError(
            f"the function must return a dict {{objective: value}}, not {values!r}; "
            "to minimize separate functions pass a dict {objective: function}"
        )
    study = Study(space, list(values), method=method, seed=probe.seed)
    study.tell(study.ask(), values)  # the design depends on space and seed alone: this is the point just evaluated
    return Result(study.run({COUPLED: function}, evaluations=evaluations, progress=progress), study)
