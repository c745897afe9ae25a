"""Runs, one after another or over processes, with a progress bar. One process writes: the one that was started."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from queue import Empty
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from experiments.results import Results
from experiments.runs import Row, Run, finished, perform

_rows: Any = None  # in a worker: the queue that leads to the parent


def execute(runs: Sequence[Run], results: Results, jobs: int, command: str, progress: bool = True) -> list[str]:
    """Carry every run to its end; what went wrong, a line each. An error ends its run, not the others."""
    with results.writing():
        stored = {run: results.stored(run) for run in runs}
        todo = [(run, stored[run]) for run in runs if not finished(run, stored[run])]
        if not todo:
            return []
        batch, errors = results.new_batch(command), []
        bar = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
            TimeRemainingColumn(), disable=not progress,
        )  # fmt: skip
        with bar:
            total = sum(run.evaluations for run in runs)
            spent = {run: float(rows[-1]["spent"]) if rows else 0.0 for run, rows in stored.items()}
            line = bar.add_task("evaluations", total=total)
            bar.update(line, completed=int(sum(spent.values())))
            for run, outcome in _in_turn(todo) if jobs == 1 else _in_processes(todo, jobs):
                if isinstance(outcome, str):
                    errors.append(f"{run.label}: {outcome}")
                    continue
                results.append(run, outcome, batch)
                spent[run] = outcome["spent"]
                bar.update(line, description=run.label, completed=int(sum(spent.values())))
                if progress and outcome["score"] != "":
                    bar.console.print(f"{run.label}: {outcome['score']:.3f} after {outcome['mark']} evaluations")
        return errors


Outcome = tuple[Run, Row | str]  # a row, or what went wrong


def _in_turn(todo: Sequence[tuple[Run, list[Row]]]) -> Iterator[Outcome]:
    for run, stored in todo:
        try:
            for row in perform(run, stored):
                yield run, row
        except Exception as error:  # reported with all others at the end
            yield run, f"{type(error).__name__}: {error}"


def _in_processes(todo: Sequence[tuple[Run, list[Row]]], jobs: int) -> Iterator[Outcome]:
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    with ProcessPoolExecutor(jobs, context, initializer=_begin, initargs=(queue,)) as pool:
        futures = [pool.submit(_send_rows, run, stored) for run, stored in todo]
        try:
            yield from _received(futures, queue)
        finally:
            for future in futures:
                future.cancel()
    for (run, _), future in zip(todo, futures, strict=True):
        if not future.cancelled() and future.exception() is not None:
            yield run, f"{type(future.exception()).__name__}: {future.exception()}"


def _received(futures: Sequence[Future[None]], queue: Any) -> Iterator[Outcome]:
    """What the workers send, until they are done and all of it has come."""
    while True:
        done = all(future.done() for future in futures)  # asked before the queue: what comes later is not missed
        try:
            yield queue.get(timeout=0.2)
        except Empty:
            if done:
                return


def _begin(queue: Any) -> None:
    global _rows  # noqa: PLW0603 (a worker's own)
    _rows = queue


def _send_rows(run: Run, stored: list[Row]) -> None:
    for outcome in _in_turn([(run, stored)]):
        _rows.put(outcome)
