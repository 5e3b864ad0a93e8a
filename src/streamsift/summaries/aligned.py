"""Arrays that start on a cache line: vectors that straddle two lines cost up to half as much again."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LINE = 64  # bytes


def aligned_empty(shape: int | tuple[int, ...], dtype: Any = np.float64) -> NDArray[Any]:
    """`numpy.empty` on a cache line.

    >>> aligned_empty((3, 2)).ctypes.data % 64
    0
    """
    n_bytes = math.prod(shape if isinstance(shape, tuple) else (shape,)) * np.dtype(dtype).itemsize
    raw = np.empty(n_bytes + _LINE, np.uint8)
    start = -raw.ctypes.data % _LINE
    aligned: NDArray[Any] = raw[start : start + n_bytes].view(dtype).reshape(shape)
    return aligned


def aligned_zeros(shape: int | tuple[int, ...]) -> NDArray[np.float64]:
    """`numpy.zeros` on a cache line."""
    array = aligned_empty(shape)
    array.fill(0.0)
    return array
