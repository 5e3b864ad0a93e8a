"""Arrow IPC, the file format (also called Feather 2) and the stream format, record batch by record batch.

Every record batch is validated in full before it is used: lengths, offsets and codes in it are numbers that compiled
code follows. And the file is read, not mapped into memory: a map ends the process when the file shrinks while it is
read, and what was validated in it could be changed afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from streamsift.core.batch import Batch
from streamsift.core.decoder import counted_from
from streamsift.core.exceptions import ReaderError
from streamsift.core.memory import available_bytes
from streamsift.streams.blocks import BlockStream
from streamsift.streams.files import READ_LIMITS, ReadLimits, check_file, no_rows, reading, refuse_shrunk
from streamsift.streams.positions import whole_number
from streamsift.streams.table import TableDecoder, check_target, unique_names, without

MOST_BLOCK_ROWS = 1 << 16  # a file may hold all its rows in one record batch

_FILE_MAGIC, _FEATHER_1_MAGIC = b"ARROW1", b"FEA1"


class IpcStream(BlockStream):
    """Rows of an Arrow IPC file or stream."""

    target_name: str
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
        most_block_rows: int = MOST_BLOCK_ROWS,
    ) -> None:
        self._size = check_file(path)
        self._most_block_rows = most_block_rows
        self._path, self._name = path, str(path)
        self._fraction = 0.0
        with path.open("rb") as file:
            magic = file.read(len(_FILE_MAGIC))
        if magic.startswith(_FEATHER_1_MAGIC):
            raise ReaderError(f"{path} is in the old Feather 1 format: write it again as Feather 2 or Parquet.")
        self._is_file = magic == _FILE_MAGIC
        with opened(self._name) as (file, reader):
            self._schema = without(reader.schema, ignore, self._name)
            refuse_large_batches(self._name, self._size, reader.num_record_batches if self._is_file else None)
        self._project = bool(ignore)
        unique_names(self._schema.names, self._name, limits)
        self.target_name = check_target(target, self._schema.names, self._name)
        _, sample = next(self._read(), (0, None))
        if sample is None:
            raise no_rows(self._name)
        self._decoder = TableDecoder(
            self._schema, self.target_name, source=self._name, sample=sample.slice(0, 1), categorical=categorical
        )

    def progress(self) -> float | None:
        return self._fraction

    def _blocks(self, size: int) -> Iterator[Batch]:
        first, from_batch, from_row = 0, 0, 0
        if self._place is not None:
            first, from_batch, from_row = (whole_number(self._place, key) for key in ("row", "batch", "start"))
            first -= from_row
        for number, rows in self._read(from_batch):
            for start in range(from_row, rows.num_rows, self._most_block_rows):
                self._mark_block({"row": first + start, "batch": number, "start": start})
                part = rows.slice(start, self._most_block_rows)
                yield self._decoder.batch(part, counted_from(first + start, self._name))
            first, from_row = first + rows.num_rows, 0

    def _read(self, first: int = 0) -> Iterator[tuple[int, Any]]:
        """The record batches that have rows, with their numbers, without the ignored columns; from one of them on."""
        self._fraction = 0.0
        with opened(self._name) as (file, reader):
            if self._is_file:
                batches: Iterator[Any] = (reader.get_batch(k) for k in range(first, reader.num_record_batches))
            else:
                batches = islice(reader, first, None)
            for number, rows in enumerate(batches, start=first):
                rows.validate(full=True)
                done = number + 1
                self._fraction = done / reader.num_record_batches if self._is_file else file.tell() / file.size()
                if rows.num_rows:
                    yield number, rows.select(self._schema.names) if self._project else rows
        refuse_shrunk(self._path, self._size)
        self._fraction = 1.0


def refuse_large_batches(name: str, n_bytes: int, n_batches: int | None) -> None:
    """Raise ReaderError where the record batches of a file are, on average, larger than the memory there is.

    A record batch is read whole: Arrow gives a part of one only from a file that is mapped into memory, where one that
    is damaged or cut short ends the process. How many there are in a stream (None) is not known before its end.
    """
    available = available_bytes()
    if n_batches and available is not None and n_bytes // n_batches > available:
        raise ReaderError(
            f"{name} has record batches of about {n_bytes / n_batches / 1e9:.1f} GB, each of which is read whole, and "
            f"{available / 1e9:.1f} GB of memory are free: write it with smaller record batches, or as Parquet."
        )


@contextmanager
def opened(name: str, places: Sequence[int] | None = None) -> Iterator[tuple[Any, Any]]:
    """The file and Arrow's reader of it, with the columns at some places or with all."""
    options = pa.ipc.IpcReadOptions(included_fields=None if places is None else list(places))
    with reading(name), pa.OSFile(name) as file:
        is_file = file.read(len(_FILE_MAGIC)) == _FILE_MAGIC
        file.seek(0)
        opening = pa.ipc.open_file if is_file else pa.ipc.open_stream
        with opening(file, options=options) as reader:
            yield file, reader
