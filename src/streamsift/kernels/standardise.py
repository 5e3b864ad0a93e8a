"""Kernels of running standardisation: weight, mean and centred second moment of each feature, row by row.

Row by row (Welford), so that the cut into batches does not matter and a feature that is constant keeps a second moment
of exactly 0. Values are at most 1e150 (their squares must not overflow); the caller has seen to it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
def add_rows(X: NDArray[Any], weight: Floats, moments: Floats) -> None:
    """Add the rows of X, which count with `weight`, to the moments (weight, mean, m2; each a row)."""
    total, mean, m2 = moments[0], moments[1], moments[2]
    for i in range(X.shape[0]):
        x, w = X[i], weight[i]
        for j in range(mean.size):
            total[j] += w
            away = x[j] - mean[j]
            mean[j] += away * (w / total[j])
            m2[j] += w * away * (x[j] - mean[j])


@kernel
def add_sparse_rows(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], weight: Floats, moments: Floats
) -> None:
    """Add the stored values of CSR rows to their moments."""
    for i in range(indptr.size - 1):
        w = weight[i]
        for k in range(indptr[i], indptr[i + 1]):
            j, x = indices[k], np.float64(data[k])
            moments[0, j] += w
            away = x - moments[1, j]
            moments[1, j] += away * (w / moments[0, j])
            moments[2, j] += w * away * (x - moments[1, j])


@kernel
def with_zeros(moments: Floats, total: float, whole: Floats) -> None:
    """Moments of all values from those of the stored ones, where the rest of `total` are zeros."""
    for j in range(moments.shape[1]):
        stored, mean = moments[0, j], moments[1, j]
        zeros = total - stored
        zeros = zeros if zeros > 1e-12 * total else 0.0  # less is the rounding of two sums
        share = stored / (stored + zeros) if stored > 0.0 else 0.0
        whole[0, j] = stored + zeros
        whole[1, j] = mean * share
        whole[2, j] = moments[2, j] + mean * mean * (zeros * share)


@kernel
def inverse_deviations(moments: Floats, factor: Floats) -> None:
    """1 / standard deviation, or 0 for a feature that is constant."""
    for j in range(factor.size):
        value = math.sqrt(moments[2, j] / moments[0, j]) if moments[0, j] > 0.0 else 0.0
        factor[j] = 1.0 / value if value > 0.0 else 0.0


@kernel
def standardise(X: NDArray[Any], mean: Floats, factor: Floats, largest: float, out: NDArray[Any]) -> None:
    """(x - mean) * factor, cut to [-largest, largest]."""
    for i in range(X.shape[0]):
        for j in range(mean.size):
            z = (X[i, j] - mean[j]) * factor[j]
            z = z if z < largest else largest
            out[i, j] = z if z > -largest else -largest
