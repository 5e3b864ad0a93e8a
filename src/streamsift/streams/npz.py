"""The .npz files of numpy, row by row: `X` and `y`, or the CSR parts `data`, `indices`, `indptr`, `shape`, and `y`.

`numpy.load` would decompress whole arrays; here the members of the zip file are read as far as the next batch needs.
Only `y` is loaded whole. A matrix in Fortran order has no rows to read one after another and is loaded whole as well.
"""

from __future__ import annotations

import math
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from streamsift.core.batch import Batch, check_matrix
from streamsift.core.exceptions import ReaderError, StreamsiftError
from streamsift.core.npy import HeaderError, fill, read_layout
from streamsift.streams.blocks import BlockStream
from streamsift.streams.files import (
    READ_LIMITS,
    ReadLimits,
    check_file,
    how_to_raise,
    no_rows,
    reading,
    too_many_columns,
)
from streamsift.streams.table import unique_names

CSR_PARTS = ("data", "indices", "indptr", "shape")

# How many bytes one byte of the archive can become, for the ways in which numpy writes: as it is, and deflated.
_MOST_EXPANSION = {zipfile.ZIP_STORED: 1, zipfile.ZIP_DEFLATED: 1032}

# Whatever zipfile raises on bytes that are not what they should be; ValueError: a name that is no text.
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OverflowError, RuntimeError, struct.error, ValueError)


class NpzStream(BlockStream):
    """Rows of an .npz file."""

    n_rows: int
    n_values: int | None = None  # of a sparse matrix, how many values are stored

    def __init__(self, path: Path, target: str | None = None, *, limits: ReadLimits = READ_LIMITS) -> None:
        check_file(path)
        self.target_name, self._limits = target, limits
        self._path, self._name = path, str(path)
        self._names: tuple[str, ...] | None = None
        with self._opened() as archive:
            keys = {name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")}
            self._sparse = "X" not in keys
            wanted = (*CSR_PARTS, "y") if self._sparse and "data" in keys else ("X", "y")
            lacking = [key for key in wanted if key not in keys]
            if lacking:
                raise ReaderError(
                    f"{path} holds the arrays {', '.join(sorted(keys)) or 'none'} but not {', '.join(lacking)}: save X "
                    f"and y, or {', '.join(CSR_PARTS)} and y."
                )
            self._shape = self._read_shape(archive)
            self._check_shapes(archive, "feature_names" in keys)  # before anything is read whole
            self._y = self._whole(archive, "y")
            if "feature_names" in keys:
                names = self._whole(archive, "feature_names")
                self._names = unique_names(names.ravel().tolist(), self._name, limits)
        self.n_rows = self._shape[0]
        missing = np.isnan(self._y) if self._y.dtype.kind == "f" else np.zeros(1, bool)
        if missing.any():
            raise ReaderError(f"Row {np.argmax(missing)} of {self._name} has no label (y is NaN): drop the row.")

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return self._names

    def _blocks(self, size: int) -> Iterator[Batch]:
        self._n_read = 0
        for X in self._sparse_rows(size) if self._sparse else self._dense_rows(size):
            start, self._n_read = self._n_read, self._n_read + X.shape[0]
            yield Batch(check_matrix(X, owner=self._name).values, self._y[start : self._n_read], self.feature_names)

    def _dense_rows(self, size: int) -> Iterator[NDArray[Any]]:
        with self._opened() as archive, _Member(archive, "X") as member:
            for start in range(0, self.n_rows, size):
                yield member.rows(min(size, self.n_rows - start))

    def _sparse_rows(self, size: int) -> Iterator[Any]:
        with self._opened() as archive, ExitStack() as stack:
            data, indices, indptr = (stack.enter_context(_Member(archive, name)) for name in CSR_PARTS[:3])
            last = indptr.rows(1)
            if last[0] != 0:
                raise ReaderError(
                    f"The indptr of {self._name} begins with {last[0]}, not with 0: write the file again."
                )
            for start in range(0, self.n_rows, size):
                ends = np.concatenate([last, indptr.rows(min(size, self.n_rows - start))]).astype(np.int64)
                self._check_rising(ends, start)
                n_values = int(ends[-1] - ends[0])
                parts = (data.rows(n_values), indices.rows(n_values), ends - ends[0])
                self._check_indices(parts[1], parts[2], start)
                X = sparse.csr_matrix(parts, (len(ends) - 1, self._shape[1]))
                X.sort_indices()
                yield X
                last = ends[-1:]

    def _check_rising(self, ends: NDArray[np.int64], first: int) -> None:
        falls = np.diff(ends) < 0
        if falls.any():
            raise ReaderError(
                f"Row {first + np.argmax(falls)} of {self._name} has less than no values: indptr must not fall."
            )

    def _check_indices(self, indices: NDArray[Any], ends: NDArray[np.int64], first: int) -> None:
        """scipy takes indices on trust, and compiled code would write wherever a wrong one points."""
        wrong = (indices < 0) | (indices >= self._shape[1])
        if wrong.any():
            place = int(np.argmax(wrong))
            row = first + int(np.searchsorted(ends, place, side="right")) - 1
            raise ReaderError(
                f"Row {row} of {self._name} has column index {indices[place]}, but the shape has {self._shape[1]} "
                "columns: write the file again."
            )

    @contextmanager
    def _opened(self) -> Iterator[zipfile.ZipFile]:
        try:
            with reading(self._name), zipfile.ZipFile(self._path) as archive:
                yield archive
        except StreamsiftError:
            raise
        except MemoryError as error:
            raise ReaderError(f"{self._name} has more in one batch or in y than memory can hold.") from error
        except _DAMAGE as error:
            reason = str(error) or "it ends too early"
            raise ReaderError(f"{self._name} is not a complete .npz file ({reason}): write it again.") from error

    def _whole(self, archive: zipfile.ZipFile, key: str) -> NDArray[Any]:
        with _Member(archive, key) as member:
            return member.rows(member.shape[0]) if member.shape else member.rows(1)

    def _read_shape(self, archive: zipfile.ZipFile) -> tuple[int, ...]:
        if self._sparse:
            with _Member(archive, "shape") as member:
                shape = tuple(member.rows(2).ravel().tolist()) if member.shape == (2,) else member.shape
            if len(shape) != 2 or not all(isinstance(n, int) and n >= 0 for n in shape):
                raise ReaderError(
                    f"The array 'shape' of {self._name} holds {shape}: save the numbers of rows and columns."
                )
            self._check_parts(archive, shape[0])
            return shape
        with _Member(archive, "X") as member:
            if member.dtype.kind not in "biuf" or len(member.shape) != 2:
                raise ReaderError(
                    f"X of {self._name} has shape {member.shape} and dtype {member.dtype}: save a 2-dimensional array "
                    "of numbers."
                )
            return member.shape

    def _check_parts(self, archive: zipfile.ZipFile, n_rows: int) -> None:
        """The arrays of a CSR matrix must fit each other; what they hold is looked at row by row."""
        sizes = {}
        for key, kinds in (("data", "biuf"), ("indices", "iu"), ("indptr", "iu")):
            with _Member(archive, key) as member:
                if member.dtype.kind not in kinds or len(member.shape) != 1:
                    raise ReaderError(
                        f"Array {key!r} of {self._name} has shape {member.shape} and dtype {member.dtype}: save the "
                        f"{'numbers' if key == 'data' else 'whole numbers'} of a CSR matrix in one dimension."
                    )
                sizes[key] = member.shape[0]
        self.n_values = sizes["data"]
        if sizes["data"] != sizes["indices"] or sizes["indptr"] != n_rows + 1:
            raise ReaderError(
                f"{self._name} has {sizes['data']} values, {sizes['indices']} indices and {sizes['indptr']} numbers in "
                f"indptr for {n_rows} rows, which do not fit: write the file again."
            )

    def _refuse_long_texts(self, key: str, dtype: np.dtype[Any]) -> None:
        """Each text takes the room of the longest."""
        width = {"U": dtype.itemsize // 4, "S": dtype.itemsize}.get(dtype.kind, 0)
        if width > self._limits.longest_name:
            raise ReaderError(
                f"Array {key!r} of {self._name} has texts of {width:,} characters, more than the "
                f"{self._limits.longest_name:,} allowed: shorten them, or, {how_to_raise('longest_name')}."
            )

    def _check_shapes(self, archive: zipfile.ZipFile, has_names: bool) -> None:
        n_rows, n_columns = self._shape
        with _Member(archive, "y") as y:
            self._refuse_long_texts("y", y.dtype)
            if y.shape != (n_rows,):
                raise ReaderError(
                    f"{self._name}: X has {n_rows} rows but y has shape {y.shape}; save one label per row."
                )
        if has_names:
            with _Member(archive, "feature_names") as names:
                self._refuse_long_texts("feature_names", names.dtype)
                n_names = math.prod(names.shape)
            if n_names != n_columns:
                raise ReaderError(
                    f"{self._name}: X has {n_columns} columns but there are {n_names} feature_names; save one name per "
                    "column."
                )
        if 0 in self._shape:
            raise no_rows(self._name)
        if n_columns > self._limits.most_index:
            raise too_many_columns(self._name, n_columns, self._limits.most_index, "most_index")


class _Member:
    """One array of the archive, read forward row by row."""

    def __init__(self, archive: zipfile.ZipFile, key: str) -> None:
        info = archive.getinfo(f"{key}.npy")
        self._key, self._whole, self._n_read = key, None, 0
        if info.compress_type not in _MOST_EXPANSION or (
            info.file_size > _MOST_EXPANSION[info.compress_type] * info.compress_size
        ):
            raise ReaderError(f"{_what(archive, key)} claims to be larger than its bytes can be: write the file again.")
        self._file = archive.open(info)
        try:
            with self._worded(archive):
                self._layout = read_layout(self._file, info.file_size)
        except BaseException:
            self._file.close()
            raise
        self.shape, self.dtype = self._layout.shape, self._layout.dtype
        self._archive = archive

    _whole: NDArray[Any] | None

    def __enter__(self) -> _Member:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def rows(self, n_rows: int) -> NDArray[Any]:
        """The next rows (numbers, for a 1-dimensional array)."""
        row_shape = self.shape[1:]
        n_all = self.shape[0] if self.shape else 1
        start, self._n_read = self._n_read, self._n_read + n_rows
        if self._n_read > n_all:
            raise EOFError(f"array {self._key!r} has only {n_all} of the {self._n_read} entries it is asked for")
        with self._worded(self._archive):
            if self._layout.fortran_order and len(self.shape) > 1:
                if self._whole is None:
                    self._whole = fill(self._file, np.empty(self.shape[::-1], self.dtype)).T
                return self._whole[start : self._n_read]
            return fill(self._file, np.empty((n_rows, *row_shape), self.dtype))

    @contextmanager
    def _worded(self, archive: zipfile.ZipFile) -> Iterator[None]:
        try:
            yield
        except HeaderError as error:
            raise ReaderError(f"{_what(archive, self._key)} {error}; write the file again.") from error


def _what(archive: zipfile.ZipFile, key: str) -> str:
    return f"Array {key!r} of {archive.filename}"
