"""The progress bar of a run."""

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from pesmo.printable import excerpt, printable


class Bar:
    """A context: what is done, what is going on, and how the latest trial ended."""

    def __init__(self, evaluations: int | None, budget: float | None, shown: bool) -> None:
        self.last = ""
        self._counts = evaluations is not None or budget is None
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn() if self._counts else TextColumn("cost {task.completed:g}/{task.total:g}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[last]}", markup=False),
            disable=not shown,
        )
        self._task = self._progress.add_task("evaluating", total=evaluations if self._counts else budget, last="")

    def __enter__(self) -> "Bar":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, evaluations: int, cost: float) -> None:
        self._progress.update(
            self._task, completed=evaluations if self._counts else cost, last=excerpt(self.last, lines=0)
        )

    def say(self, what: str) -> None:
        self._progress.update(self._task, description=printable(what))
