"""Decision stumps over mixed columns: the layout of the columns, the candidate that collects, the frozen stumps.

A stump splits one column: a numeric one in two at a cut point, a categorical one into a branch for each value. Each
branch predicts its heaviest class; a value never met while collecting predicts none, which is always wrong.

Numeric columns are summed up by a normal distribution per class (variance with weight - 1), cut at 10 equally spaced
points between the extremes. A class whose weight does not exceed 1 has no variance: it lies at its mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import CheckedBatch, refuse_value
from streamsift.core.exceptions import InputError, ParameterError, UnknownNameError
from streamsift.core.limits import LARGEST
from streamsift.core.state import Finite, Increasing, Offsets, Shape, Sizes, Within
from streamsift.kernels.stump import (
    NOT_SEEN,
    NUMERIC,
    SEEN,
    TESTED,
    Collected,
    Frozen,
    Layout,
    Span,
    find_bad_value,
    freeze_categorical,
    freeze_numeric,
    mark_errors,
    score_categorical,
    score_numeric,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_MOST_WEIGHT = 1e100  # far beyond what boosting makes of any stream
LARGEST_CODE = 2**20 - 1  # a code is an index of an array
CONFIDENCE = 1e-7  # delta of Eq. 9, as in Hoeffding trees
TIE = 0.05  # tau
CHANCE = 2.0  # twice the merit, in nats, that the best of so many features has by chance, over log(features) / rows


def categorical_mask(categorical: Any, batch: CheckedBatch) -> Bools:
    """The `categorical` parameter as one bool per feature; None asks the batch. Categories with names always are."""
    n_features = batch.features.n_features
    if categorical is None:
        return np.zeros(n_features, bool) if batch.categorical is None else np.array(batch.categorical, bool)
    if isinstance(categorical, str):  # "all", the only text within the limits
        return np.ones(n_features, bool)
    mask = batch.categories.mask(n_features)
    given = np.asarray(categorical)
    if given.dtype == bool:
        if given.shape != (n_features,):
            raise ParameterError(
                f"The 'categorical' parameter is a mask of shape {given.shape}, but X has {n_features} features: give "
                "one bool per feature."
            )
        mask |= given
        return mask
    for column in given.tolist():
        mask[_position(column, batch)] = True
    return mask


def _position(column: Any, batch: CheckedBatch) -> int:
    """The position of a column given by name or position."""
    names = [batch.features.name(j) for j in range(batch.features.n_features)]
    if isinstance(column, str):
        if column not in names:
            raise UnknownNameError("column", column, names)
        return names.index(column)
    if not isinstance(column, int) or not 0 <= column < len(names):
        raise ParameterError(
            f"The 'categorical' parameter names the column {column!r}, but X has the columns 0 to {len(names) - 1}."
        )
    return column


@dataclass
class Columns:
    """Which columns are categorical, and the cells their codes have: the arrays of `Layout` in kernels/stump.py."""

    numeric: Annotated[Ints, Shape("n_numeric"), Within(0, "n_features - 1"), Increasing(strictly=True)]
    categorical: Annotated[Ints, Shape("n_coded"), Within(0, "n_features - 1"), Increasing(strictly=True)]
    start: Annotated[Ints, Shape("n_coded + 1"), Offsets("n_cells")]

    def problem(self, sizes: Sizes) -> str | None:
        both = np.concatenate([self.numeric, self.categorical])
        if not np.array_equal(np.sort(both), np.arange(sizes["n_features"])):
            return "numeric and categorical do not hold each column once"
        return None

    @classmethod
    def of(cls, categorical: Bools) -> Self:
        """The layout for a mask, before any code is known."""
        coded = np.flatnonzero(categorical).astype(np.int64)
        return cls(np.flatnonzero(~categorical).astype(np.int64), coded, np.zeros(len(coded) + 1, np.int64))

    def layout(self) -> Layout:
        """As kernels take it."""
        return Layout(self.numeric, self.categorical, self.start)

    @property
    def n_features(self) -> int:
        return len(self.numeric) + len(self.categorical)

    @property
    def n_cells(self) -> int:
        return int(self.start[-1])

    def first_cell(self) -> Ints:
        """The first cell of each column, or NUMERIC."""
        first = np.full(self.n_features, NUMERIC, np.int64)
        first[self.categorical] = self.start[:-1]
        return first

    def room_for(self, needed: Ints) -> tuple[Ints | None, Ints]:
        """Where the cells go if each column has the number it needs, and where columns begin then; None: they stay."""
        old_sizes = np.diff(self.start)
        if not (needed > old_sizes).any():
            return None, self.start
        sizes = np.where(needed > old_sizes, np.maximum(needed, old_sizes + old_sizes // 2), old_sizes)
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return np.arange(self.n_cells) + np.repeat(start[:-1] - self.start[:-1], old_sizes), start

    def check(self, batch: CheckedBatch) -> Ints:
        """Raise InputError for the first value no stump can learn; return the number of cells each column needs."""
        top = np.full(len(self.categorical), -1.0)
        row, column = find_bad_value(batch.X, self.categorical, LARGEST, float(LARGEST_CODE), top)
        if row >= 0:
            value = float(batch.X[row, column])
            if not abs(value) <= LARGEST:
                refuse_value(batch, row, column, value)
            stream = f" (row {batch.first_row + row} of the stream)" if batch.first_row else ""
            raise InputError(
                f"Row {row}{stream}, column {batch.features.name(column)!r} of X is {value:g}, but the column is "
                f"categorical: code its categories as whole numbers from 0 to {LARGEST_CODE}."
            )
        return top.astype(np.int64) + 1


@dataclass
class CandidateStump:
    """What the next stump has collected: the arrays of `Collected` in kernels/stump.py."""

    class_weight: Annotated[Floats, Shape("n_classes"), Within(0.0, _MOST_WEIGHT)]
    mean: Annotated[Floats, Shape("n_classes", "n_numeric"), Finite(LARGEST)]
    m2: Annotated[Floats, Shape("n_classes", "n_numeric"), Within(0.0), Finite()]
    low: Annotated[Floats, Shape("n_classes", "n_numeric"), Within(-LARGEST)]
    high: Annotated[Floats, Shape("n_classes", "n_numeric"), Within(None, LARGEST)]
    counts: Annotated[Floats, Shape("n_classes", "n_cells"), Within(0.0, _MOST_WEIGHT)]
    weights: Annotated[Floats, Shape(2), Within(0.0, _MOST_WEIGHT)]

    def problem(self, sizes: Sizes) -> str | None:
        none = np.isposinf(self.low) & np.isneginf(self.high)
        if not (none | (self.low <= self.high)).all():
            return "low and high are no ranges"
        return "weights says that more was tested than seen" if self.weights[TESTED] > self.weights[SEEN] else None

    @classmethod
    def empty(cls, n_classes: int, columns: Columns) -> Self:
        """A candidate that has seen nothing."""
        shape = (n_classes, len(columns.numeric))
        return cls(
            np.zeros(n_classes),
            np.zeros(shape),
            np.zeros(shape),
            np.full(shape, np.inf),
            np.full(shape, -np.inf),
            np.zeros((n_classes, columns.n_cells)),
            np.zeros(2),
        )

    def collected(self) -> Collected:
        """As kernels take it."""
        return Collected(self.class_weight, self.mean, self.m2, self.low, self.high, self.counts, self.weights)

    def clear(self) -> None:
        """Start afresh."""
        for sums in (self.class_weight, self.mean, self.m2, self.counts, self.weights):
            sums.fill(0.0)
        self.low.fill(np.inf)
        self.high.fill(-np.inf)

    def merits(self, columns: Columns, is_open: Bools, merit: str) -> tuple[Floats, Floats]:
        """The merit of the best split of each column (-inf: none, or not open) and the cut points of numeric ones."""
        gini = merit == "gini"
        merits, cuts = np.full(columns.n_features, -np.inf), np.zeros(columns.n_features)
        score_numeric(columns.numeric, is_open, gini, self.collected(), merits, cuts)
        if len(columns.categorical):
            parts = (columns.categorical, columns.start, is_open)
            score_categorical(*parts, gini, self.class_weight, self.counts, merits)
        return merits, cuts

    def chance(self, n_features: int, merit: str) -> float:
        """What the best of so many useless features may have by chance."""
        chance = CHANCE * math.log(n_features) / float(self.weights[SEEN])
        return chance / math.log(2.0) if merit == "info_gain" else chance

    def is_certain(self, merits: Floats, best: int, merit: str) -> bool:
        """The test of Hoeffding trees (Eq. 9): best by more than chance, or a tie that more rows would not settle."""
        others = np.delete(merits, best)
        second = max(0.0, float(others.max())) if len(others) else 0.0  # not to split has merit 0
        n_classes = max(2, int(np.count_nonzero(self.class_weight)))
        largest_merit = math.log2(n_classes) if merit == "info_gain" else 1.0
        epsilon = math.sqrt(largest_merit**2 * math.log(1.0 / CONFIDENCE) / (2.0 * float(self.weights[SEEN])))
        return float(merits[best]) - second > epsilon or epsilon < TIE


@dataclass
class Stumps:
    """The frozen stumps: the arrays of `Frozen` in kernels/stump.py."""

    cut: Annotated[Floats, Shape("n_features"), Finite(LARGEST)]
    left: Annotated[Ints, Shape("n_features"), Within(NOT_SEEN, "n_classes - 1")]
    right: Annotated[Ints, Shape("n_features"), Within(NOT_SEEN, "n_classes - 1")]
    table: Annotated[Ints, Shape("n_cells"), Within(NOT_SEEN, "n_classes - 1")]

    @classmethod
    def none(cls, columns: Columns) -> Self:
        """No stump yet."""
        n = columns.n_features
        none = np.full(n, NOT_SEEN, np.int64)
        return cls(np.zeros(n), none, none.copy(), np.full(columns.n_cells, NOT_SEEN, np.int64))

    def freeze(self, feature: int, cut: float, merit: float, columns: Columns, candidate: CandidateStump) -> None:
        """Keep the candidate's split of one column."""
        k = int(np.searchsorted(columns.categorical, feature))
        if k < len(columns.categorical) and columns.categorical[k] == feature:
            freeze_categorical(columns.start[k], columns.start[k + 1], candidate.counts, self.table)
            return
        k = int(np.searchsorted(columns.numeric, feature))
        self.cut[feature] = cut
        self.left[feature], self.right[feature] = freeze_numeric(k, cut, candidate.collected())

    def mark_errors(
        self,
        batch: CheckedBatch,
        columns: Columns,
        span: Span,
        features: Ints,
        first_unit: int,
        errors: Floats,
    ) -> None:
        """errors[u, i - span.first] = 1 where the stump of features[u] is wrong on row i, for the rows of the span."""
        stumps = Frozen(columns.first_cell(), self.cut, self.left, self.right, self.table)
        mark_errors(batch.X, batch.codes, span, features, first_unit, stumps, errors)


def grow(columns: Columns, candidate: CandidateStump, stumps: Stumps, needed: Ints, n_classes: int) -> None:
    """Make room for new classes and for new codes of the categorical columns, by half as much again at least."""
    if n_classes > len(candidate.class_weight):
        fresh = CandidateStump.empty(n_classes - len(candidate.class_weight), columns)
        for name in ("class_weight", "mean", "m2", "low", "high", "counts"):
            setattr(candidate, name, np.concatenate([getattr(candidate, name), getattr(fresh, name)]))
    moved, start = columns.room_for(needed)
    if moved is None:
        return
    counts = np.zeros((len(candidate.counts), start[-1]))
    counts[:, moved] = candidate.counts
    table = np.full(start[-1], NOT_SEEN, np.int64)
    table[moved] = stumps.table
    candidate.counts, stumps.table, columns.start = counts, table, start
