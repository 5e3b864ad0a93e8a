"""FeatureDecoder: Arrow record batches of one schema become float matrices and category codes.

What each type of column means is told in core/tables.py, the door through which tables come. The matrix is float32
where every feature fits into it exactly (float32, float16, 8- and 16-bit integers), else float64. A list costs the
handling of one column, however long it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
from numpy.typing import NDArray

from streamsift.core.categories import MOST_CATEGORIES, Categories, ColumnKinds
from streamsift.core.exceptions import ReaderError, SavedStateError, near_misses
from streamsift.core.vocabulary import check_names

Place = Callable[[int], str]  # a row of the block -> "Line 7 of data.csv"

_TICKS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}  # a second; dividing by them rounds once, where 1e-3 is not exact
_TRUTHS = {"True": "true", "TRUE": "true", "False": "false", "FALSE": "false"}  # as Arrow writes bools
_IGNORE = "leave it out with ignore=[{!r}]"


@dataclass(frozen=True)
class _Column:
    """One column of the table that becomes features."""

    place: int
    name: str
    kind: str  # "number", "category", "seconds", "list" or "null"
    width: int = 1


class FeatureDecoder:
    """What the columns of a table mean, learnt from its schema, and the categories that grow with its rows.

    `source` names the table in errors. `left_out` are columns that are no features. `sample` holds the first row, to
    learn the length of lists from, where `needs_sample` says so. `categorical` names columns to be read as categories
    whatever their type, `truths` columns of text that spell true and false. `declared` gives columns with a fixed
    vocabulary. `advice` says how a column is left out, with {} for its name.
    """

    def __init__(
        self,
        schema: Any,
        *,
        source: str,
        left_out: Collection[str] = (),
        sample: Any = None,
        categorical: Collection[str] = (),
        truths: Collection[str] = (),
        declared: Mapping[str, Categories] | None = None,
        most_categories: int = MOST_CATEGORIES,
        advice: str = _IGNORE,
    ) -> None:
        self._source, self._advice, self._truths = source, advice, frozenset(truths)
        self._columns = [
            self._column(place, field, sample, field.name in categorical)
            for place, field in enumerate(schema)
            if field.name not in left_out
        ]
        # The usual case, numbers only, needs no work per column: nothing but a selection.
        plain = all(column.kind == "number" and _is_plain(schema.field(column.place).type) for column in self._columns)
        self._plain = [column.place for column in self._columns] if plain else None
        self.feature_names = check_names([name for column in self._columns for name in _feature_names(column)])
        declared = declared or {}
        fresh = {c.name: Categories(most=most_categories) for c in self._columns if c.kind == "category"}
        self.vocabularies = {name: declared.get(name, vocabulary) for name, vocabulary in fresh.items()}
        kinds = [c.kind for c in self._columns for _ in range(c.width)]
        self.feature_kinds = tuple(kinds)
        self.categorical = np.array([kind == "category" for kind in kinds]) if "category" in kinds else None
        self._undecided = tuple(place for place, kind in enumerate(kinds) if kind == "null")
        self._coded = {place: self.feature_names[place] for place, kind in enumerate(kinds) if kind == "category"}

    @property
    def categories(self) -> dict[str, tuple[str, ...]]:
        """The categories of each categorical column, by name."""
        return {name: vocabulary.values for name, vocabulary in self.vocabularies.items()}

    def check_categories(self, found: Any) -> None:
        """Refuse what cannot be the categories of these columns; they come from a file."""
        if not isinstance(found, dict) or found.keys() != self.vocabularies.keys():
            raise SavedStateError("The checkpoint is damaged: it has the categories of other columns.")
        for name, values in found.items():
            vocabulary = self.vocabularies[name]
            fine = (
                isinstance(values, list)
                and all(isinstance(value, str) for value in values)
                and len(set(values)) == len(values)
                and (list(vocabulary.values) == values if vocabulary.closed else len(values) <= vocabulary.most)
            )
            if not fine:
                raise SavedStateError(f"The checkpoint is damaged: it has no proper categories of column {name!r}.")

    def know_categories(self, found: Mapping[str, list[str]]) -> None:
        """Take over the categories met so far, in the order of their codes, as `categories` gave them."""
        for name, values in found.items():
            if not self.vocabularies[name].closed:
                self.vocabularies[name] = Categories(values, most=self.vocabularies[name].most)

    def kinds(self) -> ColumnKinds:
        """The categories so far, by the place of the feature."""
        names = {place: self.vocabularies[name].values for place, name in self._coded.items()}
        return ColumnKinds(names, self._undecided)

    def decode(self, rows: Any, place: Place) -> NDArray[Any]:
        """One RecordBatch of the schema as a matrix; `place` words where a row is, for errors."""
        if self._plain is not None:
            return _matrix(rows.select(self._plain))
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
        return parts[0] if len(parts) == 1 else np.hstack(parts)

    def _column(self, place: int, field: Any, sample: Any, categorical: bool) -> _Column:
        kind, types = field.type, pa.types
        if categorical and not types.is_nested(kind):
            return _Column(place, field.name, "category")
        if types.is_boolean(kind) or types.is_dictionary(kind) or is_text(kind):
            return _Column(place, field.name, "category")
        if types.is_temporal(kind) and not types.is_interval(kind):
            return _Column(place, field.name, "seconds")
        if types.is_null(kind):
            return _Column(place, field.name, "null")
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
            f"Column {field.name!r} of {self._source} is of type {kind}, which is no feature: "
            f"{self._advice.format(field.name)}."
        )

    def _single(self, array: Any, column: _Column, place: Place) -> Any:
        with converting(f"column {column.name!r}", place, array):
            return self._converted(array, column, place)

    def _converted(self, array: Any, column: _Column, place: Place) -> Any:
        if column.kind == "category":
            return _float_column(self._codes(array, column.name, place))
        if column.kind == "seconds":
            return _float_column(_seconds(array))
        if _is_plain(array.type):
            return array
        return array.cast(pa.float32() if pa.types.is_float16(array.type) else pa.float64())

    def _codes(self, array: Any, name: str, place: Place) -> NDArray[np.float64]:
        distinct, rows = distinct_texts(array)
        if name in self._truths:
            distinct = [_TRUTHS.get(text, text) for text in distinct]
        vocabulary = self.vocabularies[name]
        texts = [text for text in distinct if text is not None]
        refused = vocabulary.refused(texts)
        if refused is not None:
            where = place(int(np.argmax(rows == distinct.index(refused))))
            raise refused_category(vocabulary, refused, name, where, self._advice)
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


def refused_category(vocabulary: Categories, value: str, column: str, where: str, advice: str = _IGNORE) -> ReaderError:
    """The error for a value that a vocabulary does not take."""
    if vocabulary.closed:
        known = near_misses(value, vocabulary.values)
        return ReaderError(f"{where}, column {column!r}: {value!r} is not among the declared values. {known}")
    return ReaderError(
        f"{where}, column {column!r}: this is text number {vocabulary.most + 1:,} of the column, which makes it an "
        f"identifier rather than a category; {advice.format(column)}."
    )


@contextmanager
def converting(what: str, place: Place, array: Any) -> Iterator[None]:
    """Word what Arrow says where a column is not of a type that can be converted, or a value in it cannot."""
    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError, OverflowError) as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise ReaderError(
            f"{place(0)} and after, {what}: values of type {array.type} cannot be used here ({reason}); give them as "
            "numbers or text."
        ) from error


def counted_from(first: int, source: str) -> Place:
    """Places of a source that has rows but no lines."""
    return lambda row: f"Row {first + row} of {source}"


# -- types --------------------------------------------------------------------------------------------------------


def _feature_names(column: _Column) -> list[str]:
    return [column.name] if column.kind != "list" else [f"{column.name}[{k}]" for k in range(column.width)]


def is_text(kind: Any) -> bool:
    """Whether an Arrow type holds text."""
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
    lengths = compute.list_value_length(sample.column(place)).drop_null()
    return int(lengths[0].as_py()) if len(lengths) else 0


def distinct_texts(column: Any) -> tuple[list[Any], NDArray[Any]]:
    """The distinct values of an Arrow array as texts, by first appearance, and the code of each row.

    A missing cell counts as the value None.
    """
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        column = column.cast(pa.string())
    encoded = column.dictionary_encode("encode")
    # Not to_numpy, which imports pandas when that is installed: it would take longer than reading many a file.
    return encoded.dictionary.to_pylist(), np.from_dlpack(encoded.indices)


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
