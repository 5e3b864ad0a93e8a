"""ABFS: boosted decision stumps that follow drift; each stump selects one feature.

Paper: J. P. Barddal et al., Boosting Decision Stumps for Dynamic Feature Selection on Data Streams (2019).

A row passes through the units in the order of their creation. A unit is a frozen stump, the weights it has classified
correctly (c) and wrongly (e), and a drift detector that watches its errors. The row starts with weight 1, or with its
`sample_weight` (a detector sees each row once, whatever its weight, since it watches when errors come); each unit
adds the weight to c or e and then multiplies it, by (c + e) / 2c where it was right and by (c + e) / 2e where it was
wrong. With the weight that is left the row trains the candidate, a stump over all features not selected yet. Each time
the candidate has seen `grace_period` units of weight its best split is tested; if it passes, the stump is frozen, its
feature selected, and a new candidate begins. When a detector flags a drift, its unit and all later ones are removed.

Where this deviates from the paper and from the authors' program:
- Eq. 8 has the two factors swapped; Algorithm 1 (lines 11 and 15) is right and used here.
- Line 28 of Algorithm 1 is off by one: the text removes the unit that flagged, too, and so does this.
- The condition of 4.2.1, tau > difference > epsilon, cannot hold as printed where epsilon > tau. The default is the
  test of the authors' program, merit > threshold; split_test="hoeffding" asks in addition for difference > epsilon or
  epsilon < tau, as Hoeffding trees do, with the weight the candidate has seen as n.
- ADWIN flags a drift only where the error has risen; HDDM-A restarts silently where it has fallen.
- When a drift has removed all units, the text of the paper leaves the selection empty. The default is that of the
  authors' program, which goes on reporting the last one; `when_empty="none"` (and `ABFS.paper()`) follows the text.
- The grace period grows with the stream from 50 to the paper's 500: with 500 a stream of a few hundred rows would never
  select anything. A split must then also have more merit than the best of so many features has by chance.
  `ABFS.paper()` has 500 from the start and no such limit.
- merit="gini" is the impurity a split removes, so that 0 means useless as it does for the information gain.
- A value that a stump has not met is always an error; in the authors' program it counts as the first class for the
  weights and as an error for the detector.

Targets that are numbers (`task="regression"`), of which the paper says nothing: boosting for squared errors. Each unit
takes its prediction, the mean of the branch, from the target, and what is left goes on to the next and at last to the
candidate, so that a copy of a selected feature has nothing left to explain; rows keep the weight they came with. Of a
stump, column and cut are frozen, and the means of its branches go on learning (kernels/number_stump.py says why). The
merit is the share of the variance that a split removes, of a numeric column at the ends of 64 bins of equal width
(kernels/number_stump.py). A detector sees absolute errors between 0 and 1 (rows/number_stump.py), and c and e of a unit
are its weight times 1 minus the error, and times the error. "auto" asks for more merit than 4 log(10 features) per row.

A row costs O(units + features), a test O(features * classes * cuts). Memory: 32 bytes per class and numeric feature (of
numbers 1 kB per feature), 8 per class and category, and O(log rows) per unit for ADWIN.
"""

from __future__ import annotations

import copy
import warnings
from functools import cache
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import CheckedBatch
from streamsift.core.constraints import ArrayLike, HasMethods, Integer, IsNone, Limits, OneOf, Real
from streamsift.core.exceptions import EmptySelectionWarning, ParameterError, SavedStateError
from streamsift.core.guard import one_thread
from streamsift.core.rows import RowSelector
from streamsift.core.selection import rank_scores
from streamsift.core.tags import StreamTags
from streamsift.drift import ADWIN, HDDM_A, HDDM_W, Bank, Detector
from streamsift.kernels.stump import NO_EVENT, TEST_DUE, Span
from streamsift.rows.boosted import BoostedNumbers, BoostedStumps, begin
from streamsift.rows.stump import Columns, Floats, Ints, categorical_mask
from streamsift.summaries.fading import refuse_heavy_rows, refuse_heavy_squares

# Rows whose errors are marked ahead of their detectors; no power of two, or all units would share one cache set.
BLOCK = 500
SHORTEST, LONGEST = 50.0, 500.0  # of the grace periods that "auto" takes

_DETECTORS: dict[str, type[Detector]] = {"adwin": ADWIN, "hddm_a": HDDM_A, "hddm_w": HDDM_W}


class DriftEvent(NamedTuple):
    """A drift: the row of the stream (from 0) that flagged it, the unit (from 0), the features that were dropped."""

    row: int
    unit: int
    features: tuple[int, ...]


class Unit(NamedTuple):
    """A boosting unit: its feature, the merit of its split, the row that completed it, its correct and wrong weight."""

    feature: int
    merit: float
    row: int
    correct: float
    wrong: float


class ABFS(RowSelector):
    """Adaptive boosting for feature selection; the method itself decides how many features to select.

    Until the first feature is selected, all features count as selected, and `transform` says so in a warning, once.
    When a drift has removed all units, the last selection stays until a new unit is found (`when_empty`).

    Parameters
    ----------
    grace_period : int or "auto", default "auto"
        Weight the candidate must see between two tests of its splits. "auto" is a tenth of the rows before the last
        test or drift, at least 50 and at most 500: short streams select something, long ones are as in the paper. Few
        rows give the best of many features merit by chance, so "auto" asks for a merit of more than 2 log2(features)
        per row seen, too; of numbers 4 log(10 features).
    threshold : float, default 0.01
        Merit a split must exceed (the paper's theta).
    task : {"classification", "regression"}, default "classification"
        Whether y holds classes or numbers.
    detector : {"adwin", "hddm_a", "hddm_w"} or object, default "adwin"
        The drift detector that watches the errors of a unit. An object needs river's `update(x)` and `drift_detected`;
        each unit gets its own by `clone()`, or a deep copy where there is no such method. Selectors with an object
        cannot be saved.
    merit : {"info_gain", "gini"}, default "info_gain"
        Impurity that a split removes: entropy in bits, or Gini impurity. Of numbers the merit is the share of their
        variance that a split removes, and "gini" is refused.
    split_test : {"threshold", "hoeffding"}, default "threshold"
        Whether the best split only has to exceed `threshold`, or also to pass the test of Hoeffding trees: that the
        second best is worse by more than Hoeffding's bound. Of numbers that is river's rule for regression trees: the
        merit of the second best over that of the best is less than 1 by more than the bound.
    when_empty : {"keep", "all", "none"}, default "keep"
        What is selected between a drift that has removed all units and the next unit: what was selected before the
        drift, all features, or none.
    categorical : None, "all", list of columns or mask, default None
        The columns whose numbers are codes of categories, whole numbers from 0 on; by position, by name, or as one
        bool per column. None uses what the stream declares; columns are numeric where it declares nothing. Columns of
        text, bools or categories of a table are categorical in any case.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The merit of the split by which a feature was selected, 0 for all others.
    units_ : list of Unit
        Feature, merit, row, correct and wrong weight of each unit, in the order of their creation.
    drifts_ : list of DriftEvent
        Row, unit and dropped features of each drift; the latest 1000.
    n_drifts_ : int
        The number of all drifts.
    classes_ : ndarray
        Labels in the order of their first appearance; not there for regression.
    n_rows_seen_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift.rows.abfs import ABFS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(4000, 6))
    >>> y = np.where(np.arange(4000) < 2000, X[:, 1], X[:, 4])
    >>> selector = ABFS(grace_period=200, threshold=0.1, categorical="all").partial_fit(X[:2000], y[:2000])
    >>> selector.get_support(indices=True).tolist()
    [1]
    >>> selector = selector.partial_fit(X[2000:], y[2000:])
    >>> selector.get_support(indices=True).tolist(), [drift.features for drift in selector.drifts_]
    ([4], [(1, 4)])
    """

    parameter_limits: ClassVar[Limits] = {
        "task": (OneOf("classification", "regression"),),
        "grace_period": (Integer(1, None), OneOf("auto")),
        "threshold": (Real(0, None, closed="left"),),
        "detector": (OneOf(*_DETECTORS), HasMethods("update", "drift_detected")),
        "merit": (OneOf("info_gain", "gini"),),
        "split_test": (OneOf("threshold", "hoeffding"),),
        "when_empty": (OneOf("keep", "all", "none"),),
        "categorical": (IsNone(), OneOf("all"), ArrayLike()),
    }
    state_type = BoostedStumps
    scans_itself: ClassVar[bool] = True

    def __init__(
        self,
        grace_period: int | str = "auto",
        threshold: float = 0.01,
        *,
        task: str = "classification",
        detector: Any = "adwin",
        merit: str = "info_gain",
        split_test: str = "threshold",
        when_empty: str = "keep",
        categorical: Any = None,
    ) -> None:
        self.grace_period = grace_period
        self.threshold = threshold
        self.task = task
        self.detector = detector
        self.merit = merit
        self.split_test = split_test
        self.when_empty = when_empty
        self.categorical = categorical

    @classmethod
    def paper(cls, grace_period: int = 500, threshold: float = 0.01, **settings: Any) -> Self:
        """A selector with the paper's settings where the defaults are others; `settings` are further parameters.

        >>> ABFS.paper().when_empty
        'none'
        """
        return cls(grace_period, threshold, **({"when_empty": "none"} | settings))

    def stream_tags(self) -> StreamTags:
        """Row by row, so batches do not matter; what was learnt depends on the order of the rows."""
        return StreamTags(mergeable="no", batch_invariant=True, categorical="counts", weights=True, regression=True)

    def _problem_of(self, state: BoostedStumps) -> str | None:
        if not isinstance(self.detector, str):
            return "a selector with a detector object cannot be loaded"
        wanted, bank = _detector(self.detector).bank(0), state.bank
        for name in ("sums", "filled", "buckets"):
            if getattr(bank, name).shape[1:] != getattr(wanted, name).shape[1:]:
                return f"'bank.{name}' is not that of the detector {self.detector!r}"
        return None

    # -- learning -----------------------------------------------------------------------------------------------

    def _begin(self, batch: CheckedBatch) -> BoostedStumps:
        if self._numeric and self.merit != "info_gain":
            raise ParameterError(
                f"merit={self.merit!r} compares classes, and y is to be taken for numbers (task='regression'), whose "
                "merit is the share of the variance that a split removes: leave merit out."
            )
        columns = Columns.of(categorical_mask(self.categorical, batch))
        bank = _detector(self.detector).bank(0) if isinstance(self.detector, str) else Bank.fresh(0, 0)
        return begin(columns, bank, None if self._numeric else len(batch.labels))

    def _type_of_state(self, arrays: dict[str, NDArray[Any]]) -> type[Any]:
        return BoostedNumbers if self._numeric else BoostedStumps

    def _bytes_needed(self, n_features: int, n_classes: int) -> int:
        return 1200 * n_features if self._numeric else super()._bytes_needed(n_features, n_classes)

    def _learn(self, state: BoostedStumps, batch: CheckedBatch) -> None:
        needed = state.columns.check(batch)
        refuse_heavy_rows(batch)
        refuse_heavy_squares(batch)
        if isinstance(self.detector, str):
            self._learn_checked(state, batch, needed)
            return
        trial = copy.deepcopy(state)  # the user's detector may raise half way
        self._learn_checked(trial, batch, needed)
        vars(state).update(vars(trial))

    def _learn_checked(self, state: BoostedStumps, batch: CheckedBatch, needed: Ints) -> None:
        state.grow(needed, len(batch.labels))
        for first in range(0, batch.n_rows, BLOCK):
            self._learn_block(state, batch, first, min(first + BLOCK, batch.n_rows))

    def _learn_block(self, state: BoostedStumps, batch: CheckedBatch, first: int, end: int) -> None:
        """Learn the rows first:end, from event to event.

        A frozen stump's errors depend on the rows (and, of numbers, on the units before it) alone, and its detector on
        its errors alone. So both run ahead to the end of the block; what they say is used row by row.
        """
        errors = np.zeros((len(state.features), end - first))
        state.mark(batch, Span(first, first, end), 0, errors)
        alarm = self._detect(state, errors, 0)
        begin = first
        while begin < end:
            period = self._grace_period(state)
            row, event = state.boost(batch, Span(first, begin, end), errors, alarm, period)
            if event == NO_EVENT:
                return
            begin = row + 1
            state.last_event = batch.first_row + begin
            if event != TEST_DUE:
                state.drop_units(event, batch.first_row + row)
                state.candidate.clear()
                errors, alarm = errors[:event], alarm[:event]
            elif self._select(state, batch.first_row + row):
                state.candidate.clear()
                unit = len(alarm)
                ahead = np.zeros((unit + 1, end - first))
                state.mark(batch, Span(first, begin, end), unit, ahead)
                late = self._detect(state, np.ascontiguousarray(ahead[:, begin - first :]), unit)[unit]
                alarm = np.append(alarm, late + (begin - first) if late >= 0 else late)
                ahead[:unit] = errors
                errors = ahead

    def _grace_period(self, state: BoostedStumps) -> float:
        if isinstance(self.grace_period, str):
            return min(max(state.last_event / 10.0, SHORTEST), LONGEST)
        return float(self.grace_period)

    def _detect(self, state: BoostedStumps, errors: Floats, first: int) -> Ints:
        """The column of `errors` at which the detector of each unit from `first` on flags a drift, or -1."""
        if isinstance(self.detector, str):
            if len(state.bank) < len(errors):
                state.bank.grow(len(errors) + len(errors) // 2)
            return _detector(self.detector).scan(state.bank, errors, first=first, rises_only=True)
        alarm = np.full(len(errors), -1, np.int64)
        for unit in range(first, len(errors)):
            if unit == len(state.objects):
                clone = getattr(self.detector, "clone", None)
                state.objects.append(copy.deepcopy(self.detector) if clone is None else clone())
            alarm[unit] = _first_alarm(state.objects[unit], errors[unit] if self._numeric else errors[unit].astype(int))
        return alarm

    def _select(self, state: BoostedStumps, row: int) -> bool:
        """Test the candidate's splits; freeze the best one if it passes."""
        is_open = np.ones(state.columns.n_features, bool)
        is_open[state.features] = False
        merits, cuts = state.candidate.merits(state.columns, is_open, self.merit)
        best = int(np.argmax(merits))  # the first where several are best
        if not merits[best] > self._hurdle(state):
            return False
        if self.split_test == "hoeffding" and not state.candidate.is_certain(merits, best, self.merit):
            return False
        merit = float(merits[best])
        state.stumps.freeze(best, float(cuts[best]), merit, state.columns, state.candidate)
        state.add_unit(best, merit, row)
        return True

    def _hurdle(self, state: BoostedStumps) -> float:
        """The threshold; with grace_period="auto" at least what the best of so many features has by chance."""
        if not isinstance(self.grace_period, str):
            return float(self.threshold)
        return max(float(self.threshold), state.candidate.chance(state.columns.n_features, self.merit))

    # -- answers ------------------------------------------------------------------------------------------------

    def _score(self, state: BoostedStumps) -> Floats:
        scores = np.zeros(state.columns.n_features)
        features, merits = self._reported(state)
        scores[features] = merits
        return scores

    def _reported(self, state: BoostedStumps) -> tuple[Ints, Floats]:
        """The features of the units and their merits; those before the last drift where there are none."""
        if self.when_empty == "keep" and len(state.features) == 0:
            return state.kept_features, state.kept_merits
        return state.features, state.merits

    def _chosen(self) -> NDArray[np.intp]:
        number = len(self._reported(self._state)[0])
        if number == 0 and (self.when_empty == "all" or not self._state.has_selected):
            number = self._features.n_features
        return rank_scores(self.scores_)[:number]

    @one_thread
    def transform(self, X: Any) -> Any:
        """Keep the selected columns of X; all of them, with a warning once, while nothing has been selected yet."""
        self._refuse_unfitted()
        kept = super().transform(X)
        if not self._state.has_selected and not self._state.has_warned:
            self._state.has_warned = True
            warnings.warn(
                f"No feature has been selected in {self.n_rows_seen_} rows: all features are passed through until the "
                "first one is.",
                EmptySelectionWarning,
                stacklevel=3,
            )
        return kept

    @property
    @one_thread
    def units_(self) -> list[Unit]:
        """The boosting units, in the order of their creation."""
        self._refuse_unfitted()
        state = self._state
        parts = (state.features, state.merits, state.rows, state.correct, state.wrong)
        return [Unit(*values) for values in zip(*(part.tolist() for part in parts), strict=True)]

    @property
    @one_thread
    def drifts_(self) -> list[DriftEvent]:
        """The latest drifts, oldest first."""
        self._refuse_unfitted()
        state = self._state
        ends = np.cumsum(state.drift_sizes)
        groups = [state.drift_features[end - size : end] for size, end in zip(state.drift_sizes, ends, strict=True)]
        return [
            DriftEvent(row, unit, tuple(features.tolist()))
            for row, unit, features in zip(state.drift_rows.tolist(), state.drift_units.tolist(), groups, strict=True)
        ]

    @property
    @one_thread
    def n_drifts_(self) -> int:
        """The number of drifts since the beginning of the stream."""
        self._refuse_unfitted()
        return int(self._state.n_drifts)

    @one_thread
    def state_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything learnt, as named arrays (copies); refused with a detector object, whose state is its own."""
        self._refuse_unfitted()
        if not isinstance(self.detector, str):
            raise SavedStateError(
                f"ABFS cannot save the state of its detector {type(self.detector).__name__}: use detector='adwin', "
                "'hddm_a' or 'hddm_w' where a selector is to be saved."
            )
        return super().state_arrays()


def _first_alarm(detector: Any, values: NDArray[Any]) -> int:
    for place, value in enumerate(values.tolist()):
        detector.update(value)
        if detector.drift_detected:
            return place
    return -1


@cache
def _detector(name: str) -> Detector:
    """The settings of a detector of ours, checked once; what it has seen is in the bank."""
    return _DETECTORS[name]()
