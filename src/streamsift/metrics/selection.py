"""How close a selected set is to another one: the true features, or an earlier selection."""

from __future__ import annotations

from typing import Any

import numpy as np

from streamsift.core.constraints import Integer, Real, check_parameters
from streamsift.core.exceptions import InputError


class SelectionAccuracy(float):
    """A selection accuracy, which is a float, and its two parts.

    rrf: the share of relevant features that are selected; ccp: one minus the share of irrelevant ones that are.
    """

    rrf: float
    ccp: float

    def __new__(cls, rrf: float, ccp: float, gamma: float) -> SelectionAccuracy:
        value = super().__new__(cls, gamma * rrf + (1.0 - gamma) * ccp)
        value.rrf, value.ccp = rrf, ccp
        return value


def selection_accuracy(selected: Any, relevant: Any, n_features: int, gamma: float = 0.7) -> SelectionAccuracy:
    """Return how well a selection matches the relevant features (Eq. 10 of the ABFS paper), in [0, 1].

    Parameters
    ----------
    selected, relevant : set or array-like
        Feature indices, or a boolean mask over all features.
    n_features : int
        Number of all features.
    gamma : float in [0, 1], default 0.7
        Weight of finding relevant features against leaving out irrelevant ones.

    Returns
    -------
    SelectionAccuracy
        A float with the parts `.rrf` and `.ccp`. Nothing to find counts as found, nothing to leave out as left out.

    Examples
    --------
    >>> from streamsift.metrics import selection_accuracy
    >>> accuracy = selection_accuracy([0, 1, 5], [0, 1, 2, 3], n_features=10)
    >>> round(accuracy, 3), accuracy.rrf, round(accuracy.ccp, 3)
    (0.6, 0.5, 0.833)
    """
    check_parameters(
        "selection_accuracy",
        {"n_features": n_features, "gamma": gamma},
        {"n_features": (Integer(1, None),), "gamma": (Real(0, 1),)},
    )
    chosen, true = _indices(selected, n_features), _indices(relevant, n_features)
    n_irrelevant = n_features - len(true)
    rrf = len(chosen & true) / len(true) if true else 1.0
    ccp = 1.0 - len(chosen - true) / n_irrelevant if n_irrelevant else 1.0
    return SelectionAccuracy(rrf, ccp, gamma)


def jaccard(a: Any, b: Any) -> float:
    """Return the size of what two sets have in common over the size of both together; two empty sets are equal: 1.

    Parameters
    ----------
    a, b : set or array-like
        Feature indices, or boolean masks.

    Returns
    -------
    float
        From 0 (nothing in common) to 1 (equal).

    Examples
    --------
    >>> from streamsift.metrics import jaccard
    >>> jaccard([0, 1, 2], [1, 2, 3]), jaccard([], [])
    (0.5, 1.0)
    """
    first, second = _indices(a), _indices(b)
    union = len(first | second)
    return len(first & second) / union if union else 1.0


def _indices(features: Any, n_features: int | None = None) -> set[int]:
    array = np.asarray(list(features) if isinstance(features, set | frozenset) else features)
    if array.dtype == bool:
        if n_features is not None and len(array) != n_features:
            raise InputError(f"The mask has {len(array)} entries but there are {n_features} features.")
        return set(np.flatnonzero(array).tolist())
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError("Give features as indices in one dimension, or as a boolean mask.")
    outside = [k for k in array.tolist() if k < 0 or (n_features is not None and k >= n_features)]
    if outside:
        last = "" if n_features is None else f" to {n_features - 1}"
        raise InputError(f"There is no feature {outside[0]}: indices run from 0{last}.")
    return set(array.tolist())
