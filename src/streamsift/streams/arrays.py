"""Rows that are in memory already: a pair (X, y) of arrays or tables, or one table that holds the target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch, check_matrix
from streamsift.core.categories import ColumnKinds
from streamsift.core.decoder import counted_from
from streamsift.core.exceptions import InputError, ReaderError
from streamsift.core.tables import arrow_table
from streamsift.core.vocabulary import from_column, is_missing
from streamsift.streams.blocks import BlockStream
from streamsift.streams.table import TableDecoder, check_target, unique_names, without

BLOCK_ROWS = 1 << 13  # of a frame, converted at once


def label_array(y: Any) -> NDArray[Any]:
    """Labels as a numpy array of one dimension; missing ones are refused."""
    labels = from_column(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise InputError(f"y must be one label per row, in one dimension. Got an array of shape {labels.shape}.")
    if labels.dtype.kind in "fO":
        missing = labels != labels if labels.dtype.kind == "f" else np.array([is_missing(v) for v in labels], bool)
        if missing.any():
            raise ReaderError(
                f"Row {np.argmax(missing)} has no label (y is empty there): drop the row or give it a label."
            )
    return labels


class FrameStream(BlockStream):
    """Rows of a table of any kind; the labels are a column of it, or given beside it."""

    n_rows: int
    _decoder: TableDecoder

    def __init__(
        self,
        frame: Any,
        target: str | None,
        *,
        y: Any = None,
        categorical: Sequence[str] = (),
        ignore: Sequence[str] = (),
    ) -> None:
        table = arrow_table(frame)
        self._table = table.select(without(table.schema, ignore, "The frame").names)
        unique_names(self._table.schema.names, "The frame")
        self._labels = None if y is None else label_array(y)
        self.n_rows = int(table.num_rows)
        if self.n_rows == 0:
            raise InputError("The frame has no rows: there is nothing to learn from.")
        if self._labels is None:
            self.target_name = check_target(target, self._table.schema.names, "The frame")
        else:
            name = getattr(y, "name", None)
            self.target_name = str(name) if target is None and name is not None else target
            check_lengths(self.n_rows, self._labels)
        inside = self.target_name if self._labels is None else None
        self._decoder = TableDecoder(
            self._table.schema, inside, source="The frame", sample=self._table.slice(0, 1), categorical=categorical
        )

    def _blocks(self, size: int) -> Iterator[Batch]:
        self._n_read = 0
        for rows in self._table.to_batches(max_chunksize=BLOCK_ROWS):
            first, self._n_read = self._n_read, self._n_read + rows.num_rows
            labels = None if self._labels is None else self._labels[first : self._n_read]
            yield self._decoder.batch(rows, counted_from(first, "the frame"), labels)


class ArrayStream(BlockStream):
    """Rows of an array, a sparse matrix or a list of lists, with their labels."""

    n_rows: int

    def __init__(self, X: Any, y: Any, target: str | None = None) -> None:
        self.target_name = target
        self._X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
        self._kinds: ColumnKinds | None = None
        if self._X.dtype.kind in "OUS":  # one numbering of the categories for all rows
            matrix = check_matrix(self._X, owner="open_stream")
            self._X, self._kinds = matrix.values, matrix.kinds
        # Shape and type are refused here, before the first batch is asked for.
        check_matrix(self._X[:1] if self._X.ndim else self._X, owner="open_stream")
        self._labels = label_array(y)
        self.n_rows = int(self._X.shape[0])
        check_lengths(self.n_rows, self._labels)

    @property
    def categories(self) -> dict[str, tuple[str, ...]]:
        return {} if self._kinds is None else {f"x{place}": names for place, names in self._kinds.names.items()}

    def _blocks(self, size: int) -> Iterator[Batch]:
        self._n_read = 0
        mask = None if self._kinds is None else np.isin(np.arange(self._X.shape[1]), list(self._kinds.names))
        for start in range(0, self.n_rows, size):
            stop = min(start + size, self.n_rows)
            self._n_read = stop
            X = check_matrix(self._X[start:stop], owner="open_stream").values
            yield Batch(X, self._labels[start:stop], None, mask, kinds=self._kinds)


def check_lengths(n_rows: int, labels: NDArray[Any]) -> None:
    """Refuse rows and labels that do not pair up."""
    if len(labels) != n_rows:
        raise InputError(f"X has {n_rows} rows but y has {len(labels)} labels: give one label per row.")
