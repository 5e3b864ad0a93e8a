"""Tables in parts on several processes: speed-up, what merging costs, and how many bytes a part moves.

The table lies in Parquet files with one array column of float32. The speed-up is by a clock on the wall, with the start
of the processes and without it; what learning and merging cost is processor time of one process, which other work on
the machine does not change much.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.table import Row
from streamsift import Screener
from streamsift.engines import select
from streamsift.engines.parts import find_parts
from streamsift.engines.work import Job, learn, merge

CRITERIA = ("fisher", "mutual_info")
EPS = 0.01
N_PARTS = 8
LONGER = 50  # times as many rows has a part of the table that two processes share
ROWS_BESIDE = 10_000  # rows that a state is compared with: so many of them are learnt, or sent, instead


def run(quick: bool) -> list[Row]:
    n_features, n_rows = (200, 2_000) if quick else (1_000, 4_000)  # rows of a part
    with tempfile.TemporaryDirectory(prefix="streamsift-") as folder:
        write_parts(Path(folder), n_features, n_rows)
        costs = [
            row
            for criterion in CRITERIA
            for share in (4, 1)
            for row in _costs(Path(folder), criterion, n_features // share, n_rows)
        ]
    with tempfile.TemporaryDirectory(prefix="streamsift-") as folder:
        write_parts(Path(folder), 1, 10)
        start = _clock(_selecting(folder, "fisher", 2)) - _clock(_selecting(folder, "fisher", 1))
    n_features, n_rows = n_features // 5, LONGER * n_rows
    with tempfile.TemporaryDirectory(prefix="streamsift-") as folder:
        write_parts(Path(folder), n_features, n_rows)
        return [row for criterion in CRITERIA for row in speed_up(folder, criterion, n_features, n_rows, start)] + costs


def write_parts(folder: Path, n_features: int, n_rows: int) -> None:
    """Files with one array column `x` and the label `y`."""
    for number in range(N_PARTS):
        rng = np.random.default_rng(number)
        y = rng.integers(0, 2, n_rows)
        X = rng.standard_normal((n_rows, n_features), np.float32)
        X[:, 0] += y
        column = pa.FixedSizeListArray.from_arrays(pa.array(X.reshape(-1)), n_features)
        pq.write_table(pa.table({"x": column, "y": y}), folder / f"{number}.parquet")


def speed_up(folder: str, criterion: str, n_features: int, n_rows: int, start: float) -> list[Row]:
    """Two processes beside one, with the seconds that they take to start and without."""
    one, two = _clock(_selecting(folder, criterion, 1)), _clock(_selecting(folder, criterion, 2))
    note = f"{N_PARTS} parts of {n_rows:,} rows, {n_features:,} features"
    names = {f"{criterion}: two processes": two, f"{criterion}: two processes, once they run": two - start}
    return [Row(name, its, one, "one process", one / its, None, "s", note) for name, its in names.items()]


def _selecting(folder: str, criterion: str, jobs: int) -> Callable[[], Any]:
    return lambda: select(folder, Screener(criterion, eps=EPS), "y", jobs=jobs)


def _costs(folder: Path, criterion: str, n_features: int, n_rows: int) -> list[Row]:
    """Learning a part, merging as many states as there are parts, and the bytes of a state; per feature."""
    kept = folder / "narrow"
    kept.mkdir(exist_ok=True)
    states: list[bytes] = []
    learning = reading = float("inf")
    for number in range(N_PARTS):
        path = kept / f"{number}.parquet"
        _narrowed(folder / f"{number}.parquet", path, n_features)
        (part,) = find_parts(path, 1)[:1]
        job = Job.of(Screener(criterion, eps=EPS), "y", {}, 1000)
        seconds, state = _processor_time(lambda job=job, part=part: learn(job, part))  # type: ignore[misc]
        learning = min(learning, seconds / (n_rows * n_features))
        states.append(state)
        seconds, _ = _processor_time(lambda part=part: [0 for _ in part.open("y", {}).batches(1000)])  # type: ignore[misc]
        reading = min(reading, seconds / (n_rows * n_features))
    merging = {}
    for count in (2, N_PARTS):
        seconds = min(_processor_time(lambda count=count: merge(states[:count]))[0] for _ in range(3))  # type: ignore[misc]
        merging[count] = seconds / (count - 1) / n_features
    beside = learning * ROWS_BESIDE
    size = len(states[0]) / n_features
    what = f"{criterion}, {n_features:,} features"
    rows_beside = f"learning {ROWS_BESIDE:,} rows"
    return [
        Row(
            f"{what}: learning", 1e9 * learning, 1e9 * reading, "reading it from Parquet", reading / learning, None,
            "ns/value", "processor time, with reading",
        ),
        *(
            Row(
                f"{what}: merging one of {count} parts", 1e6 * cost, 1e6 * beside, rows_beside, beside / cost, None,
                "µs/feature", "processor time, with unpacking and packing",
            )
            for count, cost in merging.items()
        ),
        Row(
            f"{what}: bytes moved per part", size, 4.0 * ROWS_BESIDE, f"{ROWS_BESIDE:,} rows of float32",
            4.0 * ROWS_BESIDE / size, None, "bytes/feature", f"of a part of {n_rows:,} rows",
        ),
    ]  # fmt: skip


def _narrowed(source: Path, target: Path, n_features: int) -> None:
    table = pq.read_table(source)
    X = np.concatenate([chunk.flatten().to_numpy() for chunk in table["x"].chunks]).reshape(table.num_rows, -1)
    column = pa.FixedSizeListArray.from_arrays(
        pa.array(np.ascontiguousarray(X[:, :n_features]).reshape(-1)), n_features
    )
    pq.write_table(pa.table({"x": column, "y": table["y"]}), target)


def _clock(action: Callable[[], Any]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _processor_time(action: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    found = action()
    return time.process_time() - start, found
