"""Running standardisation for learners that need columns of one size.

The mean and the standard deviation are those of all rows learnt so far, of every feature, selected or not: one pass,
and no row is predicted from what came after it. A column that has been constant so far is only centred. Codes of
categories are left alone where the learner knows what they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.categories import Names
from streamsift.learners.whole_rows import FeatureMoments, columns_of, refuse_not_finite, spread

SCALES = ("standard", "none")

Floats = NDArray[np.float64]
Codes = NDArray[Any]  # codes of classes, or numbers
Indices = NDArray[np.intp]


class Standardised:
    """A learner that sees the selected columns standardised.

    Parameters
    ----------
    learner : a learner
        See `streamsift.learners.online.Learner`. What it can do beside learning and predicting, this can, too.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.learners.online import Perceptron
    >>> from streamsift.learners.scaling import Standardised
    >>> learner = Standardised(Perceptron())
    >>> learner.learn_rows(np.array([[1e6, 1.0], [1e6 + 2, 1.0]] * 5), np.array([0, 1] * 5), np.array([0]), classes=2)
    >>> learner.predict(np.array([[1e6], [1e6 + 2]])).tolist()
    [0, 1]
    """

    scale = "standard"

    def __init__(self, learner: Any) -> None:
        self._learner = learner
        self.restarts = getattr(learner, "restarts", False)
        for name in ("predict_proba", "predict_logarithms"):
            if hasattr(learner, name):
                setattr(self, name, _Scaled(self, getattr(learner, name)))
        self._names: Names = {}
        if hasattr(learner, "know_categories"):
            self.know_categories = self._know_categories
        self._forget()

    def _know_categories(self, names: Names) -> None:
        self._names = names
        self._learner.know_categories(names)

    def _forget(self) -> None:
        self._moments = FeatureMoments()
        self._centre, self._deviation = np.empty(0), np.empty(0)

    def reset(self) -> None:
        self._learner.reset()
        self._forget()

    def learn(self, X: Floats, y: Codes, selected: Indices, classes: int) -> None:
        self.learn_rows(spread(X, selected), y, selected, classes)

    def learn_rows(self, rows: Any, y: Codes, selected: Indices, classes: int) -> None:
        columns = columns_of(rows, selected)
        refuse_not_finite(columns)
        self._moments.learn(rows, np.zeros(len(y), np.int64), 1)
        weight, mean, m2 = self._moments.read(selected)
        deviation = np.sqrt(m2[0] / np.maximum(weight[0], 1.0))
        self._centre, self._deviation = mean[0], np.where(deviation > 0.0, deviation, 1.0)
        if self._names:
            named = np.isin(selected, list(self._names))
            self._centre, self._deviation = np.where(named, 0.0, self._centre), np.where(named, 1.0, self._deviation)
        if len(selected):
            self._learner.learn(self.scaled(columns), y, selected, classes)

    def predict(self, X: Floats) -> Codes:
        """Class codes or numbers, from columns as they come."""
        return np.asarray(self._learner.predict(self.scaled(X)))

    def scaled(self, X: Floats) -> Floats:
        """The columns as the learner sees them."""
        refuse_not_finite(X)
        return np.asarray((X - self._centre) / self._deviation)


class _Scaled:
    """A way of predicting, of columns as they come."""

    def __init__(self, owner: Standardised, predict: Any) -> None:
        self._owner, self._predict = owner, predict

    def __call__(self, X: Floats) -> Floats:
        return np.asarray(self._predict(self._owner.scaled(X)), np.float64)
