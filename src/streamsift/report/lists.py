"""The list columns of a trace as flat arrays: long runs are summarized without a Python loop over their lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray


@dataclass(frozen=True)
class Lists:
    """Lists of numbers, one per record, joined: line k holds `values[starts[k]:starts[k + 1]]`."""

    values: NDArray[Any]
    starts: NDArray[np.int64]
    known: NDArray[np.bool_]  # False where the line has no list at all

    @classmethod
    def of(cls, column: Any) -> Lists:
        """The lists of a pyarrow column."""
        lists = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
        lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
        starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        return cls(lists.flatten().to_numpy(zero_copy_only=False), starts, ~np.asarray(lists.is_null()))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def line(self, number: int) -> NDArray[Any]:
        """One list."""
        return self.values[self.starts[number] : self.starts[number + 1]]

    @property
    def lines(self) -> NDArray[np.int64]:
        """The number of the line that each value stands in."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def flags(self, wanted: list[int], lines: NDArray[np.intp]) -> NDArray[np.bool_]:
        """For each wanted value and each of some lines: is it in the list?"""
        found = np.zeros((len(wanted), len(lines)), bool)
        if len(self.values) and wanted:
            place = np.full(max(int(self.values.max()), *wanted) + 1, -1)
            place[wanted] = np.arange(len(wanted))
            column = np.full(len(self), -1)
            column[lines] = np.arange(len(lines))
            row, time = place[self.values], column[self.lines]
            both = (row >= 0) & (time >= 0)
            found[row[both], time[both]] = True
        return found
