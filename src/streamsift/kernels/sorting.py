"""Sort the columns of a buffer of rows, many columns side by side.

Values travel as keys: integers in the order of the floats they stand for, int32 for float32 and int64 for float64.
A missing value has the largest key and sorts behind all. Columns are taken WIDTH at a time into a flat (n, WIDTH)
block and sorted by a network: its comparisons do not depend on the data, so they run as vector instructions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

WIDTH = 64  # columns sorted side by side

_MASK32: Any = np.int32(0x7FFFFFFF)
_MASK64: Any = np.int64(0x7FFFFFFFFFFFFFFF)
_LOW32: Any = np.int32(-0x80000000)
_LOW64: Any = np.int64(-0x8000000000000000)
_TOP32: Any = np.int32(0x7F800000)  # bits of infinity: every larger pattern is NaN
_TOP64: Any = np.int64(0x7FF0000000000000)

Ints = NDArray[np.int64]


@kernel
def store_keys32(bits: NDArray[np.int32], out: NDArray[np.int32]) -> None:
    """Keys of float32 values given as their bits; NaN becomes the largest key, -0.0 equals 0.0."""
    for i in range(bits.shape[0]):
        source, target = bits[i], out[i]
        for j in range(source.size):
            b = source[j]
            k = b ^ ((b >> np.int32(31)) & _MASK32)
            k = np.int32(0) if b == _LOW32 else k
            target[j] = _MASK32 if (b & _MASK32) > _TOP32 else k


@kernel
def store_keys64(bits: Ints, out: Ints) -> None:
    """Keys of float64 values given as their bits; NaN becomes the largest key, -0.0 equals 0.0."""
    for i in range(bits.shape[0]):
        source, target = bits[i], out[i]
        for j in range(source.size):
            b = source[j]
            k = b ^ ((b >> np.int64(63)) & _MASK64)
            k = np.int64(0) if b == _LOW64 else k
            target[j] = _MASK64 if (b & _MASK64) > _TOP64 else k


@kernel
def _sort_columns(keys: NDArray[Any], n: int) -> None:
    """Sort the first n rows of a flat (n, WIDTH) block, each column by itself.

    Batcher's merge exchange (Knuth 5.2.2 M): the comparisons do not depend on the data, so neighbouring columns and,
    where the network allows, neighbouring rows go through the same vector instruction.
    """
    if n < 2:
        return
    top = 1
    while 2 * top < n:
        top *= 2
    p = top
    while p > 0:
        q, r, d = top, 0, p
        while d > 0:
            i = r
            while i < n - d:  # rows i .. i+p-1 are compared with rows i+d .. i+d+p-1
                low, high = np.uint64(i * WIDTH), np.uint64((i + d) * WIDTH)
                for j in range(np.uint64((min(i + p, n - d) - i) * WIDTH)):
                    a, b = keys[low + j], keys[high + j]
                    keys[low + j] = min(a, b)
                    keys[high + j] = max(a, b)
                i += 2 * p
            d, q, r = q - p, q // 2, p
        p //= 2


@kernel
def _sort_columns_with_rows(keys: NDArray[Any], rows: NDArray[Any], n: int) -> None:
    """The same network, carrying with each key the row it came from."""
    if n < 2:
        return
    top = 1
    while 2 * top < n:
        top *= 2
    p = top
    while p > 0:
        q, r, d = top, 0, p
        while d > 0:
            i = r
            while i < n - d:
                low, high = np.uint64(i * WIDTH), np.uint64((i + d) * WIDTH)
                for j in range(np.uint64((min(i + p, n - d) - i) * WIDTH)):
                    a, b, s, t = keys[low + j], keys[high + j], rows[low + j], rows[high + j]
                    keep = a <= b
                    keys[low + j] = a if keep else b
                    keys[high + j] = b if keep else a
                    rows[low + j] = s if keep else t
                    rows[high + j] = t if keep else s
                i += 2 * p
            d, q, r = q - p, q // 2, p
        p //= 2


@kernel
def _load(buffer: NDArray[Any], order: Ints, first: int, width: int, block: NDArray[Any]) -> None:
    """Copy `width` columns of the buffered rows, in the given order, into a flat (n, WIDTH) block."""
    for i in range(order.size):
        source = buffer[order[i], first : first + width]
        target = block[i * WIDTH : (i + 1) * WIDTH]
        for w in range(width):
            target[w] = source[w]
        for w in range(width, WIDTH):
            target[w] = 0


@kernel
def sort_runs(buffer: NDArray[Any], order: Ints, starts: Ints, first: int, width: int, block: NDArray[Any]) -> None:
    """Load columns first .. first + width - 1 and sort each run of rows, order[starts[r]:starts[r + 1]], by itself."""
    _load(buffer, order, first, width, block)
    for r in range(starts.size - 1):
        _sort_columns(block[starts[r] * WIDTH :], starts[r + 1] - starts[r])


@kernel
def sort_all(
    buffer: NDArray[Any], order: Ints, first: int, width: int, block: NDArray[Any], rows: NDArray[Any]
) -> None:
    """Load the columns and sort all rows together; `rows` says which row each key came from."""
    _load(buffer, order, first, width, block)
    for i in range(order.size * WIDTH):
        rows[i] = order[i // WIDTH]
    _sort_columns_with_rows(block, rows, order.size)
