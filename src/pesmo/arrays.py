"""The few array operations that the array API standard lacks, for every array library the pure rooms may meet.

NumPy takes the fast road through SciPy's LAPACK; anything else takes the plain road of the standard.
"""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from scipy.linalg import lapack

from pesmo.errors import NumericalFailure

Array = Any  # an array of any library that follows the array API standard

BLOCK = 1 << 17  # numbers in a temporary array that stays in a processor's cache
JITTERS = (0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4)  # the ladder, relative to the mean of the diagonal


def namespace(*arrays: Array) -> ModuleType:
    """The array library that `arrays` belong to (NumPy itself, at no cost, where they are NumPy's)."""
    if isinstance(arrays[0], np.ndarray):
        return np
    return array_namespace(*arrays)


def as_numpy(array: Array) -> np.ndarray:
    """A NumPy copy of an array of any library."""
    if isinstance(array, np.ndarray):
        return array
    return np.from_dlpack(array) if not hasattr(array, "get") else array.get()


def blocks(rows: int, width: int, least: int = 8) -> Iterator[slice]:
    """Slices of `rows` rows, each row of `width` numbers, small enough that elementwise work stays in cache."""
    step = max(least, BLOCK // max(1, width))
    for first in range(0, rows, step):
        yield slice(first, min(first + step, rows))


def cholesky(matrix: Array) -> Array:
    """Lower Cholesky factors of (..., n, n), climbing the jitter ladder where one fails.

    Raises NumericalFailure where the last rung fails too, which only non-finite entries can bring about.
    """
    xp = namespace(matrix)
    eye = xp.eye(matrix.shape[-1], dtype=matrix.dtype)
    for jitter in JITTERS:
        lifted = matrix
        if jitter:
            level = xp.mean(xp.linalg.diagonal(matrix), axis=-1)
            lifted = matrix + jitter * level[..., None, None] * eye
        try:
            factor = xp.linalg.cholesky(lifted)
        except (np.linalg.LinAlgError, RuntimeError):  # torch's LinAlgError is a RuntimeError
            continue
        if bool(xp.all(xp.isfinite(factor))):
            return factor
    raise NumericalFailure("a covariance matrix has no Cholesky factor on any rung of the jitter ladder")


def inverse_lower(factor: Array) -> Array:
    """Inverses of lower triangular matrices (..., n, n)."""
    if not isinstance(factor, np.ndarray):
        return namespace(factor).linalg.inv(factor)
    out = np.empty_like(factor)
    flat, result = factor.reshape(-1, *factor.shape[-2:]), out.reshape(-1, *factor.shape[-2:])
    if factor.shape[-1]:
        trtri = lapack.strtri if factor.dtype == np.float32 else lapack.dtrtri
        for i in range(flat.shape[0]):
            # A C-ordered lower matrix is LAPACK's upper one: no copy, and the other triangle stays as it is (zero).
            result[i] = trtri(flat[i].T, lower=0)[0].T
    return out
