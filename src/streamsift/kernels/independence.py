"""Tests of independence in arrays: correlations and partial correlations, contingency tables, entropies.

Variables are numbered; in a correlation matrix, and in a table of codes, the class is the last one. A conditioning set
is a list of variables; sets are tried by size, then in lexicographic order of their positions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

COLLINEAR = 1e-12  # the share of its variance below which what is left of a variable is rounding
ROWS_PER_DEGREE = 5  # with fewer rows for each degree of freedom a table says nothing
SMALL_EXPECTATION = 10.0  # expected counts below this get the continuity correction (chi-square)


@kernel
def inner(a: Floats, b: Floats) -> float:
    """The inner product, in one fixed order of sums: equal columns get equal answers wherever they stand."""
    n = len(a)
    # Four sums side by side: additions need not wait for each other, yet their order never changes.
    first = second = third = fourth = 0.0
    for i in range(0, n - 3, 4):
        first += a[i] * b[i]
        second += a[i + 1] * b[i + 1]
        third += a[i + 2] * b[i + 2]
        fourth += a[i + 3] * b[i + 3]
    for i in range(n - n % 4, n):
        first += a[i] * b[i]
    return (first + second) + (third + fourth)


@kernel
def products(columns: Floats, vector: Floats, result: Floats) -> None:
    """The inner product of each row with a vector."""
    for k in range(columns.shape[0]):
        result[k] = inner(columns[k], vector)


@kernel
def standardise(tile: Floats) -> None:
    """Make each row of the tile centred and of length 1, in place; all 0 where it is constant."""
    n = tile.shape[1]
    for k in range(tile.shape[0]):
        column = tile[k]
        low, high = column[0], column[0]
        for i in range(n):
            low, high = min(low, column[i]), max(high, column[i])
        spread, total = high - low, 0.0
        # Scaled to [0, 1] first: neither huge offsets nor denormal spreads lose more than rounding.
        for i in range(n):
            column[i] = (column[i] - low) / spread if spread > 0.0 else 0.0
            total += column[i]
        mean = total / n
        for i in range(n):
            column[i] -= mean
        length = math.sqrt(inner(column, column))
        for i in range(n):
            column[i] = column[i] / length if length > 0.0 else 0.0


@kernel
def fisher_z(correlation: float, n_rows: int, n_given: int) -> float:
    """sqrt(rows - |S| - 3) |atanh r|; 0 where the rows do not suffice."""
    freedom, size = n_rows - n_given - 3, abs(correlation)
    if freedom <= 0:
        return 0.0
    if size >= 1.0:
        return math.inf
    return math.sqrt(freedom) * 0.5 * math.log((1.0 + size) / (1.0 - size))


@kernel
def fisher_z_of_each(correlations: Floats, n_rows: int, result: Floats) -> None:
    """The statistic of each correlation, with nothing given."""
    for k in range(len(correlations)):
        result[k] = fisher_z(correlations[k], n_rows, 0)


@kernel
def partial_correlation(matrix: Floats, x: int, y: int, given: Ints, n_given: int, work: Floats) -> float:
    """The correlation of x and y given some variables, by elimination; 0 where those determine x or y."""
    n = n_given + 2
    for a in range(n):
        row = given[a] if a < n_given else (x if a == n_given else y)
        for b in range(n):
            column = given[b] if b < n_given else (x if b == n_given else y)
            work[a, b] = matrix[row, column]
    # Gaussian elimination of the given variables leaves the covariances of x and y given them (a Schur complement).
    for k in range(n_given):
        if work[k, k] < COLLINEAR:
            continue  # the variables before it determine this one
        for a in range(k + 1, n):
            factor = work[a, k] / work[k, k]
            for b in range(k + 1, n):
                work[a, b] -= factor * work[k, b]
    left = min(work[n - 2, n - 2], work[n - 1, n - 1])
    return work[n - 2, n - 1] / math.sqrt(work[n - 2, n - 2] * work[n - 1, n - 1]) if left >= COLLINEAR else 0.0


@kernel
def table_statistic(codes: Ints, sizes: Ints, x: int, y: int, given: Ints, n_given: int, pearson: bool) -> Any:
    """G2 (or chi-square with continuity correction) of x and y within each cell of S, and its degrees of freedom.

    The statistic is -1 where there are fewer than 5 rows for each degree of freedom.
    """
    n = codes.shape[1]
    cells, freedom = 1, (sizes[x] - 1) * (sizes[y] - 1)
    for k in range(n_given):
        cells *= sizes[given[k]]
        freedom *= sizes[given[k]]
        if n < ROWS_PER_DEGREE * freedom:
            break
    freedom = max(freedom, 1)
    if n < ROWS_PER_DEGREE * freedom:
        return -1.0, freedom
    wide, high = sizes[x], sizes[y]
    counts = np.zeros((cells, wide, high))
    for i in range(n):
        cell = 0  # the values of the given variables, read as one number in mixed base
        for k in range(n_given):
            cell = cell * sizes[given[k]] + codes[given[k], i]
        counts[cell, codes[x, i], codes[y, i]] += 1.0
    total = 0.0
    of_x, of_y = np.empty(wide), np.empty(high)
    for cell in range(cells):
        of_x[:] = 0.0
        of_y[:] = 0.0
        rows = 0.0
        for a in range(wide):
            for b in range(high):
                of_x[a] += counts[cell, a, b]
                of_y[b] += counts[cell, a, b]
                rows += counts[cell, a, b]
        for a in range(wide):
            for b in range(high):
                if of_x[a] == 0.0 or of_y[b] == 0.0:
                    continue
                # G2 = 2 sum O log(O / E),  chi-square = sum (|O - E| - correction)^2 / E
                seen, expected = counts[cell, a, b], of_x[a] * of_y[b] / rows
                if pearson:
                    gap = abs(seen - expected) - (0.5 if expected < SMALL_EXPECTATION else 0.0)
                    total += gap * gap / expected
                elif seen > 0.0:
                    total += 2.0 * seen * math.log(seen / expected)
    return total, freedom


@kernel
def next_subset(places: Ints, size: int, count: int) -> bool:
    """Move to the next `size` of the positions 0..count-1 in lexicographic order; False behind the last."""
    k = size - 1  # the last position that can still move up; all behind it start right after it
    while k >= 0 and places[k] == count - size + k:
        k -= 1
    if k < 0:
        return False
    places[k] += 1
    for later in range(k + 1, size):
        places[later] = places[later - 1] + 1
    return True


@kernel
def others_of(x: int, kept: NDArray[np.bool_], others: Ints) -> int:
    """The kept variables other than x, in order; returns how many."""
    count = 0
    for k in range(len(kept)):
        if kept[k] and k != x:
            others[count] = k
            count += 1
    return count


@kernel
def choose(others: Ints, places: Ints, size: int, n_last: int, n_others: int, given: Ints) -> None:
    """The variables at some positions, followed by the last of all where it must be there (n_last = 1)."""
    for k in range(size - n_last):
        given[k] = others[places[k]]
    if n_last:
        given[size - 1] = others[n_others - 1]


@kernel
def prune_by_correlation(
    matrix: Floats, n_rows: int, critical: float, tested: Any, n_last: int, kept: NDArray[np.bool_], given: Ints
) -> float:
    """Drop each variable in tested = (first, stop) that some set of kept ones separates from the class.

    Sets are at most as large as `given`, which holds the last one tried, followed by -1. With n_last = 1 only sets that
    contain the last kept variable count. Returns the statistic of the test that separated the last tested variable, or
    -1.
    """
    y, most = matrix.shape[0] - 1, len(given)
    others, places = np.empty(y, np.int64), np.empty(most, np.int64)
    work = np.empty((most + 2, most + 2))
    found = -1.0
    for x in range(tested[0], tested[1]):
        found = -1.0
        given[:] = -1
        n_others = others_of(x, kept, others)
        for size in range(1, min(most, n_others) + 1):  # small sets first: they separate most variables, and cheaply
            for k in range(size):
                places[k] = k
            more = kept[x]
            while more:
                choose(others, places, size, n_last, n_others, given)
                r = partial_correlation(matrix, x, y, given, size, work)
                statistic = fisher_z(r, n_rows, size)
                if statistic < critical:
                    kept[x] = False
                    found = statistic
                more = kept[x] and next_subset(places, size - n_last, n_others - n_last)
    return found


@kernel
def prune_by_counts(
    codes: Ints, sizes: Ints, pearson: bool, critical: Floats, tested: Any, n_last: int,
    kept: NDArray[np.bool_], given: Ints,
) -> Any:  # fmt: skip
    """The same with contingency tables; `critical` holds the critical value for each number of degrees of freedom.

    Returns the degrees of freedom, too. The statistic of a test without enough rows is 0.
    """
    y, most = codes.shape[0] - 1, len(given)
    others, places = np.empty(y, np.int64), np.empty(most, np.int64)
    found, found_freedom = -1.0, 1
    for x in range(tested[0], tested[1]):
        found = -1.0
        given[:] = -1
        n_others = others_of(x, kept, others)
        for size in range(1, min(most, n_others) + 1):
            for k in range(size):
                places[k] = k
            more = kept[x]
            while more:
                choose(others, places, size, n_last, n_others, given)
                statistic, freedom = table_statistic(codes, sizes, x, y, given, size, pearson)
                if statistic < 0.0 or statistic <= critical[freedom]:
                    kept[x] = False
                    found, found_freedom = max(statistic, 0.0), freedom
                more = kept[x] and next_subset(places, size - n_last, n_others - n_last)
    return found, found_freedom


@kernel
def compare_with_members(
    own: float, theirs: Floats, close: Floats, related: NDArray[np.bool_], kept: NDArray[np.bool_]
) -> int:
    """SAOLA: the first selected column that makes the newcomer redundant, or -1; those that lose are not kept.

    own, theirs[k]: how strongly the newcomer and column k depend on the class; close[k]: on each other. Column k makes
    the newcomer redundant if theirs[k] >= own < close[k], and becomes redundant if theirs[k] < own and theirs[k] <
    close[k].
    """
    for k in range(len(theirs)):
        if not related[k]:
            continue
        if theirs[k] >= own and close[k] > own:
            return k
        if theirs[k] < own and close[k] > theirs[k]:
            kept[k] = False
    return -1


@kernel
def entropy(counts: Floats, n_rows: int) -> float:
    """The entropy, in nats, of counts that add up to n_rows."""
    total = 0.0
    for k in range(len(counts)):
        if counts[k] > 0.0:
            total -= counts[k] / n_rows * math.log(counts[k] / n_rows)
    return total


@kernel
def symmetric_uncertainty(a: Ints, size_a: int, b: Ints, size_b: int) -> float:
    """2 I(a; b) / (H(a) + H(b)), from 0 (independent) to 1 (each determines the other)."""
    of_a, of_b, both = np.zeros(size_a), np.zeros(size_b), np.zeros(size_a * size_b)
    for i in range(len(a)):
        of_a[a[i]] += 1.0
        of_b[b[i]] += 1.0
        both[a[i] * size_b + b[i]] += 1.0
    alone = entropy(of_a, len(a)) + entropy(of_b, len(a))  # I(a; b) = H(a) + H(b) - H(a, b)
    # A sum of rounded logarithms may come out a little below 0, or above 1.
    return min(max(2.0 * (alone - entropy(both, len(a))) / alone, 0.0), 1.0) if alone > 0.0 else 0.0
