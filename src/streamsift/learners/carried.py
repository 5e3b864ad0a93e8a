"""What a learner keeps when the selection or the classes change: the one place for it.

A linear model of scikit-learn that is trained by stochastic gradient steps knows one weight for each feature and class,
and the number of its steps. `carried_over` gives a new model of the same kind the weights of the features that stay;
others start with 0. A learner that cannot do so says `restarts = True`, and `restart_if_needed` resets it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.intp]


def has_plain_weights(model: Any) -> bool:
    """Whether all that a fitted model knows is one weight for each feature and class, and the number of its steps."""
    return all(hasattr(model, name) for name in ("coef_", "intercept_", "t_")) and not getattr(model, "average", False)


def carried_over(old: Any, new: Any, before: Indices, now: Indices, classes: int) -> Any:
    """Give an unfitted model the weights of a fitted one, for the features and classes that stay.

    Parameters
    ----------
    old, new : linear classifiers or regressors with `partial_fit`
        Fitted, with `has_plain_weights`, and unfitted; classes are the codes 0, 1, ...
    before, now : arrays of int
        The features behind the columns of the two.
    classes : int
        How many classes there are now; 0 for regressors.

    Returns
    -------
    The new model.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> old = SGDClassifier(random_state=0).partial_fit([[1.0, 0.0], [0.0, 1.0]], [0, 1], classes=[0, 1])
    >>> new = carried_over(old, SGDClassifier(random_state=0), np.array([3, 5]), np.array([5, 9]), 2)
    >>> bool(new.coef_[0, 0] == old.coef_[0, 1]), float(new.coef_[0, 1])
    (True, 0.0)
    """
    weights, intercepts = np.atleast_2d(old.coef_), np.atleast_1d(old.intercept_)
    if len(weights) == 1 and classes > 2:  # two classes share one row
        weights, intercepts = np.vstack([-weights, weights]), np.hstack([-intercepts, intercepts])
    known = {"classes": np.arange(classes)} if classes else {}
    new.partial_fit(np.zeros((1, len(now))), [0], **known)  # to be given its arrays
    _, to, origin = np.intersect1d(now, before, return_indices=True)
    new.coef_[:], new.intercept_[:] = 0.0, 0.0
    np.atleast_2d(new.coef_)[: len(weights), to] = weights[:, origin]  # a view: regressors have one row
    new.intercept_[: len(intercepts)] = intercepts
    new.t_ = old.t_
    return new


def restart_if_needed(learner: Any, before: Indices | None, now: Indices | None, *, drift_found: bool) -> bool:
    """Reset a learner that cannot go on: a drift was found, or it `restarts` and the selection is another one.

    Returns whether it has forgotten anything (`before` is None while there was nothing to forget).

    Examples
    --------
    >>> from streamsift.learners.online import make_learner
    >>> restart_if_needed(make_learner("sgd"), np.array([0, 1]), np.array([1, 2]), drift_found=False)
    False
    """
    same = before is now or before is None or (now is not None and np.array_equal(before, now))
    if not drift_found and (same or not getattr(learner, "restarts", False)):
        return False
    learner.reset()
    return before is not None


def drifts_found(selector: Any) -> int:
    """How often a selector has found drift; a list of them may be cut to the latest, a count is not.

    Examples
    --------
    >>> from streamsift import Screener
    >>> drifts_found(Screener().fit([[0.0], [1.0]], [0, 1]))
    0
    """
    count = getattr(selector, "n_drifts_", None)
    return len(getattr(selector, "drifts_", ())) if count is None else int(count)
