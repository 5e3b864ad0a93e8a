"""What a saved quantile summary must be like, whoever wrote it: kernels sort, merge and count without looking."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from streamsift.core.state import Within
from streamsift.kernels.quantiles import COUNT, GAP, KEY, Ragged

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

EPS = Within(1e-6, 0.5)
LARGEST_KEY = {4: 0x7F800000, 8: 0x7FF0000000000000}  # of infinity, by the bytes of a key


def capacity_problem(eps: float, capacity: int, most: int) -> str | None:
    """Whether a buffer may have so many rows; `most` are those of a buffer that need not be longer for eps."""
    needed = 2 ** math.ceil(math.log2(1.0 / eps))
    if capacity & (capacity - 1) or not max(needed, 32) <= capacity <= max(needed, most, 32):
        return f"capacity is {capacity}, which eps={eps} does not make"
    return None


def list_problem(lists: Ragged, n_present: Ints) -> str | None:
    """What is wrong with lists that lie one behind the other and hold so many rows for each feature."""
    start = lists.start
    keys, counts, gaps = lists.tuples[KEY], lists.tuples[COUNT], lists.tuples[GAP]
    top = LARGEST_KEY[8]  # keys of float32 are smaller still
    if not ((keys < top) & (keys > -top - 1)).all():
        return "lists holds keys that no number has"
    rises = keys[1:] >= keys[:-1]  # a difference could overflow
    rises[start[1:-1][(start[1:-1] > 0) & (start[1:-1] < len(keys))] - 1] = True  # from one list to the next
    if not rises.all():
        return "lists is not sorted by key"
    most = int(n_present.max(initial=0))
    if ((counts < 0) | (counts > most) | (gaps < 0) | (gaps > most)).any():
        return "lists counts more rows than were seen"
    sums = np.concatenate([[0], np.cumsum(counts)])
    if (sums[start[1:]] - sums[start[:-1]] != n_present).any():
        return "lists holds another number of rows than were counted"
    return None


def buffer_problem(keys: NDArray[np.integer], *, has_gaps: bool) -> str | None:
    """What is wrong with the keys of rows that wait; the largest key is a missing value."""
    if keys.dtype not in (np.int32, np.int64):
        return f"buffer is of {keys.dtype}, which keys are not"
    top, missing = LARGEST_KEY[keys.dtype.itemsize], keys == np.iinfo(keys.dtype).max
    if not (missing | ((keys < top) & (keys > -top - 1))).all():
        return "buffer holds keys that no number has"
    return (
        "buffer holds missing values, though has_gaps says there are none" if missing.any() and not has_gaps else None
    )
