"""The text format of LIBSVM and SVMlight: `label index:value index:value ...`, as CSR batches.

scikit-learn parses the blocks. It is asked for the indices as they stand in the file, because its own guess whether
they begin at 0 or at 1 is made anew for every block. Here the head of the file decides once. A batch is as wide as the
largest index up to its last row, unless the number of features is given.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from streamsift.core.batch import Batch
from streamsift.core.constraints import Integer, IsBool, IsNone, Limits, check_parameters
from streamsift.core.exceptions import ReaderError, StreamsiftWarning
from streamsift.streams.blocks import BlockStream, lines_of
from streamsift.streams.files import READ_LIMITS, ByteSource, ReadLimits, how_to_raise, no_rows
from streamsift.streams.labels import whole_numbers
from streamsift.streams.positions import Position, TextPlace, placed_records, whole_number
from streamsift.streams.stream import widening

_UNREADABLE = (ValueError, OverflowError, MemoryError)  # what scikit-learn says about a line that is wrong
MOST_INDEX = np.iinfo(np.int32).max - 1  # one more is the number of columns


class LibsvmStream(BlockStream):
    """Rows of a LIBSVM file; features have numbers, no names. The first block decides whether indices begin at 0."""

    _seeks = True
    _width = 1

    def __init__(
        self,
        source: ByteSource,
        target: str | None = None,
        *,
        zero_based: bool | None = None,
        n_features: int | None = None,
        limits: ReadLimits = READ_LIMITS,
    ) -> None:
        checks: Limits = {"zero_based": (IsBool(), IsNone()), "n_features": (Integer(1, None), IsNone())}
        check_parameters("open_stream", {"zero_based": zero_based, "n_features": n_features}, checks)
        self._source, self._limits = source, limits
        self.target_name = target
        self._n_features = n_features
        self._said = False
        place, block = next(self._records(), (TextPlace.beginning(), b""))
        line = place.line
        X, y = self._parse(block, line)
        if len(y) == 0:
            raise no_rows(source.name)
        self._first_index = _lowest(X) if zero_based is None else int(not zero_based)

    def progress(self) -> float | None:
        return self._source.progress()

    def batches(self, batch_size: int) -> Iterator[Batch]:
        start = self._start
        self._width = self._n_features or 1 if start is None else whole_number(start, "width", MOST_INDEX + 1, 1)
        return self._widening(super().batches(batch_size))

    def _widening(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        for batch in widening(batches, self._width):
            self._width = int(batch.X.shape[1])
            yield batch

    def position(self) -> Position:
        """Where the rows behind the latest batch begin, and how wide the batches are by now."""
        return super().position() | {"width": self._width}

    def _blocks(self, size: int) -> Iterator[Batch]:
        for place, block in self._records():
            self._mark_block(place.as_dict())
            line = place.line
            X, y = self._parse(block, line)
            X.indices -= self._first_index
            self._check_width(X, block, line)
            self._check(X, y, block, line)
            if len(y):
                lines = lines_of(block, line, len(y), _row_lines)
                yield Batch(X, whole_numbers(y), lines=lines)

    def _records(self) -> Iterator[tuple[TextPlace, bytes]]:
        limits = self._limits
        start = TextPlace.beginning() if self._place is None else TextPlace.of(self._place, limits)
        return placed_records(self._source, limits.block_bytes, start, longest=limits.longest_record)

    def _parse(self, block: bytes, line: int) -> tuple[Any, NDArray[np.float64]]:
        """The rows of a block, with the indices of the file."""
        try:
            return _load(block)
        except _UNREADABLE as error:
            offset, reason = _first_unreadable(block, error)
            raise ReaderError(
                f"Line {line + offset} of {self._source.name} is not of the form 'label index:value index:value ...' "
                f"with rising indices ({str(reason).rstrip('.')}): correct it."
            ) from error

    def _check_width(self, X: Any, block: bytes, line: int) -> None:
        """Selectors keep numbers for each feature up to the largest: say what that takes before it is taken."""
        width = int(X.indices.max()) + 1 if X.nnz else 0
        most = self._limits.most_index if self._n_features is None else self._n_features
        if width > most and self._n_features is None:
            raise ReaderError(
                f"{self._entry(X, int(np.argmax(X.indices)), block, line)} has feature index "
                f"{width - 1 + self._first_index}, more than the {most:,} allowed: {how_to_raise('most_index')}."
            )
        if width > self._limits.wide and not self._said:
            self._said = True
            warnings.warn(
                f"{self._source.name} has at least {width:,} features: a selector takes {width * 8 / 1e9:.1f} GB for "
                "each number it keeps of a feature.",
                StreamsiftWarning,
                stacklevel=2,
            )

    def _check(self, X: Any, y: NDArray[np.float64], block: bytes, line: int) -> None:
        if X.nnz and X.indices.min() < 0:
            raise ReaderError(
                f"{self._entry(X, int(np.argmin(X.indices)), block, line)} has feature index 0, but the indices before "
                "it begin at 1: pass zero_based=True."
            )
        if self._n_features is not None and X.nnz and X.indices.max() >= self._n_features:
            index = int(X.indices.max()) + self._first_index
            raise ReaderError(
                f"{self._entry(X, int(np.argmax(X.indices)), block, line)} has feature index {index}, but n_features "
                f"is {self._n_features}: pass a larger n_features or none."
            )
        missing = np.isnan(y)
        if missing.any():
            where = self._line_of(int(np.argmax(missing)), block, line)
            raise ReaderError(f"{where} has no label (it is NaN): drop the row or give it a label.")

    def _entry(self, X: Any, entry: int, block: bytes, line: int) -> str:
        return self._line_of(int(np.searchsorted(X.indptr, entry, side="right")) - 1, block, line)

    def _line_of(self, row: int, block: bytes, line: int) -> str:
        return f"Line {_row_lines(block, line)[row]} of {self._source.name}"


def _row_lines(block: bytes, line: int) -> list[int]:
    """The lines of a block that are rows."""
    return [k for k, text in enumerate(block.split(b"\n"), start=line) if text.partition(b"#")[0].strip()]


def _first_unreadable(block: bytes, error: Exception) -> tuple[int, Exception]:
    """The first line of a block that scikit-learn cannot read, and what it says about it.

    The block is halved again and again: one line after the other, a million of them would take many minutes.
    """
    lines, first = block.split(b"\n"), 0
    while len(lines) > 1:
        half = len(lines) // 2
        try:
            _load(b"\n".join(lines[:half]))
        except _UNREADABLE as reason:
            lines, error = lines[:half], reason
        else:
            lines, first = lines[half:], first + half
    try:
        _load(lines[0])
    except _UNREADABLE as reason:
        error = reason
    return first, error


def _load(block: bytes) -> tuple[Any, NDArray[np.float64]]:
    X, y = load_svmlight_file(io.BytesIO(block), zero_based=True)
    if X.nnz and (X.indices.min() < 0 or X.indices.max() > MOST_INDEX):
        raise ValueError(f"feature indices go from 0 to {MOST_INDEX}")
    return X, y


def _lowest(X: Any) -> int:
    """1 unless an index 0 occurs."""
    return 0 if X.nnz and X.indices.min() == 0 else 1
