"""Standardizing an objective's values, safely: constant, huge and tiny values included."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Scaling:
    """values = centre + size * standardized."""

    centre: float
    size: float

    def standardize(self, values: np.ndarray) -> np.ndarray:
        return (values - self.centre) / self.size

    def restore(self, standardized: np.ndarray) -> np.ndarray:
        return self.centre + self.size * standardized


def scaling_of(values: np.ndarray) -> Scaling:
    """Mean and standard deviation of values (n,); their own magnitude as size where they are (all but) constant."""
    if values.size == 0:
        return Scaling(0.0, 1.0)
    largest = float(np.max(np.abs(values))) or 1.0
    shrunk = values / largest  # in [-1, 1]: no overflow below
    centre, size = float(np.mean(shrunk)), float(np.std(shrunk))
    if size < 1e-13:  # what is left is rounding
        return Scaling(centre * largest, largest)
    return Scaling(centre * largest, size * largest)
