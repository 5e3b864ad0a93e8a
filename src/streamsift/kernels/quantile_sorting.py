"""Sort the columns of a buffer of rows, many columns side by side.

Values travel as keys: integers in the order of the floats they stand for, int32 for float32 and int64 for float64.
A missing value has the largest key and sorts behind all. Rows wait in a buffer (n_blocks, room for rows, STORED).
Columns are taken from there WIDTH at a time into a flat (n, WIDTH) block and sorted by a network: its comparisons do
not depend on the data, so they run as vector instructions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel
from streamsift.kernels.intrinsics import VECTOR, network

WIDTH = 32  # columns sorted side by side: four thousand rows of them stay in the second cache
STORED = 64  # columns side by side in a buffer, a multiple of WIDTH: shorter rows take longer to store
NEAR = 512  # bytes of a column in as many rows as the innermost cache holds

_MASK32: Any = np.int32(0x7FFFFFFF)
_MASK64: Any = np.int64(0x7FFFFFFFFFFFFFFF)
_LOW32: Any = np.int32(-0x80000000)
_LOW64: Any = np.int64(-0x8000000000000000)
_TOP32: Any = np.int32(0x7F800000)  # bits of infinity: every larger pattern is NaN
_TOP64: Any = np.int64(0x7FF0000000000000)

Ints = NDArray[np.int64]
Blocks = tuple[NDArray[Any], ...]  # flat blocks of keys, and of what goes with them


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
def _keys32(bits: NDArray[np.int32], first: int, n: int, out: NDArray[np.int32], place: int) -> Any:
    """Keys of n float32 values given as their bits; NaN becomes the largest key, -0.0 equals 0.0.

    Returns the bits of the largest absolute value.
    """
    largest = np.int32(0)
    for j in range(np.uint64(0), np.uint64(n)):
        b = bits[np.uint64(first) + j]
        k = b ^ ((b >> np.int32(31)) & _MASK32)
        k = np.int32(0) if b == _LOW32 else k
        out[np.uint64(place) + j] = _MASK32 if (b & _MASK32) > _TOP32 else k
        largest = max(largest, b & _MASK32)
    return largest


@kernel
def _keys64(bits: Ints, first: int, n: int, out: Ints, place: int) -> Any:
    """The same for float64."""
    largest = np.int64(0)
    for j in range(np.uint64(0), np.uint64(n)):
        b = bits[np.uint64(first) + j]
        k = b ^ ((b >> np.int64(63)) & _MASK64)
        k = np.int64(0) if b == _LOW64 else k
        out[np.uint64(place) + j] = _MASK64 if (b & _MASK64) > _TOP64 else k
        largest = max(largest, b & _MASK64)
    return largest


@kernel
def keys64(bits: Ints, out: Ints) -> None:
    """Keys of float64 values given as their bits."""
    _keys64(bits, 0, bits.size, out, 0)


@kernel
def store_rows32(bits: NDArray[np.int32], buffer: NDArray[np.int32], start: int) -> bool:
    """Write the keys of float32 rows into a buffer, from row `start` on; return whether all values are finite."""
    flat, out, n_features, largest = bits.reshape(-1), buffer.reshape(-1), bits.shape[1], np.int32(0)
    whole = n_features // STORED
    for i in range(bits.shape[0]):
        for block in range(buffer.shape[0]):
            first, place = i * n_features + block * STORED, (block * buffer.shape[1] + start + i) * STORED
            if block < whole:  # a loop of known length is twice as fast
                largest = max(largest, _keys32(flat, first, STORED, out, place))
            else:
                largest = max(largest, _keys32(flat, first, n_features - whole * STORED, out, place))
    return largest < _TOP32  # type: ignore[no-any-return]


@kernel
def store_rows64(bits: Ints, buffer: Ints, start: int) -> bool:
    """The same for float64."""
    flat, out, n_features, largest = bits.reshape(-1), buffer.reshape(-1), bits.shape[1], np.int64(0)
    whole = n_features // STORED
    for i in range(bits.shape[0]):
        for block in range(buffer.shape[0]):
            first, place = i * n_features + block * STORED, (block * buffer.shape[1] + start + i) * STORED
            if block < whole:
                largest = max(largest, _keys64(flat, first, STORED, out, place))
            else:
                largest = max(largest, _keys64(flat, first, n_features - whole * STORED, out, place))
    return largest < _TOP64  # type: ignore[no-any-return]


_HALVES = ((0, 2), (1, 3), (4, 6), (5, 7), (0, 1), (2, 3), (4, 5), (6, 7))
_order_two = network((0, 1))
_order_four = network((0, 2), (1, 3), (0, 1), (2, 3))  # two rounds of a merge
_order_eight = network((0, 4), (1, 5), (2, 6), (3, 7), *_HALVES)  # three rounds of a merge
_mirror_eight = network((0, 7), (1, 6), (2, 5), (3, 4), *_HALVES)  # the first three rounds of a merge
_sort_eight = network(
    (0, 2), (1, 3), (4, 6), (5, 7), (0, 4), (1, 5), (2, 6), (3, 7), (0, 1), (2, 3), (4, 5), (6, 7), (2, 4), (3, 5),
    (1, 4), (3, 6), (1, 2), (3, 4), (5, 6),
)  # fmt: skip


@kernel
def _place(row: int) -> int:
    """Where a row begins; unsigned, so that indexing needs no test for negative numbers."""
    return np.uint64(row * WIDTH)  # type: ignore[return-value]


@kernel
def _stored(row: int) -> int:
    """The same for a row of a buffer."""
    return np.uint64(row * STORED)  # type: ignore[return-value]


@kernel
def _eight(a: int, d: int) -> tuple[int, int, int, int, int, int, int, int]:
    """Eight positions, d apart."""
    b, c = a + d + d, a + d + d + d + d
    return a, a + d, b, b + d, c, c + d, c + d + d, c + d + d + d


@kernel
def sort_eights(rows: NDArray[Any], order: Ints, starts: Ints, places: Ints, blocks: NDArray[Any]) -> None:
    """Load runs of buffered rows (room for rows, STORED), order[starts[r]:starts[r + 1]], and sort each eight.

    Run r goes to rows places[r]:places[r + 1], at least 8 and a power of two of them, of each flat block: one for every
    WIDTH columns. Rows that are left over in the end are loaded only; what is behind them is missing.
    """
    lanes = np.uint64(VECTOR // blocks.itemsize)
    for run in range(starts.size - 1):
        mine, first, last = order[starts[run] : starts[run + 1]], places[run] * WIDTH, places[run + 1] * WIDTH
        whole = mine.size // 8 * 8
        for i in range(0, whole, 8):
            p, q, r, s = _stored(mine[i]), _stored(mine[i + 1]), _stored(mine[i + 2]), _stored(mine[i + 3])
            t, u, v, w = _stored(mine[i + 4]), _stored(mine[i + 5]), _stored(mine[i + 6]), _stored(mine[i + 7])
            for b in range(blocks.shape[0]):
                for j in range(np.uint64(0), _place(1), lanes):
                    k = _place(b) + j
                    origins = (p + k, q + k, r + k, s + k, t + k, u + k, v + k, w + k)
                    _sort_eight((blocks[b, first:last],), _eight(_place(i) + j, _place(1)), (rows,), origins)
        for b in range(blocks.shape[0]):
            _load(rows, b * WIDTH, mine, whole, blocks[b, first:last])


@kernel
def _copy(source: NDArray[Any], target: NDArray[Any]) -> None:
    for w in range(target.size):
        target[w] = source[w]


@kernel
def _fill(target: NDArray[Any], value: int) -> None:
    for w in range(target.size):
        target[w] = value


@kernel
def _load(rows: NDArray[Any], column: int, order: Ints, first: int, block: NDArray[Any]) -> None:
    """Copy buffered rows order[first:] to rows first, first + 1, ... of a flat (n, WIDTH) block; others are missing."""
    missing = _MASK32 if block.itemsize == 4 else _MASK64
    for i in range(first, order.size):
        _copy(rows[order[i], column : column + WIDTH], block[i * WIDTH : (i + 1) * WIDTH])
    _fill(block[order.size * WIDTH :], missing)


@kernel
def load_rows(rows: NDArray[Any], column: int, order: Ints, block: NDArray[Any], origin: NDArray[Any]) -> None:
    """Load WIDTH columns of buffered rows, in the given order, and beside each key the row it comes from."""
    _load(rows, column, order, 0, block)
    for i in range(order.size):
        _fill(origin[i * WIDTH : (i + 1) * WIDTH], order[i])


@kernel
def sort_runs(keys: Blocks, sorted_up_to: Ints, places: Ints) -> None:
    """Sort the columns of each run, rows places[r]:places[r + 1], a power of two of them: a bitonic merge sort.

    Of run r, the first sorted_up_to[r] rows are sorted in eights. To merge neighbours of h rows is to order mirrored
    rows, then rows h / 2, h / 4, ..., 1 apart. Three such rounds go at a time, so that every row is loaded and stored
    a third as often; and what can be done on few rows (`near`) is done while these are in the innermost cache: first
    all merges within them, later the end of each merge. (Every network stands here once: compiling it takes long.)
    """
    lanes, one = np.uint64(VECTOR // keys[0].itemsize), _place(1)
    for run in range(places.size - 1):
        begin, n = places[run], places[run + 1] - places[run]
        for i in range(begin + sorted_up_to[run], begin + n, 8):
            for a in range(_place(i), _place(i + 1), lanes):
                _sort_eight(keys, _eight(a, one), keys, _eight(a, one))
        near = min(n, NEAR // len(keys) // keys[0].itemsize)
        for stage in range(n // near + 1):
            within = stage < n // near
            first = begin + stage * near if within else begin
            last, h = (first + near, 8) if within else (begin + n, near)
            while h < last - first:
                d = _place(h // 4)
                for base in range(first, last, 2 * h):
                    for i in range(h // 4):
                        end = _place(base + 2 * h - 1 - i)
                        for j in range(np.uint64(0), one, lanes):
                            a, z = _place(base + i) + j, end + j
                            b, y = a + d + d, z - d - d
                            eight = (a, a + d, b, b + d, y - d, y, z - d, z)
                            _mirror_eight(keys, eight, keys, eight)
                stride, far = h // 8, True
                while far and stride > 0:
                    far = 2 * stride > near
                    size = last - first if far else min(near, last - first)
                    for start in range(first, last, size):
                        left = stride
                        while left >= 4:
                            d = _place(left // 4)
                            for base in range(start, start + size, 2 * left):
                                for a in range(_place(base), _place(base) + d, lanes):
                                    _order_eight(keys, _eight(a, d), keys, _eight(a, d))
                            left = 0 if far else left // 8
                        if left == 2:
                            for base in range(start, start + size, 4):
                                for a in range(_place(base), _place(base + 1), lanes):
                                    four = (a, a + one, a + one + one, a + one + one + one)
                                    _order_four(keys, four, keys, four)
                        elif left == 1:
                            for base in range(start, start + size, 2):
                                for a in range(_place(base), _place(base + 1), lanes):
                                    _order_two(keys, (a, a + one), keys, (a, a + one))
                    stride //= 8
                h *= 2


@kernel
def keep_rows(buffer: NDArray[Any], rows: Ints) -> None:
    """Move the rows of a buffer, given in ascending order, to its beginning."""
    for block in range(buffer.shape[0]):
        for i in range(rows.size):
            _copy(buffer[block, rows[i]], buffer[block, i])
