"""Models of river as learners: each row is a dict of the selected features, and features may come and go."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.categories import Names

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Indices = NDArray[np.intp]

# What may stand at the beginning of a pipeline that takes words for values.
TAKE_WORDS = frozenset({"OneHotEncoder", "OrdinalEncoder", "TargetAgg", "FeatureHasher", "SelectType"})


def takes_words(model: Any) -> bool:
    """Whether a model of river takes nominal values as words: a tree, a forest, or what begins with an encoder."""
    if hasattr(model, "nominal_attributes") or type(model).__name__ in TAKE_WORDS:
        return True
    if hasattr(model, "steps"):  # a pipeline
        return takes_words(next(iter(model.steps.values())))
    if hasattr(model, "transformers"):  # side by side
        return all(takes_words(one) for one in model.transformers.values())
    return hasattr(model, "model") and takes_words(model.model)  # bagging, boosting


class River:
    """A classifier of river over numbers, made by `make`."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self.reset()

    def reset(self) -> None:
        self._model = self._make()
        self._selected: list[int] = []
        self._classes = 0

    def learn(self, X: Floats, y: Codes, selected: Indices, classes: int) -> None:
        self._selected, self._classes = selected.tolist(), classes
        for row, label in zip(self._rows(X), y.tolist(), strict=True):
            self._model.learn_one(row, label)

    def predict(self, X: Floats) -> Codes:
        return np.asarray(self.predict_proba(X).argmax(axis=1), np.int64)

    def predict_proba(self, X: Floats) -> Floats:
        found = self._predicted(X)
        found[found.sum(axis=1) == 0.0] = 1.0  # a model that has nothing to say
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def _predicted(self, X: Floats) -> Floats:
        """What the model says of each class; its probabilities need not add up to 1."""
        found = np.zeros((len(X), self._classes))
        for place, row in enumerate(self._rows(X)):
            for label, share in self._shares(row).items():
                if int(label) < self._classes:  # a model for two classes names both before it has met the second
                    found[place, int(label)] = share
        return found

    @property
    def model(self) -> Any:
        """The model as it is trained now. Its features are numbers, its classes codes."""
        return self._model

    def _shares(self, row: Any) -> dict[Any, float]:
        try:
            return dict(self._model.predict_proba_one(row))
        except NotImplementedError:  # it only names a class
            label = self._model.predict_one(row)
            return {} if label is None else {label: 1.0}

    def _rows(self, X: Floats) -> Iterable[Any]:
        """Rows as the model takes them."""
        return (_named_row(self._selected, row, {}) for row in X.tolist())


class RiverOfWords(River):
    """A classifier of river that gets categories by name; numbers stay numbers."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._names: Names = {}
        super().__init__(make)

    def know_categories(self, names: Names) -> None:
        """The names of the categories of each categorical feature, in the order of their codes."""
        self._names = names

    def _rows(self, X: Floats) -> Iterable[Any]:
        return (_named_row(self._selected, row, self._names) for row in X.tolist())


class RiverNumbers:
    """A regressor of river, made by `make`; with `words` it gets categories by name.

    Where the model has nothing to say, or says what is no number, it predicts the mean so far.
    """

    def __init__(self, make: Callable[[], Any], *, words: bool = False) -> None:
        self._make = make
        self._names: Names = {}
        if words:
            self.know_categories = self._know_categories
        self.reset()

    def _know_categories(self, names: Names) -> None:
        self._names = names

    def reset(self) -> None:
        self._model = self._make()
        self._selected: list[int] = []
        self._n_rows, self._mean = 0, 0.0

    def learn(self, X: Floats, y: Floats, selected: Indices, classes: int) -> None:
        self._selected = selected.tolist()
        for row, number in zip(X.tolist(), y.tolist(), strict=True):
            self._model.learn_one(_named_row(self._selected, row, self._names), number)
            self._n_rows += 1
            self._mean += (number - self._mean) / self._n_rows

    def predict(self, X: Floats) -> Floats:
        found = [self._model.predict_one(_named_row(self._selected, row, self._names)) for row in X.tolist()]
        numbers = np.array([self._mean if number is None else number for number in found], np.float64)
        return np.where(np.isfinite(numbers), numbers, self._mean)

    @property
    def model(self) -> Any:
        """The model as it is trained now. Its features are numbers."""
        return self._model


def _named_row(selected: list[int], row: list[float], names: Names) -> dict[int, Any]:
    """A row as river takes it; the codes of categories that have names are replaced by them."""
    if not names:
        return dict(zip(selected, row, strict=True))
    return {
        feature: names[feature][int(value)] if feature in names else value
        for feature, value in zip(selected, row, strict=True)
    }
