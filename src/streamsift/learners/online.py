"""Learners for prequential runs: small classifiers that see only the selected columns.

Labels are class codes 0, 1, ...; `classes` is how many there are so far, and may grow. `selected` says which features
the columns are. What is left of a learner when the selection changes:

    naive_bayes                everything: it keeps the statistics of all features (`bayes`)
    neighbours                 everything: its window holds whole rows (`neighbours`)
    perceptron, sgd            the weights of the features that stay, and the scale of all (`scaling`)
    fsa                        the weights and the scale of the features that stay
    trees and boosting         what they learnt of each feature while it was selected; they go on
    a learner with `restarts`  nothing: it starts again, and the run counts how often (`n_restarts`)

The perceptron, sgd and neighbours see columns standardised by the rows learnt so far, unless `scale` is "none".

Categories are categories. Naive Bayes and boosting count them, neighbours ask whether they are equal, trees have
branches for them, and linear models see a column of 0 and 1 for each category, which keeps its weight when other
categories or features come and go (`one_hot`).

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

from streamsift.core.constraints import OneOf, check_parameters
from streamsift.core.exceptions import MissingExtraError, UnknownNameError
from streamsift.learners.adaptive_tree import AdaptiveTree
from streamsift.learners.arrays import ArrayLearnerOfCategories
from streamsift.learners.bayes import NaiveBayes
from streamsift.learners.carried import carried_over
from streamsift.learners.fsa import OnlineFSA
from streamsift.learners.neighbours import Neighbours
from streamsift.learners.one_hot import OneHot
from streamsift.learners.regressors import REGRESSORS, SCALED_REGRESSORS
from streamsift.learners.scaling import SCALES, Standardised
from streamsift.learners.trees import HoeffdingTree
from streamsift.learners.whole_rows import columns_of
from streamsift.metrics.classification import softmax

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Indices = NDArray[np.intp]


class Learner(Protocol):
    """A classifier over columns that change, or a regressor (`streamsift.learners.regressors`).

    `predict_proba(X)`, an array of one column per class, may be added, and `predict_logarithms(X)`, the logarithms of
    the same probabilities, each up to a constant of its row.

    A learner that can keep what it knows of features that are not selected has `learn_rows`, which is then called
    instead of `learn`, also while nothing is selected: its first argument are whole rows, dense or CSR. One that cannot
    go on with other columns says so by `restarts = True` and is reset by the run when the selection changes.

    A learner that can tell categories from numbers has `know_categories(names)`: it is told, before it meets them, the
    names of the categories of each categorical feature, in the order of their codes in X. A code keeps its meaning for
    the whole run. A learner without it is given the codes of the stream as numbers, unless it is wrapped in
    `streamsift.learners.one_hot.OneHot`.
    """

    def learn(self, X: Floats, y: NDArray[Any], selected: Indices, classes: int) -> None:
        """Learn rows of the selected columns."""
        ...

    def predict(self, X: Floats) -> NDArray[Any]:
        """Class codes, or numbers, for rows of the columns of the last `learn`."""
        ...

    def reset(self) -> None:
        """Forget everything."""
        ...


ALIASES = {"nb": "naive_bayes", "knn": "neighbours", "ht": "hoeffding_tree", "hat": "adaptive_tree"}


def make_learner(name: str, scale: str = "standard", task: str = "classification") -> Learner:
    """Return a new learner by name.

    Parameters
    ----------
    name : str
        One of LEARNERS or, for numbers, of REGRESSORS; the short names of ALIASES are understood.
    scale : {"standard", "none"}, default "standard"
        Whether the learners that need it see standardised columns.
    task : {"classification", "regression"}, default "classification"
        Whether it predicts classes or numbers.

    Returns
    -------
    Learner

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.learners.online import make_learner
    >>> learner = make_learner("naive_bayes")
    >>> learner.learn(np.array([[0.0], [1.0], [0.1], [0.9]]), np.array([0, 1, 0, 1]), np.array([7]), classes=2)
    >>> learner.predict(np.array([[0.2], [0.8]])).tolist()
    [0, 1]
    """
    known: dict[str, Callable[[], Any]] = REGRESSORS if task == "regression" else LEARNERS
    name = ALIASES.get(name, name)
    if name not in known:
        raise UnknownNameError("learner for numbers" if task == "regression" else "learner", name, known)
    check_parameters("make_learner", {"scale": scale}, {"scale": (OneOf(*SCALES),)})
    if task == "regression":
        return (SCALED_REGRESSORS.get(name, known[name]) if scale == "standard" else known[name])()  # type: ignore[no-any-return]
    if name in NEED_SCALE and scale == "standard":
        return NEED_SCALE[name]()
    return Neighbours(scale) if name == "neighbours" else LEARNERS[name]()


def teach(learner: Learner, rows: Any, y: NDArray[Any], selected: Indices, classes: int) -> None:
    """Let a learner learn whole rows, or the selected columns of them, as it can."""
    learn_rows = getattr(learner, "learn_rows", None)
    if learn_rows is not None:
        learn_rows(rows, y, selected, classes)
    elif len(selected):
        learner.learn(columns_of(rows, selected), y, selected, classes)


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
        new = SGDClassifier(random_state=0, **self.settings)
        self._model = carried_over(self._model, new, self._selected, selected, classes)

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


def _boosting() -> Learner:
    try:
        from river.ensemble import AdaBoostClassifier

        from streamsift.learners.boosting import ArrayBayes
    except ImportError as error:
        raise MissingExtraError("Boosting", "river", "river") from error
    return ArrayLearnerOfCategories(lambda: AdaBoostClassifier(ArrayBayes(), n_models=3, seed=0))


LEARNERS: dict[str, Callable[[], Learner]] = {
    "perceptron": lambda: OneHot(Perceptron()),
    "sgd": lambda: OneHot(Logistic()),
    "fsa": lambda: OneHot(OnlineFSA()),
    "naive_bayes": NaiveBayes,
    "neighbours": Neighbours,
    "hoeffding_tree": lambda: ArrayLearnerOfCategories(HoeffdingTree),
    "hoeffding_tree_majority": lambda: ArrayLearnerOfCategories(lambda: HoeffdingTree(by_bayes=False)),
    "adaptive_tree": lambda: ArrayLearnerOfCategories(AdaptiveTree),
    "boosting": _boosting,
}
NEED_SCALE: dict[str, Callable[[], Learner]] = {
    "perceptron": lambda: Standardised(OneHot(Perceptron())),
    "sgd": lambda: Standardised(OneHot(Logistic())),
    "neighbours": Neighbours,
}
"""The learners that are scaled by default."""
ONLY_WHILE_SELECTED = frozenset({"fsa", "hoeffding_tree", "hoeffding_tree_majority", "adaptive_tree", "boosting"})
"""The learners that know a feature only from the rows in which it was selected: changes cost them."""
