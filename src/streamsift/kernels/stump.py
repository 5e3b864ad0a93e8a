"""Kernels of boosted decision stumps: check rows, predict, re-weight and collect, score splits, freeze the best one.

Columns are numeric or categorical (`Layout`). A candidate collects, weighted by boosting, what the next stump is chosen
from (`Collected`); frozen stumps (`Frozen`) predict. Boosting follows online boosting as the paper uses it: a row comes
with its weight, 1 by default, and passes through the units in their order. A unit that has been right with the weight
`correct` and wrong with the weight `wrong` multiplies it by

    (correct + wrong) / (2 correct)   if it is right,      (correct + wrong) / (2 wrong)   if it is wrong,

so that right and wrong rows carry half of the weight each to the next unit, and at last to the candidate.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

N_CUTS = 10  # equally spaced cut points between the extremes of a numeric column
SMALLEST_BRANCH = 0.01  # share of the weight a branch must exceed to count
SMALLEST_RANGE = 1e-150  # squares of smaller distances underflow: such a column counts as constant
NO_EVENT, TEST_DUE = -1, -2  # what boost_rows returns in place of the unit that flags a drift
NOT_SEEN = -1  # the prediction for a value the stump has never met: no class at all
NUMERIC = -1  # the first cell of a column that has none
NO_BAD_VALUE = (-1, -1)
SEEN, TESTED = 0, 1  # indices of Collected.weights


class Layout(NamedTuple):
    """Which columns are numeric and which categorical; a cell is an index of everything that is kept per category."""

    numeric: Ints  # (n_numeric,) the numeric columns
    categorical: Ints  # (n_categorical,) the categorical columns
    start: Ints  # (n_categorical + 1,) the k-th categorical column has the cells start[k]:start[k + 1]


class Collected(NamedTuple):
    """What a candidate has collected, per class c, all weighted by boosting."""

    class_weight: Floats  # (n_classes,) weight of the class, the same for every column
    mean: Floats  # (n_classes, n_numeric) weighted mean of each numeric column (Welford)
    m2: Floats  # (n_classes, n_numeric) its centred second moment
    low: Floats  # (n_classes, n_numeric) its smallest value
    high: Floats  # (n_classes, n_numeric) its largest value
    counts: Floats  # (n_classes, n_cells) weight of each category
    weights: Floats  # (2,) weight SEEN by the candidate, and what it had seen when it was last TESTED


class Frozen(NamedTuple):
    """The stumps; a column has at most one, so they are kept by column."""

    cell: Ints  # (n_features,) the first cell of the column, or NUMERIC
    cut: Floats  # (n_features,) numeric columns: where they are split
    left: Ints  # (n_features,) the class predicted for values <= cut
    right: Ints  # (n_features,) the class predicted for values > cut
    table: Ints  # (n_cells,) the class predicted for each category


class Span(NamedTuple):
    """Rows begin:end of a batch, within a block that starts at row `first`."""

    first: int
    begin: int
    end: int


class Track(NamedTuple):
    """How well the boosting units have done so far, in boosted weight."""

    correct: Floats  # (n_units,)
    wrong: Floats  # (n_units,)


@kernel
def find_bad_value(
    X: NDArray[Any], categorical: Ints, largest: float, largest_code: float, top: Floats
) -> tuple[int, int]:
    """Row and column of the first value that cannot be learnt, or NO_BAD_VALUE; top[k] rises to the largest code.

    Numbers must lie within +-largest (NaN does not); codes must be whole, not negative and at most `largest_code`.
    """
    values = np.empty(categorical.size, np.float64)
    for i in range(X.shape[0]):
        row = X[i]
        bad = np.int64(0)  # counted, not returned at once: a loop that cannot end early is vectorised
        for j in range(row.size):
            bad += np.int64(not abs(row[j]) <= largest)
        for k in range(values.size):
            values[k] = row[categorical[k]]
        for k in range(values.size):
            x = values[k]
            bad += np.int64(not (x >= 0.0 and x <= largest_code and x == np.floor(x)))
            top[k] = x if x > top[k] else top[k]
        if bad:
            for j in range(row.size):
                if not abs(row[j]) <= largest:
                    return i, j
            for k in range(values.size):
                x = values[k]
                if not (x >= 0.0 and x <= largest_code and x == np.floor(x)):
                    return i, categorical[k]
    return NO_BAD_VALUE


@kernel
def mark_errors(
    X: NDArray[Any], codes: Ints, span: Span, features: Ints, first_unit: int, stumps: Frozen, errors: Floats
) -> None:
    """errors[u, i - span.first] = 1 where unit u predicts row i wrongly, for the rows of the span, units >= first_unit.

    features[u] is the column of unit u.
    """
    cell, cut, left, right, table = stumps.cell, stumps.cut, stumps.left, stumps.right, stumps.table
    for i in range(span.begin, span.end):
        for u in range(first_unit, features.size):
            j = features[u]
            x = X[i, j]
            if cell[j] == NUMERIC:
                predicted = left[j] if x <= cut[j] else right[j]
            else:
                predicted = table[cell[j] + np.int64(x)]
            errors[u, i - span.first] = 0.0 if predicted == codes[i] else 1.0


@kernel
def _collect_numbers(
    x: Floats, weight: float, share: float, mean: Floats, m2: Floats, low: Floats, high: Floats
) -> None:
    """Welford's update of one class by one row; `share` is the weight of the row over that of the class with it."""
    for k in range(mean.size):
        value = x[k]
        d = value - mean[k]
        m = mean[k] + d * share
        mean[k] = m
        m2[k] += weight * d * (value - m)
        low[k] = value if value < low[k] else low[k]
        high[k] = value if value > high[k] else high[k]


@kernel
def boost_rows(
    X: NDArray[Any], codes: Ints, given: Floats, span: Span, errors: Floats, alarm: Ints, track: Track, layout: Layout,
    into: Collected, grace_period: float,
) -> tuple[int, int]:  # fmt: skip
    """Lead the rows of a span through all units and into the candidate, up to the first event.

    given[i] is the weight with which row i comes. `errors` is that of `mark_errors`; alarm[u] is the column of it at
    which the detector of unit u flags a drift, -1 if it never does. Returns the row of the event, and the unit that
    flags a drift, TEST_DUE or NO_EVENT.
    """
    correct, wrong, weights = track.correct, track.wrong, into.weights
    x = np.empty(layout.numeric.size, np.float64)
    for i in range(span.begin, span.end):
        weight = given[i]
        for u in range(alarm.size):
            if weight == 0.0:  # halved away by many units that never err
                pass
            elif errors[u, i - span.first] == 0.0:
                correct[u] += weight
                weight *= (correct[u] + wrong[u]) / (2.0 * correct[u])
            else:
                wrong[u] += weight
                weight *= (correct[u] + wrong[u]) / (2.0 * wrong[u])
            if alarm[u] == i - span.first:
                return i, u
        if weight == 0.0:
            continue
        c = codes[i]
        into.class_weight[c] += weight
        row, cells = X[i], into.counts[c]
        # Gathered first: the loop over the statistics then reads side by side and is vectorised.
        for k in range(x.size):
            x[k] = row[layout.numeric[k]]
        share = weight / into.class_weight[c]
        _collect_numbers(x, weight, share, into.mean[c], into.m2[c], into.low[c], into.high[c])
        for k in range(layout.categorical.size):
            cells[layout.start[k] + np.int64(row[layout.categorical[k]])] += weight
        weights[SEEN] += weight
        if weights[SEEN] - weights[TESTED] >= grace_period:
            weights[TESTED] = weights[SEEN]
            return i, TEST_DUE
    return span.end, NO_EVENT


@kernel
def _impurity(weight: Floats, gini: bool) -> tuple[float, float]:
    """Sum of the class weights of a branch, and that sum times its impurity (entropy in bits, or Gini).

    With W the sum of the weights w:  W * entropy = W log2 W - sum w log2 w,   W * Gini = W - sum w^2 / W.
    """
    total, inner = 0.0, 0.0
    for c in range(weight.size):
        w = weight[c]
        if w > 0.0:
            total += w
            inner += w * w if gini else w * math.log2(w)
    if total <= 0.0:
        return 0.0, 0.0
    return total, total - inner / total if gini else total * math.log2(total) - inner


@kernel
def _steepness(k: int, collected: Collected, steepness: Floats) -> None:
    """1 / sqrt(2 variance) of numeric column k in each class; inf where it has no variance."""
    for c in range(steepness.size):
        weight = collected.class_weight[c]
        variance = collected.m2[c, k] / (weight - 1.0) if weight > 1.0 else 0.0
        steepness[c] = 1.0 / math.sqrt(2.0 * variance) if variance > 0.0 else np.inf


@kernel
def _branches(k: int, cut: float, collected: Collected, steepness: Floats, below: Floats, above: Floats) -> None:
    """Weight of each class at or below a cut and above it: exact outside its extremes, else as if it were normal."""
    for c in range(below.size):
        w, mean = collected.class_weight[c], collected.mean[c, k]
        if w <= 0.0 or cut < collected.low[c, k]:
            below[c] = 0.0
        elif cut >= collected.high[c, k]:
            below[c] = w
        elif steepness[c] < np.inf:
            # w Phi((cut - mean) / deviation), with Phi(z) = erfc(-z / sqrt 2) / 2
            below[c] = w * 0.5 * math.erfc((mean - cut) * steepness[c])
        else:
            below[c] = w if cut >= mean else 0.0
        above[c] = max(0.0, w - below[c])


@kernel
def score_numeric(
    numeric: Ints, is_open: Bools, gini: bool, collected: Collected, merits: Floats, cuts: Floats
) -> None:
    """merits[j] and cuts[j]: the best of the cut points of each numeric column that is open; the first if equal.

    merit = (impurity before - sum of the branches' impurities), each times its weight, over the whole weight.
    """
    n_classes, low, high = collected.class_weight.size, collected.low, collected.high
    below, above, steepness = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    before = _impurity(collected.class_weight, gini)[1]
    for k in range(numeric.size):
        j = numeric[k]
        if not is_open[j]:
            continue
        lowest, highest = np.inf, -np.inf
        for c in range(n_classes):
            lowest, highest = min(lowest, low[c, k]), max(highest, high[c, k])
        if not highest - lowest > SMALLEST_RANGE:
            continue
        _steepness(k, collected, steepness)
        for i in range(1, N_CUTS + 1):
            cut = (highest - lowest) / (N_CUTS + 1.0) * i + lowest
            if not (cut > lowest and cut < highest):  # rounded onto an extreme: one branch would be empty
                continue
            _branches(k, cut, collected, steepness, below, above)
            n_below, left = _impurity(below, gini)
            n_above, right = _impurity(above, gini)
            n = n_below + n_above
            if min(n_below, n_above) <= SMALLEST_BRANCH * n:
                continue
            merit = (before - (left + right)) / n
            if merit > merits[j]:
                merits[j] = merit
                cuts[j] = cut


@kernel
def score_categorical(
    categorical: Ints, start: Ints, is_open: Bools, gini: bool, class_weight: Floats, counts: Floats, merits: Floats
) -> None:
    """merits[j] of each categorical column that is open, split into one branch per category."""
    branch = np.empty(class_weight.size)
    n, before = _impurity(class_weight, gini)
    for k in range(categorical.size):
        j = categorical[k]
        if not is_open[j]:
            continue
        n_large, after = np.int64(0), 0.0
        for v in range(start[k], start[k + 1]):
            for c in range(branch.size):
                branch[c] = counts[c, v]
            weight, inner = _impurity(branch, gini)
            after += inner
            n_large += np.int64(weight > SMALLEST_BRANCH * n)
        if n_large >= 2:
            merits[j] = (before - after) / n


@kernel
def _heaviest(weight: Floats) -> int:
    """The class with most weight, the first if equal, NOT_SEEN if there is none."""
    best, most = NOT_SEEN, 0.0
    for c in range(weight.size):
        if weight[c] > most:
            best, most = c, weight[c]
    return best


@kernel
def freeze_numeric(k: int, cut: float, collected: Collected) -> tuple[int, int]:
    """The classes predicted at or below a cut of numeric column k, and above it."""
    n_classes = collected.class_weight.size
    below, above, steepness = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    _steepness(k, collected, steepness)
    _branches(k, cut, collected, steepness, below, above)
    return _heaviest(below), _heaviest(above)


@kernel
def freeze_categorical(begin: int, end: int, counts: Floats, table: Ints) -> None:
    """table[cell] = the class predicted for each category, from cell `begin` to `end`."""
    for v in range(begin, end):
        table[v] = _heaviest(counts[:, v])
