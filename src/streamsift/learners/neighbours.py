"""The nearest of the last 500 rows, which are kept whole: another selection only changes which columns are compared.

Numbers are compared after they were standardised by the rows of the window, unless `scale` is "none". Two categories
have the distance 0 if they are the same, and 1 if not. Memory is that of up to 1,000 whole rows. Of numbers to predict,
the mean of the nearest rows is taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from streamsift.core.categories import Names
from streamsift.learners.whole_rows import columns_of, known_columns, refuse_not_finite, spread

N_NEIGHBOURS, WINDOW = 5, 500

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


class _Window:
    """The last 500 rows, and a search for the nearest of them."""

    def __init__(self, scale: str = "standard") -> None:
        self.scale = scale
        self._names: Names = {}
        self.reset()

    def know_categories(self, names: Names) -> None:
        """The names of the categories of each categorical feature, in the order of their codes."""
        self._names = names

    def reset(self) -> None:
        self._rows: list[Any] = []  # batches of whole rows, the last of which make the window
        self._labels: list[NDArray[Any]] = []
        self._selected = np.empty(0, np.intp)
        self._classes = 0
        self._model: Any = None
        self._centre, self._spread = np.empty(0), np.empty(0)
        self._numbers = np.empty(0, np.intp)  # places of numbers in the selection
        self._values: dict[int, Floats] = {}  # by place in the selection: the categories in the window

    def learn(self, X: Floats, y: NDArray[Any], selected: Indices, classes: int) -> None:
        self.learn_rows(spread(X, selected), y, selected, classes)

    def learn_rows(self, rows: Any, y: NDArray[Any], selected: Indices, classes: int) -> None:
        refuse_not_finite(columns_of(rows, selected))
        self._rows.append(rows[-WINDOW:].copy())
        self._labels.append(y[-WINDOW:].copy())
        while sum(map(len, self._labels[1:])) >= WINDOW:
            del self._rows[0], self._labels[0]
        self._selected, self._classes = selected, max(classes, self._classes)
        self._model = None  # the search structure is built when it is asked for

    def _build(self) -> bool:
        window = np.concatenate([known_columns(rows, self._selected) for rows in self._rows])[-WINDOW:]
        labels = np.concatenate(self._labels)[-WINDOW:]
        known = np.isfinite(window).all(axis=1)
        if not known.any():
            return False
        if not known.all():
            window, labels = window[known], labels[known]
        named = np.isin(self._selected, list(self._names)) if self._names else np.zeros(window.shape[1], bool)
        self._numbers = np.flatnonzero(~named)
        self._values = {int(place): np.unique(window[:, place]) for place in np.flatnonzero(named)}
        width = len(self._numbers)
        self._centre, self._spread = np.zeros(width), np.ones(width)
        if self.scale == "standard":
            numbers = window[:, self._numbers]
            deviation = numbers.std(axis=0)
            self._centre, self._spread = numbers.mean(axis=0), np.where(deviation > 0.0, deviation, 1.0)
        self._model = self._search(min(N_NEIGHBOURS, len(window)))
        self._model.fit(self._comparable(window), labels)
        return True

    def _search(self, n_neighbours: int) -> Any:
        raise NotImplementedError

    def _comparable(self, X: Floats) -> Floats:
        """Columns whose Euclidean distances are ours, up to what is the same for all rows of the window.

        Of a category these are a column for each value in the window, 0 or the root of 1/2: two different ones are 1
        apart. One that is not in the window is equally far from all of them.
        """
        if not self._values:
            return np.asarray((X - self._centre) / self._spread)
        parts = [(X[:, self._numbers] - self._centre) / self._spread]
        parts += [np.sqrt(0.5) * np.equal(X[:, [place]], values) for place, values in self._values.items()]
        return np.hstack(parts)


class Neighbours(_Window):
    """The classes of the nearest of the last 500 rows."""

    def predict(self, X: Floats) -> NDArray[Any]:
        return np.asarray(self.predict_proba(X).argmax(axis=1), np.int64)

    def predict_proba(self, X: Floats) -> Floats:
        refuse_not_finite(X)
        found = np.zeros((len(X), self._classes))
        if self._model is None and not self._build():  # no row of the window knows all selected columns
            labels = np.concatenate(self._labels)[-WINDOW:]
            return found + np.bincount(labels, minlength=self._classes) / len(labels)
        # Some classes may have left the window.
        found[:, self._model.classes_] = self._model.predict_proba(self._comparable(X))
        return found

    def _search(self, n_neighbours: int) -> Any:
        return KNeighborsClassifier(n_neighbours)


class NeighbourMeans(_Window):
    """The mean number of the nearest of the last 500 rows."""

    def predict(self, X: Floats) -> NDArray[Any]:
        refuse_not_finite(X)
        if self._model is None and not self._build():  # no row of the window knows all selected columns
            return np.full(len(X), np.concatenate(self._labels)[-WINDOW:].mean())
        return np.asarray(self._model.predict(self._comparable(X)), np.float64)

    def _search(self, n_neighbours: int) -> Any:
        return KNeighborsRegressor(n_neighbours)
