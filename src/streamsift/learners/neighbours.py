"""The nearest of the last 500 rows, which are kept whole: another selection only changes which columns are compared.

Columns are compared after they were standardised by the rows of the window, unless `scale` is "none". Memory is that of
up to 1,000 whole rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

from streamsift.learners.whole_rows import columns_of, refuse_not_finite, spread

N_NEIGHBOURS, WINDOW = 5, 500

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Indices = NDArray[np.intp]


class Neighbours:
    """The nearest of the last 500 rows."""

    def __init__(self, scale: str = "standard") -> None:
        self.scale = scale
        self.reset()

    def reset(self) -> None:
        self._rows: list[Any] = []  # batches of whole rows, the last of which make the window
        self._labels: list[Codes] = []
        self._selected = np.empty(0, np.intp)
        self._classes = 0
        self._model: Any = None
        self._centre, self._spread = np.empty(0), np.empty(0)

    def learn(self, X: Floats, y: Codes, selected: Indices, classes: int) -> None:
        self.learn_rows(spread(X, selected), y, selected, classes)

    def learn_rows(self, rows: Any, y: Codes, selected: Indices, classes: int) -> None:
        refuse_not_finite(columns_of(rows, selected))
        self._rows.append(rows[-WINDOW:].copy())
        self._labels.append(y[-WINDOW:].copy())
        while sum(map(len, self._labels[1:])) >= WINDOW:
            del self._rows[0], self._labels[0]
        self._selected, self._classes = selected, max(classes, self._classes)
        self._model = None  # the search structure is built when it is asked for

    def predict(self, X: Floats) -> Codes:
        return np.asarray(self.predict_proba(X).argmax(axis=1), np.int64)

    def predict_proba(self, X: Floats) -> Floats:
        refuse_not_finite(X)
        found = np.zeros((len(X), self._classes))
        if self._model is None and not self._build():  # no row of the window knows all selected columns
            labels = np.concatenate(self._labels)[-WINDOW:]
            return found + np.bincount(labels, minlength=self._classes) / len(labels)
        # Some classes may have left the window.
        found[:, self._model.classes_] = self._model.predict_proba((X - self._centre) / self._spread)
        return found

    def _build(self) -> bool:
        window = np.concatenate([self._known_columns(rows) for rows in self._rows])[-WINDOW:]
        labels = np.concatenate(self._labels)[-WINDOW:]
        known = np.isfinite(window).all(axis=1)
        if not known.any():
            return False
        if not known.all():
            window, labels = window[known], labels[known]
        width = window.shape[1]
        self._centre, self._spread = np.zeros(width), np.ones(width)
        if self.scale == "standard":
            deviation = window.std(axis=0)
            self._centre, self._spread = window.mean(axis=0), np.where(deviation > 0.0, deviation, 1.0)
        self._model = KNeighborsClassifier(min(N_NEIGHBOURS, len(window)))
        self._model.fit((window - self._centre) / self._spread, labels)
        return True

    def _known_columns(self, rows: Any) -> Floats:
        """The selected columns of rows of the window; NaN where a row came before its feature, 0 in sparse rows."""
        width = rows.shape[1]
        if len(self._selected) == 0 or self._selected.max() < width:
            return columns_of(rows, self._selected)
        found = np.full((rows.shape[0], len(self._selected)), np.nan if isinstance(rows, np.ndarray) else 0.0)
        there = self._selected < width
        found[:, there] = columns_of(rows, self._selected[there])
        return found
