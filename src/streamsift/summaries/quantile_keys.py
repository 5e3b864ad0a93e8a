"""Keys of float32 values (integers in the same order) as the keys of the float64 values they equal."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def double_keys(keys: NDArray[Any]) -> NDArray[np.int64]:
    """The key of a missing value stays that of a missing value."""
    single = (keys ^ ((keys >> 31) & np.int32(0x7FFFFFFF))).view(np.float32)
    with np.errstate(invalid="ignore"):  # the key of a missing value, and slots not in use, may be any bits
        bits = single.astype(np.float64).view(np.int64)
    double = bits ^ ((bits >> 63) & np.int64(0x7FFFFFFFFFFFFFFF))
    return np.where(keys == np.iinfo(np.int32).max, np.iinfo(np.int64).max, double)
