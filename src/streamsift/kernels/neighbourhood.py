"""Neighbourhoods of rows, and how pure they are: the dependency degree of neighbourhood rough sets.

Rows are points; their squared distances are sums over columns, one term a column, always added in the order of the
columns, so that a sum kept from before and one made anew have the same bits.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROOM = 16  # how many nearest rows are looked for at a time: most neighbourhoods are smaller
ROUNDING = 1e-6  # more than a sum of purities can be off
GAP = 1.5  # neighbours end at a gap of so many mean gaps (OFS-A3M)


@kernel
def add_squares(squares: Floats, column: Floats) -> None:
    """Add the squared differences of one column to a matrix of squared distances."""
    for i in range(len(column)):
        for j in range(len(column)):
            squares[i, j] += (column[i] - column[j]) * (column[i] - column[j])


@kernel
def nearest(row: Floats, distance: float, place: int, near: Ints) -> int:
    """The rows that come next behind one at a place and distance, nearest first, equal ones in order; how many."""
    count, room = 0, len(near)
    for j in range(len(row)):
        if row[j] < distance or (row[j] == distance and j <= place):
            continue
        if count == room and row[j] >= row[near[room - 1]]:
            continue
        k = min(count, room - 1)
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
def purity(row: Floats, classes: Ints, own: int, near: Ints, by_density: bool) -> float:
    """The share of a row's own class among its neighbours, from the squared distances to all rows."""
    n = len(row)
    largest = 0.0
    for j in range(n):
        largest = max(largest, row[j])
    row[own] = np.inf
    farthest, gap, before, last = math.sqrt(largest), 0.0, 0.0, -1.0
    n_neighbours, n_own, place = 0, 0, -1
    while n_neighbours < n - 1:
        count = nearest(row, last, place, near)
        for k in range(min(count, n - 1 - n_neighbours)):
            place = near[k]
            last = row[place]
            distance = math.sqrt(last)
            if n_neighbours == 0:
                gap = GAP * (farthest - distance) / max(n - 2, 1)
            if not belongs(distance, before, gap, n_neighbours + 1, by_density):
                return n_own / n_neighbours
            before = distance
            n_neighbours += 1
            n_own += classes[place] == classes[own]
    return n_own / n_neighbours


@kernel
def dependency(squares: Floats, columns: Floats, classes: Ints, by_density: bool, least: float) -> float:
    """The mean purity of the neighbourhoods of all rows, no row being its own neighbour.

    `squares` holds squared distances kept from before (0 x 0: none) to which those of some columns are added. Ends
    early, with a smaller answer, once `least` cannot be reached any more.
    """
    n = len(classes)
    row, near = np.empty(n), np.empty(ROOM, np.int64)
    total = 0.0
    for i in range(n):
        for j in range(n):
            row[j] = squares[i, j] if len(squares) else 0.0
        for k in range(columns.shape[0]):
            here = columns[k, i]
            for j in range(n):
                row[j] += (columns[k, j] - here) * (columns[k, j] - here)
        total += purity(row, classes, i, near, by_density)
        if total + (n - 1 - i) < least * n - ROUNDING:
            break
    return total / n


@kernel
def line_dependency(values: Floats, order: Ints, classes: Ints, by_density: bool) -> float:
    """The same for a single column, whose values are given in ascending order: neighbours lie to the left and right.

    The order among equally distant rows does not matter, for all or none of them are neighbours; the exception is a row
    that is equally far from all others, whose gap is 0.
    """
    n = len(values)
    shares = np.empty(n)
    for p in range(n):
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
    total = 0.0
    for i in range(n):
        total += shares[i]
    return total / n
