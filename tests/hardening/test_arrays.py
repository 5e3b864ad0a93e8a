"""Arrays from strangers: headers of .npy files, the limits of dtypes, matrices of scipy."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from streamsift import OFS, InputError, ReaderError, Screener, catalog, open_stream
from streamsift.core.npy import HeaderError, read_array

N_ROWS, N_COLUMNS = 12, 5


def npy(descr: Any, shape: Any, n_bytes: int, order: Any = False) -> bytes:
    header = repr({"descr": descr, "fortran_order": order, "shape": shape}).encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(n_bytes)


def read(data: bytes) -> np.ndarray:
    return read_array(io.BytesIO(data), len(data))


@pytest.mark.parametrize(
    "descr",
    [
        "|O",
        "O8",
        "|V8",
        "<M8[s]",
        "<m8[s]",
        "<c16",
        "<f16",
        "|S0",
        "<U0",
        [("a", "<f8")],
        ("<f8", (2,)),
        8,
        None,
        "object",
    ],
    ids=str,
)
def test_dtypes_that_are_not_plain(descr: Any) -> None:
    with pytest.raises(HeaderError, match="only numbers"):
        read(npy(descr, (2,), 64))


@pytest.mark.parametrize("shape", [(-1,), (3, -2), (True,), (2.0,), 3, (0, 2**62), (2**40, 2**40)], ids=str)
def test_shapes_that_cannot_be(shape: Any) -> None:
    with pytest.raises(HeaderError, match=r"no proper shape"):
        read(npy("<f8", shape, 48))


@pytest.mark.parametrize("n_bytes", [0, 16, 23, 25, 4000])
def test_sizes_are_compared_with_the_bytes(n_bytes: int) -> None:
    with pytest.raises(HeaderError, match=rf"that is 24 bytes, but has {n_bytes}"):
        read(npy("<f8", (3,), n_bytes))


def test_headers_without_sense() -> None:
    for header in (b"", b"{", b"(" * 5000, b"{'descr': '<f8'}", b"9" * 6000, b"[1]", b"\xff\xfe", b"{'descr': 1 ** 9}"):
        with pytest.raises(HeaderError):
            read(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
    with pytest.raises(HeaderError, match="a header of"):
        read(b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**31) + b"{}")


def test_text_and_truth_must_be_possible() -> None:
    text = npy("<U2", (2,), 12) + (0x110000).to_bytes(4, "little")
    with pytest.raises(HeaderError, match="a character that does not exist"):
        read(text)
    with pytest.raises(HeaderError, match="neither true nor false"):
        read(npy("|b1", (2,), 1) + b"\x02")


PLAIN = {
    "matrix": np.arange(6.0).reshape(2, 3),
    "fortran": np.asfortranarray(np.arange(6).reshape(2, 3)),
    "text": np.array(["a", "bc"]),
    "scalar": np.array(3),
    "empty": np.zeros((0, 4)),
    "truth": np.array([True, False]),
}


@pytest.mark.parametrize("array", list(PLAIN.values()), ids=list(PLAIN))
def test_plain_arrays_come_back(array: np.ndarray) -> None:
    file = io.BytesIO()
    np.save(file, array)
    again = read(file.getvalue())
    assert again.dtype == array.dtype
    np.testing.assert_array_equal(again, array)


@pytest.mark.parametrize("key", ["data", "indices", "indptr", "shape", "y"])
def test_a_sparse_npz_cannot_hold_addresses(tmp_path: Path, key: str) -> None:
    parts = {
        "data": np.ones(3),
        "indices": np.arange(3),
        "indptr": np.arange(4),
        "shape": np.array([3, 4]),
        "y": np.arange(3),
    }
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        for name, array in parts.items():
            file = io.BytesIO()
            np.save(file, array)
            evil = npy("|O", array.shape, 0) + b"\x41" * 8 * array.size
            archive.writestr(f"{name}.npy", evil if name == key else file.getvalue())
    with pytest.raises(ReaderError, match=f"Array '{key}' of .* holds Python objects"):
        list(open_stream(tmp_path / "a.npz").batches(2))


# -- limits of dtypes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [entry for entry in catalog.names() if catalog.entry(entry).kind == "columns"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_infinity_in_a_column(name: str, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)).astype(dtype), np.arange(60) % 2
    X[7, 2] = np.inf
    with pytest.raises(InputError, match="Row 7, column 'x2' is infinity"):
        catalog.make(name).fit(X, y)


@pytest.mark.parametrize("criterion", ["t_score", "fisher"])
def test_constant_rows_of_1e308(criterion: str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), np.arange(20) % 2
    with pytest.raises(InputError, match="is too large"):
        Screener(criterion=criterion).partial_fit(np.full((20, 3), 1e308), y)
    selector = Screener(criterion=criterion).partial_fit(X, y)
    before = selector.scores_
    with pytest.raises(InputError, match="is too large"):
        selector.partial_fit(np.full((20, 3), 1e308), np.full(20, 2))  # a new class
    np.testing.assert_array_equal(selector.scores_, before)


# -- matrices of scipy ------------------------------------------------------------------------------------------------


def dense() -> np.ndarray:
    return np.abs(np.random.default_rng(0).normal(size=(N_ROWS, N_COLUMNS))) + 0.1


def broken(kind: str, part: str, change: Any) -> Any:
    matrix = getattr(sparse, f"{kind}_matrix")(dense())
    array = np.array(getattr(matrix, part))
    setattr(matrix, part, change(array))
    return matrix


def with_first(value: int) -> Any:
    return lambda array: np.concatenate([[value], array[1:]]).astype(array.dtype)


def lil(row: list[Any], values: list[Any]) -> Any:
    matrix = sparse.lil_matrix(dense())
    matrix.rows[0], matrix.data[0] = row, values
    return matrix


def dok(key: tuple[Any, ...]) -> Any:
    matrix = sparse.dok_matrix(dense())
    matrix._dict[key] = 1.0
    return matrix


BROKEN = {
    **{
        f"{kind} index {value}": broken(kind, "indices", with_first(value))
        for kind in ("csr", "csc", "bsr")
        for value in (-1, 10**5)
    },
    **{f"{kind} starts at 3": broken(kind, "indptr", with_first(3)) for kind in ("csr", "csc", "bsr")},
    **{f"{kind} short": broken(kind, "indptr", lambda a: a[:-1]) for kind in ("csr", "csc", "bsr")},
    **{f"{kind} long": broken(kind, "indptr", lambda a: np.append(a, [a[-1]] * 9)) for kind in ("csr", "csc", "bsr")},
    **{f"{kind} far": broken(kind, "indptr", lambda a: a + 10**6 * (a > 0)) for kind in ("csr", "csc", "bsr")},
    **{f"{kind} falls": broken(kind, "indptr", lambda a: a[::-1].copy()) for kind in ("csr", "csc", "bsr")},
    **{f"{kind} real": broken(kind, "indices", lambda a: a + 0.5) for kind in ("csr", "csc", "bsr")},
    **{
        f"coo {part} {value}": broken("coo", part, with_first(value))
        for part in ("row", "col")
        for value in (-1, 10**9)
    },
    "coo data short": broken("coo", "data", lambda a: a[:-3]),
    "dia offsets": broken("dia", "offsets", lambda a: a + 10**6),
    "dia lengths": broken("dia", "offsets", lambda a: a[:-1]),
    "lil index": lil([10**6], [1.0]),
    "lil negative": lil([-1], [1.0]),
    "lil lengths": lil([0, 1], [1.0]),
    "lil text": lil([0], ["a"]),
    "dok index": dok((0, 10**6)),
    "dok negative": dok((-1, 0)),
    "dok huge": dok((10**30, 0)),
    "csr of objects": broken("csr", "data", lambda a: a.astype(object)),
    "csr of text": broken("csr", "data", lambda a: a.astype(str)),
}


@pytest.mark.parametrize("case", list(BROKEN))
def test_malformed_matrices(case: str) -> None:
    selector = OFS()
    with pytest.raises(InputError, match="sparse matrix"):
        selector.partial_fit(BROKEN[case], np.arange(N_ROWS) % 2)
    columns = catalog.make("saola")
    with pytest.raises(InputError, match="sparse matrix"):
        columns.fit(BROKEN[case], np.arange(N_ROWS) % 2)


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo", "dia", "lil", "dok"])
def test_sound_matrices_of_every_format(kind: str) -> None:
    y = np.arange(N_ROWS) % 2
    given = OFS().partial_fit(getattr(sparse, f"{kind}_matrix")(dense()), y).scores_
    np.testing.assert_array_equal(given, OFS().partial_fit(sparse.csr_matrix(dense()), y).scores_)
