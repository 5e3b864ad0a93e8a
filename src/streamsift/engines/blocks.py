"""The plan of a wide table: row blocks and column blocks, each within a memory limit.

Scores of single features know nothing of each other, so columns may be cut anywhere. Moments of a million features fit
anywhere; lists of bins do not (about 47 kB per feature at eps 0.01). So:

    moments   as few column blocks as memory allows, and as many row blocks as keep all workers busy; states of row
              blocks are merged, which is exact
    bins      every column block passes over all rows by itself, for states of lists are large to send and to merge;
              the answer is that of one pass over these columns

What column blocks hand over is their scores: side by side they are the answer, and no process ever holds all states
(docs/adr/0018).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from streamsift.core.batch import Batch, columns_of
from streamsift.core.exceptions import ParameterError
from streamsift.streams.stream import PassedOn, RowStream, recut

PROCESS_BYTES = 600_000_000  # what a process takes beside its block: the interpreter, kernels, buffers and a batch
BATCH_BYTES = 64_000_000  # rows that are decoded at once, as float64
_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}


@runtime_checkable
class WidePart(Protocol):
    """Rows that can be opened for some columns only, such as rows that are generated where they are needed."""

    n_features: int

    def open_columns(self, first: int, stop: int) -> RowStream: ...


@dataclass(frozen=True)
class BlockPlan:
    """How a wide table is cut: (first, one behind the last) of each column block, and the parts of each row block."""

    n_features: int
    columns: tuple[tuple[int, int], ...]
    rows: tuple[tuple[Any, ...], ...]
    bytes_per_block: int  # the most that learning a block is expected to take, with the process

    def tasks(self) -> list[tuple[tuple[int, int], tuple[Any, ...]]]:
        """One task for each block of the grid, the row blocks of a column block behind one another."""
        return [(columns, rows) for columns in self.columns for rows in self.rows]


def read_bytes(memory: int | str) -> int:
    """Bytes, from a number or a text such as "4GB" or "512 MiB".

    >>> read_bytes("4GB"), read_bytes("512 MiB"), read_bytes(10**9)
    (4000000000, 536870912, 1000000000)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", str(memory))
    if found is None or found[2].lower() not in _UNITS:
        raise ParameterError(f"{memory!r} is no amount of memory: write 4GB, 512MiB, or a number of bytes.")
    return int(float(found[1]) * _UNITS[found[2].lower()])


def planned(
    selector: Any, parts: Sequence[Any], n_features: int, n_classes: int, n_values: int | None, memory: int, jobs: int
) -> BlockPlan:
    """The plan for a selector; refused where not even one feature fits."""

    def needed(width: int) -> int:
        share = None if n_values is None else -(-n_values * width // n_features)
        return PROCESS_BYTES + int(selector._bytes_at_most(width, n_classes, share))

    if needed(1) > memory:
        raise ParameterError(
            f"A process takes about {needed(1) / 1e6:,.0f} MB by itself, more than the {memory / 1e6:,.0f} MB allowed: "
            "raise the memory limit (memory=, --memory)."
        )
    per_feature = (needed(n_features) - PROCESS_BYTES) / n_features
    widest = max(min(int((memory - PROCESS_BYTES) / per_feature), n_features), 1)
    n_blocks = -(-n_features // widest)
    exact = selector.stream_tags().mergeable == "exact"
    if not exact:
        n_blocks = min(-(-n_blocks // jobs) * jobs, n_features)  # no worker waits for the last block
    n_rows = min(-(-jobs // n_blocks), len(parts)) if exact else 1
    borders = [n_features * k // n_blocks for k in range(n_blocks + 1)]
    cuts = [len(parts) * k // n_rows for k in range(n_rows + 1)]
    return BlockPlan(
        n_features,
        tuple(pairwise(borders)),
        tuple(tuple(parts[first:stop]) for first, stop in pairwise(cuts)),
        needed(-(-n_features // n_blocks)),
    )


class ColumnsOf(PassedOn):
    """Another stream with a range of its columns; rows are cut to columns before they are put together to batches."""

    def __init__(self, stream: RowStream, first: int, stop: int, width: int, *, sparse: bool) -> None:
        super().__init__(stream)
        self._first, self._stop, self._width, self._sparse = first, stop, width, sparse

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        names = self._stream.feature_names
        return None if names is None else names[self._first : self._stop]

    def batches(self, batch_size: int) -> Iterator[Batch]:
        rows = batch_size if self._sparse else rows_at_once(self._width, batch_size)
        return recut((columns_of(batch, self._first, self._stop) for batch in self._stream.batches(rows)), batch_size)


def rows_at_once(width: int, most: int) -> int:
    """How many rows of such a width are decoded at once.

    >>> rows_at_once(1_000_000, 1000), rows_at_once(10, 1000)
    (8, 1000)
    """
    return max(1, min(most, BATCH_BYTES // (8 * width)))


def peak_bytes() -> int:
    """The most memory that this process has had."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:  # not Linux
        pass
    import resource  # Unix only, and of a process that was forked it counts the parent, too
    import sys

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
