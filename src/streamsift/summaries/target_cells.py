"""Target cells: a target that is a number, cut at its running quantiles into classes that other summaries can count.

The rows of a cell are neighbours by their target, and all cells weigh about the same (kernels/target_cells.py). A cell
never loses a row. It may be joined to its neighbour, which adds up whatever is counted by cells; so counts by cells
follow the distribution of the target, without a second look at any row, and can be merged.

There are several cells for each bin that scores are computed from. The borders between cells move while rows arrive, so
a row near the border of a bin may be counted in the next one: about half a cell on either side of each border. Values
that few targets have (whole numbers, many zeros) have a cell each, and no such error.

How the stream is cut into batches does not matter, the order of its rows does, a little. Which cell a row belongs to
depends on targets and weights alone: a feature that tells nothing stays independent of the cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.core.limits import LARGEST
from streamsift.core.state import Distinct, Finite, Increasing, Shape, Sizes, Within
from streamsift.kernels.target_cells import Cells, Families, place_rows
from streamsift.summaries.fading import Fading, weight_limit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEAST_CELLS = 20  # that the smallest number of bins has, too
CELLS_PER_BIN = 4
MOST_BINS = 100


def n_cells_for(n_bins: int) -> int:
    """How many cells there are for so many bins.

    >>> n_cells_for(2), n_cells_for(5), n_cells_for(10)
    (20, 20, 40)
    """
    return max(LEAST_CELLS, CELLS_PER_BIN * n_bins)


class Placed(NamedTuple):
    """The code of the cell of each row, what the codes of earlier rows have become, and the cells after that."""

    codes: Ints
    moved: Ints
    cells: TargetCells


class TargetGroups(NamedTuple):
    """The group of each code, and the mean target of each group, rising."""

    of_code: Ints
    means: Floats


@dataclass
class TargetCells:
    """Cells in the order of the target: their mean, their weight at present, and their code."""

    fading: Fading
    most: Annotated[int, Within(LEAST_CELLS, CELLS_PER_BIN * MOST_BINS)]
    means: Annotated[Floats, Shape("n_cells"), Finite(LARGEST), Increasing(strictly=True)]
    weights: Annotated[Floats, Shape("n_cells"), Within(0.0), Finite()]
    codes: Annotated[Ints, Shape("n_cells"), Within(0, "n_cells - 1"), Distinct()]

    def problem(self, sizes: Sizes) -> str | None:
        """What declarations cannot say, in a few words."""
        if not 0 < len(self.means) <= min(self.most, sizes["n_rows_seen"]):
            return f"there are {len(self.means)} cells, which is none or too many"
        if self.weights.sum() > weight_limit(self.fading, 0, sizes["n_rows_seen"]):
            return "weights are more than so few rows can have"
        return None

    @classmethod
    def empty(cls, fading: float, most: int) -> Self:
        return cls(fading, most, np.zeros(0), np.zeros(0), np.zeros(0, np.int64))

    def placed(self, target: Floats, weight: Floats | None, decay: float) -> Placed:
        """The cells with some rows more; all that was there fades by `decay` first. Changes nothing."""
        n_cells, n_rows = len(self.means), len(target)
        room = (0, self.most + 1 - n_cells)
        codes = np.pad(self.codes, room)
        cells = Cells(np.pad(self.means, room), np.pad(self.weights * decay, room), codes, codes.copy())
        families = Families(np.arange(n_cells + n_rows), np.zeros(n_cells + n_rows, np.int64))
        moved, found = np.zeros(n_cells, np.int64), np.empty(n_rows, np.int64)
        weights = np.ones(n_rows) if weight is None else weight
        n = place_rows(target, weights, self.fading, self.most, n_cells, cells, families, moved, found)
        after = type(self)(self.fading, self.most, cells.means[:n], cells.weights[:n], cells.codes[:n])
        return Placed(found, moved, after)

    def fade(self, factor: float) -> None:
        """Let all that came so far weigh less."""
        self.weights = self.weights * factor

    def merge(self, other: Self) -> tuple[Ints, Ints]:
        """Add the cells of another: what the codes here and there have become.

        Cells of the same mean become one; then again and again the two neighbours that weigh least together, until
        there are as few as there may be.
        """
        means, place = np.unique(np.concatenate([self.means, other.means]), return_inverse=True)
        weights: Floats = np.bincount(place, np.concatenate([self.weights, other.weights])).astype(np.float64)
        left = np.arange(len(means))  # the place, among those that are left, of each
        while len(means) > self.most:
            pair = int(np.argmin(weights[:-1] + weights[1:]))
            total = weights[pair] + weights[pair + 1]
            share = weights[pair + 1] / total if total > 0.0 else 0.5
            mean = means[pair] + (means[pair + 1] - means[pair]) * share
            means[pair], weights[pair] = np.clip(mean, means[pair], means[pair + 1]), total
            means, weights = np.delete(means, pair + 1), np.delete(weights, pair + 1)
            left[left > pair] -= 1
        mine, theirs = np.empty(len(self.codes), np.int64), np.empty(len(other.codes), np.int64)
        mine[self.codes], theirs[other.codes] = np.split(left[place], [len(self.codes)])
        self.means, self.weights, self.codes = means, weights, np.arange(len(means))
        return mine, theirs

    def groups(self, n_bins: int) -> TargetGroups:
        """Cells side by side in up to `n_bins` groups of about the same weight: by the middle of each, as a rank."""
        total = self.weights.sum()
        middle = np.cumsum(self.weights) - self.weights / 2.0
        ranks = middle / total if total > 0.0 else np.zeros(len(middle))
        numbers = np.minimum((ranks * n_bins).astype(np.int64), n_bins - 1)
        group = np.unique(numbers, return_inverse=True)[1]
        of_code = np.empty(len(group), np.int64)
        of_code[self.codes] = group
        heavy = np.maximum(self.weights, np.finfo(float).tiny)
        return TargetGroups(of_code, np.bincount(group, heavy * self.means) / np.bincount(group, heavy))
