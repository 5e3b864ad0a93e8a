"""Categories for methods that know numbers only: a column of 0 and 1 for each category.

OneHotColumns says what each column of the rows a method sees stands for, and belongs to the state of the selector.
Numeric features keep one column each. A category gets its column with its first row, behind all others: before, it was
0. Beyond MOST_COLUMNS categories of a feature, new ones share N_SHARED columns by a hash of their name. The score of a
feature is the largest of its columns.

Codes without names are numbers like any other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import CheckedBatch, refuse_not_finite
from streamsift.core.exceptions import SavedStateError
from streamsift.core.vocabulary import FeatureVocabulary

MOST_COLUMNS = 1000  # of one feature, beside the shared ones
N_SHARED = 64
NUMBER, FIRST_SHARED = -1, -2  # in the place of a code; the shared columns have -2, -3, ...

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class OneHotColumns:
    """The feature and the category (or NUMBER, or FIRST_SHARED - bucket) behind each column."""

    features: Ints
    codes: Ints

    @classmethod
    def of_numbers(cls, n_features: int) -> Self:
        return cls(np.arange(n_features), np.full(n_features, NUMBER))

    def expanded(self, batch: CheckedBatch) -> tuple[CheckedBatch, OneHotColumns]:
        """The batch with a column for each category, and what these columns stand for."""
        refuse_not_finite(batch, nan_allowed=batch.has_absent)
        values = {slot: _column(batch, slot) for slot in batch.categories.names}
        columns = self._grown(batch, values)
        names = [columns._name(batch, place) for place in range(len(columns.features))]
        X = columns._sparse_rows(batch, values) if batch.sparse else columns._dense_rows(batch, values)
        return replace(batch, X=X, features=FeatureVocabulary(names, len(names)), categorical=None), columns

    def per_feature(self, values: Floats, by: Floats, n_features: int) -> Floats:
        """For each feature the value of the column in which `by` is largest; 0 for a feature without columns."""
        order = np.lexsort((-np.arange(len(by)), by))  # the largest, and of equals the first, is written last
        result = np.zeros(n_features)
        result[self.features[order]] = values[order]
        return result

    # -- which columns there are --------------------------------------------------------------------------------

    def _grown(self, batch: CheckedBatch, values: dict[int, Floats]) -> OneHotColumns:
        """With columns for the features and categories that are new in this batch."""
        numbers = np.setdiff1d(np.arange(batch.features.n_features), np.append(self.features, list(values)))
        features, codes = [self.features, numbers], [self.codes, np.full(len(numbers), NUMBER)]
        for slot, column in values.items():
            known = self.codes[self.features == slot]
            new = np.setdiff1d(column[~np.isnan(column)].astype(np.int64), known)
            own = max(MOST_COLUMNS - np.count_nonzero(known >= 0), 0)
            shared = {_shared(batch.categories.names[slot][code]) for code in new[own:].tolist()} - set(known.tolist())
            added = np.append(new[:own], sorted(shared, reverse=True)).astype(np.int64)
            features.append(np.full(len(added), slot))
            codes.append(added)
        return OneHotColumns(np.concatenate(features), np.concatenate(codes))

    def _places(self, batch: CheckedBatch, slot: int, codes: Ints) -> Ints:
        """The column of each of these codes of a feature."""
        here = np.flatnonzero(self.features == slot)
        place_of = dict(zip(self.codes[here].tolist(), here.tolist(), strict=True))
        names = batch.categories.names[slot]
        distinct, inverse = np.unique(codes, return_inverse=True)
        places = [place_of[code] if code in place_of else place_of[_shared(names[code])] for code in distinct.tolist()]
        return np.array(places, np.int64)[inverse]

    def _name(self, batch: CheckedBatch, place: int) -> str:
        slot, code = int(self.features[place]), int(self.codes[place])
        name = batch.features.name(slot)
        if code == NUMBER:
            return name
        return f"{name}={batch.categories.names[slot][code]}" if code >= 0 else f"{name}=#{FIRST_SHARED - code}"

    # -- rows ---------------------------------------------------------------------------------------------------

    def _dense_rows(self, batch: CheckedBatch, values: dict[int, Floats]) -> NDArray[Any]:
        X = np.zeros((batch.n_rows, len(self.features)), batch.X.dtype)
        numbers = np.flatnonzero(self.codes == NUMBER)
        X[:, numbers] = batch.X[:, self.features[numbers]]
        for slot, column in values.items():
            if np.isnan(column).any():  # absent, in all rows
                X[:, self.features == slot] = np.nan
            else:
                X[np.arange(len(X)), self._places(batch, slot, column.astype(np.int64))] = 1.0
        X.flags.writeable = False
        return X

    def _sparse_rows(self, batch: CheckedBatch, values: dict[int, Floats]) -> Any:
        from scipy.sparse import csr_matrix

        given = batch.X.tocoo()
        place_of = np.full(batch.features.n_features, -1)
        numbers = np.flatnonzero(self.codes == NUMBER)
        place_of[self.features[numbers]] = numbers
        kept = place_of[given.col] >= 0
        rows, places, data = [given.row[kept]], [place_of[given.col[kept]]], [given.data[kept]]
        for slot, column in values.items():
            rows.append(np.arange(batch.n_rows))
            places.append(self._places(batch, slot, column.astype(np.int64)))
            data.append(np.ones(batch.n_rows, batch.X.dtype))
        entries = (np.concatenate(data), (np.concatenate(rows), np.concatenate(places)))
        X = csr_matrix(entries, (batch.n_rows, len(self.features)))
        X.sort_indices()
        return X

    # -- state --------------------------------------------------------------------------------------------------

    def to_arrays(self, prefix: str = "one_hot.") -> dict[str, NDArray[Any]]:
        return {f"{prefix}features": self.features.copy(), f"{prefix}codes": self.codes.copy()}

    @classmethod
    def from_arrays(
        cls, arrays: dict[str, NDArray[Any]], n_features: int, prefix: str = "one_hot."
    ) -> OneHotColumns | None:
        """The inverse of to_arrays; None where there are no such arrays."""
        features, codes = arrays.get(f"{prefix}features"), arrays.get(f"{prefix}codes")
        if features is None and codes is None:
            return None
        if (
            features is None
            or codes is None
            or not features.dtype.kind == codes.dtype.kind == "i"
            or features.shape != codes.shape
            or features.ndim != 1
            or ((features < 0) | (features >= n_features)).any()
        ):
            raise SavedStateError("The saved state has columns for categories that do not fit its features.")
        return cls(features.astype(np.int64), codes.astype(np.int64))


def _shared(name: str) -> int:
    """What stands for the shared column of a category in the place of a code."""
    return FIRST_SHARED - crc32(name.encode()) % N_SHARED


def _column(batch: CheckedBatch, slot: int) -> Floats:
    column = batch.X[:, [slot]].toarray() if batch.sparse else batch.X[:, slot]
    return np.asarray(column, np.float64).reshape(-1)
