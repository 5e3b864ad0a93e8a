"""Memory is bounded by the batch: each format is read in a process of its own, far below the size of the data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc to measure memory")

# Anonymous memory only: pages of a file that is mapped into memory belong to the system, which drops them at will.
# It is sampled in a thread while the stream is read, because a peak between two batches counts as well.
CHILD = """
import sys, threading, time
import numpy
import pandas  # pyarrow imports it by itself when it first needs to know whether it is there
from scipy.sparse import csr_matrix
from streamsift.core.batch import check_matrix

def anonymous():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon")) / 1024

from importlib import import_module
from streamsift.streams import open_stream
path, reader = sys.argv[1:]
import_module("streamsift.streams." + reader)
for index in ("int32", "int64"):  # compiles the kernel that looks through sparse rows: code, not data
    entries = numpy.ones(3), numpy.arange(3).astype(index), numpy.array([0, 3]).astype(index)
    rows = csr_matrix((1, 3))
    rows.data, rows.indices, rows.indptr = entries
    check_matrix(rows, owner="test")
before, peak, done = anonymous(), [0.0], threading.Event()

def watch():
    while not done.is_set():
        peak[0] = max(peak[0], anonymous())
        time.sleep(0.002)

watcher = threading.Thread(target=watch)
watcher.start()
n = 0
for batch in open_stream(path, target="label").batches(500):
    n += batch.n_rows
done.set()
watcher.join()
print(n, peak[0] - before)
"""


def check(path: Path, reader: str, n_rows: int, *, limit: int, data: int) -> None:
    """The process may grow by `limit` MiB while it reads a file that holds `data` MiB."""
    assert limit <= data / 2
    done = subprocess.run([sys.executable, "-c", CHILD, str(path), reader], capture_output=True, check=True)
    read, growth = done.stdout.split()
    assert int(read) == n_rows
    assert float(growth) < limit


@pytest.fixture(scope="module")
def csv_file(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A file of 120 MiB, which is one piece of text again and again, and the number of its rows."""
    rows = enumerate(np.random.default_rng(0).standard_normal((5000, 20)).tolist())
    piece = "".join(f"{','.join(map(repr, row))},{k % 2}\n" for k, row in rows)
    n_pieces = (120 << 20) // len(piece)
    path = tmp_path_factory.mktemp("large") / "data.csv"
    with path.open("w") as file:
        file.write(",".join(f"x{j}" for j in range(20)) + ",label\n")
        for _ in range(n_pieces):
            file.write(piece)
    return path, 5000 * n_pieces


def test_csv(csv_file: tuple[Path, int]) -> None:
    path, n_rows = csv_file
    check(path, "csv", n_rows, limit=60, data=120)


def test_compressed_csv(csv_file: tuple[Path, int], tmp_path: Path) -> None:
    plain, n_rows = csv_file
    path = tmp_path / "data.csv.zst"
    with pa.OSFile(str(path), "wb") as raw, pa.CompressedOutputStream(raw, "zstd") as file:
        file.write(plain.read_bytes())
    check(path, "csv", n_rows, limit=60, data=120)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """160 MiB of numbers."""
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.random(1 << 20) for j in range(20)}
    return pa.table({**columns, "label": pa.array(np.arange(1 << 20) % 2, pa.int8())})


def test_parquet_of_one_row_group(table: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pq.write_table(table, path, row_group_size=1 << 20, use_dictionary=False, compression="none")
    assert pq.read_metadata(path).num_row_groups == 1
    check(path, "parquet", 1 << 20, limit=60, data=160)


@pytest.mark.parametrize("new", [pa.ipc.new_file, pa.ipc.new_stream], ids=["file", "stream"])
def test_ipc(table: pa.Table, tmp_path: Path, new: Any) -> None:
    path = tmp_path / "data.arrow"
    with new(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=1 << 16)
    check(path, "ipc", 1 << 20, limit=60, data=160)


def test_npz_dense(tmp_path: Path) -> None:
    X = np.zeros((200_000, 50), np.float64)  # 76 MiB, and quick to compress
    np.savez_compressed(tmp_path / "data.npz", X=X, y=np.zeros(200_000, np.int8))
    check(tmp_path / "data.npz", "npz", 200_000, limit=10, data=76)


def test_npz_sparse(tmp_path: Path) -> None:
    n, per_row = 200_000, 25
    np.savez(
        tmp_path / "data.npz",
        data=np.ones(n * per_row),  # 38 MiB, and 38 MiB of indices
        indices=np.tile(np.arange(per_row), n),
        indptr=np.arange(n + 1) * per_row,
        shape=np.array([n, 1000]),
        y=np.zeros(n, np.int8),
    )
    check(tmp_path / "data.npz", "npz", n, limit=10, data=76)


def test_libsvm(tmp_path: Path) -> None:
    row = "1" + "".join(f" {j}:0.12345678" for j in range(1, 60)) + "\n"
    n = (40 << 20) // len(row) + 1
    (tmp_path / "data.libsvm").write_text(row * n)
    check(tmp_path / "data.libsvm", "libsvm", n, limit=20, data=40)


def test_arff(tmp_path: Path) -> None:
    header = "".join(f"@attribute x{j} real\n" for j in range(60)) + "@attribute label {u,v}\n@data\n"
    row = "0.12345678," * 60 + "u\n"
    n = (80 << 20) // len(row) + 1
    (tmp_path / "data.arff").write_text(header + row * n)
    check(tmp_path / "data.arff", "arff", n, limit=40, data=80)
