"""Labels that arrive later, by id: rows are remembered until their labels come.

Rows are kept as the door for tables reads them (core/tables.py): numbers, categories by name. What is learnt in the end
is therefore the same as if the rows had come with their labels at that moment. The memory is bounded: when it is full,
the row that has waited longest is forgotten and counted.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch, check_matrix
from streamsift.core.categories import ColumnKinds
from streamsift.core.constraints import HasMethods, Integer, Limits, check_parameters
from streamsift.core.estimators import BaseEstimator
from streamsift.core.exceptions import InputError, MissingExtraError, SavedStateError
from streamsift.core.guard import OneThreadAtATime, one_thread
from streamsift.core.state import MOST_ROWS
from streamsift.core.vocabulary import from_column

COUNTS = ("n_learnt", "n_expired", "n_unknown")
INNER = "selector."  # before the names of the arrays of the selector


class WaitingLayout(NamedTuple):
    """What rows that can be learnt together have in common: names, number of columns, those that hold categories."""

    names: tuple[str, ...] | None
    n_columns: int
    sparse: bool
    categorical: tuple[int, ...]
    undecided: tuple[int, ...]  # columns without any value: numbers or categories, nobody knows


class WaitingRow(NamedTuple):
    """A row: its values (an array, or one row of a CSR matrix), and the categories behind some of them.

    A cell without a value is NaN; `texts` has one category (or None) for each column of the layout that holds some.
    """

    layout: WaitingLayout
    values: Any
    texts: tuple[str | None, ...]


class LateLabels(OneThreadAtATime, BaseEstimator):
    """Lets a selector learn rows whose labels arrive later, by id.

    Parameters
    ----------
    selector : anything with partial_fit
        A row selector, or whatever else learns batch by batch: it gets the rows as an array (or CSR matrix), or as a
        frame of pandas where they have names. It is this object that learns: ask it for the selection.
    max_rows : int, default 10,000
        Rows that may wait for their labels. When one more comes, the oldest is forgotten, and counted in `n_expired_`.

    Attributes
    ----------
    n_waiting_ : int
        Rows that wait for their labels.
    n_learnt_ : int
        Rows whose labels have come.
    n_expired_ : int
        Rows that were forgotten before their labels came.
    n_unknown_ : int
        Labels that came for an id that does not wait: its row has expired, has been learnt, or never was.

    Examples
    --------
    >>> from streamsift import LateLabels, Screener
    >>> late = LateLabels(Screener("t_score", n_features_to_select=1), max_rows=1000)
    >>> late.remember("order 7", {"price": 3.0, "weight": 1.5})
    >>> late.remember(["order 8", "order 9"], [{"price": 9.0, "weight": 1.4}, {"price": 8.0, "weight": 1.6}])
    >>> late.learn("order 8", "returned")
    1
    >>> late.learn(["order 7", "order 9", "order 1"], ["kept", "returned", "kept"])
    2
    >>> late.selector.selected_, late.n_waiting_, late.n_unknown_
    (['price'], 0, 1)
    """

    parameter_limits: ClassVar[Limits] = {"selector": (HasMethods("partial_fit"),), "max_rows": (Integer(1, None),)}

    def __init__(self, selector: Any = None, *, max_rows: int = 10_000) -> None:
        self.selector = selector
        self.max_rows = max_rows

    # -- learning -----------------------------------------------------------------------------------------------

    @one_thread
    def remember(self, id: Any, X: Any) -> None:
        """Keep rows until their labels come.

        Parameters
        ----------
        id : str or int, or a list of them
            One id for each row. An id that waits already is refused.
        X : one row, or a table of rows
            For a single id one row: a dict, a list of numbers, or a table of one row. For a list of ids whatever
            `partial_fit` takes.
        """
        self._check()
        waiting, (ids, several) = self._rows, _ids(id)
        rows = _rows_of(X if several else _one_row(X))
        if len(rows) != len(ids):
            raise InputError(f"X has {len(rows)} rows but there are {len(ids)} ids: give one id for each row.")
        for place, each in enumerate(ids):
            if each in waiting or each in ids[:place]:
                raise InputError(f"A row with the id {each!r} waits for its label already: give each row its own id.")
        waiting.update(zip(ids, rows, strict=True))
        while len(waiting) > self.max_rows:
            del waiting[next(iter(waiting))]
            self._counts["n_expired"] += 1

    @one_thread
    def learn(self, id: Any, y: Any) -> int:
        """Let the selector learn the rows of these ids with their labels; return how many there were.

        A label for an id that does not wait is counted in `n_unknown_`. A label that is missing (None, NaN) ends the
        waiting: the selector takes the row as it takes rows without a label. Where the selector refuses a row, that
        row and those behind it still wait.
        """
        self._check()
        waiting, (ids, several) = self._rows, _ids(id)
        labels = from_column(y) if several else from_column([y])
        if len(labels) != len(ids):
            raise InputError(f"There are {len(ids)} ids but {len(labels)} labels: give one label for each id.")
        if len(set(ids)) < len(ids):
            twice = next(each for place, each in enumerate(ids) if each in ids[:place])
            raise InputError(f"The id {twice!r} has two labels: give each row one label.")
        known = [place for place, each in enumerate(ids) if each in waiting]
        for part in _runs([waiting[ids[place]] for place in known]):
            places = known[part]
            rows = [waiting[ids[place]] for place in places]
            batch = _batch(rows) if hasattr(self.selector, "stream_tags") else _plain(rows)
            self.selector.partial_fit(batch, labels[places])
            for place in places:
                del waiting[ids[place]]
            self._counts["n_learnt"] += len(places)
        self._counts["n_unknown"] += len(ids) - len(known)
        return len(known)

    def _check(self) -> None:
        if not hasattr(self, "_rows"):
            check_parameters(type(self).__name__, self.get_params(deep=False), self.parameter_limits)
            self._rows: dict[Hashable, WaitingRow] = {}
            self._counts = dict.fromkeys(COUNTS, 0)

    def _count(self, name: str) -> int:
        return self._counts[name] if hasattr(self, "_counts") else 0

    @property
    def n_waiting_(self) -> int:
        """Rows that wait for their labels."""
        return len(self._rows) if hasattr(self, "_rows") else 0

    @property
    def n_learnt_(self) -> int:
        """Rows whose labels have come."""
        return self._count("n_learnt")

    @property
    def n_expired_(self) -> int:
        """Rows that were forgotten before their labels came."""
        return self._count("n_expired")

    @property
    def n_unknown_(self) -> int:
        """Labels that came for an id that does not wait."""
        return self._count("n_unknown")

    # -- state --------------------------------------------------------------------------------------------------

    @one_thread
    def state_arrays(self) -> dict[str, NDArray[Any]]:
        """What the selector has learnt and the rows that wait, as named arrays."""
        self._check()
        if not hasattr(self.selector, "state_arrays"):
            raise SavedStateError(f"A {type(self.selector).__name__} cannot be saved: it has no state_arrays().")
        arrays: dict[str, NDArray[Any]] = {"labels": np.empty(0, object)}
        if hasattr(self.selector, "n_rows_seen_"):
            inner = self.selector.state_arrays()
            arrays = {"labels": inner.pop("labels")}
            arrays |= {INNER + name: array for name, array in inner.items()}
        rows = list(self._rows.values())
        layouts = list(dict.fromkeys(row.layout for row in rows))
        arrays["waiting.counts"] = np.array([self._counts[name] for name in COUNTS], np.int64)
        arrays["waiting.ids"] = _text([json.dumps(each) for each in self._rows])
        arrays["waiting.layout"] = np.array([layouts.index(row.layout) for row in rows], np.int64)
        arrays["waiting.layouts"] = _text([json.dumps(layout) for layout in layouts])
        arrays["waiting.texts"] = _text([json.dumps(row.texts) for row in rows])
        for number, layout in enumerate(layouts):
            arrays |= _values_to_arrays(f"waiting.{number}.", [row.values for row in rows if row.layout == layout])
        return arrays

    @one_thread
    def load_state_arrays(self, arrays: dict[str, NDArray[Any]]) -> Self:
        """Take over a state written by `state_arrays`."""
        self._check()
        try:
            rows, counts = _saved_rows(arrays), _saved_counts(arrays)
        except (KeyError, ValueError, TypeError, IndexError, RecursionError) as error:
            raise SavedStateError(
                f"The saved state is damaged: the rows that wait cannot be read ({error})."
            ) from error
        if len(rows) > self.max_rows:
            raise SavedStateError(f"The saved state is damaged: {len(rows)} rows wait, more than max_rows.")
        inner = {name.removeprefix(INNER): array for name, array in arrays.items() if name.startswith(INNER)}
        if inner:
            self.selector.load_state_arrays(inner | {"labels": arrays["labels"]})
        # Nothing has failed: from here on the object changes.
        self._rows, self._counts = rows, counts
        return self


# -- rows as they come ------------------------------------------------------------------------------------------------


def _ids(given: Any) -> tuple[list[Hashable], bool]:
    """The ids as a list, and whether it was one."""
    if isinstance(given, str | int | np.integer) and not isinstance(given, bool):
        return [_id(given)], False
    if isinstance(given, bool | float) or not hasattr(given, "__iter__") or isinstance(given, Mapping | bytes):
        raise InputError(f"The id {given!r} is neither text nor a whole number: give one of these, or a list of them.")
    return [_id(each) for each in from_column(given).tolist()], True


def _id(given: Any) -> Hashable:
    if isinstance(given, np.integer):
        return int(given)
    if isinstance(given, str | int) and not isinstance(given, bool):
        return given
    raise InputError(f"The id {given!r} is neither text nor a whole number: give one of these.")


def _one_row(X: Any) -> Any:
    """A single row as a table of one row."""
    if isinstance(X, Mapping):
        return [X]
    if isinstance(X, list | tuple) and X and not isinstance(X[0], Mapping | list | tuple | np.ndarray):
        return [X]
    return X[None] if isinstance(X, np.ndarray) and X.ndim == 1 else X


def _rows_of(X: Any) -> list[WaitingRow]:
    """Each row by itself, as the door for tables reads it."""
    names, kinds = None, None
    if isinstance(X, Batch):
        names, kinds, X = X.feature_names, X.kinds, X.X
    matrix = check_matrix(X, owner="LateLabels")
    names, kinds = names or matrix.names, kinds or matrix.kinds or ColumnKinds({})
    places = tuple(sorted(kinds.names))
    layout = WaitingLayout(names, int(matrix.values.shape[1]), matrix.sparse, places, tuple(kinds.undecided))
    if matrix.sparse:
        return [WaitingRow(layout, matrix.values[row], ()) for row in range(matrix.values.shape[0])]
    values = np.array(matrix.values, np.float64)
    codes = values[:, places]
    values[:, places] = np.nan
    found = []
    for row in range(len(values)):
        cells = zip(places, codes[row].tolist(), strict=True)
        texts = tuple(None if code != code else kinds.names[place][int(code)] for place, code in cells)
        found.append(WaitingRow(layout, values[row].copy(), texts))
    return found


def _runs(rows: list[WaitingRow]) -> Iterator[slice]:
    """Rows side by side that can be learnt together."""
    first = 0
    for place in range(1, len(rows) + 1):
        if place == len(rows) or rows[place].layout != rows[first].layout:
            yield slice(first, place)
            first = place


def _batch(rows: list[WaitingRow]) -> Any:
    """Rows of one layout as the selector takes them."""
    layout = rows[0].layout
    if layout.sparse:
        from scipy.sparse import vstack

        return Batch(vstack([row.values for row in rows], format="csr"), None, layout.names)
    X = np.array([row.values for row in rows])
    categories: dict[int, tuple[str, ...]] = {}
    for column, place in enumerate(layout.categorical):
        codes: dict[str, int] = {}
        cells = [row.texts[column] for row in rows]
        X[:, place] = [np.nan if text is None else codes.setdefault(text, len(codes)) for text in cells]
        categories[place] = tuple(codes)
    kinds = None if layout.names is None and not categories else ColumnKinds(categories, layout.undecided)
    return Batch(X, None, layout.names, kinds=kinds)


def _plain(rows: list[WaitingRow]) -> Any:
    """Rows of one layout as objects of other packages take them."""
    batch, layout = _batch(rows), rows[0].layout
    if layout.names is None and not layout.categorical:
        return batch.X
    try:
        import pandas
    except ImportError as error:
        raise MissingExtraError("LateLabels with rows that have names", "pandas", "pandas") from error
    frame = pandas.DataFrame(batch.X, columns=layout.names)
    for column, place in enumerate(layout.categorical):
        frame[frame.columns[place]] = [row.texts[column] for row in rows]
    return frame


# -- rows as arrays ---------------------------------------------------------------------------------------------------


def _text(lines: list[str]) -> NDArray[np.str_]:
    return np.array(lines, np.str_) if lines else np.empty(0, "<U1")


def _values_to_arrays(prefix: str, values: list[Any]) -> dict[str, NDArray[Any]]:
    if isinstance(values[0], np.ndarray):
        return {prefix + "values": np.array(values)}
    return {
        prefix + "data": np.concatenate([row.data for row in values]).astype(np.float64),
        prefix + "indices": np.concatenate([row.indices for row in values]).astype(np.int64),
        prefix + "sizes": np.array([row.nnz for row in values], np.int64),
    }


def _saved_counts(arrays: Mapping[str, NDArray[Any]]) -> dict[str, int]:
    counts = arrays["waiting.counts"]
    if counts.shape != (len(COUNTS),) or counts.dtype != np.int64 or (counts < 0).any() or (counts > MOST_ROWS).any():
        raise ValueError("the counts are no counts")
    return dict(zip(COUNTS, counts.tolist(), strict=True))


def _saved_rows(arrays: Mapping[str, NDArray[Any]]) -> dict[Hashable, WaitingRow]:
    ids = [_saved_id(text) for text in arrays["waiting.ids"].tolist()]
    layouts = [_saved_layout(text) for text in arrays["waiting.layouts"].tolist()]
    which, texts = arrays["waiting.layout"].tolist(), arrays["waiting.texts"].tolist()
    if len(set(ids)) < len(ids) or not len(ids) == len(which) == len(texts):
        raise ValueError("there is not one id for each row")
    values = [iter(_saved_values(arrays, f"waiting.{number}.", layout)) for number, layout in enumerate(layouts)]
    rows = {}
    for each, number, text in zip(ids, which, texts, strict=True):
        if not isinstance(number, int) or not 0 <= number < len(layouts):
            raise ValueError(f"there is no layout {number!r}")
        categories = tuple(json.loads(text))
        if len(categories) != (0 if layouts[number].sparse else len(layouts[number].categorical)) or not all(
            category is None or isinstance(category, str) for category in categories
        ):
            raise ValueError("categories are not text")
        row = next(values[number], None)
        if row is None:
            raise ValueError("there are fewer rows than ids")
        rows[each] = WaitingRow(layouts[number], row, categories)
    return rows


def _saved_id(text: str) -> Hashable:
    found = json.loads(text)
    if isinstance(found, bool) or not isinstance(found, str | int):
        raise ValueError(f"{found!r} is no id")
    return found


def _saved_layout(text: str) -> WaitingLayout:
    names, n_columns, sparse, *places = json.loads(text)
    categorical, undecided = places
    fine = isinstance(n_columns, int) and n_columns > 0 and isinstance(sparse, bool)
    fine = fine and (names is None or (len(set(names)) == n_columns and all(isinstance(name, str) for name in names)))
    if not fine or not all(isinstance(place, int) and 0 <= place < n_columns for place in categorical + undecided):
        raise ValueError("a layout is none")
    names = None if names is None else tuple(names)
    return WaitingLayout(names, n_columns, sparse, tuple(sorted(set(categorical))), tuple(sorted(set(undecided))))


def _saved_values(arrays: Mapping[str, NDArray[Any]], prefix: str, layout: WaitingLayout) -> list[Any]:
    if not layout.sparse:
        values = arrays[prefix + "values"]
        if values.ndim != 2 or values.shape[1] != layout.n_columns or values.dtype != np.float64:
            raise ValueError("rows do not have their columns")
        return [row.copy() for row in values]
    from scipy.sparse import csr_matrix

    data, indices, sizes = (arrays[prefix + name] for name in ("data", "indices", "sizes"))
    if data.ndim != 1 or data.dtype != np.float64 or data.shape != indices.shape or sizes.ndim != 1:
        raise ValueError("sparse rows have no values")
    if (sizes < 0).any() or sizes.sum() != len(data) or (indices < 0).any() or (indices >= layout.n_columns).any():
        raise ValueError("sparse rows have no places")
    ends = np.concatenate([[0], np.cumsum(sizes)])
    pairs = zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    shape = (1, layout.n_columns)
    return [csr_matrix((data[a:b], indices[a:b], [0, b - a]), shape) for a, b in pairs]
