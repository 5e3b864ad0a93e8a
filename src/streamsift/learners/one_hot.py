"""Categories for learners that know numbers only: a column of 0 and 1 for each category of a selected feature.

The rule is that of the selectors (`streamsift.core.one_hot`): a category gets its column with its first row, and beyond
1,000 categories of a feature new ones share 64 columns by a hash of their name. A category without a column is 0 in all
of them. Columns have numbers of their own, which never change, so that the learner knows which ones stay when features
or categories come and go.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.categories import Names
from streamsift.core.one_hot import MOST_COLUMNS, N_SHARED, column_places, new_columns

MOST_OF_ONE = 4096  # columns of one feature, spare ones among them
LEAST_SPARE = 16

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Indices = NDArray[np.intp]


class OneHot:
    """A learner that sees a column of 0 and 1 for each category; numbers are left as they are.

    Parameters
    ----------
    learner : a learner
        See `streamsift.learners.online.Learner`. What it can do beside learning and predicting, this can, too.
        Its features are numbers, as before, and columns of categories, whose numbers are negative.
    spare : bool, default False
        Whether there are columns of zeros for categories that are still to come: as many as make 16, 32, 64, ... For
        learners that start again when a column is added.
    most_columns, n_shared : int
        How many categories of a feature have a column of their own, and how many columns the others share.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.learners.one_hot import OneHot
    >>> from streamsift.learners.online import Perceptron
    >>> learner = OneHot(Perceptron())
    >>> learner.know_categories({0: ("north", "south", "east")})
    >>> learner.learn(np.array([[0.0], [1.0], [2.0]] * 9), np.array([1, 0, 1] * 9), np.array([0]), classes=2)
    >>> learner.predict(np.array([[0.0], [1.0], [2.0]])).tolist()
    [1, 0, 1]
    """

    def __init__(
        self, learner: Any, *, spare: bool = False, most_columns: int = MOST_COLUMNS, n_shared: int = N_SHARED
    ) -> None:
        self.learner, self._spare = learner, spare
        self._most_columns, self._n_shared = most_columns, n_shared
        self.restarts = getattr(learner, "restarts", False)
        for name in ("predict_proba", "predict_logarithms"):
            if hasattr(learner, name):
                setattr(self, name, _Expanded(self, getattr(learner, name)))
        self._names: Names = {}
        self._forget()

    def _forget(self) -> None:
        self._columns: dict[int, Codes] = {}  # what the columns of a feature stand for, in their order
        self._selected = np.empty(0, np.intp)

    @property
    def n_restarts(self) -> int:
        """How often the learner had to start again."""
        return int(getattr(self.learner, "n_restarts", 0))

    @property
    def model(self) -> Any:
        """The model of the learner as it is trained now, where it has one."""
        return self.learner.model

    def know_categories(self, names: Names) -> None:
        """The names of the categories of each categorical feature, in the order of their codes."""
        self._names = names

    def reset(self) -> None:
        self.learner.reset()
        self._forget()

    def learn(self, X: Floats, y: NDArray[Any], selected: Indices, classes: int) -> None:
        self._selected = selected
        named = self._named()
        for place in named.tolist():
            slot = int(selected[place])
            known = self._columns.get(slot, np.empty(0, np.int64))
            added = new_columns(
                known, X[:, place].astype(np.int64), self._names[slot], self._most_columns, self._n_shared
            )
            self._columns[slot] = np.append(known, added)
        self.learner.learn(self.expanded(X), y, self._numbers_of_columns(selected, named), classes)

    def predict(self, X: Floats) -> NDArray[Any]:
        """Class codes or numbers, from columns as they come."""
        return np.asarray(self.learner.predict(self.expanded(X)))

    def expanded(self, X: Floats) -> Floats:
        """The columns as the learner sees them: numbers first, then the categories of each feature."""
        named = self._named()
        if not len(named):
            return X
        parts = [np.delete(X, named, axis=1)]
        rows = np.arange(len(X))
        for place in named.tolist():
            slot = int(self._selected[place])
            found = column_places(self._columns[slot], X[:, place].astype(np.int64), self._names[slot], self._n_shared)
            columns = np.zeros((len(X), self._width(slot)))
            columns[rows[found >= 0], found[found >= 0]] = 1.0
            parts.append(columns)
        return np.hstack(parts)

    def _named(self) -> Indices:
        """Which of the selected columns are categories."""
        if not self._names:
            return np.empty(0, np.intp)
        return np.flatnonzero(np.isin(self._selected, list(self._names)))

    def _numbers_of_columns(self, selected: Indices, named: Indices) -> Indices:
        if not len(named):
            return selected
        slots = selected[named].tolist()
        own = [-1 - slot * MOST_OF_ONE - np.arange(self._width(slot)) for slot in slots]
        return np.concatenate([np.delete(selected, named), *own])

    def _width(self, slot: int) -> int:
        n_columns = len(self._columns[slot])
        return max(LEAST_SPARE, 1 << (n_columns - 1).bit_length()) if self._spare else n_columns


class _Expanded:
    """A way of predicting, of columns as they come."""

    def __init__(self, owner: OneHot, predict: Any) -> None:
        self._owner, self._predict = owner, predict

    def __call__(self, X: Floats) -> Floats:
        return np.asarray(self._predict(self._owner.expanded(X)), np.float64)
