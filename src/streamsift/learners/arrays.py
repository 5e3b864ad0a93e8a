"""What trees and boosting keep of each feature in arrays, and the learner that gives them their rows.

A row is a `Row`: the values of the features that are selected now. A feature has a place of its own from the first row
on in which it is selected; what was made before gets the place when it meets such a row (`Observed.in_space`). A model
that has `learn_rows` and `predict_rows` is given the rows of a batch together, a `RowBatch`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.categories import Names
from streamsift.kernels.hoeffding import EMPTY, FIRST_CELL, N_VALUES, NUMERIC
from streamsift.learners.river_models import River
from streamsift.learners.whole_rows import refuse_not_finite

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Indices = NDArray[np.intp]

MOST_CODES = 10_000_000  # of a feature: each has a cell in every leaf
NOTHING = np.array(EMPTY)[:, None, None]  # the moments of a leaf before the first row
SPARE = 2  # how many times the cells of a category grow when a new value needs one


@dataclass(frozen=True)
class Space:
    """The features met so far, in the order of their places, what they are, and how many classes there are."""

    features: tuple[int, ...]
    columns: NDArray[np.int64]  # (2, features): the first cell and the number of values; see kernels/hoeffding.py
    n_classes: int

    @cached_property
    def n_values(self) -> dict[int, int]:
        """The number of cells of each feature; 0 for numbers."""
        return dict(zip(self.features, self.columns[N_VALUES].tolist(), strict=True))

    @cached_property
    def places(self) -> dict[int, int]:
        """The place of each feature."""
        return {feature: place for place, feature in enumerate(self.features)}

    @cached_property
    def bytes_per_leaf(self) -> int:
        """Memory of what a leaf has seen."""
        n_numbers = len(EMPTY) * len(self.features) + int(self.columns[N_VALUES].sum())
        return np.dtype(np.float64).itemsize * self.n_classes * n_numbers

    def grown(self, features: list[int], n_values: dict[int, int], n_classes: int) -> Space:
        """The same with more features, of which those in `n_values` are categories, values or classes."""
        known = tuple(dict.fromkeys((*self.features, *features)))
        needed = {**self.n_values, **n_values}
        counts = np.array([needed.get(feature, 0) for feature in known], np.int64)
        first = np.where(counts > 0, np.cumsum(counts) - counts, NUMERIC)
        return Space(known, np.stack([first, counts]), n_classes)


@dataclass(frozen=True)
class Row:
    """The values of a row, and the places of its features in a space."""

    values: Floats
    places: NDArray[np.int64]
    space: Space


@dataclass(frozen=True)
class RowBatch:
    """The rows of a batch, which all have the same features."""

    values: Floats  # two axes
    places: NDArray[np.int64]
    space: Space

    def __iter__(self) -> Iterator[Row]:
        return (Row(values, self.places, self.space) for values in self.values)


class Observed:
    """What a model has seen of each class, in the places of a space; see kernels/hoeffding.py.

    With `n_slots`, that is what each of so many leaves has seen, and the arrays have an axis more, in front.
    """

    __slots__ = ("cells", "moments", "space")

    def __init__(self, space: Space, n_slots: int | None = None) -> None:
        n_columns, n_cells = len(space.features), int(space.columns[N_VALUES].sum())
        slots = () if n_slots is None else (n_slots,)
        self.space = space
        self.moments = np.empty((*slots, len(EMPTY), space.n_classes, n_columns))
        self.moments[:] = NOTHING
        self.cells = np.zeros((*slots, space.n_classes, n_cells))

    def in_space(self, space: Space) -> Observed:
        """The same in a larger space."""
        if space is self.space:
            return self
        *slots, _, n_classes, n_columns = self.moments.shape
        new = Observed(space, *slots)
        new.moments[..., :n_classes, :n_columns] = self.moments
        for column, (first, n_values) in enumerate(self.space.columns.T):
            if first != NUMERIC:
                to = space.columns[FIRST_CELL, column]
                new.cells[..., :n_classes, to : to + n_values] = self.cells[..., first : first + n_values]
        return new

    def with_slots(self, n_slots: int) -> Observed:
        """The same with more slots."""
        new = Observed(self.space, n_slots)
        new.moments[: len(self.moments)], new.cells[: len(self.cells)] = self.moments, self.cells
        return new

    def chosen(self, slots: NDArray[np.int64]) -> Observed:
        """Some of the slots alone."""
        new = Observed(self.space, 0)
        new.moments, new.cells = self.moments[slots], self.cells[slots]
        return new

    def clear(self, slot: int) -> None:
        """Forget what a leaf has seen."""
        self.moments[slot], self.cells[slot] = NOTHING, 0.0


class ArrayLearner(River):
    """A model of arrays, made by `make`; the features in `nominal` are codes of categories."""

    def __init__(self, make: Callable[[], Any], nominal: frozenset[int] = frozenset()) -> None:
        self._nominal = nominal
        super().__init__(make)

    def reset(self) -> None:
        super().reset()
        self._space = Space((), np.empty((2, 0), np.int64), 0)

    def learn(self, X: Floats, y: Codes, selected: Indices, classes: int) -> None:
        chosen = selected.tolist()
        _refuse_bad_labels(y, len(X))
        self._refuse_bad_values(X, chosen)
        self._selected, self._classes = chosen, classes
        self._grow(X, max(classes, int(y.max(initial=0)) + 1))
        rows = self._rows(X)
        if hasattr(self._model, "learn_rows"):
            self._model.learn_rows(rows, y)
            return
        for row, label in zip(rows, y.tolist(), strict=True):
            self._model.learn_one(row, label)

    def predict_proba(self, X: Floats) -> Floats:
        self._refuse_bad_values(X, self._selected)
        return super().predict_proba(X)

    def _predicted(self, X: Floats) -> Floats:
        if not hasattr(self._model, "predict_rows"):
            return super()._predicted(X)
        found = np.zeros((len(X), max(self._classes, self._space.n_classes)))
        self._model.predict_rows(self._rows(X), found)
        return found[:, : self._classes]

    def _refuse_bad_values(self, X: Floats, selected: list[int]) -> None:
        """Kernels trust what they are given: a code is where they read and write."""
        refuse_not_finite(X)
        codes = X[:, self._are_categories(selected)]
        if ((codes < 0) | (codes >= MOST_CODES)).any():
            raise ValueError(f"A selected column holds codes of categories below 0, or of {MOST_CODES:,} and more.")

    def _are_categories(self, features: list[int]) -> list[bool]:
        """Which features are codes; one that was so once has cells, and stays so."""
        known = self._space.n_values
        return [feature in self._nominal or known.get(feature, 0) > 0 for feature in features]

    def _grow(self, X: Floats, classes: int) -> None:
        """Make room for what these rows bring."""
        space = self._space
        known, needed = space.n_values, {}
        highest = X.max(axis=0, initial=0.0).tolist()
        for feature, value, is_category in zip(
            self._selected, highest, self._are_categories(self._selected), strict=True
        ):
            if is_category and value >= known.get(feature, 0):
                needed[feature] = max(int(value) + 1, SPARE * known.get(feature, 0))
        if needed or classes > space.n_classes or not known.keys() >= set(self._selected):
            self._space = space.grown(self._selected, needed, max(classes, space.n_classes))

    def _rows(self, X: Floats) -> RowBatch:
        place = self._space.places
        places = np.array([place[feature] for feature in self._selected], np.int64)
        return RowBatch(np.require(X, np.float64, ["C", "W"]), places, self._space)  # kernels are compiled for these


def _refuse_bad_labels(y: Codes, n_rows: int) -> None:
    """Kernels trust what they are given: a label is where they write."""
    if len(y) != n_rows:
        raise ValueError(f"There are {n_rows:,} rows, but {len(y):,} labels.")
    if y.dtype.kind not in "iu" or (y < 0).any():
        raise ValueError("Labels must be class codes: whole numbers, 0 or more.")


class ArrayLearnerOfCategories(ArrayLearner):
    """The same, told by the run which features are categories."""

    def know_categories(self, names: Names) -> None:
        """The names of the categories of each categorical feature; their codes are all that it needs."""
        self._nominal = frozenset(names)
