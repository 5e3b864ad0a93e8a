"""How large a number may be: the limits of each dtype, for rows and columns alike.

numpy turns a Python float into the dtype of the array it is compared with, and 1e150 as float32 is infinity, so that
`x <= 1e150` lets an infinite x pass. Every comparison with LARGEST outside compiled code is made here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = 1e150  # squares of larger values overflow
SMALLEST = 1e-150  # squares of smaller differences vanish: values that are closer count as equal


def largest(dtype: np.dtype[Any]) -> Any:
    """The largest value allowed, as a number of the dtype itself.

    >>> float(largest(np.dtype(np.float64))), bool(np.isfinite(largest(np.dtype(np.float32))))
    (1e+150, True)
    """
    return dtype.type(min(LARGEST, float(np.finfo(dtype).max)))


def beyond(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values of a float array are NaN, infinite or too large.

    >>> beyond(np.array([1.0, np.inf, np.nan, -3e38], np.float32)).tolist()
    [False, True, True, False]
    """
    with np.errstate(invalid="ignore"):
        mask: NDArray[np.bool_] = ~(np.abs(values) <= largest(values.dtype))  # NaN fails every comparison
    return mask


def all_moderate(values: NDArray[Any]) -> bool:
    """Whether no value of a float array is NaN, infinite or too large; faster than `beyond`.

    >>> all_moderate(np.array([1.0, 2.0], np.float32)), all_moderate(np.array([np.inf], np.float32))
    (True, False)
    """
    with np.errstate(invalid="ignore"):
        return values.size == 0 or bool(np.abs(values).max() <= largest(values.dtype))
