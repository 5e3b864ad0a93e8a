"""Every row selector as a transformer of river (the extra `streamsift[river]`).

river's rows are dicts, and their keys come and go. The transformer therefore lets features arrive late wherever the
method can (`new_features="add"`), and a key that is not there, or whose value is None, is a missing value: methods with
`missing="skip"` do not count it, the others take it as they take a feature that is not in a batch. ABFS needs the same
keys in every row. Text and bools are categories, as in tables.

The order of keys never matters: new features take their places in the order of their names.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from streamsift.core.batch import Batch
from streamsift.core.categories import ColumnKinds
from streamsift.core.constraints import HasMethods, Integer, Limits, check_parameters
from streamsift.core.exceptions import InputError, MissingExtraError, OneClassWarning
from streamsift.core.selection import Selection

NUMBERS = frozenset(
    {float, int, np.float64, np.float32, np.int64, np.int32}
)  # other types go through the door of tables
ABSENT = frozenset({*NUMBERS, type(None)})
LATE = {"new_features": "add", "missing": "skip"}  # what the transformer sets where a method has it

Row = Mapping[Any, Any]


class RiverSelector:
    """What `Selector` adds to river's base classes."""

    def __init__(self, selector: Any, batch_size: int = 1) -> None:
        limits: Limits = {
            "selector": (HasMethods("partial_fit", "selection", "stream_tags"),),
            "batch_size": (Integer(1, None),),
        }
        check_parameters("Selector", {"selector": selector, "batch_size": batch_size}, limits)
        self.selector = selector
        self.batch_size = batch_size
        self._own: Any = None  # the copy that learns
        self._keys: dict[Any, str] = {}  # the keys met so far, in the order of their places, and their names
        self._rows: list[Row] = []  # that wait until there are batch_size of them
        self._labels: list[Any] = []
        self._chosen: list[Any] | None = None  # the keys selected; None: not asked since rows were learnt

    @classmethod
    def _unit_test_params(cls) -> Any:
        """What river's checks begin with."""
        from streamsift.rows.screener import Screener

        yield {"selector": Screener("t_score", n_features_to_select=3)}

    def _unit_test_skips(self) -> set[str]:
        """river's checks of keys that come and go: not for a method that needs the same features in every row."""
        if self.selector.stream_tags().late_features:
            return set()
        return {
            "check_emerging_features",
            "check_disappearing_features",
            "check_radically_disappearing_features",
            "check_learn_many_matches_learn_one",
        }

    @property
    def _supervised(self) -> bool:
        return bool(self.selector.stream_tags().supervised)

    # -- learning -----------------------------------------------------------------------------------------------

    def learn_one(self, x: Row, y: Any = None) -> None:
        """Learn one row; the selector learns when there are `batch_size` of them."""
        self._rows.append(dict(x))
        self._labels.append(y)
        if len(self._rows) >= self.batch_size:
            self.flush()

    def learn_many(self, X: Any, y: Any = None) -> None:
        """Learn the rows of a table: the same as one by one, faster."""
        frame, labels = _Frame(X), None if y is None else _values(y)
        if labels is not None and len(labels) != frame.n_rows:
            raise InputError(f"X has {frame.n_rows} rows but y has {len(labels)} labels: give one label per row.")
        first, waiting = 0, len(self._rows)
        step = self.batch_size
        if self.selector.stream_tags().batch_invariant:  # all full batches at once
            step = max((waiting + frame.n_rows) // step * step, step)
            if waiting and waiting + frame.n_rows >= step:
                self.flush()
                step -= waiting
        while first < frame.n_rows:
            stop = min(first + step - len(self._rows), frame.n_rows)
            part = None if labels is None else labels[first:stop]
            if self._rows or stop - first < step:
                for row, x in enumerate(frame.dicts(first, stop)):
                    self.learn_one(x, None if part is None else part[row])
            elif stop > first:
                self._learn_frame(frame.part(first, stop), part)
            first = stop

    def flush(self) -> None:
        """Let the selector learn the rows that wait for a full batch; a row that is refused waits no longer."""
        rows, labels = self._rows, self._labels
        self._rows, self._labels = [], []
        if rows:
            self._learn_rows(rows, labels)

    def _learn_rows(self, rows: Sequence[Row], labels: list[Any]) -> None:
        known, values = self._keys, [list(map(row.get, self._keys)) for row in rows]
        if any(len(row) != len(known) - found.count(None) for row, found in zip(rows, values, strict=True)):
            known = self._keys_with(key for row in rows for key in row)
            values = [list(map(row.get, known)) for row in rows]
        own, names = self._learner(), tuple(known.values())
        kinds: set[Any] = set()
        for row in values:
            kinds.update(map(type, row))
        if kinds <= NUMBERS or (kinds <= ABSENT and self._skips()):
            X = np.array(values, np.float64)  # None becomes NaN
            undecided = () if kinds <= NUMBERS else tuple(np.flatnonzero(np.isnan(X).all(axis=0)).tolist())
            self._give(own, Batch(X, None, names, kinds=ColumnKinds({}, undecided)), labels)
        else:
            for first, stop in _runs(values, whole=self._skips()):
                places = [place for place, value in enumerate(values[first]) if value is not None]
                if self._skips():
                    places = list(range(len(names)))
                part = [{names[place]: row[place] for place in places} for row in values[first:stop]]
                if not places:
                    raise InputError("A row has no values: give it at least one feature.")
                self._give(own, part, labels[first:stop])
        self._keys = known

    def _learn_frame(self, frame: _Frame, labels: Any) -> None:
        known = self._keys_with(frame.keys)
        if len(known) > len(self._keys):  # new ones: in the order of their names, behind the others
            given = set(frame.keys)
            frame = frame.columns([key for key in known if key in given])
        numbers = frame.numbers()
        table = (
            frame.table if numbers is None else Batch(numbers, None, tuple(map(str, frame.keys)), kinds=ColumnKinds({}))
        )
        self._give(self._learner(), table, labels)
        self._keys = known

    def _give(self, own: Any, X: Any, labels: Any) -> None:
        own.partial_fit(X, labels if self._supervised else None)
        self._own, self._chosen = own, None

    def _skips(self) -> bool:
        return "missing" in self.selector.get_params(deep=False)

    def _learner(self) -> Any:
        """The copy that learns, which takes features as they come where the method can."""
        if self._own is not None:
            return self._own
        own = clone(self.selector)
        own.set_params(**{name: value for name, value in LATE.items() if name in own.get_params(deep=False)})
        return own

    def _keys_with(self, keys: Any) -> dict[Any, str]:
        """The known keys and their names, with those of `keys` that are new behind them, by name."""
        new = {key: str(key) for key in dict.fromkeys(keys) if key not in self._keys}
        if not new:
            return self._keys
        known = self._keys | dict(sorted(new.items(), key=lambda item: item[1]))
        if len(set(known.values())) < len(known):
            name = next(name for key, name in new.items() if list(known.values()).count(name) > 1)
            raise InputError(f"Two features are called {name!r}, as text and as another type: give each its own name.")
        return known

    # -- answers ------------------------------------------------------------------------------------------------

    def transform_one(self, x: Row) -> dict[Any, Any]:
        """Keep the selected features; all of them until rows have been learnt."""
        if not hasattr(self._own, "n_rows_seen_"):
            return dict(x)
        return {key: x[key] for key in self._keys_chosen() if key in x}

    def transform_many(self, X: Any) -> Any:
        """Keep the selected columns of a table; all of them until rows have been learnt."""
        if not hasattr(self._own, "n_rows_seen_"):
            return X
        frame, chosen = _Frame(X), set(self._keys_chosen())
        return frame.columns([key for key in frame.keys if key in chosen]).table

    def selection(self) -> Selection:
        """The current selection, best feature first, of the rows learnt so far."""
        if not hasattr(self._own, "n_rows_seen_"):
            raise InputError(f"No row has been learnt yet, {len(self._rows)} wait for a full batch: call flush().")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OneClassWarning)  # a stream may begin with one class
            found: Selection = self._own.selection()
        return found

    @property
    def n_rows_waiting(self) -> int:
        """Rows that wait until there are `batch_size` of them."""
        return len(self._rows)

    def _keys_chosen(self) -> list[Any]:
        if self._chosen is None:
            time = getattr(self.selector, "time", None)  # a key that is no feature
            keys = [key for key, name in self._keys.items() if name != time]  # in the order of their places
            self._chosen = [keys[place] for place in self.selection().indices.tolist()]
        return self._chosen


class _Frame:
    """A table of pandas, polars or pyarrow, as far as it is needed here."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self._is_pandas = hasattr(table, "iloc")
        if not hasattr(table, "columns"):
            raise InputError(f"X is a {type(table).__name__}: give a table of pandas, polars or pyarrow.")
        self.keys: list[Any] = list(table.column_names if hasattr(table, "column_names") else table.columns)
        self.n_rows = int(table.shape[0])

    def part(self, first: int, stop: int) -> _Frame:
        if (first, stop) == (0, self.n_rows):
            return self
        return _Frame(self.table.iloc[first:stop] if self._is_pandas else self.table.slice(first, stop - first))

    def columns(self, keys: list[Any]) -> _Frame:
        return _Frame(self.table[keys] if self._is_pandas else self.table.select(keys))

    def numbers(self) -> Any:
        """The values as an array, where all columns are plain numbers; None where the door of tables has to look."""
        kinds = {getattr(kind, "kind", "") for kind in self.table.dtypes} if self._is_pandas else {""}
        plain = kinds <= set("fiu") and all(isinstance(kind, np.dtype) for kind in set(self.table.dtypes))
        return self.table.to_numpy() if plain else None

    def dicts(self, first: int, stop: int) -> list[Row]:
        table = self.part(first, stop).table
        if self._is_pandas:
            rows: list[Row] = table.to_dict("records")
        else:
            rows = table.to_dicts() if hasattr(table, "to_dicts") else table.to_pylist()
        return rows


def _values(y: Any) -> Any:
    """Labels that can be cut, each as it is."""
    if isinstance(y, list | tuple | np.ndarray):
        return y
    return y.to_pylist() if hasattr(y, "to_pylist") else y.to_numpy() if hasattr(y, "to_numpy") else list(y)


def _runs(values: list[list[Any]], *, whole: bool) -> list[tuple[int, int]]:
    """First and last row of each run in which the same values are there; all rows where None is as good as a value."""
    if whole:
        return [(0, len(values))]
    absent = [tuple(place for place, value in enumerate(row) if value is None) for row in values]
    starts = [row for row in range(len(values)) if row == 0 or absent[row] != absent[row - 1]]
    return list(zip(starts, [*starts[1:], len(values)], strict=True))


@cache
def _selector_class() -> type[RiverSelector]:
    try:
        from river import base
    except ImportError as error:
        raise MissingExtraError("Selector", "river", "river") from error

    class Selector(RiverSelector, base.MiniBatchSupervisedTransformer, base.SupervisedTransformer):  # type: ignore[misc]
        __doc__ = _DOC

    Selector.__module__, Selector.__qualname__ = __name__, "Selector"  # where pickle looks for it
    return Selector


_DOC = """A row selector as a transformer of river.

    It is the supervised transformer that river's pipelines (`|`) and unions (`+`) take; with FSDS it is an unsupervised
    one. The given selector stays as it is: a copy learns.

    Parameters
    ----------
    selector : a row selector
        Any method over rows. Its copy takes features as they come, wherever the method can: `new_features` is set to
        "add", `missing` to "skip".
    batch_size : int, default 1
        Rows that the selector learns at a time. Larger batches are faster, and the selection changes less often; FIRES
        and FSDS also learn better from them. Rows wait until a batch is full, or until `flush` is called.

    Examples
    --------
    >>> from river import evaluate, linear_model, metrics, preprocessing  # doctest: +SKIP
    >>> from streamsift import Screener  # doctest: +SKIP
    >>> from streamsift.interop.river import Selector  # doctest: +SKIP
    >>> model = preprocessing.StandardScaler() | Selector(Screener(n_features_to_select=3))  # doctest: +SKIP
    >>> model |= linear_model.LogisticRegression()  # doctest: +SKIP
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())  # doctest: +SKIP
    """

if TYPE_CHECKING:

    class Selector(RiverSelector): ...

else:

    def __getattr__(name: str) -> Any:
        if name == "Selector":
            return _selector_class()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
