"""Learners of other packages for prequential runs: anything of scikit-learn with `partial_fit`, anything of river.

A copy of the given model is trained, never the model itself.

- A model of river gets each row as a dict of the selected features. When the selection changes it goes on: it simply
  meets features that come and go.
- A linear model of scikit-learn that is trained by stochastic gradient steps (SGDClassifier, SGDRegressor and their
  like) keeps the weights of the features that stay; new features start with weight 0.
- Every other model of scikit-learn starts again when the selection changes or a class is new, because its parameters
  belong to the columns it began with. `n_restarts` counts how often that happened.

Categories: a model of river that takes nominal values (trees, forests, a pipeline that begins with an encoder) gets
their names, all others see a column of 0 and 1 for each category. For a model of scikit-learn there are spare columns
for categories that are still to come, so that a new one does not change the columns; room is doubled when it is full.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor

from streamsift.core.exceptions import ParameterError
from streamsift.learners.carried import carried_over, has_plain_weights
from streamsift.learners.one_hot import OneHot
from streamsift.learners.online import LEARNERS, Learner, make_learner
from streamsift.learners.regressors import REGRESSORS
from streamsift.learners.river_models import River, RiverNumbers, RiverOfWords, takes_words

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


def as_learner(model: Any, scale: str = "standard", task: str = "classification") -> Learner:
    """Return a learner for whatever a user has: a name, a learner, or a model of scikit-learn or river.

    Parameters
    ----------
    model : str, Learner, or a classifier or regressor with `partial_fit` or `learn_one`
        Names are those of `streamsift.learners.online` and, for numbers, of `streamsift.learners.regressors`.
    scale : {"standard", "none"}, default "standard"
        Whether learners given by name that need it see standardised columns; a model of another package sees the
        columns as they are.
    task : {"classification", "regression"}, default "classification"
        Whether it is to predict classes or numbers.

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
        return make_learner(model, scale, task)
    if isinstance(model, type):
        raise ParameterError(f"The model is the class {model.__name__}: give an object, {model.__name__}().")
    if all(hasattr(model, name) for name in ("learn", "predict", "reset")):
        return model  # type: ignore[no-any-return]
    numbers = task == "regression"
    if hasattr(model, "learn_one") and hasattr(model, "predict_one"):
        if numbers:
            words = takes_words(model) and getattr(model, "leaf_prediction", "mean") == "mean"  # else leaves are linear
            return RiverNumbers(model.clone, words=True) if words else OneHot(RiverNumbers(model.clone))
        return RiverOfWords(model.clone) if takes_words(model) else OneHot(River(model.clone))
    if hasattr(model, "partial_fit") and hasattr(model, "predict"):
        if numbers:
            return OneHot(SklearnNumbers(model), spare=True)
        kind = SklearnProbabilities if hasattr(model, "predict_proba") else SklearnModel
        return OneHot(kind(model), spare=True)
    raise ParameterError(
        f"The model {type(model).__name__} cannot learn batch by batch: give one with partial_fit (scikit-learn), with "
        "learn_one (river), or the name of a learner."
    )


def task_of_model(model: Any) -> Literal["classification", "regression"] | None:
    """What a model predicts, given as to `as_learner`; None where it could be either, or does not say.

    Examples
    --------
    >>> from sklearn.linear_model import SGDRegressor
    >>> task_of_model(SGDRegressor()), task_of_model("naive_bayes"), task_of_model("sgd")
    ('regression', 'classification', None)
    """
    if isinstance(model, str):
        classes, numbers = model in LEARNERS, model in REGRESSORS
    elif type(model).__module__.partition(".")[0] == "river":
        from river.base import Classifier, Regressor  # river is there: the model is one of its own

        while hasattr(model, "steps"):  # a pipeline ends with the model itself
            model = list(model.steps.values())[-1]
        classes, numbers = isinstance(model, Classifier), isinstance(model, Regressor)
    elif hasattr(model, "__sklearn_tags__"):
        classes, numbers = is_classifier(model), is_regressor(model)
    else:
        return None
    if classes == numbers:
        return None
    return "regression" if numbers else "classification"


def innermost(learner: Any) -> Any:
    """The learner itself, inside whatever is wrapped around it (which has it as `learner`).

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> innermost(as_learner(GaussianNB())).given
    GaussianNB()
    """
    while hasattr(learner, "learner"):
        learner = learner.learner
    return learner


class SklearnModel:
    """A classifier of scikit-learn; see the module docstring for what a changed selection means."""

    def __init__(self, model: Any) -> None:
        self.given = model
        self.n_restarts = -1  # the start does not count
        self.reset()

    def reset(self) -> None:
        self._model: Any = None
        self._selected = np.empty(0, np.intp)
        self._classes = 0

    def learn(self, X: Floats, y: NDArray[Any], selected: Indices, classes: int) -> None:
        classes = max(classes, 2)
        if self._model is None or classes != self._classes or not np.array_equal(selected, self._selected):
            self._model = self._renewed(selected, classes)
        self._model.partial_fit(X, y, classes=np.arange(classes))
        self._selected, self._classes = selected.copy(), classes

    def predict(self, X: Floats) -> NDArray[Any]:
        return np.asarray(self._model.predict(X), np.int64)

    @property
    def model(self) -> Any:
        """The model as it is trained now; None before the first row. Its classes are codes."""
        return self._model

    def resume(self, model: Any, selected: Indices, classes: int, n_restarts: int) -> None:
        """Go on with a model that has been trained on these columns and classes."""
        self._model, self._selected, self._classes, self.n_restarts = model, selected, classes, n_restarts

    def _renewed(self, selected: Indices, classes: int) -> Any:
        """A model for these features and classes, with the weights of those that stay where it has such weights."""
        old, new = self._model, clone(self.given)
        if old is None or not has_plain_weights(old):
            self.n_restarts += 1
            return new
        return carried_over(old, new, self._selected, selected, classes)


class SklearnProbabilities(SklearnModel):
    """The same for a model that knows probabilities."""

    def predict_proba(self, X: Floats) -> Floats:
        return np.asarray(self._model.predict_proba(X), np.float64)


class SklearnNumbers(SklearnModel):
    """The same for a regressor."""

    def learn(self, X: Floats, y: NDArray[Any], selected: Indices, classes: int) -> None:
        if self._model is None or not np.array_equal(selected, self._selected):
            self._model = self._renewed(selected, 0)
        self._model.partial_fit(X, y)
        self._selected = selected.copy()

    def predict(self, X: Floats) -> NDArray[Any]:
        return np.asarray(self._model.predict(X), np.float64).reshape(len(X))
