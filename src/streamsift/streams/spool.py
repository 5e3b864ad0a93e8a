"""Spool: rows that were read once, in Arrow IPC files, from which they come back as they were, as often as needed.

Parsing text takes far longer than reading numbers. A spool holds the batches as the reader made them, so that nothing
is decoded twice: a dense row is its bytes, a sparse row its indices and its values, a label its number in a list of
labels. The names behind the codes of categories are kept once. It is no format to keep: it lives in a temporary folder
and is removed with the object.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from streamsift.core.atomic import write_error
from streamsift.core.batch import Batch
from streamsift.core.categories import ColumnKinds
from streamsift.core.interrupts import has_cleared, leaves_behind
from streamsift.streams.ipc import opened
from streamsift.streams.stream import PassedOn, RowStream, recut, widening

_DENSE, _INDICES, _VALUES, _LABELS = "x", "indices", "values", "label"
_PLAIN = {"b": bool, "i": int, "u": int, "f": float, "U": str, "S": bytes}  # what `tolist` makes of a kind of array


@dataclass(frozen=True)
class _Form:
    """What all batches of one file have in common; a batch of another form begins another file."""

    dtype: str
    width: int | None  # of dense rows; sparse ones may widen
    index_dtype: str | None
    label_dtype: str
    feature_names: tuple[str, ...] | None
    categorical: tuple[bool, ...] | None

    @classmethod
    def of(cls, batch: Batch) -> _Form:
        dense = isinstance(batch.X, np.ndarray)
        labels = np.asarray(batch.y).dtype
        return cls(
            batch.X.dtype.str,
            int(batch.X.shape[1]) if dense else None,
            None if dense else batch.X.indices.dtype.str,
            "U" if labels.kind == "U" else labels.str,  # texts of any length
            batch.feature_names,
            None if batch.categorical is None else tuple(batch.categorical.tolist()),
        )

    def schema(self) -> Any:
        columns = {_LABELS: pa.int32()}
        if self.width is not None:
            columns[_DENSE] = pa.binary(self.width * np.dtype(self.dtype).itemsize)
        else:
            columns[_INDICES] = pa.large_list(pa.from_numpy_dtype(np.dtype(self.index_dtype)))
            columns[_VALUES] = pa.large_list(pa.from_numpy_dtype(np.dtype(self.dtype)))
        return pa.schema(columns)


@dataclass
class _File:
    """One Arrow IPC file and the widths of its batches."""

    path: Path
    form: _Form
    widths: list[int] = field(default_factory=list)


class SpoolWriter:
    """Takes batches of a stream as they are read; use it in a `with` block, at whose end `spool` is complete.

    Parameters
    ----------
    widens : bool
        Whether the batches of the stream are as wide as the largest index so far; so are then those of the spool.

    Examples
    --------
    >>> from streamsift.streams import generate
    >>> stream = generate("sea", n_rows=200)
    >>> with SpoolWriter() as writer:
    ...     for batch in writer.reading(stream).batches(64):
    ...         pass
    >>> [batch.n_rows for batch in writer.spool.batches(150)]
    [150, 50]
    """

    def __init__(self, *, widens: bool = False) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="streamsift-spool-"))
        leaves_behind(self._folder)
        self._files: list[_File] = []
        self._writer: Any = None
        self._labels: dict[tuple[type, Any], int] = {}
        self._n_rows, self._widens = 0, widens
        self._kinds: ColumnKinds | None = None
        self._stream: RowStream | None = None
        self.spool: Spool

    def reading(self, stream: RowStream) -> RowStream:
        """The same stream, whose batches are added on the way."""
        self._stream = stream
        return _Copied(stream, self)

    def add(self, batch: Batch) -> None:
        """Append a batch."""
        form = _Form.of(batch)
        try:
            if not self._files or self._files[-1].form != form:
                self._close()
                self._files.append(_File(self._folder / f"{len(self._files)}.arrow", form))
                self._writer = pa.ipc.new_file(str(self._files[-1].path), form.schema())
            self._writer.write_batch(pa.record_batch(self._columns(batch, form), schema=form.schema()))
        except OSError as error:
            raise write_error(self._files[-1].path, error) from error
        self._files[-1].widths.append(int(batch.X.shape[1]))
        self._n_rows += batch.n_rows
        self._kinds = batch.kinds  # categories only grow: the last batch knows all of them

    def _columns(self, batch: Batch, form: _Form) -> list[Any]:
        labels = _arrow(self._codes(np.asarray(batch.y)))
        if form.width is not None:
            rows = pa.py_buffer(np.ascontiguousarray(batch.X))
            return [labels, pa.Array.from_buffers(form.schema().field(_DENSE).type, batch.n_rows, [None, rows])]
        ends = _arrow(batch.X.indptr.astype(np.int64))
        lists = (pa.LargeListArray.from_arrays(ends, _arrow(part)) for part in (batch.X.indices, batch.X.data))
        return [labels, *lists]

    def _codes(self, y: NDArray[Any]) -> NDArray[np.int32]:
        """The number of each label; 1, 1.0 and True are different ones."""
        if y.dtype.kind == "O":
            distinct, places = y.tolist(), np.arange(len(y))
        else:
            found, places = np.unique(y, return_inverse=True)
            distinct = found.tolist() if y.dtype.kind in _PLAIN else list(found)
        codes = [self._labels.setdefault((type(label), label), len(self._labels)) for label in distinct]
        return np.array(codes, np.int32)[places]

    def _close(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            with suppress(OSError):  # a full disk, which is on its way out already
                self._close()
            _remove(self._folder)
            return
        self._close()
        self.spool = Spool(self._folder, self._files, [label for _, label in self._labels], self._n_rows, self._widens)
        if self._stream is not None:
            self.spool.feature_names, self.spool.target_name = self._stream.feature_names, self._stream.target_name
            self.spool.categories = self._stream.categories
        self.spool.kinds = self._kinds


class Spool:
    """A RowStream over the files of a SpoolWriter; they are removed by `remove`, or with the object.

    Copies in other processes read the same files and leave them alone.
    """

    feature_names: tuple[str, ...] | None = None
    target_name: str | None = None
    kinds: ColumnKinds | None = None  # the names behind the codes, of all batches

    def __init__(self, folder: Path, files: list[_File], labels: list[Any], n_rows: int, widens: bool) -> None:
        self._files, self._labels, self._widens = files, labels, widens
        self.n_rows: int | None = n_rows
        self.categories: dict[str, tuple[str, ...]] = {}
        self._n_read = 0
        self.remove: Any = weakref.finalize(self, _remove, folder)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"remove": _nothing}

    def progress(self) -> float | None:
        """The fraction of the rows read so far."""
        return self._n_read / self.n_rows if self.n_rows else None

    def batches(self, batch_size: int) -> Iterator[Batch]:
        """All rows from the beginning, in batches of exactly `batch_size`; only the last may be shorter."""
        batches = recut(self._blocks(), batch_size)
        return widening(batches) if self._widens else batches

    def _blocks(self) -> Iterator[Batch]:
        self._n_read = 0
        for file in self._files:
            labels = _label_array(self._labels, file.form.label_dtype)
            with opened(str(file.path)) as (_, reader):
                for number, width in enumerate(file.widths):
                    rows = reader.get_batch(number)
                    rows.validate(full=True)
                    self._n_read += rows.num_rows
                    yield replace(_batch(rows, file.form, width, labels), kinds=self.kinds)


def _label_array(labels: list[Any], dtype: str) -> NDArray[Any]:
    """All labels in one array of the type; those that are of another kind are never asked for."""
    if dtype == "U":
        return np.array([label if isinstance(label, str) else "" for label in labels])
    array = np.zeros(len(labels), dtype)
    wanted = _PLAIN.get(array.dtype.kind, array.dtype.type)
    for number, label in enumerate(labels):
        if array.dtype.kind == "O" or type(label) is wanted:
            array[number] = label
    return array


def _arrow(values: NDArray[Any]) -> Any:
    """The same numbers as an Arrow array; unlike pa.array this does not import pandas."""
    buffer = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, buffer])


def _batch(rows: Any, form: _Form, width: int, labels: NDArray[Any]) -> Batch:
    y = labels[rows.column(_LABELS).to_numpy()]
    if form.width is not None:
        values = np.frombuffer(rows.column(_DENSE).buffers()[1], form.dtype, rows.num_rows * width)
        X: Any = values.reshape(rows.num_rows, width)
    else:
        indices, data = rows.column(_INDICES), rows.column(_VALUES)
        ends = indices.offsets.to_numpy().astype(form.index_dtype)
        parts = (np.array(data.values.to_numpy()), np.array(indices.values.to_numpy()), ends)
        X = sparse.csr_matrix(parts, (rows.num_rows, width))
    categorical = None if form.categorical is None else np.array(form.categorical)
    return Batch(X, y, form.feature_names, categorical)


class _Copied(PassedOn):
    """A stream whose batches a SpoolWriter is given on the way."""

    def __init__(self, stream: RowStream, writer: SpoolWriter) -> None:
        super().__init__(stream)
        self._writer = writer

    def batches(self, batch_size: int) -> Iterator[Batch]:
        for batch in self._stream.batches(batch_size):
            self._writer.add(batch)
            yield batch


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    has_cleared(folder)


def _nothing() -> None:
    """Remove nothing: the files are another process's."""
