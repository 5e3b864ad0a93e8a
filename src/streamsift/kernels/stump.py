"""Kernels of boosted decision stumps: check rows, predict, re-weight and collect, score splits, freeze the best one.

Columns are numeric or categorical. numeric[k] and categorical[k] name the columns of each kind; the codes of the k-th
categorical column have the cells start[k]:start[k + 1] of everything that is kept per value.

What a candidate collects, per class c, all weighted by boosting:

    class_weight[c]      weight of the class, the same for every column
    mean, m2[c, k]       weighted mean and centred second moment of numeric column k (Welford)
    low, high[c, k]      its extremes
    counts[c, cell]      weight of each value of the categorical columns
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

N_CUTS = 10  # equally spaced cut points between the extremes of a numeric column
SMALLEST_BRANCH = 0.01  # share of the weight a branch must exceed to count
SMALLEST_RANGE = 1e-150  # squares of smaller distances underflow: such a column counts as constant
NO_EVENT, TEST_DUE = -1, -2
NOT_SEEN = -1  # the prediction for a value the stump has never met: no class at all


@kernel
def find_bad_value(
    X: NDArray[Any], categorical: Ints, largest: float, largest_code: float, top: Floats
) -> tuple[int, int]:
    """Row and column of the first value that cannot be learnt, or (-1, -1); top[k] rises to the largest code.

    Numbers must lie within +-largest (NaN does not); codes must be whole, not negative and at most `largest_code`.
    """
    values = np.empty(categorical.size, np.float64)
    for i in range(X.shape[0]):
        row = X[i]
        bad = np.int64(0)
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
    return -1, -1


@kernel
def mark_errors(
    X: NDArray[Any],
    codes: Ints,
    first: int,
    begin: int,
    end: int,
    features: Ints,
    first_unit: int,
    cell: Ints,
    cut: Floats,
    left: Ints,
    right: Ints,
    table: Ints,
    errors: Floats,
) -> None:
    """errors[u, i - first] = 1 where unit u predicts row i wrongly, for the rows begin:end and units >= first_unit.

    cell[j] is the first cell of column j, or -1 for a numeric column; features[u] is the column of unit u.
    """
    for i in range(begin, end):
        for u in range(first_unit, features.size):
            j = features[u]
            x = X[i, j]
            if cell[j] < 0:
                predicted = left[j] if x <= cut[j] else right[j]
            else:
                predicted = table[cell[j] + np.int64(x)]
            errors[u, i - first] = 0.0 if predicted == codes[i] else 1.0


@kernel
def _collect_numbers(
    x: Floats, weight: float, share: float, mean: Floats, m2: Floats, low: Floats, high: Floats
) -> None:
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
    X: NDArray[Any],
    codes: Ints,
    first: int,
    begin: int,
    end: int,
    errors: Floats,
    alarm: Ints,
    correct: Floats,
    wrong: Floats,
    numeric: Ints,
    categorical: Ints,
    start: Ints,
    class_weight: Floats,
    mean: Floats,
    m2: Floats,
    low: Floats,
    high: Floats,
    counts: Floats,
    weights: Floats,
    grace_period: float,
) -> tuple[int, int]:
    """Lead rows begin:end through all units and into the candidate, up to the first event.

    `errors` is that of `mark_errors`, alarm[u] the column of it at which the detector of unit u flags a drift (-1:
    never). weights[0] is what the candidate has seen, weights[1] what it had seen at its last test. Returns the row of
    the event and the unit that flags a drift, TEST_DUE, or NO_EVENT.
    """
    x = np.empty(numeric.size, np.float64)
    for i in range(begin, end):
        weight = 1.0
        for u in range(alarm.size):
            if weight == 0.0:  # halved away by many units that never err
                pass
            elif errors[u, i - first] == 0.0:
                correct[u] += weight
                weight *= (correct[u] + wrong[u]) / (2.0 * correct[u])
            else:
                wrong[u] += weight
                weight *= (correct[u] + wrong[u]) / (2.0 * wrong[u])
            if alarm[u] == i - first:
                return i, u
        if weight == 0.0:
            continue
        c = codes[i]
        class_weight[c] += weight
        row, cells = X[i], counts[c]
        for k in range(x.size):
            x[k] = row[numeric[k]]
        _collect_numbers(x, weight, weight / class_weight[c], mean[c], m2[c], low[c], high[c])
        for k in range(categorical.size):
            cells[start[k] + np.int64(row[categorical[k]])] += weight
        weights[0] += weight
        if weights[0] - weights[1] >= grace_period:
            weights[1] = weights[0]
            return i, -2
    return end, -1


@kernel
def _impurity(weight: Floats, gini: bool) -> tuple[float, float]:
    """Sum of the class weights of a branch, and that sum times its impurity (entropy in bits, or Gini)."""
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
def _steepness(k: int, class_weight: Floats, m2: Floats, steepness: Floats) -> None:
    """1 / sqrt(2 variance) of numeric column k in each class; inf where it has no variance."""
    for c in range(class_weight.size):
        variance = m2[c, k] / (class_weight[c] - 1.0) if class_weight[c] > 1.0 else 0.0
        steepness[c] = 1.0 / math.sqrt(2.0 * variance) if variance > 0.0 else np.inf


@kernel
def _branches(
    k: int,
    cut: float,
    class_weight: Floats,
    mean: Floats,
    steepness: Floats,
    low: Floats,
    high: Floats,
    below: Floats,
    above: Floats,
) -> None:
    """Weight of each class at or below a cut and above it: exact outside its extremes, else as if it were normal."""
    for c in range(class_weight.size):
        w = class_weight[c]
        if w <= 0.0 or cut < low[c, k]:
            below[c] = 0.0
        elif cut >= high[c, k]:
            below[c] = w
        elif steepness[c] < np.inf:
            below[c] = w * 0.5 * math.erfc((mean[c, k] - cut) * steepness[c])
        else:
            below[c] = w if cut >= mean[c, k] else 0.0
        above[c] = max(0.0, w - below[c])


@kernel
def score_numeric(
    numeric: Ints,
    is_open: Bools,
    gini: bool,
    class_weight: Floats,
    mean: Floats,
    m2: Floats,
    low: Floats,
    high: Floats,
    merits: Floats,
    cuts: Floats,
) -> None:
    """merits[j] and cuts[j]: the best of the cut points of each numeric column that is open; the first if equal."""
    below, above, steepness = np.empty(class_weight.size), np.empty(class_weight.size), np.empty(class_weight.size)
    before = _impurity(class_weight, gini)[1]
    for k in range(numeric.size):
        j = numeric[k]
        if not is_open[j]:
            continue
        lowest, highest = np.inf, -np.inf
        for c in range(class_weight.size):
            lowest, highest = min(lowest, low[c, k]), max(highest, high[c, k])
        if not highest - lowest > SMALLEST_RANGE:
            continue
        _steepness(k, class_weight, m2, steepness)
        for i in range(1, N_CUTS + 1):
            cut = (highest - lowest) / (N_CUTS + 1.0) * i + lowest
            if not (cut > lowest and cut < highest):
                continue
            _branches(k, cut, class_weight, mean, steepness, low, high, below, above)
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
    """merits[j] of each categorical column that is open, split into one branch a value."""
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
    best, most = -1, 0.0
    for c in range(weight.size):
        if weight[c] > most:
            best, most = c, weight[c]
    return best


@kernel
def freeze_numeric(
    k: int, cut: float, class_weight: Floats, mean: Floats, m2: Floats, low: Floats, high: Floats
) -> tuple[int, int]:
    """The classes predicted at or below a cut of numeric column k, and above it."""
    below, above, steepness = np.empty(class_weight.size), np.empty(class_weight.size), np.empty(class_weight.size)
    _steepness(k, class_weight, m2, steepness)
    _branches(k, cut, class_weight, mean, steepness, low, high, below, above)
    return _heaviest(below), _heaviest(above)


@kernel
def freeze_categorical(begin: int, end: int, counts: Floats, table: Ints) -> None:
    """table[cell] = the class predicted for each value of a categorical column."""
    for v in range(begin, end):
        table[v] = _heaviest(counts[:, v])
