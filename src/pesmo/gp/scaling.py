"""Standardizing an objective's values, safely: constant, huge and tiny values included."""

from dataclasses import dataclass

import numpy as np

LEAST = 1e-300  # a size: numbers below are too near to the smallest float to have digits
LARGEST = float(np.finfo(float).max)


@dataclass(frozen=True)
class Scaling:
    """values = centre + size * standardized."""

    centre: float
    size: float

    def standardize(self, values: np.ndarray) -> np.ndarray:
        """In halves, as the difference of two huge values is no number."""
        return (0.5 * values - 0.5 * self.centre) / (0.5 * self.size)

    def restore(self, standardized: np.ndarray) -> np.ndarray:
        """What lies beyond the largest number is that number."""
        with np.errstate(over="ignore"):
            return np.clip(2.0 * (0.5 * self.centre + 0.5 * self.size * standardized), -LARGEST, LARGEST)


def scaling_of(values: np.ndarray) -> Scaling:
    """Mean and standard deviation of values (n,); their own magnitude as size where they are (all but) constant."""
    if values.size == 0:
        return Scaling(0.0, 1.0)
    largest = float(np.max(np.abs(values))) or 1.0
    shrunk = values / largest  # in [-1, 1]: no overflow below
    centre, size = float(np.mean(shrunk)), float(np.std(shrunk))
    if size < 1e-13:  # what is left is rounding
        return Scaling(centre * largest, max(largest, LEAST))
    return Scaling(centre * largest, max(size * largest, LEAST))
