"""A target cut at its running quantiles, from the rule in docs/adr/0019: cells are plain lists of the rows in them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np


class Cell:
    """Some rows by their number, with their mean target and their weight as they are now."""

    def __init__(self, rows: list[int], mean: float, weight: float) -> None:
        self.rows, self.mean, self.weight = rows, mean, weight


def cells(target: Sequence[float], most: int, weight: Sequence[float], fading: float = 1.0) -> list[Cell]:
    """Each row joins the cell of its mean or begins one; of too many, the two lightest neighbours are joined."""
    found: list[Cell] = []
    for row, (value, heavy) in enumerate(zip(target, weight, strict=True)):
        for cell in found:
            cell.weight *= fading
        same = [cell for cell in found if cell.mean == value]
        if same:
            same[0].rows.append(row)
            same[0].weight += heavy
            continue
        found.append(Cell([row], float(value), float(heavy)))
        found.sort(key=lambda cell: cell.mean)
        if len(found) > most:
            pairs = [left.weight + right.weight for left, right in pairwise(found)]
            k = pairs.index(min(pairs))
            left, right = found[k], found.pop(k + 1)
            total = left.weight + right.weight
            mean = left.mean + (right.mean - left.mean) * (right.weight / total)
            left.mean = min(max(mean, left.mean), right.mean)
            left.rows, left.weight = left.rows + right.rows, total
    return found


def bins(found: Sequence[Cell], n_bins: int) -> np.ndarray:
    """The bin of each row: cells by the middle of their weight in that of all."""
    total = sum(cell.weight for cell in found)
    result, below = np.full(sum(len(cell.rows) for cell in found), -1), 0.0
    for cell in found:
        result[cell.rows] = min(int((below + cell.weight / 2.0) / total * n_bins), n_bins - 1)
        below += cell.weight
    return result


def running_bins(target: Sequence[float], n_bins: int, weight: Sequence[float], fading: float = 1.0) -> np.ndarray:
    """The bins of all rows, numbered from 0 without gaps: four cells for each bin, and 20 at least."""
    return np.unique(bins(cells(target, max(20, 4 * n_bins), weight, fading), n_bins), return_inverse=True)[1]
