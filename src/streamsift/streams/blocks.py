"""BlockStream: what all readers share. A reader gives blocks of any length, the rest follows from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from streamsift.core.batch import Batch
from streamsift.streams.stream import recut
from streamsift.streams.table import TableDecoder


class BlockStream(ABC):
    """A RowStream over `_blocks`; names and categories are those of the decoder, where there is one."""

    target_name: str | None = None
    n_rows: int | None = None
    _decoder: TableDecoder | None = None
    _n_read = 0

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return None if self._decoder is None else self._decoder.feature_names

    @property
    def categories(self) -> dict[str, tuple[str, ...]]:
        return {} if self._decoder is None else self._decoder.categories

    def progress(self) -> float | None:
        return None if self.n_rows is None else self._n_read / self.n_rows

    def batches(self, batch_size: int) -> Iterator[Batch]:
        return recut(self._blocks(batch_size), batch_size)

    @abstractmethod
    def _blocks(self, size: int) -> Iterator[Batch]:
        """All rows from the beginning, in blocks of any length; `size` is what the caller will cut them to."""
