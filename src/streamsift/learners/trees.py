"""Hoeffding trees in arrays: those of river with its default settings, at a fraction of their time.

Domingos and Hulten, Mining High-Speed Data Streams (2000), with leaves that predict by naive Bayes as long as that is
right more often than their largest class. Ours follow the trees of river, row by row, also where those differ from the
paper: a leaf in which nearly all rows have one class forgets the values it has seen. Probabilities are the same up to
rounding (see the tests). What may differ: ties between features, branches or classes, the row at which a leaf is due
where weights that are fractions add up to the grace period but for rounding, and which leaves sleep.

All nodes and leaves lie in common arrays, and kernels learn the rows of a batch (`streamsift.kernels.hoeffding`); what
changes the tree comes back to Python. Rows are those of `streamsift.learners.arrays`. Memory: MOST_BYTES for what
leaves have seen, but for a leaf or two; the leaves that promise least fall asleep first, and predict their largest
class from then on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.hoeffding import (
    ALTERNATE,
    BELOW,
    COLUMN,
    COUNT,
    DONE,
    DUE,
    EACH_VALUE,
    FIRST,
    HIGH,
    KIND,
    LEAF,
    LOW,
    N_LABELS,
    N_LINKS,
    N_MET,
    N_NUMBERS,
    N_PLACES,
    N_VALUES,
    NO_SPLIT,
    NODE,
    NOWHERE,
    RIGHT_BAYES,
    ROW,
    SLOT,
    TARGET,
    TRIED,
    VALUE,
    Here,
    Nodes,
    leaf_weight,
    learn_rows,
    predict_rows,
)
from streamsift.kernels.hoeffding_splits import Split, best_split, parts
from streamsift.learners.arrays import Observed, RowBatch, Space

DELTA = 1e-7  # a split may be the wrong one with this probability
TIE = 0.05  # a bound below which the better of two splits is taken, however near they are
MOST_OF_A_CLASS = 0.99  # share of a leaf above which it does not split
MOST_BYTES = 100 * 2**20
ROWS_AT_ONCE = 1_000  # after which an adaptive tree gives back what it has replaced

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Number = TypeVar("Number", np.float64, np.int64)


class HoeffdingTree:
    """A tree that grows; its leaves predict by naive Bayes where that is `by_bayes`, else their largest class."""

    def __init__(self, *, by_bayes: bool = True, n_errors: int = 0) -> None:
        self.by_bayes = by_bayes
        self._space = Space((), np.empty((2, 0), np.int64), 0)
        self._root, self._n_nodes, self._n_children = NOWHERE, 0, 0
        self._nodes = _no_nodes(n_errors)
        self._seen = Observed(self._space, 0)
        self._free: list[int] = []  # slots of leaves

    # -- learning and predicting --------------------------------------------------------------------------------------

    def learn_rows(self, rows: RowBatch, y: Ints) -> None:
        """Learn rows one after the other."""
        if len(y) == 0:
            return
        self._enter(rows.space)
        if self._root == NOWHERE:
            self._root = self._new_leaf({})
        y, here = np.require(y, np.int64, ["C", "W"]), _here(rows)
        for first in range(0, len(y), ROWS_AT_ONCE):
            part = slice(first, first + ROWS_AT_ONCE)
            self._learn_batch(rows.values[part], y[part], here)

    def _learn_batch(self, X: Floats, y: Ints, here: Here) -> None:
        state = np.zeros(N_PLACES, np.int64)
        while True:
            event = learn_rows(X, y, state, self._root, self._n_nodes, here, self._nodes, *self._arrays())
            if event == DONE:
                return
            if event == DUE:
                self._try_to_split(int(state[TARGET]))
            else:
                self._add_missing(int(state[NODE]), X[state[ROW]], here)

    def predict_rows(self, rows: RowBatch, found: Floats) -> None:
        """Add the probabilities of each row to `found`, which has a column for each class of the rows' space."""
        if self._root != NOWHERE:
            self._enter(rows.space)
            predict_rows(rows.values, self._root, self._n_nodes, _here(rows), self._nodes, *self._arrays(), found)

    # -- what it looks like -------------------------------------------------------------------------------------------

    @property
    def n_branches(self) -> int:
        """How many splits there are."""
        return len(self._branches())

    def features_used(self) -> set[int]:
        """The features that it splits by."""
        return {self._space.features[column] for column in self._nodes.links[self._branches(), COLUMN].tolist()}

    def _branches(self) -> list[int]:
        return [node for node in self._walk(alternates=False) if self._nodes.links[node, KIND] != LEAF]

    def n_bytes(self) -> int:
        """Memory of its nodes and of what its leaves have seen, without room to grow."""
        counts = [self._n_children if array is self._nodes.children else self._n_nodes for array in self._nodes]
        nodes = sum(array[:count].nbytes for array, count in zip(self._nodes, counts, strict=True))
        return nodes + self._n_awake() * self._space.bytes_per_leaf

    def _walk(self, *, alternates: bool) -> Iterator[int]:
        """All nodes from the root on, left to right; with alternates behind their branches, but for the root's own."""
        open_nodes = [] if self._root == NOWHERE else [self._root]
        while open_nodes:
            node = open_nodes.pop()
            yield node
            below = self._children_of(node)
            if alternates:
                paired = ((child, self._nodes.links[child, ALTERNATE]) for child in below)
                below = [int(one) for pair in paired for one in pair if one != NOWHERE]
            open_nodes += reversed(below)

    def _children_of(self, node: int) -> list[int]:
        first, count = self._nodes.links[node, FIRST], self._nodes.links[node, COUNT]
        return [child for child in self._nodes.children[first : first + count].tolist() if child != NOWHERE]

    # -- growing ------------------------------------------------------------------------------------------------------

    def _arrays(self) -> tuple[Floats, Floats]:
        return self._seen.moments, self._seen.cells

    def _stats(self, leaf: int) -> dict[int, float]:
        """The weight of each class in a leaf, in the order in which the classes came."""
        nodes, n_labels = self._nodes, self._nodes.links[leaf, N_LABELS]
        return dict(zip(nodes.labels[leaf, :n_labels].tolist(), nodes.weights[leaf, :n_labels].tolist(), strict=True))

    def _try_to_split(self, leaf: int) -> None:
        """Split a leaf if one split is clearly better than the others, or the bound so small that it hardly matters."""
        stats, slot = self._stats(leaf), int(self._nodes.links[leaf, SLOT])
        total = leaf_weight(leaf, self._nodes)
        self._nodes.numbers[leaf, TRIED] = total
        if sum(weight != 0.0 for weight in stats.values()) < 2:
            return
        if max(stats.values()) / total > MOST_OF_A_CLASS:
            self._forget(leaf)
            return
        moments, cells = self._seen.moments[slot], self._seen.cells[slot]
        found = best_split(np.array(list(stats.values())), self._space.columns, moments, cells)
        span = math.log2(max(len(stats), 2))
        bound = math.sqrt(span * span * math.log(1.0 / DELTA) / (2.0 * total))
        if not (found.merit - found.second > bound or bound < TIE):
            return
        if found.kind == NO_SPLIT:
            self._forget(leaf)
        else:
            self._split(leaf, found, self._parts(found, leaf, moments, cells))

    def _parts(self, found: Split, leaf: int, moments: Floats, cells: Floats) -> dict[int, dict[int, float]]:
        """The weights of the classes in each branch of a split, in the order in which river has met them."""
        labels = self._nodes.met[leaf, : self._nodes.links[leaf, N_MET]].tolist()
        if found.kind == BELOW:
            inside = moments[LOW, :, found.column] <= found.value, moments[HIGH, :, found.column] > found.value
            return {
                way: {label: float(weights[label]) for label in labels if has[label]}
                for way, (weights, has) in enumerate(
                    zip(parts(moments, found.column, found.value), inside, strict=True)
                )
            }
        first, n_values = self._space.columns[:, found.column]
        own = cells[:, first : first + n_values]
        if found.kind == EACH_VALUE:
            met = np.flatnonzero(own.any(axis=0)).tolist()
            return {value: _present(own[:, value], sorted(labels)) for value in met}
        if self.by_bayes:  # which asks for all classes of the leaf once it has met one
            labels = list(dict.fromkeys([labels[0], *self._stats(leaf)]))
        one = own[:, int(found.value)]
        return {0: _present(one, labels), 1: _present(own.sum(axis=1) - one, labels)}

    def _split(self, leaf: int, found: Split, stats: dict[int, dict[int, float]]) -> None:
        """Make a branch of a leaf."""
        self._free.append(int(self._nodes.links[leaf, SLOT]))
        count = int(self._space.columns[N_VALUES, found.column]) if found.kind == EACH_VALUE else 2
        first = self._new_places(count)
        for way, own in stats.items():
            self._nodes.children[first + way] = self._new_leaf(own)
        self._make(leaf, (found.kind, found.column, first, count, NOWHERE, 0, 0, NOWHERE, 0))
        self._nodes.numbers[leaf, VALUE] = found.value
        self._wake_and_sleep()

    def _forget(self, leaf: int) -> None:
        """Let a leaf begin anew with the values of its rows: it falls asleep, and wakes up with the others."""
        self._sleep(leaf)
        self._wake_and_sleep()

    def _wake_and_sleep(self) -> None:
        """Wake the leaves up, but for those that promise least where memory does not suffice for all."""
        leaves = [node for node in self._walk(alternates=True) if self._nodes.links[node, KIND] == LEAF]
        n_asleep = len(leaves) - self._most_awake()
        if n_asleep > 0:
            stats = {leaf: self._stats(leaf).values() for leaf in leaves}
            leaves.sort(key=lambda leaf: sum(stats[leaf]) - max(stats[leaf], default=0.0))
        for place, leaf in enumerate(leaves):
            if place < n_asleep:
                self._sleep(leaf)
            elif self._nodes.links[leaf, SLOT] == NOWHERE:
                self._nodes.links[leaf, [SLOT, N_MET]] = self._new_slot(), 0

    def _sleep(self, leaf: int) -> None:
        slot = int(self._nodes.links[leaf, SLOT])
        if slot != NOWHERE:
            self._free.append(slot)
            self._nodes.links[leaf, SLOT] = NOWHERE

    def _add_missing(self, branch: int, row: Floats, here: Here) -> None:
        """Give a branch a leaf for the value of a row."""
        value = int(row[here.at[self._nodes.links[branch, COLUMN]]])
        leaf = self._new_leaf({})
        self._nodes.children[self._nodes.links[branch, FIRST] + value] = leaf

    # -- room ---------------------------------------------------------------------------------------------------------

    def _new_leaf(self, stats: dict[int, float]) -> int:
        if self._n_nodes == len(self._nodes.links):
            self._grow_nodes(2 * self._n_nodes + 1)
        node, slot = self._n_nodes, NOWHERE
        if self._n_awake() < self._most_awake():
            slot = self._new_slot()
        self._n_nodes += 1
        self._make(node, (LEAF, 0, 0, 0, slot, len(stats), 0, NOWHERE, 0))
        self._nodes.labels[node, : len(stats)] = list(stats)
        self._nodes.weights[node, : len(stats)] = list(stats.values())
        self._nodes.numbers[node, TRIED] = leaf_weight(node, self._nodes)
        self._nodes.numbers[node, RIGHT_BAYES] = 0.0 if self.by_bayes else -1.0
        return node

    def _make(self, node: int, links: tuple[int, ...]) -> None:
        """Begin a node anew."""
        self._nodes.links[node], self._nodes.numbers[node] = links, 0.0

    def _grow_nodes(self, n: int) -> None:
        old, n_labels = self._nodes, self._space.n_classes
        self._nodes = Nodes(
            links=_copied(old.links, (n, N_LINKS)),
            numbers=_copied(old.numbers, (n, N_NUMBERS)),
            children=old.children,
            labels=_copied(old.labels, (n, n_labels)),
            met=_copied(old.met, (n, n_labels)),
            weights=_copied(old.weights, (n, n_labels)),
            errors=_copied(old.errors, (n, old.errors.shape[1])),
        )

    def _n_awake(self) -> int:
        return len(self._seen.moments) - len(self._free)

    def _most_awake(self) -> int:
        return max(MOST_BYTES // max(self._space.bytes_per_leaf, 1), 1)

    def _new_slot(self) -> int:
        if not self._free:
            n = len(self._seen.moments)
            n_slots = max(min(2 * n + 1, self._most_awake()), n + 1)
            self._seen = self._seen.with_slots(n_slots)
            self._free = list(range(n_slots - 1, n - 1, -1))
        slot = self._free.pop()
        self._seen.clear(slot)
        return slot

    def _pack(self) -> None:
        """Let leaves fall asleep for which there is no memory any more, and give up the slots of all that sleep."""
        self._wake_and_sleep()
        awake = np.flatnonzero(self._nodes.links[: self._n_nodes, SLOT] != NOWHERE)
        self._seen = self._seen.chosen(self._nodes.links[awake, SLOT])
        self._nodes.links[awake, SLOT] = np.arange(len(awake))
        self._free = []

    def _new_places(self, count: int) -> int:
        """Room for children."""
        first, children = self._n_children, self._nodes.children
        self._n_children += count
        if self._n_children > len(children):
            more = np.full(2 * self._n_children, NOWHERE, np.int64)
            more[: len(children)] = children
            self._nodes = self._nodes._replace(children=more)
        return first

    def _enter(self, space: Space) -> None:
        """Give what has come since its place: features, classes and values of categories."""
        if space is self._space:
            return
        self._space = space
        if len(self._seen.moments) > self._most_awake():
            self._pack()
        self._seen = self._seen.in_space(space)
        self._grow_nodes(len(self._nodes.links))
        for node in np.flatnonzero(self._nodes.links[: self._n_nodes, KIND] == EACH_VALUE).tolist():
            column, first, count = self._nodes.links[node, [COLUMN, FIRST, COUNT]].tolist()
            n_values = int(space.columns[N_VALUES, column])
            if count < n_values:
                place = self._new_places(n_values)
                self._nodes.children[place : place + count] = self._nodes.children[first : first + count]
                self._nodes.links[node, [FIRST, COUNT]] = place, n_values


def _here(rows: RowBatch) -> Here:
    """Where the features of the rows are."""
    at = np.full(len(rows.space.features), NOWHERE, np.int64)
    at[rows.places] = np.arange(len(rows.places))
    return Here(rows.places, at, rows.space.columns)


def _no_nodes(n_errors: int) -> Nodes:
    def numbers(columns: int) -> Floats:
        return np.empty((0, columns))

    def places(columns: int) -> Ints:
        return np.empty((0, columns), np.int64)

    return Nodes(
        links=places(N_LINKS),
        numbers=numbers(N_NUMBERS),
        children=np.empty(0, np.int64),
        labels=places(0),
        met=places(0),
        weights=numbers(0),
        errors=numbers(n_errors),
    )


def _copied(array: NDArray[Number], shape: tuple[int, int]) -> NDArray[Number]:
    """An array in the corner of a larger one."""
    new = np.zeros(shape, array.dtype)
    new[: array.shape[0], : array.shape[1]] = array
    return new


def _present(weights: Floats, labels: list[int]) -> dict[int, float]:
    """The weights of the classes that have any."""
    return {label: float(weights[label]) for label in labels if weights[label] > 0.0}
