"""Small good files of every format, as bytes; what the fuzzer damages."""

from __future__ import annotations

import gzip
import io
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

N_ROWS = 40


def columns() -> dict[str, Any]:
    """Columns of every kind that readers know; `y` is the target."""
    rng = np.random.default_rng(7)
    n = np.arange(N_ROWS)
    return {
        "a": rng.normal(size=N_ROWS),
        "b": n.astype(np.int32),
        "c": pa.array([["red", "green", "dark red"][k % 3] for k in n]),
        "d": pa.array(n * 86_400, pa.timestamp("s")),
        "e": pa.array([None if k % 5 == 0 else float(k) for k in n]),
        "f": pa.array([bool(k % 2) for k in n]),
        "y": pa.array([["u", "v"][k % 2] for k in n]),
    }


def files() -> dict[str, list[bytes]]:
    """By suffix."""
    table = pa.table(columns())
    wide = table.append_column("l", pa.array([[1.0, float(k)] for k in range(N_ROWS)])).append_column(
        "g", table["c"].combine_chunks().dictionary_encode()
    )
    csv = _csv()
    return {
        ".csv": [csv, csv.replace(b",", b";"), b'"a ""x""","b\nc",y\n' + b'1,"2",u\n"3",4,v\n' * 9],
        ".csv.gz": [gzip.compress(csv, mtime=0)],
        ".csv.zst": [pa.compress(csv, "zstd", asbytes=True)],
        ".arff": [_arff(), _sparse_arff()],
        ".libsvm": [_libsvm(), b"0 qid:1 0:1 5:2 # note\n" * 10],
        ".parquet": [_parquet(table, "none"), _parquet(wide, "snappy"), _parquet(wide, "zstd")],
        ".arrow": [_ipc(table, None), _ipc(wide, None), _ipc(wide, "zstd"), _ipc_stream(wide)],
        ".npz": [_npz(), _sparse_npz(), _npz(compressed=True)],
    }


def _csv() -> bytes:
    lines = [f"{k / 7:.3f},{k},c{k % 3},2021-01-{k % 28 + 1:02},{'' if k % 4 else k},{k % 2}" for k in range(N_ROWS)]
    return "\n".join(["a,b,c,d,e,y", *lines, ""]).encode()


def _arff() -> bytes:
    head = (
        "% a note\n@relation r\n@attribute a numeric\n@attribute 'b c' {u, 'v w', x}\n@attribute s string\n"
        '@attribute d date "yyyy-MM-dd HH:mm"\n@attribute y {p,q}\n@data\n'
    )
    return (
        head + "".join(f"{k}.5,'v w',t{k % 3},\"2020-01-02 03:{k:02}\",{'pq'[k % 2]}\n" for k in range(20))
    ).encode()


def _sparse_arff() -> bytes:
    head = "@relation r\n@attribute a real\n@attribute b {u,v}\n@attribute c real\n@attribute y {p,q}\n@data\n"
    return (head + "".join(f"{{0 {k}, 1 v, 3 {'pq'[k % 2]}}}\n" for k in range(20))).encode()


def _libsvm() -> bytes:
    return "".join(f"{k % 2} 1:{k} 3:{k / 7:.3f} {4 + k % 9}:1e-3\n" for k in range(N_ROWS)).encode()


def _parquet(table: Any, compression: str) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, compression=compression, row_group_size=16)
    return file.getvalue()


def _ipc(table: Any, compression: str | None) -> bytes:
    file = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(file, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=16)
    return file.getvalue()


def _ipc_stream(table: Any) -> bytes:
    file = io.BytesIO()
    with pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=16)
    return file.getvalue()


def _npz(*, compressed: bool = False) -> bytes:
    file = io.BytesIO()
    X = np.arange(N_ROWS * 3.0).reshape(N_ROWS, 3)
    save = np.savez_compressed if compressed else np.savez
    save(file, X=np.asfortranarray(X) if compressed else X, y=np.array(["u", "v"])[np.arange(N_ROWS) % 2],
         feature_names=np.array(["p", "q", "r"]))  # fmt: skip
    return file.getvalue()


def _sparse_npz() -> bytes:
    file = io.BytesIO()
    ends = np.arange(N_ROWS + 1) * 2
    np.savez(file, data=np.ones(ends[-1]), indices=np.arange(ends[-1]) % 5, indptr=ends, shape=np.array([N_ROWS, 5]),
             y=np.arange(N_ROWS) % 2)  # fmt: skip
    return file.getvalue()
