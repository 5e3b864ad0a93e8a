"""Kernels over dense rows before and while they are counted in bins: ranges of columns, and counts of equal bins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BLOCK = 512  # features per block: its counts stay in cache while all rows pass over it


@kernel
def _add_four(X: NDArray[Any], rows: Ints, first: int, last: int, cuts: Floats, reached: Floats) -> None:
    """Count four rows at a time, so that the counts are loaded and stored a quarter as often."""
    x0, x1, x2, x3 = X[rows[0], first:last], X[rows[1], first:last], X[rows[2], first:last], X[rows[3], first:last]
    total = reached[0, first:last]
    for j in range(total.size):
        a, b, c, d = x0[j], x1[j], x2[j], x3[j]  # a == a is false for NaN only; 1.0 * bool adds without a branch
        total[j] += (1.0 * (a == a) + 1.0 * (b == b)) + (1.0 * (c == c) + 1.0 * (d == d))
    for h in range(cuts.shape[0]):
        cut, above = cuts[h, first:last], reached[h + 1, first:last]
        for j in range(cut.size):
            e = cut[j]
            above[j] += (1.0 * (x0[j] >= e) + 1.0 * (x1[j] >= e)) + (1.0 * (x2[j] >= e) + 1.0 * (x3[j] >= e))


@kernel
def count_reached(X: NDArray[Any], rows: Ints, starts: Ints, cuts: Floats, reached: Floats) -> None:
    """Where all features have equally many cuts: how many values reach cuts[h, j], in reached[c, h + 1, j] by class c.

    reached[c, 0] counts all values but NaN. Comparing with every cut beats searching, because whole rows are compared
    at once. Rows of class c are rows[starts[c]:starts[c + 1]].
    """
    for first in range(0, X.shape[1], BLOCK):
        last = min(first + BLOCK, X.shape[1])
        for c in range(starts.size - 1):
            i = starts[c]
            while i + 4 <= starts[c + 1]:
                _add_four(X, rows[i : i + 4], first, last, cuts, reached[c])
                i += 4
            while i < starts[c + 1]:
                x = X[rows[i]]
                for j in range(first, last):
                    reached[c, 0, j] += 1.0 * (x[j] == x[j])
                for h in range(cuts.shape[0]):
                    for j in range(first, last):
                        reached[c, h + 1, j] += 1.0 * (x[j] >= cuts[h, j])
                i += 1


@kernel
def column_ranges(X: NDArray[Any], low: Floats, high: Floats) -> None:
    """Smallest and largest value of each column of dense rows, NaN aside; low and high start at inf and -inf."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            x = float(X[i, j])
            if x < low[j]:  # false for NaN
                low[j] = x
            if x > high[j]:
                high[j] = x
