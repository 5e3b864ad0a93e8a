"""Columns and targets as column selectors see them, and the checks that bring any data into that form.

A ColumnBlock holds some columns over the same rows: a float matrix in either order, or CSC. What the columns of a table
mean is decided in core/tables.py: text and categories become codes, marked as categorical. A Target is numbers, or
class codes with their labels. Nothing here changes its input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from streamsift.core.batch import Batch, CheckedMatrix, check_matrix
from streamsift.core.categories import ColumnKinds, Names
from streamsift.core.exceptions import InputError
from streamsift.core.limits import LARGEST, all_moderate, beyond
from streamsift.core.per_row import weights_as_floats
from streamsift.core.sparse import as_matrix, check_sparse
from streamsift.core.tags import TargetKind as TargetKind
from streamsift.core.vocabulary import LabelVocabulary, check_names, from_column

Floats = NDArray[np.float64]


class NumberedNames(Sequence[str]):
    """The names of unnamed columns, x0, x1, ..., made when asked for: a million of them cost nothing.

    >>> list(NumberedNames(range(3, 5)))
    ['x3', 'x4']
    """

    def __init__(self, places: range) -> None:
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, k: Any) -> Any:
        return NumberedNames(self._places[k]) if isinstance(k, slice) else f"x{self._places[k]}"

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name[:1] == "x" and name[1:].isdecimal() and int(name[1:]) in self._places


@dataclass(frozen=True)
class ColumnBlock:
    """Some columns, checked. `places` are their positions in the stream; `categorical` marks columns of codes.

    `categories` has the names behind the codes, by position in the block, where there are any; `lines` the lines of the
    file on which the rows begin, where it has lines.
    """

    values: Any  # ndarray (n_rows, n_columns), float32 or float64, or scipy CSC
    names: Sequence[str]
    places: Sequence[int]
    categorical: NDArray[np.bool_] | None = None
    categories: Names = field(default_factory=dict)
    lines: NDArray[np.int64] | None = None

    @property
    def n_columns(self) -> int:
        return int(self.values.shape[1])

    @property
    def sparse(self) -> bool:
        return not isinstance(self.values, np.ndarray)

    def column(self, k: int) -> Floats:
        """One column as a dense float64 array of its own."""
        values = self.values[:, k]
        return np.array(values.toarray().ravel() if self.sparse else values, np.float64)

    def is_categorical(self, k: int) -> bool:
        return self.categorical is not None and bool(self.categorical[k])

    def take(self, chosen: NDArray[np.intp]) -> ColumnBlock:
        """Some of the columns, in the given order."""
        return ColumnBlock(
            self.values[:, chosen],
            [self.names[k] for k in chosen],
            [self.places[k] for k in chosen],
            None if self.categorical is None else self.categorical[chosen],
            {k: self.categories[int(j)] for k, j in enumerate(chosen) if int(j) in self.categories},
            self.lines,
        )

    def refuse_bad_value(self) -> None:
        """Raise for the first value that is NaN, infinite or too large to be squared, if there is one."""
        values = self.values.data if self.sparse else self.values
        if all_moderate(values):
            return
        bad = beyond(values)
        if self.sparse:
            place = int(np.argmax(bad))
            k = int(np.searchsorted(self.values.indptr, place, side="right")) - 1
            self._refuse_value(values[place], int(self.values.indices[place]), k)
        k = int(np.argmax(bad.any(axis=0)))
        row = int(np.argmax(bad[:, k]))
        self._refuse_value(values[row, k], row, k)

    def _refuse_value(self, value: float, row: int, k: int) -> NoReturn:
        place = f"Row {row}" if self.lines is None else f"Line {self.lines[row]} of the file"
        where = f"{place}, column {self.names[k]!r}"
        if self.is_categorical(k) and np.isnan(value):
            raise InputError(f"{where} is empty: give it a category of its own or drop the row.")
        raise InputError(f"{where} is {_what_is_wrong(value)}.")


def _what_is_wrong(value: float) -> str:
    what = "NaN" if np.isnan(value) else "infinity" if np.isinf(value) else f"too large ({value:.3g})"
    advice = {"NaN": "fill it in or leave the column out", "infinity": "replace it by a finite number"}.get(
        what, f"rescale the column, values beyond {LARGEST:g} overflow when squared"
    )
    return f"{what}: {advice}"


def check_block(
    X: Any,
    *,
    n_rows: int,
    first: int,
    names: Sequence[str] | None = None,
    categorical: Any = None,
    kinds: ColumnKinds | None = None,
    owner: str,
) -> ColumnBlock:
    """Any table of columns as a ColumnBlock; values are looked at separately (`refuse_bad_value`)."""
    lines = None
    if isinstance(X, Batch):
        lines = X.lines
        names = X.feature_names if names is None else names
        categorical = X.categorical if categorical is None else categorical
        kinds = X.kinds if kinds is None else kinds
        X = X.X
    values, own_names, _, _, own_kinds = _matrix(X, owner)
    kinds = own_kinds if kinds is None else kinds
    if values.shape[0] != n_rows:
        raise InputError(
            f"The columns have {values.shape[0]} rows but the target has {n_rows}: the rows are fixed once the target "
            "is known, give one value per row."
        )
    n_columns = values.shape[1]
    places = range(first, first + n_columns)
    given = names if names is not None else own_names
    known: Sequence[str] = NumberedNames(places) if given is None else check_names(given)
    if len(known) != n_columns:
        raise InputError(f"There are {n_columns} columns but {len(known)} names: give each column its own name.")
    mask = None if categorical is None else np.asarray(categorical, bool)
    if mask is not None and mask.shape != (n_columns,):
        raise InputError(f"`categorical` has shape {mask.shape} for {n_columns} columns: give one True or False each.")
    categories: Names = {} if kinds is None else kinds.names
    if categories:
        text = np.zeros(n_columns, bool)
        text[list(categories)] = True
        mask = text if mask is None else mask | text
    return ColumnBlock(values, known, places, mask, categories, lines)


def check_column(
    column: Any, *, n_rows: int, place: int, name: str | None, categorical: bool, owner: str
) -> ColumnBlock:
    """One column as a block of one."""
    values: Any
    name = None if name is None else check_names([name])[0]
    if _is_sparse(column):
        values, text = as_matrix(column), None
    else:
        from streamsift.core.tables import read_column  # pyarrow: only for those who need it

        values, text = read_column(column, name or f"x{place}")
        values = values[:, None]
    if values.shape[1] != 1:
        raise InputError(f"A single column was expected, got {values.shape[1]}: use offer_many for a block of columns.")
    names = None if name is None else [name]
    mask = [True] if categorical else None
    kinds = None if text is None else ColumnKinds({0: text})
    return check_block(values, n_rows=n_rows, first=place, names=names, categorical=mask, kinds=kinds, owner=owner)


def _matrix(X: Any, owner: str) -> CheckedMatrix:
    """Values in either order or CSC, names where the table has them, and the kinds of the columns."""
    if type(X) is np.ndarray and X.ndim == 2 and 0 not in X.shape and X.dtype in (np.float32, np.float64):
        return CheckedMatrix(X, None)
    if _is_sparse(X):
        X = check_sparse(X)
        plain = X.format == "csc" and X.dtype.char in "fd" and len(X.data) == len(X.indices) and X.has_canonical_format
        return CheckedMatrix(X if plain else check_matrix(X, owner=owner).values.tocsc(), None, True)
    return check_matrix(X, owner=owner)


def _is_sparse(X: Any) -> bool:
    return bool(sparse.issparse(X))


@dataclass(frozen=True)
class Target:
    """What is to be explained: numbers, or class codes with their labels (None: numbers)."""

    values: Floats
    labels: LabelVocabulary | None

    @property
    def n_rows(self) -> int:
        return len(self.values)


def check_target(y: Any, kind: TargetKind, owner: str) -> Target:
    """The target in the form a method needs.

    "number" takes numbers, and two labels as 0 and 1; "classes" takes labels; "either" takes floats with fractional
    parts as numbers and everything else as labels.
    """
    if y is None:
        raise InputError(f"{owner} requires y to be passed, but the target y is None: give one value per row.")
    values = y if type(y) is np.ndarray else from_column(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise InputError(f"y must be one value per row, in one dimension. Got an array of shape {values.shape}.")
    if len(values) == 0:
        raise InputError("Found array with 0 sample(s) in y while a minimum of 1 is required.")
    if values.dtype.kind == "c":
        raise InputError("Complex data not supported: y must be real.")
    numeric = values.dtype.kind in "buif"
    if not numeric and values.dtype.kind == "O" and all(isinstance(v, int | float | np.number) for v in values):
        values, numeric = values.astype(np.float64), True
    if numeric and kind != "classes":
        numbers = values.astype(np.float64)
        bad = beyond(numbers)
        if bad.any():
            row = int(np.argmax(bad))
            raise InputError(f"Row {row} of y is {numbers[row]}, input contains NaN, infinity or a value too large.")
        if kind == "number" or np.any(numbers != np.floor(numbers)):
            return Target(numbers, None)
    codes, labels = LabelVocabulary().encode(values)
    if kind == "number":
        if len(labels) > 2:
            raise InputError(
                f"y holds {len(labels)} labels such as {labels.labels[0]!r}, which no linear model can explain: give "
                "numbers, or set model='logistic'."
            )
        return Target(codes.astype(np.float64), labels)
    return Target(codes.astype(np.float64), labels)


def check_weight(sample_weight: Any, n_rows: int) -> Floats:
    """Weights of the rows; an empty array stands for equal ones."""
    if sample_weight is None:
        return np.empty(0)
    weight = weights_as_floats(sample_weight)
    if weight.shape != (n_rows,):
        raise InputError(f"sample_weight has shape {weight.shape} but y has {n_rows} rows: give one weight per row.")
    bad = ~((weight >= 0) & (weight <= LARGEST))
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"The weight of row {row} is {weight[row]}: weights must be finite and not negative.")
    if not weight.any():
        raise InputError("All weights are zero: at least one row must count.")
    return weight if np.any(weight != 1.0) else np.empty(0)
