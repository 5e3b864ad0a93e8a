"""The .npz files: dense, CSR, Fortran order, names, and a matrix that is never loaded whole."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from tests.streams.drain import drain

from streamsift.core.exceptions import ParameterError, ReaderError
from streamsift.streams import open_stream

SIZES = [1, 7, 30, 1000]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float16, np.float32, np.float64, ">f8"])
def test_dense(tmp_path: Path, size: int, save: Any, dtype: Any) -> None:
    X = np.random.default_rng(0).integers(-3, 100, (30, 4)).astype(dtype)
    y = np.array(list("abc") * 10)
    save(tmp_path / "a.npz", X=X, y=y, feature_names=np.array(["p", "q", "r", "s"]))
    stream = open_stream(tmp_path / "a.npz")
    assert stream.n_rows == 30
    assert stream.feature_names == ("p", "q", "r", "s")
    read, labels = drain(stream, size)
    assert read.dtype == (np.float64 if np.dtype(dtype).itemsize == 8 else np.float32)
    np.testing.assert_array_equal(read, X.astype(np.float64))
    assert labels == y.tolist()


def test_fortran_order(tmp_path: Path) -> None:
    X = np.asfortranarray(np.arange(60.0).reshape(12, 5))
    np.savez(tmp_path / "a.npz", X=X, y=np.arange(12))
    np.testing.assert_array_equal(drain(open_stream(tmp_path / "a.npz"), 5)[0], X)


def save_csr(path: Path, X: Any, y: Any, **more: Any) -> Path:
    np.savez_compressed(path, data=X.data, indices=X.indices, indptr=X.indptr, shape=np.array(X.shape), y=y, **more)
    return path


@pytest.mark.parametrize("size", SIZES)
def test_csr(tmp_path: Path, size: int) -> None:
    X = sparse.random(30, 50, 0.1, format="csr", random_state=0, dtype=np.float32)
    X = sparse.vstack([X[:7], sparse.csr_matrix((5, 50), dtype=np.float32), X[12:]], format="csr")  # rows of zeros
    stream = open_stream(save_csr(tmp_path / "a.npz", X, np.arange(30)))
    read, y = drain(stream, size)
    np.testing.assert_array_equal(read, X.toarray())
    assert y == list(range(30))
    assert stream.feature_names is None


def test_csr_with_indices_out_of_order(tmp_path: Path) -> None:
    X = sparse.csr_matrix((np.array([1, 2, 3], np.int8), [4, 0, 2], [0, 2, 3]), (2, 5))
    read, _ = drain(open_stream(save_csr(tmp_path / "a.npz", X, [0, 1])))
    assert read.tolist() == [[2, 0, 0, 0, 1], [0, 0, 3, 0, 0]]


@pytest.mark.parametrize("name", ["elec2", "dexter", "usenet1", "colon"])
def test_shared_data_agree_with_numpy(shared: Path, name: str) -> None:
    entries = json.loads((shared / "data" / "MANIFEST.json").read_text())
    path = shared / "data" / f"{name}.npz"
    assert name in json.dumps(entries)
    X, y = drain(open_stream(path, target="class"), 333)
    with np.load(path) as arrays:
        if "X" in arrays:
            expected = arrays["X"]
        else:
            parts = (arrays["data"], arrays["indices"], arrays["indptr"])
            expected = sparse.csr_matrix(parts, tuple(arrays["shape"])).toarray()
        np.testing.assert_array_equal(X, expected)
        assert y == arrays["y"].tolist()


def refusal(path: Path, **arrays: Any) -> str:
    np.savez(path, **arrays)
    with pytest.raises(ReaderError) as raised:
        list(open_stream(path).batches(3))
    assert str(path) in str(raised.value)
    return str(raised.value)


def test_refusals(tmp_path: Path) -> None:
    path, X, y = tmp_path / "a.npz", np.eye(4), np.arange(4)
    assert "holds the arrays X but not y" in refusal(path, X=X)
    assert "holds the arrays data, y but not indices, indptr, shape" in refusal(path, data=X, y=y)
    assert "holds the arrays none but not X, y" in refusal(path)
    assert "has shape (4,) and dtype int64" in refusal(path, X=y, y=y)
    assert "X has 4 rows but y has shape (3,)" in refusal(path, X=X, y=y[:3])
    assert "4 columns but there are 2 feature_names" in refusal(path, X=X, y=y, feature_names=np.array(["a", "b"]))
    assert "Two columns are called 'a'" in refusal(path, X=X, y=y, feature_names=np.array(["a", "b", "c", "a"]))
    assert "Row 1 of" in refusal(path, X=X, y=np.array([0, np.nan, 1, np.nan]))
    assert "no rows" in refusal(path, X=X[:0], y=y[:0])
    assert "'y' of" in refusal(path, X=X, y=np.array([1, "a", None, 2], object))
    assert "'X' of" in refusal(path, X=X.astype(object), y=y)


def test_a_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(b"no zip file")
    with pytest.raises(ReaderError, match=r"is not a complete .npz file"):
        open_stream(path)
    indptr = np.array([0, 2, 9])
    np.savez(path, data=np.ones(3), indices=np.arange(3), indptr=indptr, shape=np.array([2, 5]), y=np.arange(2))
    with pytest.raises(ReaderError, match=r"\(array 'data' has only 3 of the 9 entries it is asked for\)"):
        list(open_stream(path).batches(1))


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"indices": np.array([0, 1, 9])}, "Row 1 of .* has column index 9, but the shape has 5 columns"),
        ({"indices": np.array([0, -1, 2])}, "Row 0 of .* has column index -1"),
        ({"indptr": np.array([0, 3, 2])}, "Row 1 of .* has less than no values: indptr must not fall"),
        ({"shape": np.array([2, 5, 1])}, "The array 'shape' of .* holds"),
        ({"shape": np.array([2.0, 5.0])}, "The array 'shape' of .* holds"),
    ],
)
def test_csr_parts_that_do_not_fit(tmp_path: Path, parts: dict[str, Any], sentence: str) -> None:
    good = {"data": np.ones(3), "indices": np.arange(3), "indptr": np.array([0, 2, 3]), "shape": np.array([2, 5])}
    np.savez(tmp_path / "a.npz", **{**good, **parts}, y=np.arange(2))
    with pytest.raises(ReaderError, match=sentence):
        list(open_stream(tmp_path / "a.npz").batches(1))


def test_members_that_are_no_arrays(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X", "text")
        archive.writestr("y.npy", "text")
    with pytest.raises(ReaderError, match="holds the arrays y but not X"):
        open_stream(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("X.npy", "text")
    with pytest.raises(ReaderError, match=r"Array 'X' of .* is not in the .npy format"):
        open_stream(path)


def test_options_that_do_not_apply(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", X=np.eye(4), y=np.arange(4))
    with pytest.raises(ParameterError, match=r"The option ignore does not apply to .npz files: only limits do"):
        open_stream(tmp_path / "a.npz", ignore=["a"])
