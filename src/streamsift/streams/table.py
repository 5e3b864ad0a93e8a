"""TableDecoder: Arrow record batches of one schema become float matrices, category codes and labels.

    number, decimal         the value; empty cells are NaN
    text, bool, dictionary  the code of the category; empty cells are NaN
    date, time, duration    seconds (dates since 1970-01-01 UTC, times since midnight)
    list of numbers         as many features as the list is long: name[0], name[1], ...

The matrix is float32 where every feature fits into it exactly (float32, float16, 8- and 16-bit integers), else
float64. A list costs the handling of one column, however long it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from streamsift.core.batch import Batch
from streamsift.core.exceptions import InputError, ParameterError, ReaderError, UnknownNameError, near_misses
from streamsift.core.vocabulary import check_names
from streamsift.streams.categories import MOST_CATEGORIES, Categories
from streamsift.streams.labels import Place, distinct_texts, labels_of

_TICKS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}  # a second; dividing by them rounds once, where 1e-3 is not exact


@dataclass(frozen=True)
class _Column:
    """One column of the file that becomes features."""

    place: int
    name: str
    kind: str  # "number", "category", "seconds" or "list"
    width: int = 1


class TableDecoder:
    """What the columns of a table mean, learnt from its schema, and the vocabularies that grow with its rows.

    `source` names the file in errors. `target` None: the labels come from elsewhere. `sample` holds the first row, to
    learn the length of lists from, where `needs_sample` says so. `declared` gives columns with a fixed vocabulary.
    """

    def __init__(
        self,
        schema: Any,
        target: str | None,
        *,
        source: str,
        sample: Any = None,
        categorical: Iterable[str] = (),
        declared: Mapping[str, Categories] | None = None,
        most_categories: int = MOST_CATEGORIES,
    ) -> None:
        self._source = source
        names = unique_names(schema.names, source)
        self.target = target
        categorical = check_columns(categorical, names, source)
        self._columns = [
            self._column(place, schema.field(place), sample, name in categorical)
            for place, name in enumerate(names)
            if name != target
        ]
        if not self._columns:
            raise ReaderError(f"{source} has no feature columns besides the target: there is nothing to select from.")
        # The usual case, numbers only, needs no work per column: nothing but a selection.
        plain = all(column.kind == "number" and _is_plain(schema.field(column.place).type) for column in self._columns)
        self._plain = [column.place for column in self._columns] if plain else None
        self._target_place = None if target is None else names.index(target)
        self.feature_names = check_names([name for column in self._columns for name in _feature_names(column)])
        declared = declared or {}
        self.vocabularies = {
            c.name: declared.get(c.name, Categories(most=most_categories))
            for c in self._columns
            if c.kind == "category"
        }
        mask = [c.kind == "category" for c in self._columns for _ in range(c.width)]
        self.categorical = np.array(mask) if any(mask) else None

    @property
    def categories(self) -> dict[str, tuple[str, ...]]:
        return {name: vocabulary.values for name, vocabulary in self.vocabularies.items()}

    def decode(self, rows: Any, place: Place, labels: NDArray[Any] | None = None) -> Batch:
        """One RecordBatch of the schema as a Batch; `place` words where a row is, for errors."""
        if labels is None:
            assert self._target_place is not None
            labels = labels_of(rows.column(self._target_place), str(self.target), place)
        if self._plain is not None:
            return Batch(_matrix(rows.select(self._plain)), labels, self.feature_names)
        parts: list[NDArray[Any]] = []
        singles: list[Any] = []
        for column in self._columns:
            array = rows.column(column.place)
            if column.kind == "list":
                parts += _matrices(singles)
                parts.append(self._lists(array, column, place))
                singles = []
            else:
                singles.append(self._single(array, column, place))
        parts += _matrices(singles)
        X = parts[0] if len(parts) == 1 else np.hstack(parts)
        return Batch(X, labels, self.feature_names, self.categorical)

    def _column(self, place: int, field: Any, sample: Any, categorical: bool) -> _Column:
        kind, types = field.type, pa.types
        if categorical and not types.is_nested(kind):
            return _Column(place, field.name, "category")
        if types.is_boolean(kind) or types.is_dictionary(kind) or _is_text(kind):
            return _Column(place, field.name, "category")
        if types.is_temporal(kind) and not types.is_interval(kind):
            return _Column(place, field.name, "seconds")
        if _is_number(kind):
            return _Column(place, field.name, "number")
        if _is_list(kind) and _is_number(kind.value_type) and not categorical:
            width = _first_length(sample, place) if _is_loose_list(kind) else kind.list_size
            if width == 0:
                raise ReaderError(
                    f"Column {field.name!r} of {self._source} has no list in its first row, so that its length is "
                    "unknown: put a complete row first."
                )
            return _Column(place, field.name, "list", width)
        raise ReaderError(
            f"Column {field.name!r} of {self._source} is of type {kind}, which is no feature: leave it out with "
            f"ignore=[{field.name!r}]."
        )

    def _single(self, array: Any, column: _Column, place: Place) -> Any:
        if column.kind == "category":
            return _float_column(self._codes(array, column.name, place))
        if column.kind == "seconds":
            return _float_column(_seconds(array))
        if _is_plain(array.type):
            return array
        return array.cast(pa.float32() if pa.types.is_float16(array.type) else pa.float64())

    def _codes(self, array: Any, name: str, place: Place) -> NDArray[np.float64]:
        distinct, rows = distinct_texts(array)
        vocabulary = self.vocabularies[name]
        texts = [text for text in distinct if text is not None]
        refused = vocabulary.refused(texts)
        if refused is not None:
            where = place(int(np.argmax(rows == distinct.index(refused))))
            raise refused_category(vocabulary, refused, name, where)
        of_distinct = np.full(len(distinct), np.nan)
        of_distinct[[text is not None for text in distinct]] = vocabulary.encode(texts)
        codes: NDArray[np.float64] = of_distinct[rows]
        return codes

    def _lists(self, array: Any, column: _Column, place: Place) -> NDArray[Any]:
        if _is_loose_list(array.type):
            lengths = array.value_lengths().fill_null(column.width).to_numpy(zero_copy_only=False)
            wrong = lengths != column.width
            if wrong.any():
                row = int(np.argmax(wrong))
                raise ReaderError(
                    f"{place(row)}, column {column.name!r}: the list has {lengths[row]} numbers where the first "
                    f"row has {column.width}; all lists of a column must be equally long."
                )
        values = array.flatten()  # without the rows that have no list
        small = _fits_float32(values.type)
        values = values.cast(pa.float32() if small else pa.float64(), safe=False)
        matrix = np.asarray(values.to_numpy(zero_copy_only=False)).reshape(-1, column.width)
        if array.null_count:
            full = np.full((len(array), column.width), np.nan, matrix.dtype)
            full[array.is_valid().to_numpy(zero_copy_only=False)] = matrix
            return full
        return matrix


def refused_category(vocabulary: Categories, value: str, column: str, where: str) -> ReaderError:
    """The error for a value that a vocabulary does not take."""
    if vocabulary.closed:
        known = near_misses(value, vocabulary.values)
        return ReaderError(f"{where}, column {column!r}: {value!r} is not among the declared values. {known}")
    return ReaderError(
        f"{where}, column {column!r}: this is text number {vocabulary.most + 1:,} of the column, which makes it an "
        f"identifier rather than a category; leave it out with ignore=[{column!r}]."
    )


def unique_names(names: Sequence[str], source: str) -> tuple[str, ...]:
    """Column names, refused with the file's name when two are equal."""
    try:
        return check_names(names)
    except InputError as error:
        raise ReaderError(f"{source}: {error}") from error


def check_columns(chosen: Iterable[str], names: Sequence[str], source: str) -> set[str]:
    """Columns named by the user, refused when one does not exist."""
    wanted, known = set([chosen] if isinstance(chosen, str) else chosen), set(names)
    for name in sorted(wanted - known):
        raise UnknownNameError(f"column of {source} called", name, names)
    return wanted


def refuse_ignored_target(target: str | None, ignore: Iterable[str]) -> None:
    """The target cannot be left out."""
    if target is not None and target in tuple(ignore):
        raise ParameterError(f"The column {target!r} is the target and cannot be ignored: leave it out of 'ignore'.")


def without(schema: Any, ignore: Iterable[str], source: str) -> Any:
    """The schema without the ignored columns."""
    ignored = check_columns(ignore, schema.names, source)
    return pa.schema([field for field in schema if field.name not in ignored]) if ignored else schema


def check_target(target: str | None, names: Sequence[str], source: str) -> str:
    """The target's name, if it is one of the columns."""
    if target is None:
        raise ParameterError(f"{source} needs the name of its target column: pass target=. {near_misses('', names)}")
    if target not in names:
        raise UnknownNameError("target column", target, names)
    return target


def _feature_names(column: _Column) -> list[str]:
    return [column.name] if column.kind != "list" else [f"{column.name}[{k}]" for k in range(column.width)]


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_list(kind: Any) -> bool:
    return bool(pa.types.is_fixed_size_list(kind)) or _is_loose_list(kind)


def _is_loose_list(kind: Any) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def needs_sample(schema: Any) -> bool:
    """Whether the schema leaves the number of features open, because lists do not say how long they are."""
    return any(_is_loose_list(field.type) for field in schema)


def _is_number(kind: Any) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind))


def _is_plain(kind: Any) -> bool:
    """Whether Arrow puts the type into a matrix without being asked to convert it first."""
    return bool(pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind))


def _fits_float32(kind: Any) -> bool:
    if pa.types.is_integer(kind):
        return bool(kind.bit_width <= 16)
    return bool(pa.types.is_float32(kind) or pa.types.is_float16(kind))


def _first_length(sample: Any, place: int) -> int:
    lengths = sample.column(place).value_lengths().drop_null()
    return int(lengths[0].as_py()) if len(lengths) else 0


def _float_column(values: NDArray[np.float64]) -> Any:
    """The same numbers as an Arrow array; unlike pa.array this does not import pandas."""
    return pa.Array.from_buffers(pa.float64(), len(values), [None, pa.py_buffer(values)])


def _matrices(columns: list[Any]) -> list[NDArray[Any]]:
    """Arrow arrays as one matrix, in a list; no columns make no matrix."""
    if not columns:
        return []
    return [_matrix(pa.RecordBatch.from_arrays(columns, names=[""] * len(columns)))]


def _matrix(columns: Any) -> NDArray[Any]:
    """The columns of a RecordBatch as one C-ordered float matrix; empty cells are NaN.

    Arrow widens the types to the smallest float that holds them all, and writes the rows in tiles, which for many
    columns is far faster than one strided write a column.
    """
    return np.asarray(columns.to_tensor(null_to_nan=True, row_major=True).to_numpy())


def _seconds(array: Any) -> NDArray[np.float64]:
    kind = array.type
    if pa.types.is_date32(kind):
        days = array.cast(pa.int32())
        return np.asarray(days.to_numpy(zero_copy_only=False)).astype(np.float64) * 86_400.0
    unit = "ms" if pa.types.is_date64(kind) else kind.unit
    ticks = array.cast(pa.int32() if pa.types.is_time32(kind) else pa.int64())
    return np.asarray(ticks.to_numpy(zero_copy_only=False)).astype(np.float64) / _TICKS[unit]
