"""Cells of a target that is a number: each row joins a cell of neighbouring values, and the cells stay about as heavy.

Cells lie in the order of their means, which differ. A row whose target is the mean of a cell joins it. Any other row
begins a cell of its own; where there are then more than `most`, the two neighbours that weigh least together become
one. So rows of the same cell stay together for ever, whatever comes later.

Every cell has a code from 0 on, which it keeps until it is joined to its neighbour on the left; its code then goes to
the newest cell.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Cells(NamedTuple):
    """Cells by their means, with room for `most` + 1."""

    means: Floats
    weights: Floats
    codes: Ints
    names: Ints  # a number that no other cell has had: codes known before, then one for each row that began a cell


class Families(NamedTuple):
    """What became of the cells, by their names."""

    parents: Ints  # the cell that a cell was joined to; itself, where it is still there
    codes: Ints  # of the cells that are still there


@kernel
def place_rows(
    target: Any, weights: Any, fading: Any, most: Any, n_cells: Any, cells: Any, families: Any, moved: Any, found: Any
) -> Any:
    """Add rows one by one: the number of cells after them, and the code of each row's cell in `found`.

    `moved` has the code that the rows with each code so far have after that.
    """
    n_known = len(moved)
    for i in range(len(target)):
        for k in range(n_cells):
            cells.weights[k] *= fading
        place = np.searchsorted(cells.means[:n_cells], target[i])  # the first cell whose mean is not smaller
        if place < n_cells and cells.means[place] == target[i]:
            cells.weights[place] += weights[i]
            found[i] = cells.names[place]
            continue
        _insert(cells, place, n_cells, target[i], weights[i], n_known + i)
        found[i] = n_known + i
        if n_cells < most:
            n_cells += 1
        else:
            _join_lightest(cells, n_cells + 1, families.parents)
    for k in range(n_cells):
        families.codes[cells.names[k]] = cells.codes[k]
    for c in range(n_known):
        moved[c] = families.codes[_root(families.parents, c)]
    for i in range(len(target)):
        found[i] = families.codes[_root(families.parents, found[i])]
    return n_cells


@kernel
def _insert(cells: Any, place: Any, n_cells: Any, value: Any, weight: Any, name: Any) -> None:
    for k in range(n_cells, place, -1):
        cells.means[k] = cells.means[k - 1]
        cells.weights[k] = cells.weights[k - 1]
        cells.codes[k] = cells.codes[k - 1]
        cells.names[k] = cells.names[k - 1]
    cells.means[place] = value
    cells.weights[place] = weight
    cells.codes[place] = n_cells
    cells.names[place] = name


@kernel
def _join_lightest(cells: Any, n_cells: Any, parents: Any) -> None:
    """Make one cell of the two neighbours that weigh least together, the first such pair."""
    left = 0
    for k in range(1, n_cells - 1):
        if cells.weights[k] + cells.weights[k + 1] < cells.weights[left] + cells.weights[left + 1]:
            left = k
    right, newest = left + 1, n_cells - 1
    total = cells.weights[left] + cells.weights[right]
    share = cells.weights[right] / total if total > 0.0 else 0.5
    mean = cells.means[left] + (cells.means[right] - cells.means[left]) * share
    cells.means[left] = min(max(mean, cells.means[left]), cells.means[right])
    cells.weights[left] = total
    freed = cells.codes[right]
    if cells.codes[left] == newest:
        freed = newest
        cells.codes[left] = cells.codes[right]
    parents[cells.names[right]] = cells.names[left]
    for k in range(right, newest):
        cells.means[k] = cells.means[k + 1]
        cells.weights[k] = cells.weights[k + 1]
        cells.codes[k] = cells.codes[k + 1]
        cells.names[k] = cells.names[k + 1]
    for k in range(newest):
        if cells.codes[k] == newest:
            cells.codes[k] = freed


@kernel
def _root(parents: Any, name: Any) -> Any:
    """The cell that one has become part of, at last; the way there is halved for the next who asks."""
    while parents[name] != name:
        parents[name] = parents[parents[name]]
        name = parents[name]
    return name
