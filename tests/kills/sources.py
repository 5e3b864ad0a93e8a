"""The sources that runs are killed on: the same rows in every format, and wide tables for methods over columns."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
from sklearn.datasets import dump_svmlight_file


@dataclass(frozen=True)
class Case:
    """A source, a method, and what it is run with."""

    source: str
    method: str
    options: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.source}, {self.method}"


SCHEMA = "rows.avsc"
BATCHES = ("--batch-size", "600")
ENDLESS = (*BATCHES, "--stop-after-idle", "0.1s")
CASES = [
    Case("rows.csv", "fires", BATCHES),
    Case("rows.csv.gz", "screen:mutual_info", BATCHES),
    Case("rows.csv.zst", "ofs", BATCHES),
    Case("rows.parquet", "screen:gini", (*BATCHES, "--fading", "0.999")),
    Case("rows.arrow", "fires", BATCHES),
    Case("rows.libsvm", "screen:t_score", BATCHES),
    Case("pipe rows.csv", "screen:fisher", BATCHES),
    Case("rows.csv", "efs", BATCHES),
    Case("wide.parquet", "investing"),
    Case("wide.csv", "saola"),
    Case("wide.arrow", "fast_osfs"),
    Case("rows.csv", "etana"),
    Case("rows.parquet", "etana"),
    Case("tail:rows.csv", "screen:mutual_info", ENDLESS),
    Case("grow:rows.csv", "fires", (*BATCHES, "--stop-after-idle", "3s")),
    Case("tail:rows.jsonl", "fires", ENDLESS),
    Case("tail:poison.jsonl", "screen:gini", (*ENDLESS, "--dead-letters", "bad.jsonl")),
    Case("redis:rows", "screen:gini", ENDLESS),
    Case("redis:objects?field=row", "fires", ENDLESS),
    Case("kafka:rows", "screen:fisher", ENDLESS),
]
# Further sources of brokers, for `--brokers`: Arrow messages of seven rows, which no batch ends with; Avro; poison.
BROKER_CASES = [
    *(case for case in CASES if case.source.startswith(("redis:", "kafka:"))),
    Case("redis:arrow?field=row&format=arrow", "fires", ENDLESS),
    Case("redis:poison?field=row", "screen:fisher", (*ENDLESS, "--dead-letters", "bad.jsonl")),
    Case("kafka:avro?format=avro&schema={schema}", "screen:mutual_info", ENDLESS),
    Case("kafka:poison", "fires", (*ENDLESS, "--dead-letters", "bad.jsonl")),
]
ADDRESSES: dict[str, str] = {}  # "redis" -> redis://host:port, as far as there are servers


def address(case: Case, folder: Path) -> str:
    """What a run in a folder reads; the files lie in its parent, but each run has a growing file of its own."""
    kind, _, name = case.source.partition(":")
    if kind == "grow":
        return f"tail:{folder / name}"
    folder = folder.parent
    if kind in ("redis", "kafka"):
        return f"{ADDRESSES[kind]}/{name.format(schema=folder / SCHEMA)}"
    if kind == "tail":
        return f"tail:{folder / name}"
    return "-" if kind.startswith("pipe") else str(folder / kind)


def write_sources(folder: Path, n_rows: int) -> None:
    """Write all of them; some categories are met late, and from 12,000 rows on a CSV file has more than one block."""
    rows, wide = _rows(n_rows), _wide()
    for name, table in (("rows", rows), ("wide", wide)):
        arrow_csv.write_csv(table, folder / f"{name}.csv")
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=3500)
        with pa.ipc.new_file(folder / f"{name}.arrow", table.schema) as writer:
            writer.write_table(table, max_chunksize=2700)
    lines = [json.dumps(row) + "\n" for row in rows.to_pylist()]
    (folder / "rows.jsonl").write_text("".join(lines), encoding="utf-8")
    broken = [line[:20] + "\n" if number % 37 == 5 else line for number, line in enumerate(lines)]
    (folder / "poison.jsonl").write_text("".join(broken), encoding="utf-8")
    fields = [{"name": name, "type": "double" if name.startswith("x") else "string"} for name in rows.schema.names]
    (folder / SCHEMA).write_text(json.dumps({"type": "record", "name": "Row", "fields": fields}))
    text = (folder / "rows.csv").read_bytes()
    (folder / "rows.csv.gz").write_bytes(gzip.compress(text, 1))
    with pa.CompressedOutputStream(pa.OSFile(str(folder / "rows.csv.zst"), "wb"), "zstd") as file:
        file.write(text)
    numbers = rows.drop_columns(["colour", "town", "y"])
    matrix = np.column_stack([column.to_numpy() for column in numbers.columns])
    matrix[np.abs(matrix) < 0.5] = 0.0
    dump_svmlight_file(matrix, np.arange(n_rows) % 2, str(folder / "rows.libsvm"), zero_based=False)


def _rows(n_rows: int) -> Any:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, n_rows)
    columns: dict[str, Any] = {f"x{k}": rng.normal(size=n_rows) + (k % 3 == 0) * y for k in range(10)}
    late = 2 + np.arange(n_rows) // 1000
    columns["colour"] = [f"c{k}" for k in rng.integers(0, late)]
    columns["town"] = [f"town {k}" for k in (rng.integers(0, late) + y)]
    return pa.table({**columns, "y": np.array(["no", "yes"])[y]})


def _wide() -> Any:
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 400)
    columns = {f"x{k}": rng.normal(size=400).round(4) + (k % 25 == 0) * y for k in range(400)}
    return pa.table({**columns, "y": y})
