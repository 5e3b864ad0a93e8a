"""What learners keep of whole rows, so that a change of the selection costs them nothing they knew.

Rows are dense or CSR. A learner that takes them keeps the moments of every feature (FeatureMoments: as much memory as a
Screener that scores by moments) or the rows themselves, and reads from that only what is selected. Where a learner is
given the selected columns alone, the other features of these rows are missing (`spread`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import InputError

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Indices = NDArray[np.intp]


def columns_of(rows: Any, selected: Indices) -> Floats:
    """The selected columns of dense or CSR rows, dense.

    >>> columns_of(np.array([[1, 2, 3]]), np.array([0, 2])).tolist()
    [[1.0, 3.0]]
    """
    if isinstance(rows, np.ndarray):
        return np.asarray(rows if len(selected) == rows.shape[1] else rows.take(selected, axis=1), np.float64)
    return np.asarray(rows[:, selected].toarray(), np.float64)


def known_columns(rows: Any, selected: Indices) -> Floats:
    """The selected columns of rows that may lack the last features: NaN there, and 0 in sparse rows.

    >>> known_columns(np.array([[1.0, 2.0]]), np.array([1, 7])).tolist()
    [[2.0, nan]]
    """
    width = rows.shape[1]
    if len(selected) == 0 or selected.max() < width:
        return columns_of(rows, selected)
    found = np.full((rows.shape[0], len(selected)), np.nan if isinstance(rows, np.ndarray) else 0.0)
    there = selected < width
    found[:, there] = columns_of(rows, selected[there])
    return found


def spread(X: Floats, selected: Indices) -> Floats:
    """Whole rows of which only the selected columns are known; NaN stands for the others.

    >>> spread(np.array([[7.0]]), np.array([1])).tolist()
    [[nan, 7.0]]
    """
    rows = np.full((len(X), int(selected.max(initial=-1)) + 1), np.nan)
    rows[:, selected] = X
    return rows


def refuse_not_finite(X: Floats) -> None:
    """Learners cannot use NaN or infinity in a selected column; the caller knows the column's name."""
    if not np.isfinite(X).all():
        raise ValueError("A selected column holds NaN or infinity.")


class FeatureMoments:
    """Count, mean and second moment of every feature within each class, of dense or CSR rows; NaN is skipped.

    >>> moments = FeatureMoments()
    >>> moments.learn(np.array([[0.0, 1.0], [2.0, 5.0], [4.0, 9.0]]), np.array([0, 0, 1]), 2)
    >>> moments.read(np.array([1])).mean.tolist()
    [[3.0], [9.0]]
    """

    def __init__(self) -> None:
        self._moments: Any = None
        self._labels: Any = ()

    def learn(self, rows: Any, codes: Codes, n_classes: int) -> None:
        """Add rows; ValueError for infinity, and then nothing has changed."""
        from streamsift.core.batch import CheckedBatch
        from streamsift.core.vocabulary import FeatureVocabulary
        from streamsift.summaries.moments import ClassMoments, SparseClassMoments  # numba: not before it is needed

        if len(self._labels) < n_classes:
            self._labels = range(n_classes)
        sparse = not isinstance(rows, np.ndarray)
        if self._moments is None:
            kind = SparseClassMoments if sparse else ClassMoments
            self._moments = kind.empty(1.0, len(self._labels), rows.shape[1])
        X = _csr(rows) if sparse else _dense(rows, self._moments.mean.shape[1])  # NaN: a feature that rows lack
        batch = CheckedBatch(
            X, codes, FeatureVocabulary(None, X.shape[1]), self._labels, 0, has_absent=not sparse, sparse=sparse
        )
        try:
            self._moments.learn(batch, skip_missing=False)
        except InputError:  # rare enough to be found out this way
            try:
                self._moments.learn(batch, skip_missing=True)
            except InputError as error:
                raise ValueError(str(error)) from error

    def read(self, selected: Indices) -> Any:
        """The `summaries.moments.Moments` of the selected features."""
        return self._moments.read(selected)


def _dense(rows: NDArray[Any], width: int) -> NDArray[Any]:
    """Rows as the kernels want them: floats in C order, read-only; features that these rows lack are NaN."""
    X = np.ascontiguousarray(rows, rows.dtype if rows.dtype in (np.float32, np.float64) else np.float64)
    if X.shape[1] < width:
        wide = np.full((len(X), width), np.nan, X.dtype)
        wide[:, : X.shape[1]] = X
        X = wide
    view = X.view()
    view.flags.writeable = False
    return view


def _csr(rows: Any) -> Any:
    if rows.dtype not in (np.float32, np.float64):
        rows = rows.astype(np.float64)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows
