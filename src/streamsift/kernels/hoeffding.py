"""Kernels of the leaves of a Hoeffding tree: naive Bayes, what a row adds to them, and their best split.

The naive Bayes of boosting (`joint_logs`) keeps the same arrays.

A leaf knows each column by class. `moments[:, label, column]` is the WEIGHT of the rows and, of a number, their MEAN,
the centred sum of their squares M2 (Welford), their extremes LOW and HIGH, and their normal density in two words, so
that a prediction needs no logarithm per number:

    log density of v  =  (v - MEAN)^2 / SCALE + LEVEL,      SCALE = -2 variance,  LEVEL = -log(2 pi variance) / 2

Where there is no density yet, SCALE is -inf and LEVEL 0, so that the column says nothing. Of a category the weight of
every value is kept: `cells[label, columns[FIRST_CELL, column] + value]`, for columns[N_VALUES, column] values; a column
is a number where its first cell is NUMERIC. Plain arrays, because a tree calls these kernels row by row, and a tuple of
arrays costs more at the border to Python than the work behind it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Moments = NDArray[np.float64]  # three axes

WEIGHT, MEAN, M2, LOW, HIGH, SCALE, LEVEL = range(7)  # of moments
EMPTY = (0.0, 0.0, 0.0, math.inf, -math.inf, -math.inf, 0.0)  # what they are before the first row
FIRST_CELL, N_VALUES = 0, 1  # of columns
NUMERIC = -1  # instead of a cell
NO_SPLIT, BELOW, EACH_VALUE, ONE_VALUE = 0, 1, 2, 3  # kinds of splits
N_CUTS = 10  # that are tried between the extremes of a number
LEAST_DENSITY = 1e-9  # of the naive Bayes of boosting
LEAST_SHARE = 0.01  # of the weight: at least two branches must have more
HALF_LOG_TAU = 0.5 * math.log(math.tau)


class Split(NamedTuple):
    """The best split of a leaf, and the merit of the second best column."""

    kind: int
    column: int
    value: float
    merit: float
    second: float


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


@kernel
def _log_sum(values: Floats) -> float:
    """The entropy of weights, times their sum: sum * log2(sum) - sum of w * log2(w)."""
    found, total = 0.0, 0.0
    for value in values:
        if value > 0.0:
            found -= value * math.log2(value)
            total += value
    return found + total * math.log2(total) if total > 0.0 else 0.0


@kernel
def _part(moments: Moments, column: int, cut: float, below: Floats, above: Floats) -> None:
    """The weights of each class below and above a cut of a number, by its normal distribution."""
    for label in range(len(below)):
        weight = moments[WEIGHT, label, column]
        if weight == 0.0 or cut < moments[LOW, label, column]:
            share = 0.0
        elif cut >= moments[HIGH, label, column]:
            share = 1.0
        else:
            deviation = math.sqrt(moments[M2, label, column] / (weight - 1.0))
            share = 0.5 * (1.0 + math.erf((cut - moments[MEAN, label, column]) / deviation / math.sqrt(2.0)))
        below[label] = share * weight
        above[label] = weight - below[label]


@kernel
def _merit_of_two(entropy: float, one: Floats, other: Floats) -> float:
    """What a split in two tells about the class: entropy before minus entropy after; -inf if one of them is tiny."""
    first, second = float(one.sum()), float(other.sum())
    total = first + second
    if not (first / total > LEAST_SHARE and second / total > LEAST_SHARE):
        return -math.inf
    return entropy - (_log_sum(one) + _log_sum(other)) / total


@kernel
def _merit_of_all(entropy: float, cells: Floats) -> float:
    """The same for a branch per value of a category."""
    total, after, n_large = cells.sum(), 0.0, 0
    for value in range(cells.shape[1]):
        after += _log_sum(cells[:, value])
        n_large += cells[:, value].sum() / total > LEAST_SHARE
    return entropy - after / total if n_large > 1 else -math.inf


@kernel
def _best_cut(entropy: float, moments: Moments, column: int, below: Floats, above: Floats) -> tuple[float, float]:
    """The merit of the best cut of a number, and the cut; -inf if there is none."""
    lowest, highest = moments[LOW, :, column].min(), moments[HIGH, :, column].max()
    best, cut_at = -math.inf, 0.0
    for step in range(1, N_CUTS + 1):
        cut = lowest + (highest - lowest) / (N_CUTS + 1.0) * step
        if lowest < cut < highest:
            _part(moments, column, cut, below, above)
            merit = _merit_of_two(entropy, below, above)
            if merit > best:
                best, cut_at = merit, cut
    return best, cut_at


@kernel
def _best_value(entropy: float, cells: Floats, one: Floats, rest: Floats) -> tuple[float, int]:
    """The merit of the best split of a category in one value and all others, and the value; -inf if there is none."""
    best, at = -math.inf, 0
    for value in range(cells.shape[1]):
        for label in range(len(one)):
            one[label] = cells[label, value]
            rest[label] = cells[label].sum() - one[label]
        if one.sum() > 0.0:
            merit = _merit_of_two(entropy, one, rest)
            if merit > best:
                best, at = merit, value
    return best, at


@kernel
def best_split(weights: Floats, columns: Ints, moments: Moments, cells: Floats) -> Split:
    """The best split by information gain; `weights` are those of the classes in the leaf.

    Of equals the last column wins, and of its splits the first. A category is split in all of its values, unless one
    value against the others tells more.
    """
    _, n_classes, n_columns = moments.shape
    entropy = _log_sum(weights) / weights.sum()
    one, other = np.empty(n_classes), np.empty(n_classes)
    best = Split(NO_SPLIT, 0, 0.0, -math.inf, -math.inf)
    for column in range(n_columns):
        if moments[WEIGHT, :, column].sum() == 0.0:
            continue
        cell = columns[FIRST_CELL, column]
        if cell == NUMERIC:
            merit, value = _best_cut(entropy, moments, column, one, other)
            kind = BELOW if merit > -math.inf else NO_SPLIT
        else:
            own = cells[:, cell : cell + columns[N_VALUES, column]]
            merit, value, kind = _merit_of_all(entropy, own), 0.0, EACH_VALUE
            single, at = _best_value(entropy, own, one, other)
            if single > merit:
                merit, value, kind = single, float(at), ONE_VALUE
        if merit >= best.merit:
            best = Split(kind, column, value, merit, best.merit)
        elif merit > best.second:
            best = Split(best.kind, best.column, best.value, best.merit, merit)
    return best


@kernel
def parts(moments: Moments, column: int, cut: float) -> tuple[Floats, Floats]:
    """The weights of each class below and above a cut of a number."""
    below, above = np.empty(moments.shape[1]), np.empty(moments.shape[1])
    _part(moments, column, cut, below, above)
    return below, above
