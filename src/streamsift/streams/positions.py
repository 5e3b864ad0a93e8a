"""Positions: where the reading of a stream stands, so that another process can go on from there.

A stream that can be reopened has two methods beside those of RowStream:

    position() -> dict      where the rows behind the latest batch begin; JSON can keep it
    seek(position)          the next call of `batches` begins there instead of at the beginning

What is in a position is the stream's own affair: rows, a place in a file, offsets of partitions. Whoever keeps it gives
it back unchanged, to a stream that was opened in the same way and is read in batches of the same size; the batches that
follow are then exactly those that would have followed. A position may come from a damaged file, so `seek` and `batches`
check it, and raise SavedStateError in words.

`resumable` makes any other stream one of these: it counts rows, and finds its place by reading them again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol, runtime_checkable

from streamsift.core.batch import Batch
from streamsift.core.exceptions import SavedStateError
from streamsift.core.state import MOST_ROWS
from streamsift.streams.files import ByteSource, ReadLimits, records
from streamsift.streams.stream import PassedOn, RowStream

Position = dict[str, Any]


@runtime_checkable
class Resumable(RowStream, Protocol):
    """A stream that says where it stands and can go on from there."""

    def position(self) -> Position:
        """Where the rows behind the latest batch begin."""
        ...

    def seek(self, position: Position) -> None:
        """Let the next call of `batches` begin at a position."""
        ...


def resumable(stream: RowStream) -> Resumable:
    """The stream itself where it knows its position, otherwise one that counts the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.streams import open_stream
    >>> rows = np.arange(6.0).reshape(6, 1), [0, 1, 0, 1, 0, 1]
    >>> stream = resumable(open_stream(rows))
    >>> first = next(stream.batches(4))
    >>> again = resumable(open_stream(rows))
    >>> again.seek(stream.position())
    >>> [batch.X.ravel().tolist() for batch in again.batches(4)]
    [[4.0, 5.0]]
    """
    return stream if isinstance(stream, Resumable) else RowCounted(stream)


class RowCounted(PassedOn):
    """A stream whose position is the number of rows read; they are read again to find it."""

    def __init__(self, stream: RowStream) -> None:
        super().__init__(stream)
        self._n_given = self._n_skip = 0

    def position(self) -> Position:
        """The number of rows behind us."""
        return {"rows": self._n_given}

    def seek(self, position: Position) -> None:
        """Skip so many rows at the next reading."""
        self._n_skip = whole_number(position, "rows")

    def batches(self, batch_size: int) -> Iterator[Batch]:
        """The batches behind the position."""
        skip, self._n_skip = self._n_skip, 0
        return self._counted(self._stream.batches(batch_size), skip)

    def _counted(self, batches: Iterable[Batch], skip: int) -> Iterator[Batch]:
        self._n_given = skip
        for batch in without_first(batches, skip):
            self._n_given += batch.n_rows
            yield batch


def without_first(blocks: Iterable[Batch], n_rows: int) -> Iterator[Batch]:
    """The same rows without the first; SavedStateError where there are fewer."""
    left = n_rows
    for block in blocks:
        if left >= block.n_rows:
            left -= block.n_rows
            continue
        yield block if left == 0 else block.rows(slice(left, None))
        left = 0
    if left:
        raise SavedStateError(
            f"The source ends {left:,} rows before the position of the checkpoint: give the source that it was "
            "written for."
        )


def whole_number(found: Any, key: str, high: int = MOST_ROWS, low: int = 0) -> int:
    """A number of a position that came from a file."""
    value = found.get(key) if isinstance(found, Mapping) else None
    if type(value) is not int or not low <= value <= high:
        raise no_position(key)
    return value


def no_position(what: str) -> SavedStateError:
    """The error for a position that this source cannot have written."""
    return SavedStateError(
        f"The checkpoint is damaged, or was written for a source of another format: its position has no proper "
        f"{what!r}."
    )


# -- text -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TextPlace:
    """Where a block of records begins in a text: its first byte, its line, and how far the text was read by then.

    How far it was read decides where the block ends, and so which categories are met together.
    """

    offset: int
    read_to: int
    line: int

    @classmethod
    def beginning(cls, n_bytes: int = 0, line: int = 1) -> TextPlace:
        """The place behind a header."""
        return cls(n_bytes, n_bytes, line)

    @classmethod
    def of(cls, found: Any, limits: ReadLimits) -> TextPlace:
        """A place that was kept in a file."""
        offset = whole_number(found, "offset", 1 << 62)
        most = offset + limits.longest_record + max(limits.block_bytes, limits.most_block_bytes)
        return cls(offset, whole_number(found, "read_to", most, offset), whole_number(found, "line", 1 << 62, 1))

    def as_dict(self) -> dict[str, int]:
        """As JSON keeps it."""
        return asdict(self)


def placed_records(
    source: ByteSource, n_bytes: int, place: TextPlace, *, delimiter: bytes = b"", longest: int
) -> Iterator[tuple[TextPlace, bytes]]:
    """The blocks of whole records from a place on, read `n_bytes` at a time, and the place of each.

    From the place of any of them the same blocks follow.
    """
    counted = _CountedChunks(source.chunks(n_bytes, skip=place.offset, more=place.read_to - place.offset), place.offset)
    offset, read_to = place.offset, place.read_to
    for line, block in records(counted, name=source.name, line=place.line, delimiter=delimiter, longest=longest):
        yield TextPlace(offset, read_to, line), block
        offset, read_to = offset + len(block), max(counted.n_bytes, place.read_to)


class _CountedChunks:
    """Chunks that are counted as they pass."""

    def __init__(self, chunks: Iterable[bytes], n_bytes: int) -> None:
        self._chunks, self.n_bytes = chunks, n_bytes

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self.n_bytes += len(chunk)
            yield chunk
