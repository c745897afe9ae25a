"""The view of `pesmo run`: it watches the storage from a thread of its own, as another process would.

The loop that runs the study knows nothing of it and never waits for it.
"""

import threading
import time
from contextlib import suppress

from rich.console import Console
from rich.live import Live
from rich.text import Text

from pesmo.cli.view import Limit, has_front, outcome_line, picture, summarize
from pesmo.errors import PesmoError
from pesmo.front import Front
from pesmo.study import Study

REFRESH = 0.5  # seconds between two looks at the storage, at least
SHARE = 0.1  # of the time that goes into looking, and likewise into computing the front
MOST_TRIALS = 300  # for which a front is computed: with more, the model takes too long to be shown beside a run
ENDED = ("complete", "failed")


class LiveView:
    """A context that shows the study while it runs: a picture on a terminal, else a line for each trial that ends."""

    def __init__(self, study: Study, limit: Limit, console: Console) -> None:
        self._storage, self._name, self._limit, self._console = study.storage, study.name, limit, console
        self._began, self._before = time.monotonic(), limit.done(study.trials)
        self._seen = {t.id for t in study.trials if t.state in ENDED}
        self._last = ""
        self._front: Front | None = None
        self._front_of = 0  # how many trials had ended when it was computed
        self._next_front = 0.0  # not before this time
        self._spent = 0.0  # seconds, on the latest look
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="pesmo-view", daemon=True)

    def __enter__(self) -> "LiveView":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        with suppress(OSError):  # nobody looks any more: a closed terminal, a closed pipe. The run goes on
            self._look()

    def _look(self) -> None:
        """Look until told to stop, and once more then."""
        study: Study | None = None
        stopping = False
        with Live(console=self._console, auto_refresh=False, transient=True) as live:
            while not stopping:
                stopping = self._stop.wait(max(REFRESH, self._spent / SHARE))
                try:
                    if study is None:
                        study = Study.open(self._storage or "", self._name)
                    began = time.monotonic()
                    self._report(study)
                    if self._console.is_terminal:
                        self._draw(study, live)
                    self._spent = time.monotonic() - began
                    if self._console.is_terminal and not stopping:
                        self._recommend(study)
                except PesmoError as error:  # the view goes on; the run itself stops where it must
                    self._last = str(error)
        if study is not None:
            study.close()

    def _report(self, study: Study) -> None:
        """Note what has ended since the last look; a line for each where there is no picture."""
        trials = study.trials
        for trial in [t for t in trials if t.state in ENDED and t.id not in self._seen]:
            self._seen.add(trial.id)
            self._last = outcome_line(trial)
            if not self._console.is_terminal:
                done = self._limit.done([t for t in trials if t.id in self._seen])
                self._console.print(Text(f"{done:g}/{self._limit.total:g}  {self._last}"), soft_wrap=True)

    def _draw(self, study: Study, live: Live) -> None:
        summary = summarize(study, self._limit, self._front)
        live.update(picture(summary, self._left(summary.done), self._last), refresh=True)

    def _recommend(self, study: Study) -> None:
        """The front, for the next picture."""
        began = time.monotonic()
        if len(self._seen) == self._front_of or began < self._next_front:
            return
        known = len(self._seen) <= MOST_TRIALS and has_front(study)
        self._front, self._front_of = study.recommend() if known else None, len(self._seen)
        self._next_front = began + (time.monotonic() - began) / SHARE

    def _left(self, done: float) -> float | None:
        """Seconds until the limit, at the pace of this run."""
        if self._limit.total is None or done <= self._before:
            return None
        return (time.monotonic() - self._began) / (done - self._before) * (self._limit.total - done)
