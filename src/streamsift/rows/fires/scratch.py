"""Arrays kept from batch to batch: memory touched for the first time costs more than what is computed in it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class ScratchArrays:
    """Named arrays of which each is made once and used again while its shape stays the same.

    Examples
    --------
    >>> scratch = ScratchArrays()
    >>> scratch.take("sums", (2, 3)) is scratch.take("sums", (2, 3))
    True
    """

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def take(self, name: str, shape: tuple[int, ...], dtype: Any = np.float64) -> NDArray[Any]:
        """The array of this name; what is in it is left from its last use."""
        array = self._arrays.get(name)
        if array is None or array.shape != shape or array.dtype != dtype:
            array = self._arrays[name] = np.empty(shape, dtype)
        return array
