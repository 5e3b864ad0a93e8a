"""Detection rate: the share of the true features that a selection contains (Eq. 23 of the screening paper)."""

from __future__ import annotations

from typing import Any

import numpy as np


def detection_rate(selected: Any, relevant: Any) -> float:
    """Return the share of the relevant features that are among the selected ones.

    Parameters
    ----------
    selected : array-like of int
        Indices of the selected features.
    relevant : array-like of int
        Indices of the true features, each once; at least one.

    Returns
    -------
    float
        A number from 0 (none found) to 1 (all found).

    Examples
    --------
    >>> from streamsift.metrics.detection import detection_rate
    >>> detection_rate([0, 1, 2, 7], [1, 2, 3, 4])
    0.5
    """
    return float(np.isin(relevant, selected).mean())
