"""Naive Bayes that keeps the class statistics of every feature, whether it is selected or not.

A change of the selection changes only which statistics are read, so its predictions are those of a model fitted on the
selected columns of all rows so far, scikit-learn's GaussianNB for numbers, its CategoricalNB for categories.
The variances are smoothed as there: by 1e-9 of the largest variance of a selected number. A category has the chance

    (rows of the class with this category + 1) / (rows of the class + categories met so far)

where one that was never met has 0 rows. Beyond 1,000 categories of a feature the rarest are one category, "other".
Memory is that of the moments and the category counts of all features.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.categories import Names
from streamsift.learners.whole_rows import FeatureMoments, columns_of, known_columns, refuse_not_finite, spread
from streamsift.metrics.classification import softmax

SMOOTHING = 1e-9
MOST_CATEGORIES = 1000  # of one feature, beside "other"

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Indices = NDArray[np.intp]


class NaiveBayes:
    """Naive Bayes: normal distributions for numbers, counts for categories."""

    def __init__(self) -> None:
        self._names: Names = {}
        self.reset()

    def know_categories(self, names: Names) -> None:
        """The names of the categories of each categorical feature, in the order of their codes."""
        self._names = names

    def reset(self) -> None:
        self._moments = FeatureMoments()
        self._categories: Any = None  # CategoryCounts, once there are any
        self._slots: list[int] = []  # the feature behind each of them
        self._counts = np.zeros(0)  # rows of each class
        self._selected = np.empty(0, np.intp)
        self._tables: tuple[Floats, Floats, Floats, Floats] | None = None  # of the selection, once somebody asks
        self._chances: dict[int, tuple[Codes, Floats]] = {}  # by place in the selection; see _chances_of
        self._numbers: Indices | None = None  # places of the selected numbers; None: all

    def learn(self, X: Floats, y: Codes, selected: Indices, classes: int) -> None:
        self.learn_rows(spread(X, selected), y, selected, classes)

    def learn_rows(self, rows: Any, y: Codes, selected: Indices, classes: int) -> None:
        refuse_not_finite(columns_of(rows, selected))
        classes = max(classes, len(self._counts))
        self._moments.learn(rows, y, classes)
        if self._names:
            self._count(rows, y, classes)
        counts = np.bincount(y, minlength=classes).astype(np.float64)
        counts[: len(self._counts)] += self._counts
        self._counts, self._selected, self._tables = counts, selected, None

    def _count(self, rows: Any, y: Codes, classes: int) -> None:
        from streamsift.summaries.category_counts import CategoryCounts  # numba: not before it is needed

        if self._categories is None:
            self._categories = CategoryCounts.empty(1.0, MOST_CATEGORIES, classes)
        self._slots += [slot for slot in self._names if slot not in self._slots]
        columns = known_columns(rows, np.array(self._slots, np.intp))
        self._categories.learn(np.ascontiguousarray(columns.T), y, classes)

    def predict(self, X: Floats) -> Codes:
        return np.asarray(self.predict_logarithms(X).argmax(axis=1), np.int64)

    def predict_proba(self, X: Floats) -> Floats:
        return softmax(self.predict_logarithms(X))

    def predict_logarithms(self, X: Floats) -> Floats:
        refuse_not_finite(X)
        if self._tables is None:
            self._tables = self._of_selection()
        priors, base, mean, precision = self._tables
        given = X
        if self._numbers is not None:
            X = X[:, self._numbers]
        found = np.empty((len(X), len(priors)))
        # Where all columns are constant so far the variances are 0; a class without rows has the prior 0.
        with np.errstate(invalid="ignore", over="ignore"):
            for label in range(len(priors)):
                gaps = X - mean[label]
                found[:, label] = base[label] - 0.5 * (gaps * gaps) @ precision[label]
        # NaN or infinite: constant columns, or values too far from all classes, tell nothing; the prior remains.
        lost = ~np.isfinite(found.max(axis=1))
        if lost.any():
            found[lost] = priors
        for place, (codes, chances) in self._chances.items():
            where = np.searchsorted(codes, given[:, place])
            known = np.append(codes, -1)[where] == given[:, place]
            found += chances[np.where(known, where, len(codes))]
        return found

    def _chances_of(self, slot: int) -> tuple[Codes, Floats]:
        """The codes of a feature, and the logarithms of their chances in each class; behind them those of others."""
        table = self._categories.table(self._slots.index(slot))
        rows = np.vstack([table.weights, table.other])
        n_categories = max(len(table.codes) + bool(table.other.any()), 1)
        return table.codes, np.log(rows + 1.0) - np.log(rows.sum(axis=0) + n_categories)

    def _of_selection(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Logarithms of the priors, the part of the log-densities that no row changes, means, and 1 / variances."""
        selected, self._numbers, self._chances = self._selected, None, {}
        if self._names:
            named = np.isin(selected, list(self._names))
            self._chances = {int(p): self._chances_of(int(selected[p])) for p in np.flatnonzero(named)}
            self._numbers = np.flatnonzero(~named)
            selected = selected[self._numbers]
        weight, mean, m2 = self._moments.read(selected)
        total = weight.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            centre = (weight * mean).sum(axis=0) / total
            overall = (m2 + weight * (mean - centre) ** 2).sum(axis=0) / total
            variance = m2 / np.maximum(weight, 1.0)
            if weight.shape[1] > 1:  # some values were missing: a class that lacks a feature is taken for all classes
                mean, variance = np.where(weight > 0.0, mean, centre), np.where(weight > 0.0, variance, overall)
            variance = variance + SMOOTHING * overall.max(initial=0.0)
            priors = np.log(self._counts / self._counts.sum())
            base = priors - 0.5 * np.log(2.0 * np.pi * variance).sum(axis=1)
            return priors, base, mean, 1.0 / variance
