"""follow: run a selector over a stream once and yield what it says on the way; showing it is the caller's business."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch
from streamsift.core.contracts import RowContract
from streamsift.core.interrupts import check
from streamsift.core.selection import Selection
from streamsift.streams.open import as_stream

LOOKS_BEFORE_DOUBLING = 200


class LookSchedule:
    """When to look at a selection: every so many rows or steps, or ever more rarely.

    Where no distance is fixed it starts at `first` and doubles after each 200 looks, so that a stream of any length
    gives a few thousand looks at most, never coarser than a hundredth of the stream so far.
    """

    def __init__(self, first: int, fixed: int | None = None) -> None:
        self._fixed = fixed is not None
        self._distance = first if fixed is None else fixed
        self._due, self._looks = self._distance, 0

    def is_due(self, position: int) -> bool:
        """Whether to look now; asked once a position."""
        if position < self._due:
            return False
        self._looks += 1
        if not self._fixed and self._looks % LOOKS_BEFORE_DOUBLING == 0:
            self._distance *= 2
        self._due = position + self._distance
        return True


@dataclass(frozen=True)
class Look:
    """What the selector said at one moment, and what the stream knows about that moment.

    `scores` has one score a feature (None where the method has none), `feature_names` all names in the same order
    (None: unnamed). `relevant` are the true features and `drifting` whether any row since the last look drifted;
    only generated streams know them.
    """

    selection: Selection
    scores: NDArray[np.float64] | None
    feature_names: Sequence[str] | None
    relevant: NDArray[np.intp] | None
    drifting: bool


@dataclass(frozen=True)
class Step:
    """One batch further: rows seen, seconds spent, the fraction of the stream behind us (None: unknown).

    `look` is None on the steps in between, where the selector was not asked.
    """

    n_rows: int
    seconds: float
    progress: float | None
    look: Look | None


def follow(
    stream: Any,
    selector: RowContract,
    batch_size: int = 1000,
    trace_every: int | None = None,
    *,
    target: str | None = None,
) -> Iterator[Step]:
    """Stream once through a selector and yield a step after each batch.

    Parameters
    ----------
    stream : a stream, or anything `open_stream` takes
        With `target`, the column with the labels, where it is a table or a file.
    selector : a row selector
        It learns every batch, in order.
    batch_size : int
        Rows a batch.
    trace_every : int or None
        Rows between two looks at the selection. None looks after every batch at first and then ever more rarely; see
        LookSchedule.

    Yields
    ------
    Step
        After the last batch comes a step with a look even where none was due, so a run always ends with one. Seconds
        spent by the caller between two steps are not counted.

    Examples
    --------
    >>> from streamsift import Screener
    >>> from streamsift.streams import generate
    >>> stream = generate("linear_drift", rows=300, seed=0, n_features=10, n_relevant=2, shift_every=100)
    >>> [step.n_rows for step in follow(stream, Screener(n_features_to_select=2), batch_size=100)]
    [100, 200, 300]
    """
    stream = as_stream(stream, target)
    n_rows, drifting = 0, False
    schedule = LookSchedule(batch_size, trace_every)
    look: Look | None = None
    batch: Batch | None = None
    seconds, since = 0.0, perf_counter()
    for batch in stream.batches(batch_size):
        check()
        selector.partial_fit(batch)
        n_rows += batch.n_rows
        drifting = drifting or batch.drifting
        look = None
        if schedule.is_due(n_rows):
            look = _look(selector, batch, drifting)
            drifting = False
        seconds += perf_counter() - since
        yield Step(n_rows, seconds, stream.progress(), look)
        since = perf_counter()
    if batch is not None and look is None:
        look = _look(selector, batch, drifting)
        yield Step(n_rows, seconds + perf_counter() - since, stream.progress(), look)


def _look(selector: RowContract, batch: Batch, drifting: bool) -> Look:
    return Look(
        selection=selector.selection(),
        scores=getattr(selector, "scores_", None),
        feature_names=getattr(selector, "feature_names_in_", None),
        relevant=batch.relevant,
        drifting=drifting,
    )
