"""Data sets of papers are read like any stranger's file: plain arrays only, and matrices whose parts fit."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from streamsift.core.exceptions import InputError, ReaderError
from streamsift.reproduce.archives import matrix_shape, read_arrays, read_matrix

SOURCES = Path(__file__).resolve().parents[2] / "src" / "streamsift"
MATRIX = sparse.random(9, 5, 0.4, format="csr", random_state=0)
PARTS = {"data": MATRIX.data, "indices": MATRIX.indices, "indptr": MATRIX.indptr, "shape": np.array(MATRIX.shape)}


def test_dense_and_sparse_matrices_come_back(tmp_path):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, X=MATRIX.toarray(), y=np.arange(9))
    X, y = read_matrix(path)
    assert np.array_equal(X, MATRIX.toarray())
    assert y.tolist() == list(range(9))
    assert matrix_shape(path) == (9, 5)
    np.savez(path, **PARTS, y=np.arange(9))
    X, _ = read_matrix(path)
    assert np.array_equal(X.toarray(), MATRIX.toarray())
    assert matrix_shape(path) == (9, 5)


def test_an_array_of_addresses_is_refused(tmp_path):
    """The header says objects; the bytes would be used as addresses."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "|O", "fortran_order": False, "shape": (3,)})
    file.write(np.full(3, 0x4141414141414141).tobytes())
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", file.getvalue())
    with pytest.raises(ReaderError, match="damaged"):
        read_arrays(path)


@pytest.mark.parametrize(
    "wrong",
    [
        {"indices": np.full(len(MATRIX.indices), 99)},
        {"indices": -np.ones(len(MATRIX.indices), np.int64)},
        {"indptr": np.arange(50)},
        {"data": np.ones((2, 2))},
        {"shape": np.array([2, 2])},
    ],
    ids=["beyond", "negative", "starts", "data", "shape"],
)
def test_a_matrix_whose_parts_do_not_fit_is_refused(tmp_path, wrong):
    np.savez(tmp_path / "a.npz", **(PARTS | wrong), y=np.arange(9))
    with pytest.raises(InputError):
        read_matrix(tmp_path / "a.npz")


def test_what_is_no_data_set_is_told_in_a_sentence(tmp_path):
    (tmp_path / "a.npz").write_bytes(b"no zip")
    with pytest.raises(ReaderError, match="cannot be read"):
        read_arrays(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", X=np.zeros((2, 2)))
    with pytest.raises(ReaderError, match="holds no array 'y'"):
        read_matrix(tmp_path / "b.npz")


def test_nobody_else_loads_arrays_with_numpy():
    assert [path.name for path in SOURCES.rglob("*.py") if "np.load(" in path.read_text(encoding="utf-8")] == []
