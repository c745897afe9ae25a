"""Raw results: one CSV file for each experiment, setting and method, one row for each run and evaluation.

    experiments/results/<experiment>/<setting>/<method>.csv
    experiments/results/batches.jsonl      where rows come from: their column `batch` is a line's number there

| column | meaning |
|---|---|
| number | of the run: the problem, or the repetition |
| evaluation, spent | trials so far; what they cost, in coupled evaluations |
| one per input, objective | the point, what was measured there (empty: it was not; no point: the method was done) |
| gain, seconds | nats expected; CPU seconds of thinking, one thread (0: a start) |
| mark, score, observed | where scores were taken: at how many coupled evaluations; of the recommendation; of the data |
"""

from __future__ import annotations

import csv
import fcntl
import json
import os
import platform
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from experiments.runs import Row, Run

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Results:
    root: Path

    def path(self, experiment: str, setting: str, method: str) -> Path:
        return self.root / experiment / setting / f"{method}.csv"

    def read(self, experiment: str, setting: str, method: str) -> dict[int, list[Row]]:
        """Rows by the number of their run, in the order of the evaluations; a row cut short is left out."""
        path = self.path(experiment, setting, method)
        runs: dict[int, list[Row]] = {}
        if path.exists():
            whole = path.read_text(encoding="utf-8").rpartition("\n")[0]
            for row in csv.DictReader(whole.splitlines()):
                runs.setdefault(int(row["number"]), []).append(row)
        return runs

    def stored(self, run: Run) -> list[Row]:
        return self.read(run.experiment, run.setting, run.method).get(run.number, [])

    def settings(self, experiment: str) -> list[str]:
        """The settings of an experiment that have rows."""
        folder = self.root / experiment
        return sorted(path.name for path in folder.iterdir() if any(path.glob("*.csv"))) if folder.is_dir() else []

    def methods(self, experiment: str, setting: str) -> list[str]:
        """The methods that have rows in a setting."""
        return sorted(path.stem for path in (self.root / experiment / setting).glob("*.csv"))

    def append(self, run: Run, row: Row, batch: int) -> None:
        """Add a row, with a header where the file is new."""
        path = self.path(run.experiment, run.setting, run.method)
        path.parent.mkdir(parents=True, exist_ok=True)
        row = row | {"batch": batch}
        with path.open("a+", newline="", encoding="utf-8") as file:
            _drop_partial_line(path)
            file.seek(0)
            header = next(csv.reader(file), None)
            if header is not None and header != list(row):
                raise ValueError(
                    f"{path.name} of {run.label} has columns {header}, not {list(row)}; move it away first"
                )
            table = csv.DictWriter(file, list(row), lineterminator="\n")
            if header is None:
                table.writeheader()
            table.writerow(row)

    def batches(self) -> dict[int, Row]:
        path = self.root / "batches.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return {entry["batch"]: entry for entry in map(json.loads, lines)}

    def new_batch(self, command: str) -> int:
        """Note where the rows to come are from; their batch's number."""
        return self._note(
            {
                "batch": 0,
                "date": datetime.now(UTC).strftime("%Y-%m-%d"),
                "machine": machine_kind(),
                "commit": commit(),
                "command": command,
            }
        )

    def gather(self, other: Results) -> int:
        """Take over the runs of another folder (another machine's, say) that we lack or that go on from ours; how many.

        A run of ours that was done differently since stays: theirs does not begin with its rows.
        """
        taken, renumbered = 0, {}
        for path in sorted(other.root.glob("*/*/*.csv")):
            key = (path.parts[-3], path.parts[-2], path.stem)
            ours, theirs = self.read(*key), other.read(*key)
            longer = {number: rows for number, rows in theirs.items() if _goes_on(rows, ours.get(number, []))}
            for row in (row for rows in longer.values() for row in rows):
                batch = int(row["batch"])
                if batch not in renumbered:
                    entry = other.batches()[batch]
                    known = [n for n, ours in self.batches().items() if {**ours, "batch": 0} == {**entry, "batch": 0}]
                    renumbered[batch] = known[0] if known else self._note(entry)
                row["batch"] = renumbered[batch]
            if longer:
                taken += len(longer)
                self._write(self.path(*key), ours | longer)
        return taken

    def _note(self, entry: Row) -> int:
        """A line for a batch; its number."""
        batch = max(self.batches(), default=0) + 1
        with (self.root / "batches.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({**entry, "batch": batch}) + "\n")
        return batch

    def _write(self, path: Path, runs: dict[int, list[Row]]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        with partial.open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, list(next(iter(runs.values()))[0]), lineterminator="\n")
            table.writeheader()
            table.writerows(row for _, rows in sorted(runs.items()) for row in rows)
        partial.replace(path)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep a second command from writing to the same files."""
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / ".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RuntimeError("another command writes to these results: wait for it, or use --jobs") from None
            yield


def _goes_on(theirs: list[Row], ours: list[Row]) -> bool:
    """Whether the one list of rows begins with the other, batches aside, and has more."""
    same = all({**a, "batch": ""} == {**b, "batch": ""} for a, b in zip(theirs, ours, strict=False))
    return same and len(theirs) > len(ours)


def _drop_partial_line(path: Path) -> None:
    """Cut what a killed command left of its last row."""
    data = path.read_bytes()
    if data and not data.endswith(b"\n"):
        os.truncate(path, data.rfind(b"\n") + 1)


def machine_kind() -> str:
    """The machine in words that fit many: processor, cores, Python."""
    processor = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        models = [line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        processor = models[0] if models else processor
    return f"{os.cpu_count()} cores, {processor}, Python {platform.python_version()}"


def commit() -> str:
    """The commit of this checkout, with a + where files differ from it."""

    def git(*words: str) -> str:
        there = Path(__file__).parent
        return subprocess.run(["git", *words], cwd=there, capture_output=True, text=True, timeout=60, check=True).stdout

    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "--", "..", ":!results", ":!../docs").strip()
        return git("rev-parse", "--short=12", "HEAD").strip() + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
