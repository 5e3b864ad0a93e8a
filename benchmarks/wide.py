"""Tables of up to a million features, on two processes, within a memory limit: `streamsift.engines.select_wide`.

    python -m benchmarks wide                    10^6 features x 10^5 sparse rows, and 10^5 x 10^5 dense ones
    python -m benchmarks.wide --kind dense --features 100000 --rows 20000 --criterion mutual_info

The peer of a peak is the limit. Sparse rows have 100 values each and lie in Parquet files of two columns, `indices` and
`values`; dense ones are float32 and generated on the workers, by their place alone, whatever the cut.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmarks.table import Row
from streamsift import Screener
from streamsift.core.batch import Batch
from streamsift.engines import WideSelection, select_wide
from streamsift.engines.blocks import read_bytes
from streamsift.streams.stream import PassedOn, recut

PER_ROW = 100  # values of a sparse row
TELLING = 10  # the first features tell something
TILE, STRIP = 1000, 100  # columns and rows that are generated from one seed
N_PARTS = 8
EPS = 0.01


def run(quick: bool) -> list[Row]:
    if quick:
        return [measured("sparse", 100_000, 10_000, "fisher"), measured("dense", 5_000, 5_000, "mutual_info")]
    return [
        measured("sparse", 10**6, 10**5, "fisher"),
        measured("sparse", 10**6, 10**5, "mutual_info"),
        measured("dense", 10**5, 10**5, "fisher"),
        measured("dense", 10**5, 10**5, "mutual_info"),
    ]


def measured(kind: str, n_features: int, n_rows: int, criterion: str, memory: str = "4GB", jobs: int = 2) -> Row:
    """The peak of the largest process beside the limit, with the time of the run."""
    selector = Screener(criterion, n_features_to_select=TELLING, eps=EPS)
    with tempfile.TemporaryDirectory(prefix="streamsift-") as folder:
        source: Any = [DensePart(n_features, k, n_rows // N_PARTS) for k in range(N_PARTS)]
        if kind == "sparse":
            write_sparse(Path(folder), n_features, n_rows)
            source = folder
        start = time.perf_counter()
        found = select_wide(source, selector, "y" if kind == "sparse" else None, memory=memory, jobs=jobs)
        seconds = time.perf_counter() - start
    _refuse_wrong(found, n_rows // N_PARTS * N_PARTS)
    limit, own = read_bytes(memory), found.peak_bytes[os.getpid()]
    workers = sorted((peak for process, peak in found.peak_bytes.items() if process != os.getpid()), reverse=True)
    peak = max(workers[0], own)
    plan = found.plan
    note = (
        f"{seconds:,.0f} s on {jobs} processes of {' and '.join(f'{each / 1e9:.2f}' for each in workers)} GB and "
        f"the one that started them of {own / 1e9:.2f} GB, "
        f"{len(plan.columns)} column block{'s' * (len(plan.columns) > 1)} x {len(plan.rows)} row "
        f"block{'s' * (len(plan.rows) > 1)}, planned {plan.bytes_per_block / 1e9:.2f} GB"
    )
    name = f"{criterion}, {n_features:,} features x {found.n_rows_seen_:,} rows, {kind}"
    return Row(name, peak / 1e9, limit / 1e9, "limit per process", limit / peak, 1.0, "GB", note, noise=0.0)


def _refuse_wrong(found: WideSelection, n_rows: int) -> None:
    """A figure of a wrong answer is none: all rows are there, and the features that tell something are found."""
    assert found.n_rows_seen_ == n_rows
    right = set(found.selection().indices.tolist()) & set(range(TELLING))
    assert len(right) == TELLING, f"only {len(right)} of the {TELLING} features that tell something are found"


@dataclass(frozen=True)
class DensePart:
    """Some rows of normal noise, whose first features follow the class; generated where they are needed."""

    n_features: int
    number: int
    n_rows: int

    def __str__(self) -> str:
        return f"{self.number} of the generated rows"

    def open_columns(self, first: int, stop: int) -> Any:
        return DenseRows(self, first, stop)


class DenseRows(PassedOn):
    """The rows of a part for some columns."""

    def __init__(self, part: DensePart, first: int, stop: int) -> None:
        self._part, self._columns = part, (first, stop)

    feature_names = None

    def progress(self) -> float | None:
        return None

    def batches(self, batch_size: int) -> Iterator[Batch]:
        return recut((self._strip(k) for k in range(-(-self._part.n_rows // STRIP))), batch_size)

    def _strip(self, strip: int) -> Batch:
        part, (first, stop) = self._part, self._columns
        n_rows = min(STRIP, part.n_rows - strip * STRIP)
        y = np.random.default_rng([0, part.number, strip]).integers(0, 2, n_rows)
        X = np.empty((n_rows, stop - first), np.float32)
        for tile in range(first // TILE, -(-stop // TILE)):
            values = np.random.default_rng([1, part.number, strip, tile]).standard_normal((n_rows, TILE), np.float32)
            a, b = max(first, tile * TILE), min(stop, (tile + 1) * TILE)
            X[:, a - first : b - first] = values[:, a - tile * TILE : b - tile * TILE]
        if first < TELLING:
            X[:, : TELLING - first] += y[:, None]
        return Batch(X, y)


def write_sparse(folder: Path, n_features: int, n_rows: int) -> None:
    """Parquet files of sparse rows; the first features are there more often in rows of the second class."""
    for number in range(N_PARTS):
        rng = np.random.default_rng([2, number])
        count = n_rows // N_PARTS
        y = rng.integers(0, 2, count)
        indices = rng.integers(TELLING, n_features, (count, PER_ROW - TELLING))
        indices.sort(axis=1)
        fine = np.column_stack([np.ones(count, bool), np.diff(indices, axis=1) > 0])
        there = rng.random((count, TELLING)) < np.where(y[:, None] == 1, 0.6, 0.3)
        both = np.column_stack([np.broadcast_to(np.arange(TELLING), there.shape), indices])
        fine = np.column_stack([there, fine])
        values = rng.standard_normal(both.shape, np.float32) + 2.0 * fine
        table = {"indices": _lists(both, fine, np.int32), "values": _lists(values, fine, np.float32), "y": pa.array(y)}
        pq.write_table(pa.table(table), folder / f"part{number}.parquet")


def _lists(values: NDArray[Any], there: NDArray[np.bool_], kind: Any) -> Any:
    ends = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(values[there].astype(kind)))


if __name__ == "__main__":
    from benchmarks.table import show

    parser = argparse.ArgumentParser(prog="python -m benchmarks.wide", description=__doc__)
    parser.add_argument("--kind", choices=["dense", "sparse"], default="dense")
    parser.add_argument("--features", type=int, default=10**5)
    parser.add_argument("--rows", type=int, default=10**5)
    parser.add_argument("--criterion", default="fisher")
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    row = measured(given.kind, given.features, given.rows, given.criterion, given.memory, given.jobs)
    print(show("wide", [row]))
