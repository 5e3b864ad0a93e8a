"""The values of a feature that a quantile summary keeps, with the class weights at each: what its bins are made of.

Nothing is merged and nothing changes: the list of the feature and the rows that still wait are put together here, for a
few features at a time, which is what explanations ask for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels import quantiles as kernels
from streamsift.summaries.fading import row_weights
from streamsift.summaries.quantiles import QuantileSummary
from streamsift.summaries.sparse_quantiles import SparseQuantileSummary

Floats = NDArray[np.float64]


def kept_values(summary: QuantileSummary | SparseQuantileSummary, feature: int) -> tuple[Floats, Floats]:
    """The values kept of a feature, rising, and the class weights (n_values, n_classes) at each, as they are now.

    >>> import numpy as np
    >>> from streamsift import Screener
    >>> selector = Screener().partial_fit(np.array([[2.0], [-1.0], [2.0]]), [0, 1, 1])
    >>> values, weights = kept_values(selector._state.numbers, 0)
    >>> values.tolist(), weights.tolist()
    ([-1.0, 2.0], [[0.0, 1.0], [1.0, 1.0]])
    """
    keys, weights = _dense(summary, feature) if isinstance(summary, QuantileSummary) else _sparse(summary, feature)
    distinct, places = np.unique(keys, return_inverse=True)
    summed = np.zeros((len(distinct), weights.shape[1]))
    np.add.at(summed, places, weights)
    return _numbers(distinct), summed


def _dense(summary: QuantileSummary, feature: int) -> tuple[NDArray[Any], Floats]:
    n, size, kind = summary.n_buffered, summary.sizes[feature], summary.buffer.dtype
    waiting = summary._buffered_keys()[:, feature]
    here = waiting != np.iinfo(kind).max  # the others are missing
    rows = np.zeros((n, summary.weights.shape[1]))
    rows[np.arange(n), summary.buffer_class[:n]] = row_weights(summary.fading, n)
    listed = summary.weights[feature, :, :size].T * summary.fading ** float(n)
    keys = np.concatenate([summary.lists[feature, kernels.KEY, :size].astype(kind), waiting[here]])
    return keys, np.concatenate([listed, rows[here]])


def _sparse(summary: SparseQuantileSummary, feature: int) -> tuple[NDArray[Any], Floats]:
    """The non-zeros, and the zeros as one value of what is left of each class."""
    start, lists, weights, touched, _ = summary._flushed(len(summary.entry_key))
    part = slice(start[feature], start[feature + 1])
    decay = float(summary.fading ** float(summary.n_rows - touched[feature]))
    others = weights[:, part].T * decay
    skipped = summary.skipped[:, feature] if summary.skipped.shape[1] else 0.0
    zeros = np.maximum(summary.class_weight - skipped - others.sum(axis=0), 0.0)
    keys = np.concatenate([lists[kernels.KEY, part], np.zeros(1, np.int64)])  # 0.0 has the key 0
    return keys, np.concatenate([others, zeros[None]])


def _numbers(keys: NDArray[Any]) -> Floats:
    """The numbers behind keys, which are the bits of floats in an order that integers have."""
    width = keys.dtype.itemsize * 8
    mask = keys.dtype.type(np.iinfo(keys.dtype).max)
    bits = keys ^ ((keys >> (width - 1)) & mask)
    return np.asarray(bits.view(np.float32 if width == 32 else np.float64), np.float64)
