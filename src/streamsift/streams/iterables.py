"""Any Python iterable: pairs (X, y) of batches of any length or of single rows, also rows as dicts (river)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from streamsift.core.batch import Batch, CheckedMatrix, check_matrix
from streamsift.core.categories import CategoryVocabulary, ColumnKinds, Meeting, recode
from streamsift.core.exceptions import InputError, ReaderError
from streamsift.core.tables import is_table, read_arrow, table_of_dicts
from streamsift.streams.arrays import check_lengths, label_array
from streamsift.streams.blocks import BlockStream

Item = tuple[int, Any, Any]  # number of the first item, X, y


class IterableStream(BlockStream):
    """Rows from pairs (X, y); X is an array, a sparse matrix, a table, one row, or one row as a dict.

    The pairs are taken one at a time, when they are needed. Sparse matrices may grow wider from pair to pair, and dicts
    may bring new keys; dense rows and tables keep the columns of the first. A key that a dict lacks is a missing value.
    Instead of pairs there may be dicts that hold the target. Names of columns are known once they have come.
    """

    def __init__(self, pairs: Iterable[Any], target: str | None = None) -> None:
        self.target_name = target
        self._pairs = pairs
        self._once = iter(pairs) is pairs
        self._spent = False
        self._names: tuple[str, ...] | None = None
        self._n_columns = 0
        self._vocabulary = CategoryVocabulary()

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return self._names

    @property
    def categories(self) -> dict[str, tuple[str, ...]]:
        return {self._name(place): names for place, names in self._vocabulary.names.items()}

    def _blocks(self, size: int) -> Iterator[Batch]:
        if self._once and self._spent:
            raise ReaderError(
                "The iterator has been read and gives its rows only once: make a new one, or pass a list."
            )
        self._spent = True
        width = None
        for number, X, y in self._gathered(size):
            try:
                block = self._block(X, y)
            except InputError as error:
                raise InputError(f"Item {number} of the stream: {error}") from error
            n_columns = block.X.shape[1]
            if isinstance(block.X, np.ndarray) and self._names is None and width not in (None, n_columns):
                raise InputError(f"Item {number} of the stream has {n_columns} columns, those before it {width}.")
            width = n_columns
            yield block

    def _gathered(self, size: int) -> Iterator[Item]:
        """The items, with up to `size` rows given as dicts taken together: one by one they would take long."""
        rows: list[Mapping[Any, Any]] = []
        labels: list[Any] = []
        first = 0
        for number, item in enumerate(self._pairs):
            X, y = self._pair(item, number)
            if isinstance(X, Mapping):
                first = number if not rows else first
                rows.append(X)
                labels.append(y)
                if len(rows) < size:
                    continue
            if rows:
                yield first, rows, labels
                rows, labels = [], []
            if not isinstance(X, Mapping):
                yield number, X, y
        if rows:
            yield first, rows, labels

    def _pair(self, item: Any, number: int) -> tuple[Any, Any]:
        if isinstance(item, Mapping):
            if self.target_name is None or self.target_name not in item:
                lacking = "no target is named" if self.target_name is None else f"it has no key {self.target_name!r}"
                raise InputError(f"Item {number} of the stream is a dict without a label, for {lacking}: pass target=.")
            return {key: value for key, value in item.items() if key != self.target_name}, item[self.target_name]
        if not isinstance(item, tuple | list) or len(item) != 2:
            raise InputError(f"Item {number} of the stream is a {type(item).__name__}, not a pair (X, y).")
        return item[0], item[1]

    def _block(self, X: Any, y: Any) -> Batch:
        if isinstance(X, list) and X and isinstance(X[0], Mapping):
            matrix = read_arrow(table_of_dicts(X, self._names or ()))
            new_names = True
        else:
            if not (is_table(X) or hasattr(X, "tocsr")):
                X = np.asarray(X)
                if X.ndim == 1:  # one row and its label
                    X, y = X.reshape(1, -1), [y]
            matrix = check_matrix(X, owner="open_stream")
            new_names = False
        labels = label_array(y)
        check_lengths(matrix.values.shape[0], labels)
        self._know_names(matrix, new_names)
        meeting = Meeting(None, self._n_columns, self._name)
        values, vocabulary = recode(matrix.values, matrix.kinds, self._vocabulary, meeting)
        self._vocabulary, self._n_columns = vocabulary, max(self._n_columns, values.shape[1])
        if matrix.kinds is None:
            return Batch(values, labels, self._names)
        mask = vocabulary.mask(values.shape[1]) if vocabulary.names else None
        kinds = ColumnKinds(vocabulary.names, tuple(sorted(vocabulary.undecided)))
        return Batch(values, labels, self._names, mask, kinds=kinds)

    def _know_names(self, matrix: CheckedMatrix, may_grow: bool) -> None:
        names = matrix.names
        if names is None or names == self._names:
            return
        if self._names is not None and not (may_grow and names[: len(self._names)] == self._names):
            raise InputError(f"the table has the columns {_shown(names)}, those before it {_shown(self._names)}.")
        self._names = names

    def _name(self, place: int) -> str:
        return f"x{place}" if self._names is None else self._names[place]


def _shown(names: tuple[str, ...]) -> str:
    return ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
