"""Labels from Arrow columns and texts: numpy arrays of text, int, bool or float, never with a gap."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
from numpy.typing import NDArray

from streamsift.core.decoder import Place, converting, distinct_texts
from streamsift.core.exceptions import ReaderError
from streamsift.streams.numbers import NumberForm, texts_of

_TRUTH = {"true": True, "false": False, "1": True, "0": False}


def labels_of(column: Any, name: str, place: Place) -> NDArray[Any]:
    """The labels of an Arrow array; a missing one is refused with its place."""
    with converting(f"target {name!r}", place, column):
        return _labels_of(column, name, place)


def _labels_of(column: Any, name: str, place: Place) -> NDArray[Any]:
    kind = column.type
    if pa.types.is_nested(kind) or pa.types.is_null(kind) or pa.types.is_interval(kind):
        raise ReaderError(f"The target {name!r} is of type {kind}: labels are numbers, text or truth values.")
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        values = np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False))
        _refuse_missing(np.isnan(values), name, place)
        return values
    _refuse_missing(column, name, place)
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    distinct, codes = distinct_texts(column)
    return _texts(distinct, codes)


def labels_of_texts(column: Any, kind: str, name: str, place: Place, form: NumberForm | None = None) -> NDArray[Any]:
    """The labels of a text column whose texts spell `kind`: "int" (or later real), "float", "bool" or "text".

    A `form` says how numbers are written, where it is not the usual one.
    """
    _refuse_missing(column, name, place)
    distinct, codes = distinct_texts(column)
    if form is not None:
        texts = texts_of(tuple(distinct))
        fits = form.fits(texts).to_pylist()
        plain = form.convert(compute.if_else(form.fits(texts), texts, None)).to_pylist()
        distinct = [
            repr(number) if fit and not text.isdecimal() else text
            for text, number, fit in zip(distinct, plain, fits, strict=True)
        ]
    if kind == "text":
        return _texts(distinct, codes)
    values = [_spelled(text, kind) for text in distinct]
    if None in values:
        row = int(np.argmax(codes == values.index(None)))
        wanted = {"bool": "true or false"}.get(kind, "a number")
        raise ReaderError(
            f"{place(row)}, target {name!r}: {distinct[codes[row]]!r} is not {wanted} as the labels before it are; "
            "correct it or drop the row."
        )
    labels: NDArray[Any] = np.array(values)[codes]
    return labels


def _texts(distinct: list[str], codes: NDArray[Any]) -> NDArray[Any]:
    """Fixed-width text, which label vocabularies look up without a loop; objects where that would change a label."""
    texts: NDArray[Any] = np.array(distinct, dtype=np.str_)
    if texts.tolist() != distinct:  # numpy drops NUL characters at the end
        texts = np.array(distinct, dtype=object)
    labels: NDArray[Any] = texts[codes]
    return labels


def whole_numbers(labels: NDArray[np.float64]) -> NDArray[Any]:
    """Labels as ints where all of them are whole; class 1 should not be shown as 1.0."""
    with np.errstate(invalid="ignore"):  # beyond int64, and then not equal
        whole = labels.astype(np.int64)
    return whole if np.array_equal(whole, labels) else labels


def as_numbers(y: NDArray[Any], name: str | None, first_row: int, lines: NDArray[np.int64] | None) -> NDArray[Any]:
    """Labels as floats, NaN where there is none; what is no number is refused with its place.

    >>> as_numbers(np.array(["1.5", None], object), "price", 0, None).tolist()
    [1.5, nan]
    """
    if y.dtype.kind in "fiu":
        return y.astype(np.float64)
    values = np.full(len(y), np.nan)
    for row, label in enumerate(y.tolist()):
        try:
            values[row] = np.nan if label is None else float(label)
        except (TypeError, ValueError) as error:
            place = f"Row {first_row + row}" if lines is None else f"Line {lines[row]}"
            raise ReaderError(
                f"{place}, target {name!r}: {label!r} is not a number; correct it, or take the labels as classes with "
                "task='classification' (--task classification)."
            ) from error
    return values


def _spelled(text: str, kind: str) -> int | float | bool | None:
    if kind == "bool":
        return _TRUTH.get(text.strip().lower())
    if "_" in text:  # Python reads 1_000 as a number, data files do not
        return None
    if kind == "int":
        try:
            return int(text)
        except ValueError:
            pass
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value == value else None


def _refuse_missing(missing: Any, name: str, place: Place) -> None:
    """`missing` is an Arrow array with nulls, or the mask itself."""
    if isinstance(missing, np.ndarray):
        mask = missing
    elif missing.null_count == 0:
        return
    else:
        mask = missing.is_null().to_numpy(zero_copy_only=False)
    if mask.any():
        where = place(int(np.argmax(mask)))
        raise ReaderError(
            f"{where} has no label, its target {name!r} is empty: give it a label, or leave such rows out with "
            "unlabelled='skip' (--skip-unlabelled)."
        )
