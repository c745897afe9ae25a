"""The numbers of a report once more, by the plainest means: a formula a line, a point at a time.

Only the sampled hyperparameters are taken from the study; trials, units, transforms and predictions are worked out
here from what was told.
"""

import math
from itertools import product
from typing import Any

import numpy as np
from scipy.special import expit, logit

from pesmo import Choice, Int, Objective, Space, Study


def on_scale(objective: Objective, value: float) -> float:
    """A measured value as the model sees it: transformed, and to be minimized."""
    changed = {None: value, "log": math.log(value) if objective.transform == "log" else 0.0, "logit": 0.0}
    moved = float(logit(value)) if objective.transform == "logit" else changed[objective.transform]
    return -moved if objective.goal == "maximize" else moved


def in_units(objective: Objective, moved: float) -> float:
    """The inverse."""
    moved = -moved if objective.goal == "maximize" else moved
    return float({None: lambda v: v, "log": math.exp, "logit": expit}[objective.transform](moved))


def features(space: Space, objective: Objective, point: dict[str, Any]) -> list[tuple[int, float]]:
    """What the objective's GP sees of a point: per column, its input among those declared, and a value."""
    columns = []
    names = [n for n in space.names if objective.inputs is None or n in objective.inputs]
    for owner, name in enumerate(names):
        spec, value = space.inputs[name], point[name]
        if isinstance(spec, Choice):
            columns += [(owner, (option == value) / math.sqrt(2)) for option in spec.options]
            continue
        low, high = (spec.low - 0.5, spec.high + 0.5) if isinstance(spec, Int) else (spec.low, spec.high)
        share = math.log(value / low) / math.log(high / low) if spec.log else (value - low) / (high - low)
        columns.append((owner, share))
    return columns


def matern(one: list[tuple[int, float]], other: list[tuple[int, float]], scales: np.ndarray, amplitude: float) -> float:
    square = sum(((a - b) / scales[owner]) ** 2 for (owner, a), (_, b) in zip(one, other, strict=True))
    r = math.sqrt(5.0 * square)
    return amplitude * (1.0 + r + r * r / 3.0) * math.exp(-r)


class DirectGP:
    """One objective of a study, given all that was told."""

    def __init__(self, study: Study, k: int) -> None:
        self.space, self.objective = study.space, study.objectives[k]
        told = [t for t in study.trials if self.objective.name in t.values]
        values = [on_scale(self.objective, t.values[self.objective.name]) for t in told]
        self.centre = sum(values) / len(values)
        self.size = math.sqrt(sum((v - self.centre) ** 2 for v in values) / len(values))
        self.y = np.array([(v - self.centre) / self.size for v in values])
        self.x = [features(self.space, self.objective, t.inputs) for t in told]
        theta = study.fitted().surrogates[k].theta
        self.samples = [(np.exp(row[:-2]), math.exp(row[-2]), math.exp(row[-1])) for row in theta]
        self.inverses = []
        for scales, amplitude, noise in self.samples:
            gram = np.array([[matern(a, b, scales, amplitude) for b in self.x] for a in self.x])
            self.inverses.append(np.linalg.inv(gram + noise * np.eye(len(self.x))))

    def by_sample(self, point: dict[str, Any]) -> list[tuple[float, float]]:
        """The posterior mean and variance of the standardized objective under each sample."""
        here, found = features(self.space, self.objective, point), []
        for (scales, amplitude, _), inverse in zip(self.samples, self.inverses, strict=True):
            k = np.array([matern(here, there, scales, amplitude) for there in self.x])
            found.append((float(k @ inverse @ self.y), amplitude - float(k @ inverse @ k)))
        return found

    def moments(self, point: dict[str, Any]) -> tuple[float, float]:
        """Mean and sd over the samples, standardized: the mixture's."""
        means, variances = zip(*self.by_sample(point), strict=True)
        mean = sum(means) / len(means)
        second = sum(v + m * m for m, v in zip(means, variances, strict=True)) / len(means)
        return mean, math.sqrt(max(0.0, second - mean * mean))

    def restored(self, standardized: float) -> float:
        """In the objective's own units."""
        return in_units(self.objective, self.centre + self.size * standardized)

    def predicted(self, point: dict[str, Any]) -> tuple[float, float, float]:
        """Mean, and the lower and the upper end of the 68 % interval, in the objective's own units."""
        mean, sd = self.moments(point)
        ends = sorted((self.restored(mean - sd), self.restored(mean + sd)))
        return self.restored(mean), ends[0], ends[1]


def dominates(one: list[float], other: list[float]) -> bool:
    """No worse in anything, better in something; both to be minimized."""
    return all(a <= b for a, b in zip(one, other, strict=True)) and any(a < b for a, b in zip(one, other, strict=True))


def front_rows(values: list[list[float]]) -> list[int]:
    """The rows that no other dominates; of equal ones the first."""
    return [
        i
        for i, row in enumerate(values)
        if not any(dominates(other, row) or (j < i and other == row) for j, other in enumerate(values))
    ]


def volume(values: list[list[float]], reference: list[float]) -> float:
    """The hypervolume, cell by cell of the grid that the values themselves make."""
    inside = [v for v in values if all(a < r for a, r in zip(v, reference, strict=True))]
    if not inside:
        return 0.0
    edges = [sorted({*(v[k] for v in inside), reference[k]}) for k in range(len(reference))]
    total = 0.0
    for cell in product(*[range(len(e) - 1) for e in edges]):
        corner = [e[i] for e, i in zip(edges, cell, strict=True)]
        if any(all(a <= c for a, c in zip(v, corner, strict=True)) for v in inside):
            total += math.prod(e[i + 1] - e[i] for e, i in zip(edges, cell, strict=True))
    return total
