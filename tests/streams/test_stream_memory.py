"""Memory is bounded by the batch: each format is read in a process of its own, far below the size of the data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc to measure memory")

# Anonymous memory only: pages of a file that is mapped into memory belong to the system, which drops them at will.
# It is sampled in a thread while the stream is read, because a peak between two batches counts as well.
CHILD = """
import sys, threading, time

def anonymous():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon")) / 1024

import pyarrow.csv, pyarrow.parquet, sklearn.datasets, scipy.sparse
from streamsift.streams import csv, parquet, ipc, npz, libsvm, arff, open_stream
path, size = sys.argv[1], int(sys.argv[2])
before, peak, done = anonymous(), [0.0], threading.Event()

def watch():
    while not done.is_set():
        peak[0] = max(peak[0], anonymous())
        time.sleep(0.002)

watcher = threading.Thread(target=watch)
watcher.start()
n = 0
for batch in open_stream(path, target="label").batches(size):
    n += batch.n_rows
done.set()
watcher.join()
print(n, peak[0] - before)
"""


def growth(path: Path, size: int = 500) -> tuple[int, float]:
    """Rows read, and how many MiB the process grew beyond its size before opening the stream."""
    done = subprocess.run([sys.executable, "-c", CHILD, str(path), str(size)], capture_output=True, check=True)
    n_rows, mebibytes = done.stdout.split()
    return int(n_rows), float(mebibytes)


N_ROWS, N_COLUMNS = 150_000, 20


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.standard_normal(N_ROWS) for j in range(N_COLUMNS)}
    return pa.table({**columns, "label": rng.integers(0, 2, N_ROWS)})


@pytest.fixture(scope="module")
def csv_file(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "data.csv"
    arrow_csv.write_csv(table, path)
    assert path.stat().st_size > 50 << 20
    return path


def test_csv(csv_file: Path) -> None:
    n_rows, mebibytes = growth(csv_file)
    assert n_rows == N_ROWS
    assert mebibytes < 0, mebibytes


def test_compressed_csv(csv_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "data.csv.zst"
    with (
        csv_file.open("rb") as plain,
        pa.OSFile(str(path), "wb") as raw,
        pa.CompressedOutputStream(raw, "zstd") as file,
    ):
        while chunk := plain.read(1 << 22):
            file.write(chunk)
    n_rows, mebibytes = growth(path)
    assert n_rows == N_ROWS
    assert mebibytes < 0, mebibytes


def test_parquet_of_one_row_group(table: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pq.write_table(table, path, row_group_size=N_ROWS, data_page_size=1 << 16, use_dictionary=False)
    n_rows, mebibytes = growth(path)
    assert n_rows == N_ROWS
    assert mebibytes < 0, mebibytes


@pytest.mark.parametrize("new", [pa.ipc.new_file, pa.ipc.new_stream])
def test_ipc(table: pa.Table, tmp_path: Path, new: object) -> None:
    path = tmp_path / "data.arrow"
    with new(path, table.schema) as writer:  # type: ignore[operator]
        writer.write_table(table)
    n_rows, mebibytes = growth(path)
    assert n_rows == N_ROWS
    assert mebibytes < 0, mebibytes


def test_npz_dense(tmp_path: Path) -> None:
    X = np.zeros((200_000, 50), np.float64)  # 76 MiB, and quick to compress
    X[:, 0] = np.arange(200_000)
    np.savez_compressed(tmp_path / "data.npz", X=X, y=np.zeros(200_000, np.int8))
    n_rows, mebibytes = growth(tmp_path / "data.npz")
    assert n_rows == 200_000
    assert mebibytes < 0, mebibytes


def test_npz_sparse(tmp_path: Path) -> None:
    n, per_row = 200_000, 25
    np.savez_compressed(
        tmp_path / "data.npz",
        data=np.ones(n * per_row),  # 38 MiB, and 38 MiB of indices
        indices=np.tile(np.arange(per_row), n),
        indptr=np.arange(n + 1) * per_row,
        shape=np.array([n, 1000]),
        y=np.zeros(n, np.int8),
    )
    n_rows, mebibytes = growth(tmp_path / "data.npz")
    assert n_rows == n
    assert mebibytes < 0, mebibytes


@pytest.mark.parametrize(
    ("name", "header", "row"),
    [
        ("data.libsvm", "", "1" + "".join(f" {j}:0.12345678" for j in range(1, 60)) + "\n"),
        ("data.arff", "".join(f"@attribute x{j} real\n" for j in range(60)) + "@attribute label {u,v}\n@data\n", ""),
    ],
    ids=["libsvm", "arff"],
)
def test_other_text(tmp_path: Path, name: str, header: str, row: str) -> None:
    row = row or "0.12345678," * 60 + "u\n"
    n = (40 << 20) // len(row)
    (tmp_path / name).write_text(header + row * n)
    n_rows, mebibytes = growth(tmp_path / name)
    assert n_rows == n
    assert mebibytes < 0, mebibytes
