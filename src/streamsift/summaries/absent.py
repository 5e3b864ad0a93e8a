"""Rows for methods in which a feature that is not there counts as 0: float64, dense or CSR."""

from __future__ import annotations

from typing import Any

import numpy as np

from streamsift.core.batch import CheckedBatch


def rows_with_zeros(batch: CheckedBatch) -> Any:
    """The rows of a batch as float64, with 0 for every feature the batch does not have."""
    if batch.sparse:
        return batch.X.astype(np.float64, copy=False)
    X = batch.X.astype(np.float64, copy=False)
    if batch.has_absent:
        X = np.nan_to_num(X, nan=0.0)
    # One array type for the kernels: a conversion above gives a writable copy.
    X = X.view()
    X.flags.writeable = False
    return X


def piece_of(X: Any, rows: slice) -> Any:
    """Some rows of X; all of them are X itself, since even a whole slice of a CSR matrix would be a copy."""
    return X if rows.stop - rows.start == X.shape[0] else X[rows]
