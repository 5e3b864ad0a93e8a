"""Learners for prequential runs: small classifiers that see only the selected columns.

Labels are class codes 0, 1, ...; `classes` is how many there are so far, and may grow. `selected` says which features
the columns are. When the selection changes, a linear learner keeps the weights of the features that stay, the river
learners simply meet features that come and go, and the others start again.

A learner that knows probabilities has `predict_proba`, one column per class; its most probable class is its prediction.
One that finds logarithms first has `predict_logarithms`, too, from which the probabilities of many batches can be
computed at once.
The Perceptron has none: its margin is a distance, and no squashing makes a probability of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from streamsift.core.exceptions import MissingExtraError, UnknownNameError
from streamsift.learners.fsa import OnlineFSA
from streamsift.metrics.classification import softmax

N_NEIGHBOURS, WINDOW = 5, 500

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Indices = NDArray[np.intp]


class Learner(Protocol):
    """A classifier over columns that change.

    `predict_proba(X)`, an array of one column per class, may be added, and `predict_logarithms(X)`, the logarithms of
    the same probabilities, each up to a constant of its row.
    """

    def learn(self, X: Floats, y: Codes, selected: Indices, classes: int) -> None:
        """Learn rows of the selected columns."""
        ...

    def predict(self, X: Floats) -> Codes:
        """Class codes for rows of the columns of the last `learn`."""
        ...

    def reset(self) -> None:
        """Forget everything."""
        ...


def make_learner(name: str) -> Learner:
    """Return a new learner by name.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.learners.online import make_learner
    >>> learner = make_learner("naive_bayes")
    >>> learner.learn(np.array([[0.0], [1.0], [0.1], [0.9]]), np.array([0, 1, 0, 1]), np.array([7]), classes=2)
    >>> learner.predict(np.array([[0.2], [0.8]])).tolist()
    [0, 1]
    """
    if name not in LEARNERS:
        raise UnknownNameError("learner", name, LEARNERS)
    return LEARNERS[name]()


class Perceptron:
    """The Perceptron of scikit-learn: a linear classifier, trained row by row, one pass."""

    settings: ClassVar[dict[str, Any]] = {
        "loss": "perceptron",
        "learning_rate": "constant",
        "eta0": 1.0,
        "penalty": None,
    }

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._model = SGDClassifier(random_state=0, **self.settings)
        self._selected = np.empty(0, np.intp)
        self._classes = 0

    def learn(self, X: Floats, y: Codes, selected: Indices, classes: int) -> None:
        classes = max(classes, 2)
        if self._classes and (classes != self._classes or not np.array_equal(selected, self._selected)):
            self._carry_over(selected, classes)
        self._model.partial_fit(X, y, classes=np.arange(classes))
        self._selected, self._classes = selected.copy(), classes

    def _carry_over(self, selected: Indices, classes: int) -> None:
        """A model of the new shape, with the weights of features and classes that stay."""
        old, new = self._model, SGDClassifier(random_state=0, **self.settings)
        weights, intercepts = old.coef_, old.intercept_
        if len(weights) == 1 and classes > 2:  # two classes share one row
            weights, intercepts = np.vstack([-weights, weights]), np.hstack([-intercepts, intercepts])
        new.partial_fit(np.zeros((1, len(selected))), [0], classes=np.arange(classes))  # to be given its arrays
        _, to, origin = np.intersect1d(selected, self._selected, return_indices=True)
        new.coef_[:], new.intercept_[:] = 0.0, 0.0
        new.coef_[: len(weights), to] = weights[:, origin]
        new.intercept_[: len(intercepts)] = intercepts
        new.t_ = old.t_
        self._model = new

    def predict(self, X: Floats) -> Codes:
        return np.asarray(self._model.predict(X), np.int64)


class Logistic(Perceptron):
    """Logistic regression of scikit-learn, trained by stochastic gradient steps, one pass.

    More than two classes are one against the rest each; the softmax of their margins stands for the probabilities, so
    that the most probable class is the one with the largest margin.
    """

    settings: ClassVar[dict[str, Any]] = {"loss": "log_loss"}

    def predict_proba(self, X: Floats) -> Floats:
        return softmax(self.predict_logarithms(X))

    def predict_logarithms(self, X: Floats) -> Floats:
        margins = self._model.decision_function(X)
        return np.column_stack([np.zeros(len(X)), margins]) if margins.ndim == 1 else np.asarray(margins)


class NaiveBayes:
    """Gaussian naive Bayes of scikit-learn."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._model: Any = None
        self._selected = np.empty(0, np.intp)

    def learn(self, X: Floats, y: Codes, selected: Indices, classes: int) -> None:
        known = 0 if self._model is None else len(self._model.classes_)
        if known < classes or not np.array_equal(selected, self._selected):
            self._model = GaussianNB()
        self._model.partial_fit(X, y, classes=np.arange(classes))
        self._selected = selected.copy()

    def predict(self, X: Floats) -> Codes:
        return np.asarray(self.predict_logarithms(X).argmax(axis=1), np.int64)

    def predict_proba(self, X: Floats) -> Floats:
        return softmax(self.predict_logarithms(X))

    def predict_logarithms(self, X: Floats) -> Floats:
        # A class without rows has the prior 0; where all columns are constant so far, the variances are 0.
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            found = self._model.predict_joint_log_proba(X)
            # NaN or infinite: constant columns, or values too far from all classes, tell nothing; the prior remains.
            lost = ~np.isfinite(found.max(axis=1))
            if lost.any():
                found[lost] = np.log(self._model.class_prior_)
        return np.asarray(found, np.float64)


class NearestNeighbours:
    """The nearest of the last 500 rows."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._rows, self._labels = np.empty((0, 0)), np.empty(0, np.int64)
        self._selected = np.empty(0, np.intp)
        self._classes = 0
        self._model: Any = None

    def learn(self, X: Floats, y: Codes, selected: Indices, classes: int) -> None:
        if np.array_equal(selected, self._selected):
            X, y = np.concatenate([self._rows, X]), np.concatenate([self._labels, y])
        self._rows, self._labels, self._classes = X[-WINDOW:].copy(), y[-WINDOW:].copy(), classes
        self._selected = selected.copy()
        self._model = None  # the search structure is built when it is asked for

    def predict(self, X: Floats) -> Codes:
        return np.asarray(self.predict_proba(X).argmax(axis=1), np.int64)

    def predict_proba(self, X: Floats) -> Floats:
        if self._model is None:
            self._model = KNeighborsClassifier(min(N_NEIGHBOURS, len(self._rows))).fit(self._rows, self._labels)
        found = np.zeros((len(X), self._classes))
        found[:, self._model.classes_] = self._model.predict_proba(X)  # some classes may have left the window
        return found


class River:
    """A classifier of river; a row is a dict of the selected features."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self.reset()

    def reset(self) -> None:
        self._model = self._make()
        self._selected: list[int] = []
        self._classes = 0

    def learn(self, X: Floats, y: Codes, selected: Indices, classes: int) -> None:
        self._selected, self._classes = selected.tolist(), classes
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            self._model.learn_one(dict(zip(self._selected, row, strict=True)), label)

    def predict(self, X: Floats) -> Codes:
        return np.asarray(self.predict_proba(X).argmax(axis=1), np.int64)

    def predict_proba(self, X: Floats) -> Floats:
        found = np.zeros((len(X), self._classes))
        for place, row in enumerate(X.tolist()):
            for label, share in self._model.predict_proba_one(dict(zip(self._selected, row, strict=True))).items():
                found[place, label] = share
        found[found.sum(axis=1) == 0.0] = 1.0  # a model that has nothing to say
        return np.asarray(found / found.sum(axis=1, keepdims=True))


def _river() -> Any:
    try:
        import river.ensemble
        import river.naive_bayes
        import river.tree
    except ImportError as error:
        raise MissingExtraError("This learner", "river", "river") from error
    return river


def _majority_tree() -> Learner:
    return River(lambda: _river().tree.HoeffdingTreeClassifier(leaf_prediction="mc"))


def _tree() -> Learner:
    return River(lambda: _river().tree.HoeffdingTreeClassifier())


def _adaptive_tree() -> Learner:
    return River(lambda: _river().tree.HoeffdingAdaptiveTreeClassifier(seed=0))


def _boosting() -> Learner:
    def make() -> Any:
        return _river().ensemble.AdaBoostClassifier(_river().naive_bayes.GaussianNB(), n_models=3, seed=0)

    return River(make)


LEARNERS: dict[str, Callable[[], Learner]] = {
    "perceptron": Perceptron,
    "sgd": Logistic,
    "fsa": OnlineFSA,
    "naive_bayes": NaiveBayes,
    "neighbours": NearestNeighbours,
    "hoeffding_tree": _tree,
    "hoeffding_tree_majority": _majority_tree,
    "adaptive_tree": _adaptive_tree,
    "boosting": _boosting,
}
