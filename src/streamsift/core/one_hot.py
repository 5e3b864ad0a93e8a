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
from streamsift.core.categories import CategoryVocabulary, Mapped
from streamsift.core.exceptions import MergeError, SavedStateError
from streamsift.core.vocabulary import FeatureVocabulary

MOST_COLUMNS = 1000  # of one feature, beside the shared ones
N_SHARED = 64
NUMBER, FIRST_SHARED = -1, -2  # in the place of a code; the shared columns have -2, -3, ...

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class OneHotColumns:
    """The feature and the category (or NUMBER, or FIRST_SHARED - bucket) behind each column.

    most_columns: of one feature, beside the shared ones, of which there are n_shared.
    """

    features: Ints
    codes: Ints
    most_columns: int = MOST_COLUMNS
    n_shared: int = N_SHARED

    @classmethod
    def of_numbers(cls, n_features: int, most_columns: int = MOST_COLUMNS, n_shared: int = N_SHARED) -> Self:
        return cls(np.arange(n_features), np.full(n_features, NUMBER), most_columns, n_shared)

    def expanded(
        self, batch: CheckedBatch, *, missing: bool = False, gaps: bool = False
    ) -> tuple[CheckedBatch, OneHotColumns]:
        """The batch with a column for each category, and what these columns stand for.

        Its `categorical` marks the columns of categories: a new one was 0 before, and not missing. Where values may be
        `missing`, a missing category is none of them: 0 in all columns, those to come among them. With `gaps` it is NaN
        in the columns there are, and only categories of features that have had one are marked: before its first
        category a feature was missing.
        """
        refuse_not_finite(batch, nan_allowed=batch.has_absent or (missing and not (gaps and batch.sparse)))
        values = {slot: _column(batch, slot) for slot in batch.categories.names}
        columns = self._grown(batch, values)
        names = [columns.name(place, batch.features, batch.categories) for place in range(len(columns.features))]
        X = columns._sparse_rows(batch, values) if batch.sparse else columns._dense_rows(batch, values, gaps=gaps)
        vocabulary = FeatureVocabulary(names, len(names))
        marked = columns.codes != NUMBER
        if gaps:
            marked &= np.isin(columns.features, self.features[self.codes != NUMBER])
        return replace(batch, X=X, features=vocabulary, categorical=marked), columns

    def per_feature(self, values: Floats, by: Floats, n_features: int) -> Floats:
        """For each feature the value of the column in which `by` is largest; 0 for a feature without columns."""
        order = np.lexsort((-np.arange(len(by)), by))  # the largest, and of equals the first, is written last
        result = np.zeros(n_features)
        result[self.features[order]] = values[order]
        return result

    def of(self, feature: int) -> list[int]:
        """The columns of a feature."""
        return np.flatnonzero(self.features == feature).tolist()

    def with_those_of(self, other: OneHotColumns, mapped: Mapped) -> tuple[OneHotColumns, Ints]:
        """The columns of both, ours first, and the places of the others among them.

        `mapped` has our codes for those of the other. Where categories share columns, which ones do depends on the
        order of the rows: that is refused.
        """
        codes = other.codes.copy()
        for slot, new in mapped.items():
            here = (other.features == slot) & (codes >= 0)
            codes[here] = np.asarray(new)[codes[here]]
        place_of = {
            key: place for place, key in enumerate(zip(self.features.tolist(), self.codes.tolist(), strict=True))
        }
        keys = list(zip(other.features.tolist(), codes.tolist(), strict=True))
        for key in keys:
            place_of.setdefault(key, len(place_of))
        features, union = np.array(list(place_of), np.int64).reshape(-1, 2).T
        per_feature = np.bincount(features[union >= 0], minlength=1)
        if (union <= FIRST_SHARED).any() or per_feature.max() > self.most_columns:
            raise MergeError(
                f"Cannot merge: a column has more than {self.most_columns:,} categories, and which of them share a "
                "column depends on the order of the rows; leave it out, or feed one selector with all rows."
            )
        return replace(self, features=features, codes=union), np.array([place_of[key] for key in keys], np.int64)

    # -- which columns there are --------------------------------------------------------------------------------

    def _grown(self, batch: CheckedBatch, values: dict[int, Floats]) -> OneHotColumns:
        """With columns for the features and categories that are new in this batch."""
        numbers = np.setdiff1d(np.arange(batch.features.n_features), np.append(self.features, list(values)))
        features, codes = [self.features, numbers], [self.codes, np.full(len(numbers), NUMBER)]
        for slot, column in values.items():
            given = column[~np.isnan(column)].astype(np.int64)
            added = new_columns(
                self.codes[self.features == slot], given, batch.categories.names[slot], self.most_columns, self.n_shared
            )
            features.append(np.full(len(added), slot))
            codes.append(added)
        return replace(self, features=np.concatenate(features), codes=np.concatenate(codes))

    def _places(self, batch: CheckedBatch, slot: int, codes: Ints) -> Ints:
        """The column of each of these codes of a feature."""
        here = np.flatnonzero(self.features == slot)
        return here[column_places(self.codes[here], codes, batch.categories.names[slot], self.n_shared)]

    def name(self, place: int, features: FeatureVocabulary, categories: CategoryVocabulary) -> str:
        """What a column is called: its feature and, behind "=", its category."""
        slot, code = int(self.features[place]), int(self.codes[place])
        name = features.name(slot)
        if code == NUMBER:
            return name
        return f"{name}={categories.names[slot][code]}" if code >= 0 else f"{name}=#{FIRST_SHARED - code}"

    # -- rows ---------------------------------------------------------------------------------------------------

    def _dense_rows(self, batch: CheckedBatch, values: dict[int, Floats], *, gaps: bool) -> NDArray[Any]:
        X = np.zeros((batch.n_rows, len(self.features)), batch.X.dtype)
        numbers = np.flatnonzero(self.codes == NUMBER)
        X[:, numbers] = batch.X[:, self.features[numbers]]
        for slot, column in values.items():
            given = np.flatnonzero(~np.isnan(column))
            if batch.has_absent and not len(given):  # not in this batch
                X[:, self.features == slot] = np.nan
                continue
            if gaps and len(given) < len(column):
                X[np.ix_(np.isnan(column), self.features == slot)] = np.nan
            X[given, self._places(batch, slot, column[given].astype(np.int64))] = 1.0
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
            present = np.flatnonzero(~np.isnan(column))
            rows.append(present)
            places.append(self._places(batch, slot, column[present].astype(np.int64)))
            data.append(np.ones(len(present), batch.X.dtype))
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


def new_columns(
    known: Ints, codes: Ints, names: tuple[str, ...], most_columns: int = MOST_COLUMNS, n_shared: int = N_SHARED
) -> Ints:
    """What a feature's new columns stand for, where it has the columns `known` and meets these codes.

    >>> new_columns(np.array([2]), np.array([2, 0, 2, 1]), ("red", "green", "blue")).tolist()
    [0, 1]
    """
    new = np.setdiff1d(codes, known)
    own = max(most_columns - np.count_nonzero(known >= 0), 0)
    shared = {_shared(names[code], n_shared) for code in new[own:].tolist()} - set(known.tolist())
    return np.append(new[:own], sorted(shared, reverse=True)).astype(np.int64)


def column_places(known: Ints, codes: Ints, names: tuple[str, ...], n_shared: int = N_SHARED) -> Ints:
    """For each code the place of its column among those of its feature; -1 where it has none.

    >>> column_places(np.array([2, 0]), np.array([0, 0, 2, 1]), ("red", "green", "blue")).tolist()
    [1, 1, 0, -1]
    """
    place_of = dict(zip(known.tolist(), range(len(known)), strict=True))
    distinct, inverse = np.unique(codes, return_inverse=True)
    places = [
        place_of[code] if code in place_of else place_of.get(_shared(names[code], n_shared), -1)
        for code in distinct.tolist()
    ]
    return np.array(places, np.int64)[inverse]


def _shared(name: str, n_shared: int) -> int:
    """What stands for the shared column of a category in the place of a code."""
    return FIRST_SHARED - crc32(name.encode()) % n_shared


def _column(batch: CheckedBatch, slot: int) -> Floats:
    column = batch.X[:, [slot]].toarray() if batch.sparse else batch.X[:, slot]
    return np.asarray(column, np.float64).reshape(-1)
