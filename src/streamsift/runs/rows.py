"""Rows: a selector is led over a stream of rows once; after each batch comes a step, now and then with a snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch
from streamsift.core.contracts import RowContract
from streamsift.core.exceptions import InputError
from streamsift.core.interrupts import check
from streamsift.core.selection import Selection
from streamsift.runs.row_trace import RowTraceWriter
from streamsift.runs.run import Leaders, Run, TextTable
from streamsift.streams import open_stream
from streamsift.streams.identifiers import WatchedStream
from streamsift.streams.open import READING, as_stream
from streamsift.streams.stream import RowStream

SNAPSHOTS_BEFORE_DOUBLING = 200


class SnapshotSchedule:
    """When to take a snapshot of a selection: every so many rows or steps, or ever more rarely.

    Where no distance is fixed it starts at `first` and doubles after each 200 snapshots, so that a stream of any length
    gives a few thousand snapshots at most, never coarser than a hundredth of the stream so far.
    """

    def __init__(self, first: int, fixed: int | None = None) -> None:
        self._fixed = fixed is not None
        self._distance = first if fixed is None else fixed
        self._due, self._taken = self._distance, 0

    def is_due(self, position: int) -> bool:
        """Whether to take one now; asked once for each position."""
        if position < self._due:
            return False
        self._taken += 1
        if not self._fixed and self._taken % SNAPSHOTS_BEFORE_DOUBLING == 0:
            self._distance *= 2
        self._due = position + self._distance
        return True


@dataclass(frozen=True)
class Snapshot:
    """What the selector said at one step, and what the stream knows about that step.

    `scores` has one score per feature (None where the method has none), `feature_names` all names in the same order
    (None: unnamed). `relevant` are the true features and `drifting` whether any row since the last snapshot drifted;
    only generated streams know them.
    """

    selection: Selection
    scores: NDArray[np.float64] | None
    feature_names: Sequence[str] | None
    relevant: NDArray[np.intp] | None
    drifting: bool


@dataclass(frozen=True)
class RowStep:
    """One batch further: rows seen, seconds spent, the fraction of the stream behind us (None: unknown).

    `snapshot` is None on the steps in between, at which the selector was not asked.
    """

    n_rows: int
    seconds: float
    progress: float | None
    snapshot: Snapshot | None

    unit: ClassVar[str] = "rows"

    @property
    def position(self) -> int:
        """Rows seen."""
        return self.n_rows

    def leaders(self) -> Leaders | None:
        """The selection of the snapshot, best first."""
        if self.snapshot is None:
            return None
        selection = self.snapshot.selection
        return Leaders(selection.names, None if selection.scores is None else selection.scores.tolist())


def follow_rows(
    stream: Any,
    selector: RowContract,
    batch_size: int = 1000,
    trace_every: int | None = None,
    *,
    target: str | None = None,
) -> Iterator[RowStep]:
    """Stream once through a selector and yield a step after each batch.

    Parameters
    ----------
    stream : a stream, or anything `open_stream` takes
        With `target`, the column with the labels, where it is a table or a file.
    selector : a row selector
        It learns every batch, in order.
    batch_size : int
        Rows per batch.
    trace_every : int or None
        Rows between two snapshots of the selection. None takes one after every batch at first and then ever more
        rarely; see SnapshotSchedule.

    Yields
    ------
    RowStep
        After the last batch comes a step with a snapshot even where none was due, so a run always ends with one.
        Seconds spent by the caller between two steps are not counted.

    Examples
    --------
    >>> from streamsift import Screener
    >>> from streamsift.streams import generate
    >>> stream = generate("linear_drift", n_rows=300, seed=0, n_features=10, n_relevant=2, shift_every=100)
    >>> [step.n_rows for step in follow_rows(stream, Screener(n_features_to_select=2), batch_size=100)]
    [100, 200, 300]
    """
    stream = as_stream(stream, target)
    n_rows, drifting = 0, False
    schedule = SnapshotSchedule(batch_size, trace_every)
    snapshot: Snapshot | None = None
    batch: Batch | None = None
    seconds, since = 0.0, perf_counter()
    for batch in stream.batches(batch_size):
        check()
        selector.partial_fit(batch)
        n_rows += batch.n_rows
        drifting = drifting or batch.drifting
        snapshot = None
        if schedule.is_due(n_rows):
            snapshot = _snapshot(selector, batch, drifting)
            drifting = False
        seconds += perf_counter() - since
        yield RowStep(n_rows, seconds, stream.progress(), snapshot)
        since = perf_counter()
    if batch is not None and snapshot is None:
        snapshot = _snapshot(selector, batch, drifting)
        yield RowStep(n_rows, seconds + perf_counter() - since, stream.progress(), snapshot)


def _snapshot(selector: RowContract, batch: Batch, drifting: bool) -> Snapshot:
    return Snapshot(
        selection=selector.selection(),
        scores=getattr(selector, "scores_", None),
        feature_names=getattr(selector, "feature_names_in_", None),
        relevant=batch.relevant,
        drifting=drifting,
    )


@dataclass(frozen=True)
class RowResult:
    """The selection at the end of a stream of rows."""

    selection: Selection

    def as_dict(self) -> dict[str, Any]:
        """A plain dict for JSON."""
        return self.selection.as_dict()

    def tables(self) -> list[TextTable]:
        """The selected features, best first."""
        selected = self.as_dict()["selected"]
        scores = distinct_numbers([row.get("score") for row in selected])
        rows = [[str(row["rank"]), row["name"], score] for row, score in zip(selected, scores, strict=True)]
        return [TextTable(["rank", "feature", "score"], rows, ["rank", "score"])]

    def note(self) -> str:
        """Nothing: the table says it all."""
        return ""

    def reach(self) -> str:
        """The rows seen."""
        return f"{self.selection.n_rows_seen:,} rows"


def distinct_numbers(scores: list[float | str | None]) -> list[str]:
    """Scores as text, with as many digits, up to nine, as it takes to tell different ones apart.

    >>> distinct_numbers([1.5, 0.25, None, "inf"]), distinct_numbers([-7.999971, -7.999972])
    (['1.5', '0.25', '', 'inf'], ['-7.999971', '-7.999972'])
    """
    numbers = {score for score in scores if isinstance(score, float)}
    digits = next((n for n in range(6, 9) if len({f"{score:.{n}g}" for score in numbers}) == len(numbers)), 9)
    return ["" if s is None else f"{s:.{digits}g}" if isinstance(s, float) else str(s) for s in scores]


class RowLoop:
    """A row selector and its stream."""

    takes_prices: ClassVar[bool] = False

    def __init__(self, selector: Any, run: Run, stream: RowStream) -> None:
        self._selector, self._run, self._stream = selector, run, stream
        self._last: RowStep | None = None  # with a snapshot

    @classmethod
    def open(cls, method: Any, run: Run, source: Any, prices: str | Path | None = None) -> Self:
        """Open a file, or anything else that `open_stream` takes, as rows."""
        given = {name: run.settings[name] for name in READING if name in run.settings}
        return cls(method, run, WatchedStream(open_stream(source, target=run.target or None, **given)))

    def steps(self) -> Iterator[RowStep]:
        """Lead the selector over the rows."""
        for step in follow_rows(self._stream, self._selector, self._run.settings.get("batch_size", 1000)):
            self._last = self._last if step.snapshot is None else step
            yield step

    def writer(self, path: str | Path | None, run: Run) -> RowTraceWriter:
        """Record the snapshots."""
        return RowTraceWriter(path, run)

    def result(self, *, complete: bool) -> RowResult | None:
        """The latest selection; a whole stream without rows, or of one class, is refused."""
        if complete:
            self._refuse_nothing_to_learn()
        if self._last is None or self._last.snapshot is None:
            return None
        return RowResult(self._last.snapshot.selection)

    def _refuse_nothing_to_learn(self) -> None:
        if self._last is None:
            raise no_rows(self._run.data)
        classes = getattr(self._selector, "classes_", None)  # a method that uses no labels has none
        if classes is not None and len(classes) < 2:
            label = classes.tolist()[0]
            raise InputError(
                f"All {self._last.n_rows:,} rows have the label {label!r} in column {self._run.target!r}: with one "
                "class nothing can be distinguished, so give rows of a second class or another target."
            )


def no_rows(data: str) -> InputError:
    """The error about a source without rows."""
    return InputError(f"There are no rows in {data!r}: give a file with at least one row below its header.")
