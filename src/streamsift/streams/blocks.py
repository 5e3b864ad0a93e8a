"""BlockStream: what all readers share. A reader gives blocks of any length, the rest follows from them.

A reader that can begin in the middle says where each block begins (`_mark_block`) and looks at `_place`, where the
blocks are to begin; the position of the stream is then that place, what was known there, and the rows to leave out
behind it. Of all other readers it is a number of rows, which are read again.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch
from streamsift.core.exceptions import ParameterError, ReadingNotice
from streamsift.streams.files import count_lines
from streamsift.streams.labels import as_numbers
from streamsift.streams.positions import Position, no_position, whole_number, without_first
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


@dataclass(frozen=True)
class _Mark:
    """Where the current block begins, and what was known there."""

    place: dict[str, Any]
    first_row: int
    n_skipped: int  # rows without a label
    n_categories: dict[str, int]


class BlockStream(ABC):
    """A RowStream over `_blocks`; names and categories are those of the decoder, where there is one."""

    target_name: str | None = None
    n_rows: int | None = None
    numeric_target = False  # whether labels are given as floats, whatever they look like
    _decoder: TableDecoder | None = None
    _n_read = 0
    _n_total: int | None = None  # rows of the source, where some of them are skipped
    _place: dict[str, Any] | None = None  # where the next blocks begin; None: at the beginning
    _seeks = False  # whether the reader knows about places
    _start: Position | None = None
    _mark: _Mark | None = None
    _n_decoded = _n_given = 0

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
        """How many rows without a label the latest reading has met so far, where they are skipped or kept."""
        return 0 if self._decoder is None else self._decoder.n_skipped

    def progress(self) -> float | None:
        total = self._n_total or self.n_rows
        # A block that is read may be longer than the batches given.
        return None if total is None else min(self._n_read, self._n_given + self.n_unlabelled) / total

    def batches(self, batch_size: int) -> Iterator[Batch]:
        start, self._start = self._start, None
        return self._given(recut(self._from(start, batch_size), batch_size))

    def position(self) -> Position:
        """Where the rows behind the latest batch begin; see streams/positions.py."""
        mark, position = self._mark, {"rows": self._n_given}
        if mark is None:
            return position
        known = self.categories
        return position | {
            "block": mark.place,
            "first_row": mark.first_row,
            "skipped": mark.n_skipped,
            "categories": {name: list(known[name][:n_values]) for name, n_values in mark.n_categories.items()},
        }

    def seek(self, position: Position) -> None:
        """Let the next reading begin at a position."""
        n_rows = whole_number(position, "rows")
        if self._seeks and "block" in position:
            whole_number(position, "first_row", n_rows)
            whole_number(position, "skipped")
            if not isinstance(position["block"], dict):
                raise no_position("block")
            if self._decoder is not None:
                self._decoder.check_categories(position.get("categories"))
        self._start = position

    def _from(self, start: Position | None, size: int) -> Iterator[Batch]:
        """The blocks from a position on."""
        self._mark, self._place = None, None
        self._n_decoded = self._n_given = 0
        if start is None:
            yield from self._counted(size)
            return
        n_skip = self._n_given = start["rows"]
        n_skipped = 0
        if self._seeks and "block" in start:
            self._place, self._n_decoded, n_skipped = start["block"], start["first_row"], start["skipped"]
            n_skip -= self._n_decoded
            if self._decoder is not None:
                self._decoder.know_categories(start["categories"])
        yield from without_first(self._counted(size, n_skipped), n_skip)

    def _given(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        for batch in batches:
            if self.numeric_target:
                batch = replace(batch, y=as_numbers(batch.y, self.target_name, self._n_given, batch.lines))
            self._n_given += batch.n_rows
            yield batch

    def _mark_block(self, place: dict[str, Any]) -> None:
        """Say where the rows that come next begin; called before they are decoded."""
        decoder = self._decoder
        sizes = {} if decoder is None else {name: len(known) for name, known in decoder.categories.items()}
        self._mark = _Mark(place, self._n_decoded, self.n_unlabelled, sizes)

    def skip_unlabelled(self) -> None:
        """From now on leave out rows without a label, and say at the end of each reading how many there were."""
        if self._decoder is None or self._decoder.target is None:
            raise ParameterError("The option unlabelled='skip' (--skip-unlabelled) needs a table with a target column.")
        self._decoder.skip_unlabelled = True
        self._n_total, self.n_rows = self.n_rows, None  # nobody knows how many will be left

    def keep_unlabelled(self) -> bool:
        """From now on give rows without a label the label None; whether this source can."""
        if self._decoder is None or self._decoder.target is None:
            return False
        self._decoder.keep_unlabelled = True
        return True

    def _counted(self, size: int, n_skipped: int = 0) -> Iterator[Batch]:
        """The blocks; at the end, a notice of the rows that were left out (those that are kept are the caller's)."""
        decoder = self._decoder
        if decoder is not None:
            decoder.n_skipped = n_skipped
        for block in self._blocks(size):
            self._n_decoded += block.n_rows
            yield block
        if decoder is not None and decoder.skip_unlabelled and decoder.n_skipped:
            warnings.warn(words_for_skipped(decoder.target, decoder.n_skipped), ReadingNotice, stacklevel=2)

    @abstractmethod
    def _blocks(self, size: int) -> Iterator[Batch]:
        """All rows, in blocks of any length; `size` is what the caller will cut them to."""
