"""Categories: the vocabulary of one column, growing as values appear."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

MOST_CATEGORIES = 1_000_000  # a column with more distinct texts is an identifier, and would fill the memory


class Categories:
    """The values of a column in the order of their codes 0, 1, 2, ...

    A new value takes the next code, so codes follow the order of first appearance, whatever the batch size.
    Values declared beforehand come first; a closed vocabulary takes no others, an open one `most` values in all.

    >>> colours = Categories()
    >>> colours.encode(["red", "blue", "red"]).tolist(), colours.values
    ([0.0, 1.0, 0.0], ('red', 'blue'))
    """

    def __init__(self, declared: Iterable[str] = (), *, closed: bool = False, most: int = MOST_CATEGORIES) -> None:
        self._codes = {value: code for code, value in enumerate(dict.fromkeys(declared))}
        self.closed = closed
        self.most = most

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(self._codes)

    def refused(self, values: Iterable[str]) -> str | None:
        """The first value that cannot have a code: unknown to a closed vocabulary, or one too many."""
        if not self.closed and len(self._codes) < self.most:
            return None
        return next((value for value in values if value not in self._codes), None)

    def encode(self, values: Iterable[str]) -> NDArray[np.float64]:
        """The code of each value; new ones are added."""
        codes = self._codes
        return np.array([codes.setdefault(value, len(codes)) for value in values], np.float64)
