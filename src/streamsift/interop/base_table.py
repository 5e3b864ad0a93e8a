"""BaseTable: the columns that others are made from, numbers and categories apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from streamsift.core.batch import Batch, check_matrix
from streamsift.core.exceptions import InputError
from streamsift.core.limits import all_moderate, beyond
from streamsift.core.vocabulary import check_names

OWNER = "make_columns"


@dataclass(frozen=True)
class BaseTable:
    """Numbers (one row of the array for each column) and categories (codes, and the names behind them)."""

    numbers: NDArray[np.float64]
    number_names: list[str]
    codes: NDArray[np.int64]
    code_names: list[str]
    categories: list[tuple[str, ...]]
    batches: list[Batch]

    @classmethod
    def of(cls, X: Any, names: Sequence[str] | None = None, categorical: Sequence[str] = ()) -> BaseTable:
        """Any table: an array, a frame, a list of dicts."""
        matrix = check_matrix(X, owner=OWNER, sparse=False)
        n_columns = matrix.values.shape[1]
        own = names if names is not None else matrix.names or [f"x{k}" for k in range(n_columns)]
        known = check_names(own)
        if len(known) != n_columns:
            raise InputError(f"There are {n_columns} columns but {len(known)} names: give each column its own name.")
        for name in categorical:
            if name not in known:
                raise InputError(f"There is no column {name!r} to be taken as categories: check its name.")
        text = () if matrix.kinds is None else matrix.kinds.names
        mask = np.array([place in text or name in categorical for place, name in enumerate(known)])
        return cls.of_batches([Batch(matrix.values, None, known, mask, kinds=matrix.kinds)])

    @classmethod
    def of_batches(cls, batches: Sequence[Batch]) -> BaseTable:
        """Columns side by side, as a source of columns gives them."""
        numbers, number_names, codes, code_names, categories = [], [], [], [], []
        for batch in batches:
            if sparse.issparse(batch.X):
                raise InputError(f"Sparse data was passed, but dense data is required by {OWNER}: use a dense table.")
            for place, name in enumerate(batch.feature_names or ()):
                column = np.ascontiguousarray(batch.X[:, place], np.float64)
                _refuse_bad_value(column, name)
                known = None if batch.kinds is None else batch.kinds.names.get(place)
                if known is None and (batch.categorical is None or not batch.categorical[place]):
                    numbers.append(column)
                    number_names.append(name)
                    continue
                if known is None:  # bare codes: their numbers are their names
                    values, places = np.unique(column, return_inverse=True)
                    known, column = tuple(f"{value:g}" for value in values.tolist()), places.astype(np.float64)
                codes.append(column.astype(np.int64))
                code_names.append(name)
                categories.append(tuple(known))
        n_rows = batches[0].X.shape[0]
        return cls(
            np.array(numbers).reshape(-1, n_rows),
            number_names,
            np.array(codes, np.int64).reshape(-1, n_rows),
            code_names,
            categories,
            list(batches),
        )

    @property
    def n_rows(self) -> int:
        return int(self.numbers.shape[1])

    def like(self, other: BaseTable) -> BaseTable:
        """The same columns as another table has, with its codes; a category that it does not know is -1."""
        place_of = {name: place for place, name in enumerate(self.number_names)}
        code_of = {name: place for place, name in enumerate(self.code_names)}
        for name in [*other.number_names, *other.code_names]:
            if name not in (place_of if name in other.number_names else code_of):
                kind = "numbers" if name in other.number_names else "categories"
                raise InputError(f"There is no column {name!r} of {kind} here, which columns were made from: add it.")
        codes = np.empty((len(other.code_names), self.n_rows), np.int64)
        for k, name in enumerate(other.code_names):
            known = {category: code for code, category in enumerate(other.categories[k])}
            mine = code_of[name]
            new = np.array([known.get(category, -1) for category in self.categories[mine]], np.int64)
            codes[k] = new[self.codes[mine]]
        numbers = self.numbers[[place_of[name] for name in other.number_names]]
        return BaseTable(numbers, other.number_names, codes, other.code_names, other.categories, self.batches)


def _refuse_bad_value(column: NDArray[np.float64], name: str) -> None:
    if all_moderate(column):
        return
    row = int(np.argmax(beyond(column)))
    raise InputError(
        f"Row {row}, column {name!r} is {column[row]}, from which no columns can be made: fill in missing values, or "
        "leave the column out."
    )
