"""Parts in the order of their times: a column says when the rows were, and parts must not overlap.

Fading weighs a row by how many came after it. Parts that are read side by side can be weighed rightly when it is known
which of two is older: the older one then fades by as many rows as the newer one has (`RowSelector.merge_later`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch
from streamsift.core.exceptions import InputError, ReaderError, StreamsiftError
from streamsift.core.times import take_out_times
from streamsift.streams.stream import PassedOn, RowStream

Span = tuple[float, float]  # the times of the first and of the last row, in seconds


class InTime(PassedOn):
    """Another stream without its column of times; rows that are not in their order are refused."""

    def __init__(self, stream: RowStream, column: str) -> None:
        super().__init__(stream)
        self._column = column

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        names = self._stream.feature_names
        return None if names is None else tuple(name for name in names if name != self._column)

    def batches(self, batch_size: int) -> Iterator[Batch]:
        latest, first_row = -np.inf, 0
        for batch in self._stream.batches(batch_size):
            times, X, names, kinds, mask = take_out_times(
                self._column, batch.X, batch.feature_names, batch.kinds, batch.categorical
            )
            latest = _checked(times, latest, first_row, self._column)
            first_row += len(times)
            yield replace(batch, X=X, feature_names=names, kinds=kinds, categorical=mask)


def _checked(times: NDArray[np.float64], latest: float, first_row: int, column: str) -> float:
    """The time of the last row; rows that go back in time are refused."""
    back = np.flatnonzero(np.diff(times, prepend=latest) < 0.0)
    if len(back):
        raise InputError(
            f"Row {first_row + int(back[0])} is older than the row before it, by column {column!r}: sort the rows of "
            "each part by time, or use a half-life in event time (half_life='1h', time=), which needs no order."
        )
    return float(times[-1])


def span_of(job: Any, part: Any) -> Span:
    """The times of the first and the last row of a part, of which only these and the labels are read."""
    try:
        names = part.open(job.target, job.reading).feature_names
        if names is None or job.order_by not in names:
            raise InputError(f"it has no column {job.order_by!r} with the times")
        others = [name for name in names if name != job.order_by and not name.endswith("]")]
        ignored = [*job.reading.get("ignore", ()), *others]
        kept = {name: value for name, value in job.reading.items() if name != "categorical"}
        stream = part.open(job.target, kept | {"ignore": ignored})
        first, latest, n_rows = np.nan, -np.inf, 0
        for batch in stream.batches(job.batch_size):
            place = batch.feature_names.index(job.order_by)
            if batch.kinds is not None and place in batch.kinds.names:
                raise InputError(f"column {job.order_by!r} holds text, and times are dates or numbers")
            times = np.asarray(batch.X[:, place], np.float64)
            if np.isnan(times).any():
                raise InputError(f"row {n_rows + int(np.argmax(np.isnan(times)))} has no time")
            first = float(times[0]) if n_rows == 0 else first
            latest = _checked(times, latest, n_rows, job.order_by)
            n_rows += len(times)
    except (StreamsiftError, OSError) as error:
        raise ReaderError(f"The part {part} cannot be put in order: {error}") from error
    return first, latest


def in_time_order(worker: Any, job: Any, parts: Sequence[Any], progress: Callable[[float], None]) -> list[Any]:
    """The parts, oldest first; two that overlap are refused by name."""
    spans: list[Span] = worker.call(span_of, job, list(parts), progress)
    order = sorted(range(len(parts)), key=lambda k: spans[k])
    for earlier, later in pairwise(order):
        if spans[later][0] < spans[earlier][1]:
            raise InputError(
                f"The parts {parts[earlier]} and {parts[later]} overlap in time (up to {spans[earlier][1]:.15g}, and "
                f"from {spans[later][0]:.15g} on, by column {job.order_by!r}): which rows are older cannot be told "
                "where they are read side by side, so cut the table by time, or use a half-life in event time "
                "(half_life='1h', time=)."
            )
    return [parts[k] for k in order]
