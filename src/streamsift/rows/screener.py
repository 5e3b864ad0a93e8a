"""Screener: five scores of single features against the class, over a stream of rows.

Paper: M. Wang and A. Barbu, Online Feature Screening for Data Streams with Concept Drift (2021).

A score is computed from a summary that is updated row by row, whatever the cut into batches:

    t_score, fisher             class moments (summaries/moments.py), Eqs. 1 and 2
    mutual_info, chi2, gini     class weights in bins of equal rank (summaries/quantiles.py), Eqs. 4, 5 and 6

Where this deviates from the paper:
- 2.1.1: MS_2 is printed with x_1 for x_2. Moments are kept by Welford's and Chan's formulas instead of mean squares
  minus squared means, so a feature with mean 1e8 and variance 1 scores as it does after subtracting its mean.
- 2.1.3: faded sums are divided by the faded number of rows of their class. The sums as printed are not means, and
  scores from them rank features almost at random. The clock of fading is global: every row ages every class.
- Eq. 1 with more than two classes: the largest one-vs-rest value.
- Algorithm 3 compares a single bin with a cumulative position; here the position of a tuple is its lowest rank r, and
  its bin is #{h >= 1 : round(h n / n_bins) <= r}, so equal values share a bin.
- Gini (Eq. 6): "no split" counts as a cut. `scores_` is the impurity removed by the best cut (higher is better),
  `criterion_values_` the impurity that is left, as in the paper.
- 2.2.2: one level of tuples with known rank uncertainty instead of many levels (see summaries/quantiles.py).

A feature that is constant, or seen with one class only, scores 0. Perfect separation with zero variance scores inf.
Time per row: O(features), amortised; sparse rows O(non-zeros). Memory: moments 16 bytes per class and feature;
bins about 2 / eps tuples per feature plus a buffer of up to 16,384 rows (180 MB at most, unless 1 / eps rows need
more).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from streamsift.core.batch import CheckedBatch
from streamsift.core.constraints import Integer, Limits, OneOf, Real
from streamsift.core.guard import one_thread
from streamsift.core.rows import N_FEATURES_LIMITS, NEW_FEATURES_LIMITS, RowSelector
from streamsift.core.tags import StreamTags
from streamsift.summaries.moments import ClassMoments, Moments, SparseClassMoments
from streamsift.summaries.quantiles import QuantileSummary
from streamsift.summaries.sparse_quantiles import SparseQuantileSummary

Floats = NDArray[np.float64]
Summary = ClassMoments | SparseClassMoments | QuantileSummary | SparseQuantileSummary


class Screener(RowSelector):
    """Score each feature by itself against the class, and select the best.

    Parameters
    ----------
    criterion : {"t_score", "fisher", "mutual_info", "chi2", "gini"}, default "mutual_info"
        The score to compute; see the module docstring for the formulas. Mutual information uses natural logarithms.
    n_features_to_select : int or float, default 10
        How many features to select: a number (all, where there are fewer), or a fraction in (0, 1].
    fading : float in (0, 1], default 1.0
        Weight of a row relative to the next one (the paper's alpha, per row). 1 remembers everything; 0.999 forgets
        half within 693 rows.
    eps : float in (0, 1), default 0.001
        Largest error of a rank, as a share of the rows; only the bin scores use it.
    n_bins : int, default 5
        Bins of equal rank for the bin scores.
    missing : {"error", "skip"}, default "error"
        Whether NaN is refused, or not counted for its feature.
    new_features : {"error", "add"}, default "error"
        Whether a feature that arrives late is refused or given a slot. In dense rows it counts as missing before, in
        sparse rows as 0.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Higher is more relevant.
    criterion_values_ : ndarray of shape (n_features,)
        The paper's raw value: the same as `scores_`, but for Gini, where lower is better.
    classes_ : ndarray
        Labels in the order of their first appearance.
    n_rows_seen_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift import Screener
    >>> rng = np.random.default_rng(0)
    >>> selector = Screener(criterion="fisher", n_features_to_select=1)
    >>> for _ in range(10):
    ...     y = rng.choice(["up", "down"], 100)
    ...     X = rng.normal(size=(100, 4))
    ...     X[:, 2] += y == "up"
    ...     selector = selector.partial_fit(X, y)
    >>> selector.get_support(indices=True).tolist(), selector.n_rows_seen_
    ([2], 1000)
    """

    parameter_limits: ClassVar[Limits] = {
        "criterion": (OneOf("t_score", "fisher", "mutual_info", "chi2", "gini"),),
        "n_features_to_select": N_FEATURES_LIMITS,
        "fading": (Real(0, 1, closed="right"),),
        "eps": (Real(1e-6, 0.5, closed="both"),),
        "n_bins": (Integer(2, 10_000),),
        "missing": (OneOf("error", "skip"),),
        "new_features": NEW_FEATURES_LIMITS,
    }
    scans_itself: ClassVar[bool] = True

    def __init__(
        self,
        criterion: str = "mutual_info",
        *,
        n_features_to_select: int | float = 10,
        fading: float = 1.0,
        eps: float = 0.001,
        n_bins: int = 5,
        missing: str = "error",
        new_features: str = "error",
    ) -> None:
        self.criterion = criterion
        self.n_features_to_select = n_features_to_select
        self.fading = fading
        self.eps = eps
        self.n_bins = n_bins
        self.missing = missing
        self.new_features = new_features

    def stream_tags(self) -> StreamTags:
        """Moments merge exactly, bins within eps; everything else holds for all five scores."""
        return _EXACT if self.criterion in _FROM_MOMENTS else _BOUNDED

    def _begin(self, batch: CheckedBatch) -> Summary:
        n_classes, n_features = len(batch.labels), batch.features.n_features
        if self.criterion in _FROM_MOMENTS:
            kind = SparseClassMoments if batch.sparse else ClassMoments
            return kind.empty(float(self.fading), n_classes, n_features)
        if batch.sparse:
            return SparseQuantileSummary.empty(float(self.eps), float(self.fading), n_classes, n_features)
        return QuantileSummary.empty(float(self.eps), float(self.fading), n_classes, n_features, batch.X.dtype)

    def _learn(self, state: Summary, batch: CheckedBatch) -> None:
        wants_sparse = isinstance(state, (SparseClassMoments, SparseQuantileSummary))
        state.learn(batch.as_sparse(wants_sparse), skip_missing=self.missing == "skip")

    def _score(self, state: Summary) -> Floats:
        values = self._values(state)
        return _impurity_removed(values) if self.criterion == "gini" else values[0]

    @property
    @one_thread
    def criterion_values_(self) -> Floats:
        """The paper's raw value of each feature."""
        check_is_fitted(self)
        return self._values(self._state)[0].copy()  # type: ignore[no-any-return]

    def _values(self, state: Summary) -> Floats:
        """One or more rows of values; the first is the criterion."""
        if isinstance(state, ClassMoments | SparseClassMoments):
            return _FROM_MOMENTS[self.criterion](state.read())[None]
        counts = state.bin_counts(int(self.n_bins))
        values = np.atleast_2d(_FROM_BINS[self.criterion](counts))
        if self.criterion != "gini":  # one bin or one class tells nothing: exactly 0, whatever the rounding
            several = (np.count_nonzero(counts.sum(axis=1), axis=1) > 1) & (
                np.count_nonzero(counts.sum(axis=2), axis=1) > 1
            )
            values *= several
        return values

    def _align_classes(self, state: Summary, codes: NDArray[np.int64], n_classes: int) -> Summary:
        return state.aligned(codes, n_classes)

    def _merge(self, state: Any, other: Any) -> None:
        state.merge(other)

    def _type_of_state(self, arrays: dict[str, NDArray[Any]]) -> type[Any]:
        if self.criterion in _FROM_MOMENTS:
            return SparseClassMoments if "state.nonzero" in arrays else ClassMoments
        return SparseQuantileSummary if "state.start" in arrays else QuantileSummary


# -- scores from class moments ----------------------------------------------------------------------------------


def t_score(moments: Moments) -> Floats:
    """Eq. 1, |mean_1 - mean_2| / sqrt(var_1 / n_1 + var_2 / n_2); the largest one-vs-rest value for more classes."""
    weight = np.broadcast_to(moments.weight, moments.mean.shape)
    n_classes = len(weight)
    if n_classes < 2:
        return np.zeros(weight.shape[1])
    best = np.zeros(weight.shape[1])
    for c in range(n_classes if n_classes > 2 else 1):
        rest = np.arange(n_classes) != c
        n_rest, mean_rest, m2_rest = _pooled(weight[rest], moments.mean[rest], moments.m2[rest])
        squared_error = _ratio(moments.m2[c], weight[c] ** 2) + _ratio(m2_rest, n_rest**2)
        both = (weight[c] > 0) & (n_rest > 0)
        best = np.maximum(
            best, _ratio(np.where(both, np.abs(moments.mean[c] - mean_rest), 0.0), np.sqrt(squared_error))
        )
    return best


def fisher(moments: Moments) -> Floats:
    """Eq. 2, sum n_c (mean_c - mean)^2 / sum n_c var_c."""
    weight = np.broadcast_to(moments.weight, moments.mean.shape)
    total = weight.sum(axis=0)
    # Around the largest class's mean, so that classes with the same mean differ by exactly 0.
    anchor = moments.mean[np.argmax(weight, axis=0), np.arange(weight.shape[1])]
    offset = np.where(weight > 0, moments.mean - anchor, 0.0)
    centre = _ratio((weight * offset).sum(axis=0), total)
    between = (weight * (offset - centre) ** 2).sum(axis=0)
    return _ratio(between, moments.m2.sum(axis=0))


def _pooled(weight: Floats, mean: Floats, m2: Floats) -> tuple[Floats, Floats, Floats]:
    """Weight, mean and second moment of several classes taken together."""
    if len(weight) == 1:
        return weight[0], mean[0], m2[0]
    total = weight.sum(axis=0)
    anchor = mean[np.argmax(weight, axis=0), np.arange(weight.shape[1])]
    offset = np.where(weight > 0, mean - anchor, 0.0)
    centre = _ratio((weight * offset).sum(axis=0), total)
    return total, anchor + centre, (m2 + weight * (offset - centre) ** 2).sum(axis=0)


def _ratio(above: Floats, below: Floats) -> Floats:
    """above / below, where 0 / 0 is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(above == 0.0, 0.0, above / below)


# -- scores from bin counts (n_features, n_bins, n_classes) -------------------------------------------------------


def mutual_info(counts: Floats) -> Floats:
    """Eq. 4, in nats."""
    total = counts.sum(axis=(1, 2), keepdims=True)
    joint = _ratio(counts, total)
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=2, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(joint > 0.0, joint * np.log(joint / independent), 0.0)
    return np.asarray(np.maximum(terms.sum(axis=(1, 2)), 0.0))


def chi2(counts: Floats) -> Floats:
    """Eq. 5."""
    total = counts.sum(axis=(1, 2), keepdims=True)
    expected = _ratio(counts.sum(axis=1, keepdims=True) * counts.sum(axis=2, keepdims=True), total)
    return np.asarray(_ratio((counts - expected) ** 2, expected).sum(axis=(1, 2)))


def gini(counts: Floats) -> Floats:
    """Eq. 6 as two rows: the impurity left by the best cut, and the impurity without a cut."""
    below = np.concatenate([np.zeros_like(counts[:, :1]), np.cumsum(counts, axis=1)[:, :-1]], axis=1)
    above = counts.sum(axis=1, keepdims=True) - below
    total = counts.sum(axis=(1, 2))
    # n P(A) (1 - sum P(c|A)^2) = n_A - sum n_Ac^2 / n_A; the first cut has nothing below it: no split.
    left = sum(side.sum(axis=2) - _ratio((side**2).sum(axis=2), side.sum(axis=2)) for side in (below, above))
    impurity = _ratio(np.asarray(left), total[:, None])
    return np.stack([impurity.min(axis=1), impurity[:, 0]])


def _impurity_removed(values: Floats) -> Floats:
    return np.asarray(np.maximum(values[1] - values[0], 0.0))


_EXACT = StreamTags(mergeable="exact", batch_invariant=True, sparse=True, missing=True, late_features=True)
_BOUNDED = replace(_EXACT, mergeable="bounded")
_FROM_MOMENTS: dict[str, Callable[[Moments], Floats]] = {"t_score": t_score, "fisher": fisher}
_FROM_BINS: dict[str, Callable[[Floats], Floats]] = {"mutual_info": mutual_info, "chi2": chi2, "gini": gini}
