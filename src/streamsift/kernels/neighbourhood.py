"""Neighbourhoods of rows, and how pure they are: the dependency degree of neighbourhood rough sets.

Rows are points; their squared distances are sums over columns, one term per column. A sum is kept in two numbers,
`high` (the sum, rounded) and `low` (what rounding took away), so that a column can be taken out again and leaves what
the others give, zeros included.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROOM = 16  # how many nearest rows are searched for at a time: most neighbourhoods are smaller
ROUNDING = 1e-6  # more than a sum of purities can be off
GAP = 1.5  # neighbours end at a gap of so many mean gaps (OFS-A3M)
NARROWER = 1.0 - 1e-9  # cells are a little narrower than the gap: two rows in one cell are surely less than it apart
NOTHING = 1e-26  # squares of differences that are rounding, columns having variance 1: what is left of a sum taken out


@kernel
def add_squares(high: Floats, low: Floats, column: Floats, place: int, sign: float) -> None:
    """Add the squared differences between a column's value at one index and all its values; take them out with -1."""
    here = column[place]
    for j in range(len(column)):
        # Two-sum (Knuth): total = fl(high + term), and what rounding lost is exactly the bracket below.
        term = sign * ((column[j] - here) * (column[j] - here))
        total = high[j] + term
        added = total - high[j]
        rest = low[j] + ((high[j] - (total - added)) + (term - added))  # what rounding took away, so far
        both = total + rest
        gone = both < NOTHING
        low[j] = 0.0 if gone else rest - (both - total)
        high[j] = 0.0 if gone else both


@kernel
def add_column(squares: Floats, column: Floats, sign: float) -> None:
    """Add one column to all squared distances (squares[0] is high, squares[1] low), or take it out."""
    for i in range(len(column)):
        add_squares(squares[0, i], squares[1, i], column, i, sign)


@kernel
def nearest(row: Floats, distance: float, place: int, near: Ints) -> int:
    """The rows behind the one with this index and distance, nearest first, equal ones in order; returns how many."""
    count, room = 0, len(near)
    for j in range(len(row)):
        if row[j] < distance or (row[j] == distance and j <= place):
            continue
        if count == room and row[j] >= row[near[room - 1]]:
            continue
        k = min(count, room - 1)  # insertion into a short sorted list
        while k > 0 and row[near[k - 1]] > row[j]:
            near[k] = near[k - 1]
            k -= 1
        near[k] = j
        count = min(count + 1, room)
    return count


@kernel
def belongs(distance: float, before: float, gap: float, rank: int, by_density: bool) -> bool:
    """Whether the rank-th nearest row is a neighbour, the one before it being one.

    By density: as long as distance / rank does not grow. By gap: as long as the distance grows by less than the gap.
    """
    if rank == 1:
        return True
    if by_density:
        return distance == 0.0 or distance / rank <= before / (rank - 1)
    return distance - before < gap


@kernel
def purity_by_density(row: Floats, classes: Ints, own: int, near: Ints) -> float:
    """The share of a row's own class among its neighbours, from the squared distances to all rows."""
    n = len(row)
    row[own] = np.inf
    before, last = 0.0, -1.0
    n_neighbours, n_own, place = 0, 0, -1
    while n_neighbours < n - 1:
        count = nearest(row, last, place, near)
        for k in range(min(count, n - 1 - n_neighbours)):
            place = near[k]
            last = row[place]
            distance = math.sqrt(last)
            if not belongs(distance, before, 0.0, n_neighbours + 1, True):
                return n_own / n_neighbours
            before = distance
            n_neighbours += 1
            n_own += classes[place] == classes[own]
    return n_own / n_neighbours


@kernel
def purity_by_gap(row: Floats, classes: Ints, own: int, cell_of: Ints, cells: Floats) -> float:
    """The same where neighbours end at a gap, without sorting.

    Distances are put into cells just narrower than the gap, so a gap can only lie between cells. `cells` holds, for
    each of them, how many rows are in it, how many of the own class, and the least and the largest distance; `cell_of`
    is scratch.
    """
    n = len(row)
    row[own] = row[0 if own > 0 else 1]  # the row itself must not be the nearest
    least, largest, other_least, other_largest = row[0], row[0], row[n - 1], row[n - 1]
    for j in range(0, n - 1, 2):  # two at a time: a minimum waits for the one before
        least, largest = min(least, row[j]), max(largest, row[j])
        other_least, other_largest = min(other_least, row[j + 1]), max(other_largest, row[j + 1])
    start, end = math.sqrt(min(least, other_least)), math.sqrt(max(largest, other_largest))
    gap = GAP * (end - start) / max(n - 2, 1)
    if not gap > 0.0:  # all are equally far: the first is the only neighbour
        return 1.0 if classes[0 if own > 0 else 1] == classes[own] else 0.0
    scale = 1.0 / (gap * NARROWER)
    n_cells = min(int((end - start) * scale), n) + 1
    for j in range(n):  # by itself: this loop is vectorised, the next is not
        row[j] = math.sqrt(row[j])
        cell_of[j] = np.int64(np.int32((row[j] - start) * scale))
    for cell in range(n_cells):
        cells[cell, 0] = cells[cell, 1] = cells[cell, 3] = 0.0
        cells[cell, 2] = np.inf
    for j in range(n):
        if j != own:
            cell = min(cell_of[j], n_cells - 1)
            cells[cell, 0] += 1.0
            cells[cell, 1] += classes[j] == classes[own]
            cells[cell, 2] = min(cells[cell, 2], row[j])
            cells[cell, 3] = max(cells[cell, 3], row[j])
    n_neighbours, n_own, before = 0.0, 0.0, start
    for cell in range(n_cells):
        if cells[cell, 0] > 0.0:
            if not cells[cell, 2] - before < gap:
                break
            n_neighbours += cells[cell, 0]
            n_own += cells[cell, 1]
            before = cells[cell, 3]
    return n_own / n_neighbours


@kernel
def add_purities(
    squares: Floats,
    columns: Floats,
    sign: float,
    classes: Ints,
    by_density: bool,
    least: float,
    rows: Any,
    total: float,
) -> float:
    """`total` and the purities of the neighbourhoods of rows = (first, stop), no row being its own neighbour.

    `squares` holds squared distances kept from before (2 x 0 x 0: none) to which those of some columns are added, or
    from which they are taken (sign -1). Ends early once the mean over all rows cannot reach `least` any more.
    """
    n = len(classes)
    row, rest = np.empty(n), np.empty(n)
    near, cell_of, cells = np.empty(ROOM, np.int64), np.empty(n, np.int64), np.empty((n + 1, 4))
    for i in range(rows[0], rows[1]):
        for j in range(n):
            row[j] = squares[0, i, j] if squares.size else 0.0
            rest[j] = squares[1, i, j] if squares.size else 0.0
        for k in range(columns.shape[0]):
            add_squares(row, rest, columns[k], i, sign)
        if by_density:
            total += purity_by_density(row, classes, i, near)
        else:
            total += purity_by_gap(row, classes, i, cell_of, cells)
        if total + (n - 1 - i) < least * n - ROUNDING:
            break
    return total


@kernel
def line_purities(values: Floats, order: Ints, classes: Ints, by_density: bool, ranks: Any, shares: Floats) -> None:
    """The purity of each neighbourhood for a single column, whose values are given in ascending order.

    Written to `shares` for the rows at ranks = (first, stop) of this order. Neighbours lie to the left and right.

    The order among equally distant rows does not matter, for all or none of them are neighbours; the exception is a row
    that is equally far from all others, whose gap is 0.
    """
    n = len(values)
    for p in range(ranks[0], ranks[1]):
        own = classes[order[p]]
        left, right = p - 1, p + 1
        farthest = max(values[p] - values[0], values[n - 1] - values[p])
        gap, before = 0.0, 0.0
        n_neighbours, n_own = 0, 0
        while n_neighbours < n - 1:
            to_left = values[p] - values[left] if left >= 0 else np.inf
            to_right = values[right] - values[p] if right < n else np.inf
            distance = min(to_left, to_right)
            if n_neighbours == 0:
                gap = GAP * (farthest - distance) / max(n - 2, 1)
            if not belongs(distance, before, gap, n_neighbours + 1, by_density):
                break
            before = distance
            n_neighbours += 1
            n_own += classes[order[left if to_left <= to_right else right]] == own
            if to_left <= to_right:
                left -= 1
            else:
                right += 1
        if not by_density and gap == 0.0:
            first = 0 if order[p] > 0 else 1
            n_neighbours, n_own = 1, int(classes[first] == own)
        shares[order[p]] = n_own / n_neighbours
