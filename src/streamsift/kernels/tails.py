"""Kernels of tails: weight, mean, centred square, skewness and kurtosis of each column of a batch.

Two passes: the mean first, then powers of the distances from it, in units of (twice) the largest distance from the
column's first value, so that no fourth power overflows:

    u = (x - mean) / unit     square = unit^2 sum w u^2     skewness = (sum w u^3 / W) / (sum w u^2 / W)^(3/2)
                                                            kurtosis = (sum w u^4 / W) / (sum w u^2 / W)^2

A value that is NaN is missing. A column without spread has skewness and kurtosis 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import fused_kernel, kernel

Floats = NDArray[np.float64]

WEIGHT, MEAN, SQUARE, SKEWNESS, KURTOSIS = 0, 1, 2, 3, 4  # the rows of `found`


@kernel
def _first_values(X: NDArray[Any], weights: Floats, first: Floats) -> None:
    """The first value of each column that is not missing, of a row that counts; 0 where there is none."""
    left = first.size
    first[:] = np.nan
    for i in range(X.shape[0]):
        if left == 0:
            return
        for j in range(first.size if weights[i] > 0.0 else 0):
            if first[j] != first[j] and X[i, j] == X[i, j]:
                first[j] = X[i, j]
                left -= 1
    for j in range(first.size):
        if first[j] != first[j]:
            first[j] = 0.0


@kernel
def _finish(unit: Floats, found: Floats) -> None:
    """Sums of powers become square, skewness and kurtosis."""
    for j in range(unit.size):
        weight, power = found[WEIGHT, j], found[SQUARE, j]
        spread = power / weight if weight > 0.0 else 0.0
        found[SQUARE, j] = power * unit[j] * unit[j]
        if spread > 0.0:
            found[SKEWNESS, j] = found[SKEWNESS, j] / weight / (spread * np.sqrt(spread))
            found[KURTOSIS, j] = found[KURTOSIS, j] / weight / (spread * spread)
        else:
            found[SKEWNESS, j] = 0.0
            found[KURTOSIS, j] = 0.0


@fused_kernel
def dense_tails(X: NDArray[Any], weights: Floats, found: Floats) -> None:
    """Those of rows, into `found` (5, n_columns)."""
    first, unit = np.empty(X.shape[1]), np.zeros(X.shape[1])
    _first_values(X, weights, first)
    found[:] = 0.0
    total, mean, squares, cubes, fourths = found[WEIGHT], found[MEAN], found[SQUARE], found[SKEWNESS], found[KURTOSIS]
    for i in range(X.shape[0]):
        row, w = X[i], weights[i]
        for j in range(first.size if w > 0.0 else 0):
            x = float(row[j])
            here = x == x
            d = x - first[j] if here else 0.0
            counted = w if here else 0.0
            total[j] += counted
            mean[j] += counted * d
            unit[j] = max(unit[j], abs(d))
    for j in range(first.size):
        mean[j] = mean[j] / total[j] if total[j] > 0.0 else 0.0  # from the first value, so that no digits are lost
        unit[j] = 2.0 * unit[j] if unit[j] > 0.0 else 1.0
    inverse = 1.0 / unit
    for i in range(X.shape[0]):
        row, w = X[i], weights[i]
        for j in range(first.size if w > 0.0 else 0):
            x = float(row[j])
            u = (x - first[j] - mean[j]) * inverse[j] if x == x else 0.0
            square = w * u * u
            squares[j] += square
            cubes[j] += square * u
            fourths[j] += square * u * u
    for j in range(first.size):
        mean[j] += first[j]
    _finish(unit, found)


@kernel
def sparse_tails(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    weights: Floats,
    whole: float,
    found: Floats,
) -> None:
    """Those of CSR rows that weigh `whole` together, into `found` (5, n_columns)."""
    n_columns = found.shape[1]
    unit, nonzero = np.zeros(n_columns), np.zeros(n_columns)
    found[:] = 0.0
    total, mean, squares, cubes, fourths = found[WEIGHT], found[MEAN], found[SQUARE], found[SKEWNESS], found[KURTOSIS]
    total[:] = whole
    for i in range(weights.size):
        for k in range(indptr[i], indptr[i + 1] if weights[i] > 0.0 else indptr[i]):
            x, j = float(data[k]), indices[k]
            if x == x:
                nonzero[j] += weights[i]
                mean[j] += weights[i] * x
                unit[j] = max(unit[j], abs(x))
            else:
                total[j] -= weights[i]
    for j in range(n_columns):
        if total[j] <= 1e-12 * whole:  # what is left is rounding: every value is missing
            total[j] = 0.0
        mean[j] = mean[j] / total[j] if total[j] > 0.0 else 0.0
        unit[j] = 2.0 * unit[j] if unit[j] > 0.0 else 1.0
    for i in range(weights.size):
        for k in range(indptr[i], indptr[i + 1] if weights[i] > 0.0 else indptr[i]):
            x, j = float(data[k]), indices[k]
            if x == x:
                u = (x - mean[j]) / unit[j]
                square = weights[i] * u * u
                squares[j] += square
                cubes[j] += square * u
                fourths[j] += square * u * u
    for j in range(n_columns):
        zeros, u = total[j] - nonzero[j], -mean[j] / unit[j]
        if zeros > 1e-12 * whole:
            squares[j] += zeros * u * u
            cubes[j] += zeros * u * u * u
            fourths[j] += zeros * u * u * u * u
    _finish(unit, found)
