"""What FIRES makes of a batch before the model sees it: row weights, classes of the model, factors of the scaling."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import CheckedBatch, refuse_not_finite
from streamsift.kernels.fires import range_factors

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def without_weightless_rows(batch: CheckedBatch) -> CheckedBatch:
    """The batch without its rows of weight 0."""
    if batch.weight is None or batch.weight.all():
        return batch
    refuse_not_finite(batch, nan_allowed=batch.has_absent)  # also in the rows that are left out
    kept = np.flatnonzero(batch.weight)
    X = batch.X[kept]
    if not batch.sparse:
        X.flags.writeable = False
    return replace(batch, X=X, codes=batch.codes[kept], weight=batch.weight[kept])


def assign_slots(slots: Ints, codes: Ints, n_labels: int, *, only_seen: bool) -> Ints:
    """Give labels a class of the model: in the order they are seen, or all that are known at once."""
    if len(slots) == n_labels and slots.min(initial=0) >= 0:
        return slots
    result = np.full(n_labels, -1, np.int64)
    result[: len(slots)] = slots
    if only_seen:
        distinct, first = np.unique(codes, return_index=True)
        order = distinct[np.argsort(first)]
    else:
        order = np.arange(n_labels)
    new = order[result[order] < 0]
    result[new] = result.max(initial=-1) + 1 + np.arange(len(new))
    return result


def range_factor(low: Floats, high: Floats) -> Floats:
    """1 / (high - low), or 0 where a feature is constant."""
    factor = np.empty_like(low)
    range_factors(low, high, factor)
    return factor
