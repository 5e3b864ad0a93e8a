"""Kernels of boosted stumps whose target is a number: predict, take away, collect what is left, score splits.

Units are boosted as squared errors ask for: each takes its prediction from the target, and what is left goes on to the
next one, and at last to the candidate (`CollectedNumbers`). Columns are laid out as in kernels/stump.py. What a stump
predicts is the mean of its branch, in which every row counts that has come there since the candidate began: were it
frozen with the split, its error would stay in what is left, for a copy of the column to explain.

A numeric column is collected in N_BINS bins of equal width. That is a power of 2, and bin k holds the values from
k * width on: so two neighbours become one of twice the width by addition, and that is done, to all bins of a
column, whenever a value would need one more than N_BINS of them. Which bins there are at last depends on the least and
the largest value, not on the order of the rows. Bin k lies at place k mod N_BINS.

The merit of a split is the share of the variance that it removes: with weights W and means m of the branches and M of
all, sum W (m - M)^2 / (W_all variance), between 0 and 1.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel
from streamsift.kernels.stump import NO_EVENT, NUMERIC, SEEN, SMALLEST_BRANCH, TEST_DUE, TESTED, Layout, Span, Track

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

N_BINS = 64
FINEST = 2.0**-520  # the least width of a bin: index 1e150 / FINEST is still a number
ANCHOR, MEAN, M2 = 0, 1, 2  # of CollectedNumbers.target
LARGEST_MEAN = 1e150


class CollectedNumbers(NamedTuple):
    """What a candidate has collected, all weighted."""

    target: Floats  # (3,) the first target, from which sums are counted; mean and centred second moment of all
    width: Floats  # (n_numeric,) of the bins of a column
    lowest: Floats  # (n_numeric,) index of its lowest bin, inf if there is none
    highest: Floats  # (n_numeric,) index of its highest bin, -inf if there is none
    bin_weight: Floats  # (n_numeric, N_BINS)
    bin_sum: Floats  # (n_numeric, N_BINS) of weight * (target - anchor)
    cell_weight: Floats  # (n_cells,)
    cell_sum: Floats  # (n_cells,)
    weights: Floats  # (2,) weight SEEN by the candidate, and what it had seen when it was last TESTED


class FrozenNumbers(NamedTuple):
    """The stumps; a column has at most one, so they are kept by column."""

    cell: Ints  # (n_features,) the first cell of the column, or NUMERIC
    cut: Floats  # (n_features,) numeric columns: where they are split
    means: Floats  # (n_features, 2) the numbers predicted for values < cut and for values >= cut
    weights: Floats  # (n_features, 2) the weights behind them
    table: Floats  # (n_cells,) the number predicted for each category
    table_weight: Floats  # (n_cells,)
    reach: Floats  # (n_features,) an error of this size counts as 1


@kernel
def _learn_mean(target: float, weight: float, place: int, means: Floats, weights: Floats) -> None:
    weights[place] += weight
    means[place] += (target - means[place]) * (weight / weights[place])


@kernel
def mark_number_errors(
    X: NDArray[Any], given: Floats, span: Span, features: Ints, first_unit: int, stumps: FrozenNumbers, left: Floats,
    errors: Floats,
) -> None:  # fmt: skip
    """Lead the rows of the span through the units from `first_unit` on, which predict each row and then learn it.

    left[u, i - span.first] is what row i has left of its target before unit u, and left[u + 1, ...] behind it, which is
    the error; errors[u, i - span.first] is its size over the reach of the unit, and at most 1. given[i] is the weight.
    """
    for i in range(span.begin, span.end):
        column = i - span.first
        for u in range(first_unit, features.size):
            j = features[u]
            target, x, reach = left[u, column], X[i, j], stumps.reach[j]
            if stumps.cell[j] == NUMERIC:
                place, means, weights = int(x >= stumps.cut[j]), stumps.means[j], stumps.weights[j]
            else:
                place, means, weights = int(stumps.cell[j] + np.int64(x)), stumps.table, stumps.table_weight
            rest = target - means[place]
            left[u + 1, column] = rest
            errors[u, column] = abs(rest) / reach if abs(rest) < reach else np.sign(abs(rest))
            _learn_mean(target, given[i], place, means, weights)


@kernel
def _slot(index: float) -> int:
    """Where a bin lies: index mod N_BINS, exact for every float that is a whole number."""
    return int(index - N_BINS * np.floor(index / N_BINS))


@kernel
def _coarsen(k: int, factor: float, into: CollectedNumbers) -> None:
    """Make the bins of a column 1 / factor times as wide."""
    weight, total = into.bin_weight[k].copy(), into.bin_sum[k].copy()
    into.bin_weight[k] = 0.0
    into.bin_sum[k] = 0.0
    for step in range(int(into.highest[k] - into.lowest[k]) + 1):
        index = into.lowest[k] + step
        old, new = _slot(index), _slot(np.floor(index * factor))
        into.bin_weight[k, new] += weight[old]
        into.bin_sum[k, new] += total[old]
    into.width[k] /= factor


@kernel
def _place(x: float, k: int, into: CollectedNumbers) -> int:
    """The place of a value among the bins of numeric column k, which become wider where it needs be."""
    if into.highest[k] < into.lowest[k]:  # the first value: as fine as it is itself
        into.width[k] = FINEST if x == 0.0 else max(math.ldexp(1.0, math.frexp(x)[1] - 53), FINEST)
        into.lowest[k] = into.highest[k] = np.floor(x / into.width[k])
        return _slot(into.lowest[k])
    index = np.floor(x / into.width[k])
    low, high, factor = min(index, into.lowest[k]), max(index, into.highest[k]), 1.0
    while high - low >= N_BINS:
        low, high, factor = np.floor(0.5 * low), np.floor(0.5 * high), 0.5 * factor
    if factor < 1.0:
        _coarsen(k, factor, into)
    into.lowest[k], into.highest[k] = low, high
    return _slot(np.floor(index * factor))


@kernel
def _collect(row: NDArray[Any], left: float, weight: float, layout: Layout, into: CollectedNumbers) -> None:
    """Add one row, of whose target `left` is left."""
    target, before = into.target, into.weights[SEEN]
    if before == 0.0:
        target[ANCHOR] = target[MEAN] = left
    gap = left - target[MEAN]
    target[MEAN] += gap * (weight / (before + weight))
    target[M2] += weight * gap * (left - target[MEAN])
    value = weight * (left - target[ANCHOR])
    for k in range(layout.numeric.size):
        place = _place(float(row[layout.numeric[k]]), k, into)
        into.bin_weight[k, place] += weight
        into.bin_sum[k, place] += value
    for k in range(layout.categorical.size):
        cell = layout.start[k] + np.int64(row[layout.categorical[k]])
        into.cell_weight[cell] += weight
        into.cell_sum[cell] += value
    into.weights[SEEN] = before + weight


@kernel
def collect_rows(
    X: NDArray[Any], left: Floats, given: Floats, span: Span, errors: Floats, alarm: Ints, track: Track, layout: Layout,
    into: CollectedNumbers, grace_period: float,
) -> tuple[int, int]:  # fmt: skip
    """Lead the rows of a span past all units and into the candidate, up to the first event.

    As `boost_rows` of kernels/stump.py: given[i] is the weight of row i, alarm[u] the column of `errors` at which the
    detector of unit u flags a drift; left[i - span.first] is what the units have left of the target of row i. A unit is
    wrong with the share of the weight that its error says.
    """
    for i in range(span.begin, span.end):
        column = i - span.first
        for u in range(alarm.size):
            track.correct[u] += given[i] * (1.0 - errors[u, column])
            track.wrong[u] += given[i] * errors[u, column]
            if alarm[u] == column:
                return i, u
        _collect(X[i], left[column], given[i], layout, into)
        if into.weights[SEEN] - into.weights[TESTED] >= grace_period:
            into.weights[TESTED] = into.weights[SEEN]
            return i, TEST_DUE
    return span.end, NO_EVENT


@kernel
def score_bins(numeric: Ints, is_open: Bools, collected: CollectedNumbers, merits: Floats, cuts: Floats) -> None:
    """merits[j] and cuts[j]: the best of the ends of bins of each numeric column that is open; the first if equal."""
    whole, spread = collected.weights[SEEN], collected.target[M2]
    for k in range(numeric.size):
        j = numeric[k]
        if not is_open[j] or not spread > 0.0:
            continue
        total = collected.bin_sum[k].sum()
        weight, below = 0.0, 0.0
        for step in range(int(collected.highest[k] - collected.lowest[k])):
            index = collected.lowest[k] + step
            weight += collected.bin_weight[k, _slot(index)]
            below += collected.bin_sum[k, _slot(index)]
            rest = whole - weight
            if min(weight, rest) <= SMALLEST_BRANCH * whole:
                continue
            gap = below / weight - (total - below) / rest
            merit = min(weight * (rest / whole) * gap * gap / spread, 1.0)
            if merit > merits[j]:
                merits[j], cuts[j] = merit, (index + 1.0) * collected.width[k]


@kernel
def score_cells(categorical: Ints, start: Ints, is_open: Bools, collected: CollectedNumbers, merits: Floats) -> None:
    """merits[j] of each categorical column that is open, split into one branch per category."""
    whole, spread = collected.weights[SEEN], collected.target[M2]
    for k in range(categorical.size):
        j = categorical[k]
        if not is_open[j] or not spread > 0.0:
            continue
        n_large, mean, between = np.int64(0), 0.0, 0.0
        for v in range(start[k], start[k + 1]):
            mean += collected.cell_sum[v] / whole
        for v in range(start[k], start[k + 1]):
            weight = collected.cell_weight[v]
            if weight > 0.0:
                gap = collected.cell_sum[v] / weight - mean
                between += weight * gap * gap
                n_large += np.int64(weight > SMALLEST_BRANCH * whole)
        if n_large >= 2:
            merits[j] = min(between / spread, 1.0)


@kernel
def _mean_of(weight: float, total: float, collected: CollectedNumbers) -> float:
    """The mean target of a branch, that of all rows where the branch is empty."""
    mean = collected.target[MEAN] if weight <= 0.0 else collected.target[ANCHOR] + total / weight
    return float(min(max(mean, -LARGEST_MEAN), LARGEST_MEAN))


@kernel
def freeze_halves(k: int, cut: float, collected: CollectedNumbers, means: Floats, weights: Floats) -> None:
    """The mean targets below a cut of numeric column k and from it on, and the weights behind them."""
    total = np.zeros(2)
    weights[:] = 0.0
    for step in range(int(collected.highest[k] - collected.lowest[k]) + 1):
        index = collected.lowest[k] + step
        side = int(index * collected.width[k] >= cut)
        weights[side] += collected.bin_weight[k, _slot(index)]
        total[side] += collected.bin_sum[k, _slot(index)]
    for side in range(2):
        means[side] = _mean_of(weights[side], total[side], collected)


@kernel
def freeze_cells(begin: int, end: int, collected: CollectedNumbers, table: Floats, weights: Floats) -> None:
    """The mean target of each category, from cell `begin` to `end`, and the weight behind it."""
    for v in range(begin, end):
        weights[v] = collected.cell_weight[v]
        table[v] = _mean_of(weights[v], collected.cell_sum[v], collected)
