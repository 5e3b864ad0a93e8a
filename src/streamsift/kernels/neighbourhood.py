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

GAP = 1.5  # neighbours end at a gap of so many mean gaps (OFS-A3M)


@kernel
def add_squares(squares: Floats, column: Floats) -> None:
    """Add the squared differences of one column to a matrix of squared distances."""
    for i in range(len(column)):
        for j in range(len(column)):
            squares[i, j] += (column[i] - column[j]) * (column[i] - column[j])


@kernel
def is_nearer(row: Floats, a: int, b: int) -> bool:
    """Whether row a comes before row b: by distance, equal ones by their number."""
    return row[a] < row[b] or (row[a] == row[b] and a < b)


@kernel
def sift(heap: Ints, place: int, size: int, row: Floats) -> None:
    """Let the entry at a place of a heap sink to where it belongs."""
    entry = heap[place]
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and is_nearer(row, heap[child + 1], heap[child]):
            child += 1
        if not is_nearer(row, heap[child], entry):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = entry


@kernel
def purity(heap: Ints, row: Floats, classes: Ints, own: int, farthest: float, by_density: bool) -> float:
    """The share of the class `own` among the neighbours, taken from a heap of all other rows.

    By density: the k-th nearest belongs to them as long as distance / k does not grow. By gap: as long as the distance
    grows by less than GAP mean gaps.
    """
    size = len(heap)
    for place in range(size // 2 - 1, -1, -1):
        sift(heap, place, size, row)
    first = math.sqrt(row[heap[0]])
    gap = GAP * (farthest - first) / max(size - 1, 1)
    before, density = first, first
    n_neighbours, n_own = 0, 0
    while size > 0:
        nearest = heap[0]
        distance = math.sqrt(row[nearest])
        if by_density:
            if distance > 0.0 and distance / (n_neighbours + 1) > density:
                break
            density = distance / (n_neighbours + 1)
        elif n_neighbours > 0 and not distance - before < gap:
            break
        before = distance
        n_neighbours += 1
        n_own += classes[nearest] == own
        size -= 1
        heap[0] = heap[size]
        sift(heap, 0, size, row)
    return n_own / n_neighbours


@kernel
def dependency(squares: Floats, columns: Floats, classes: Ints, by_density: bool) -> float:
    """The mean purity of the neighbourhoods of all rows, no row being its own neighbour.

    `squares` holds squared distances kept from before (0 x 0: none) to which those of some columns are added.
    """
    n = len(classes)
    row, heap = np.empty(n), np.empty(n - 1, np.int64)
    total = 0.0
    for i in range(n):
        for j in range(n):
            row[j] = squares[i, j] if len(squares) else 0.0
        for k in range(columns.shape[0]):
            here = columns[k, i]
            for j in range(n):
                row[j] += (columns[k, j] - here) * (columns[k, j] - here)
        largest = 0.0
        for j in range(n):
            largest = max(largest, row[j])
        for j in range(n - 1):
            heap[j] = j if j < i else j + 1
        total += purity(heap, row, classes, classes[i], math.sqrt(largest), by_density)
    return total / n
