"""The door for tables: what each type of column means, decided once for everything that reads a table.

    number, decimal         the value; empty cells are NaN
    text, bool, dictionary  the code of the category; empty cells are NaN
    date, time, duration    seconds (dates since 1970-01-01 UTC, times since midnight)
    list of numbers         as many features as the list is long: name[0], name[1], ...
    null                    NaN; whether the column is numbers or categories is left open

Tables are pandas and polars frames, pyarrow tables and record batches, structured numpy arrays, and rows given as
dicts. A numpy matrix has one type for all of its columns: numbers and bools are numbers, dates are seconds, and in a
matrix of text or objects each column is looked at: numbers (also spelt out) are numbers, text is a category, and a
column that mixes the two is refused. Files come in as Arrow record batches (core/decoder.py).
"""

from __future__ import annotations

import datetime
import sys
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from streamsift.core.batch import Batch, CheckedBatch, CheckedMatrix, check_dense
from streamsift.core.categories import CategoryVocabulary, ColumnKinds
from streamsift.core.decoder import FeatureDecoder, counted_from, is_text
from streamsift.core.exceptions import InputError
from streamsift.core.times import seconds
from streamsift.core.vocabulary import check_names

_ARROW_ERRORS = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError)
_DATES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64, Decimal)


# -- tables of every kind -----------------------------------------------------------------------------------------


def is_frame(X: Any) -> bool:
    """Whether X is a table with named columns: of pandas, polars or pyarrow."""
    package = type(X).__module__.partition(".")[0]
    return package in ("pandas", "polars", "pyarrow") and hasattr(X, "shape") and hasattr(X, "columns")


def are_dicts(X: Any) -> bool:
    """Whether X is a sequence of rows given as dicts."""
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], Mapping)


def is_structured(X: Any) -> bool:
    """Whether X is a numpy array with named fields."""
    return isinstance(X, np.ndarray) and X.dtype.names is not None


def is_table(X: Any) -> bool:
    """Whether X has named columns, in any of the forms that are read."""
    return is_frame(X) or are_dicts(X) or is_structured(X)


def arrow_table(X: Any) -> Any:
    """Any table as an Arrow table; numbers are not copied where that can be avoided."""
    package = type(X).__module__.partition(".")[0]
    if package == "polars":
        check_names(X.columns)  # polars itself ends in a panic where a name holds a NUL character
        return X.to_arrow()
    if package == "pyarrow":
        return X if isinstance(X, pa.Table) else pa.Table.from_batches([X])
    if are_dicts(X):
        return table_of_dicts(X)
    if is_structured(X):
        if X.ndim != 1:
            raise InputError(f"A structured array must have one dimension, one record for each row; got {X.ndim}.")
        return pa.table({name: _arrow_array(X[name], name) for name in X.dtype.names})
    check_names(X.columns)
    try:
        return pa.Table.from_pandas(X, preserve_index=False)
    except _ARROW_ERRORS as error:
        for name in X.columns:
            _arrow_array(X[name], str(name))  # this names the row
        raise InputError(f"X cannot be read as a table: {str(error).rstrip('.')}.") from error


def table_of_dicts(rows: Sequence[Mapping[Any, Any]], first: Sequence[str] = ()) -> Any:
    """One column for each key, those called `first` first; a row that lacks a key has an empty cell there."""
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InputError(f"Row {number} of X is a {type(row).__name__}, where the rows before it are dicts.")
    keys = list(dict.fromkeys(key for row in rows for key in row))
    key_of = dict(zip(check_names(keys), keys, strict=True))
    names = list(dict.fromkeys([*first, *key_of]))
    columns = [_arrow_array([row.get(key_of.get(name)) for row in rows], name) for name in names]
    return pa.table(columns, names=names)


def _arrow_array(values: Any, name: str) -> Any:
    """A column as an Arrow array; one of mixed types is refused, naming the first row that differs."""
    if getattr(getattr(values, "dtype", None), "kind", "") == "c":
        raise InputError(f"Column {name!r} is neither numbers nor categories (its type is {values.dtype}).")
    if isinstance(values, np.ndarray):
        values = _native(values, name)
    try:
        if hasattr(values, "to_arrow"):
            return values.alias("").to_arrow()  # a series of polars, whose own name may be anything
        return pa.array(values, from_pandas=True)
    except OverflowError as error:
        raise InputError(f"Column {name!r} of X holds a whole number beyond 64 bits: give it as a float.") from error
    except _ARROW_ERRORS as error:
        raise _mixed(list(values), repr(name)) from error


def _native(values: NDArray[Any], name: str) -> NDArray[Any]:
    """A numpy column of a type that Arrow takes."""
    if values.ndim != 1:
        raise InputError(f"Column {name!r} has the shape {values.shape}: a column must have one dimension.")
    if values.dtype.kind in "Mm":
        return seconds(values)
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        return values.astype(np.float64)
    if values.dtype.kind == "S":
        return np.array([_decoded(value, row, repr(name)) for row, value in enumerate(values.tolist())], np.str_)
    return values.astype(values.dtype.newbyteorder("="), copy=False)


def _decoded(value: Any, row: int, column: str) -> Any:
    """The text that bytes are; anything else as it is."""
    try:
        return value.decode() if isinstance(value, bytes) else value
    except UnicodeDecodeError as error:
        raise InputError(
            f"Row {row}, column {column} of X is {value!r}, which is not UTF-8: give it as text."
        ) from error


def _mixed(values: list[Any], column: str) -> InputError:
    """The error for a column of several types; it names the first value that is not of the type of the first one."""
    known = [(row, value) for row, value in enumerate(values) if not _is_empty(value)]
    first, head = known[0] if known else (0, None)
    sort = _sort_of(head)
    others = [(row, value) for row, value in known if _sort_of(value) != sort] or known[-1:] or [(0, None)]
    row, value = others[0]
    return InputError(
        f"Row {row}, column {column} of X is {value!r}, where row {first} has {head!r}: a column of mixed types is "
        "neither numbers nor categories; give it one type."
    )


def _sort_of(value: Any) -> str:
    if isinstance(value, str | bytes):
        return "text"
    if isinstance(value, bool | np.bool_):
        return "bool"
    return "number" if isinstance(value, int | float | np.number) else type(value).__name__


def _is_empty(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError, ArithmeticError):  # pandas.NA answers neither yes nor no
        return True


def _huge(column: NDArray[Any], place: int) -> InputError:
    """The error for a whole number that no float can hold."""
    rows = [row for row, value in enumerate(column) if isinstance(value, int) and abs(value) > sys.float_info.max]
    return InputError(
        f"Row {rows[0] if rows else 0}, column {place} of X is a whole number beyond 1e308: rescale the column."
    )


def read_table(X: Any) -> CheckedMatrix:
    """A table as a matrix with its names and the categories of its columns."""
    package = type(X).__module__.partition(".")[0]
    if package == "pandas":
        names = _frame_names(X)
        numbers = _numbers_of_frame(X)
        if numbers is not None:
            return CheckedMatrix(check_dense(numbers), names, kinds=ColumnKinds({}))
        matrix = read_arrow(arrow_table(X))
        return matrix if names is not None else matrix._replace(names=None)
    return read_arrow(arrow_table(X))


def read_arrow(table: Any) -> CheckedMatrix:
    """An Arrow table as a matrix."""
    names = check_names(table.schema.names)
    if table.num_rows == 0 or not names:
        check_dense(np.empty((table.num_rows, len(names))))  # which refuses it
    decoder = FeatureDecoder(table.schema, source="X", sample=table.slice(0, 1), advice="leave it out")
    matrix = decoder.decode(_one_batch(table), counted_from(0, "X"))
    return CheckedMatrix(check_dense(matrix), decoder.feature_names, kinds=decoder.kinds())


def _one_batch(table: Any) -> Any:
    """All rows of a table as one RecordBatch; texts of more than 2 GiB need longer offsets to be one."""
    batches = table.combine_chunks().to_batches()
    if len(batches) == 1:
        return batches[0]
    wide = [pa.field(f.name, pa.large_string() if is_text(f.type) else f.type) for f in table.schema]
    return table.cast(pa.schema(wide)).combine_chunks().to_batches()[0]


def _numbers_of_frame(frame: Any) -> NDArray[Any] | None:
    """A pandas frame that holds nothing but numbers, without the way through Arrow; else None."""
    kinds = {str(dtype) for dtype in frame.dtypes}
    if len(kinds) == 1 and next(iter(kinds)) in ("float32", "float64"):
        return np.asarray(frame.to_numpy())
    if not all(getattr(dtype, "kind", "O") in "uif" for dtype in frame.dtypes):
        return None
    columns = []
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        columns.append(column.to_numpy(dtype=np.float64, na_value=np.nan) if column.hasnans else column.to_numpy())
    if len(frame) == 0 or not columns:
        return np.empty(frame.shape)
    small = all(c.dtype == np.float32 or (c.dtype.kind in "ui" and c.dtype.itemsize <= 2) for c in columns)
    matrix = np.empty(frame.shape, np.float32 if small else np.float64)
    for place, column in enumerate(columns):
        matrix[:, place] = column
    return matrix


def _frame_names(frame: Any) -> tuple[str, ...] | None:
    """Column names; a frame numbered 0, 1, 2, ... counts as unnamed, as in scikit-learn."""
    names = list(frame.columns)
    if not any(isinstance(name, str) for name in names):
        return None
    return check_names(names)


# -- matrices and columns of numpy --------------------------------------------------------------------------------


def read_objects(X: NDArray[Any]) -> CheckedMatrix:
    """A numpy matrix of objects or text, column by column."""
    categories: dict[int, tuple[str, ...]] = {}
    undecided: list[int] = []
    matrix = np.empty(X.shape, np.float64)
    for place in range(X.shape[1]):
        column = X[:, place]
        try:
            matrix[:, place] = column.astype(np.float64)
        except OverflowError as error:
            raise _huge(column, place) from error
        except (ValueError, TypeError):
            matrix[:, place], names = _categories_or_dates(column, place)
            if names is not None:
                categories[place] = names
        else:
            if column.dtype.kind == "O" and all(value is None for value in column):
                undecided.append(place)
    kinds = ColumnKinds(categories, tuple(undecided)) if categories or undecided else None
    return CheckedMatrix(check_dense(matrix), None, kinds=kinds)


def _categories_or_dates(column: NDArray[Any], place: int) -> tuple[NDArray[np.float64], tuple[str, ...] | None]:
    values = [_decoded(value, row, str(place)) for row, value in enumerate(column.tolist())]
    numbers = any(_is_number_like(value) for value in values)
    for row, value in enumerate(values):
        if isinstance(value, str):
            if numbers and not _spells_number(value):
                raise InputError(
                    f"Row {row}, column {place} of X is {value!r}, where other rows have numbers: correct it, or give "
                    "the column as text throughout."
                )
        elif not (_is_empty(value) or _sort_of(value) in ("bool", "number") or isinstance(value, _DATES)):
            raise TypeError(
                f"Row {row}, column {place} of X is {value!r}: argument must be a string or a number that can be read "
                "as a float."
            )
    return read_column(_arrow_array(values, f"x{place}"), f"x{place}")


def _spells_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_number_like(value: Any) -> bool:
    if isinstance(value, str):
        return _spells_number(value)
    return _sort_of(value) == "number" and not _is_empty(value)


def read_column(column: Any, name: str) -> tuple[NDArray[np.float64], tuple[str, ...] | None]:
    """One column of any kind as float64, and the names behind the codes if it holds categories."""
    if is_table(column):
        column = _only_column(column)
    if type(column).__module__.startswith("pyarrow"):
        array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    elif type(column).__module__.partition(".")[0] in ("pandas", "polars"):
        array = _arrow_array(column, name)
    else:
        values = column if isinstance(column, np.ndarray) else _as_column(column)
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.ndim != 1:
            raise InputError(f"A column must have one dimension, got an array of shape {values.shape}.")
        if values.dtype.kind in "buif":
            return values.astype(np.float64), None
        if values.dtype.kind in "Mm":
            return seconds(values), None
        array = _arrow_array(values, name)
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if pa.types.is_nested(array.type):
        raise InputError(f"Column {name!r} holds {array.type} in each row: offer one column at a time, or a table.")
    schema = pa.schema([(name, array.type)])
    decoder = FeatureDecoder(schema, source="the stream", sample=None, advice="leave it out")
    rows = pa.RecordBatch.from_arrays([array], schema=schema)
    matrix = decoder.decode(rows, counted_from(0, "the stream"))
    return matrix[:, 0].astype(np.float64), decoder.kinds().names.get(0)


def _only_column(table: Any) -> Any:
    """The column of a table that has no other."""
    found = arrow_table(table)
    if found.num_columns != 1:
        raise InputError(
            f"A single column was expected, got a table of {found.num_columns}: use offer_many for several columns."
        )
    return found.column(0)


def _as_column(values: Any) -> NDArray[Any]:
    """A list as a numpy column; texts beside numbers stay apart."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError("A column holds lists of different lengths: give one value for each row.") from error
    if array.dtype.kind in "US" and not all(isinstance(value, str | bytes) for value in values):
        array = np.empty(len(values), object)
        array[:] = values
    return array


def as_given(X: Any, kept: NDArray[Any], chosen: NDArray[np.intp], batch: CheckedBatch, container: str) -> Any:
    """The chosen columns of X with categories as X has them.

    A frame gives its own columns, as a frame of the same kind, unless another kind of container is wanted. Everything
    else becomes an array, of objects where there are categories. Bare numbers stay what they are.
    """
    if isinstance(X, Batch):
        if X.kinds is None:
            return np.array(kept)
        return _with_names(kept, chosen, batch.categories)
    if not is_table(X):
        bare = np.asarray(X).dtype.kind in "buifMm"
        return np.array(kept) if bare else _with_names(kept, chosen, batch.categories)
    places = _places_in(X, chosen, batch.features.names)
    if is_frame(X) and container in ("default", type(X).__module__.partition(".")[0]):
        return _frame_of(X, places, kept, [batch.features.name(int(slot)) for slot in chosen])
    if not any(int(slot) in batch.categories.names for slot in chosen):
        return np.array(kept)
    table, result = arrow_table(X), kept.astype(object)
    for column, (slot, place) in enumerate(zip(chosen, places, strict=True)):
        if int(slot) in batch.categories.names:
            result[:, column] = [None] * len(result) if place is None else table.column(place).to_pylist()
    return result


def _places_in(X: Any, chosen: NDArray[np.intp], known: tuple[str, ...] | None) -> list[int | None]:
    """Where the chosen features stand in a table; None where it has no such column."""
    names = column_names(X)
    by_position = known is None or (type(X).__module__.startswith("pandas") and _frame_names(X) is None)
    if known is None or by_position:
        return [int(slot) if slot < len(names) else None for slot in chosen]
    return [_index(names, known[slot]) for slot in chosen]


def _frame_of(X: Any, places: list[int | None], kept: NDArray[Any], names: list[str]) -> Any:
    """Columns of a frame; those it has not (a late feature that is missing, an element of a list) are `kept`."""
    own = [place for place in places if place is not None]
    part = take_columns(X, own)
    if len(own) == len(places):
        return part.copy() if type(X).__module__.startswith("pandas") else part  # else pandas may warn of writing to it
    others = {name: kept[:, k] for k, (name, place) in enumerate(zip(names, places, strict=True)) if place is None}
    package = type(X).__module__.partition(".")[0]
    rest, ours = iter(range(len(own), len(places))), iter(range(len(own)))
    order = [next(rest) if place is None else next(ours) for place in places]
    if package == "pandas":
        return part.assign(**others).iloc[:, order]
    if package == "polars":
        return part.hstack(type(X)(others))[:, order]
    for name, values in others.items():
        part = part.append_column(name, pa.array(values))
    return part.select(order)


def _with_names(kept: NDArray[Any], chosen: NDArray[np.intp], categories: CategoryVocabulary) -> NDArray[Any]:
    result = kept.astype(object)
    for column, slot in enumerate(chosen):
        names = categories.names.get(int(slot))
        if names is not None:
            result[:, column] = [None if code != code else names[int(code)] for code in kept[:, column]]
    return result


def _index(names: list[str], name: str) -> int | None:
    return names.index(name) if name in names else None


def column_names(X: Any) -> list[str]:
    """The names of the columns of a table."""
    if are_dicts(X):
        return [str(key) for key in dict.fromkeys(key for row in X for key in row)]
    if is_structured(X):
        return list(X.dtype.names)
    names = X.schema.names if type(X).__module__.startswith("pyarrow") else X.columns
    return [str(name) for name in names]


def frame_like(X: Any, values: Any, names: list[str], container: str) -> Any:
    """Values as a frame of the kind and with the index of X; as they are where another container is wanted."""
    package = type(X).__module__.partition(".")[0]
    if not is_frame(X) or container not in ("default", package):
        return values
    columns = {name: _own_type(np.asarray(values)[:, place]) for place, name in enumerate(names)}
    if package == "pandas":
        return type(X)(columns, index=X.index)
    if package == "polars":
        return type(X)(columns)
    table = pa.table(columns)
    return table if isinstance(X, pa.Table) else _one_batch(table)


def _own_type(column: NDArray[Any]) -> NDArray[Any]:
    """A column of objects as numbers, where it holds no text."""
    return column if any(isinstance(value, str) for value in column) else column.astype(np.float64)


def no_columns(X: Any, container: str) -> Any:
    """All rows of a table and none of its columns: a frame of its own kind, or an array."""
    if is_frame(X) and container in ("default", type(X).__module__.partition(".")[0]):
        return take_columns(X, [])
    return np.empty((X.shape[0] if is_frame(X) else len(X), 0))


def take_columns(X: Any, places: list[int]) -> Any:
    """Some columns of a table, as a table of the same kind where it is a frame."""
    package = type(X).__module__.partition(".")[0]
    if package == "pandas":
        return X.iloc[:, places]
    if package == "polars":
        return X[:, places]
    return X.select(places) if package == "pyarrow" else arrow_table(X).select(places)


def wanted_container(selector: Any) -> str:
    """What `transform` is to return, by `set_output` of scikit-learn: "default", "pandas" or "polars"."""
    from sklearn import get_config  # not at the top: reading a file does not need it

    own = getattr(selector, "_sklearn_output_config", {}).get("transform")
    return str(own or get_config()["transform_output"])
