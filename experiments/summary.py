"""From rows to the numbers of the page: means and standard errors over runs, at each mark.

Sums are exactly rounded (math.fsum), so that the page is the same, to the last digit, on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from experiments.methods import home
from experiments.results import Results
from experiments.runs import TINY, Row

MINUS, NONE = "\u2212", "\u2013"
Scores = dict[int, dict[int, float]]  # {number of the run: {mark: value}}


@dataclass(frozen=True)
class Mean:
    """Mean and standard error (nan for a single value) of n values."""

    value: float
    error: float
    n: int

    def text(self, digits: int = 2) -> str:
        spread = "" if math.isnan(self.error) else f" ± {self.error:.{digits}f}"
        return f"{self.value:.{digits}f}{spread}".replace("-", MINUS)


def mean(values: Collection[float]) -> Mean:
    n = len(values)
    if n == 0:
        return Mean(math.nan, math.nan, 0)
    centre = math.fsum(values) / n
    if n == 1:
        return Mean(centre, math.nan, 1)
    return Mean(centre, math.sqrt(math.fsum((v - centre) ** 2 for v in values) / (n - 1) / n), n)


def scores(results: Results, experiment: str, setting: str, method: str, column: str = "score") -> Scores:
    """The scores of every run, complete or not."""
    return {
        number: {int(row["mark"]): float(row[column]) for row in rows if row["mark"] != ""}
        for number, rows in results.read(experiment, home(setting, method), method).items()
    }


def complete(found: Scores, last: int) -> Scores:
    """The runs that reached the mark `last`."""
    return {number: marks for number, marks in found.items() if last in marks}


def finished_at(rows: Sequence[Row], evaluations: int) -> bool:
    """Whether a run's rows reach so many coupled evaluations."""
    return float(rows[-1]["spent"]) >= evaluations - TINY


def at(found: Scores, mark: int) -> dict[int, float]:
    """{number: value} at a mark."""
    return {number: marks[mark] for number, marks in found.items() if mark in marks}


def paired(one: Mapping[int, float], other: Mapping[int, float]) -> Mean:
    """one - other, over the runs both have."""
    return mean([one[number] - other[number] for number in sorted(one) if number in other])


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [list(header), ["---"] * len(header), *map(list, rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def best_bold(cells: Sequence[Mean], digits: int = 2, lowest: bool = True) -> list[str]:
    """The cells of a column; the best one in bold."""
    known = [cell.value for cell in cells if cell.n]
    best = (min(known) if lowest else max(known)) if known else math.nan
    texts = [cell.text(digits) if cell.n else NONE for cell in cells]
    return [f"**{text}**" if cell.value == best else text for text, cell in zip(texts, cells, strict=True)]
