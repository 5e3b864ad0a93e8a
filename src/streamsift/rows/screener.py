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
- Categories, of which the paper says nothing, are counted one by one (summaries/category_counts.py) and scored by the
  same formulas with categories for bins; see rows/category_scores.py. `scores_` leaves out what many categories gain by
  chance alone, `criterion_values_` does not.

A feature that is constant, or seen with one class only, scores 0. Perfect separation with zero variance scores inf.
Time per row: O(features), amortised; sparse rows O(non-zeros). Memory: moments 16 bytes per class and feature;
bins about 2 / eps tuples per feature plus a buffer of up to 16,384 rows (180 MB at most, unless 1 / eps rows need
more); categories 8 bytes per class and category plus 24, up to max_categories of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from streamsift.core.batch import CheckedBatch
from streamsift.core.categories import Mapped
from streamsift.core.constraints import Integer, Limits, OneOf, Real
from streamsift.core.guard import one_thread
from streamsift.core.rows import N_FEATURES_LIMITS, NEW_FEATURES_LIMITS, RowSelector
from streamsift.core.tags import StreamTags
from streamsift.rows.category_scores import category_score
from streamsift.rows.ladder import LADDERS, RATES, Judge, Ladder
from streamsift.rows.screening_formulas import chi2, fisher, gini, impurity_removed, mutual_info, t_score
from streamsift.summaries.category_counts import CategoryCounts
from streamsift.summaries.mixed import MIXED, MixedSummary, NumberSummary
from streamsift.summaries.moments import ClassMoments, Moments, SparseClassMoments
from streamsift.summaries.quantiles import QuantileSummary
from streamsift.summaries.sparse_quantiles import SparseQuantileSummary

Floats = NDArray[np.float64]


class Screener(RowSelector):
    """Score each feature by itself against the class, and select the best.

    Parameters
    ----------
    criterion : {"t_score", "fisher", "mutual_info", "chi2", "gini"}, default "mutual_info"
        The score to compute; see the module docstring for the formulas. Mutual information uses natural logarithms.
    n_features_to_select : int or float, default 10
        How many features to select: a number (all, where there are fewer), or a fraction in (0, 1].
    fading : float in (0, 1] or "auto", default 1.0
        Weight of a row relative to the next one (the paper's alpha, per row). 1 remembers everything; 0.999 forgets
        half within 693 rows. "auto" remembers everything until it sees drift, and from then on takes whichever of
        0.9999, 0.999, 0.995, 0.98 and 1 classifies best (`fading_` says which). It keeps all five side by side: five
        times the memory and time and, for scores from bins, moments beside them; selectors cannot be merged. On 11
        drifting streams it gains 4 points of accuracy on average, on 16 others it loses nothing
        (docs/methods/defaults.md); for what it costs it is not the default.
    eps : float in (0, 1), default 0.001
        Largest error of a rank, as a share of the rows; only the bin scores use it.
    n_bins : int, default 5
        Bins of equal rank for the bin scores.
    max_categories : int, default 1000
        How many categories of a feature are counted each for itself; the rarest of more are counted together. With n
        rows, a category of more than n / max_categories rows is always counted for itself, from at most
        n / max_categories of its rows on.
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
        The paper's raw value: the same as `scores_`, but for Gini, where lower is better, and for features of many
        categories, where it includes what they gain by chance.
    fading_ : float
        The fading in use: the parameter, or what "auto" has come to.
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

    Columns of text in a table are categories, and so is whatever a file's reader takes for them:

    >>> import pandas as pd
    >>> shops = pd.DataFrame({"shop": ["north", "south", "east", "south"] * 50, "price": np.arange(200.0)})
    >>> Screener(n_features_to_select=1).partial_fit(shops, [1, 0, 1, 0] * 50).selected_
    ['shop']
    """

    parameter_limits: ClassVar[Limits] = {
        "criterion": (OneOf("t_score", "fisher", "mutual_info", "chi2", "gini"),),
        "n_features_to_select": N_FEATURES_LIMITS,
        "fading": (Real(0, 1, closed="right"), OneOf("auto")),
        "eps": (Real(1e-6, 0.5, closed="both"),),
        "n_bins": (Integer(2, 10_000),),
        "max_categories": (Integer(1, 1_000_000),),
        "missing": (OneOf("error", "skip"),),
        "new_features": NEW_FEATURES_LIMITS,
    }
    scans_itself: ClassVar[bool] = True

    def __init__(
        self,
        criterion: str = "mutual_info",
        *,
        n_features_to_select: int | float = 10,
        fading: float | str = 1.0,
        eps: float = 0.001,
        n_bins: int = 5,
        max_categories: int = 1000,
        missing: str = "error",
        new_features: str = "error",
    ) -> None:
        self.criterion = criterion
        self.n_features_to_select = n_features_to_select
        self.fading = fading
        self.eps = eps
        self.n_bins = n_bins
        self.max_categories = max_categories
        self.missing = missing
        self.new_features = new_features

    def stream_tags(self) -> StreamTags:
        """Moments merge exactly, bins within eps, ladders of several rates not at all; the rest holds for all."""
        if self.fading == "auto":
            return _LADDER
        return _EXACT if self.criterion in _FROM_MOMENTS else _BOUNDED

    def _begin(self, batch: CheckedBatch) -> MixedSummary | Ladder:
        kind, n_features = self._kind(batch.sparse), batch.features.n_features
        if self.fading == "auto":  # numbers only: the tags refuse categories
            moments = _MOMENTS[batch.sparse]
            summaries = [self._empty(kind, rate, batch, n_features) for rate in RATES]
            pilots = [] if kind is moments else [self._empty(moments, rate, batch, n_features) for rate in RATES]
            ladder: Ladder = LADDERS[kind](Judge.empty(), *summaries, *pilots)
            return ladder
        n_numbers = n_features
        if batch.categorical is not None:
            n_numbers -= int(np.count_nonzero(batch.categorical))
        if not batch.sparse:
            n_numbers -= len(batch.categories.undecided)
        fading = float(self.fading)
        numbers = self._empty(kind, fading, batch, n_numbers)
        return MixedSummary.of(numbers, CategoryCounts.empty(fading, int(self.max_categories), len(batch.labels)))

    def _kind(self, sparse: bool) -> type[Any]:
        return _MOMENTS[sparse] if self.criterion in _FROM_MOMENTS else _BINS[sparse]

    def _empty(self, kind: type[Any], fading: float, batch: CheckedBatch, n_features: int) -> Any:
        sizes = (len(batch.labels), n_features)
        if kind in _MOMENTS:
            return kind.empty(fading, *sizes)
        dtype = () if batch.sparse else (batch.X.dtype,)
        return kind.empty(float(self.eps), fading, *sizes, *dtype)

    def _learn(self, state: MixedSummary | Ladder, batch: CheckedBatch) -> None:
        skip = self.missing == "skip"
        if isinstance(state, Ladder):
            wants_sparse = isinstance(state.in_use, (SparseClassMoments, SparseQuantileSummary))
            state.learn(batch.as_sparse(wants_sparse), fisher, skip_missing=skip)
        else:
            state.learn(batch, skip_missing=skip)

    def _score(self, state: MixedSummary | Ladder) -> Floats:
        values = self._number_values(state)
        of_numbers = impurity_removed(values) if self.criterion == "gini" else values[0]
        return self._spread(state, of_numbers, "score")

    @property
    @one_thread
    def fading_(self) -> float:
        """The fading in use."""
        check_is_fitted(self)
        return self._state.rate if isinstance(self._state, Ladder) else float(self.fading)

    @property
    @one_thread
    def criterion_values_(self) -> Floats:
        """The paper's raw value of each feature."""
        check_is_fitted(self)
        return self._spread(self._state, self._number_values(self._state)[0], "value")

    def _spread(self, state: MixedSummary | Ladder, of_numbers: Floats, wanted: str) -> Floats:
        """One number per feature: numeric ones as given, categorical ones from their counts."""
        if isinstance(state, Ladder):
            return of_numbers.copy()
        if len(state.number_slots) == state.n_features and not state.categories.n_features:
            return of_numbers.copy()
        found = np.zeros(state.n_features)
        found[state.number_slots] = of_numbers
        for slot, table in zip(state.category_slots, state.categories.tables(), strict=True):
            found[slot] = getattr(category_score(self.criterion, table, int(self.n_bins)), wanted)
        return found

    def _number_values(self, state: MixedSummary | Ladder) -> Floats:
        """One or more rows of values of the numeric features; the first is the criterion."""
        if isinstance(state, MixedSummary) and not len(state.number_slots):
            return np.zeros((2, 0))
        numbers: NumberSummary = state.in_use if isinstance(state, Ladder) else state.numbers
        if isinstance(numbers, ClassMoments | SparseClassMoments):
            return _FROM_MOMENTS[self.criterion](numbers.read())[None]
        counts = numbers.bin_counts(int(self.n_bins))
        values = np.atleast_2d(_FROM_BINS[self.criterion](counts))
        if self.criterion != "gini":  # one bin or one class tells nothing: exactly 0, whatever the rounding
            several = (np.count_nonzero(counts.sum(axis=1), axis=1) > 1) & (
                np.count_nonzero(counts.sum(axis=2), axis=1) > 1
            )
            values *= several
        return values

    def _align_classes(self, state: MixedSummary, codes: NDArray[np.int64], n_classes: int) -> MixedSummary:
        return state.aligned(codes, n_classes)

    def _align_categories(self, state: MixedSummary, mapped: Mapped) -> MixedSummary:
        return state.renamed(mapped)

    def _merge(self, state: Any, other: Any) -> None:
        state.merge(other)

    def _type_of_state(self, arrays: dict[str, NDArray[Any]]) -> type[Any]:
        first = "state.rung_0." if self.fading == "auto" else "state.numbers."
        kind = self._kind(f"{first}nonzero" in arrays or f"{first}start" in arrays)
        return LADDERS[kind] if self.fading == "auto" else MIXED[kind]


_EXACT = StreamTags(
    mergeable="exact", batch_invariant=True, sparse=True, missing=True, late_features=True, categorical="counts"
)
_BOUNDED = replace(_EXACT, mergeable="bounded")
_LADDER = replace(_EXACT, mergeable="no", categorical="refuses")
_MOMENTS = (ClassMoments, SparseClassMoments)  # of dense and of sparse rows
_BINS = (QuantileSummary, SparseQuantileSummary)
_FROM_MOMENTS: dict[str, Callable[[Moments], Floats]] = {"t_score": t_score, "fisher": fisher}
_FROM_BINS: dict[str, Callable[[Floats], Floats]] = {"mutual_info": mutual_info, "chi2": chi2, "gini": gini}
