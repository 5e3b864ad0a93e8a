"""Kernels of Hoeffding trees: the best split of a leaf, from what kernels/hoeffding.py has kept of its rows."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel
from streamsift.kernels.hoeffding import (
    BELOW,
    EACH_VALUE,
    FIRST_CELL,
    HIGH,
    LOW,
    M2,
    MEAN,
    N_VALUES,
    NO_SPLIT,
    NUMERIC,
    ONE_VALUE,
    WEIGHT,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Moments = NDArray[np.float64]  # three axes

N_CUTS = 10  # that are tried between the extremes of a number
LEAST_SHARE = 0.01  # of the weight: at least two branches must have more


class Split(NamedTuple):
    """The best split of a leaf, and the merit of the second best column."""

    kind: int
    column: int
    value: float
    merit: float
    second: float


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
    totals = np.empty(len(one))
    for label in range(len(one)):
        totals[label] = cells[label].sum()
    for value in range(cells.shape[1]):
        one[:] = cells[:, value]
        if one.sum() > 0.0:
            rest[:] = totals - one
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
