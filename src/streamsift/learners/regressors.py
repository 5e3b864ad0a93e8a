"""Learners for numbers: what `streamsift.learners.online` says holds here, too, but for the targets.

The targets are floats, and `classes` is 0. What is left of a learner when the selection changes:

    sgd              the weights of the features that stay, the scale of all, and that of the target
    neighbours       everything: its window holds whole rows (`neighbours`)
    hoeffding_tree   what it learnt of each feature while it was selected; it goes on
    mean             everything: it looks at no feature

sgd, neighbours and the tree, whose leaves are linear models, see columns standardised by the rows learnt so far, unless
`scale` is "none"; sgd and the tree also see the target standardised so, for a linear model takes long to reach a mean
that is far from 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import SGDRegressor

from streamsift.core.exceptions import MissingExtraError
from streamsift.learners.carried import carried_over
from streamsift.learners.neighbours import NeighbourMeans
from streamsift.learners.one_hot import OneHot
from streamsift.learners.river_models import RiverNumbers
from streamsift.learners.scaling import Standardised

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


class Mean:
    """The mean of the numbers so far, whatever the features say.

    >>> learner = Mean()
    >>> learner.learn(np.zeros((2, 1)), np.array([1.0, 3.0]), np.array([0]), 0)
    >>> learner.predict(np.zeros((1, 1))).tolist()
    [2.0]
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._n_rows, self._mean = 0, 0.0

    def learn(self, X: Floats, y: Floats, selected: Indices, classes: int) -> None:
        self._n_rows += len(y)
        self._mean += float((y - self._mean).sum()) / self._n_rows if len(y) else 0.0

    def predict(self, X: Floats) -> Floats:
        return np.full(len(X), self._mean)


class LeastSquaresSteps:
    """The linear regression of scikit-learn that is trained by stochastic gradient steps, one pass.

    The first step is 1 / (4 (1 + d)) with d columns, not scikit-learn's 0.01: a step of 1 / (1 + d) would learn a row
    of standardised columns outright, and with more than 2 / (1 + d), which 0.01 is from 200 columns on, the weights
    grow without bounds.

    >>> learner, x = LeastSquaresSteps(), np.tile([[-1.0], [1.0]], (500, 1))
    >>> learner.learn(x, 3.0 * x[:, 0], np.array([4]), 0)
    >>> learner.predict(np.array([[2.0]])).round(1).tolist()
    [6.0]
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._model: Any = None
        self._selected = np.empty(0, np.intp)

    def learn(self, X: Floats, y: Floats, selected: Indices, classes: int) -> None:
        if self._model is None or not np.array_equal(selected, self._selected):
            new = SGDRegressor(eta0=0.25 / (1 + len(selected)), random_state=0)
            self._model = new if self._model is None else carried_over(self._model, new, self._selected, selected, 0)
        self._model.partial_fit(X, y)
        self._selected = selected.copy()

    def predict(self, X: Floats) -> Floats:
        return np.asarray(self._model.predict(X), np.float64)


class ScaledTarget:
    """A learner that is given the target standardised by the mean and the deviation of the numbers learnt so far.

    >>> learner = ScaledTarget(LeastSquaresSteps())
    >>> learner.learn(np.zeros((3, 1)), np.array([1e9, 1e9 + 1, 1e9 + 2]), np.array([0]), 0)
    >>> abs(learner.predict(np.zeros((1, 1)))[0] - 1e9 - 1) < 0.1
    np.True_
    """

    def __init__(self, learner: Any) -> None:
        self.learner = learner
        if hasattr(learner, "know_categories"):
            self.know_categories = learner.know_categories
        self._forget()

    def _forget(self) -> None:
        self._n_rows, self._mean, self._spread = 0, 0.0, 0.0

    def reset(self) -> None:
        self.learner.reset()
        self._forget()

    def _deviation(self) -> float:
        return float(np.sqrt(self._spread / max(self._n_rows, 1))) or 1.0

    def learn(self, X: Floats, y: Floats, selected: Indices, classes: int) -> None:
        n_new, mean = len(y), float(y[0] + (y - y[0]).mean())
        total, gap = self._n_rows + n_new, mean - self._mean
        self._spread += float(((y - mean) ** 2).sum()) + gap**2 * self._n_rows * n_new / total
        self._mean += gap * n_new / total
        self._n_rows = total
        self.learner.learn(X, (y - self._mean) / self._deviation(), selected, classes)

    def predict(self, X: Floats) -> Floats:
        return np.asarray(self._mean + self._deviation() * self.learner.predict(X))


def _tree() -> Any:
    try:
        from river.tree import HoeffdingTreeRegressor
    except ImportError as error:
        raise MissingExtraError("This learner", "river", "river") from error
    return OneHot(ScaledTarget(RiverNumbers(HoeffdingTreeRegressor)))  # its leaves are linear models


REGRESSORS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: OneHot(ScaledTarget(LeastSquaresSteps())),
    "neighbours": lambda: NeighbourMeans("none"),
    "hoeffding_tree": _tree,
    "mean": Mean,
}
SCALED_REGRESSORS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: Standardised(OneHot(ScaledTarget(LeastSquaresSteps()))),
    "neighbours": NeighbourMeans,
    "hoeffding_tree": lambda: Standardised(_tree()),
}
"""The learners that are scaled by default."""
