"""A trace as named arrays, as saved files keep it, and back: only numbers, lengths of lists and bytes of text."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from streamsift.core.exceptions import SavedStateError

Arrays = dict[str, NDArray[Any]]


def table_to_arrays(table: Any) -> Arrays:
    """The columns of a table of numbers, truth values, texts and lists of those.

    Examples
    --------
    >>> table = pa.table({"n": [1, None], "names": [["a", "bc"], None]})
    >>> arrays = table_to_arrays(table)
    >>> arrays["names.values.lengths"].tolist()
    [1, 2]
    >>> table_from_arrays(arrays, table.schema).equals(table)
    True
    """
    found: Arrays = {}
    for name, column in zip(table.schema.names, table.columns, strict=True):
        joined = column.combine_chunks()
        found |= _to_arrays(joined, name)
    return found


def table_from_arrays(arrays: Arrays, schema: Any, later: Collection[str] = ()) -> Any:
    """The inverse of table_to_arrays for a known schema; SavedStateError for what it cannot have written.

    `later` are columns that earlier versions did not write: where one of them is missing, it is null.
    """
    n_rows = len(_array(arrays, f"{schema.names[0]}.valid", np.bool_))
    columns = [
        pa.nulls(n_rows, field.type)
        if field.name in later and f"{field.name}.valid" not in arrays
        else _from_arrays(arrays, field.type, field.name)
        for field in schema
    ]
    if len({len(column) for column in columns}) > 1:
        raise _damaged("columns of different lengths")
    return pa.Table.from_arrays(columns, schema=schema)


def _to_arrays(column: Any, key: str) -> Arrays:
    valid = {f"{key}.valid": np.asarray(column.is_valid().to_numpy(zero_copy_only=False), np.bool_)}
    kind = column.type
    if column.null_count == len(column):
        return valid
    if pa.types.is_list(kind):
        lengths = column.value_lengths().fill_null(0)
        return valid | _lengths(lengths, key) | _to_arrays(column.flatten(), f"{key}.values")
    if pa.types.is_string(kind):
        texts = [text.encode() for text in column.fill_null("").to_pylist()]
        joined = np.frombuffer(b"".join(texts), np.uint8)
        return valid | {f"{key}.lengths": np.array([len(t) for t in texts], np.int64), f"{key}.text": joined}
    zero = pa.scalar(False if pa.types.is_boolean(kind) else 0, kind)  # Arrow's signature
    return valid | {key: np.asarray(column.fill_null(zero).to_numpy(zero_copy_only=False))}


def _lengths(lengths: Any, key: str) -> Arrays:
    return {f"{key}.lengths": np.asarray(pc.cast(lengths, pa.int64()).to_numpy(zero_copy_only=False))}


def _from_arrays(arrays: Arrays, kind: Any, key: str) -> Any:
    valid = _array(arrays, f"{key}.valid", np.bool_)
    if not valid.any():
        return pa.nulls(len(valid), kind)
    if pa.types.is_list(kind):
        values = _from_arrays(arrays, kind.value_type, f"{key}.values")
        ends = _ends(arrays, key, len(valid), len(values))
        return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values, mask=pa.array(~valid))
    if pa.types.is_string(kind):
        text = _array(arrays, f"{key}.text", np.uint8)
        ends = _ends(arrays, key, len(valid), len(text)).tolist()
        try:
            texts = [text[a:b].tobytes().decode() for a, b in itertools.pairwise(ends)]
        except UnicodeDecodeError as error:
            raise _damaged(f"{key!r} that is no text") from error
        return pa.array([t if known else None for t, known in zip(texts, valid.tolist(), strict=True)], kind)
    values = _array(arrays, key, np.dtype(kind.to_pandas_dtype()).type)
    if len(values) != len(valid):
        raise _damaged(f"{key!r} of another length than the others")
    return pa.array(values, kind, mask=~valid)


def _ends(arrays: Arrays, key: str, n_parts: int, size: int) -> NDArray[np.int64]:
    lengths = _array(arrays, f"{key}.lengths", np.int64)
    fine = len(lengths) == n_parts and size < 2**31 and ((lengths >= 0) & (lengths <= size)).all()
    if not fine or int(lengths.sum()) != size:
        raise _damaged(f"lengths of {key!r} that do not add up")
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _array(arrays: Arrays, key: str, kind: Any) -> NDArray[Any]:
    array = arrays.get(key)
    if array is None or array.ndim != 1 or array.dtype != np.dtype(kind):
        raise _damaged(f"no proper {key!r}")
    return array


def _damaged(what: str) -> SavedStateError:
    return SavedStateError(f"The checkpoint is damaged: its trace has {what}.")
