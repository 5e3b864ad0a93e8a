"""Fading: row i of n weighs fading^(n - i); the clock is global, every row ages all that came before it.

Old weights are not touched at every row. They are kept relative to a reference row, newer rows weigh more than 1,
and the whole is brought back to scale before the numbers grow too large.

Event time is another clock: the batch then says by how much all that came before has faded (`CheckedBatch.decay`) and
what its rows weigh (`CheckedBatch.weight`), and the summary itself does not fade (its `fading` is 1).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import CheckedBatch
from streamsift.core.exceptions import InputError
from streamsift.core.state import Within

Fading = Annotated[float, Within(5e-324, 1.0)]
Age = Annotated[int, Within(0)]

_MOST_KEPT = 1 << 16  # rows; weights of larger batches would hold memory that nobody needs again
HEAVIEST = 1e6  # the largest weight of a row: heavier ones could make the square of a large value overflow
LARGEST_LOG = 5.0  # weights stay below e^5, so that they do not make the square of a large value overflow


@lru_cache(maxsize=16)
def _ones(n: int) -> NDArray[np.float64]:
    """Kept, for most batches of a stream have the same number of rows; nobody may write to it."""
    return np.ones(n)


def row_weights(fading: float, n_rows: int) -> NDArray[np.float64]:
    """Weights of a batch's rows as seen at its end: 1 for the last, fading for the one before, and so on.

    >>> row_weights(0.5, 3).tolist()
    [0.25, 0.5, 1.0]
    """
    if fading == 1.0:
        return _ones(n_rows) if n_rows <= _MOST_KEPT else np.ones(n_rows)
    return np.power(fading, np.arange(n_rows - 1, -1, -1, dtype=np.float64))


def advance(fading: float, age: int, n_rows: int) -> tuple[float, float, int]:
    """Move the clock on by n_rows: (factor for all old weights, scale for new row weights, new age).

    True weight = kept weight * fading^age. Either nothing old is touched (factor 1, scale > 1), or everything is
    brought back to scale (scale 1).
    """
    if fading == 1.0:
        return 1.0, 1.0, 0
    if -(age + n_rows) * math.log(fading) <= LARGEST_LOG:
        return 1.0, fading ** -float(age + n_rows), age + n_rows
    return fading ** float(age + n_rows), 1.0, 0


def batch_weights(fading: float, batch: CheckedBatch) -> NDArray[np.float64]:
    """The weights of a batch's rows as seen at its end: what fading leaves of them, times their own."""
    weights = row_weights(fading, batch.n_rows)
    return weights if batch.weight is None else weights * batch.weight


def refuse_heavy_rows(batch: CheckedBatch) -> None:
    """Raise InputError for a row that is heavier than HEAVIEST."""
    if batch.weight is not None and batch.weight.max(initial=0.0) > HEAVIEST:
        row = int(np.argmax(batch.weight))
        raise InputError(
            f"Row {row} has the weight {batch.weight[row]:g}: weights are at most {HEAVIEST:g}, so divide all."
        )


def refuse_heavy_squares(batch: CheckedBatch, power: int = 2) -> None:
    """Raise InputError where sums of squares (or of higher powers) with these weights may overflow."""
    if batch.weight is None:
        return
    values = batch.X.data if batch.sparse else batch.X
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    if batch.target is not None:
        largest = max(largest, float(np.abs(batch.target).max()))
    if np.log10(max(batch.weight.sum(), 1.0)) + power * np.log10(max(largest, 1.0)) > 300.0:
        raise InputError(
            f"The weights add up to {batch.weight.sum():.3g}, beside values up to {largest:.3g}: sums overflow, so "
            "divide the weights by a common number."
        )


def weight_limit(fading: float, age: int, n_rows: int) -> float:
    """The largest weight that n_rows rows can have at such an age; 0 where there is no such age."""
    if age and (fading == 1.0 or -age * math.log(fading) > LARGEST_LOG + 1e-9):
        return 0.0
    return n_rows * HEAVIEST * math.pow(fading, -age) * (1.0 + 1e-9)
