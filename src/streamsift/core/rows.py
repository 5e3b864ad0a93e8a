"""RowSelector: the base of every method over a stream of rows.

A method implements three hooks and receives the rest (fit, partial_fit, scores, support, transform, names, merging,
state as arrays). The hooks:

    _begin(batch) -> state             an empty state for these features and classes
    _learn(state, batch) -> None       absorb a checked batch; whatever can fail, fails before the state changes
    _score(state) -> array             one score per feature, higher is better

and `_merge(state, other)` where the tag `mergeable` is not "no". A state is a dataclass of arrays (core/state.py).

Codes of categories in a batch are the selector's own: `batch.categorical` marks the features that have them,
`batch.categories` names them. Names decide, so the codes of a category are the same in every batch, after loading, and
whatever the source. A method whose state depends on codes implements `_align_categories`, or cannot be merged with a
selector that numbered the categories differently. A method that tags itself `categorical="one_hot"` never meets a
code: its batches have a column of 0 and 1 for each category (core/one_hot.py), `_score` gives one score for each such
column, and the largest of a feature's columns is its score.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from streamsift.core.batch import CheckedBatch, check_batch, column_names, looks_like_frame, without_weightless_rows
from streamsift.core.categories import NO_CATEGORIES, CategoryVocabulary, Mapped
from streamsift.core.constraints import Fraction, Integer, Limits, OneOf, check_parameters
from streamsift.core.copies import CopiedByState
from streamsift.core.estimators import BaseEstimator, SelectorMixin
from streamsift.core.exceptions import (
    EmptySelectionWarning,
    InputError,
    MergeError,
    NotEnoughMemoryError,
    NumbersAsLabelsError,
    OneClassWarning,
    ParameterError,
    SavedStateError,
)
from streamsift.core.guard import enter, held, one_thread
from streamsift.core.half_life import fading_to_merge, rate_of, times_for, weigh_by_time
from streamsift.core.memory import ran_out, refuse_too_large
from streamsift.core.merging import merge_into
from streamsift.core.one_hot import OneHotColumns
from streamsift.core.selection import Selection, how_many, rank_scores
from streamsift.core.sparse import in_format_of
from streamsift.core.state import EventTime, RowCounts, UnlabelledRows, state_from_arrays, state_to_arrays
from streamsift.core.tags import StreamTags
from streamsift.core.vocabulary import FeatureVocabulary, LabelVocabulary, saved_labels, saved_names
from streamsift.core.why import Explains

N_FEATURES_LIMITS = (Integer(1, None), Fraction())
NEW_FEATURES_LIMITS = (OneOf("error", "add"),)
CATEGORICAL_LIMITS = (OneOf("one_hot", "codes"),)


class RowSelector(Explains, CopiedByState, SelectorMixin, BaseEstimator):
    """Base class of row selectors; see the module docstring for the hooks."""

    parameter_limits: ClassVar[Limits] = {}
    state_type: ClassVar[type[Any]]
    gaps_where_missing: ClassVar[bool] = False  # whether a missing category is NaN in its columns, and not 0
    scans_itself: ClassVar[bool] = False  # the method's kernels notice NaN and infinity
    bytes_per_feature: ClassVar[int] = 100  # and class, at the most that learning and scoring take

    n_features_to_select: int | float | str | None  # a parameter of every method that leaves `_chosen` as it is
    n_rows_seen_: int
    _n_unlabelled: int = 0
    _latest: float | None = None  # the latest event time, in seconds
    _state: Any
    _features: FeatureVocabulary
    _labels: LabelVocabulary
    _categories: CategoryVocabulary
    _columns: OneHotColumns | None = None  # where categories have columns of their own
    _cache: dict[str, Any]

    # -- what a method implements -------------------------------------------------------------------------------

    def stream_tags(self) -> StreamTags:
        """The promises of this method."""
        return StreamTags()

    def _begin(self, batch: CheckedBatch) -> Any:
        raise NotImplementedError

    def _learn(self, state: Any, batch: CheckedBatch) -> None:
        raise NotImplementedError

    def _score(self, state: Any) -> NDArray[np.float64]:
        raise NotImplementedError

    def _merge(self, state: Any, other: Any) -> None:
        """Add `other` (aligned to the same features and classes) to `state`."""
        raise NotImplementedError

    def _bytes_needed(self, n_features: int, n_classes: int) -> int:
        """About how many bytes learning and scoring take at this width, without the rows; the method knows."""
        return self.bytes_per_feature * n_features * max(n_classes, 2)

    def _type_of_state(self, arrays: dict[str, NDArray[Any]]) -> type[Any]:
        """The dataclass behind saved arrays; methods with more than one kind of state override this."""
        return self.state_type

    def _problem_of(self, state: Any) -> str | None:
        """Why a saved state cannot belong to these parameters, in a few words; what it declares is checked before."""
        return None

    def _align_classes(self, state: Any, codes: NDArray[np.int64], n_classes: int) -> Any:
        """A copy of `state` whose class c has moved to codes[c], with room for n_classes."""
        raise NotImplementedError

    def _align_categories(self, state: Any, mapped: Mapped) -> Any:
        """A copy of `state` in which code c of feature j has become mapped[j][c]; other features stay as they are.

        Asked for only where codes really change. The default refuses, in words.
        """
        name = self._features.name(min(mapped))
        raise MergeError(
            f"Cannot merge: the two selectors met the categories of column {name!r} in different orders, and the state "
            f"of {type(self).__name__} depends on their codes; feed one selector with all rows, or load one and go on."
        )

    def _align_columns(self, state: Any, places: NDArray[np.int64], columns: OneHotColumns) -> Any:
        """A copy of `state` whose column j has moved to places[j] of these; every row had the others as 0.

        Asked for only where categories have columns of their own. The default refuses, in words.
        """
        raise MergeError(
            f"{type(self).__name__} cannot be merged where categories have columns of their own: leave them out, or "
            "code them as numbers."
        )

    @property
    def _numeric(self) -> bool:
        """Whether the target is a number: y is not encoded, and there are no classes."""
        return bool(getattr(self, "task", "classification") == "regression")

    def _chosen(self) -> NDArray[np.intp]:
        """The selected feature indices, best first. Methods that decide the number themselves override this."""
        wanted = how_many(self.n_features_to_select, self._features.n_features)
        return rank_scores(self.scores_)[:wanted]

    # -- learning -----------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Forget everything, then learn X and y as one batch."""
        return self._absorb(X, y, None, fresh=True)

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn one more batch.

        `classes` may announce labels in advance; labels may also appear unannounced. Rows whose label is missing (None,
        NaN or empty text) are left out and counted in `n_rows_unlabelled_`; a method that uses no labels learns them.
        `sample_weight` has a non-negative number for each row; methods without the tag `weights` refuse it.
        """
        return self._absorb(X, y, classes, weight=sample_weight)

    def _absorb(
        self, X: Any, y: Any, classes: Any, *, fresh: bool = False, weight: Any = None, time: Any = None
    ) -> Self:
        lock = enter(self)
        try:
            return self._take_in(X, y, classes, fresh, weight, time)
        except MemoryError as error:
            if isinstance(error, NotEnoughMemoryError):
                raise
            raise ran_out(type(self).__name__, int(np.shape(X)[-1])) from error
        finally:
            lock.release()

    def _take_in(self, X: Any, y: Any, classes: Any, again: bool, weight: Any, time: Any) -> Self:
        fresh = again or not hasattr(self, "n_rows_seen_")
        if fresh:
            check_parameters(type(self).__name__, self.get_params(deep=False), self.parameter_limits)
        time = self._times_from(time)
        rows_before = 0 if fresh else self.n_rows_seen_
        tags = self.stream_tags()
        if weight is not None and not tags.weights:
            raise ParameterError(f"{type(self).__name__} gives every row the same weight: leave sample_weight out.")
        try:
            batch = check_batch(
                X,
                y,
                owner=type(self).__name__,
                features=None if fresh else self._features,
                labels=None if fresh else self._labels,
                categories=NO_CATEGORIES if fresh else self._categories,
                classes=classes,
                weight=weight,
                grow=getattr(self, "new_features", "error") == "add",
                late=hasattr(self, "new_features"),
                sparse=tags.sparse,
                missing=getattr(self, "missing", "error") == "skip",
                scan=not self.scans_itself,
                needs_y=tags.supervised,
                numeric_target=self._numeric,
                first_row=rows_before,
                unlabelled=True,
                time=time,
            )
        except NumbersAsLabelsError as error:
            raise NumbersAsLabelsError(error.found, _advice_on_numbers(type(self).__name__, tags)) from None
        n_unlabelled = batch.n_unlabelled + (0 if again else self._n_unlabelled)
        if not batch.n_rows:
            if again:
                raise InputError(f"No row has a label: {type(self).__name__} learns from rows that have one.")
            self._n_unlabelled = n_unlabelled
            return self
        if batch.categorical is not None and tags.categorical == "refuses" and batch.categorical.any():
            name = batch.features.name(int(np.argmax(batch.categorical)))
            raise InputError(
                f"Column {name!r} holds categories, which {type(self).__name__} cannot use: leave it out, or code it "
                "as several columns of 0 and 1."
            )
        latest = self._faded(batch, None if fresh else self._latest)
        columns = None if fresh else self._columns
        seen = batch = without_weightless_rows(batch)
        if not batch.n_rows:  # all weights are 0
            self._n_unlabelled = n_unlabelled
            return self
        if tags.categorical == "one_hot" and (batch.categories.names or columns is not None):
            known = columns or OneHotColumns.of_numbers(0 if fresh else self._features.n_features)
            skips = getattr(self, "missing", "error") == "skip"
            seen, columns = known.expanded(batch, missing=skips, gaps=self.gaps_where_missing)
        if fresh or batch.features is not self._features or batch.labels is not self._labels:
            n_features, n_classes = seen.features.n_features, len(seen.labels)
            refuse_too_large(type(self).__name__, self._bytes_needed(n_features, n_classes), n_features, n_classes)
        state = self._begin(seen) if fresh else self._state
        self._learn(state, seen)
        # Nothing has failed: from here on the object changes.
        self._state, self._columns, self._latest = state, columns, latest
        if fresh or batch.features is not self._features or batch.labels is not self._labels:
            self._know(batch.features, batch.labels)
        else:
            self._cache = {}
        self._categories = batch.categories
        self.n_rows_seen_, self._n_unlabelled = rows_before + batch.n_rows, n_unlabelled
        return self

    def _times_from(self, given: Any) -> Any:
        """Where the times of the rows are to be found, and whether the parameters of fading fit each other."""
        return times_for(self, given) if hasattr(self, "half_life") else given

    def _faded(self, batch: CheckedBatch, latest: float | None) -> float | None:
        """Give a batch the weights that follow from its times; the latest time so far is returned."""
        return weigh_by_time(batch, getattr(self, "half_life", None), latest)

    def _rate(self) -> float:
        """The fading per row, of a method that fades."""
        return rate_of(self.fading, self.half_life)  # type: ignore[attr-defined]  # methods that fade have both

    def _know(self, features: FeatureVocabulary, labels: LabelVocabulary) -> None:
        self._features, self._labels, self._cache = features, labels, {}
        self.n_features_in_ = features.n_features
        if features.names is not None:
            self.feature_names_in_ = np.array(features.names, object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if self.stream_tags().supervised and not self._numeric:
            self.classes_ = labels.as_array()

    @property
    @one_thread
    def n_rows_unlabelled_(self) -> int:
        """Rows that came without a label and were left out; `n_rows_seen_` does not count them."""
        return self._n_unlabelled

    # -- answers ------------------------------------------------------------------------------------------------

    @one_thread
    def set_params(self, **params: Any) -> Self:
        """Set parameters; answers are found anew."""
        if hasattr(self, "_cache"):
            self._cache = {}
        super().set_params(**params)
        return self

    def _refuse_unfitted(self) -> None:
        if not hasattr(self, "n_rows_seen_"):  # asked first: scikit-learn's own check takes longer than many answers
            # Rows may have come: those without a label, or with a weight of 0, are taken, and teach nothing.
            need = "a label and a weight above 0" if self.stream_tags().supervised else "a weight above 0"
            check_is_fitted(self, msg=f"%(name)s has not learnt anything yet: give it rows that have {need} first.")

    @property
    @one_thread
    def scores_(self) -> NDArray[np.float64]:
        """One score per feature, higher is more relevant; computed when asked for."""
        self._refuse_unfitted()
        if "scores" not in self._cache:
            self._cache["scores"] = self._by_feature(self._score(self._state))
        return self._cache["scores"].copy()  # type: ignore[no-any-return]

    def _by_feature(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """One value per feature from one per column: that of its column with the highest score."""
        if self._columns is None:
            return values
        return self._columns.per_feature(values, self._score(self._state), self._features.n_features)

    @property
    @one_thread
    def ranking_(self) -> NDArray[np.intp]:
        """The rank of each feature, 1 is best; equal scores rank in the order of the columns."""
        order = rank_scores(self.scores_)
        ranks = np.empty(len(order), np.intp)
        ranks[order] = np.arange(1, len(order) + 1)
        return ranks

    @property
    def selected_(self) -> list[str]:
        """The names of the selected features, best first."""
        return list(self.selection().names)

    @one_thread
    def selection(self) -> Selection:
        """The current selection, best feature first, with names and scores."""
        self._refuse_unfitted()
        self._warn_if_one_class()
        chosen, scores = self._chosen(), self.scores_
        names = tuple(self._features.name(int(index)) for index in chosen)
        return Selection(chosen, names, scores[chosen], self._features.n_features, self.n_rows_seen_)

    @one_thread
    def _get_support_mask(self) -> NDArray[np.bool_]:
        self._refuse_unfitted()
        self._warn_if_one_class()
        mask = np.zeros(self._features.n_features, bool)
        mask[self._chosen()] = True
        return mask

    def _warn_if_one_class(self) -> None:
        if self.stream_tags().supervised and not self._numeric and len(self._labels) < 2:
            label = self._labels.labels[0] if len(self._labels) else None
            warnings.warn(
                f"All {self.n_rows_seen_} rows so far have the label {label!r}: every score is 0 and the selection "
                "means nothing until a second class arrives.",
                OneClassWarning,
                stacklevel=4,
            )

    @one_thread
    def transform(self, X: Any) -> Any:
        """Keep the selected columns of X, in the order of the columns, as the kind of table or matrix that X is.

        A frame of pandas or polars and a table of pyarrow keep the names, the types and the index of their columns; a
        sparse matrix keeps its format. Categories of other data come back as they were given, in an array of objects.
        `set_output` of scikit-learn chooses a frame for everything.

        With new_features="add", X may hold columns nobody knows yet (they are left out) and may lack known ones (a
        selected one is then NaN in the result, or 0 if X is sparse).
        """
        self._refuse_unfitted()
        batch = check_batch(
            X,
            None,
            owner=type(self).__name__,
            features=self._features,
            categories=self._categories,
            grow=getattr(self, "new_features", "error") == "add",
            late=hasattr(self, "new_features"),
            missing=getattr(self, "missing", "error") == "skip",
            needs_y=False,
            bare_codes=True,
            time=self._time_column(X),
        )
        mask = self._get_support_mask()
        if not mask.any():
            warnings.warn("No feature is selected: the result has no columns.", EmptySelectionWarning, stacklevel=3)
        chosen = np.flatnonzero(mask)  # columns nobody knows come behind the mask
        kept = batch.X[:, chosen]
        if batch.sparse:
            return in_format_of(X, kept)
        named = bool(batch.categories.names) and any(int(slot) in batch.categories.names for slot in chosen)
        if named or looks_like_frame(X):
            from streamsift.core.tables import as_given, wanted_container  # pyarrow: only for those who need it

            return as_given(X, kept, chosen, batch, wanted_container(self))
        return np.array(kept)

    def _time_column(self, X: Any) -> str | None:
        """The column of X that is no feature but the time of the rows."""
        name = getattr(self, "time", None)
        return name if name is not None and name in column_names(X) else None

    # -- merging and state --------------------------------------------------------------------------------------

    def merge(self, other: Self) -> Self:
        """Add what `other` has learnt, as if its rows had come to this selector too.

        Refused when settings or features differ. How exact it is, the tag `mergeable` says. Where rows fade by their
        number, both count as equally recent; where they fade by event time, each row weighs what its time says.
        """
        return self._merged(other, later=False)

    def merge_later(self, other: Self) -> Self:
        """Add what `other` has learnt from rows that came after all rows of this selector: its own fade accordingly.

        Without fading this is `merge`.
        """
        return self._merged(other, later=True)

    @one_thread
    def _merged(self, other: Self, *, later: bool) -> Self:
        if type(other) is not type(self):
            raise MergeError(
                f"Cannot merge a {type(other).__name__} into a {type(self).__name__}: give two of the same method."
            )
        with held(other):
            merge_into(self, other, later=later)
        return self

    def _fading_to_merge(self, other: Self, *, later: bool) -> tuple[float, float, float | None]:
        """By how much the two states fade before they are added, and their latest event time after that."""
        return fading_to_merge(self, other, later=later) if hasattr(self, "half_life") else (1.0, 1.0, self._latest)

    @one_thread
    def state_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything learnt, as named arrays (copies). With `get_params` it is the whole object."""
        self._refuse_unfitted()
        arrays = state_to_arrays(RowCounts(self.n_rows_seen_, self._features.n_features))
        arrays["labels"] = self._labels.as_array() if len(self._labels) else np.empty(0)
        if self._features.names is not None:
            arrays["feature_names"] = np.array(self._features.names)
        if self._latest is not None:
            arrays |= state_to_arrays(EventTime(self._latest))
        if self._n_unlabelled:
            arrays |= state_to_arrays(UnlabelledRows(self._n_unlabelled))
        columns = {} if self._columns is None else self._columns.to_arrays()
        return arrays | self._categories.to_arrays() | columns | state_to_arrays(self._state, "state.")

    @one_thread
    def load_state_arrays(self, arrays: dict[str, NDArray[Any]]) -> Self:
        """Take over a state written by `state_arrays`; the parameters must be those of the writer."""
        labels, counts = saved_labels(arrays), state_from_arrays(RowCounts, arrays)
        if self._numeric and len(labels):
            raise SavedStateError("The saved state has labels, but the target is a number: it is damaged.")
        names = saved_names(arrays, counts.n_features)
        columns = OneHotColumns.from_arrays(arrays, counts.n_features)
        width = counts.n_features if columns is None else len(columns.features)  # what the method itself sees
        sizes = {"n_features": width, "n_classes": len(labels), "n_rows_seen": counts.n_rows_seen}
        state = state_from_arrays(self._type_of_state(arrays), arrays, "state.", sizes)
        problem = self._problem_of(state)
        if problem is not None:
            raise SavedStateError(f"The saved state does not fit the parameters of {type(self).__name__}: {problem}.")
        categories = CategoryVocabulary.from_arrays(arrays, counts.n_features)
        latest = state_from_arrays(EventTime, arrays).latest_time if "latest_time" in arrays else None
        unlabelled = 0
        if "n_rows_unlabelled" in arrays:
            unlabelled = state_from_arrays(UnlabelledRows, arrays).n_rows_unlabelled
        # Nothing has failed: from here on the object changes.
        self._state, self._categories, self._columns, self._n_unlabelled = state, categories, columns, unlabelled
        self._latest = latest
        self._know(FeatureVocabulary(names, counts.n_features), labels)
        self.n_rows_seen_ = counts.n_rows_seen
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        ours = self.stream_tags()
        tags.target_tags.required = ours.supervised
        tags.input_tags.sparse = ours.sparse
        tags.input_tags.allow_nan = getattr(self, "missing", "error") == "skip"
        return tags


def _advice_on_numbers(owner: str, tags: StreamTags) -> str:
    """What to do where labels are numbers of many values."""
    if tags.regression:
        return "set task='regression' (--task regression) to take them as numbers, or cut y into classes first"
    why = f" ({tags.why_no_numbers})" * bool(tags.why_no_numbers)
    others = "Joint, Screener('correlation'), FIRES, ABFS and OFS take numbers (task='regression')"
    return f"this {owner} selects features for classes only{why}; {others}, or cut y into classes first"
