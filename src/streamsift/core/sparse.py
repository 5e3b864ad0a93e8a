"""Matrices of scipy: every format is checked by its own arrays before anything is converted.

scipy looks at none of this unless asked to, and would not notice that an array was changed since. Its conversions are
compiled code that reads and writes wherever an index points, and so are the kernels behind them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import InputError
from streamsift.core.limits import LARGEST

_ANEW = "build the matrix anew"
_NOT_CONVERTED = "eg"  # float16 and longdouble, which scipy keeps in every format but converts to none


def check_sparse(X: Any) -> Any:
    """The matrix with indices that scipy's compiled code takes; InputError unless its arrays fit each other and it.

    The columns of a CSR matrix are left to `check_csr`, which looks at each entry anyway.
    """
    if X.ndim != 2:
        raise InputError(
            f"Expected 2D array, got {X.ndim}D sparse array instead. Reshape your data to (1, n_features)."
        )
    if 0 in X.shape:
        what = "sample(s)" if X.shape[0] == 0 else "feature(s)"
        raise InputError(f"Found array with 0 {what} (shape={X.shape}) while a minimum of 1 is required.")
    if X.dtype.kind == "c":
        raise InputError(
            f"Complex data not supported: X has dtype {X.dtype}; give its real and imaginary parts as columns."
        )
    if X.dtype.kind not in "buif":
        raise InputError(f"The sparse matrix X has dtype {X.dtype}, which is not numeric: give it as numbers.")
    check = _CHECKS.get(X.format)
    if check is None:
        raise InputError(f"X is a sparse matrix in the format {X.format!r}: call X.tocsr() first.")
    check(X)
    return _with_plain_indices(X) if X.format in ("csc", "bsr") else X


def _with_plain_indices(X: Any) -> Any:
    """The matrix itself, or, where its indices are of a type that scipy writes into no matrix, one with others."""
    if all(part is _as_index(part) for part in (X.indices, X.indptr)):
        return X
    end = int(X.indptr[-1])  # there may be more of either behind it
    return type(X)((X.data[:end], _as_index(X.indices, end), _as_index(X.indptr)), X.shape)


def as_matrix(column: Any) -> Any:
    """A sparse array of one dimension as a matrix of one column, checked before it is turned; others as they are."""
    if column.ndim != 1:
        return column
    if column.dtype.kind not in "buif":
        raise InputError(f"The sparse array has dtype {column.dtype}, which is not numeric: give it as numbers.")
    n_rows = column.shape[0]
    if column.format == "coo":
        places, end = column.coords[0], column.data.size
        _check_entries(places, np.zeros_like(places), column.data, (n_rows, 1))
    elif column.format == "csr":
        _one_dimension(column.data)
        _check_starts(column, 1, "row")
        end = int(column.indptr[-1])
        places = column.indices[:end]
        _check_places(places, n_rows, "indices")
    else:
        raise InputError(f"The column is a sparse array in the format {column.format!r}: call tocoo() first.")
    from scipy.sparse import coo_array

    return coo_array((_as_entries(column.data, end), (places, np.zeros_like(places))), shape=(n_rows, 1))


def check_csr(X: Any) -> tuple[Any, bool]:
    """X as CSR with its entries in order, and whether all values are moderate; every entry is looked at once."""
    from streamsift.kernels.csr import DAMAGED, MODERATE, look_through

    X = check_sparse(X)
    if X.format != "csr" and (X.dtype.char in _NOT_CONVERTED or not X.dtype.isnative):
        X = X.astype(np.float64)
    matrix = X if X.format == "csr" else X.tocsr()
    starts = matrix.indptr
    end = int(starts[-1])
    given = (matrix.data, matrix.indices, starts)
    parts = data, columns, starts = _as_entries(matrix.data, end), _as_index(matrix.indices, end), _as_index(starts)
    found = look_through(data, columns.view(f"u{columns.itemsize}"), starts, matrix.shape[1], LARGEST)
    if found == DAMAGED:
        _refuse_not_canonical(columns, starts)
        _refuse_outside(columns, starts, matrix)
    if any(part is not original for part, original in zip(parts, given, strict=True)):
        matrix = type(matrix)(parts, matrix.shape)
    return matrix, found == MODERATE


def in_format_of(X: Any, kept: Any) -> Any:
    """Sparse columns in the format of the matrix they come from (a Batch gives them as they are)."""
    wanted = getattr(X, "format", None)
    return kept if wanted in (None, kept.format) else kept.asformat(wanted)


# -- one check for each format ------------------------------------------------------------------------------------


def _check_csr(X: Any) -> None:
    _one_dimension(X.data)
    _check_starts(X, X.shape[0], "row")
    _integers(X.indices, "indices")


def _check_csc(X: Any) -> None:
    _one_dimension(X.data)
    _check_starts(X, X.shape[1], "column")
    _check_places(X.indices[: X.indptr[-1]], X.shape[0], "indices")


def _check_bsr(X: Any) -> None:
    if X.data.ndim != 3 or 0 in X.data.shape[1:] or any(n % b for n, b in zip(X.shape, X.data.shape[1:], strict=True)):
        raise InputError(f"The blocks of the sparse matrix have shape {X.data.shape}, which does not fit: {_ANEW}.")
    height, width = X.data.shape[1:]
    _check_starts(X, X.shape[0] // height, "row of blocks")
    _check_places(X.indices[: X.indptr[-1]], X.shape[1] // width, "indices")


def _check_coo(X: Any) -> None:
    _check_entries(X.row, X.col, X.data, X.shape)


def _check_entries(rows: Any, columns: Any, data: NDArray[Any], shape: tuple[int, int]) -> None:
    for numbers, n, part in ((rows, shape[0], "row"), (columns, shape[1], "col")):
        _check_places(numbers, n, part)
        if data.ndim != 1 or len(numbers) != len(data):
            raise InputError(f"The sparse matrix has {data.size} values but {len(numbers)} in {part}: {_ANEW}.")


def _check_dia(X: Any) -> None:
    _integers(X.offsets, "offsets")
    if X.data.ndim != 2 or len(X.offsets) != len(X.data) or len(np.unique(X.offsets)) != len(X.offsets):
        raise InputError(
            f"The sparse matrix has diagonals of shape {X.data.shape} for {len(X.offsets)} offsets, each of which must "
            f"be another: {_ANEW}."
        )
    outside = (X.offsets <= -X.shape[0]) | (X.offsets >= X.shape[1])
    if outside.any():
        raise InputError(f"The sparse matrix has a diagonal {X.offsets[np.argmax(outside)]} outside it: {_ANEW}.")


def _check_lil(X: Any) -> None:
    if X.rows.shape != (X.shape[0],) or X.data.shape != (X.shape[0],):
        raise InputError(f"The sparse matrix has {len(X.rows)} lists for {X.shape[0]} rows: {_ANEW}.")
    for number, (places, values) in enumerate(zip(X.rows, X.data, strict=True)):
        if not isinstance(places, list) or not isinstance(values, list) or len(places) != len(values):
            raise InputError(f"Row {number} of the sparse matrix is no pair of lists of the same length: {_ANEW}.")
        if places:
            _check_places(np.asarray(places), X.shape[1], f"row {number}")
            _numbers(values)


def _check_dok(X: Any) -> None:
    if len(X) == 0:
        return
    places = np.array(list(X.keys()), object)
    if places.ndim != 2 or places.shape[1] != 2 or not all(isinstance(k, int | np.integer) for k in places.flat):
        raise InputError(f"The sparse matrix has keys that are no pairs of whole numbers: {_ANEW}.")
    for axis, part in enumerate(("row", "column")):
        _check_places(_whole(places[:, axis], part), X.shape[axis], part)
    _numbers(list(X.values()))


_CHECKS = {
    "csr": _check_csr,
    "csc": _check_csc,
    "bsr": _check_bsr,
    "coo": _check_coo,
    "dia": _check_dia,
    "lil": _check_lil,
    "dok": _check_dok,
}


def _check_starts(X: Any, n: int, what: str) -> None:
    """`indptr` must begin at 0, not fall, and end within the entries, with one number more than there are rows."""
    starts, n_entries = X.indptr, min(len(X.indices), len(X.data))
    _integers(starts, "indptr")
    if len(starts) != n + 1:
        raise InputError(
            f"The indptr of the sparse matrix has {len(starts)} numbers where its shape {X.shape} asks for {n + 1}: "
            f"{_ANEW}."
        )
    if starts[0] or int(starts[-1]) > n_entries or np.count_nonzero(starts[1:] < starts[:-1]):
        wrong = (starts[1:] < starts[:-1]) | (starts[1:] > n_entries)
        first = 0 if starts[0] else int(np.argmax(wrong))
        raise InputError(
            f"{what.capitalize()} {first} of the sparse matrix has the entries from {starts[first]} to "
            f"{starts[first + 1]} of {n_entries}: its indptr is damaged; {_ANEW}."
        )


def _check_places(numbers: Any, n: int, part: str) -> None:
    _integers(numbers, part)
    if numbers.size and (numbers.min() < 0 or numbers.max() >= n):
        place = int(np.argmax((numbers < 0) | (numbers >= n)))
        raise InputError(
            f"Entry {place} in {part} of the sparse matrix is {numbers[place]}, outside 0 to {n - 1}: {_ANEW}."
        )


def _one_dimension(data: NDArray[Any]) -> None:
    if data.ndim != 1:
        raise InputError(f"The data of the sparse matrix has {data.ndim} dimensions where it must have one: {_ANEW}.")


def _integers(numbers: Any, part: str) -> None:
    if not isinstance(numbers, np.ndarray) or numbers.ndim != 1 or numbers.dtype.kind not in "ui":
        kind = getattr(numbers, "dtype", type(numbers).__name__)
        raise InputError(f"The sparse matrix has {part} of type {kind}, not a row of whole numbers: {_ANEW}.")


def _whole(numbers: NDArray[Any], part: str) -> NDArray[np.int64]:
    try:
        return numbers.astype(np.int64)
    except OverflowError as error:
        raise InputError(f"The sparse matrix has a {part} number beyond all bounds: {_ANEW}.") from error


def _numbers(values: list[Any]) -> None:
    """The values of a format that keeps them as Python objects."""
    for value in values:
        if not isinstance(value, int | float | np.number | np.bool_) or np.iscomplexobj(value):
            raise InputError(f"The sparse matrix has a {type(value).__name__} among its values: give it as numbers.")


# -- CSR, entry by entry ------------------------------------------------------------------------------------------


def _as_entries(data: NDArray[Any], end: int) -> NDArray[Any]:
    """The values up to `end` as floats that kernels take; the array itself, if it is no other."""
    data = data if len(data) == end else data[:end]
    if data.dtype.char in "fd" and data.dtype.isnative:
        return data
    small = data.dtype.itemsize <= 2 or data.dtype.char == "f"
    return data.astype(np.float32 if small else np.float64)


def _as_index(numbers: NDArray[Any], end: int | None = None) -> NDArray[Any]:
    """The same for numbers of columns and entries."""
    numbers = numbers if end is None or len(numbers) == end else numbers[:end]
    return numbers if numbers.dtype.char in "ilq" and numbers.dtype.isnative else numbers.astype(np.int64)


def _refuse_not_canonical(columns: NDArray[Any], starts: NDArray[Any]) -> None:
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    same_row = rows[1:] == rows[:-1]
    step = np.diff(columns)
    unsorted = np.flatnonzero(same_row & (step < 0))
    if len(unsorted):
        row = rows[unsorted[0]]
        raise InputError(
            f"Row {row} of the sparse matrix has its column indices out of order: call X.sort_indices() first."
        )
    double = np.flatnonzero(same_row & (step == 0))
    if len(double):
        row, column = rows[double[0]], columns[double[0]]
        raise InputError(
            f"Row {row} of the sparse matrix has two entries for column {column}: call X.sum_duplicates() first."
        )


def _refuse_outside(columns: NDArray[Any], starts: NDArray[Any], matrix: Any) -> None:
    place = int(np.argmax((columns < 0) | (columns >= matrix.shape[1])))
    row = int(np.searchsorted(starts, place, side="right")) - 1
    raise InputError(
        f"Row {row} of the sparse matrix has an entry for column {matrix.indices[place]}, but there are only "
        f"{matrix.shape[1]} columns: build the matrix with the right shape."
    )
