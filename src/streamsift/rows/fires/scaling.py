"""Running standardisation: features by their mean and standard deviation so far, cut at 5 deviations.

The current batch counts before it is scaled, as the ranges of `scale="minmax"` do. Weights of rows count within their
batch only: a batch is a step of FIRES whatever its weights add up to.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.standardise import add_rows, add_sparse_rows, inverse_deviations, standardise, with_zeros

Floats = NDArray[np.float64]

LARGEST = 5.0  # standard deviations


def standardised(moments: Floats, X: NDArray[Any], weight: Floats | None, out: NDArray[Any]) -> Floats:
    """Write the scaled rows to `out`; return the moments (weight, mean, m2 of each feature) with these rows."""
    after = moments.copy()
    add_rows(X, _relative(weight, len(X)), after)
    factor = np.empty(X.shape[1])
    inverse_deviations(after, factor)
    standardise(X, after[1], factor, LARGEST, out)
    return after


def standardised_sparse(
    moments: Floats, total: float, X: Any, weight: Floats | None
) -> tuple[Floats, NDArray[Any], Floats]:
    """Moments of the stored values with these rows, the stored values scaled, and what a 0 becomes in each feature.

    `total` is the weight of all rows, these included.
    """
    after = moments.copy()
    add_sparse_rows(X.data, X.indices, X.indptr, _relative(weight, X.shape[0]), after)
    whole, factor = np.empty_like(after), np.empty(after.shape[1])
    with_zeros(after, total, whole)
    inverse_deviations(whole, factor)
    data = ((X.data - whole[1][X.indices]) * factor[X.indices]).clip(-LARGEST, LARGEST)
    return after, data, (-whole[1] * factor).clip(-LARGEST, LARGEST)


def _relative(weight: Floats | None, n_rows: int) -> Floats:
    """Weights with mean 1."""
    return np.ones(n_rows) if weight is None else weight / weight.mean()
