"""Nogueira stability of the latest selections, kept up to date: a step costs only as much as what was selected."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from streamsift.core.constraints import Integer, check_parameters

FEW = 40  # indices that a loop counts faster than NumPy does

Indices = NDArray[np.intp]


class WindowStability:
    """The stability of the last `window` sets of features.

    Parameters
    ----------
    window : int
        How many sets are compared, at least 2.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.metrics.window_stability import WindowStability
    >>> stability = WindowStability(window=2)
    >>> sets = [np.array([0, 1]), np.array([0, 1]), np.array([0, 2])]
    >>> [stability.add(selected, n_features=4) for selected in sets]
    [nan, 1.0, 0.0]
    """

    def __init__(self, window: int) -> None:
        check_parameters("WindowStability", {"window": window}, {"window": (Integer(2, None),)})
        self._window = window
        self._sets: deque[Indices] = deque()
        self._counts = np.zeros(0, np.int64)  # in how many sets of the window a feature is
        self._sum = self._sum_of_squares = 0  # of the counts

    def add(self, selected: Indices, n_features: int) -> float:
        """Add a set (distinct indices) and return the stability; NaN for a single set.

        Features may arrive late: they were in no set before.
        """
        if n_features > len(self._counts):
            self._counts = np.pad(self._counts, (0, n_features - len(self._counts)))
        leaving = self._sets.popleft() if len(self._sets) == self._window else None
        self._sets.append(selected)
        if leaving is not selected:  # the same object when nothing has changed
            self._count(selected, 1)
            if leaving is not None:
                self._count(leaving, -1)
        return self._value()

    def _count(self, selected: Indices, sign: int) -> None:
        if len(selected) < FEW:
            counts, before = self._counts.data, 0
            for index in selected.tolist():
                before += counts[index]
                counts[index] += sign
        else:
            before = int(self._counts[selected].sum())
            self._counts[selected] += sign
        self._sum += sign * len(selected)
        self._sum_of_squares += sign * 2 * before + len(selected)

    def _value(self) -> float:
        n_sets, n_features = len(self._sets), len(self._counts)
        if n_sets < 2:
            return float("nan")
        size = self._sum / n_sets / n_features
        chance = size * (1.0 - size)
        if chance == 0.0:  # nothing or everything is selected, always
            return 1.0
        # The sum over the features of share * (1 - share), where a share is a count over n_sets.
        spread = (self._sum * n_sets - self._sum_of_squares) / (n_sets * (n_sets - 1) * n_features)
        return 1.0 - spread / chance
