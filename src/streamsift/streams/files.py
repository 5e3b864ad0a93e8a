"""Files and standard input as bytes: opening, decompressing, progress, cutting into whole records, wording failures."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from streamsift.core.categories import MOST_CATEGORIES
from streamsift.core.exceptions import ParameterError, ReaderError, UnknownNameError
from streamsift.streams.encodings import Utf8Reader, check_encoding

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
# The limits that a stranger's file may meet, as the command line calls them.
LIMIT_OPTIONS = {
    "longest_record": "--max-line",
    "longest_field": "--max-field",
    "longest_name": "--max-name",
    "most_columns": "--max-columns",
    "most_index": "--max-index",
}


@dataclass(frozen=True)
class ReadLimits:
    """How much of a text file is read at once, and what is too much.

    Attributes
    ----------
    head_bytes : int
        What the meaning of the columns is decided on; more where this does not hold a whole row.
    block_bytes : int
        What is parsed at once.
    most_block_bytes : int
        How large a block may become so that it holds enough rows, where rows are long.
    longest_record : int
        Bytes; a longer "record" is a quote that never closes, or no text at all.
    longest_field : int
        Characters of one value of an ARFF file; a cell of a CSV file is bounded by its record.
    longest_name : int
        Characters of the name of a column.
    most_columns : int
        Columns that have names; also the values a nominal attribute of an ARFF file may declare.
    most_index : int
        Columns that have only numbers, as in LIBSVM and .npz files: the largest index.
    wide : int
        Beyond this index a warning says what selectors will take.
    most_categories : int
        A column with more distinct texts is an identifier.

    Examples
    --------
    >>> from streamsift.streams import ReadLimits, open_stream
    >>> open_stream("wide.libsvm", limits=ReadLimits(most_index=10**9))  # doctest: +SKIP
    >>> open_stream("wide.libsvm", limits={"most_index": 10**9})  # doctest: +SKIP
    """

    head_bytes: int = 1 << 20
    block_bytes: int = 1 << 20
    most_block_bytes: int = 32 << 20
    longest_record: int = 1 << 26
    longest_field: int = 1 << 24
    longest_name: int = 10_000
    most_columns: int = 1 << 20
    most_index: int = 10**8
    wide: int = 10**7
    most_categories: int = MOST_CATEGORIES

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise ParameterError(
                    f"The limit {field.name!r} must be a whole number from 1 on. Got {value!r} instead."
                )

    def changed(self, given: Mapping[str, int]) -> ReadLimits:
        """The same with some limits set, by name.

        >>> ReadLimits().changed({"longest_name": 50}).longest_name
        50
        """
        known = [field.name for field in fields(self)]
        for name in given:
            if name not in known:
                raise UnknownNameError("limit", str(name), known)
        return replace(self, **given)


READ_LIMITS = ReadLimits()


def how_to_raise(limit: str) -> str:
    """What to do about a limit that honest data has met.

    >>> how_to_raise("most_index")
    "if that is right, raise the limit with --max-index (in Python limits={'most_index': ...})"
    """
    return f"if that is right, raise the limit with {LIMIT_OPTIONS[limit]} (in Python limits={{{limit!r}: ...}})"


def check_file(path: Path) -> int:
    """The size of a readable, non-empty file; everything else is a ReaderError."""
    if path.is_dir():
        raise ReaderError(f"{path} is a directory: name a file in it.")
    if not path.exists():
        raise ReaderError(f"There is no file {path}: check the path.")
    if not path.is_file():
        raise ReaderError(f"{path} is not a regular file: send it to standard input and read '-'.")
    with reading(str(path)), path.open("rb"):
        size = path.stat().st_size
    if size == 0:
        raise empty(str(path))
    return size


def refuse_shrunk(path: Path, size: int) -> None:
    """Raise ReaderError if a file has become shorter than it was: its end would pass for the end of the data."""
    if path.exists() and path.stat().st_size < size:
        raise ReaderError(f"{path} became shorter while it was read: read it again when nobody writes to it.")


def empty(name: str) -> ReaderError:
    """The error for a source without a single byte of data."""
    return ReaderError(f"{name} is empty: there is nothing to read.")


def no_rows(name: str) -> ReaderError:
    """The error for a source that describes its columns and stops there."""
    return ReaderError(f"{name} has a header but no rows: there is nothing to learn from.")


def too_many_columns(name: str, n_columns: int, most: int, limit: str) -> ReaderError:
    """The error for a source that is wider than anybody's data should be."""
    return ReaderError(f"{name} has {n_columns:,} columns, more than the {most:,} allowed: {how_to_raise(limit)}.")


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn failures of the operating system and of pyarrow into a ReaderError about `name`."""
    try:
        yield
    except PermissionError as error:
        raise ReaderError(f"{name} cannot be opened: you have no permission to read it.") from error
    except (MemoryError, pa.ArrowMemoryError) as error:
        raise ReaderError(f"{name} asks for more memory than there is: the file may be damaged.") from error
    except (OSError, pa.ArrowException, UnicodeDecodeError, OverflowError) as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise ReaderError(f"{name} cannot be read, the file may be damaged or of another format: {reason}.") from error


class ByteSource:
    """A file, decompressed by its suffix, or standard input (path None), as chunks of bytes of UTF-8 text."""

    def __init__(self, path: Path | None, encoding: str | None = None) -> None:
        self.path = path
        self._encoding = None if encoding is None else check_encoding(encoding)
        self._input: Utf8Reader | None = None  # standard input
        self.name = "standard input" if path is None else str(path)
        self._size = None if path is None else check_file(path)
        self._consumed = 0
        self._kept = b""  # standard input only: what `head` has taken from it
        self._spent = False

    def head(self, n_bytes: int) -> bytes:
        """The first bytes, at least `n_bytes` where there are that many; the stream still starts before them.

        Of standard input that is being read there are none any more.
        """
        if self.path is None:
            if self._spent:
                return b""  # it is gone, and waiting for more would be waiting for the rows
            self._kept += _fill(self._standard_input(), n_bytes - len(self._kept))
            return self._kept
        with reading(self.name), self._open() as (_, file):
            return _fill(file, n_bytes)

    def chunks(self, n_bytes: int, skip: int = 0, more: int = 0) -> Iterator[bytes]:
        """All bytes after the first `skip`, in pieces of `n_bytes`; the first piece has `more` of them."""
        if self.path is None:
            yield from self._chunks_of_input(n_bytes, skip, more)
            return
        with reading(self.name), self._open() as (raw, file):
            file.skip(skip)
            while chunk := _fill(file, n_bytes + more):
                more = 0
                self._consumed = raw.tell()
                yield chunk
            refuse_shrunk(self.path, self._size or 0)
            self._consumed = self._size or 0

    def _chunks_of_input(self, n_bytes: int, skip: int, more: int) -> Iterator[bytes]:
        if self._spent:
            raise ReaderError("standard input can be read only once: save it to a file to read it again.")
        self._spent = True
        self._standard_input().skip(skip - len(self._kept))
        kept, self._kept = self._kept[skip:], b""
        while chunk := kept + _fill(self._standard_input(), n_bytes + more - len(kept)):
            kept, more = b"", 0
            yield chunk

    def _standard_input(self) -> Utf8Reader:
        if self._input is None:
            self._input = Utf8Reader(sys.stdin.buffer, self._encoding, self.name)
        return self._input

    def progress(self) -> float | None:
        """The fraction of the file's own (compressed) bytes read so far; None for standard input and pipes."""
        return self._consumed / self._size if self._size else None

    @contextmanager
    def _open(self) -> Iterator[tuple[Any, Any]]:
        """The raw file, whose position is the progress, and the file of decompressed bytes."""
        assert self.path is not None
        compression = COMPRESSIONS.get(self.path.suffix.lower())
        if compression is None:
            with self.path.open("rb", buffering=0) as raw:
                yield raw, Utf8Reader(raw, self._encoding, self.name)
        else:
            with pa.OSFile(str(self.path)) as raw, pa.CompressedInputStream(raw, compression) as file:
                yield raw, Utf8Reader(file, self._encoding, self.name)


def _fill(file: Any, n_bytes: int) -> bytes:
    """Read `n_bytes`, however small the pieces are in which they come; fewer only at the end."""
    pieces = []
    while n_bytes > 0 and (piece := file.read(n_bytes)):
        pieces.append(piece)
        n_bytes -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def records(
    chunks: Iterable[bytes],
    *,
    name: str,
    line: int,
    delimiter: bytes = b"",
    longest: int = READ_LIMITS.longest_record,
) -> Iterator[tuple[int, bytes]]:
    """Join and cut chunks so that each holds whole records; with each comes the number of its first line.

    A record is a line; with a `delimiter`, a double-quoted value may run over several lines. A record of more than
    `longest` bytes is an error.
    """
    pieces: list[bytes] = []
    waiting = wanted = 0  # bytes in `pieces`, and how many it takes until a look at them is worth while
    for chunk in chunks:
        pieces.append(chunk)
        waiting += len(chunk)
        if waiting < wanted:
            continue
        block = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        end = last_record_end(block, delimiter)
        if end == 0:
            if len(block) > longest:
                raise _too_long(line, name, longest)
            # Twice as much before the next look, so that each byte of a long record is looked at a few times at most.
            pieces, wanted = [block], min(2 * waiting, longest + 1)
            continue
        pieces, waiting, wanted = [block[end:]], len(block) - end, 0
        block = block[:end]
        refuse_long_lines(block, line, name, longest)
        yield line, block
        line += count_lines(block)
    rest = b"".join(pieces)
    if rest:
        refuse_long_lines(rest, line, name, longest)
        yield from _last_records(rest, line, delimiter)


def refuse_long_lines(block: bytes, line: int, name: str, longest: int) -> None:
    """Raise ReaderError for a line of more than `longest` bytes; a block that is shorter as a whole has none."""
    if len(block) <= longest:
        return
    breaks = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))
    lengths = np.diff(breaks, prepend=-1, append=len(block)) - 1
    if lengths.max() > longest:
        raise _too_long(line + int(np.argmax(lengths > longest)), name, longest)


def _too_long(line: int, name: str, longest: int) -> ReaderError:
    return ReaderError(
        f"Line {line} of {name} is longer than {longest:,} bytes: look for a quote that is never closed, check that "
        f"this is a text file, or, {how_to_raise('longest_record')}."
    )


def _last_records(rest: bytes, line: int, delimiter: bytes) -> Iterator[tuple[int, bytes]]:
    """What is left at the end: whole records first, where there are any, then the one that no line break ends."""
    end = last_record_end(rest, delimiter)
    if end:
        yield line, rest[:end]
        line += count_lines(rest[:end])
    if end < len(rest):
        yield line, rest[end:]


def count_lines(block: bytes) -> int:
    """The line breaks of a block; numpy counts short lines faster than bytes.count."""
    return int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord("\n")))


def last_record_end(block: bytes, delimiter: bytes) -> int:
    """Where the last whole record of a block ends (0: nowhere); the block begins with a record.

    A line break lies inside a quoted value when the number of quotes before it is odd. Then the last quote before it
    is the opening one (or the second of a doubled one), and the record began before that. A last quote in any other
    place is a mere character, as in `5" pipe`, and opens nothing.
    """
    end = block.rfind(b"\n") + 1
    if not delimiter or b'"' not in block:
        return end
    n_quotes = block.count(b'"', 0, end)
    while n_quotes % 2:
        last = block.rfind(b'"', 0, end)
        if last > 0 and block[last - 1 : last] not in (delimiter, b"\n", b'"'):
            break
        start = block.rfind(b"\n", 0, last) + 1
        n_quotes -= block.count(b'"', start, end)
        end = start
    return end


def own_copy(block: bytes) -> Any:
    """A copy of a block in pyarrow's own memory, for pyarrow's threads to read.

    A thread may let go of a block only when the program ends. If that were Python's memory, it would wait for an
    interpreter that is about to be gone, and the process would be aborted after its work is done.
    """
    buffer = pa.allocate_buffer(len(block))
    memoryview(buffer).cast("B")[:] = block
    return buffer
