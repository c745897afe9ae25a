"""The few array operations that the array API standard lacks, for every array library the pure rooms may meet.

NumPy takes a faster road where there is one; anything else takes the plain road of the standard.
"""

import math
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from pesmo.errors import NumericalFailure

Array = Any  # an array of any library that follows the array API standard

BLOCK = 1 << 17  # numbers in a temporary array that stays in a processor's cache
SUBSTITUTED = 16  # rows of a triangular block that is inverted row by row: measured, for batches of 8 to 500 matrices
STRIPE = 100  # rows of a triangular matrix that a product takes at a time: measured, for 1 to 300 rows times 400 x 400
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
    """Inverses of lower triangular matrices (..., n, n).

    Blocks on the diagonal are inverted by substitution, all of them at once; then, level by level, neighbours are
    joined: the inverse of [[A, 0], [C, B]] is [[A^-1, 0], [-B^-1 C A^-1, B^-1]].
    """
    if not isinstance(factor, np.ndarray):
        return namespace(factor).linalg.inv(factor)
    n = factor.shape[-1]
    parts = 1 << (max(n - 1, 0) // SUBSTITUTED).bit_length()
    padded = _padded(factor.reshape(math.prod(factor.shape[:-2]), n, n), parts)  # -1 would not do for n = 0
    out = np.zeros_like(padded)
    _substitute(_diagonal_blocks(padded, parts), _diagonal_blocks(out, parts))
    while parts > 1:
        parts //= 2
        given, inverse = _diagonal_blocks(padded, parts), _diagonal_blocks(out, parts)
        half = given.shape[-1] // 2
        joint = given[..., half:, :half] @ -inverse[..., :half, :half]
        np.matmul(inverse[..., half:, half:], joint, out=inverse[..., half:, :half])
    return out[:, :n, :n].reshape(factor.shape)


def times_lower(a: Array, lower: Array) -> Array:
    """a L (..., n, N) for lower triangular L (..., N, N), without reading most of its zeros."""
    xp = namespace(a)
    return xp.concat([xp.matmul(a[..., i:], lower[..., i:, i:j]) for i, j in _stripes(lower)], axis=-1)


def times_lower_transposed(a: Array, lower: Array) -> Array:
    """a L^T (..., n, N) for lower triangular L (..., N, N), likewise."""
    xp = namespace(a)
    return xp.concat([xp.matmul(a[..., :j], lower[..., i:j, :j].mT) for i, j in _stripes(lower)], axis=-1)


def _stripes(lower: Array) -> list[tuple[int, int]]:
    """First and last row of each stripe of at most STRIPE rows; one, empty, of an empty matrix."""
    n = lower.shape[-1]
    return [(i, min(i + STRIPE, n)) for i in range(0, max(n, 1), STRIPE)]


def _padded(matrices: np.ndarray, parts: int) -> np.ndarray:
    """(b, n, n) in the corner of identity matrices whose size is a multiple of `parts`."""
    batch, n, _ = matrices.shape
    size = -(-n // parts) * parts
    if size == n:
        return matrices
    out = np.zeros((batch, size, size), dtype=matrices.dtype)
    out[:, :n, :n] = matrices
    out[:, range(n, size), range(n, size)] = 1.0
    return out


def _diagonal_blocks(matrices: np.ndarray, parts: int) -> np.ndarray:
    """(b, parts, size, size): a view of the blocks on the diagonals of (b, n, n)."""
    size = matrices.shape[-1] // parts
    return np.einsum("bpipj->bpij", matrices.reshape(matrices.shape[0], parts, size, parts, size))


def _substitute(lower: np.ndarray, out: np.ndarray) -> None:
    """Forward substitution: the inverses of `lower` (b, p, n, n) into the zeros of `out`, row after row."""
    diagonal = 1.0 / np.einsum("bpii->bpi", lower)
    np.einsum("bpii->bpi", out)[...] = diagonal
    scaled = lower * -diagonal[..., None]
    for i in range(1, lower.shape[-1]):
        np.matmul(scaled[..., i : i + 1, :i], out[..., :i, :i], out=out[..., i : i + 1, :i])
