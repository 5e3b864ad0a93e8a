"""The quantile summary of sparse rows: lists of the non-zeros only, cost and memory by the non-zeros.

Entries (feature, value, class, row) wait in a buffer; a full buffer is sorted and merged into the features it
touches. Lists are ragged: those of all features lie behind one another. The lists and the guarantee are those of
summaries/quantiles.py; a feature's weights are aged only when it is touched or read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import CheckedBatch, refuse_not_finite
from streamsift.core.state import Finite, Increasing, Offsets, Shape, Sizes, Within
from streamsift.kernels import quantile_sorting as sorting
from streamsift.kernels import quantiles as kernels
from streamsift.kernels.quantile_merge import merge_ragged
from streamsift.summaries.fading import HEAVIEST, Fading, batch_weights
from streamsift.summaries.moved_classes import moved_classes
from streamsift.summaries.quantile_checks import EPS, buffer_problem, list_problem

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ENTRIES = 2**16  # entries in a buffer, or more where there are more features or longer lists


@dataclass
class SparseQuantileSummary:
    """Ragged lists of tuples for CSR rows."""

    eps: Annotated[float, EPS]
    fading: Fading
    n_rows: Annotated[int, Within("n_rows_seen", "n_rows_seen")]
    class_weight: Annotated[Floats, Shape("n_classes"), Within(0.0), Finite()]  # at present
    entry_feature: Annotated[Ints, Shape("n_entries"), Within(0, "n_features - 1")]  # the buffer
    entry_key: Annotated[Ints, Shape("n_entries")]
    entry_class: Annotated[Ints, Shape("n_entries"), Within(0, "n_classes - 1")]
    entry_row: Annotated[Ints, Shape("n_entries"), Within(0, "n_rows - 1"), Increasing()]
    start: Annotated[Ints, Shape("n_features + 1"), Offsets("n_tuples")]
    lists: Annotated[Ints, Shape(kernels.N_FIELDS, "n_tuples")]
    weights: Annotated[Floats, Shape("n_classes", "n_tuples"), Within(0.0), Finite()]  # as of touched[feature]
    touched: Annotated[Ints, Shape("n_features"), Within(0, "n_rows")]  # rows seen when weights were last aged
    exact: Annotated[NDArray[np.bool_], Shape("n_features")]
    n_skipped: Annotated[Ints, Shape("n_features"), Within(0, "n_rows")]  # rows where the feature was NaN
    skipped: Annotated[Floats, Shape("n_classes", (0, "n_features")), Within(0.0), Finite()]  # their weight at present

    def problem(self, sizes: Sizes) -> str | None:
        most = 1.000001 * HEAVIEST * self.n_rows
        if any((part > most).any() for part in (self.class_weight, self.weights, self.skipped)):
            return "class_weight, weights or skipped is larger than the rows seen allow"
        if len(self.entry_row) and (self.touched > self.entry_row[0] + 1).any():
            return "touched lies behind the rows that wait"
        if (self.lists[kernels.COUNT] < 0).any() or (self.lists[kernels.COUNT] > self.n_rows).any():
            return "lists counts more rows than were seen"
        if (self._n_present() + self.n_skipped > self.n_rows).any():
            return "lists and n_skipped count more rows than were seen"
        return buffer_problem(self.entry_key, has_gaps=False) or list_problem(self._ragged(), self._n_present())

    @classmethod
    def empty(cls, eps: float, fading: float, n_classes: int, n_features: int) -> Self:
        none = np.zeros(0, np.int64)
        return cls(
            eps,
            fading,
            0,
            np.zeros(n_classes),
            none,
            none,
            none,
            none,
            np.zeros(n_features + 1, np.int64),
            np.zeros((kernels.N_FIELDS, 0), np.int64),
            np.zeros((n_classes, 0)),
            np.zeros(n_features, np.int64),
            np.ones(n_features, bool),
            np.zeros(n_features, np.int64),
            np.zeros((n_classes, 0)),
        )

    def learn(self, batch: CheckedBatch, *, skip_missing: bool) -> None:
        """Absorb a batch; NaN is not counted for its feature."""
        refuse_not_finite(batch, nan_allowed=skip_missing)
        X: Any = batch.X
        self._make_room(len(batch.labels), X.shape[1])
        weights = batch_weights(self.fading, batch)
        decay = self.fading ** float(batch.n_rows) * batch.decay
        if batch.weight is not None:  # rows with weights of their own do not wait
            self._keep(self._flushed(len(self.entry_key)), len(self.entry_key))
            self.weights = self.weights * batch.decay
        self.class_weight = self.class_weight * decay
        self.class_weight += np.bincount(batch.codes, weights, minlength=len(self.class_weight))
        rows = np.repeat(np.arange(batch.n_rows), np.diff(X.indptr))
        features, data = X.indices.astype(np.int64), X.data.astype(np.float64)
        self.skipped = self.skipped * decay
        missing = np.isnan(data)
        if missing.any():
            self._skip(features[missing], batch.codes[rows[missing]], weights[rows[missing]])
        kept = ~missing & (data != 0.0)
        rows, features, data = rows[kept], features[kept], data[kept]
        keys = np.empty(len(data), np.int64)
        sorting.keys64(data.view(np.int64), keys)
        self.entry_feature = np.concatenate([self.entry_feature, features])
        self.entry_key = np.concatenate([self.entry_key, keys])
        self.entry_class = np.concatenate([self.entry_class, batch.codes[rows]])
        self.entry_row = np.concatenate([self.entry_row, rows + self.n_rows])
        self.n_rows += batch.n_rows
        if batch.weight is not None:
            n = len(self.entry_key)
            self._keep(self._flushed(n, batch.weight[rows]), n)
        while len(self.entry_key) >= self._capacity():
            n = self._capacity()
            self._keep(self._flushed(n), n)

    def _skip(self, features: Ints, codes: Ints, weights: Floats) -> None:
        if self.skipped.shape[1] == 0:
            self.skipped = np.zeros((len(self.class_weight), len(self.touched)))
        np.add.at(self.n_skipped, features, 1)
        np.add.at(self.skipped, (codes, features), weights)

    def _capacity(self) -> int:
        """A buffer is as long as half of all lists, so that merging costs a few steps per entry."""
        return max(_ENTRIES, len(self.touched), int(self.lists.shape[1]) // 2)

    def _flushed(self, n: int, own: Floats | None = None) -> tuple[Ints, Ints, Floats, Ints, NDArray[np.bool_]]:
        """(start, lists, weights, touched, exact) with the first n entries merged in; changes nothing.

        `own` are the weights of these entries, where they have any.
        """
        n_features, n_classes = len(self.touched), len(self.class_weight)
        now = int(self.entry_row[n - 1]) + 1 if n else self.n_rows
        weight = np.power(self.fading, (now - 1 - self.entry_row[:n]).astype(np.float64))
        weight = weight if own is None else weight * own
        features = self.entry_feature[:n]
        counts = np.bincount(features, minlength=n_features) + self._n_present()
        total = self.lists.shape[1] + n
        start, exact = np.empty(n_features + 1, np.int64), self.exact.copy()
        lists = np.empty((kernels.N_FIELDS, total), np.int64)
        weights = np.empty((n_classes, total))
        decay = np.power(self.fading, (now - self.touched).astype(np.float64))
        longest = int((np.bincount(features, minlength=n_features) + np.diff(self.start)).max(initial=0))
        entries = kernels.Entries(np.ones(n, np.int64), self.entry_class[:n], weight)
        limit, cap = (self.eps * counts).astype(np.int64), int(np.ceil(2.0 / self.eps))
        kernels.merge_entries(
            features,
            self.entry_key[:n],
            entries,
            self._ragged(),
            exact,
            decay,
            limit,
            cap,
            kernels.new_room(longest, n_classes),
            kernels.Ragged(start, lists, weights),
        )
        touched = self.touched.copy()
        touched[features] = now
        return start, lists[:, : start[-1]], weights[:, : start[-1]], touched, exact

    def _keep(self, flushed: tuple[Ints, Ints, Floats, Ints, NDArray[np.bool_]], n: int) -> None:
        self.start, lists, weights, self.touched, self.exact = flushed
        self.lists, self.weights = np.ascontiguousarray(lists), np.ascontiguousarray(weights)
        self.entry_feature, self.entry_key = self.entry_feature[n:], self.entry_key[n:]
        self.entry_class, self.entry_row = self.entry_class[n:], self.entry_row[n:]

    def _ragged(self) -> kernels.Ragged:
        return kernels.Ragged(self.start, self.lists, self.weights)

    def _n_present(self) -> Ints:
        """Non-zeros in the list of each feature."""
        sums = np.concatenate([[0], np.cumsum(self.lists[kernels.COUNT])])
        return np.asarray(sums[self.start[1:]] - sums[self.start[:-1]])

    def bin_counts(self, n_bins: int) -> Floats:
        """Class weights (n_features, n_bins, n_classes) between cut points at equal ranks; changes nothing."""
        start, lists, weights, touched, _ = self._flushed(len(self.entry_key))
        n_features, n_classes = len(touched), len(self.class_weight)
        counts = np.zeros((n_features, n_bins, n_classes))
        class_weight = np.repeat(self.class_weight[:, None], n_features, axis=1)
        if self.skipped.shape[1]:
            class_weight -= self.skipped
        ragged = kernels.Ragged(start, np.ascontiguousarray(lists), np.ascontiguousarray(weights))
        decay = np.power(self.fading, (self.n_rows - touched).astype(np.float64))
        kernels.count_bins_with_zeros(ragged, decay, class_weight, self.n_rows - self.n_skipped, counts)
        return counts

    def _make_room(self, n_classes: int, n_features: int) -> None:
        new_classes, new_features = n_classes - len(self.class_weight), n_features - len(self.touched)
        if new_classes > 0:
            self.class_weight = np.pad(self.class_weight, (0, new_classes))
            self.weights = np.pad(self.weights, ((0, new_classes), (0, 0)))
            self.skipped = np.pad(self.skipped, ((0, new_classes), (0, 0)))
        if new_features > 0:  # sparse: what is not there is 0, so a newcomer was 0 in all rows so far
            self.start = np.pad(self.start, (0, new_features), mode="edge")
            self.touched = np.pad(self.touched, (0, new_features))
            self.exact = np.pad(self.exact, (0, new_features), constant_values=True)
            self.n_skipped = np.pad(self.n_skipped, (0, new_features))
            if self.skipped.shape[1]:
                self.skipped = np.pad(self.skipped, ((0, 0), (0, new_features)))

    def fade(self, factor: float) -> None:
        """Let all that came so far weigh less."""
        self._keep(self._flushed(len(self.entry_key)), len(self.entry_key))
        for name in ("class_weight", "weights", "skipped"):
            setattr(self, name, getattr(self, name) * factor)

    def aligned(self, codes: Ints, n_classes: int) -> Self:
        """Move class c to codes[c], where classes add up; the object itself is changed and returned."""
        for name in ("class_weight", "weights", "skipped"):
            setattr(self, name, moved_classes(getattr(self, name), codes, n_classes, axis=0))
        self.entry_class = codes[self.entry_class]
        return self

    def merge(self, other: Self) -> None:
        """Add the lists and the buffered entries of another summary; ranks stay within eps of both together."""
        for summary in (self, other):
            summary._keep(summary._flushed(len(summary.entry_key)), len(summary.entry_key))
            age = np.power(summary.fading, (summary.n_rows - summary.touched).astype(np.float64))
            summary.weights = summary.weights * np.repeat(age, np.diff(summary.start))
        n_features, total = len(self.touched), self.lists.shape[1] + other.lists.shape[1]
        limit = (self.eps * (self._n_present() + other._n_present())).astype(np.int64)
        lists, weights = np.empty((kernels.N_FIELDS, total), np.int64), np.empty((len(self.class_weight), total))
        start, exact, cap = np.zeros(n_features + 1, np.int64), self.exact & other.exact, int(np.ceil(2.0 / self.eps))
        merged = kernels.Ragged(start, lists, weights)
        merge_ragged(self._ragged(), other._ragged(), limit, cap, exact, merged)
        self.start, self.exact = start, exact
        self.lists = np.ascontiguousarray(lists[:, : start[-1]])
        self.weights = np.ascontiguousarray(weights[:, : start[-1]])
        self.n_rows += other.n_rows
        self.touched = np.full(n_features, self.n_rows)
        self.class_weight = self.class_weight + other.class_weight
        self.n_skipped = self.n_skipped + other.n_skipped
        if other.skipped.shape[1]:
            self.skipped = other.skipped + (self.skipped if self.skipped.shape[1] else 0.0)
