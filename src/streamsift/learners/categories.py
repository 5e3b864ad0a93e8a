"""The categories of a run, by name, for the models that judge: a code means the same in every batch.

Readers number categories as they meet them, and bare codes may be any whole numbers; here each category gets the next
number when it is first met, and its name decides which one it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch
from streamsift.core.categories import NO_CATEGORIES, ColumnKinds, Meeting, Names, recode


class RunCategories:
    """The categories that a run has met so far.

    >>> met = RunCategories()
    >>> X = met.encode(Batch(np.array([[0.0], [1.0]]), None, kinds=ColumnKinds({0: ("red", "blue")})))
    >>> met.encode(Batch(np.array([[0.0], [1.0]]), None, kinds=ColumnKinds({0: ("blue", "green")}))).tolist()
    [[1.0], [2.0]]
    >>> met.names
    {0: ('red', 'blue', 'green')}
    """

    def __init__(self) -> None:
        self._known, self._n_features = NO_CATEGORIES, 0
        self._latest: tuple[Any, Any] = (None, None)

    @property
    def names(self) -> Names:
        """The names of each categorical feature, in the order of their codes; the same object while nothing is new."""
        return self._known.names

    def encode(self, batch: Batch) -> Any:
        """The matrix of a batch with our codes; InputError where a column changes between numbers and categories."""
        if batch is self._latest[0]:  # it is predicted, and then learnt
            return self._latest[1]
        X, kinds = batch.X, batch.kinds
        if batch.categorical is not None:
            X, kinds = _with_names(X, kinds, np.flatnonzero(batch.categorical))
        if kinds is not None and (kinds.names or kinds.undecided or self._known):
            names = batch.feature_names
            meeting = Meeting(None, self._n_features, lambda slot: names[slot] if names else f"x{slot}")
            X, self._known = recode(X, kinds, self._known, meeting)
        self._n_features = max(self._n_features, X.shape[1])
        self._latest = batch, X
        return X


def _with_names(X: Any, kinds: ColumnKinds | None, marked: NDArray[np.intp]) -> tuple[Any, ColumnKinds | None]:
    """Bare codes of categories renumbered 0, 1, ..., with the codes themselves as names; 0 stays 0."""
    names = {} if kinds is None else dict(kinds.names)
    undecided = () if kinds is None else kinds.undecided
    bare = [column for column in marked.tolist() if column not in names and column not in undecided]
    if not bare:
        return X, kinds
    dense = isinstance(X, np.ndarray)
    X = X.copy() if dense else X.tocsc(copy=True)
    for column in bare:
        values = X[:, column] if dense else X.data[X.indptr[column] : X.indptr[column + 1]]
        has_value = ~np.isnan(values)
        distinct = np.unique(np.append(values[has_value], 0.0))
        order = np.argsort(distinct != 0.0, kind="stable")
        place = np.argsort(order)
        values[has_value] = place[np.searchsorted(distinct, values[has_value])]
        names[column] = tuple(f"{value:.17g}" for value in distinct[order].tolist())
    return (X if dense else X.tocsr()), ColumnKinds(names, undecided)
