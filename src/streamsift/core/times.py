"""Times: dates as seconds, and when the rows of a batch happened (event time)."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.categories import ColumnKinds
from streamsift.core.exceptions import InputError, near_misses
from streamsift.core.vocabulary import from_column

Floats = NDArray[np.float64]
SMALLEST_WEIGHT = 1e-200  # of a row that comes very late: it still counts as a row


def _unit(unit: str) -> Any:
    return "s" if unit == "generic" else unit


def seconds(times: NDArray[Any]) -> NDArray[np.float64]:
    """Dates as seconds since 1970-01-01 UTC and durations as seconds, as everywhere; NaT is NaN.

    >>> seconds(np.array(["1970-01-02"], "M8[D]"))
    array([86400.])
    """
    kind, (unit, count) = times.dtype.kind, np.datetime_data(times.dtype)
    if unit in ("Y", "M"):
        if kind == "m":
            raise InputError("A duration in months or years has no length in seconds: give it in days.")
        times, unit, count = times.astype("M8[s]"), "s", 1
    ticks = np.where(np.isnat(times), np.nan, times.astype(np.int64).astype(np.float64))
    step, second = np.timedelta64(count, _unit(unit)), np.timedelta64(1, "s")
    # A fraction of a second is divided by: 1e9 is exact where 1e-9 is not.
    return np.asarray(ticks * (step / second) if step >= second else ticks / (second / step), np.float64)


def check_times(time: Any, n_rows: int) -> Floats:
    """When each row happened, in seconds: numbers are seconds, dates are counted from 1970-01-01 UTC.

    >>> check_times([0, 60.5], 2).tolist(), check_times(np.array(["1970-01-02"], "M8[D]"), 1).tolist()
    ([0.0, 60.5], [86400.0])
    """
    values = from_column(time) if hasattr(time, "__len__") else np.asarray([time])
    if values.shape != (n_rows,):
        raise InputError(f"There are {values.size} times for {n_rows} rows: give one time for each row.")
    if values.dtype.kind in "Mm":
        found = seconds(values)
    elif values.dtype.kind in "iuf":
        found = values.astype(np.float64)
    else:
        found = np.array([_second(value, row) for row, value in enumerate(values.tolist())], np.float64)
    _refuse_gaps(found)
    return found


def take_out_times(
    name: str, matrix: Any, names: tuple[str, ...] | None, kinds: ColumnKinds | None, categorical: Any
) -> tuple[Floats, Any, tuple[str, ...] | None, ColumnKinds | None, Any]:
    """Take the column with the times out of a batch: (times, matrix, names, kinds, mask of categories)."""
    if names is None:
        raise InputError(f"X has no column names, so there is no column {name!r}: give the times to partial_fit.")
    if name not in names:
        raise InputError(f"X has no column {name!r} with the times. {near_misses(name, names)}")
    place = names.index(name)
    if (kinds is not None and place in kinds.names) or len(names) == 1:
        what = "holds text" if len(names) > 1 else "is the only one"
        raise InputError(f"Column {name!r} of X {what}: the times of rows are dates or numbers, beside the features.")
    times = matrix[:, place]
    times = np.asarray(times.toarray() if hasattr(times, "toarray") else times, np.float64).reshape(-1)
    _refuse_gaps(times)
    left = np.delete(np.arange(len(names)), place)
    matrix = matrix[:, left]
    if isinstance(matrix, np.ndarray):
        matrix = np.ascontiguousarray(matrix)
        matrix.flags.writeable = False
    if kinds is not None:
        moved = {at - (at > place): kinds.names[at] for at in kinds.names}
        kinds = ColumnKinds(moved, tuple(at - (at > place) for at in kinds.undecided if at != place))
    mask = None if categorical is None else np.asarray(categorical)[left]
    return times, matrix, names[:place] + names[place + 1 :], kinds, mask


def faded_weights(times: Floats, now: float, half_life: float) -> Floats:
    """The weight of each row at a moment: half for each half-life that has gone by since.

    >>> faded_weights(np.array([0.0, 60.0, 120.0]), 120.0, 60.0).tolist()
    [0.25, 0.5, 1.0]
    """
    with np.errstate(under="ignore"):
        return np.maximum(np.exp2(-(now - times) / half_life), SMALLEST_WEIGHT)


def _second(value: Any, row: int) -> float:
    if isinstance(value, datetime.datetime) and value.tzinfo is None:
        return float(seconds(np.array([value], "M8[us]"))[0])
    if hasattr(value, "timestamp"):
        return float(value.timestamp())
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, datetime.date | np.datetime64):
        return float(seconds(np.array([value], "M8[us]"))[0])
    raise InputError(f"Row {row} has the time {value!r}: times are dates, or numbers of seconds.")


def _refuse_gaps(times: Floats) -> None:
    bad = ~np.isfinite(times)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"Row {row} has no time ({times[row]}): drop the row or give it one.")
