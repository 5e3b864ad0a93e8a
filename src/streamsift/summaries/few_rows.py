"""Few rows are counted in bins here rather than by kernels, which take seconds to compile."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.summaries.fading import row_weights

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def count_few(keys: NDArray[Any], codes: Ints, fading: float, bins: Floats) -> None:
    """Count few rows in bins (n_features, n_bins, n_classes), as the kernels do: the first result need not wait.

    The bin of a value below which r of the n rows lie is #{h >= 1 : round(h n / n_bins) <= r}.
    """
    n_features, n_bins, n_classes = bins.shape
    if not len(keys):
        return
    order = np.argsort(keys, axis=0)
    ordered, rows = np.take_along_axis(keys, order, axis=0), np.arange(len(keys))[:, None]
    is_new = np.vstack([np.ones((1, n_features), bool), ordered[1:] != ordered[:-1]])
    below = np.maximum.accumulate(np.where(is_new, rows, 0), axis=0)
    present = ordered != np.iinfo(keys.dtype).max
    n = present.sum(axis=0)
    place = np.zeros(keys.shape, np.int64)
    for h in range(1, n_bins):
        place += (2 * h * n + n_bins) // (2 * n_bins) <= below
    place = (np.arange(n_features) * n_bins + place) * n_classes + codes[order]
    weights = row_weights(fading, len(keys))[order]
    bins += np.bincount(place[present], weights[present], bins.size).reshape(bins.shape)
