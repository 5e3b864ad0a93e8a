"""Labels that arrive late: rows wait until their labels are here."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch
from streamsift.streams.stream import recut

Targets = NDArray[Any]  # codes of classes, or numbers


class LabelDelay:
    """Gives back each row with its label once `n_rows` more rows have come.

    >>> delay = LabelDelay(3)
    >>> batches = [Batch(np.arange(k, k + 2.0)[:, None], np.zeros(2)) for k in (0, 2, 4)]
    >>> late = [delay.exchange(batch, np.zeros(2, int)) for batch in batches]
    >>> [None if one is None else one[0].X[:, 0].tolist() for one in late]
    [None, [0.0], [1.0, 2.0]]
    """

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows
        self._waiting: deque[tuple[Batch, Targets]] = deque()
        self._n_waiting = 0

    def exchange(self, batch: Batch, codes: Targets) -> tuple[Batch, Targets] | None:
        """Take rows that have come and return, as one batch, those whose labels have come; None if there are none."""
        if self.n_rows == 0:
            return batch, codes
        self._waiting.append((batch, codes))
        self._n_waiting += batch.n_rows
        due = self._n_waiting - self.n_rows
        if due <= 0:
            return None
        self._n_waiting -= due
        pieces, labels, left = [], [], due
        while left:
            oldest, its_codes = self._waiting.popleft()
            n_taken = min(left, oldest.n_rows)
            pieces.append(oldest.rows(slice(n_taken)))
            labels.append(its_codes[:n_taken])
            if n_taken < oldest.n_rows:
                self._waiting.appendleft((oldest.rows(slice(n_taken, None)), its_codes[n_taken:]))
            left -= n_taken
        return next(recut(pieces, due)), np.concatenate(labels)
