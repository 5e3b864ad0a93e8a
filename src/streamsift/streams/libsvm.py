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
from streamsift.streams.files import READ_LIMITS, ByteSource, ReadLimits, no_rows, records
from streamsift.streams.labels import whole_numbers
from streamsift.streams.stream import widening

MOST_INDEX = np.iinfo(np.int32).max - 1  # one more is the number of columns


class LibsvmStream(BlockStream):
    """Rows of a LIBSVM file; features have numbers, no names. The first block decides whether indices begin at 0."""

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
        line, block = next(self._records(), (1, b""))
        X, y = self._parse(block, line)
        if len(y) == 0:
            raise no_rows(source.name)
        self._first_index = _lowest(X) if zero_based is None else int(not zero_based)

    def progress(self) -> float | None:
        return self._source.progress()

    def batches(self, batch_size: int) -> Iterator[Batch]:
        return widening(super().batches(batch_size), self._n_features or 1)

    def _blocks(self, size: int) -> Iterator[Batch]:
        for line, block in self._records():
            X, y = self._parse(block, line)
            X.indices -= self._first_index
            self._check_width(X, block, line)
            self._check(X, y, block, line)
            if len(y):
                lines = lines_of(block, line, len(y), _row_lines)
                yield Batch(X, whole_numbers(y), lines=lines)

    def _records(self) -> Iterator[tuple[int, bytes]]:
        chunks = self._source.chunks(self._limits.block_bytes)
        return records(chunks, name=self._source.name, line=1, longest=self._limits.longest_record)

    def _parse(self, block: bytes, line: int) -> tuple[Any, NDArray[np.float64]]:
        """The rows of a block, with the indices of the file."""
        try:
            return _load(block)
        except (ValueError, OverflowError, MemoryError) as error:
            for number, row in enumerate(block.split(b"\n"), start=line):
                try:
                    _load(row)
                except (ValueError, OverflowError, MemoryError) as reason:
                    raise ReaderError(
                        f"Line {number} of {self._source.name} is not of the form 'label index:value index:value ...' "
                        f"with rising indices ({str(reason).rstrip('.')}): correct it."
                    ) from error
            raise  # pragma: no cover - a block fails only where one of its lines does

    def _check_width(self, X: Any, block: bytes, line: int) -> None:
        """Selectors keep numbers for each feature up to the largest: say what that takes before it is taken."""
        width = int(X.indices.max()) + 1 if X.nnz else 0
        most = self._limits.most_index if self._n_features is None else self._n_features
        if width > most and self._n_features is None:
            raise ReaderError(
                f"{self._place(X, int(np.argmax(X.indices)), block, line)} has feature index "
                f"{width - 1 + self._first_index}, more than the {most:,} allowed: if that is right, pass "
                "n_features=, or limits=ReadLimits(most_index=...)."
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
                f"{self._place(X, int(np.argmin(X.indices)), block, line)} has feature index 0, but the indices before "
                "it begin at 1: pass zero_based=True."
            )
        if self._n_features is not None and X.nnz and X.indices.max() >= self._n_features:
            index = int(X.indices.max()) + self._first_index
            raise ReaderError(
                f"{self._place(X, int(np.argmax(X.indices)), block, line)} has feature index {index}, but n_features "
                f"is {self._n_features}: pass a larger n_features or none."
            )
        missing = np.isnan(y)
        if missing.any():
            where = self._line_of(int(np.argmax(missing)), block, line)
            raise ReaderError(f"{where} has no label (it is NaN): drop the row or give it a label.")

    def _place(self, X: Any, entry: int, block: bytes, line: int) -> str:
        return self._line_of(int(np.searchsorted(X.indptr, entry, side="right")) - 1, block, line)

    def _line_of(self, row: int, block: bytes, line: int) -> str:
        return f"Line {_row_lines(block, line)[row]} of {self._source.name}"


def _row_lines(block: bytes, line: int) -> list[int]:
    """The lines of a block that are rows."""
    return [k for k, text in enumerate(block.split(b"\n"), start=line) if text.partition(b"#")[0].strip()]


def _load(block: bytes) -> tuple[Any, NDArray[np.float64]]:
    X, y = load_svmlight_file(io.BytesIO(block), zero_based=True)
    if X.nnz and (X.indices.min() < 0 or X.indices.max() > MOST_INDEX):
        raise ValueError(f"feature indices go from 0 to {MOST_INDEX}")
    return X, y


def _lowest(X: Any) -> int:
    """1 unless an index 0 occurs."""
    return 0 if X.nnz and X.indices.min() == 0 else 1
