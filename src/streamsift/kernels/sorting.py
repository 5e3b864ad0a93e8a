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
NEAR = 256  # bytes of a column in as many rows as the innermost cache holds

_MASK32: Any = np.int32(0x7FFFFFFF)
_MASK64: Any = np.int64(0x7FFFFFFFFFFFFFFF)
_LOW32: Any = np.int32(-0x80000000)
_LOW64: Any = np.int64(-0x8000000000000000)
_TOP32: Any = np.int32(0x7F800000)  # bits of infinity: every larger pattern is NaN
_TOP64: Any = np.int64(0x7FF0000000000000)

Ints = NDArray[np.int64]


@kernel
def all_finite32(bits: NDArray[np.int32]) -> bool:
    """Whether none of the float32 values, given as their bits, is NaN or infinite."""
    largest = np.int32(0)
    for j in range(bits.size):
        largest = max(largest, bits[j] & _MASK32)
    return largest < _TOP32  # type: ignore[no-any-return]


@kernel
def all_finite64(bits: Ints) -> bool:
    """The same for float64."""
    largest = np.int64(0)
    for j in range(bits.size):
        largest = max(largest, bits[j] & _MASK64)
    return largest < _TOP64  # type: ignore[no-any-return]


@kernel
def _keys32(bits: NDArray[np.int32], out: NDArray[np.int32]) -> None:
    """Keys of float32 values given as their bits; NaN becomes the largest key, -0.0 equals 0.0."""
    for j in range(bits.size):
        b = bits[j]
        k = b ^ ((b >> np.int32(31)) & _MASK32)
        k = np.int32(0) if b == _LOW32 else k
        out[j] = _MASK32 if (b & _MASK32) > _TOP32 else k


@kernel
def keys64(bits: Ints, out: Ints) -> None:
    """The same for float64."""
    for j in range(bits.size):
        b = bits[j]
        k = b ^ ((b >> np.int64(63)) & _MASK64)
        k = np.int64(0) if b == _LOW64 else k
        out[j] = _MASK64 if (b & _MASK64) > _TOP64 else k


@kernel
def store_rows32(bits: NDArray[np.int32], buffer: NDArray[np.int32], start: int) -> None:
    """Write the keys of float32 rows into a buffer (n_blocks, capacity, WIDTH), from row `start` on."""
    for i in range(bits.shape[0]):
        for block in range(buffer.shape[0]):
            part = bits[i, block * WIDTH : min((block + 1) * WIDTH, bits.shape[1])]
            _keys32(part, buffer[block, start + i])


@kernel
def store_rows64(bits: Ints, buffer: Ints, start: int) -> None:
    """The same for float64."""
    for i in range(bits.shape[0]):
        for block in range(buffer.shape[0]):
            part = bits[i, block * WIDTH : min((block + 1) * WIDTH, bits.shape[1])]
            keys64(part, buffer[block, start + i])


# The four loops below are kernels of their own with a length they do not know: that is how they get vectorised.


@kernel
def _pair(keys: NDArray[Any], a: int, b: int, m: int) -> None:
    """Order the m keys at a against those at b."""
    for j in range(m):
        x, y = keys[a + j], keys[b + j]
        keys[a + j] = min(x, y)
        keys[b + j] = max(x, y)


@kernel
def _sort_four(keys: NDArray[Any], a: int, b: int, c: int, d: int, m: int) -> None:
    """Sort four stretches against each other: five comparisons in registers, one load and one store of each key."""
    for j in range(m):
        w, x, y, z = keys[a + j], keys[b + j], keys[c + j], keys[d + j]
        w1, y1, x1, z1 = min(w, y), max(w, y), min(x, z), max(x, z)
        x2, y2 = max(w1, x1), min(y1, z1)
        keys[a + j] = min(w1, x1)
        keys[b + j] = min(x2, y2)
        keys[c + j] = max(x2, y2)
        keys[d + j] = max(y1, z1)


@kernel
def _cross_four(keys: NDArray[Any], a: int, b: int, c: int, d: int, m: int) -> None:
    """Two rounds of a merge at once: (a, c) and (b, d), then (a, b) and (c, d)."""
    for j in range(m):
        w, x, y, z = keys[a + j], keys[b + j], keys[c + j], keys[d + j]
        w1, y1, x1, z1 = min(w, y), max(w, y), min(x, z), max(x, z)
        keys[a + j] = min(w1, x1)
        keys[b + j] = max(w1, x1)
        keys[c + j] = min(y1, z1)
        keys[d + j] = max(y1, z1)


@kernel
def _mirror_four(keys: NDArray[Any], a: int, b: int, c: int, d: int, m: int) -> None:
    """The first two rounds of a merge at once: (a, d) and (b, c), then (a, b) and (c, d)."""
    for j in range(m):
        w, x, y, z = keys[a + j], keys[b + j], keys[c + j], keys[d + j]
        w1, z1, x1, y1 = min(w, z), max(w, z), min(x, y), max(x, y)
        keys[a + j] = min(w1, x1)
        keys[b + j] = max(w1, x1)
        keys[c + j] = min(y1, z1)
        keys[d + j] = max(y1, z1)


@kernel
def _place(row: int) -> int:
    """Where a row begins; unsigned, so that indexing needs no test for negative places."""
    return np.uint64(row * WIDTH)  # type: ignore[return-value]


@kernel
def _close(keys: NDArray[Any], first: int, last: int, stride: int) -> None:
    """The rounds of a merge that compare rows stride, stride / 2, ..., 1 apart, two rounds a pass."""
    while stride > 0:
        half = stride // 2
        for base in range(first, last, 2 * stride):
            if half == 0:
                _pair(keys, _place(base), _place(base + 1), _place(1))
            else:
                a, b, c, d = base, base + half, base + stride, base + stride + half
                _cross_four(keys, _place(a), _place(b), _place(c), _place(d), _place(half))
        stride //= 4


@kernel
def _merge_runs(keys: NDArray[Any], first: int, last: int, h: int, near: int) -> None:
    """Merge neighbouring sorted runs of h rows: mirrored rows, then rows h / 2, h / 4, ... apart, two rounds a pass.

    As soon as the rows compared are within `near` rows of each other, all that is left is done there before moving on.
    """
    half = h // 2
    for base in range(first, last, 2 * h):
        for i in range(half):
            a, b, c, d = base + i, base + i + half, base + h + half - 1 - i, base + 2 * h - 1 - i
            _mirror_four(keys, _place(a), _place(b), _place(c), _place(d), _place(1))
    stride = h // 4
    while 2 * stride > near:
        half = stride // 2
        for base in range(first, last, 2 * stride):
            a, b, c, d = base, base + half, base + stride, base + stride + half
            _cross_four(keys, _place(a), _place(b), _place(c), _place(d), _place(half))
        stride //= 4
    near = min(near, last - first)
    for base in range(first, last, near):
        _close(keys, base, base + near, stride)


@kernel
def _sort_whole_run(keys: NDArray[Any], n: int) -> None:
    """Sort the columns of a run whose number of rows is a power of two, at least 4: a bitonic merge sort.

    Two rounds go at a time, so that every row is loaded and stored half as often; and as many rounds as possible are
    done on few rows while these are in the innermost cache.
    """
    near = min(n, NEAR // keys.itemsize)
    for base in range(0, n, near):
        for i in range(base, base + near, 4):
            _sort_four(keys, _place(i), _place(i + 1), _place(i + 2), _place(i + 3), _place(1))
        h = 4
        while h < near:
            _merge_runs(keys, base, base + near, h, near)
            h *= 2
    h = near
    while h < n:
        _merge_runs(keys, 0, n, h, near)
        h *= 2


@kernel
def _sort_run(keys: NDArray[Any], n: int) -> None:
    """Sort the columns of a run of any number of rows: Batcher's merge exchange (Knuth 5.2.2 M)."""
    top = 1
    while 2 * top < n:
        top *= 2
    p = top if n > 1 else 0
    while p > 0:
        q, r, d = top, 0, p
        while d > 0:
            i = r
            while i < n - d:  # rows i .. i+p-1 are compared with rows i+d .. i+d+p-1
                _pair(keys, _place(i), _place(i + d), _place(min(i + p, n - d) - i))
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
def _load(rows: NDArray[Any], order: Ints, block: NDArray[Any]) -> None:
    """Copy buffered rows (capacity, WIDTH), in the given order, into a flat (n, WIDTH) block."""
    for i in range(order.size):
        _copy(rows[order[i]], block[i * WIDTH : (i + 1) * WIDTH])


@kernel
def _copy(source: NDArray[Any], target: NDArray[Any]) -> None:
    for w in range(target.size):
        target[w] = source[w]


@kernel
def sort_runs(rows: NDArray[Any], order: Ints, starts: Ints, block: NDArray[Any]) -> None:
    """Load buffered rows (capacity, WIDTH) and sort each run of them, order[starts[r]:starts[r + 1]], by itself."""
    _load(rows, order, block)
    for r in range(starts.size - 1):
        _sort_run(block[starts[r] * WIDTH :], starts[r + 1] - starts[r])


@kernel
def sort_whole_runs(rows: NDArray[Any], order: Ints, starts: Ints, block: NDArray[Any]) -> None:
    """sort_runs for runs of a power of two rows each, at least 4, which is faster."""
    _load(rows, order, block)
    for r in range(starts.size - 1):
        _sort_whole_run(block[starts[r] * WIDTH :], starts[r + 1] - starts[r])


@kernel
def sort_all(rows: NDArray[Any], order: Ints, block: NDArray[Any], origin: NDArray[Any]) -> None:
    """Load buffered rows and sort all of them together; `origin` says which row each key came from."""
    _load(rows, order, block)
    for i in range(order.size * WIDTH):
        origin[i] = order[i // WIDTH]
    _sort_columns_with_rows(block, origin, order.size)
