"""Gaussian naive Bayes that keeps the class statistics of every feature, whether it is selected or not.

A change of the selection changes only which statistics are read, so its predictions are those of scikit-learn's
GaussianNB fitted on the selected columns of all rows so far, up to rounding. The variances are smoothed as there: by
1e-9 of the largest variance of a selected feature. Memory is that of the moments of all features.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.learners.whole_rows import FeatureMoments, columns_of, refuse_not_finite, spread
from streamsift.metrics.classification import softmax

SMOOTHING = 1e-9

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Indices = NDArray[np.intp]


class NaiveBayes:
    """Gaussian naive Bayes."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._moments = FeatureMoments()
        self._counts = np.zeros(0)  # rows of each class
        self._selected = np.empty(0, np.intp)
        self._tables: tuple[Floats, Floats, Floats, Floats] | None = None  # of the selection, once somebody asks

    def learn(self, X: Floats, y: Codes, selected: Indices, classes: int) -> None:
        self.learn_rows(spread(X, selected), y, selected, classes)

    def learn_rows(self, rows: Any, y: Codes, selected: Indices, classes: int) -> None:
        refuse_not_finite(columns_of(rows, selected))
        classes = max(classes, len(self._counts))
        self._moments.learn(rows, y, classes)
        counts = np.bincount(y, minlength=classes).astype(np.float64)
        counts[: len(self._counts)] += self._counts
        self._counts, self._selected, self._tables = counts, selected, None

    def predict(self, X: Floats) -> Codes:
        return np.asarray(self.predict_logarithms(X).argmax(axis=1), np.int64)

    def predict_proba(self, X: Floats) -> Floats:
        return softmax(self.predict_logarithms(X))

    def predict_logarithms(self, X: Floats) -> Floats:
        refuse_not_finite(X)
        if self._tables is None:
            self._tables = self._of_selection()
        priors, base, mean, precision = self._tables
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
        return found

    def _of_selection(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Logarithms of the priors, the part of the log-densities that no row changes, means, and 1 / variances."""
        weight, mean, m2 = self._moments.read(self._selected)
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
