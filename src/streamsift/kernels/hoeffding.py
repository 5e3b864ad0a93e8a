"""Kernels of Hoeffding trees: what a row adds to a leaf, its naive Bayes, and the ways of the rows of a batch to it.

The naive Bayes of boosting (`joint_logs`) keeps the same arrays as a leaf.

A leaf knows each column by class. `moments[:, label, column]` is the WEIGHT of the rows and, of a number, their MEAN,
the centred sum of their squares M2 (Welford), their extremes LOW and HIGH, and their normal density in two words, so
that a prediction needs no logarithm per number:

    log density of v  =  (v - MEAN)^2 / SCALE + LEVEL,      SCALE = -2 variance,  LEVEL = -log(2 pi variance) / 2

Where there is no density yet, SCALE is -inf and LEVEL 0, so that the column says nothing. Of a category the weight of
every value is kept: `cells[label, columns[FIRST_CELL, column] + value]`, for columns[N_VALUES, column] values; a column
is a number where its first cell is NUMERIC. Plain arrays, because boosting calls these kernels row by row, and a tuple
of arrays costs more at the border to Python than the work behind it.

A whole tree is `Nodes`, and a further axis of `moments` and `cells` in front for its leaves. Its kernels learn rows
until one has done what Python must answer: a leaf is due to be split, or a detector due to look for drift.

Where a row lacks the feature of a branch, or has a value that the branch has no child for, it goes with the crowd: to
the child with the most weight below it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Table = NDArray[np.float64]  # two axes
Moments = NDArray[np.float64]  # three axes

WEIGHT, MEAN, M2, LOW, HIGH, SCALE, LEVEL = range(7)  # of moments
EMPTY = (0.0, 0.0, 0.0, math.inf, -math.inf, -math.inf, 0.0)  # what they are before the first row
FIRST_CELL, N_VALUES = 0, 1  # of columns
NUMERIC = -1  # instead of a cell
NO_SPLIT, BELOW, EACH_VALUE, ONE_VALUE = 0, 1, 2, 3  # kinds of splits
LEAF = NO_SPLIT  # a kind of node; the others are those of splits
LEAST_DENSITY = 1e-9  # of the naive Bayes of boosting
HALF_LOG_TAU = 0.5 * math.log(math.tau)


@kernel
def add_row(
    row: Floats, places: Ints, label: int, weight: float, columns: Ints, moments: Moments, cells: Floats
) -> None:
    """Let a leaf see one row: its values, the columns they belong to, its class and its weight."""
    for place in range(len(places)):
        column, value = places[place], row[place]
        total = moments[WEIGHT, label, column] + weight
        moments[WEIGHT, label, column] = total
        if columns[FIRST_CELL, column] != NUMERIC:
            cells[label, columns[FIRST_CELL, column] + int(value)] += weight
            continue
        gap = value - moments[MEAN, label, column]
        moments[MEAN, label, column] += weight / total * gap
        moments[M2, label, column] += weight * gap * (value - moments[MEAN, label, column])
        moments[LOW, label, column] = min(moments[LOW, label, column], value)
        moments[HIGH, label, column] = max(moments[HIGH, label, column], value)
        if total > 1.0 and moments[M2, label, column] > 0.0:
            variance = moments[M2, label, column] / (total - 1.0)
            moments[SCALE, label, column] = -2.0 * variance
            moments[LEVEL, label, column] = -HALF_LOG_TAU - 0.5 * math.log(variance)


@kernel
def naive_bayes(
    row: Floats, places: Ints, labels: Ints, found: Floats, columns: Ints, moments: Moments, cells: Floats
) -> int:
    """Replace `found`, the weights of `labels` in the leaf, by their probabilities; return the place of the largest.

    A class without weight has the logarithm 0. A category that a class has never had, and a number so far off that the
    logarithm of its density is -inf, say nothing about it, as in river's trees.
    """
    total = found.sum()
    for place in range(len(labels)):
        label, said = labels[place], 0.0
        if found[place] > 0.0:
            said = math.log(found[place] / total)
            for i in range(len(places)):
                column = places[i]
                cell = columns[FIRST_CELL, column]
                if cell == NUMERIC:
                    gap = row[i] - moments[MEAN, label, column]
                    density = gap * gap / moments[SCALE, label, column] + moments[LEVEL, label, column]
                    if density > -math.inf:
                        said += density
                elif row[i] < columns[N_VALUES, column]:
                    seen = cells[label, cell + int(row[i])]
                    if seen > 0.0:
                        said += math.log(seen / moments[WEIGHT, label, column])
        found[place] = said
    most = found.max()
    for place in range(len(labels)):
        found[place] = math.exp(found[place] - most)
    found /= found.sum()
    best = 0
    for place in range(1, len(labels)):
        if found[place] > found[best]:
            best = place
    return best


@kernel
def joint_logs(
    row: Floats, places: Ints, labels: Ints, found: Floats, columns: Ints, moments: Moments, cells: Floats
) -> None:
    """Replace `found`, the rows of each of `labels`, by the logarithms of their joint probabilities with the row.

    As river's GaussianNB: variances are divided by the number of rows, and a density counts LEAST_DENSITY more than it
    is. Categories are counted plus one.
    """
    total = found.sum()
    for place in range(len(labels)):
        label, said = labels[place], math.log(found[place] / total)
        for i in range(len(places)):
            column = places[i]
            cell, n_values = columns[FIRST_CELL, column], columns[N_VALUES, column]
            if cell == NUMERIC:
                density = 0.0
                if moments[M2, label, column] > 0.0:
                    variance = moments[M2, label, column] / moments[WEIGHT, label, column]
                    gap = row[i] - moments[MEAN, label, column]
                    density = math.exp(-0.5 * gap * gap / variance) / math.sqrt(math.tau * variance)
                said += math.log(LEAST_DENSITY + density)
            else:
                seen = 1.0 + (cells[label, cell + int(row[i])] if row[i] < n_values else 0.0)
                n_seen = 0
                for value in range(cell, cell + n_values):
                    n_seen += cells[:, value].sum() > 0.0
                said += math.log(seen / (moments[WEIGHT, label, column] + max(n_seen, 1)))
        found[place] = said


# -- Whole trees ------------------------------------------------------------------------------------------------------

N_LINKS, N_NUMBERS, N_PLACES = 9, 7, 13
KIND, COLUMN, FIRST, COUNT, SLOT, N_LABELS, N_MET, ALTERNATE, N_ERRORS = range(N_LINKS)  # of the links of a node
VALUE, RIGHT_LARGEST, RIGHT_BAYES, TRIED, N_ROWS, ERROR, BEFORE = range(N_NUMBERS)  # of its numbers
NOWHERE = -1  # instead of a node or slot

GRACE_PERIOD = 200.0  # weight of a leaf between two attempts to split
CLOCK = 32  # errors between two tests for drift
LEAST_ROWS = 300.0  # on both sides, before an alternate is compared with its branch
SWITCH_LOG = math.log(2.0 / 0.05)  # of the significance with which they must differ

# What Python must answer. DUE: a leaf is due to be split; MISSING: a branch has no child for a value.
DONE, DUE, MISSING, TEST, SWITCH, PRUNE, DRAW = range(7)
# A row in an adaptive tree: where it is, and the next thing to be done there. TARGET is the leaf that learns.
(ROW, STAGE, NODE, PLACE, TARGET, LARGEST, BAYES, WRONG, MAIN, MAIN_LARGEST, MAIN_BAYES, MAIN_WRONG, DRAWN) = range(
    N_PLACES
)
START, AT_NODE, COMPARE, ALTERNATES, AT_LEAF, LEARN, DOWN = range(7)


class Nodes(NamedTuple):
    """The nodes of a tree, one row each, but for `children`; children have larger numbers than their branch.

    links    KIND, COLUMN, FIRST and COUNT of a branch: its children are children[FIRST : FIRST + COUNT], those of
             EACH_VALUE by code, NOWHERE where there is none yet. SLOT of a leaf: where its arrays are, NOWHERE if it is
             asleep; N_LABELS: how many classes it knows; N_MET: how many of them since it woke up. ALTERNATE of a
             branch: the leaf that may take its place. N_ERRORS: how many `errors` wait.
    numbers  VALUE, with which a branch compares. Of a leaf the weight that its largest class and naive Bayes were RIGHT
             about (below 0 where naive Bayes is not wanted), and its weight when it last TRIED to split. Of adaptive
             trees N_ROWS and the mean ERROR of a node since it last changed, and the error BEFORE the row.
    labels   the classes of a leaf, in the order in which they came; what each weighs is in `weights`
    met      the same since the leaf woke up
    errors   what the detector of a node has not been told yet
    """

    links: Ints
    numbers: Floats
    children: Ints
    labels: Ints
    met: Ints
    weights: Floats
    errors: Floats


class Here(NamedTuple):
    """The features of the rows: the column of each, and the place `at` which a column is in a row, or NOWHERE."""

    places: Ints
    at: Ints
    columns: Ints


@kernel
def leaf_weight(leaf: int, nodes: Nodes) -> float:
    """The weight of all classes in a leaf."""
    return float(nodes.weights[leaf, : nodes.links[leaf, N_LABELS]].sum())


@kernel
def _crowd(branch: int, n_nodes: int, nodes: Nodes) -> int:
    """Where, in `children`, the child of a branch is that has the most weight below it, the first of equals."""
    totals = np.zeros(n_nodes)
    for node in range(n_nodes - 1, branch, -1):
        if nodes.links[node, KIND] == LEAF:
            totals[node] = leaf_weight(node, nodes)
            continue
        for place in range(nodes.links[node, FIRST], nodes.links[node, FIRST] + nodes.links[node, COUNT]):
            if nodes.children[place] != NOWHERE:
                totals[node] += totals[nodes.children[place]]
    most, found, first = -1.0, NOWHERE, nodes.links[branch, FIRST]
    for place in range(first, first + nodes.links[branch, COUNT]):
        child = nodes.children[place]
        if child != NOWHERE and totals[child] > most:
            most, found = totals[child], place
    return found


@kernel
def _way(row: Floats, node: int, here: Here, crowds: Ints, nodes: Nodes) -> int:
    """Where, in `children`, the way of a row goes on.

    `crowds` keeps those of branches whose feature the rows lack: all of them go there, so that it stays the crowd. It
    also keeps those of rows with a value for which no leaf has cells yet: only predictions meet such rows.
    """
    kind, first, place = nodes.links[node, KIND], nodes.links[node, FIRST], here.at[nodes.links[node, COLUMN]]
    if place != NOWHERE:
        value = row[place]
        if kind == BELOW:
            return int(first if value <= nodes.numbers[node, VALUE] else first + 1)
        if kind == ONE_VALUE:
            return int(first if value == nodes.numbers[node, VALUE] else first + 1)
        if value < nodes.links[node, COUNT]:
            return int(first + int(value))
    if crowds[node] == NOWHERE:
        crowds[node] = _crowd(node, len(crowds), nodes)
    return int(crowds[node])


@kernel
def _next(row: Floats, node: int, here: Here, crowds: Ints, nodes: Nodes) -> int:
    """The next node on the way of a row."""
    child = nodes.children[_way(row, node, here, crowds, nodes)]
    # The crowd of a branch whose feature the rows have may change with every row that is learnt.
    return int(child if child != NOWHERE else nodes.children[_crowd(node, len(crowds), nodes)])


@kernel
def _answers(
    row: Floats, leaf: int, here: Here, nodes: Nodes, moments: Moments, cells: Floats, found: Floats
) -> tuple[int, int]:
    """The places of the largest class and of naive Bayes' one among the labels of a leaf, or NOWHERE.

    The probabilities by naive Bayes are written into `found`.
    """
    slot, n_labels = nodes.links[leaf, SLOT], nodes.links[leaf, N_LABELS]
    weights = nodes.weights[leaf, :n_labels]
    if n_labels == 0:
        return NOWHERE, NOWHERE
    largest = int(np.argmax(weights))
    if slot == NOWHERE or nodes.numbers[leaf, RIGHT_BAYES] < 0.0 or weights[largest] == 0.0:
        return largest, NOWHERE
    found[:n_labels] = weights
    labels = nodes.labels[leaf, :n_labels]
    return largest, naive_bayes(row, here.places, labels, found[:n_labels], here.columns, moments[slot], cells[slot])


@kernel
def _trusts_bayes(leaf: int, nodes: Nodes) -> bool:
    right_bayes, right_largest = nodes.numbers[leaf, RIGHT_BAYES], nodes.numbers[leaf, RIGHT_LARGEST]
    return bool(nodes.links[leaf, SLOT] != NOWHERE and right_bayes >= right_largest)


@kernel
def _is_wrong(label: int, leaf: int, largest: int, bayes: int, nodes: Nodes) -> bool:
    said = bayes if _trusts_bayes(leaf, nodes) else largest
    return said == NOWHERE or nodes.labels[leaf, said] != label


@kernel
def _learn(
    row: Floats,
    label: int,
    weight: float,
    leaf: int,
    largest: int,
    bayes: int,
    here: Here,
    nodes: Nodes,
    moments: Moments,
    cells: Floats,
) -> bool:
    """Let a leaf learn a row for which it had two answers; return whether it is due to be split."""
    slot, n_labels = nodes.links[leaf, SLOT], nodes.links[leaf, N_LABELS]
    if slot != NOWHERE and nodes.numbers[leaf, RIGHT_BAYES] >= 0.0:
        if largest == NOWHERE or nodes.labels[leaf, largest] == label:
            nodes.numbers[leaf, RIGHT_LARGEST] += weight
        if bayes != NOWHERE and nodes.labels[leaf, bayes] == label:
            nodes.numbers[leaf, RIGHT_BAYES] += weight
    place = 0
    while place < n_labels and nodes.labels[leaf, place] != label:
        place += 1
    if place == n_labels:
        nodes.labels[leaf, place], nodes.weights[leaf, place] = label, 0.0
        nodes.links[leaf, N_LABELS] = n_labels + 1
    nodes.weights[leaf, place] += weight
    if slot == NOWHERE:
        return False
    place, n_met = 0, nodes.links[leaf, N_MET]
    while place < n_met and nodes.met[leaf, place] != label:
        place += 1
    if place == n_met:
        nodes.met[leaf, place], nodes.links[leaf, N_MET] = label, n_met + 1
    add_row(row, here.places, label, weight, here.columns, moments[slot], cells[slot])
    return bool(leaf_weight(leaf, nodes) - nodes.numbers[leaf, TRIED] >= GRACE_PERIOD)


@kernel
def learn_rows(
    X: Table,
    y: Ints,
    state: Ints,
    root: int,
    n_nodes: int,
    here: Here,
    nodes: Nodes,
    moments: Moments,
    cells: Floats,
) -> int:
    """Let a tree learn rows, from state[ROW] on, until Python must answer what is returned.

    DUE is state[TARGET]; MISSING is the child of state[NODE] for the row, which is learnt then. A row that has lacked
    the feature of a branch does not make a leaf due.
    """
    crowds, found = np.full(n_nodes, NOWHERE), np.empty(nodes.labels.shape[1])
    while state[ROW] < len(y):
        row, leaf, knows = X[state[ROW]], root, True
        while nodes.links[leaf, KIND] != LEAF:
            place = _way(row, leaf, here, crowds, nodes)
            if nodes.children[place] == NOWHERE:
                state[NODE] = leaf
                return MISSING
            knows = knows and here.at[nodes.links[leaf, COLUMN]] != NOWHERE
            leaf = nodes.children[place]
        label = y[state[ROW]]
        largest, bayes = _answers(row, leaf, here, nodes, moments, cells, found)
        state[ROW] += 1
        state[TARGET] = leaf
        if _learn(row, label, 1.0, leaf, largest, bayes, here, nodes, moments, cells) and knows:
            return DUE
    return DONE


@kernel
def _count(wrong: bool, node: int, nodes: Nodes) -> bool:
    """Count an error, or none, of a node; return whether its detector is due."""
    numbers, links = nodes.numbers[node], nodes.links[node]
    numbers[BEFORE] = numbers[ERROR]
    numbers[N_ROWS] += 1.0
    error = 1.0 if wrong else 0.0
    numbers[ERROR] += 1.0 / numbers[N_ROWS] * (error - numbers[ERROR])
    nodes.errors[node, links[N_ERRORS]] = error
    links[N_ERRORS] = (links[N_ERRORS] + 1) % CLOCK
    return bool(links[N_ERRORS] == 0)


@kernel
def _compared(node: int, nodes: Nodes) -> int:
    """SWITCH where the alternate of a branch is clearly better than it, PRUNE where it is clearly worse; else DONE."""
    alternate = nodes.links[node, ALTERNATE]
    if alternate == NOWHERE:
        return DONE
    mine, other = nodes.numbers[node], nodes.numbers[alternate]
    if mine[N_ROWS] <= LEAST_ROWS or other[N_ROWS] <= LEAST_ROWS:
        return DONE
    spread = 2.0 * mine[ERROR] * (1.0 - mine[ERROR]) * SWITCH_LOG
    bound = math.sqrt(spread * (1.0 / other[N_ROWS] + 1.0 / mine[N_ROWS]))
    if bound < mine[ERROR] - other[ERROR]:
        return SWITCH
    return PRUNE if bound < other[ERROR] - mine[ERROR] else DONE


@kernel
def learn_adaptive_rows(
    X: Table,
    y: Ints,
    state: Ints,
    draws: Ints,
    root: int,
    n_nodes: int,
    here: Here,
    nodes: Nodes,
    moments: Moments,
    cells: Floats,
) -> int:
    """The same for an adaptive tree, in which every branch on the way of a row counts errors and may grow an alternate.

    A leaf learns a row as often as the next of `draws` says, but at least once. `state` says where the row is, so that
    it can go on after an answer. TEST is the detector of state[NODE] in the stage COMPARE, of state[TARGET] in LEARN;
    SWITCH and PRUNE are those of state[NODE] and its alternate; DRAW asks for more of `draws`.
    """
    crowds, found = np.full(n_nodes, NOWHERE), np.empty(nodes.labels.shape[1])
    while state[ROW] < len(y):
        row, label, stage, node = X[state[ROW]], y[state[ROW]], state[STAGE], state[NODE]
        if stage == START:
            leaf = root
            while nodes.links[leaf, KIND] != LEAF:
                leaf = _next(row, leaf, here, crowds, nodes)
            largest, bayes = _answers(row, leaf, here, nodes, moments, cells, found)
            state[MAIN], state[MAIN_LARGEST], state[MAIN_BAYES] = leaf, largest, bayes
            state[MAIN_WRONG] = _is_wrong(label, leaf, largest, bayes, nodes)
            state[NODE], state[PLACE], state[STAGE] = root, NOWHERE, AT_NODE
        elif stage == AT_NODE:
            if nodes.links[node, KIND] == LEAF:
                state[TARGET], state[STAGE] = node, AT_LEAF
            else:
                state[STAGE] = COMPARE
                if _count(state[MAIN_WRONG] != 0, node, nodes):
                    return TEST
        elif stage == COMPARE:
            state[STAGE] = ALTERNATES
            verdict = _compared(node, nodes)
            if verdict != DONE:
                return verdict
        elif stage == ALTERNATES:
            state[TARGET], state[STAGE] = nodes.links[node, ALTERNATE], AT_LEAF
            if state[TARGET] == NOWHERE:
                state[STAGE] = DOWN
        elif stage == AT_LEAF:
            if state[DRAWN] + 1 >= len(draws):
                return DRAW
            state[DRAWN] += 1
            leaf, state[STAGE] = state[TARGET], LEARN
            state[LARGEST], state[BAYES], state[WRONG] = state[MAIN_LARGEST], state[MAIN_BAYES], state[MAIN_WRONG]
            if leaf != state[MAIN]:
                largest, bayes = _answers(row, leaf, here, nodes, moments, cells, found)
                state[LARGEST], state[BAYES] = largest, bayes
                state[WRONG] = _is_wrong(label, leaf, largest, bayes, nodes)
            if _count(state[WRONG] != 0, leaf, nodes):
                return TEST
        elif stage == LEARN:
            leaf, weight = state[TARGET], float(max(draws[state[DRAWN]], 1))
            is_due = _learn(row, label, weight, leaf, state[LARGEST], state[BAYES], here, nodes, moments, cells)
            if leaf == node:
                state[ROW] += 1
                state[STAGE] = START
            else:
                state[STAGE] = DOWN
            if is_due:
                return DUE
        else:
            place = _way(row, node, here, crowds, nodes)
            if nodes.children[place] == NOWHERE:
                return MISSING
            state[NODE], state[PLACE], state[STAGE] = nodes.children[place], place, AT_NODE
    return DONE


@kernel
def _add_answer(
    row: Floats,
    leaf: int,
    here: Here,
    nodes: Nodes,
    moments: Moments,
    cells: Floats,
    found: Floats,
    shares: Floats,
) -> None:
    """Add what a leaf says of the classes to `shares`; the smaller its error, the more it counts."""
    n_labels, error = nodes.links[leaf, N_LABELS], nodes.numbers[leaf, ERROR]
    if not _trusts_bayes(leaf, nodes):
        found[:n_labels] = nodes.weights[leaf, :n_labels]
    elif _answers(row, leaf, here, nodes, moments, cells, found)[1] == NOWHERE:
        return
    total = found[:n_labels].sum()
    scale = total * error * error if error > 0.0 else total
    for place in range(n_labels):
        shares[nodes.labels[leaf, place]] += found[place] / scale if scale > 0.0 else 0.0


@kernel
def predict_rows(
    X: Table,
    root: int,
    n_nodes: int,
    here: Here,
    nodes: Nodes,
    moments: Moments,
    cells: Floats,
    shares: Table,
) -> None:
    """Add to `shares`, for each row, what its leaf says of each class, and the alternates on its way."""
    crowds, found = np.full(n_nodes, NOWHERE), np.empty(nodes.labels.shape[1])
    for i in range(len(X)):
        node = root
        while nodes.links[node, KIND] != LEAF:
            if nodes.links[node, ALTERNATE] != NOWHERE:
                _add_answer(X[i], nodes.links[node, ALTERNATE], here, nodes, moments, cells, found, shares[i])
            node = _next(X[i], node, here, crowds, nodes)
        _add_answer(X[i], node, here, nodes, moments, cells, found, shares[i])
