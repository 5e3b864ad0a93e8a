"""Hoeffding trees of river whose leaves are arrays: the same trees, many times as fast.

The trees are river's, with its splits, bounds, alternate trees and random numbers. A leaf of river has an object for
each feature, and for each row asks every one of them; here it has arrays for all of them together
(`streamsift.kernels.hoeffding`), and what it answers is the same up to rounding. Ties between classes or features of
exactly the same merit may be broken in another order.

A row is a `Row`: the values of the features that are selected now. A feature has a place of its own in every leaf from
the first row on in which it is selected; a leaf that was made before gets the place when it meets such a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river.tree import HoeffdingAdaptiveTreeClassifier, HoeffdingTreeClassifier
from river.tree.nodes.hatc_nodes import AdaLeafClassifier
from river.tree.nodes.htc_nodes import LeafMajorityClass, LeafNaiveBayesAdaptive
from river.tree.utils import BranchFactory

from streamsift.core.categories import Names
from streamsift.kernels.hoeffding import (
    BELOW,
    EACH_VALUE,
    EMPTY,
    FIRST_CELL,
    HIGH,
    LOW,
    N_VALUES,
    NO_SPLIT,
    NUMERIC,
    add_row,
    best_split,
    naive_bayes,
    parts,
)
from streamsift.learners.river_models import River

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Indices = NDArray[np.intp]

SPARE = 2  # how many times the cells of a category grow when a new value needs one


@dataclass(frozen=True)
class Space:
    """The features met so far, in the order of their places, what they are, and how many classes there are."""

    features: tuple[int, ...]
    columns: NDArray[np.int64]  # (2, features): the first cell and the number of values; see kernels/hoeffding.py
    n_classes: int

    def n_values(self) -> dict[int, int]:
        """The number of cells of each feature; 0 for numbers."""
        return dict(zip(self.features, self.columns[N_VALUES].tolist(), strict=True))

    def grown(self, features: list[int], n_values: dict[int, int], n_classes: int) -> Space:
        """The same with more features, of which those in `n_values` are categories, values or classes."""
        known = (*self.features, *(feature for feature in features if feature not in self.features))
        needed = {**self.n_values(), **n_values}
        counts = np.array([needed.get(feature, 0) for feature in known], np.int64)
        first = np.where(counts > 0, np.cumsum(counts) - counts, NUMERIC)
        return Space(known, np.stack([first, counts]), n_classes)


class Row:
    """The values of a row, as the branches of a tree ask for them: by feature, KeyError where it is not selected."""

    __slots__ = ("at", "places", "space", "values")

    def __init__(self, values: Floats, places: NDArray[np.int64], at: dict[int, int], space: Space) -> None:
        self.values, self.places, self.at, self.space = values, places, at, space

    def __getitem__(self, feature: int) -> float:
        return float(self.values[self.at[feature]])

    def __contains__(self, feature: object) -> bool:
        return feature in self.at


class Observed:
    """What a leaf has seen, in the places of a space; replaces river's dict of splitters."""

    __slots__ = ("cells", "moments", "space")

    def __init__(self, space: Space) -> None:
        n_columns, n_cells = len(space.features), int(space.columns[N_VALUES].sum())
        self.space = space
        self.moments = np.empty((len(EMPTY), space.n_classes, n_columns))
        self.moments[:] = np.array(EMPTY)[:, None, None]
        self.cells = np.zeros((space.n_classes, n_cells))

    def in_space(self, space: Space) -> Observed:
        """The same in a larger space."""
        if space is self.space:
            return self
        new, (_, n_classes, n_columns) = Observed(space), self.moments.shape
        new.moments[:, :n_classes, :n_columns] = self.moments
        for column, (first, n_values) in enumerate(self.space.columns.T):
            if first != NUMERIC:
                to = space.columns[FIRST_CELL, column]
                new.cells[:n_classes, to : to + n_values] = self.cells[:, first : first + n_values]
        return new


class ArrayLeaf(LeafMajorityClass):  # type: ignore[misc]  # river has no types
    """A leaf that predicts its largest class."""

    def observed(self, space: Space) -> Observed:
        """What it has seen; made anew where river has it forget (`splitters` is an empty dict)."""
        own: Observed = self.splitters.in_space(space) if self.splitters else Observed(space)
        self.splitters: Any = own
        return own

    def update_splitters(self, x: Row, y: int, w: float, nominal_attributes: Any) -> None:
        own = self.observed(x.space)
        add_row(x.values, x.places, y, float(w), x.space.columns, own.moments, own.cells)

    def best_split_suggestions(self, criterion: Any, tree: Any) -> list[Any]:
        """The two best, the better one last; where there is nothing to split by, only the split that is none."""
        if max(self.stats.values()) / self.total_weight > tree.max_share_to_split or not self.splitters:
            return [BranchFactory()]
        own, labels = self.splitters, list(self.stats)
        columns, moments = own.space.columns, own.moments
        found = best_split(np.array(list(self.stats.values()), np.float64), columns, moments, own.cells)
        second = BranchFactory(found.second)
        if found.kind == NO_SPLIT:
            return [second, BranchFactory()]
        feature = own.space.features[found.column]
        if found.kind == BELOW:
            inside = moments[LOW, :, found.column] <= found.value, moments[HIGH, :, found.column] > found.value
            children = [
                {label: float(weights[label]) for label in labels if has[label]}
                for weights, has in zip(parts(moments, found.column, found.value), inside, strict=True)
            ]
            return [second, BranchFactory(found.merit, feature, found.value, children)]
        first, n_values = columns[:, found.column]
        cells = own.cells[:, first : first + n_values]
        if found.kind == EACH_VALUE:
            values = np.flatnonzero(cells.any(axis=0))
            children = [_weights(cells[:, value], sorted(labels)) for value in values]
            return [second, BranchFactory(found.merit, feature, values.astype(float).tolist(), children, False, True)]
        one = cells[:, int(found.value)]
        children = [_weights(one, labels), _weights(cells.sum(axis=1) - one, labels)]
        return [second, BranchFactory(found.merit, feature, found.value, children, False, False)]

    def prediction(self, x: Row, *, tree: Any = None) -> dict[int, float]:
        return _shares(self.stats, self.total_weight)


def _shares(weights: dict[int, float], total: float) -> dict[int, float]:
    """Weights divided by their total, as they are if that is 0; river's function copies the dict piece by piece."""
    return {label: weight * (1.0 / total) for label, weight in weights.items()} if total else dict(weights)


def _weights(weights: Floats, labels: list[int]) -> dict[int, float]:
    """The weights of the classes that have any."""
    return {label: float(weights[label]) for label in labels if weights[label] > 0.0}


class ArrayBayesLeaf(ArrayLeaf, LeafNaiveBayesAdaptive):  # type: ignore[misc]
    """A leaf that predicts by naive Bayes, as long as that is right more often than its largest class.

    Every branch above asks for the same prediction before a row is learnt, so the last one is remembered.
    """

    _asked: Row | None = None
    _answer: dict[int, float]
    _labels = np.empty(0, np.int64)

    def learn_one(self, x: Row, y: int, *, w: float = 1.0, tree: Any = None) -> None:
        if self.is_active():
            if not self.stats or max(self.stats, key=self.stats.get) == y:
                self._mc_correct_weight += w
            found = self._bayes(x)
            if found and max(found, key=found.__getitem__) == y:
                self._nb_correct_weight += w
        self._asked = None
        LeafMajorityClass.learn_one(self, x, y, w=w, tree=tree)

    def prediction(self, x: Row, *, tree: Any = None) -> dict[int, float]:
        if self.is_active() and self._nb_correct_weight >= self._mc_correct_weight:
            return self._bayes(x)
        return _shares(self.stats, self.total_weight)

    def _bayes(self, x: Row) -> dict[int, float]:
        if self._asked is x:
            return self._answer
        if not self.total_weight:
            return {}
        if len(self._labels) != len(self.stats):
            self._labels = np.array(list(self.stats), np.int64)
        own, found = self.observed(x.space), np.array(list(self.stats.values()), np.float64)
        naive_bayes(x.values, x.places, self._labels, found, x.space.columns, own.moments, own.cells)
        self._asked, self._answer = x, dict(zip(self.stats, found.tolist(), strict=True))
        return self._answer


class ArrayAdaptiveLeaf(AdaLeafClassifier, ArrayBayesLeaf):  # type: ignore[misc]
    """The same for a tree that grows alternate trees where its error rises: the smaller its error, the more it says."""

    def prediction(self, x: Row, *, tree: Any = None) -> dict[int, float]:
        found, error = ArrayBayesLeaf.prediction(self, x), self._mean_error.get()
        return _shares(found, sum(found.values()) * error * error)


class ArrayTree(HoeffdingTreeClassifier):  # type: ignore[misc]
    """river's Hoeffding tree with leaves of arrays; its rows are `Row`."""

    def _new_leaf(self, initial_stats: Any = None, parent: Any = None) -> Any:
        kind = ArrayLeaf if self.leaf_prediction == "mc" else ArrayBayesLeaf
        return kind(initial_stats or {}, 0 if parent is None else parent.depth + 1, self.splitter)


class ArrayAdaptiveTree(HoeffdingAdaptiveTreeClassifier):  # type: ignore[misc]
    """river's Hoeffding adaptive tree with leaves of arrays; its rows are `Row`."""

    def _new_leaf(self, initial_stats: Any = None, parent: Any = None) -> Any:
        depth = 0 if parent is None else parent.depth + 1
        detector = self.drift_detector.clone()
        return ArrayAdaptiveLeaf(initial_stats or {}, depth, self.splitter, drift_detector=detector, rng=self._rng)


class TreeLearner(River):
    """A tree of arrays, made by `make`; the features in `nominal` are codes of categories."""

    def __init__(self, make: Callable[[], Any], nominal: frozenset[int] = frozenset()) -> None:
        self._nominal = nominal
        super().__init__(make)

    def reset(self) -> None:
        super().reset()
        self._space = Space((), np.empty((2, 0), np.int64), 0)

    def learn(self, X: Floats, y: Codes, selected: Indices, classes: int) -> None:
        self._selected, self._classes = selected.tolist(), classes
        self._grow(X, max(classes, int(y.max(initial=0)) + 1))
        for row, label in zip(self._rows(X), y.tolist(), strict=True):
            self._model.learn_one(row, label)

    def _grow(self, X: Floats, classes: int) -> None:
        """Make room for what these rows bring."""
        space = self._space
        known, needed = space.n_values(), {}
        for place, feature in enumerate(self._selected):
            if feature in self._nominal:
                values = int(X[:, place].max(initial=0)) + 1
                if values > known.get(feature, 0):
                    needed[feature] = max(values, SPARE * known.get(feature, 0))
        if needed or classes > space.n_classes or not known.keys() >= set(self._selected):
            self._space = space.grown(self._selected, needed, max(classes, space.n_classes))

    def _rows(self, X: Floats) -> Iterator[Row]:
        place = {feature: number for number, feature in enumerate(self._space.features)}
        places = np.array([place[feature] for feature in self._selected], np.int64)
        at = {feature: number for number, feature in enumerate(self._selected)}
        for values in np.ascontiguousarray(X, np.float64):
            yield Row(values, places, at, self._space)


class TreeOfCategories(TreeLearner):
    """The same, told by the run which features are categories."""

    def know_categories(self, names: Names) -> None:
        """The names of the categories of each categorical feature; their codes are all that a tree needs."""
        self._nominal = frozenset(names)
