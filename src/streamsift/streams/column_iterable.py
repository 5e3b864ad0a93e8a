"""columns_from: any iterable of named columns as a source, with its target, its progress and its checks.

What arrives is looked at, handed on and forgotten. To refuse a name that came before, eight bytes are kept for each
column (a hash of its name), not the name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch
from streamsift.core.constraints import Integer, IsNone, check_parameters
from streamsift.core.exceptions import InputError
from streamsift.core.vocabulary import check_names


class SeenNames:
    """The names that came before, as sorted arrays of hashes, each more than twice as long as the next.

    Two different names have the same hash with probability 3e-8 in a stream of a million columns; the later one is then
    refused.

    Examples
    --------
    >>> seen = SeenNames()
    >>> seen.add(["a", "b"]), seen.add(["c", "b"])
    (None, 'b')
    """

    def __init__(self) -> None:
        self._runs: list[NDArray[np.int64]] = []

    def add(self, names: Sequence[str]) -> str | None:
        """Take in names, all different; the first of them that is known already, which leaves things as they were."""
        hashes = np.fromiter((hash(name) for name in names), np.int64, len(names))
        known = np.zeros(len(names), bool)
        for run in self._runs:
            places = np.minimum(np.searchsorted(run, hashes), len(run) - 1)
            known |= run[places] == hashes
        if known.any():
            return names[int(np.argmax(known))]
        if len(names):
            self._runs.append(np.sort(hashes))
        while len(self._runs) > 1 and len(self._runs[-2]) <= 2 * len(self._runs[-1]):
            self._runs[-2:] = [np.sort(np.concatenate(self._runs[-2:]))]
        return None


class ColumnIterable:
    """What `columns_from` returns: iterate over it for the pairs, checked."""

    def __init__(self, columns: Iterable[tuple[Any, Any]], y: Any, target_name: str, n_columns: int | None) -> None:
        self._columns, self.y, self.target_name, self.n_columns = columns, y, target_name, n_columns

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return self.blocks()

    def blocks(self, first: int = 0) -> Iterator[tuple[Any, Any]]:
        """The pairs from one of them on; those before it are made, and passed over."""
        return islice(self._checked(), first, None)

    def _checked(self) -> Iterator[tuple[Any, Any]]:
        seen, n_rows, offered = SeenNames(), None if self.y is None else len(self.y), 0
        for number, pair in enumerate(self._columns):
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise InputError(
                    f"Item {number} of the columns is a {type(pair).__name__}: give pairs (name, column), or (names, "
                    "block of columns)."
                )
            name, values = pair
            names = _names_of(name, offered)
            shape = _shape(values)
            width = shape[1] if len(shape) == 2 else 1
            if len(names) != width or (len(shape) == 1 and not isinstance(name, str)):
                raise InputError(
                    f"Column {offered} ({names[0]!r}) comes with {len(names)} name{'s' * (len(names) != 1)} and values "
                    f"of the shape {shape}: give each column its own name."
                )
            n_rows = shape[0] if n_rows is None else n_rows
            if shape[0] != n_rows:
                whose = "the columns before it have" if self.y is None else "the target has"
                raise InputError(
                    f"Column {offered} ({names[0]!r}) has {shape[0]} values where {whose} {n_rows}: give one value for "
                    "each row."
                )
            twice = seen.add(names)
            if twice is not None:
                raise InputError(f"A column called {twice!r} came before: give each column of the stream its own name.")
            offered += width
            yield name if isinstance(name, str) else names, values


def columns_from(
    columns: Iterable[tuple[Any, Any]] | Mapping[str, Any],
    y: Any = None,
    *,
    target_name: str = "y",
    n_columns: int | None = None,
) -> ColumnIterable:
    """Any iterable of named columns as a source for column selectors: columns are made, judged and forgotten.

    Parameters
    ----------
    columns : iterable or dict
        Pairs (name, column) or (names, block of columns), or a dict of columns. A generator is used up by one run.
        Blocks are judged much faster than single columns.
    y : array, optional
        The target, one value for each row; without it, `run(source, y)` says what it is.
    target_name : str
        What the target is called.
    n_columns : int, optional
        How many columns there will be, for the progress of a run. Dicts and lists are counted.

    Returns
    -------
    A source with `y`, `target_name` and `n_columns`. While it is read, it refuses columns that have another number of
    values than the target, names that do not fit the columns, and names that came before.

    Examples
    --------
    >>> from streamsift import Investing
    >>> time = np.arange(100.0)
    >>> waves = ((f"sin(time/{k})", np.sin(time / k)) for k in range(2, 1000))
    >>> Investing().run(columns_from(waves, y=np.sin(time / 7) + np.cos(time) / 20)).selected_[-1]
    'sin(time/7)'
    """
    check_parameters("columns_from", {"n_columns": n_columns}, {"n_columns": (Integer(0, None), IsNone())})
    if isinstance(columns, Mapping):
        columns = list(columns.items())
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise InputError(f"The columns are a {type(columns).__name__}: give an iterable of pairs (name, column).")
    if n_columns is None and isinstance(columns, list):
        n_columns = sum(map(_width, columns))
    return ColumnIterable(columns, y, target_name, n_columns)


def _width(pair: Any) -> int:
    """How many columns a pair has; what is no pair is refused when its turn comes."""
    names = pair[0] if isinstance(pair, tuple | list) and pair else ()
    return len(names) if isinstance(names, Sequence | np.ndarray) and not isinstance(names, str) else 1


def _names_of(name: Any, offered: int) -> Sequence[str]:
    if isinstance(name, str):
        return check_names([name])
    if not isinstance(name, Sequence | np.ndarray) or not all(isinstance(one, str) for one in name) or len(name) == 0:
        raise InputError(
            f"Column {offered} has the name {name!r}: give a text, or one text for each column of a block."
        )
    return check_names(list(name))


def _shape(values: Any) -> tuple[int, ...]:
    values = values.X if isinstance(values, Batch) else values
    shape = getattr(values, "shape", None)
    return tuple(shape) if isinstance(shape, tuple) else np.shape(values)
