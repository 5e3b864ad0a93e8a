"""FSA, feature selection with annealing: a linear classifier that drops its smallest weights while it is trained.

The learner of Tables 8 and 9 of the screening paper. Method: A. Barbu, Y. She, L. Ding and G. Gramajo, Feature
Selection with Annealing for Computer Vision and Big Data Learning (2017). A gradient step on the logistic loss, then
all but the M_e features with the largest weights are dropped for good, where after step e of N, of p features and k
wanted,

    M_e = k + (p - k) max(0, (N - 2 e) / (2 e mu + N))

so the second half of the steps trains the k that are left. Two classes are logistic regression, more are softmax, and
a feature is as large as the norm of its weights over the classes.

Where this deviates: the step is 1 / L, L being a bound on the curvature of the loss, instead of a number to be tuned,
with momentum 0.9; columns are divided by their root mean square, so that weights compare whatever the units. Zeros
stay zeros, so sparse rows cost what their non-zeros cost, and give what dense rows give.

Time: steps x non-zeros of the features still there; memory: the weights and one copy of those features.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import InputError
from streamsift.metrics.classification import softmax
from streamsift.rows.joint_rules import kept_after

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Indices = NDArray[np.intp]

N_STEPS = 200  # N of the paper; its mu is that of joint_rules
SHRINKAGE = 1e-3  # weight of the squared norm in the loss
MOMENTUM = 0.9
POWER_STEPS = 15  # of the power method, for L


class FSA:
    """A linear classifier of a given number of features, chosen while it is trained.

    Parameters
    ----------
    n_features_to_select : int or float, default 0.5
        A number (all, where there are fewer), or a fraction in (0, 1].
    n_steps : int, default 200
        Gradient steps; in the first half features are dropped.

    Attributes
    ----------
    support_ : ndarray of bool
        Which columns are left.
    classes_ : ndarray

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.learners.fsa import FSA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 50))
    >>> y = (X[:, 3] - X[:, 7] > 0).astype(int)
    >>> model = FSA(n_features_to_select=2).fit(X, y)
    >>> np.flatnonzero(model.support_).tolist(), bool((model.predict(X) == y).mean() > 0.97)
    ([3, 7], True)
    """

    def __init__(self, n_features_to_select: int | float = 0.5, *, n_steps: int = N_STEPS) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_steps = n_steps

    def fit(self, X: Any, y: Any) -> FSA:
        """Train on rows, dense or CSR."""
        if X.shape[0] != len(y):
            raise InputError(f"X has {X.shape[0]} rows and y {len(y)} labels: give one label for each row.")
        self.classes_, codes = np.unique(y, return_inverse=True)
        n_features = X.shape[1]
        wanted = number_wanted(self.n_features_to_select, n_features)
        target = np.eye(max(len(self.classes_), 2))[codes]
        kept = np.arange(n_features)
        rows = _scaled(X)
        weights, speed = np.zeros((n_features, target.shape[1])), np.zeros((n_features, target.shape[1]))
        intercept = np.log(np.maximum(target.mean(axis=0), 1e-12))
        size = 1.0 / (0.5 * _curvature(rows) + SHRINKAGE)
        for step in range(1, self.n_steps + 1):
            missed = softmax(rows @ weights + intercept) - target
            speed = MOMENTUM * speed - size * (rows.T @ missed / len(target) + SHRINKAGE * weights)
            weights = weights + speed
            intercept = intercept - missed.mean(axis=0)
            stay = largest(weights, kept_after(step, self.n_steps, n_features, wanted))
            if len(stay) < len(kept):
                kept, weights, speed, rows = kept[stay], weights[stay], speed[stay], rows[:, stay]
        self.support_ = np.isin(np.arange(n_features), kept)
        self._kept, self._weights, self._intercept = kept, weights / _scale(X[:, kept])[:, None], intercept
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class; one class in training has probability 1."""
        scores = np.asarray(X[:, self._kept] @ self._weights) + self._intercept
        return softmax(scores[:, : len(self.classes_)])


class OnlineFSA:
    """FSA as a learner of prequential runs: steps on each batch, the features dropped over the first batches.

    It keeps half of the features a selector gives it, as SparseFSA does in the screening paper. A feature that is
    dropped stays so while it stays selected; when it comes back later it starts anew.
    """

    def __init__(self, share: float = 0.5, n_batches: int = 50, n_steps: int = 10) -> None:
        self._share, self._n_batches, self._n_steps = share, n_batches, n_steps
        self.reset()

    def reset(self) -> None:
        self._selected = np.empty(0, np.intp)
        self._weights, self._intercept = np.empty((0, 0)), np.empty(0)
        self._alive = np.empty(0, bool)
        self._squares = np.empty(0)  # sum of squares of each feature, for its scale
        self._rows = np.empty(0)  # how many rows that is
        self._batches = 0

    def learn(self, X: Floats, y: Codes, selected: Indices, classes: int) -> None:
        classes = max(classes, 2)
        self._carry_over(selected, max(classes, len(self._intercept)))
        self._batches += 1
        self._squares = self._squares + (X**2).sum(axis=0)
        self._rows = self._rows + len(X)
        scale = self._scale()
        rows = X / scale * self._alive
        target = np.eye(len(self._intercept))[y]
        size = 1.0 / (0.5 * _curvature(rows) + SHRINKAGE)
        weights = self._weights * scale[:, None]
        for _ in range(self._n_steps):
            missed = softmax(rows @ weights + self._intercept) - target
            weights = weights - size * (rows.T @ missed / len(rows) + SHRINKAGE * weights)
            self._intercept = self._intercept - missed.mean(axis=0)
        wanted = number_wanted(self._share, len(selected))
        stay = largest(weights, kept_after(self._batches, self._n_batches, len(selected), wanted))
        self._alive = np.isin(np.arange(len(selected)), stay) & self._alive
        self._weights = weights / scale[:, None] * self._alive[:, None]

    def predict(self, X: Floats) -> Codes:
        return np.asarray(self.predict_proba(X).argmax(axis=1), np.int64)

    def predict_proba(self, X: Floats) -> Floats:
        """The probability of each class code."""
        return softmax(X @ self._weights + self._intercept)

    def _scale(self) -> Floats:
        scale = np.sqrt(self._squares / np.maximum(self._rows, 1.0))
        return np.where(scale > 0.0, scale, 1.0)

    def _carry_over(self, selected: Indices, classes: int) -> None:
        """Arrays for the features selected now, with what is known of those that stay."""
        if np.array_equal(selected, self._selected) and classes == len(self._intercept):
            return
        _, to, origin = np.intersect1d(selected, self._selected, return_indices=True)
        weights, alive = np.zeros((len(selected), classes)), np.ones(len(selected), bool)
        squares, rows = np.zeros(len(selected)), np.zeros(len(selected))
        weights[to, : self._weights.shape[1]] = self._weights[origin]
        alive[to], squares[to], rows[to] = self._alive[origin], self._squares[origin], self._rows[origin]
        self._intercept = np.pad(self._intercept, (0, classes - len(self._intercept)))
        self._weights, self._alive, self._squares, self._rows = weights, alive, squares, rows
        self._selected = selected.copy()


def largest(weights: Floats, count: int) -> Indices:
    """The positions, in order, of the rows with the largest norm; of equals the first.

    >>> largest(np.array([[1.0], [-3.0], [0.0], [3.0]]), 2).tolist()
    [1, 3]
    """
    if count >= len(weights):
        return np.arange(len(weights))
    return np.sort(np.argsort(-(weights**2).sum(axis=1), kind="stable")[:count])


def number_wanted(wanted: int | float, n_features: int) -> int:
    """A number of features, given as such or as a fraction.

    >>> number_wanted(0.1, 25), number_wanted(40, 25)
    (3, 25)
    """
    if isinstance(wanted, float):
        if not 0.0 < wanted <= 1.0:
            raise InputError(f"A fraction of the features must be in (0, 1], not {wanted}: give one, or a number.")
        return int(np.ceil(wanted * n_features))
    if wanted < 1:
        raise InputError(f"The number of features must be 1 or more, not {wanted}.")
    return min(wanted, n_features)


def _scale(X: Any) -> Floats:
    """The root of the mean square of each column; 1 for a column of zeros."""
    squares = X.multiply(X) if hasattr(X, "multiply") else np.asarray(X, np.float64) ** 2
    scale = np.sqrt(np.asarray(squares.sum(axis=0), np.float64).ravel() / X.shape[0])
    return np.where(scale > 0.0, scale, 1.0)


def _scaled(X: Any) -> Any:
    """X in columns of mean square 1: CSC where it is sparse, so that dropping features is cheap."""
    if not hasattr(X, "multiply"):
        return np.asarray(X, np.float64) / _scale(X)
    columns = X.tocsc().astype(np.float64)
    columns.data /= np.repeat(_scale(X), np.diff(columns.indptr))
    return columns


def _curvature(rows: Any) -> float:
    """The largest eigenvalue of rows' rows / n, by the power method."""
    v = np.ones(rows.shape[1]) / np.sqrt(max(rows.shape[1], 1))
    v = v + np.linspace(0.0, 1e-3, len(v))  # a start that is not orthogonal to everything by symmetry
    value = 0.0
    for _ in range(POWER_STEPS):
        v = rows.T @ (rows @ v) / rows.shape[0]
        value = float(np.linalg.norm(v))
        if value == 0.0:
            break
        v = v / value
    return value
