"""Learners for rows of numbers and categories, as the ABFS paper uses them: naive Bayes, neighbours and trees.

All know beforehand which features are categorical, and how many features there are. They follow a selection that
changes as MOA's do: what was learnt about a feature stays until the learner is reset, and a row in the window of the
neighbours lacks the features that were not selected when it came.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from streamsift.learners.adaptive_tree import AdaptiveTree
from streamsift.learners.arrays import ArrayLearner
from streamsift.learners.online import Learner
from streamsift.learners.trees import HoeffdingTree

N_NEIGHBOURS, WINDOW = 10, 500  # MOA's default, the paper's window
LEAST_VARIANCE = 1e-9
IMPOSSIBLE = -1e4  # logarithm of a likelihood

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Indices = NDArray[np.intp]


def mixed_learner(name: str, categorical: NDArray[np.bool_], n_values: int) -> Learner:
    """NB, KNN, HT or HAT for features of which some are codes of up to `n_values` categories."""
    if name == "NB":
        return MixedBayes(categorical, n_values)
    if name == "KNN":
        return MixedNeighbours(categorical, n_values)
    return _tree(name, frozenset(np.flatnonzero(categorical).tolist()))


class MixedBayes:
    """Naive Bayes: a normal distribution for numbers, counts plus one for categories."""

    def __init__(self, categorical: NDArray[np.bool_], n_values: int) -> None:
        self._categorical, self._n_values = categorical, n_values
        self.reset()

    def reset(self) -> None:
        n_features = len(self._categorical)
        self._prior = np.zeros(0)
        self._counts = np.zeros((0, n_features, self._n_values))  # rows of a class with a value; unused for numbers
        self._weight = np.zeros((0, n_features))
        self._mean = np.zeros((0, n_features))
        self._m2 = np.zeros((0, n_features))
        self._selected = np.zeros(0, np.intp)

    def learn(self, X: Floats, y: Codes, selected: Indices, classes: int) -> None:
        self._grow(max(classes, 2))
        self._selected = selected
        self._prior += np.bincount(y, minlength=len(self._prior))
        is_category = self._categorical[selected]
        named, numeric = selected[is_category], selected[~is_category]
        codes = X[:, is_category].astype(np.intp)
        np.add.at(self._counts, (y[:, None], named[None, :], codes), 1.0)
        for label in np.unique(y):
            rows = X[y == label]
            self._weight[label, named] += len(rows)
            self._add_moments(int(label), rows[:, ~is_category], numeric)

    def _add_moments(self, label: int, rows: Floats, numeric: Indices) -> None:
        n, before = len(rows), self._weight[label, numeric]
        mean = rows.mean(axis=0)
        gap = mean - self._mean[label, numeric]
        total = before + n
        self._mean[label, numeric] += gap * n / total
        self._m2[label, numeric] += ((rows - mean) ** 2).sum(axis=0) + gap**2 * before * n / total
        self._weight[label, numeric] = total

    def _grow(self, classes: int) -> None:
        missing = classes - len(self._prior)
        if missing > 0:
            self._prior = np.pad(self._prior, (0, missing))
            self._counts = np.pad(self._counts, ((0, missing), (0, 0), (0, 0)))
            for name in ("_weight", "_mean", "_m2"):
                setattr(self, name, np.pad(getattr(self, name), ((0, missing), (0, 0))))

    def predict(self, X: Floats) -> Codes:
        selected, is_category = self._selected, self._categorical[self._selected]
        named, numeric = selected[is_category], selected[~is_category]
        codes, numbers = X[:, is_category].astype(np.intp), X[:, ~is_category]
        scores = np.empty((len(X), len(self._prior)))
        for label, prior in enumerate(self._prior):
            weight = self._weight[label, numeric]
            variance = np.maximum(self._m2[label, numeric] / np.maximum(weight - 1.0, 1.0), LEAST_VARIANCE)
            normal = -0.5 * (np.log(2 * np.pi * variance) + (numbers - self._mean[label, numeric]) ** 2 / variance)
            normal[:, weight < 2] = IMPOSSIBLE  # as in MOA; where all classes lack the feature, the others decide
            chance = self._counts[label, named[None, :], codes] + 1.0
            chance /= self._weight[label, named] + self._n_values
            scores[:, label] = np.log(prior + 1.0) + normal.sum(axis=1) + np.log(chance).sum(axis=1)
            if prior == 0.0:
                scores[:, label] = -np.inf
        return np.asarray(scores.argmax(axis=1), np.int64)

    def n_bytes(self) -> int:
        """Memory held."""
        return int(self._counts.nbytes + self._weight.nbytes + self._mean.nbytes + self._m2.nbytes)


class MixedNeighbours:
    """The ten nearest of the last 500 rows: numbers by their distance over the range, categories by being equal."""

    def __init__(self, categorical: NDArray[np.bool_], n_values: int) -> None:
        self._categorical, self._n_values = categorical, n_values
        self.reset()

    def reset(self) -> None:
        self._rows = np.zeros((0, len(self._categorical)), np.float32)
        self._labels = np.zeros(0, np.int64)
        self._selected = np.zeros(0, np.intp)
        self._classes = 2

    def learn(self, X: Floats, y: Codes, selected: Indices, classes: int) -> None:
        rows = np.full((len(X), len(self._categorical)), np.nan, np.float32)
        rows[:, selected] = X
        self._rows = np.concatenate([self._rows, rows])[-WINDOW:]
        self._labels = np.concatenate([self._labels, y])[-WINDOW:]
        self._selected, self._classes = selected, max(classes, 2)

    def predict(self, X: Floats) -> Codes:
        distance = self.distances(X)
        n_nearest = min(N_NEIGHBOURS, distance.shape[1])
        nearest = np.argpartition(distance, n_nearest - 1, axis=1)[:, :n_nearest]
        votes = (self._labels[nearest][:, :, None] == np.arange(self._classes)).sum(axis=1)
        return np.asarray(votes.argmax(axis=1), np.int64)

    def distances(self, X: Floats) -> Floats:
        """The squared distance of each row to each row of the window."""
        is_category = self._categorical[self._selected]
        window = self._rows[:, self._selected]
        distance = self._numeric_distance(X[:, ~is_category], window[:, ~is_category])
        return distance + self._mismatches(X[:, is_category], window[:, is_category])

    def _numeric_distance(self, X: Floats, window: NDArray[np.float32]) -> Floats:
        """Squared, each feature scaled to its range in the window; what a row of the window lacks counts 1."""
        known = ~np.isnan(window)
        low = np.where(known, window, np.inf).min(axis=0)
        span = np.where(known, window, -np.inf).max(axis=0) - low
        usable = np.isfinite(span) & (span > 0)
        low, scale = np.where(usable, low, 0.0), np.where(usable, span, 1.0)
        a = (X - low) / scale
        b = np.where(known, (window - low) / scale, 0.0)
        lacking = (~known).sum(axis=1)
        found = (a**2) @ known.T - 2.0 * a @ b.T + (b**2).sum(axis=1) + lacking
        return np.asarray(found, np.float64)

    def _mismatches(self, X: Floats, window: NDArray[np.float32]) -> Floats:
        """How many categories differ; what a row of the window lacks counts as different."""
        equal = np.zeros((len(X), len(window)), np.float32)
        for value in range(self._n_values):
            equal += np.equal(X, value).astype(np.float32) @ np.equal(window, value).astype(np.float32).T
        return np.asarray(X.shape[1] - equal, np.float64)

    def n_bytes(self) -> int:
        """Memory held."""
        return int(self._rows.nbytes + self._labels.nbytes)


def _tree(name: str, nominal: frozenset[int]) -> Learner:
    return ArrayLearner(HoeffdingTree if name == "HT" else AdaptiveTree, nominal)


def features_used(learner: Learner) -> int | None:
    """How many features the splits of a tree use; None for other learners."""
    return len(learner.model.features_used()) if isinstance(learner, ArrayLearner) else None


def n_bytes(learner: Learner) -> int:
    """Memory that a learner holds."""
    if isinstance(learner, ArrayLearner):
        return int(learner.model.n_bytes())
    return int(learner.n_bytes())  # type: ignore[attr-defined]  # every learner of this file has it
