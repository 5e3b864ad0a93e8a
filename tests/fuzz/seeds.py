"""Small files of every format, which the fuzzers damage: they lie in the folder corpus.

Those whose names begin with `hostile` once broke something. The others are good;
`python -m tests.fuzz.seeds` writes them anew.
"""

from __future__ import annotations

import gzip
import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FOLDER = Path(__file__).parent / "corpus"
N_ROWS = 16


@cache
def corpus(*, hostile: bool = True) -> dict[str, list[bytes]]:
    """The files by suffix, in the order of their names."""
    found: dict[str, list[bytes]] = {}
    for path in sorted(FOLDER.iterdir()):
        if hostile or not path.name.startswith("hostile"):
            found.setdefault(path.name[path.name.index(".") :], []).append(path.read_bytes())
    return found


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


def good_files() -> dict[str, list[bytes]]:
    """New ones, by suffix."""
    table = pa.table(columns())
    wide = table.append_column("l", pa.array([[1.0, float(k)] for k in range(N_ROWS)])).append_column(
        "g", table["c"].combine_chunks().dictionary_encode()
    )
    csv = _csv()
    return {
        ".csv": [csv, csv.replace(b",", b";"), b'"a ""x""","b\nc",y\n' + b'1,"2",u\n"3",4,v\n' * 5],
        ".csv.gz": [gzip.compress(csv, mtime=0)],
        ".csv.zst": [pa.compress(csv, "zstd", asbytes=True)],
        ".jsonl": [_json_lines()],
        ".arff": [_arff(), _sparse_arff(), _plain_arff()],
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
        head + "".join(f"{k}.5,'v w',t{k % 3},\"2020-01-02 03:{k:02}\",{'pq'[k % 2]}\n" for k in range(N_ROWS))
    ).encode()


def _sparse_arff() -> bytes:
    head = "@relation r\n@attribute a real\n@attribute b {u,v}\n@attribute c real\n@attribute y {p,q}\n@data\n"
    return (head + "".join(f"{{0 {k}, 1 v, 3 {'pq'[k % 2]}}}\n" for k in range(N_ROWS))).encode()


def _plain_arff() -> bytes:
    """Without texts and dates, so that every reader of ARFF takes it."""
    head = "@relation r\n@attribute a real\n@attribute b {u,v}\n@attribute c integer\n@attribute y {p,q}\n@data\n"
    return (
        head + "".join(f"{k / 7:.3f},{'uv'[k % 2]},{k if k % 4 else '?'},{'pq'[k % 2]}\n" for k in range(N_ROWS))
    ).encode()


def _json_lines() -> bytes:
    rows = ({"a": k / 7, "b": k, "c": ["red", "x\u00e9"][k % 2], "d": f"2021-01-{k + 1:02}",
             "e": None if k % 3 else 1.5, "f": k % 2 == 0, "l": [1.0, k], "y": "uv"[k % 2]}
            for k in range(N_ROWS))  # fmt: skip
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _libsvm() -> bytes:
    return "".join(f"{k % 2} 1:{k} 3:{k / 7:.3f} {4 + k % 9}:1e-3\n" for k in range(N_ROWS)).encode()


def _parquet(table: Any, compression: str) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, compression=compression, row_group_size=8)
    return file.getvalue()


def _ipc(table: Any, compression: str | None) -> bytes:
    file = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(file, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=8)
    return file.getvalue()


def _ipc_stream(table: Any) -> bytes:
    file = io.BytesIO()
    with pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=8)
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


def main() -> None:
    """Write the good files."""
    FOLDER.mkdir(exist_ok=True)
    for suffix, contents in good_files().items():
        for number, data in enumerate(contents):
            (FOLDER / f"good{number}{suffix}").write_bytes(data)


if __name__ == "__main__":
    main()
