"""Columns that name the rows instead of describing them: another text in every row, or numbers that only ever grow.

A reader numbers texts in the order of their first appearance, so that a column with another text in every row has the
codes 0, 1, 2, ...: both kinds are columns of whole numbers that grow from row to row, and are seen in one pass.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch
from streamsift.core.exceptions import StreamsiftWarning
from streamsift.core.state import MOST_FEATURES
from streamsift.streams.positions import Position, Resumable, no_position, resumable, whole_number
from streamsift.streams.stream import PassedOn, RowStream

FEWEST_ROWS = 30  # with fewer, a column may grow by chance
MOST_NAMED = 5


class IdentifierWatch:
    """Looks at dense batches as they pass; `found` are the columns that have named every row so far."""

    def __init__(self) -> None:
        self.n_rows = 0
        self._suspects: NDArray[np.intp] | None = None
        self._last: NDArray[Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        """What was seen so far, as JSON keeps it."""
        suspects = None if self._suspects is None else self._suspects.tolist()
        return {"rows": self.n_rows, "suspects": suspects, "last": [] if self._last is None else self._last.tolist()}

    @classmethod
    def of(cls, found: Any) -> IdentifierWatch:
        """The inverse of as_dict; what cannot have been written by it is refused."""
        watch = cls()
        watch.n_rows = whole_number(found, "rows")
        suspects, last = found.get("suspects"), found.get("last")
        if suspects is None:
            return watch
        fine = (
            isinstance(suspects, list)
            and isinstance(last, list)
            and len(suspects) == len(last)
            and all(type(place) is int and 0 <= place <= MOST_FEATURES for place in suspects)
            and all(isinstance(value, int | float) for value in last)
        )
        if not fine:
            raise no_position("suspects")
        watch._suspects, watch._last = np.array(suspects, np.intp), np.array(last, np.float64)
        return watch

    def see(self, batch: Batch) -> None:
        """Take notice of the next rows."""
        if not isinstance(batch.X, np.ndarray) or batch.n_rows == 0:
            return  # a sparse column is mostly zeros
        suspects = np.arange(batch.X.shape[1]) if self._suspects is None else self._suspects
        suspects = suspects[suspects < batch.X.shape[1]]
        if len(suspects):
            # Nearly all columns are cleared by their first rows.
            kept = _grow(batch.X[:FEWEST_ROWS, suspects])
            kept[kept] = _grow(batch.X[:, suspects[kept]])
            if self._last is not None:
                kept &= batch.X[0, suspects] > self._last
            suspects = suspects[kept]
        self._suspects, self._last = suspects, batch.X[-1, suspects]
        self.n_rows += batch.n_rows

    def found(self) -> list[int]:
        """The places of the columns; none before enough rows have passed."""
        if self._suspects is None or self.n_rows < FEWEST_ROWS:
            return []
        return [int(place) for place in self._suspects]


def _grow(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which columns hold whole numbers, each larger than the one before; NaN is neither."""
    with np.errstate(invalid="ignore"):
        grows = np.all(values[1:] > values[:-1], axis=0) & np.all(values == np.floor(values), axis=0)
    return np.asarray(grows & np.all(np.isfinite(values), axis=0))


def warn_of_identifiers(names: list[str]) -> None:
    """Warn of columns that look like identifiers."""
    for name in names[:MOST_NAMED]:
        warnings.warn(
            f"Column {name!r} has another value in every row, like an identifier or a clock: it tells nothing about "
            f"new rows, so leave it out with ignore=[{name!r}] (--ignore {name}) unless its order means something.",
            StreamsiftWarning,
            stacklevel=2,
        )


class WatchedStream(PassedOn):
    """The same stream; when it has been read to its end, it warns of columns that look like identifiers.

    `known` is a column that is meant to be one: the times of the rows.
    """

    def __init__(self, stream: RowStream, known: str | None = None) -> None:
        super().__init__(resumable(stream))
        self._stream: Resumable
        self._known = known
        self._watch, self._resumed = IdentifierWatch(), False

    def position(self) -> Position:
        """Where the stream is, and what was seen so far."""
        return {"stream": self._stream.position(), "watch": self._watch.as_dict()}

    def seek(self, position: Position) -> None:
        """Let the next reading begin at a position."""
        if not isinstance(position, dict) or not isinstance(position.get("stream"), dict):
            raise no_position("stream")
        self._watch, self._resumed = IdentifierWatch.of(position.get("watch")), True
        self._stream.seek(position["stream"])

    def batches(self, batch_size: int) -> Iterator[Batch]:
        self._watch = watch = self._watch if self._resumed else IdentifierWatch()
        self._resumed = False
        for batch in self._stream.batches(batch_size):
            watch.see(batch)
            yield batch
        found = watch.found()
        names = self._stream.feature_names if found else None
        suspects = [] if names is None else [names[place] for place in found if names[place] != self._known]
        if suspects:
            warn_of_identifiers(suspects)
