"""The Hoeffding adaptive tree in arrays: that of river with its default settings, at a fraction of its time.

Bifet and Gavalda, Adaptive Learning from Evolving Data Streams (2009): every branch watches its errors with ADWIN;
where they rise it grows an alternate, which takes its place once it is clearly better. Ours follows the tree of river,
row by row, also where that differs from the paper: an alternate takes the place of its branch as soon as it splits, and
a leaf learns a row as often as a Poisson distribution says, but at least once. It does not follow it in two things. In
river the alternate of the root may fall asleep, and a root that it becomes never wakes up; ours does. And where a row
lacks the feature of the branch above, river counts what an alternate says twice. For the rest see
`streamsift.learners.trees`.
"""

from __future__ import annotations

import math
import random

import numpy as np
from numpy.typing import NDArray

from streamsift.drift.bank import Bank
from streamsift.kernels.adwin import LEVELS, N_SUMS, adwin_scan
from streamsift.kernels.hoeffding import (
    ALTERNATE,
    ALTERNATES,
    BEFORE,
    CLOCK,
    COMPARE,
    COUNT,
    DONE,
    DRAW,
    DRAWN,
    DUE,
    ERROR,
    FIRST,
    KIND,
    LEAF,
    N_PLACES,
    N_ROWS,
    NODE,
    NOWHERE,
    PLACE,
    PRUNE,
    ROW,
    SLOT,
    STAGE,
    SWITCH,
    TARGET,
    TEST,
    Here,
    Nodes,
    learn_adaptive_rows,
)
from streamsift.learners.trees import HoeffdingTree

ADWIN = (0.002, float(CLOCK), 5.0, 10.0)  # delta, clock, shortest part, width up to which nothing is tested
ADWIN_BUCKETS = 5
N_DRAWS = 512  # made at once
SPARE_NODES = 256  # that may lie idle

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class AdaptiveTree(HoeffdingTree):
    """One whose branches watch their errors: where these rise, an alternate grows, and takes over if it is better."""

    def __init__(self, *, seed: int = 0) -> None:
        self._detectors = Bank.fresh(0, N_SUMS, LEVELS, ADWIN_BUCKETS + 1)
        super().__init__(n_errors=CLOCK)
        self._random = random.Random(seed)
        self._draws = np.empty(0, np.int64)  # how often the next leaves learn their rows
        self._lost: list[int] = []  # branches that an alternate has replaced; the row may still be on its way below
        self.n_alternates = self.n_switched = self.n_pruned = 0
        self._most_nodes = SPARE_NODES

    def _learn_batch(self, X: Floats, y: Ints, here: Here) -> None:
        state = np.zeros(N_PLACES, np.int64)
        state[DRAWN] = NOWHERE
        while True:
            event = learn_adaptive_rows(
                X, y, state, self._draws, self._root, self._n_nodes, here, self._nodes, *self._arrays()
            )
            if event == DONE:
                break
            self._answer(event, state, X, here)
        self._draws = self._draws[state[DRAWN] + 1 :]
        self._clear_away()

    def _answer(self, event: int, state: Ints, X: Floats, here: Here) -> None:
        node, target = int(state[NODE]), int(state[TARGET])
        if event == TEST:
            self._test(node if state[STAGE] == COMPARE else target, state)
        elif event == DRAW:
            self._draws = np.concatenate([self._draws[state[DRAWN] + 1 :], self._poisson()])
            state[DRAWN] = NOWHERE
        elif event == DUE:
            self._try_to_split(target)
            if target != node and self._nodes.links[target, KIND] != LEAF:
                self._take_over(target, node, int(state[PLACE]))
        elif event == SWITCH:
            self._switch(node, int(state[PLACE]))
        elif event == PRUNE:
            self._end_alternate(node)
            self.n_pruned += 1
        else:
            self._add_missing(node, X[state[ROW]], here)

    def _test(self, node: int, state: Ints) -> None:
        """Tell a detector the errors that wait; where they have changed, the mean error of the node begins anew."""
        own, alarm = self._detectors, np.empty(1, np.int64)
        at = slice(node, node + 1)
        adwin_scan(self._nodes.errors[at], 0, ADWIN, False, own.sums[at], own.filled[at], own.buckets[at], alarm)
        if alarm[0] == NOWHERE:
            return
        rises = self._nodes.numbers[node, BEFORE] <= self._nodes.numbers[node, ERROR]
        is_branch = self._nodes.links[node, KIND] != LEAF
        if is_branch or not rises:
            self._nodes.numbers[node, [N_ROWS, ERROR]] = 0.0
        if is_branch and rises:
            self._end_alternate(node)
            leaf = self._new_leaf({})
            self._nodes.links[node, ALTERNATE] = leaf
            self.n_alternates += 1
            state[STAGE] = ALTERNATES

    def _switch(self, branch: int, place: int) -> None:
        """Let the alternate of a branch take its place; those below the branch end."""
        for node in self._descendants(branch):
            if self._nodes.links[node, ALTERNATE] != NOWHERE:
                self._end_alternate(node)
                self.n_pruned += 1
        self.n_switched += 1
        alternate = int(self._nodes.links[branch, ALTERNATE])
        self._take_over(alternate, branch, place)
        if place == NOWHERE:  # as in river: at the root the alternate still learns the row as such
            self._nodes.links[branch, ALTERNATE] = alternate
        if self._nodes.links[alternate, SLOT] == NOWHERE:
            self._wake_and_sleep()

    def _take_over(self, node: int, branch: int, place: int) -> None:
        """Put a node in the place of a branch, which the row has not left yet."""
        if place == NOWHERE:
            self._root = node
        else:
            self._nodes.children[place] = node
        self._nodes.links[branch, ALTERNATE] = NOWHERE
        self._lost.append(branch)

    def _end_alternate(self, branch: int) -> None:
        alternate = int(self._nodes.links[branch, ALTERNATE])
        if alternate != NOWHERE:
            self._sleep(alternate)
            self._nodes.links[branch, ALTERNATE] = NOWHERE

    def _descendants(self, branch: int) -> list[int]:
        """All nodes below a branch, but for alternates."""
        found = self._children_of(branch)
        for node in found:  # grows meanwhile
            found += self._children_of(node)
        return found

    def _clear_away(self) -> None:
        """Give back what replaced branches held, and number the nodes anew once there are twice as many."""
        for branch in self._lost:
            for node in self._descendants(branch):
                self._end_alternate(node)
                self._sleep(node)
        self._lost = []
        if self._n_nodes > self._most_nodes:
            self._renumber()
            self._most_nodes = 2 * self._n_nodes + SPARE_NODES

    def _renumber(self) -> None:
        """Keep the nodes that can be reached, branches before what is below them."""
        kept = [self._root]
        for node in kept:  # grows meanwhile
            alternate = int(self._nodes.links[node, ALTERNATE])
            kept += self._children_of(node) + ([alternate] if alternate != NOWHERE else [])
        number = np.full(self._n_nodes + 1, NOWHERE, np.int64)  # the last one is that of NOWHERE
        number[kept] = np.arange(len(kept))
        links = self._nodes.links[kept]
        links[:, ALTERNATE] = number[links[:, ALTERNATE]]
        regions = [self._nodes.children[first : first + count] for first, count in links[:, [FIRST, COUNT]]]
        children = number[np.concatenate(regions)]
        links[:, FIRST] = np.cumsum(links[:, COUNT]) - links[:, COUNT]
        others = {name: getattr(self._nodes, name)[kept] for name in ("numbers", "labels", "met", "weights", "errors")}
        self._nodes = Nodes(links=links, children=children, **others)
        self._detectors = self._detectors.chosen(kept)
        self._root, self._n_nodes, self._n_children = 0, len(kept), len(children)

    def _poisson(self) -> Ints:
        """Draws of a Poisson distribution with mean 1, from the same random numbers as river's."""
        draws, least = np.zeros(N_DRAWS, np.int64), math.exp(-1.0)
        for place in range(N_DRAWS):
            product = self._random.random()
            while product > least:
                product *= self._random.random()
                draws[place] += 1
        return draws

    def _make(self, node: int, links: tuple[int, ...]) -> None:
        super()._make(node, links)
        own = self._detectors
        own.sums[node], own.filled[node], own.buckets[node] = 0.0, 0, 0.0

    def _grow_nodes(self, n: int) -> None:
        super()._grow_nodes(n)
        self._detectors.grow(n)

    def n_bytes(self) -> int:
        """Memory of its nodes and their detectors, and of what its leaves have seen."""
        own = self._detectors
        return super().n_bytes() + sum(array[: self._n_nodes].nbytes for array in (own.sums, own.filled, own.buckets))
