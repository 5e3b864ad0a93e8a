"""What a judged run does with its targets: classes or numbers, predicted by a model and learnt by it.

While no feature is selected, the most frequent class so far is predicted, with the shares of the classes so far as its
probabilities; or, of numbers, their mean so far.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch
from streamsift.core.exceptions import InputError
from streamsift.core.limits import LARGEST, beyond
from streamsift.core.vocabulary import LabelVocabulary
from streamsift.evaluate.judges import Predictions
from streamsift.learners.online import Learner, teach
from streamsift.streams.labels import as_numbers

MOST_UNCOUNTED = 100  # steps whose labels wait to be counted

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Indices = NDArray[np.intp]


class Targets(Protocol):
    """The targets of a run, and the model that predicts them."""

    def encode(self, batch: Batch, first_row: int) -> NDArray[Any]:
        """The targets of a batch, as the model is to learn them."""
        ...

    def test(self, y: NDArray[Any], X: Floats) -> Predictions:
        """Predict rows from their selected columns."""
        ...

    def test_without_features(self, y: NDArray[Any]) -> Predictions:
        """Predict rows of which no column is selected."""
        ...

    def learn(self, y: NDArray[Any]) -> None:
        """Take note of targets that have come."""
        ...

    def teach(self, rows: Any, y: NDArray[Any], selected: Indices, *, late: bool) -> None:
        """Let the model learn rows; `late` says that some targets have not come yet."""
        ...


class ClassTargets:
    """Labels as class codes, in the order of their appearance."""

    def __init__(self, model: Learner) -> None:
        self._model = model
        # Probabilities follow from their logarithms, and cost less where those of many steps are computed at once.
        self._gives_logarithms = hasattr(model, "predict_logarithms")
        self._knows_shares = self._gives_logarithms or hasattr(model, "predict_proba")
        ways = ("predict_logarithms", "predict_proba", "predict")
        self._predict = getattr(model, next(way for way in ways if hasattr(model, way)))
        self._labels = LabelVocabulary()  # of all rows
        self._learnt = _ClassShares()

    def encode(self, batch: Batch, first_row: int) -> Codes:
        try:
            codes, self._labels = self._labels.encode(batch.y, first_row)
        except InputError as error:
            raise InputError(f"In the batch that begins with row {first_row}: {error}") from error
        return codes

    def test(self, y: Codes, X: Floats) -> Predictions:
        return Predictions(y, self._predict(X), self._gives_logarithms)

    def test_without_features(self, y: Codes) -> Predictions:
        share = self._learnt.shares()
        if not self._knows_shares:
            return Predictions(y, np.full(len(y), np.argmax(share)))
        return Predictions(y, np.tile(share, (len(y), 1)))

    def learn(self, y: Codes) -> None:
        self._learnt.add(y)

    def teach(self, rows: Any, y: Codes, selected: Indices, *, late: bool) -> None:
        # Codes are given in the order of appearance: all are learnt, or the first ones where labels come late.
        teach(self._model, rows, y, selected, self._learnt.n_classes() if late else len(self._labels))


class _ClassShares:
    """How frequent each class was among the rows learnt; counted when somebody asks, for hardly anybody does."""

    def __init__(self) -> None:
        self._counts = np.zeros(0, np.int64)
        self._uncounted: list[Codes] = []

    def add(self, codes: Codes) -> None:
        self._uncounted.append(codes)
        if len(self._uncounted) == MOST_UNCOUNTED:
            self._count()

    def shares(self) -> Floats:
        self._count()
        return np.asarray(self._counts / self._counts.sum())

    def n_classes(self) -> int:
        self._count()
        return len(self._counts)

    def _count(self) -> None:
        if self._uncounted:
            counts = np.bincount(np.concatenate(self._uncounted), minlength=len(self._counts))
            counts[: len(self._counts)] += self._counts
            self._counts, self._uncounted = counts, []


class NumberTargets:
    """Numbers as they are."""

    def __init__(self, model: Learner) -> None:
        self._model = model
        self._n_rows, self._mean = 0, 0.0

    def encode(self, batch: Batch, first_row: int) -> Floats:
        y = as_numbers(np.asarray(batch.y), "label", first_row, batch.lines)
        bad = beyond(y)
        if bad.any():
            row = int(np.argmax(bad))
            where = f"Row {first_row + row}" if batch.lines is None else f"Line {batch.lines[row]}"
            raise InputError(
                f"{where} has the target {y[row]}: predictions are compared with finite numbers up to {LARGEST:g}, so "
                "correct it or leave the row out."
            )
        return y

    def test(self, y: Floats, X: Floats) -> Predictions:
        predicted = np.asarray(self._model.predict(X), np.float64)
        if not np.isfinite(predicted).all():
            raise InputError(
                f"The model predicts {predicted[~np.isfinite(predicted)][0]}, which is no number: its weights have "
                "grown beyond all bounds, so give it columns of one size (scale='standard' does, for a model by name)."
            )
        return Predictions(y, predicted)

    def test_without_features(self, y: Floats) -> Predictions:
        return Predictions(y, np.full(len(y), self._mean))

    def learn(self, y: Floats) -> None:
        self._n_rows += len(y)
        self._mean += float((y - self._mean).sum()) / self._n_rows if len(y) else 0.0

    def teach(self, rows: Any, y: Floats, selected: Indices, *, late: bool) -> None:
        teach(self._model, rows, y, selected, 0)
