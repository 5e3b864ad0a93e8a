"""P(bin | class) of every feature, from counts that only ever grow: the smoothed estimate of section 5.1.

    P(bin | class) = (count + 1) / (rows of the class with a value + number of bins)

Bins of an ordered feature are cut when the first rows arrive and stay where they are; later values beyond the outer
cuts fall into the outer bins. A categorical feature has one bin per category and grows when a new one arrives. Missing
values are not counted. With sparse rows, what is not stored is 0.

Cuts: "width" divides the range of the first rows evenly, "integer_width" does so after rounding the range outwards to
integers (the authors' program), "quantile" puts equally many rows into each bin. Where the smallest value fills the
first quantile by itself (word counts, mostly 0), that cut moves to the next value, which tells the two apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import CheckedBatch
from streamsift.core.state import Finite, Offsets, Shape, Sizes, Within
from streamsift.kernels.instance_bins import column_ranges, count_reached
from streamsift.kernels.instances import Bins, bins_of_zero, count_rows, count_sparse_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_COMPARED = 12  # bins; with more, searching is faster than comparing with every cut


@dataclass
class Likelihoods:
    """Counts by class and bin (laid out flat, see kernels/instances.py) and rows by class."""

    cuts: Annotated[Floats, Shape("n_cuts"), Finite()]
    cut_start: Annotated[Ints, Shape("n_features + 1"), Offsets("n_cuts")]
    categorical: Annotated[NDArray[np.bool_], Shape("n_features")]
    bin_start: Annotated[Ints, Shape("n_features + 1"), Offsets("n_bins", least=1)]
    counts: Annotated[Floats, Shape("n_classes", "n_bins"), Within(0.0, "n_rows_seen")]
    class_counts: Annotated[Floats, Shape("n_classes"), Within(0.0, "n_rows_seen")]

    def problem(self, sizes: Sizes) -> str | None:
        n_cuts, n_bins = np.diff(self.cut_start), np.diff(self.bin_start)
        if not np.array_equal(n_bins, np.where(self.categorical, np.maximum(n_cuts, 1), n_cuts + 1)):
            return "bin_start and cut_start do not belong together"
        inside = np.ones(len(self.cuts), bool)
        inside[self.cut_start[:-1][n_cuts > 0]] = False  # the first cut of a feature is compared with none
        rise = np.diff(self.cuts, prepend=0.0)
        strictly = np.repeat(self.categorical, n_cuts)
        if (inside & np.where(strictly, rise <= 0.0, rise < 0.0)).any():
            return "cuts are not in increasing order"
        if self.class_counts.sum() != sizes["n_rows_seen"]:
            return f"class_counts do not add up to the {sizes['n_rows_seen']} rows seen"
        with_value = np.add.reduceat(self.counts, self.bin_start[:-1], axis=1)
        if (with_value > self.class_counts[:, None]).any():
            return "counts holds more rows than class_counts"
        return None

    @classmethod
    def begin(cls, batch: CheckedBatch, n_bins: int, binning: str, categorical: NDArray[np.bool_]) -> Likelihoods:
        """Cut the features into bins by the first rows; nothing is counted yet."""
        n_features, n_classes = batch.features.n_features, len(batch.labels)
        inner = _quantile_cuts(batch, n_bins) if binning == "quantile" else _width_cuts(batch, n_bins, binning)
        per_feature = np.where(categorical, 0, n_bins - 1)
        cut_start = _starts(per_feature)
        cuts = np.ascontiguousarray(inner[~categorical].reshape(-1))
        bin_start = _starts(np.where(categorical, 1, n_bins))
        return cls(
            cuts, cut_start, categorical.copy(), bin_start, np.zeros((n_classes, bin_start[-1])), np.zeros(n_classes)
        ).with_room(batch, n_features)

    def with_room(self, batch: CheckedBatch, n_features: int) -> Likelihoods:
        """The same counts with bins for every category of the batch."""
        columns = np.flatnonzero(self.categorical).tolist()
        new = {j: self._new_categories(batch, j) for j in columns}
        if not any(len(values) for values in new.values()):
            return self
        cuts, counts = [], []
        for j in range(n_features):
            old = self.cuts[self.cut_start[j] : self.cut_start[j + 1]]
            of_feature = self.counts[:, self.bin_start[j] : self.bin_start[j + 1]]
            if j in new:
                both = np.concatenate([old, new[j]])
                wider = np.zeros((len(self.counts), max(len(both), 1)))
                wider[:, : len(old)] = of_feature[:, : len(old)]
                places = np.argsort(both, kind="stable")
                old, of_feature = both[places], wider[:, places] if len(both) else wider
            cuts.append(old)
            counts.append(of_feature)
        return replace(
            self,
            cuts=np.concatenate(cuts),
            cut_start=_starts([len(cut) for cut in cuts]),
            bin_start=_starts([part.shape[1] for part in counts]),
            counts=np.concatenate(counts, axis=1),
        )

    def _new_categories(self, batch: CheckedBatch, j: int) -> Floats:
        column = batch.X[:, [j]].toarray() if batch.sparse else batch.X[:, j]
        values = np.unique(np.asarray(column, np.float64))
        values = values[~np.isnan(values)]
        return np.setdiff1d(values, self.cuts[self.cut_start[j] : self.cut_start[j + 1]])

    def with_classes(self, places: Ints, n_classes: int) -> Likelihoods:
        """The same counts with class c moved to places[c], and room for n_classes."""
        counts, class_counts = np.zeros((n_classes, self.counts.shape[1])), np.zeros(n_classes)
        counts[places], class_counts[places] = self.counts, self.class_counts
        return replace(self, counts=counts, class_counts=class_counts)

    def add(self, batch: CheckedBatch) -> None:
        """Count a batch whose classes and categories have room."""
        rows = np.bincount(batch.codes, minlength=len(self.class_counts)).astype(np.float64)
        bins = self.bins()
        n_features = len(self.categorical)
        if batch.sparse:
            stored = np.zeros((len(rows), n_features))
            data, indices, indptr = sparse_parts(batch)
            count_sparse_rows(data, indices, indptr, batch.codes, bins, self.counts, stored)
            zero = np.empty(n_features, np.int64)
            bins_of_zero(bins, zero)
            known = zero >= 0
            self.counts[:, (self.bin_start[:-1] + zero)[known]] += (rows[:, None] - stored)[:, known]
        elif self._even() <= MOST_COMPARED:
            n_bins, by_class = int(self._even()), np.argsort(batch.codes, kind="stable")
            starts = np.concatenate([[0], np.cumsum(rows)]).astype(np.int64)
            reached = np.zeros((len(rows), n_bins + 1, n_features))  # the last is 0: nothing is beyond the last bin
            cuts = np.ascontiguousarray(self.cuts.reshape(n_features, n_bins - 1).T)
            count_reached(batch.X, by_class, starts, cuts, reached)
            self.counts += (reached[:, :-1] - reached[:, 1:]).transpose(0, 2, 1).reshape(self.counts.shape)
        else:
            count_rows(batch.X, batch.codes, bins, self.counts)
        self.class_counts += rows

    def bins(self) -> Bins:
        """The layout of the bins, as kernels take it."""
        return Bins(self.cuts, self.cut_start, self.categorical, self.bin_start)

    def _even(self) -> float:
        """The number of bins of every feature, or infinity where they differ or some are categories."""
        n_bins = np.diff(self.bin_start)
        even = not self.categorical.any() and bool(np.all(n_bins == n_bins[0]))
        return int(n_bins[0]) if even else np.inf

    def table(self) -> Floats:
        """P(bin | class): one row per bin, one column per class."""
        starts = self.bin_start[:-1]
        n_bins = np.diff(self.bin_start)
        with_value = np.add.reduceat(self.counts, starts, axis=1)
        return np.ascontiguousarray(((self.counts + 1.0) / np.repeat(with_value + n_bins, n_bins, axis=1)).T)

    def available(self) -> Floats:
        """The share of rows in which each feature has a value."""
        with_value = np.add.reduceat(self.counts.sum(axis=0), self.bin_start[:-1])
        return np.asarray(with_value / self.class_counts.sum())


def sparse_parts(batch: CheckedBatch) -> tuple[NDArray[Any], NDArray[np.int32], Ints]:
    """Data, indices and row starts of CSR rows, always of the same types, so that kernels are compiled once."""
    return _frozen(batch.X.data), _frozen(batch.X.indices.astype(np.int32)), _frozen(batch.X.indptr.astype(np.int64))


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


@cache
def no_rows(dtype: np.dtype[Any]) -> NDArray[Any]:
    """A dense matrix without rows, of the type kernels get dense rows in."""
    return _frozen(np.empty((0, 0), dtype))


@cache
def no_sparse_rows(dtype: np.dtype[Any]) -> tuple[NDArray[Any], NDArray[np.int32], Ints]:
    """CSR parts without rows, of the types of `sparse_parts`."""
    return _frozen(np.empty(0, dtype)), _frozen(np.empty(0, np.int32)), _frozen(np.empty(0, np.int64))


def _starts(lengths: Any) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _width_cuts(batch: CheckedBatch, n_bins: int, binning: str) -> Floats:
    low, high = _ranges(batch)
    low[np.isinf(low)] = high[np.isinf(high)] = 0.0  # a column of missing values
    if binning == "integer_width":
        low, high = np.floor(low), np.ceil(high)
    with np.errstate(over="ignore", invalid="ignore"):
        edges = np.linspace(low, high, n_bins + 1, axis=1)
    wide = ~np.isfinite(edges).all(axis=1)
    edges[wide] = 2.0 * np.linspace(low[wide] / 2, high[wide] / 2, n_bins + 1, axis=1)  # the range overflows
    return edges[:, 1:-1]


def _ranges(batch: CheckedBatch) -> tuple[Floats, Floats]:
    low, high = np.full(batch.features.n_features, np.inf), np.full(batch.features.n_features, -np.inf)
    if not batch.sparse:
        column_ranges(batch.X, low, high)
        return low, high
    X = batch.X
    np.fmin.at(low, X.indices, X.data)
    np.fmax.at(high, X.indices, X.data)
    has_zero = np.bincount(X.indices, minlength=len(low)) < batch.n_rows
    low[has_zero], high[has_zero] = np.minimum(low[has_zero], 0.0), np.maximum(high[has_zero], 0.0)
    return low, high


def _quantile_cuts(batch: CheckedBatch, n_bins: int) -> Floats:
    n_features = batch.features.n_features
    if batch.sparse:
        X = batch.X
        known = ~np.isnan(X.data)
        columns, values = X.indices[known], X.data[known].astype(np.float64)
        missing = np.bincount(X.indices[~known], minlength=n_features)
        places = np.lexsort((values, columns))
        values = np.append(values[places], 0.0)
        stored = np.bincount(columns, minlength=n_features)
        first = np.concatenate([[0], np.cumsum(stored)[:-1]])
        below = np.bincount(columns[X.data[known] < 0], minlength=n_features)
        n_rows = batch.n_rows - missing
        zeros = n_rows - stored

        def at(rank: Ints) -> Floats:
            skip = np.where(rank < below, 0, np.minimum(rank - below, zeros))
            is_zero = (rank >= below) & (rank < below + zeros)
            return np.where(
                is_zero, 0.0, values[np.where(is_zero, -1, np.minimum(first + rank - skip, len(values) - 1))]
            )
    else:
        ordered = np.sort(batch.X, axis=0)  # NaN goes last
        n_rows = batch.n_rows - np.isnan(ordered).sum(axis=0)

        def at(rank: Ints) -> Floats:
            return ordered[rank, np.arange(n_features)].astype(np.float64)

    cuts = np.zeros((n_features, n_bins - 1))
    filled = n_rows > 0
    last = np.maximum(n_rows - 1, 0)
    smallest = np.where(filled, at(np.zeros(n_features, np.int64)), 0.0)
    for h in range(1, n_bins):
        cuts[:, h - 1] = np.where(filled, at(np.minimum((h * n_rows + n_bins - 1) // n_bins, last)), 0.0)
    # Binary search in all columns at once for the first rank whose value is above the smallest.
    low, high = np.zeros(n_features, np.int64), last.astype(np.int64)
    for _ in range(batch.n_rows.bit_length()):
        middle = (low + high) // 2
        above = at(middle) > smallest
        high = np.where(above, middle, high)
        low = np.where(above, low, np.minimum(middle + 1, high))
    second = at(low)
    tied = filled[:, None] & (cuts <= smallest[:, None])
    return np.where(tied, second[:, None], cuts)
