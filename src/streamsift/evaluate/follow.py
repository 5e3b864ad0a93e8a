"""follow: run a selector over a stream once and yield what it says on the way; showing it is the caller's business."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch
from streamsift.core.contracts import RowContract
from streamsift.core.selection import Selection
from streamsift.streams.stream import RowStream

LOOKS_BEFORE_DOUBLING = 200


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
    stream: RowStream, selector: RowContract, batch_size: int = 1000, trace_every: int | None = None
) -> Iterator[Step]:
    """Stream once through a selector and yield a step after each batch.

    Parameters
    ----------
    stream : a stream
        Anything of `streamsift.streams`.
    selector : a row selector
        It learns every batch, in order.
    batch_size : int
        Rows a batch.
    trace_every : int or None
        Rows between two looks at the selection. None looks after every batch at first and doubles the distance after
        each 200 looks, so that a stream of any length gives a few thousand looks at most, never coarser than a
        hundredth of the stream so far.

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
    n_rows, looks, drifting = 0, 0, False
    distance = batch_size if trace_every is None else trace_every
    due = distance
    look: Look | None = None
    batch: Batch | None = None
    seconds, since = 0.0, perf_counter()
    for batch in stream.batches(batch_size):
        selector.partial_fit(batch)
        n_rows += batch.n_rows
        drifting = drifting or batch.drifting
        look = None
        if n_rows >= due:
            look = _look(selector, batch, drifting)
            looks, drifting = looks + 1, False
            if trace_every is None and looks % LOOKS_BEFORE_DOUBLING == 0:
                distance *= 2
            due = n_rows + distance
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
