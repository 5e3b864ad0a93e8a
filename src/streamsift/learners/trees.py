"""Hoeffding trees of river whose leaves are arrays: the same trees, many times as fast.

The trees are river's, with its splits, bounds, alternate trees and random numbers. A leaf of river has an object for
each feature, and for each row asks every one of them; here it has arrays for all of them together
(`streamsift.kernels.hoeffding`), and what it answers is the same up to rounding. Ties between classes or features of
exactly the same merit may be broken in another order.

Their rows are those of `streamsift.learners.arrays`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from river.tree import HoeffdingAdaptiveTreeClassifier, HoeffdingTreeClassifier
from river.tree.nodes.hatc_nodes import AdaLeafClassifier
from river.tree.nodes.htc_nodes import LeafMajorityClass, LeafNaiveBayesAdaptive
from river.tree.utils import BranchFactory
from river.utils.random import poisson

from streamsift.kernels.hoeffding import (
    BELOW,
    EACH_VALUE,
    HIGH,
    LOW,
    NO_SPLIT,
    add_row,
    best_split,
    naive_bayes,
    parts,
)
from streamsift.learners.arrays import Observed, Row, Space

Floats = NDArray[np.float64]


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


class ArrayBayesLeaf(ArrayLeaf, LeafNaiveBayesAdaptive):  # type: ignore[misc]  # likewise
    """A leaf that predicts by naive Bayes, as long as that is right more often than its largest class.

    Every branch above asks for the same prediction before a row is learnt, so the last one is remembered.
    """

    _asked: Row | None = None
    _answer: Floats  # the probabilities of the classes, in their order in `stats`
    _likeliest: int | None

    def learn_one(self, x: Row, y: int, *, w: float = 1.0, tree: Any = None) -> None:
        if self.splitters is not None:  # active
            if not self.stats or self._largest() == y:
                self._mc_correct_weight += w
            if self._bayes(x) == y:
                self._nb_correct_weight += w
        self._asked = None
        self.update_stats(y, w)
        if self.splitters is not None:
            self.update_splitters(x, y, w, None)

    def update_stats(self, y: int, w: float) -> None:
        super().update_stats(y, w)
        if len(self._labels) == len(self.stats):
            self._weights[self._places[y]] += w

    def prediction(self, x: Row, *, tree: Any = None) -> dict[int, float]:
        if not self._trusts_bayes():
            return _shares(self.stats, self.total_weight)
        return {} if self._bayes(x) is None else dict(zip(self.stats, self._answer.tolist(), strict=True))

    def said(self, x: Row) -> int | None:
        """The class that it predicts; None before the first row."""
        return self._bayes(x) if self._trusts_bayes() else self._largest()

    def _trusts_bayes(self) -> bool:
        return self.splitters is not None and self._nb_correct_weight >= self._mc_correct_weight

    def _largest(self) -> int | None:
        return max(self.stats, key=self.stats.__getitem__) if self.stats else None

    # The classes of `stats` in their order, their places in it, and what they weigh, as the kernel takes them.
    _labels = np.empty(0, np.int64)
    _places: dict[int, int]
    _weights: Floats

    def _bayes(self, x: Row) -> int | None:
        """The likeliest class by naive Bayes; the probabilities of all stay in `_answer`."""
        if self._asked is x:
            return self._likeliest
        if not any(self.stats.values()):
            return None
        if len(self._labels) != len(self.stats):
            self._labels = np.array(list(self.stats), np.int64)
            self._places = {label: place for place, label in enumerate(self.stats)}
            self._weights = np.array(list(self.stats.values()), np.float64)
        own, found = self.observed(x.space), self._weights.copy()
        best = naive_bayes(x.values, x.places, self._labels, found, x.space.columns, own.moments, own.cells)
        self._asked, self._answer, self._likeliest = x, found, int(self._labels[best])
        return self._likeliest


class ArrayAdaptiveLeaf(AdaLeafClassifier, ArrayBayesLeaf):  # type: ignore[misc]  # likewise
    """The same for a tree that grows alternate trees where its error rises: the smaller its error, the more it says."""

    _mean_error: Any
    last_split_attempt_at: Any

    def learn_one(
        self, x: Row, y: int, *, w: float = 1.0, tree: Any = None, parent: Any = None, parent_branch: Any = None
    ) -> None:
        """As river's, which asks for the same prediction three times."""
        w *= poisson(rate=1, rng=self.rng) or 1
        wrong, before = int(self.said(x) != y), self._mean_error.get()
        self.drift_detector.update(wrong)
        self._mean_error.update(wrong)
        if self.drift_detector.drift_detected and before > self._mean_error.get():
            self._mean_error = self._mean_error.clone()
        ArrayBayesLeaf.learn_one(self, x, y, w=w)
        seen = self.total_weight
        if self.splitters is not None and seen - self.last_split_attempt_at >= tree.grace_period:
            tree._attempt_to_split(self, parent, parent_branch, drift_detector=tree.drift_detector.clone())
            self.last_split_attempt_at = seen

    def prediction(self, x: Row, *, tree: Any = None) -> dict[int, float]:
        found, error = ArrayBayesLeaf.prediction(self, x), self._mean_error.get()
        return _shares(found, sum(found.values()) * error * error)


def way_down(node: Any, x: Row) -> Any:
    """The leaf that a row falls into; where a branch does not know the row's way, along that of most rows.

    As `traverse` of river's branches, which goes down by generators within generators.
    """
    while hasattr(node, "children"):  # a branch; isinstance takes five times as long, since river's nodes are abstract
        try:
            node = node.children[node.branch_no(x)]
        except KeyError:
            node = node.most_common_path()[1]
    return node


class ArrayTree(HoeffdingTreeClassifier):  # type: ignore[misc]  # likewise
    """river's Hoeffding tree with leaves of arrays; its rows are `Row`. It grows to any depth."""

    def _new_leaf(self, initial_stats: Any = None, parent: Any = None) -> Any:
        kind = ArrayLeaf if self.leaf_prediction == "mc" else ArrayBayesLeaf
        return kind(initial_stats or {}, 0 if parent is None else parent.depth + 1, self.splitter)

    def learn_one(self, x: Row, y: int, *, w: float = 1.0) -> None:
        parent, at, node = None, None, self._root
        while hasattr(node, "children"):
            try:
                parent, at = node, node.branch_no(x)
            except KeyError:  # left to river
                node = None
                break
            node = node.children[at]
        if node is None:
            super().learn_one(x, y, w=w)
            return
        self.classes.add(y)
        self._train_weight_seen_by_model += w
        node.learn_one(x, y, w=w, tree=self)
        seen = node.total_weight
        if self._growth_allowed and node.is_active() and seen - node.last_split_attempt_at >= self.grace_period:
            self._attempt_to_split(node, parent, at)
            node.last_split_attempt_at = seen
        if self._train_weight_seen_by_model % self.memory_estimate_period == 0:
            self._estimate_model_size()

    def predict_proba_one(self, x: Row) -> dict[int, float]:
        found: dict[int, float] = {} if self._root is None else way_down(self._root, x).prediction(x)
        return found


class ArrayAdaptiveTree(HoeffdingAdaptiveTreeClassifier):  # type: ignore[misc]  # likewise
    """river's Hoeffding adaptive tree with leaves of arrays; its rows are `Row`.

    In river every branch on the way of a row looks for its leaf and asks for the prediction; here that is done once for
    all of them. Rows that meet an alternate tree, or a branch that does not know their way, are left to river. Its
    settings are river's defaults: it grows to any depth and always draws how often a row counts.
    """

    def _new_leaf(self, initial_stats: Any = None, parent: Any = None) -> Any:
        depth = 0 if parent is None else parent.depth + 1
        detector = self.drift_detector.clone()
        return ArrayAdaptiveLeaf(initial_stats or {}, depth, self.splitter, drift_detector=detector, rng=self._rng)

    def learn_one(self, x: Row, y: int, *, w: float = 1.0) -> None:
        path, leaf = self._plain_path(x)
        if leaf is None:
            super().learn_one(x, y, w=w)
            return
        self.classes.add(y)
        self._train_weight_seen_by_model += w
        wrong = int(leaf.said(x) != y)
        parent, at = None, None
        for branch, down in path:
            branch.stats[y] = branch.stats.get(y, 0.0) + w
            before = branch._mean_error.get()
            branch.drift_detector.update(wrong)
            branch._mean_error.update(wrong)
            if branch.drift_detector.drift_detected:
                self._follow_drift(branch, before, x, y, w, parent, at)
            parent, at = branch, down
        leaf.learn_one(x, y, w=w, tree=self, parent=parent, parent_branch=at)
        if self._train_weight_seen_by_model % self.memory_estimate_period == 0:
            self._estimate_model_size()

    def _plain_path(self, x: Row) -> tuple[list[tuple[Any, int]], Any]:
        """The branches on the way of a row, each with the number of its child, and the leaf; None for river's."""
        path, node = [], self._root
        while hasattr(node, "children"):
            try:
                down = node.branch_no(x)
            except KeyError:
                return [], None
            if node._alternate_tree is not None:
                return [], None
            path.append((node, down))
            node = node.children[down]
        return path, node

    def _follow_drift(self, branch: Any, before: float, x: Row, y: int, w: float, parent: Any, at: int | None) -> None:
        """The error of a branch has changed: count it anew and, if it has risen, begin an alternate tree."""
        fallen = before > branch._mean_error.get()
        branch._mean_error = branch._mean_error.clone()
        if not fallen:
            branch._alternate_tree = self._new_leaf(parent=branch)
            branch._alternate_tree.depth -= 1
            self._n_alternate_trees += 1
            branch._alternate_tree.learn_one(x, y, w=w, tree=self, parent=parent, parent_branch=at)

    def predict_proba_one(self, x: Row) -> dict[int, float]:
        _, leaf = self._plain_path(x)
        found: dict[int, float] = super().predict_proba_one(x) if leaf is None else ArrayBayesLeaf.prediction(leaf, x)
        return found
