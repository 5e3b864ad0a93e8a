"""Where columns come from: files read a few columns at a time, and columns made from other columns.

A source of columns is any iterable of pairs (name, column) or (names, block of columns), as `selector.run(source, y)`
takes it. A source that knows the target has it as `y`. What is read from a Parquet or Arrow file at one time is bounded
by BLOCK_BYTES, however large the file is; formats that are stored row by row have to fit into memory.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy import sparse

from streamsift.core.batch import check_matrix
from streamsift.core.column_data import NumberedNames
from streamsift.core.constraints import Integer, check_parameters
from streamsift.core.decoder import counted_from
from streamsift.core.exceptions import InputError, ReaderError, ReadingNotice
from streamsift.streams.files import READ_LIMITS, ReadLimits, check_file, no_rows, reading
from streamsift.streams.ipc import opened
from streamsift.streams.labels import labels_of
from streamsift.streams.open import open_stream
from streamsift.streams.parquet import refuse_lost_rows
from streamsift.streams.stream import RowStream
from streamsift.streams.table import (
    TableDecoder,
    check_columns,
    check_target,
    refuse_ignored_target,
    unique_names,
    without,
    words_for_skipped,
)

BLOCK_BYTES = 64 << 20  # of one block of columns, counted as float64

Columns = Iterator[tuple[Any, Any]]

BY_COLUMNS = (".parquet", ".arrow", ".feather", ".ipc")  # files whose columns can be read one at a time


class _Selecting(Protocol):
    """The selector a source listens to."""

    @property
    def selected_(self) -> list[str]: ...


class ColumnFile:
    """The columns of a Parquet or Arrow file in blocks, and its target."""

    def __init__(
        self,
        path: Path,
        target: str | None,
        *,
        categorical: Sequence[str] = (),
        ignore: Sequence[str] = (),
        unlabelled: str = "error",
        limits: ReadLimits = READ_LIMITS,
        block_bytes: int = BLOCK_BYTES,
    ) -> None:
        check_file(path)
        self._block_bytes = block_bytes
        self.path, self._name = path, str(path)
        self._parquet = path.suffix.lower() == ".parquet"
        with reading(self._name):
            schema = pq.read_schema(path) if self._parquet else self._ipc_schema()
            names = list(schema.names)  # here they are decoded
        self._all_names = list(unique_names(names, self._name, limits))
        self._schema = without(schema, ignore, self._name)
        self.target_name = check_target(target, self._schema.names, self._name)
        self.names = [name for name in self._schema.names if name != self.target_name]
        self._categorical = check_columns(categorical, self._schema.names, self._name)
        if not self.names:
            raise ReaderError(f"{self._name} has no columns besides the target: there is nothing to select from.")
        labels = self._read([self.target_name]).column(0).combine_chunks()
        if len(labels) == 0:
            raise no_rows(self._name)
        self._known = None if unlabelled == "error" else labels.is_valid()
        if self._known is not None and labels.null_count:
            warnings.warn(words_for_skipped(self.target_name, labels.null_count), ReadingNotice, stacklevel=3)
        labels = labels if self._known is None else labels.filter(self._known)
        self.y = labels_of(labels, self.target_name, counted_from(0, self._name))

    def cut(self, width: int) -> Self:
        """Give blocks of so many columns from now on."""
        self._block_bytes = 8 * len(self.y) * width
        return self

    def __iter__(self) -> Columns:
        return self.blocks()

    def blocks(self, first: int = 0) -> Columns:
        """The blocks from one of them on."""
        width = max(1, self._block_bytes // (8 * len(self.y)))
        for start in range(first * width, len(self.names), width):
            names = self.names[start : start + width]
            table = self._read(names)
            table = (table if self._known is None else table.filter(self._known)).combine_chunks()
            schema = pa.schema([self._schema.field(name) for name in names])
            rows = table.to_batches()[0]
            decoder = TableDecoder(schema, None, source=self._name, sample=rows, categorical=self._marked(names))
            batch = decoder.batch(rows, counted_from(0, self._name), self.y)
            yield batch.feature_names, batch

    def _marked(self, names: list[str]) -> list[str]:
        return [name for name in names if name in self._categorical]

    def _read(self, names: list[str]) -> Any:
        with reading(self._name):
            if self._parquet:
                with pq.ParquetFile(self.path, pre_buffer=False) as file:
                    # A name with a dot in it also matches as a path, so the reader may return more than was asked for.
                    table = file.read(columns=names).select(names)
                    refuse_lost_rows(self._name, "it has", table.num_rows, file.metadata.num_rows)
                    return table
            with opened(self._name, [self._all_names.index(name) for name in names]) as (_, reader):
                table = reader.read_all()
            table.validate(full=True)
            return table.select(names)

    def _ipc_schema(self) -> Any:
        with opened(self._name) as (_, reader):
            return reader.schema


class ColumnTable:
    """The columns of a table that fits into memory, and its target."""

    def __init__(self, stream: RowStream, path: Any = None) -> None:
        self.path = path
        rows = next(stream.batches(sys.maxsize))  # all of them: a column is complete only with the last row
        self.y, self.target_name = rows.y, stream.target_name
        with reading("The table" if path is None else str(path)):  # a start for each column: there may be millions
            self._batch = replace(rows, X=rows.X.tocsc()) if sparse.issparse(rows.X) else rows
        # Columns without names may be as many as the largest index says: their names are made when asked for.
        self.names: Sequence[str] = list(rows.feature_names or ()) or NumberedNames(range(rows.X.shape[1]))

    def __iter__(self) -> Columns:
        return self.blocks()

    def blocks(self, first: int = 0) -> Columns:
        """The one block there is, or none behind it."""
        if first == 0:
            yield self.names, self._batch

    def as_arrow(self) -> Any:
        """The table as one of pyarrow, with its target; None if it is sparse."""
        rows = self._batch
        if sparse.issparse(rows.X):
            return None
        names = {} if rows.kinds is None else rows.kinds.names
        columns: dict[str, Any] = {}
        for place, name in enumerate(self.names):
            values = np.asarray(rows.X[:, place])
            if place in names:
                codes = pa.array(np.nan_to_num(values).astype(np.int32), mask=np.isnan(values))
                columns[name] = pa.DictionaryArray.from_arrays(codes, pa.array([str(text) for text in names[place]]))
            else:
                columns[name] = pa.array(values)
        columns[str(self.target_name)] = pa.array(list(self.y) if self.y.dtype == object else self.y)
        return pa.table(columns)


def open_columns(
    source: str | os.PathLike[str],
    target: str | None = None,
    *,
    categorical: Sequence[str] = (),
    ignore: Sequence[str] = (),
    unlabelled: str = "error",
    sep: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    na: Sequence[str] = (),
    encoding: str | None = None,
    limits: ReadLimits | Mapping[str, int] | None = None,
) -> ColumnFile | ColumnTable:
    """Open a file as a source of columns that knows its target.

    Parameters
    ----------
    source : path
        Parquet and Arrow files are read a few columns at a time and may be larger than memory; every other format
        of `open_stream` is read whole.
    target : str, optional
        The column to be explained.
    categorical : sequence of str
        Columns to read as categories although they look like numbers.
    ignore : sequence of str
        Columns to leave out.
    unlabelled : "error" or "skip"
        What to do about rows without a label.
    sep, decimal, thousands, na, encoding
        How a text file is read, as in `open_stream`.
    limits : ReadLimits or dict, optional
        What is too much for a file, as in `open_stream`.

    Returns
    -------
    A source with `y`, `names`, `target_name` and `path`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from streamsift.columns.penalised import Penalised
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "table.csv")
    ...     rows = [f"{k},{k % 7},{3 * k + k % 2}" for k in range(50)]
    ...     _ = path.write_text("\\n".join(["time,day,y", *rows]))
    ...     Penalised("bic").run(open_columns(path, target="y")).selected_
    ['time']
    """
    path = Path(source)
    refuse_ignored_target(target, ignore)
    texts: dict[str, Any] = {"sep": sep, "decimal": decimal, "thousands": thousands, "encoding": encoding}
    options = {name: value for name, value in texts.items() if value is not None} | ({"na": na} if na else {})
    if path.suffix.lower() in BY_COLUMNS and not options:
        allowed = limits if isinstance(limits, ReadLimits) else READ_LIMITS.changed(limits or {})
        return ColumnFile(path, target, categorical=categorical, ignore=ignore, unlabelled=unlabelled, limits=allowed)
    options |= {} if limits is None else {"limits": limits}
    stream = open_stream(source, target, categorical=categorical, ignore=ignore, unlabelled=unlabelled, **options)
    return ColumnTable(stream, source)


# -- columns made from columns ------------------------------------------------------------------------------------


def interactions(X: Any, selector: _Selecting, names: Sequence[str] | None = None) -> Columns:
    """All columns of X, then the products (squares too) of those the selector has accepted.

    365 columns have 66,795 such products; offered this way only those of accepted columns are ever made.

    Examples
    --------
    >>> from streamsift.columns.penalised import Penalised
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(300, 30))
    >>> y = X[:, 4] + X[:, 9] + 2 * X[:, 4] * X[:, 9] + rng.normal(size=300)
    >>> selector = Penalised("ric", n_columns=500)
    >>> selector.run(interactions(X, selector), y).selected_
    ['x4', 'x9', 'x4*x9']
    """
    matrix, known = _named(X, names)
    yield known, matrix
    place = {name: k for k, name in enumerate(known)}
    accepted = [name for name in selector.selected_ if name in place]
    for a, b in combinations_with_replacement(sorted(accepted, key=place.__getitem__), 2):
        yield f"{a}*{b}", matrix[:, place[a]] * matrix[:, place[b]]


def powers(X: Any, names: Sequence[str] | None = None, *, degree: int = 3) -> Columns:
    """The second to the `degree`-th power of each column of X.

    Examples
    --------
    >>> [name for name, _ in powers(np.ones((3, 2)), degree=3)]
    ['x0^2', 'x0^3', 'x1^2', 'x1^3']
    """
    check_parameters("powers", {"degree": degree}, {"degree": (Integer(2, 100),)})
    matrix, known = _named(X, names)
    for k, name in enumerate(known):
        largest = np.abs(matrix[:, k]).max()
        column = matrix[:, k] / largest if largest > 0 else matrix[:, k]  # a scale changes no decision
        for power in range(2, degree + 1):
            yield f"{name}^{power}", column**power


def logarithms(X: Any, names: Sequence[str] | None = None) -> Columns:
    """The logarithm of each column that has more than one value.

    A column with values below or at 0 is first shifted so that its least value becomes the gap to the next one.

    Examples
    --------
    >>> [(name, column.round(3).tolist()) for name, column in logarithms(np.array([[1.0], [2.0], [5.0]]))]
    [('log(x0)', [0.0, 0.693, 1.609])]
    """
    matrix, known = _named(X, names)
    for k, name in enumerate(known):
        values = np.unique(matrix[:, k])
        if len(values) < 2:
            continue
        shift = 0.0 if values[0] > 0 else values[1] - 2 * values[0]
        yield f"log({name})", np.log(matrix[:, k] + shift)


def _named(X: Any, names: Sequence[str] | None) -> tuple[NDArray[np.float64], list[str]]:
    matrix, own, _, _, kinds = check_matrix(X, owner="a source of columns", sparse=False)
    known = list(names if names is not None else own or [f"x{k}" for k in range(matrix.shape[1])])
    for place in () if kinds is None else kinds.names:
        raise InputError(f"Column {known[place]!r} holds categories, which cannot be multiplied: leave it out.")
    if len(known) != matrix.shape[1]:
        raise InputError(f"There are {matrix.shape[1]} columns but {len(known)} names: give each column its own name.")
    return np.asarray(matrix, np.float64), known
