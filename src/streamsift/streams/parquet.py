"""Parquet, read a few pages of each column at a time.

Neither the file nor a row group is ever held whole: column chunks are read through small buffers (`buffer_size`) and
nothing is fetched ahead (`pre_buffer=False`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from streamsift.core.batch import Batch
from streamsift.core.decoder import counted_from, needs_sample
from streamsift.streams.blocks import BlockStream
from streamsift.streams.files import READ_LIMITS, ReadLimits, check_file, no_rows, reading
from streamsift.streams.table import TableDecoder, check_target, unique_names, without

MOST_BATCH_BYTES = 64 << 20  # what is decoded at once, counted as float64
BUFFER_BYTES = 1 << 16  # for each column, less where there are very many
MOST_BUFFER_BYTES = 32 << 20  # for all columns together


class ParquetStream(BlockStream):
    """Rows of a Parquet file."""

    target_name: str
    n_rows: int
    _decoder: TableDecoder

    def __init__(
        self,
        path: Path,
        target: str | None,
        *,
        categorical: Sequence[str] = (),
        ignore: Sequence[str] = (),
        limits: ReadLimits = READ_LIMITS,
        most_batch_bytes: int = MOST_BATCH_BYTES,
    ) -> None:
        check_file(path)
        self._most_batch_bytes = most_batch_bytes
        self._path, self._name = path, str(path)
        with reading(self._name), pq.ParquetFile(path) as file:
            metadata = file.metadata
            self._schema = without(file.schema_arrow, ignore, self._name)
        self._buffer_bytes = max(1 << 10, min(BUFFER_BYTES, MOST_BUFFER_BYTES // max(metadata.num_columns, 1)))
        self._project = bool(ignore)
        self.n_rows = metadata.num_rows
        unique_names(self._schema.names, self._name, limits)
        self.target_name = check_target(target, self._schema.names, self._name)
        if self.n_rows == 0:
            raise no_rows(self._name)
        sample = next(self._read(1)) if needs_sample(self._schema) else None
        self._decoder = TableDecoder(
            self._schema, self.target_name, source=self._name, sample=sample, categorical=categorical
        )

    def _blocks(self, size: int) -> Iterator[Batch]:
        most = max(1, self._most_batch_bytes // (8 * len(self._decoder.feature_names)))
        self._n_read = 0
        for rows in self._read(min(size, most)):
            first = self._n_read
            batch = self._decoder.batch(rows, counted_from(first, self._name))
            self._n_read += rows.num_rows
            yield batch

    def _read(self, n_rows: int) -> Iterator[Any]:
        names = self._schema.names if self._project else None
        with (
            reading(self._name),
            pq.ParquetFile(self._path, pre_buffer=False, buffer_size=self._buffer_bytes) as file,
        ):
            for rows in file.iter_batches(batch_size=n_rows, columns=names):
                # A name with a dot in it also matches as a path, so the reader may return more than was asked for.
                yield rows.select(names) if self._project else rows
