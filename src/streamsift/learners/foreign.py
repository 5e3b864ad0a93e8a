"""Learners of other packages for prequential runs: anything of scikit-learn with `partial_fit`, anything of river.

A copy of the given model is trained, never the model itself.

- A model of river gets each row as a dict of the selected features. When the selection changes it goes on: it simply
  meets features that come and go.
- A linear model of scikit-learn that is trained by stochastic gradient steps (SGDClassifier, Perceptron and their
  like) keeps the weights of the features that stay; new features start with weight 0.
- Every other model of scikit-learn starts again when the selection changes or a class is new, because its parameters
  belong to the columns it began with. `n_restarts` counts how often that happened.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from streamsift.core.exceptions import ParameterError
from streamsift.learners.online import Learner, make_learner

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Indices = NDArray[np.intp]


def as_learner(model: Any, scale: str = "standard") -> Learner:
    """Return a learner for whatever a user has: a name, a learner, or a model of scikit-learn or river.

    Parameters
    ----------
    model : str, Learner, or a classifier with `partial_fit` or `learn_one`
        Names are those of `streamsift.learners.online`.
    scale : {"standard", "none"}, default "standard"
        Whether learners given by name that need it see standardised columns; a model of another package sees the
        columns as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import SGDClassifier
    >>> from streamsift.learners.foreign import as_learner
    >>> learner = as_learner(SGDClassifier(loss="log_loss", random_state=0))
    >>> learner.learn(np.array([[-1.0], [1.0], [-2.0], [2.0]]), np.array([0, 1, 0, 1]), np.array([7]), classes=2)
    >>> learner.predict(np.array([[-3.0], [3.0]])).tolist()
    [0, 1]
    """
    if isinstance(model, str):
        return make_learner(model, scale)
    if isinstance(model, type):
        raise ParameterError(f"The model is the class {model.__name__}: give an object, {model.__name__}().")
    if all(hasattr(model, name) for name in ("learn", "predict", "reset")):
        return model  # type: ignore[no-any-return]
    if hasattr(model, "learn_one") and hasattr(model, "predict_one"):
        return RiverModel(model)
    if hasattr(model, "partial_fit") and hasattr(model, "predict"):
        return SklearnProbabilities(model) if hasattr(model, "predict_proba") else SklearnModel(model)
    raise ParameterError(
        f"The model {type(model).__name__} cannot learn batch by batch: give one with partial_fit (scikit-learn), with "
        "learn_one (river), or the name of a learner."
    )


class SklearnModel:
    """A classifier of scikit-learn; see the module docstring for what a changed selection means."""

    def __init__(self, model: Any) -> None:
        self._given = model
        self.n_restarts = -1  # the start does not count
        self.reset()

    def reset(self) -> None:
        self._model: Any = None
        self._selected = np.empty(0, np.intp)
        self._classes = 0

    def learn(self, X: Floats, y: Codes, selected: Indices, classes: int) -> None:
        classes = max(classes, 2)
        if self._model is None or classes != self._classes or not np.array_equal(selected, self._selected):
            self._model = self._renewed(selected, classes)
        self._model.partial_fit(X, y, classes=np.arange(classes))
        self._selected, self._classes = selected.copy(), classes

    def predict(self, X: Floats) -> Codes:
        return np.asarray(self._model.predict(X), np.int64)

    def _renewed(self, selected: Indices, classes: int) -> Any:
        """A model for these features and classes, with the weights of those that stay where it has such weights."""
        old, new = self._model, clone(self._given)
        if old is None or not _has_plain_weights(old):
            self.n_restarts += 1
            return new
        weights, intercepts = old.coef_, np.atleast_1d(old.intercept_)
        if len(weights) == 1 and classes > 2:  # two classes share one row
            weights, intercepts = np.vstack([-weights, weights]), np.hstack([-intercepts, intercepts])
        new.partial_fit(np.zeros((1, len(selected))), [0], classes=np.arange(classes))  # to be given its arrays
        _, to, origin = np.intersect1d(selected, self._selected, return_indices=True)
        new.coef_[:], new.intercept_[:] = 0.0, 0.0
        new.coef_[: len(weights), to] = weights[:, origin]
        new.intercept_[: len(intercepts)] = intercepts
        new.t_ = old.t_
        return new


class SklearnProbabilities(SklearnModel):
    """The same for a model that knows probabilities."""

    def predict_proba(self, X: Floats) -> Floats:
        return np.asarray(self._model.predict_proba(X), np.float64)


def _has_plain_weights(model: Any) -> bool:
    """Whether all that a model knows is one weight for each feature and class, and the number of its steps."""
    return all(hasattr(model, name) for name in ("coef_", "intercept_", "t_")) and not getattr(model, "average", False)


class RiverModel:
    """A classifier of river."""

    def __init__(self, model: Any) -> None:
        self._given = model
        self.reset()

    def reset(self) -> None:
        self._model = self._given.clone()
        self._selected: list[int] = []
        self._classes = 0

    def learn(self, X: Floats, y: Codes, selected: Indices, classes: int) -> None:
        self._selected, self._classes = selected.tolist(), classes
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            self._model.learn_one(self._as_dict(row), label)

    def predict(self, X: Floats) -> Codes:
        return np.asarray(self.predict_proba(X).argmax(axis=1), np.int64)

    def predict_proba(self, X: Floats) -> Floats:
        found = np.zeros((len(X), self._classes))
        for place, row in enumerate(X.tolist()):
            for label, share in self._shares(self._as_dict(row)).items():
                if int(label) < self._classes:  # a model for two classes names both before it has met the second
                    found[place, int(label)] = share
        found[found.sum(axis=1) == 0.0] = 1.0  # a model that has nothing to say
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def _shares(self, row: dict[int, float]) -> dict[Any, float]:
        try:
            return dict(self._model.predict_proba_one(row))
        except NotImplementedError:  # it only names a class
            label = self._model.predict_one(row)
            return {} if label is None else {label: 1.0}

    def _as_dict(self, row: list[float]) -> dict[int, float]:
        return dict(zip(self._selected, row, strict=True))
