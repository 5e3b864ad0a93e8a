"""Any Python iterable of pairs (X, y): batches of any length, or single rows with their label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch, check_matrix
from streamsift.core.exceptions import InputError, ReaderError
from streamsift.streams.arrays import arrow_table, check_lengths, is_frame, label_array
from streamsift.streams.blocks import BlockStream
from streamsift.streams.labels import counted_from
from streamsift.streams.table import TableDecoder


class IterableStream(BlockStream):
    """Rows from pairs (X, y); X is an array, a sparse matrix, a frame, or one row.

    The pairs are taken one at a time, when they are needed. Sparse matrices may grow wider from pair to pair; dense
    rows and frames keep the columns of the first. The names of a frame's columns are known once it has come.
    """

    def __init__(self, pairs: Iterable[Any], target: str | None = None) -> None:
        self.target_name = target
        self._pairs = pairs
        self._once = iter(pairs) is pairs
        self._spent = False
        self._schema: Any = None

    def _blocks(self, size: int) -> Iterator[Batch]:
        if self._once and self._spent:
            raise ReaderError(
                "The iterator has been read and gives its rows only once: make a new one, or pass a list."
            )
        self._spent = True
        width = None
        for number, pair in enumerate(self._pairs):
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise InputError(f"Item {number} of the stream is a {type(pair).__name__}, not a pair (X, y).")
            try:
                block = self._block(*pair)
            except InputError as error:
                raise InputError(f"Item {number} of the stream: {error}") from error
            n_columns = block.X.shape[1]
            if isinstance(block.X, np.ndarray) and width not in (None, n_columns):
                raise InputError(f"Item {number} of the stream has {n_columns} columns, those before it {width}.")
            width = n_columns
            yield block

    def _block(self, X: Any, y: Any) -> Batch:
        if is_frame(X):
            return self._frame(X, y)
        if not hasattr(X, "tocsr"):
            X = np.asarray(X)
            if X.ndim == 1:  # one row and its label
                X, y = X.reshape(1, -1), np.asarray(y).reshape(1)
        labels = label_array(y)
        matrix = check_matrix(X, owner="open_stream")[0]
        check_lengths(matrix.shape[0], labels)
        return Batch(matrix, labels)

    def _frame(self, X: Any, y: Any) -> Batch:
        table, labels = arrow_table(X), label_array(y)
        check_lengths(table.num_rows, labels)
        if table.num_rows == 0:
            raise InputError("the frame has no rows.")
        if self._schema != table.schema:
            self._decoder = self._decoder_for(table)
            self._schema = table.schema
        assert self._decoder is not None
        rows = table.combine_chunks().to_batches()[0]
        return self._decoder.decode(rows, counted_from(0, "the frame"), labels)

    def _decoder_for(self, table: Any) -> TableDecoder:
        """A decoder for a schema that may differ from the last in its number types, nothing else."""
        before = self._decoder
        declared = {} if before is None else before.vocabularies
        decoder = TableDecoder(table.schema, None, source="The frame", sample=table.slice(0, 1), declared=declared)
        if before is not None and before.feature_names != decoder.feature_names:
            raise InputError(f"the frame has the columns {_shown(decoder)}, those before it {_shown(before)}.")
        if before is not None and not np.array_equal(_mask(before), _mask(decoder)):
            column = decoder.feature_names[int(np.argmax(_mask(before) != _mask(decoder)))]
            raise InputError(f"column {column!r} changes between numbers and text: give it one type.")
        return decoder


def _shown(decoder: TableDecoder) -> str:
    names = decoder.feature_names
    return ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")


def _mask(decoder: TableDecoder) -> NDArray[np.bool_]:
    return np.zeros(len(decoder.feature_names), bool) if decoder.categorical is None else decoder.categorical
