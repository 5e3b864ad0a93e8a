"""Parquet, read a few pages of each column at a time.

Neither a large file nor one of its row groups is ever held whole: column chunks are read through small buffers
(`buffer_size`) and nothing is fetched ahead (`pre_buffer=False`). A small file is read without buffers: through them,
pyarrow takes as much memory as the header of a page claims, up to 2 GB, before it notices that the file has less.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from streamsift.core.batch import Batch
from streamsift.core.decoder import counted_from, needs_sample
from streamsift.core.exceptions import ParameterError, ReaderError
from streamsift.streams.blocks import BlockStream
from streamsift.streams.files import READ_LIMITS, ReadLimits, check_file, no_rows, reading
from streamsift.streams.positions import whole_number
from streamsift.streams.sparse_parquet import SparseParquetStream, is_sparse
from streamsift.streams.stream import RowStream
from streamsift.streams.table import TableDecoder, check_target, unique_names, without

MOST_BATCH_BYTES = 64 << 20  # what is decoded at once, counted as float64
BUFFER_BYTES = 1 << 16  # for each column, less where there are very many
MOST_BUFFER_BYTES = 32 << 20  # for all columns together


def open_parquet(
    path: Path,
    target: str | None,
    *,
    categorical: Sequence[str] = (),
    ignore: Sequence[str] = (),
    n_features: int | None = None,
    limits: ReadLimits = READ_LIMITS,
    row_groups: range | None = None,
) -> RowStream:
    """The rows of a Parquet file; columns `indices` and `values` of lists are sparse rows."""
    check_file(path)
    with reading(str(path)), pq.ParquetFile(path) as file:
        sparse = is_sparse(file.schema_arrow)
    if sparse:
        if categorical:
            raise ParameterError(f"{path} has sparse rows, which are numbers: leave 'categorical' out.")
        return SparseParquetStream(
            path, target, n_features=n_features, ignore=ignore, limits=limits, row_groups=row_groups
        )
    if n_features is not None:
        raise ParameterError(f"{path} says itself how many features it has: leave 'n_features' out.")
    return ParquetStream(path, target, categorical=categorical, ignore=ignore, limits=limits, row_groups=row_groups)


class ParquetStream(BlockStream):
    """Rows of a Parquet file, or of some of its row groups."""

    target_name: str
    n_rows: int
    _decoder: TableDecoder
    _seeks = True

    def __init__(
        self,
        path: Path,
        target: str | None,
        *,
        categorical: Sequence[str] = (),
        ignore: Sequence[str] = (),
        limits: ReadLimits = READ_LIMITS,
        most_batch_bytes: int = MOST_BATCH_BYTES,
        row_groups: range | None = None,
    ) -> None:
        size = check_file(path)
        self._most_batch_bytes = most_batch_bytes
        self._path, self._name = path, str(path)
        self._row_groups = row_groups
        with reading(self._name), pq.ParquetFile(path) as file:
            metadata = file.metadata
            self._schema = without(file.schema_arrow, ignore, self._name)
        self._buffer_bytes = 0
        if size > MOST_BUFFER_BYTES:
            self._buffer_bytes = max(1 << 10, min(BUFFER_BYTES, MOST_BUFFER_BYTES // max(metadata.num_columns, 1)))
        self._project = bool(ignore)
        self.n_rows = metadata.num_rows
        if self._row_groups is not None:
            self.n_rows = sum(metadata.row_group(group).num_rows for group in self._row_groups)
        unique_names(self._schema.names, self._name, limits)
        self.target_name = check_target(target, self._schema.names, self._name)
        if self.n_rows == 0:
            raise no_rows(self._name)
        sample = self._first_row() if needs_sample(self._schema) else None
        self._decoder = TableDecoder(
            self._schema, self.target_name, source=self._name, sample=sample, categorical=categorical
        )

    def _first_row(self) -> Any:
        for _, rows in self._read(1):
            return rows
        raise ReaderError(
            f"{self._name} is damaged: it has {self.n_rows} rows by its description, and none could be read."
        )

    def _blocks(self, size: int) -> Iterator[Batch]:
        most = max(1, self._most_batch_bytes // (8 * len(self._decoder.feature_names)))
        group, block, self._n_read = 0, 0, 0
        if self._place is not None:
            group, block, self._n_read = (whole_number(self._place, key) for key in ("group", "block", "row"))
        for place, rows in self._read(min(size, most), group, block):
            first = self._n_read
            self._mark_block({**place, "row": first})
            batch = self._decoder.batch(rows, counted_from(first, self._name))
            self._n_read += rows.num_rows
            yield batch

    def _read(self, n_rows: int, group: int = 0, block: int = 0) -> Iterator[tuple[dict[str, int], Any]]:
        """Blocks of up to so many rows, and the place of each: its first row group, and its number from there on.

        Row groups that fit into one block are read together; from the first of any of these on they are the same.
        """
        names = self._schema.names if self._project else None
        with (
            reading(self._name),
            pq.ParquetFile(self._path, pre_buffer=False, buffer_size=self._buffer_bytes) as file,
        ):
            groups = range(file.num_row_groups) if self._row_groups is None else self._row_groups
            for run, claimed in _runs(file.metadata, groups[max(group - groups.start, 0) :], n_rows):
                blocks = file.iter_batches(batch_size=n_rows, row_groups=list(run), columns=names)
                for number, rows in enumerate(self._without_loss(blocks, run, claimed)):
                    if number >= block:
                        # A name with a dot in it also matches as a path: the reader may return more than was asked for.
                        yield {"group": run.start, "block": number}, rows.select(names) if self._project else rows
                block = 0

    def _without_loss(self, blocks: Iterator[Any], run: range, claimed: int) -> Iterator[Any]:
        """The blocks of neighbouring row groups; ReaderError where these have other rows than they claim.

        Where a column lacks rows, those of the next row group take their place: of several nothing is given before all
        are counted.
        """
        part = f"row group {run.start} has" if len(run) == 1 else f"row groups {run.start} to {run[-1]} have"
        n_read, kept = 0, []
        for rows in blocks:
            n_read += rows.num_rows
            if len(run) == 1:
                yield rows
            elif n_read <= claimed:
                kept.append(rows)
            else:
                break
        refuse_lost_rows(self._name, part, n_read, claimed)
        yield from kept


def _runs(metadata: Any, groups: range, n_rows: int) -> Iterator[tuple[range, int]]:
    """Neighbouring row groups that have up to so many rows together, or a single one, and how many rows these are."""
    start, total = groups.start, 0
    for k in groups:
        rows = metadata.row_group(k).num_rows
        if k > start and total + rows > n_rows:
            yield range(start, k), total
            start, total = k, 0
        total += rows
    if start < groups.stop:
        yield range(start, groups.stop), total


def refuse_lost_rows(name: str, part: str, n_read: int, claimed: int) -> None:
    """Raise ReaderError where rows are missing: of columns of different lengths pyarrow gives the shortest."""
    if n_read != claimed:
        raise ReaderError(f"{name} is damaged: {part} {claimed} rows by its description, and {n_read} could be read.")
