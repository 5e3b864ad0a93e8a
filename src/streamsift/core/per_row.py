"""One number for each row of a batch, beside its features: its weight, and the number to explain."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import InputError
from streamsift.core.limits import LARGEST
from streamsift.core.vocabulary import from_column

LARGEST_WEIGHT = 1e290  # beyond it the sum of the weights of a batch may overflow: only their ratios matter


def weights_as_floats(weight: Any) -> NDArray[np.float64]:
    """A copy of the weights as floats; how many there are, and how large, is not looked at."""
    try:
        return np.array(weight, np.float64, order="C")
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError("sample_weight holds something that is no number: give one weight for each row.") from error


def check_weight(weight: Any, n_rows: int) -> NDArray[np.float64]:
    """The weights of the rows as an array, refused unless there is one finite, non-negative number for each row."""
    values = weights_as_floats(weight)
    if values.shape != (n_rows,):
        raise InputError(
            f"sample_weight has the shape {values.shape} but X has {n_rows} rows: give one weight for each row."
        )
    bad = ~(np.isfinite(values) & (values >= 0.0))
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"Row {row} has the weight {values[row]}: weights must be finite and not negative.")
    largest = values.max(initial=0.0)
    return values / largest if largest > LARGEST_WEIGHT else values


def check_target(y: Any, n_rows: int, kept: NDArray[np.intp] | None = None) -> NDArray[np.float64]:
    """The numbers to explain as an array, refused unless there is one finite number for each row.

    `kept` says which rows of those given they belong to.
    """
    given = y if type(y) is np.ndarray else from_column(y)
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim != 1 or len(given) != n_rows:
        raise InputError(f"X has {n_rows} rows but y has the shape {given.shape}: give one number per row.")
    try:
        values = np.array(given, np.float64)
    except (TypeError, ValueError) as error:
        row, value = next((row, value) for row, value in enumerate(given.tolist()) if not _is_number(value))
        row = row if kept is None else int(kept[row])
        raise InputError(
            f"Row {row} has the target {value!r}, which is not a number: set task='classification' to select features "
            "for classes, or give numbers."
        ) from error
    bad = ~(np.abs(values) <= LARGEST)
    if bad.any():
        place = int(np.argmax(bad))
        row = place if kept is None else int(kept[place])
        raise InputError(f"Row {row} has no target within {LARGEST:g} (y is {values[place]}): drop it or rescale y.")
    return values


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
