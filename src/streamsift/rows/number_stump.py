"""Decision stumps for targets that are numbers: the candidate that collects, and the frozen stumps.

A stump splits one column, a numeric one in two at the end of a bin (kernels/number_stump.py), a categorical one into a
branch for each value, and predicts the mean of the branch; a category never met has the mean of all. Column and cut are
frozen, the means go on learning.

Errors become numbers between 0 and 1 by dividing them by three times the standard deviation that the split leaves of
what the candidate has seen: an error of that size or more, one in 370 if errors are normal, is 1. The divisor is frozen
with the stump, so that errors that grow do not hide behind a scale that grows with them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import CheckedBatch
from streamsift.core.state import Finite, Shape, Sizes, Within
from streamsift.kernels.number_stump import (
    FINEST,
    LARGEST_MEAN,
    M2,
    MEAN,
    N_BINS,
    CollectedNumbers,
    FrozenNumbers,
    freeze_cells,
    freeze_halves,
    score_bins,
    score_cells,
)
from streamsift.kernels.stump import SEEN, TESTED
from streamsift.rows.stump import CONFIDENCE, TIE, Bools, Columns

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WIDEST = 3.0  # standard deviations that count as an error of 1
# "auto" asks for more merit than CHANCE * log(CUTS * features) / rows: twice what the best of so many useless columns
# may have, if the cuts of a column differ as much as that number of independent ones.
CHANCE, CUTS = 4.0, 10
UNIT = 2.0**-100  # targets are kept in this unit, so that no square of them overflows; a power of 2 rounds nothing

_MOST_WEIGHT = 1e100
_Weights = Within(0.0, _MOST_WEIGHT)
_Sums = Finite(1e250)
_Predictions = Finite(LARGEST_MEAN)


def in_unit(batch: CheckedBatch) -> Floats:
    """The targets of a batch in the unit in which they are kept."""
    return np.asarray(batch.target, np.float64) * UNIT


@dataclass
class NumberCandidate:
    """What the next stump has collected: the arrays of `CollectedNumbers` in kernels/number_stump.py."""

    target: Annotated[Floats, Shape(3), Finite(1e250)]
    width: Annotated[Floats, Shape("n_numeric"), Within(FINEST, 1e160)]
    lowest: Annotated[Floats, Shape("n_numeric"), Within(-1e16)]
    highest: Annotated[Floats, Shape("n_numeric"), Within(None, 1e16)]
    bin_weight: Annotated[Floats, Shape("n_numeric", N_BINS), _Weights]
    bin_sum: Annotated[Floats, Shape("n_numeric", N_BINS), _Sums]
    cell_weight: Annotated[Floats, Shape("n_cells"), _Weights]
    cell_sum: Annotated[Floats, Shape("n_cells"), _Sums]
    weights: Annotated[Floats, Shape(2), _Weights]

    def problem(self, sizes: Sizes) -> str | None:
        none = np.isposinf(self.lowest) & np.isneginf(self.highest)
        whole = (np.floor(self.lowest) == self.lowest) & (np.floor(self.highest) == self.highest)
        with np.errstate(invalid="ignore"):
            span = self.highest - self.lowest
        if not (none | whole & (span >= 0.0) & (span < N_BINS)).all():
            return "lowest and highest are no ranges of bins"
        if self.target[M2] < 0.0:
            return "target holds a negative second moment"
        return "weights says that more was tested than seen" if self.weights[TESTED] > self.weights[SEEN] else None

    @classmethod
    def empty(cls, columns: Columns) -> Self:
        """A candidate that has seen nothing."""
        n, cells = len(columns.numeric), columns.n_cells
        bins = (np.zeros((n, N_BINS)), np.zeros((n, N_BINS)))
        ends = (np.full(n, np.inf), np.full(n, -np.inf))
        return cls(np.zeros(3), np.ones(n), *ends, *bins, np.zeros(cells), np.zeros(cells), np.zeros(2))

    def collected(self) -> CollectedNumbers:
        """As kernels take it."""
        return CollectedNumbers(
            self.target,
            self.width,
            self.lowest,
            self.highest,
            self.bin_weight,
            self.bin_sum,
            self.cell_weight,
            self.cell_sum,
            self.weights,
        )

    def clear(self) -> None:
        """Start afresh."""
        for sums in (self.target, self.bin_weight, self.bin_sum, self.cell_weight, self.cell_sum, self.weights):
            sums.fill(0.0)
        self.lowest.fill(np.inf)
        self.highest.fill(-np.inf)

    def merits(self, columns: Columns, is_open: Bools, merit: str) -> tuple[Floats, Floats]:
        """The merit of the best split of each column (-inf: none, or not open) and the cut points of numeric ones."""
        merits, cuts = np.full(columns.n_features, -np.inf), np.zeros(columns.n_features)
        score_bins(columns.numeric, is_open, self.collected(), merits, cuts)
        if len(columns.categorical):
            score_cells(columns.categorical, columns.start, is_open, self.collected(), merits)
        return merits, cuts

    def chance(self, n_features: int, merit: str) -> float:
        """What the best of so many useless features may have by chance."""
        return CHANCE * math.log(CUTS * n_features) / float(self.weights[SEEN])

    def is_certain(self, merits: Floats, best: int, merit: str) -> bool:
        """The test of regression trees: the second best has a share of the merit that is less than 1 by more than
        Hoeffding's bound, or the bound is so small that it is a tie that more rows would not settle.
        """
        others = np.delete(merits, best)
        second = max(0.0, float(others.max())) if len(others) else 0.0
        epsilon = math.sqrt(math.log(1.0 / CONFIDENCE) / (2.0 * float(self.weights[SEEN])))
        return second / float(merits[best]) < 1.0 - epsilon or epsilon < TIE


@dataclass
class NumberStumps:
    """The frozen stumps: the arrays of `FrozenNumbers` in kernels/number_stump.py."""

    cut: Annotated[Floats, Shape("n_features"), Finite(1e160)]
    means: Annotated[Floats, Shape("n_features", 2), _Predictions]
    weights: Annotated[Floats, Shape("n_features", 2), _Weights]
    table: Annotated[Floats, Shape("n_cells"), _Predictions]
    table_weight: Annotated[Floats, Shape("n_cells"), _Weights]
    reach: Annotated[Floats, Shape("n_features"), Within(0.0, 1e160)]
    usual: Annotated[Floats, Shape("n_features"), _Predictions]  # for categories that come later

    @classmethod
    def none(cls, columns: Columns) -> Self:
        """No stump yet."""
        n, cells = columns.n_features, columns.n_cells
        halves = (np.zeros((n, 2)), np.zeros((n, 2)))
        return cls(np.zeros(n), *halves, np.zeros(cells), np.zeros(cells), np.zeros(n), np.zeros(n))

    def frozen(self, columns: Columns) -> FrozenNumbers:
        """As kernels take it."""
        halves = (self.cut, self.means, self.weights)
        return FrozenNumbers(columns.first_cell(), *halves, self.table, self.table_weight, self.reach)

    def freeze(self, feature: int, cut: float, merit: float, columns: Columns, candidate: NumberCandidate) -> None:
        """Keep the candidate's split of one column."""
        collected = candidate.collected()
        variance = float(candidate.target[M2]) / float(candidate.weights[SEEN])
        self.reach[feature] = min(WIDEST * math.sqrt(variance * max(1.0 - merit, 0.0)), LARGEST_MEAN)
        self.usual[feature] = np.clip(candidate.target[MEAN], -LARGEST_MEAN, LARGEST_MEAN)
        k = int(np.searchsorted(columns.categorical, feature))
        if k < len(columns.categorical) and columns.categorical[k] == feature:
            freeze_cells(columns.start[k], columns.start[k + 1], collected, self.table, self.table_weight)
            return
        self.cut[feature] = cut
        place = int(np.searchsorted(columns.numeric, feature))
        freeze_halves(place, cut, collected, self.means[feature], self.weights[feature])


def grow_numbers(columns: Columns, candidate: NumberCandidate, stumps: NumberStumps, needed: Ints) -> None:
    """Make room for new codes of the categorical columns, by half as much again at least."""
    moved, start = columns.room_for(needed)
    if moved is None:
        return
    cells: tuple[tuple[Any, str], ...] = ((candidate, "cell_weight"), (candidate, "cell_sum"), (stumps, "table_weight"))
    for owner, name in cells:
        wide = np.zeros(start[-1])
        wide[moved] = getattr(owner, name)
        setattr(owner, name, wide)
    table = np.repeat(stumps.usual[columns.categorical], np.diff(start))
    table[moved] = stumps.table
    stumps.table, columns.start = table, start
