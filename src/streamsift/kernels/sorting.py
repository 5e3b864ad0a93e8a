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
def _sort_fours(keys: NDArray[Any], n: int) -> None:
    """Sort each group of four rows: five comparisons in registers, one load and one store of every row."""
    for i in range(0, n, 4):
        a, b = np.uint64(i * WIDTH), np.uint64((i + 1) * WIDTH)
        c, d = np.uint64((i + 2) * WIDTH), np.uint64((i + 3) * WIDTH)
        for j in range(np.uint64(WIDTH)):
            w, x, y, z = keys[a + j], keys[b + j], keys[c + j], keys[d + j]
            w, y = min(w, y), max(w, y)
            x, z = min(x, z), max(x, z)
            w, x = min(w, x), max(w, x)
            y, z = min(y, z), max(y, z)
            keys[a + j] = w
            keys[b + j] = min(x, y)
            keys[c + j] = max(x, y)
            keys[d + j] = z


@kernel
def _merge_halves(keys: NDArray[Any], n: int, h: int) -> None:
    """First two rounds of merging neighbouring sorted runs of h rows: mirrored rows, then rows h / 2 apart."""
    half = h // 2
    for base in range(0, n, 2 * h):
        for i in range(half):
            a, b = np.uint64((base + i) * WIDTH), np.uint64((base + i + half) * WIDTH)
            c, d = np.uint64((base + h + half - 1 - i) * WIDTH), np.uint64((base + 2 * h - 1 - i) * WIDTH)
            for j in range(np.uint64(WIDTH)):
                w, x, y, z = keys[a + j], keys[b + j], keys[c + j], keys[d + j]
                w, z = min(w, z), max(w, z)
                x, y = min(x, y), max(x, y)
                keys[a + j] = min(w, x)
                keys[b + j] = max(w, x)
                keys[c + j] = min(y, z)
                keys[d + j] = max(y, z)


@kernel
def _merge_strides(keys: NDArray[Any], n: int, stride: int) -> None:
    """Two further rounds of a merge: rows `stride` apart, then half of that; with stride 1 the single last round."""
    half = stride // 2
    for base in range(0, n, 2 * stride):
        a, c = np.uint64(base * WIDTH), np.uint64((base + stride) * WIDTH)
        if half == 0:
            for j in range(np.uint64(WIDTH)):
                x, y = keys[a + j], keys[c + j]
                keys[a + j] = min(x, y)
                keys[c + j] = max(x, y)
            continue
        b, d = np.uint64((base + half) * WIDTH), np.uint64((base + stride + half) * WIDTH)
        for j in range(np.uint64(half * WIDTH)):
            w, x, y, z = keys[a + j], keys[b + j], keys[c + j], keys[d + j]
            w, y = min(w, y), max(w, y)
            x, z = min(x, z), max(x, z)
            keys[a + j] = min(w, x)
            keys[b + j] = max(w, x)
            keys[c + j] = min(y, z)
            keys[d + j] = max(y, z)


@kernel
def _sort_columns(keys: NDArray[Any], n: int) -> None:
    """Sort the first n rows of a flat (n, WIDTH) block, each column by itself.

    A power of two of rows goes through a bitonic merge sort, two rounds at a time so that every row is loaded and
    stored half as often. Any other number goes through Batcher's merge exchange (Knuth 5.2.2 M).
    """
    if n >= 4 and n & (n - 1) == 0:
        _sort_fours(keys, n)
        h = 4
        while h < n:
            _merge_halves(keys, n, h)
            stride = h // 4
            while stride > 0:
                _merge_strides(keys, n, stride)
                stride //= 4
            h *= 2
        return
    top = 1
    while 2 * top < n:
        top *= 2
    p = top if n > 1 else 0
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
    """Batcher's network, carrying with each key the row it came from."""
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
