"""BlockStream: what all readers share. A reader gives blocks of any length, the rest follows from them."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch
from streamsift.core.exceptions import ParameterError, ReadingNotice
from streamsift.streams.files import count_lines
from streamsift.streams.stream import recut
from streamsift.streams.table import TableDecoder, words_for_skipped

RowLines = Callable[[bytes, int], Sequence[int]]  # a block and its first line -> the line of each row


def lines_of(block: bytes, line: int, n_rows: int, exactly: RowLines) -> NDArray[np.int64]:
    """The line on which each row of a block begins, where the block begins on `line`.

    With as many rows as lines there is nothing to look for; otherwise `exactly` looks, which may take long.
    """
    if count_lines(block) + (not block.endswith(b"\n")) != n_rows:
        found = exactly(block, line)
        if len(found) == n_rows:
            return np.array(found, np.int64)
    return np.arange(line, line + n_rows)


class BlockStream(ABC):
    """A RowStream over `_blocks`; names and categories are those of the decoder, where there is one."""

    target_name: str | None = None
    n_rows: int | None = None
    _decoder: TableDecoder | None = None
    _n_read = 0
    _n_total: int | None = None  # rows of the source, where some of them are skipped

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return None if self._decoder is None else self._decoder.feature_names

    @property
    def categories(self) -> dict[str, tuple[str, ...]]:
        return {} if self._decoder is None else self._decoder.categories

    @property
    def feature_kinds(self) -> tuple[str, ...] | None:
        """What each feature was read as: "number", "category", "seconds", "list" or "null"; None: numbers."""
        return None if self._decoder is None else self._decoder.feature_kinds

    @property
    def n_unlabelled(self) -> int:
        """How many rows without a label the latest reading has skipped so far."""
        return 0 if self._decoder is None else self._decoder.n_skipped

    def progress(self) -> float | None:
        total = self._n_total or self.n_rows
        return None if total is None else self._n_read / total

    def batches(self, batch_size: int) -> Iterator[Batch]:
        return recut(self._counted(batch_size), batch_size)

    def skip_unlabelled(self) -> None:
        """From now on leave out rows without a label, and say at the end of each reading how many there were."""
        if self._decoder is None or self._decoder.target is None:
            raise ParameterError("The option unlabelled='skip' (--skip-unlabelled) needs a table with a target column.")
        self._decoder.skip_unlabelled = True
        self._n_total, self.n_rows = self.n_rows, None  # nobody knows how many will be left

    def _counted(self, size: int) -> Iterator[Batch]:
        """The blocks; at the end, a notice of the rows that were left out."""
        decoder = self._decoder
        if decoder is None or not decoder.skip_unlabelled:
            yield from self._blocks(size)
            return
        decoder.n_skipped = 0
        yield from self._blocks(size)
        if decoder.n_skipped:
            warnings.warn(words_for_skipped(decoder.target, decoder.n_skipped), ReadingNotice, stacklevel=2)

    @abstractmethod
    def _blocks(self, size: int) -> Iterator[Batch]:
        """All rows from the beginning, in blocks of any length; `size` is what the caller will cut them to."""
