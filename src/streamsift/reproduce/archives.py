"""The .npz files of published data sets: arrays by name, and a matrix with its labels."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import ReaderError
from streamsift.core.npy import HeaderError, read_array
from streamsift.core.sparse import check_csr

_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, HeaderError, KeyError)


def file_mark(path: Path) -> str:
    """A data set by the name and the size of its file, wherever that is; ReaderError where it is not there."""
    if not path.is_file():
        raise ReaderError(
            f"There is no {path.name} in {str(path.parent)!r}: give the folder that holds it with --data."
        )
    return f"{path.name}, {path.stat().st_size} bytes"


def read_arrays(path: Path, names: tuple[str, ...] = ()) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz file, or those with some names that are there; ReaderError where it is damaged."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            found = {}
            for name in names or tuple(members):
                if name in members:
                    with archive.open(members[name]) as file:
                        found[name] = read_array(file, members[name].file_size)
            return found
    except _DAMAGE as error:
        raise ReaderError(f"{path} cannot be read, the file may be damaged: {error}.") from error


def read_matrix(path: Path) -> tuple[Any, NDArray[Any]]:
    """X, dense or CSR, and y."""
    arrays = read_arrays(path, ("X", "y", "data", "indices", "indptr", "shape"))
    y = _part(arrays, "y", path)
    if "X" in arrays:
        return arrays["X"], y
    from scipy.sparse import csr_matrix

    parts = tuple(_part(arrays, name, path) for name in ("data", "indices", "indptr"))
    shape = tuple(int(size) for size in np.ravel(_part(arrays, "shape", path)))
    matrix = csr_matrix(shape, dtype=parts[0].dtype)
    matrix.data, matrix.indices, matrix.indptr = parts
    check_csr(matrix)
    return matrix, y


def matrix_shape(path: Path) -> tuple[int, int]:
    """Rows and columns of X, dense or CSR."""
    shape = read_arrays(path, ("shape",)).get("shape")
    size = np.ravel(shape) if shape is not None else _part(read_arrays(path, ("X",)), "X", path).shape
    return int(size[0]), int(size[1])


def _part(arrays: dict[str, NDArray[Any]], name: str, path: Path) -> NDArray[Any]:
    if name not in arrays:
        raise ReaderError(f"{path} holds no array {name!r}: it is not a data set of a paper.")
    return arrays[name]
