"""Counting categories: class weights of up to `most` categories per feature, the rest by the space-saving rule.

The categories of feature j lie at starts[j] to starts[j] + sizes[j] - 1, sorted by code; up to starts[j + 1] there is
room for more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Tables(NamedTuple):
    """The kept categories of all features; see summaries/category_counts.py for the meaning of each array."""

    starts: Ints  # (n_features + 1,)
    sizes: Ints  # (n_features,)
    codes: Ints  # (room,)
    weights: Floats  # (room, n_classes)
    squares: Floats  # (room,)
    earlier: Floats  # (room,)
    other: Floats  # (n_features, n_classes)
    other_squares: Floats  # (n_features,)


@kernel
def _place(codes: Any, first: Any, last: Any, code: Any) -> Any:
    """The first place from `first` to `last` whose code is not smaller."""
    while first < last:
        middle = (first + last) // 2
        if codes[middle] < code:
            first = middle + 1
        else:
            last = middle
    return first


@kernel
def room_needed(columns: Any, starts: Any, sizes: Any, codes: Any, most: Any, needed: Any) -> None:
    """An upper limit of the categories each feature will keep: columns are (n_features, n_rows), NaN is missing."""
    for j in range(columns.shape[0]):
        first, last = starts[j], starts[j] + sizes[j]
        largest = codes[last - 1] if last > first else -1
        new = 0
        for i in range(columns.shape[1]):
            value = columns[j, i]
            if np.isnan(value):
                continue
            code = np.int64(value)
            place = _place(codes, first, last, code)
            if place == last or codes[place] != code:
                new += 1
                largest = max(largest, code)
        needed[j] = min(most, sizes[j] + new, max(largest + 1, sizes[j]))


@kernel
def count_rows(columns: Any, classes: Any, row_weights: Any, most: Any, tables: Any) -> None:
    """Add rows one by one, in their order; `tables` has the room that `room_needed` asks for."""
    for j in range(columns.shape[0]):
        first = tables.starts[j]
        for i in range(columns.shape[1]):
            value = columns[j, i]
            if np.isnan(value):
                continue
            code = np.int64(value)
            last = first + tables.sizes[j]
            place = _place(tables.codes, first, last, code)
            if place == last or tables.codes[place] != code:
                earlier = 0.0
                if tables.sizes[j] == most:
                    least, earlier = _least(tables, first, last)
                    tables.other[j] += tables.weights[least]
                    tables.other_squares[j] += tables.squares[least]
                    _remove(tables, least, last)
                    last -= 1
                    if least < place:
                        place -= 1
                else:
                    tables.sizes[j] += 1
                _insert(tables, place, last, code, earlier)
            tables.weights[place, classes[i]] += row_weights[i]
            tables.squares[place] += row_weights[i] * row_weights[i]


@kernel
def _least(tables: Any, first: Any, last: Any) -> Any:
    """The place of the category with the smallest count, and that count."""
    least, smallest = first, np.inf
    for k in range(first, last):
        count = tables.earlier[k]
        for c in range(tables.weights.shape[1]):
            count += tables.weights[k, c]
        if count < smallest:
            least, smallest = k, count
    return least, smallest


@kernel
def _remove(tables: Any, place: Any, last: Any) -> None:
    for k in range(place, last - 1):
        tables.codes[k] = tables.codes[k + 1]
        tables.earlier[k] = tables.earlier[k + 1]
        tables.squares[k] = tables.squares[k + 1]
        tables.weights[k] = tables.weights[k + 1]


@kernel
def _insert(tables: Any, place: Any, last: Any, code: Any, earlier: Any) -> None:
    for k in range(last, place, -1):
        tables.codes[k] = tables.codes[k - 1]
        tables.earlier[k] = tables.earlier[k - 1]
        tables.squares[k] = tables.squares[k - 1]
        tables.weights[k] = tables.weights[k - 1]
    tables.codes[place] = code
    tables.earlier[place] = earlier
    tables.squares[place] = 0.0
    tables.weights[place] = 0.0
