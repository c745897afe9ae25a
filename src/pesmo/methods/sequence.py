"""The scrambled Sobol sequence: points that fill the unit cube more evenly than random ones.

The direction numbers are those of Joe and Kuo (2008, "new-joe-kuo-6"), for the first 256 inputs; joe_kuo.txt has, per
input, the primitive polynomial as a number and the first direction numbers. Scrambling is a random linear map of the
digits and a random digital shift (Matoušek, 1998), drawn in the order in which SciPy draws it: the same seed gives the
same points.
"""

from functools import lru_cache
from importlib.resources import files

import numpy as np

BITS = 30
DIMENSIONS = 256  # inputs beyond have uniform random numbers: nothing fills so many dimensions evenly
PLACES = np.arange(BITS, dtype=np.uint32)


def sobol(dim: int, count: int, seed: np.random.Generator | int, skip: int = 0) -> np.ndarray:
    """(count, dim) points of a scrambled Sobol sequence, after the first `skip`; count is a power of two."""
    rng = np.random.default_rng(seed).spawn(1)[0]
    inner = min(dim, DIMENSIONS)
    shift = rng.integers(2, size=(inner, BITS), dtype=np.uint32) @ (np.uint32(1) << PLACES)
    maps = np.tril(rng.integers(2, size=(inner, BITS, BITS), dtype=np.uint32), -1) + np.eye(BITS, dtype=np.uint32)
    points = (points_of(_scrambled(directions(inner), maps), count, skip) ^ shift) * 0.5**BITS
    if dim > inner:
        points = np.concatenate([points, rng.random((skip + count, dim - inner))[skip:]], axis=1)
    return points


def points_of(numbers: np.ndarray, count: int, skip: int = 0) -> np.ndarray:
    """(count, dim) the digits of the sequence with direction numbers (dim, BITS), after the first `skip` points."""
    index = np.arange(skip, skip + count)
    gray = index ^ (index >> 1)
    points = np.zeros((count, numbers.shape[0]), dtype=np.uint32)
    for place in range(int(skip + count).bit_length()):
        points[(gray >> place) & 1 == 1] ^= numbers[:, place]
    return points


@lru_cache(maxsize=8)
def directions(dim: int) -> np.ndarray:
    """(dim, BITS) direction numbers, the first digit of each number in the highest bit."""
    lines = files("pesmo.methods").joinpath("joe_kuo.txt").read_text().splitlines()
    rows = [_extended(*(int(word) for word in line.split())) for line in lines[:dim]]
    return np.array(rows, dtype=np.uint32) << (BITS - 1 - PLACES)


def _extended(polynomial: int, *first: int) -> list[int]:
    """All BITS odd numbers m_1, m_2, ... of one dimension, from its first ones, by the polynomial's recurrence."""
    degree = polynomial.bit_length() - 1
    numbers = list(first)
    while len(numbers) < BITS:
        new = numbers[-degree] if degree else 1
        for step in range(1, degree + 1):
            if (polynomial >> (degree - step)) & 1:
                new ^= numbers[-step] << step
        numbers.append(new)
    return numbers


def _scrambled(numbers: np.ndarray, maps: np.ndarray) -> np.ndarray:
    """The direction numbers (dim, BITS) with their digits, first to last, multiplied by (dim, BITS, BITS) modulo 2."""
    digits = (numbers[:, None, :] >> (BITS - 1 - PLACES)[:, None]) & 1  # (dim, digit, number)
    mapped = (maps.astype(np.float32) @ digits.astype(np.float32)).astype(np.uint32) & 1
    return np.asarray(np.sum(mapped << (BITS - 1 - PLACES)[:, None], axis=1, dtype=np.uint32))
