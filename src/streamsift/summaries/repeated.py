"""Weights of rows for methods that learn row by row: a row of weight w is learnt w times in succession.

What is left of a weight that is not whole is learnt last, as a share of a row: the method says what that is, a shorter
step for example. So weights that are whole are repetitions exactly, and no heavy row takes a step so long that it
overshoots: between two repetitions the method looks again whether there is anything left to learn. A row of weight 0 is
left out before (core/batch.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import CheckedBatch
from streamsift.core.exceptions import InputError

MOST_COPIES = 1000.0  # the time a row takes grows with its weight
VALUES_AT_ONCE = 1 << 20  # values of repeated rows that are made at once


class Copies(NamedTuple):
    """Rows with their class codes, and the share of each that is learnt: 1, or less for the last copy of a row."""

    X: Any
    codes: NDArray[np.int64]
    share: NDArray[np.float64]


def refuse_too_many_copies(batch: CheckedBatch) -> None:
    """Raise InputError for a row that would have to be learnt too often."""
    if batch.weight is not None and batch.weight.max(initial=0.0) > MOST_COPIES:
        row = int(np.argmax(batch.weight))
        raise InputError(
            f"Row {row} has the weight {batch.weight[row]:g}, but a row is learnt as often as its weight says, at most "
            f"{MOST_COPIES:g} times: divide all weights."
        )


def repeated(X: Any, batch: CheckedBatch) -> Iterator[Copies]:
    """The rows X of a batch, each as often as its weight says, in pieces of bounded size.

    >>> weight = np.array([1.0, 2.5])
    >>> batch = CheckedBatch(np.eye(2), np.array([0, 1]), features=None, labels=None, first_row=0, weight=weight)
    >>> [(copies.codes.tolist(), copies.share.tolist()) for copies in repeated(batch.X, batch)]
    [([0, 1, 1, 1], [1.0, 1.0, 1.0, 0.5])]
    """
    if batch.weight is None:
        yield Copies(X, batch.codes, np.ones(batch.n_rows))
        return
    times = np.ceil(batch.weight).astype(np.int64)
    ends = np.cumsum(times)
    share = np.ones(ends[-1])
    share[ends - 1] = batch.weight - (times - 1)
    row = np.repeat(np.arange(batch.n_rows), times)
    step = max(VALUES_AT_ONCE // X.shape[1], 1)
    for start in range(0, len(row), step):
        here = row[start : start + step]
        yield Copies(X[here], batch.codes[here], share[start : start + step])
