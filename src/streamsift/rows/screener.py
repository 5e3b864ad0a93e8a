"""Screener: scores of single features against the class, or against a number, over a stream of rows.

Paper: M. Wang and A. Barbu, Online Feature Screening for Data Streams with Concept Drift (2021).

A score is computed from a summary that is updated row by row, whatever the cut into batches:

    t_score, fisher             class moments (summaries/moments.py), Eqs. 1 and 2
    mutual_info, chi2, gini     class weights in bins of equal rank (summaries/quantiles.py), Eqs. 4, 5 and 6
    correlation                 class moments; of a number, the moments of feature and target together
                                (summaries/target_correlations.py, rows/target_scores.py). Not of the paper
    mutual_info, chi2, gini     of a number: the same with bins of the target for classes. They follow its running
                                quantiles (summaries/target_cells.py, docs/adr/0019). Not of the paper

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
more); categories 8 bytes per class and category plus 24, up to max_categories of them. A number has four classes for
each of its bins, and not fewer than 20.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import CheckedBatch
from streamsift.core.categories import Mapped
from streamsift.core.constraints import Integer, Limits, OneOf, Real
from streamsift.core.exceptions import InputError, ParameterError
from streamsift.core.guarantees import IsGuarantee, kept
from streamsift.core.guard import one_thread
from streamsift.core.half_life import HALF_LIFE_LIMITS, TIME_LIMITS
from streamsift.core.one_hot import NUMBER, OneHotColumns
from streamsift.core.rows import N_FEATURES_LIMITS, NEW_FEATURES_LIMITS, RowSelector
from streamsift.core.selection import rank_scores
from streamsift.core.tags import StreamTags
from streamsift.core.why import Evidence
from streamsift.rows.class_scores import FROM_BINS, FROM_MOMENTS, class_p_values, class_scores, class_values
from streamsift.rows.evidence import of_summary, of_target
from streamsift.rows.ladder import LADDERS, RATES, Judge, Ladder
from streamsift.rows.screening_formulas import fisher
from streamsift.rows.target_scores import TargetScores, target_scores
from streamsift.summaries.category_counts import CategoryCounts
from streamsift.summaries.class_reading import ClassReading
from streamsift.summaries.cut_target import CUT, CutTarget
from streamsift.summaries.fading import refuse_heavy_rows
from streamsift.summaries.mixed import MIXED, MixedSummary
from streamsift.summaries.moments import ClassMoments, SparseClassMoments, refuse_bad_values
from streamsift.summaries.quantiles import LONGEST_LIST, QuantileSummary
from streamsift.summaries.sparse_quantiles import SparseQuantileSummary
from streamsift.summaries.target_cells import MOST_BINS, TargetCells, n_cells_for
from streamsift.summaries.target_correlations import TargetCorrelations

Floats = NDArray[np.float64]


class Screener(RowSelector):
    """Score each feature by itself against the target, and select the best.

    Parameters
    ----------
    criterion : {"t_score", "fisher", "mutual_info", "chi2", "gini", "correlation"}, default "mutual_info"
        The score to compute; see the module docstring for the formulas. Mutual information uses natural logarithms.
        The correlation is Pearson's, without its sign; of categories, or with classes, it is the correlation ratio.
    task : {"classification", "regression"}, default "classification"
        Whether y holds classes or numbers. For numbers there are "correlation", "mutual_info", "chi2" and "gini", and
        no fading="auto".
    n_features_to_select : int, float or str, default 10
        How many features to select: a number (all, where there are fewer), a fraction in (0, 1], or as many as a rule
        on their p-values allows: "fdr" or "fdr:0.05" (false discovery rate), "fwe:0.05" (any false selection),
        "fpr:0.05" (each feature for itself), which are also `Fdr(0.05)`, `Fwe(0.05)`, `Fpr(0.05)`.
    fading : float in (0, 1] or "auto", default 1.0
        Weight of a row relative to the next one (the paper's alpha, per row). 1 remembers everything; 0.999 forgets
        half within 693 rows. "auto" remembers everything until it sees drift, and from then on takes whichever of
        0.9999, 0.999, 0.995, 0.98 and 1 classifies best (`fading_` says which). It keeps all five side by side: five
        times the memory and time and, for scores from bins, moments and counts beside them; selectors cannot be
        merged. On 11 drifting streams it gains 4 points of accuracy on average, on 16 others it loses nothing
        (docs/methods/defaults.md); for what it costs it is not the default.
    half_life : float, str or None, default None
        Fading as people think of it: after how long a row weighs half. A number counts rows, and stands for
        fading = 0.5 ** (1 / half_life). A text such as "90s", "15m", "1h" or "7d" is event time: it needs the time of
        each row (`time`), and a row weighs 0.5 ** (age / half_life), its age being its distance from the latest row so
        far. A row that comes late therefore weighs less from the start, and does not age the others. Give this or
        `fading`.
    time : str or None, default None
        The column with the times of the rows, for a half-life in event time: dates, or seconds. It is no feature.
        Without it, times are given to `partial_fit`.
    eps : float in (0, 1), default 0.001
        Largest error of a rank, as a share of the rows; only the bin scores use it.
    n_bins : int, default 5
        Bins of equal rank for the bin scores.
    target_bins : int, default 5
        Bins of equal weight that the bin scores cut a target of numbers into, at its running quantiles.
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
        The fading per row in use: the parameter, what the half-life in rows stands for, or what "auto" has come to; 1
        with event time, where rows do not fade by their number.
    classes_ : ndarray
        Labels in the order of their first appearance; not there for regression.
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

    A number to explain:

    >>> X = rng.normal(size=(500, 4))
    >>> selector = Screener("correlation", task="regression", n_features_to_select="fdr:0.05")
    >>> selector.partial_fit(X, 3.0 * X[:, 2] - X[:, 1] + rng.normal(size=500)).selected_
    ['x2', 'x1']
    """

    parameter_limits: ClassVar[Limits] = {
        "criterion": (OneOf("t_score", "fisher", "mutual_info", "chi2", "gini", "correlation"),),
        "task": (OneOf("classification", "regression"),),
        "n_features_to_select": (*N_FEATURES_LIMITS, IsGuarantee()),
        "fading": (Real(0, 1, closed="right"), OneOf("auto")),
        "half_life": HALF_LIFE_LIMITS,
        "time": TIME_LIMITS,
        "eps": (Real(1e-6, 0.5, closed="both"),),
        "n_bins": (Integer(2, 10_000),),
        "target_bins": (Integer(2, MOST_BINS),),
        "max_categories": (Integer(1, 1_000_000),),
        "missing": (OneOf("error", "skip"),),
        "new_features": NEW_FEATURES_LIMITS,
    }
    scans_itself: ClassVar[bool] = True
    gaps_where_missing: ClassVar[bool] = True
    usual_rule: ClassVar[str] = "fdr:0.05"  # how many features are selected where nobody says how many

    def __init__(
        self,
        criterion: str = "mutual_info",
        *,
        task: str = "classification",
        n_features_to_select: int | float | str = 10,
        fading: float | str = 1.0,
        half_life: float | str | None = None,
        time: str | None = None,
        eps: float = 0.001,
        n_bins: int = 5,
        target_bins: int = 5,
        max_categories: int = 1000,
        missing: str = "error",
        new_features: str = "error",
    ) -> None:
        self.criterion = criterion
        self.task = task
        self.n_features_to_select = n_features_to_select
        self.fading = fading
        self.half_life = half_life
        self.time = time
        self.eps = eps
        self.n_bins = n_bins
        self.target_bins = target_bins
        self.max_categories = max_categories
        self.missing = missing
        self.new_features = new_features

    def stream_tags(self) -> StreamTags:
        """Moments merge exactly, bins within eps, ladders of several rates not at all; the rest holds for all."""
        tags = _EXACT if self.criterion in FROM_MOMENTS else _BOUNDED
        if self.fading == "auto":
            return _LADDER
        one_hot = self._numeric and self.criterion == "correlation"
        categorical = "one_hot" if one_hot else tags.categorical
        cuts = self.criterion in FROM_BINS
        return replace(tags, regression=self.criterion in _FOR_NUMBERS, cuts_target=cuts, categorical=categorical)

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None, time: Any = None
    ) -> Self:
        """Learn one more batch.

        Parameters
        ----------
        X, y : rows and their labels
            Rows whose label is missing are left out and counted in `n_rows_unlabelled_`.
        classes : labels, optional
            May announce labels in advance; labels may also appear unannounced.
        sample_weight : one number per row, optional
            Up to a million; 0 leaves a row out. A row of weight 2 counts twice in every class count, mean and variance;
            the cut points of bins are at equal ranks of the rows, whatever they weigh.
        time : one time per row, or the name of a column, optional
            When the rows happened, for a half-life in event time: dates, or seconds. A column is taken out of X.
        """
        return self._absorb(X, y, classes, weight=sample_weight, time=time)

    def _times_from(self, given: Any) -> Any:
        self._refuse_numbers()
        return super()._times_from(given)

    def _refuse_numbers(self) -> None:
        """Refuse a task that these settings are not for."""
        if self._numeric and self.criterion not in _FOR_NUMBERS:
            raise ParameterError(
                f"criterion={self.criterion!r} compares classes, and y is to be taken for numbers (task='regression'): "
                f"set criterion to one of {', '.join(map(repr, _FOR_NUMBERS))}, or use Joint."
            )
        if self._numeric and self.fading == "auto":
            raise ParameterError("fading='auto' goes by how well rows are classified: give a number for regression.")

    def _faded(self, batch: CheckedBatch, latest: float | None) -> float | None:
        refuse_heavy_rows(batch)
        return super()._faded(batch, latest)

    def _begin(self, batch: CheckedBatch) -> MixedSummary | Ladder | TargetCorrelations | CutTarget:
        if self._numeric and self.criterion == "correlation":
            return TargetCorrelations.empty(self._rate(), batch.X.shape[1])
        kind = self._kind(batch.sparse)
        if self.fading != "auto":
            summary = self._empty(kind, self._rate(), batch)
            return CutTarget.of(TargetCells.empty(self._rate(), self._n_cells()), summary) if self._numeric else summary
        moments = _MOMENTS[batch.sparse]
        summaries = [self._empty(kind, rate, batch) for rate in RATES]
        pilots = [] if kind is moments else [self._empty(moments, rate, batch) for rate in RATES]
        ladder: Ladder = LADDERS[kind](Judge.empty(), *summaries, *pilots)
        return ladder

    def _kind(self, sparse: bool) -> type[Any]:
        return _MOMENTS[sparse] if self.criterion in FROM_MOMENTS else _BINS[sparse]

    def _n_cells(self) -> int:
        return n_cells_for(int(self.target_bins))

    def _n_columns(self, n_classes: int) -> int:
        """How many classes, or what stands for them, each feature is counted by."""
        if not self._numeric:
            return max(n_classes, 2)
        return self._n_cells() if self.criterion in FROM_BINS else 2

    def _bytes_needed(self, n_features: int, n_classes: int) -> int:
        per_feature = 75 if self.criterion in FROM_MOMENTS else 220  # and class
        ladder = len(RATES) if self.fading == "auto" else 1
        return per_feature * n_features * self._n_columns(n_classes) * ladder

    def _bytes_at_most(self, n_features: int, n_classes: int, n_values: int | None) -> int:
        """What any number of rows may take, for lists of bins grow; `n_values` of sparse rows: their non-zeros."""
        needed = self._bytes_needed(n_features, n_classes)
        if self.criterion in FROM_MOMENTS:
            return needed
        a_tuple = 8 * (3 + self._n_columns(n_classes))
        lists = int(2 * LONGEST_LIST / self.eps * a_tuple + 16 / self.eps) * n_features  # twice: while they are widened
        return needed + (lists if n_values is None else min(lists, 3 * a_tuple * n_values))

    def _empty(self, kind: type[Any], fading: float, batch: CheckedBatch) -> MixedSummary:
        n_numbers = batch.features.n_features
        if batch.categorical is not None:
            n_numbers -= int(np.count_nonzero(batch.categorical))
        if not batch.sparse:
            n_numbers -= len(batch.categories.undecided)
        sizes = (len(batch.labels), n_numbers)
        if kind in _MOMENTS:
            numbers = kind.empty(fading, *sizes)
        else:
            dtype = () if batch.sparse else (batch.X.dtype,)
            numbers = kind.empty(float(self.eps), fading, *sizes, *dtype)
        return MixedSummary.of(numbers, CategoryCounts.empty(fading, int(self.max_categories), len(batch.labels)))

    def _learn(self, state: MixedSummary | Ladder | TargetCorrelations | CutTarget, batch: CheckedBatch) -> None:
        skip = self.missing == "skip"
        if isinstance(state, TargetCorrelations | CutTarget) != self._numeric:
            raise ParameterError("The task cannot change after the first batch: call fit to begin anew.")
        if isinstance(state, TargetCorrelations):
            self._learn_numbers(state, batch, skip_missing=skip)
        elif isinstance(state, Ladder):
            state.learn(batch, fisher, skip_missing=skip)
        else:
            state.learn(batch, skip_missing=skip)

    def _learn_numbers(self, state: TargetCorrelations, batch: CheckedBatch, *, skip_missing: bool) -> None:
        assert batch.target is not None
        refuse_bad_values(batch, nan_allowed=skip_missing or batch.has_absent)
        if batch.weight is not None:
            values = np.abs(batch.X.data if batch.sparse else batch.X)
            largest = max(float(np.nanmax(values, initial=1.0)), float(np.abs(batch.target).max(initial=1.0)))
            if np.log10(max(float(batch.weight.sum()), 1.0)) + 2.0 * np.log10(largest) > 300.0:
                raise InputError(f"Values up to {largest:.3g} with such weights overflow: divide the weights or X.")
        was_zero = np.full(batch.X.shape[1], batch.sparse)
        if batch.categorical is not None and batch.categories.names:
            was_zero |= batch.categorical
        state.learn(batch.X, batch.target, was_zero, batch.weight, batch.decay)

    def _by_feature(self, values: Floats) -> Floats:
        return values if self._numeric else super()._by_feature(values)

    def _of_target(self) -> TargetScores:
        """Value, score and p-value of each feature, where the target is a number."""
        self._refuse_other_than({"correlation"})
        if "of_target" not in self._cache:
            self._cache["of_target"] = target_scores(self._state, self._columns, self._features.n_features)
        return self._cache["of_target"]  # type: ignore[no-any-return]

    def _reading(self) -> ClassReading:
        """The counts or moments of the classes, or of the bins of the target."""
        if isinstance(self._state, CutTarget):
            self._refuse_other_than(FROM_BINS)
            return self._state.reading(int(self.target_bins))
        reading = ClassReading(self._state.in_use if isinstance(self._state, Ladder) else self._state)
        self._refuse_other_than(FROM_MOMENTS if isinstance(reading.summary.numbers, _MOMENTS) else FROM_BINS)
        return reading

    def _refuse_other_than(self, readable: Collection[str]) -> None:
        """A criterion set after learning must be one that what was learnt can tell."""
        if self.criterion not in readable:
            raise ParameterError(
                f"{self.criterion!r} cannot be told from what was learnt, only {' or '.join(sorted(readable))} can: "
                "set criterion to that, or call fit to begin anew."
            )

    def _score(self, state: MixedSummary | Ladder | TargetCorrelations | CutTarget) -> Floats:
        if isinstance(state, TargetCorrelations):
            return self._of_target().scores
        return class_scores(self.criterion, self._reading(), int(self.n_bins))

    @property
    @one_thread
    def pvalues_(self) -> Floats:
        """The p-value of each feature."""
        self._refuse_unfitted()
        return self._p_values()

    def _p_values(self) -> Floats:
        if isinstance(self._state, TargetCorrelations):
            return self._of_target().p_values.copy()
        return self._by_feature(class_p_values(self.criterion, self._reading(), int(self.n_bins)))

    @property
    @one_thread
    def held_back_(self) -> int:
        """How many more features a rule such as "fdr:0.05" would select if tails were not as heavy; 0 without one."""
        self._refuse_unfitted()
        if not isinstance(self._state, TargetCorrelations) or not isinstance(self.n_features_to_select, str):
            return 0
        plain = kept(self.n_features_to_select, self._of_target().plain)
        return int(plain.sum()) - int(kept(self.n_features_to_select, self._p_values()).sum())

    def _chosen(self) -> NDArray[np.intp]:
        if not isinstance(self.n_features_to_select, str):
            return super()._chosen()
        order = rank_scores(self.scores_)
        return order[kept(self.n_features_to_select, self._p_values())[order]]

    @property
    @one_thread
    def fading_(self) -> float:
        """The fading in use."""
        self._refuse_unfitted()
        return self._state.rate if isinstance(self._state, Ladder) else self._rate()

    @property
    @one_thread
    def criterion_values_(self) -> Floats:
        """The paper's raw value of each feature."""
        self._refuse_unfitted()
        if isinstance(self._state, TargetCorrelations):
            return self._of_target().values.copy()
        return class_values(self.criterion, self._reading(), int(self.n_bins))

    def _evidence(self, slot: int) -> Evidence:
        if "p_values" not in self._cache:
            self._cache["p_values"] = self._p_values()
        figures = (("p-value", float(self._cache["p_values"][slot])),)
        if isinstance(self._state, TargetCorrelations):
            return of_target(self._state, [slot] if self._columns is None else self._columns.of(slot), figures)
        return of_summary(self._reading(), slot, self._class_names(), self._categories.names, figures)

    def _class_names(self) -> tuple[str, ...]:
        if not isinstance(self._state, CutTarget):
            return super()._class_names()
        return tuple(f"about {mean:.4g}" for mean in self._state.cells.groups(int(self.target_bins)).means)

    def _align_classes(self, state: MixedSummary, codes: NDArray[np.int64], n_classes: int) -> MixedSummary:
        return state.aligned(codes, n_classes)

    def _align_categories(self, state: MixedSummary | CutTarget, mapped: Mapped) -> MixedSummary | CutTarget:
        return state.renamed(mapped)

    def _align_columns(
        self, state: TargetCorrelations, places: NDArray[np.int64], columns: OneHotColumns
    ) -> TargetCorrelations:
        return state.placed(places, np.where(columns.codes == NUMBER, -1, columns.features))

    def _merge(self, state: Any, other: Any) -> None:
        state.merge(other)

    def _problem_of(self, state: Any) -> str | None:
        if not isinstance(state, TargetCorrelations | CutTarget):
            return None
        fading = state.cells.fading if isinstance(state, CutTarget) else state.fading
        return None if self.fading != "auto" and fading == self._rate() else "it has another 'fading'"

    def _type_of_state(self, arrays: dict[str, NDArray[Any]]) -> type[Any]:
        if self._numeric and self.criterion == "correlation":
            return TargetCorrelations
        ladder = self.fading == "auto"
        first = f"state.{'rung_0.' if ladder else 'summary.' if self._numeric else ''}numbers."
        kind = self._kind(f"{first}nonzero" in arrays or f"{first}start" in arrays)
        if self._numeric:
            return CUT[MIXED[kind]]
        return LADDERS[kind] if ladder else MIXED[kind]


_EXACT = StreamTags(
    mergeable="exact",
    batch_invariant=True,
    sparse=True,
    missing=True,
    late_features=True,
    categorical="counts",
    weights=True,
    fades=True,
)
_BOUNDED = replace(_EXACT, mergeable="bounded")
_LADDER = replace(_EXACT, mergeable="no", weights=False, fades=False)
_MOMENTS = (ClassMoments, SparseClassMoments)  # of dense and of sparse rows
_BINS = (QuantileSummary, SparseQuantileSummary)
_FOR_NUMBERS = ("correlation", *FROM_BINS)  # criteria
