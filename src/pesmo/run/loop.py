"""The loop: ask, evaluate, tell, until a limit is reached; with a progress bar."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from pesmo.errors import DefinitionError, ResultError
from pesmo.front import Front

if TYPE_CHECKING:
    from pesmo.study import Study

Function = Callable[[dict[str, Any]], Any]
FAILURES_IN_A_ROW = 10


def run(
    study: "Study",
    functions: Mapping[str, Function],
    evaluations: int | None = None,
    budget: float | None = None,
    progress: bool = True,
    workers: int = 1,
    failures: int | None = FAILURES_IN_A_ROW,
) -> Front:
    """Evaluate until `evaluations` trials or `budget` units of cost have been spent in all, then recommend.

    functions    {experiment name: function of the inputs}. A function returns a dict of objective values, or just the
                 number where its experiment reveals one objective. An exception makes a failed trial.
    evaluations  of the whole study, so that a run that was interrupted goes on where it stopped.
    budget       likewise; a trial starts while any of it is left, so the last one may overdraw it.
    """
    _check(study, functions, evaluations, budget)
    total = evaluations if evaluations is not None else budget
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn() if evaluations is not None else TextColumn("cost {task.completed:g}/{task.total:g}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[last]}"),
        disable=not progress,
    ) as bar:
        task = bar.add_task("evaluating", total=total, last="")
        in_a_row = 0
        while True:
            asked = [t for t in study.trials if t.note != "added"]
            done = len([t for t in asked if t.state != "running"]) if evaluations is not None else _spent(asked)
            bar.update(task, completed=done)
            if total is not None and done >= total:
                break
            bar.update(task, description="thinking")
            running = [t for t in asked if t.state == "running"]
            trial = running[0] if running else study.ask()
            bar.update(task, description=f"running {trial.experiment}")
            try:
                values = functions[trial.experiment](dict(trial.inputs))
                study.tell(trial, _as_dict(values, study.experiment(trial.experiment).reveals))
                in_a_row = 0
            except Exception as error:  # whatever the user's function does, the study goes on
                study.fail(trial, f"{type(error).__name__}: {error}")
                in_a_row += 1
                if in_a_row == failures:
                    raise ResultError(
                        f"the last {in_a_row} trials failed, the latest with {type(error).__name__}: {error}; "
                        "mend the function and run again: the study is as it was"
                    ) from error
            told = study.trials[trial.id - 1]
            outcome = ", ".join(f"{k} = {v:.4g}" for k, v in told.values.items()) or f"failed: {told.message}"
            bar.update(task, last=outcome)
        bar.update(task, description="done")
    return study.recommend()


def _spent(trials: list[Any]) -> float:
    return sum(t.cost for t in trials if t.state != "running")


def _as_dict(values: Any, reveals: Sequence[str]) -> Any:
    return values if isinstance(values, Mapping) or len(reveals) > 1 else {reveals[0]: values}


def _check(study: "Study", functions: Mapping[str, Function], evaluations: int | None, budget: float | None) -> None:
    if not isinstance(functions, Mapping):
        raise DefinitionError(f"functions must be a dict {{experiment: function}}, not {functions!r}")
    names = [e.name for e in study.experiments]
    for name in functions:
        if name not in names:
            raise DefinitionError(f"functions names {name!r}, which is not among the experiments {names}")
    for name in names:
        if not callable(functions.get(name)):
            raise DefinitionError(f"functions has no function for the experiment {name!r}; the experiments are {names}")
    if (evaluations is None) == (budget is None):
        raise DefinitionError("give run one limit: evaluations=... or budget=...")
    limit = evaluations if evaluations is not None else budget
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not limit > 0:
        raise DefinitionError(f"evaluations or budget must be a number > 0, not {limit!r}")
