"""The array libraries that the pure rooms are tested under."""

import array_api_strict
import numpy as np

BACKENDS = [np, array_api_strict]
IDS = ["numpy", "array-api-strict"]


def to(xp, *arrays):
    """NumPy arrays as arrays of another library."""
    moved = tuple(xp.asarray(a) for a in arrays)
    return moved[0] if len(moved) == 1 else moved


def back(array) -> np.ndarray:
    return array if isinstance(array, np.ndarray) else np.from_dlpack(array)
