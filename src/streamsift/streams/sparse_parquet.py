"""Sparse rows in Parquet: a column `indices` and a column `values`, lists of the same length, and the target.

A table of a million features has two such columns, not a million. How many features there are, the file says in the
statistics of `indices` (every writer keeps them), in its metadata (`n_features`), or the caller.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy import sparse

from streamsift.core.batch import Batch
from streamsift.core.constraints import Integer, IsNone, check_parameters
from streamsift.core.decoder import counted_from
from streamsift.core.exceptions import ParameterError, ReaderError
from streamsift.streams.blocks import BlockStream
from streamsift.streams.files import READ_LIMITS, ReadLimits, check_file, no_rows, reading, too_many_columns
from streamsift.streams.labels import labels_of
from streamsift.streams.table import check_target

INDICES, VALUES, N_FEATURES = "indices", "values", "n_features"
_BUFFER_BYTES = 1 << 20


def is_sparse(schema: Any) -> bool:
    """Whether a table holds sparse rows: lists of whole numbers called indices, and lists of numbers called values.

    >>> is_sparse(pa.schema({"indices": pa.list_(pa.int32()), "values": pa.list_(pa.float64()), "y": pa.int8()}))
    True
    """
    if not {INDICES, VALUES} <= set(schema.names):
        return False
    kinds = [schema.field(name).type for name in (INDICES, VALUES)]
    if not all(pa.types.is_list(kind) or pa.types.is_large_list(kind) for kind in kinds):
        return False
    number = kinds[1].value_type
    return bool(
        pa.types.is_integer(kinds[0].value_type) and (pa.types.is_floating(number) or pa.types.is_integer(number))
    )


def sparse_width(path: Path) -> int | None:
    """How many features the sparse rows of a file have; None where it has no such rows."""
    check_file(path)
    with reading(str(path)), pq.ParquetFile(path) as file:
        return _declared(file.metadata, str(path)) if is_sparse(file.schema_arrow) else None


class SparseParquetStream(BlockStream):
    """Rows of a Parquet file with `indices` (from 0, rising within a row) and `values`; features have no names."""

    n_rows: int
    n_values: int  # that are stored, and perhaps some more

    def __init__(
        self,
        path: Path,
        target: str | None,
        *,
        n_features: int | None = None,
        ignore: Sequence[str] = (),
        limits: ReadLimits = READ_LIMITS,
        row_groups: range | None = None,
    ) -> None:
        check_parameters("open_stream", {"n_features": n_features}, {"n_features": (Integer(1, None), IsNone())})
        check_file(path)
        self._path, self._name, self._row_groups = path, str(path), row_groups
        with reading(self._name), pq.ParquetFile(path) as file:
            metadata, schema = file.metadata, file.schema_arrow
        self.target_name = check_target(target, schema.names, self._name)
        others = set(schema.names) - {INDICES, VALUES, self.target_name} - set(ignore)
        if others:
            raise ReaderError(
                f"{self._name} has sparse rows (indices and values) and a column {min(others)!r} beside them: put it "
                "into the sparse rows, or leave it out with ignore."
            )
        groups = range(metadata.num_row_groups) if row_groups is None else row_groups
        self.n_rows = sum(metadata.row_group(group).num_rows for group in groups)
        if self.n_rows == 0:
            raise no_rows(self._name)
        self.n_values = sum(metadata.row_group(group).column(_leaf(metadata)).num_values for group in groups)
        self.n_features = _declared(metadata, self._name) if n_features is None else n_features
        if self.n_features > limits.most_index:
            raise too_many_columns(self._name, self.n_features, limits.most_index, "most_index")

    def _blocks(self, size: int) -> Iterator[Batch]:
        self._n_read = 0
        columns = [INDICES, VALUES, str(self.target_name)]
        with (
            reading(self._name),
            pq.ParquetFile(self._path, pre_buffer=False, buffer_size=_BUFFER_BYTES) as file,
        ):
            groups = range(file.num_row_groups) if self._row_groups is None else self._row_groups
            for rows in file.iter_batches(batch_size=size, row_groups=list(groups), columns=columns):
                place = counted_from(self._n_read, self._name)
                labels = labels_of(rows.column(columns[2]), columns[2], place)
                X = self._matrix(rows.column(INDICES), rows.column(VALUES))
                self._n_read += rows.num_rows
                yield Batch(X, labels)

    def _matrix(self, indices: Any, values: Any) -> Any:
        ends, of_values = _ends(indices), _ends(values)
        if not np.array_equal(ends, of_values):
            wrong = int(np.argmax(np.diff(ends) != np.diff(of_values)))
            raise ReaderError(
                f"Row {self._n_read + wrong} of {self._name} has {np.diff(ends)[wrong]} indices and "
                f"{np.diff(of_values)[wrong]} values: give one value for each index."
            )
        places = _numbers(indices.flatten(), np.int64)
        numbers = _numbers(values.flatten(), np.float32 if values.type.value_type == pa.float32() else np.float64)
        bad = (places < 0) | (places >= self.n_features)
        bad[1:] |= np.diff(places) <= 0
        starts = ends[:-1][np.diff(ends) > 0]
        bad[starts] = (places[starts] < 0) | (places[starts] >= self.n_features)  # a new row may begin lower
        if bad.any():
            entry = int(np.argmax(bad))
            row = self._n_read + int(np.searchsorted(ends, entry, side="right")) - 1
            raise ReaderError(
                f"Row {row} of {self._name} has the index {places[entry]}: indices rise within a row, from 0 to below "
                f"the number of features, {self.n_features}."
            )
        return sparse.csr_matrix((numbers, places, ends), (len(indices), self.n_features))


def _numbers(flat: Any, kind: Any) -> NDArray[Any]:
    if flat.null_count:
        raise ReaderError("A list of indices or values has an empty place in it: write a number, or leave both out.")
    return np.asarray(flat.to_numpy(zero_copy_only=False)).astype(kind, copy=False)


def _ends(lists: Any) -> NDArray[np.int64]:
    lengths = np.asarray(lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False), np.int64)
    return np.concatenate([[0], np.cumsum(lengths)])


def _declared(metadata: Any, name: str) -> int:
    """The number of features, by the metadata of the file or by the largest index in its statistics."""
    said = (metadata.metadata or {}).get(N_FEATURES.encode())
    if said is not None and said.isdigit():
        return int(said)
    leaf, largest = _leaf(metadata), -1
    for group in range(metadata.num_row_groups):
        chunk = metadata.row_group(group).column(leaf)
        if chunk.num_values == 0 or (chunk.statistics is not None and chunk.statistics.null_count == chunk.num_values):
            continue
        if chunk.statistics is None or not chunk.statistics.has_min_max:
            raise ParameterError(f"{name} does not say how many features its sparse rows have: give n_features.")
        largest = max(largest, int(chunk.statistics.max))
    if largest < 0:
        raise ReaderError(f"{name} has no value in any of its sparse rows: there is nothing to select from.")
    return largest + 1


def _leaf(metadata: Any) -> int:
    """The column of the file that holds the indices themselves."""
    return next(k for k in range(metadata.num_columns) if metadata.schema.column(k).path.startswith(f"{INDICES}."))
