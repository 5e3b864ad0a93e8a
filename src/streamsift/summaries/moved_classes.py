"""Classes under other codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def moved_classes(weights: Floats, codes: NDArray[np.int64], n_classes: int, axis: int) -> Floats:
    """The weights with class c of an axis moved to codes[c]; classes that move to the same code add up.

    >>> moved_classes(np.array([[1.0, 2.0, 4.0]]), np.array([2, 0, 2]), 3, axis=1).tolist()
    [[2.0, 0.0, 5.0]]
    """
    shape = list(weights.shape)
    shape[axis] = n_classes
    moved = np.zeros(shape)
    before, after = np.moveaxis(weights, axis, 0), np.moveaxis(moved, axis, 0)
    for weight, code in zip(before, codes, strict=False):  # fewer classes may be known than there are codes
        after[code] += weight
    return moved
