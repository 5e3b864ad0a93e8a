"""How waiting rows are cut into stretches and ordered by class, before they are sorted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.moments import group_rows

Ints = NDArray[np.int64]
STRETCH = 1024  # waiting rows that are worth keeping sorted when bins are counted


def stretches_of(n_rows: int) -> list[range]:
    """Rows in stretches of falling powers of two: few, and most of them stay as they are while rows are added.

    >>> stretches_of(7200)
    [range(0, 4096), range(4096, 6144), range(6144, 7168), range(7168, 7200)]
    """
    stretches, done = [], 0
    while n_rows - done >= STRETCH:
        length = 1 << ((n_rows - done).bit_length() - 1)
        stretches.append(range(done, done + length))
        done += length
    return stretches if done == n_rows else [*stretches, range(done, n_rows)]


def by_class(codes: Ints, n_classes: int) -> tuple[Ints, ...]:
    """(classes present, rows ordered by class, start of each class in that order and the end)."""
    counts, classes, starts, order = (np.empty(n, np.int64) for n in (n_classes, n_classes, n_classes + 1, len(codes)))
    found = group_rows(codes, counts, classes, starts, order)
    return classes[:found], order, starts[: found + 1]
