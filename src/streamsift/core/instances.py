"""InstanceClassifier: the base of every method that buys the values of one instance one at a time.

A method implements two hooks and receives the rest (fit, partial_fit, predict, classify, classify_one, state):

    _begin(batch) -> counts            empty counts for these features and classes
    _plan(counts) -> plan              from the counts, how to decide: the order of buying and when to stop

`counts` is a dataclass of arrays with `with_classes`, `with_room` and `add`; a plan is a dataclass of arrays with
`classify(counts, batch)` and `walk(counts, acquire)` (instances/plan.py). The plan is made by `fit` at once and after
`partial_fit` when it is first needed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted

from streamsift.core.batch import CheckedBatch, check_batch
from streamsift.core.categories import NO_CATEGORIES, CategoryVocabulary
from streamsift.core.constraints import Limits, check_parameters
from streamsift.core.copies import CopiedByState
from streamsift.core.estimators import BaseEstimator, ClassifierMixin
from streamsift.core.guard import one_thread
from streamsift.core.pictures import InNotebook
from streamsift.core.state import RowCounts, state_from_arrays, state_to_arrays
from streamsift.core.tags import InstanceTags
from streamsift.core.vocabulary import FeatureVocabulary, LabelVocabulary, saved_labels, saved_names

Acquire = Callable[[int], Any]


@dataclass(frozen=True)
class Classification:
    """What came out for each row: label, class probabilities, features bought, and what they cost together.

    `bought` counts for each feature the rows that bought it.
    """

    labels: NDArray[Any]
    posteriors: NDArray[np.float64]
    n_evaluated: NDArray[np.int64]
    cost: NDArray[np.float64]
    bought: NDArray[np.int64]


@dataclass(frozen=True)
class Purchase:
    """The outcome for one instance; `features` are the columns bought, in order."""

    label: Any
    posterior: NDArray[np.float64]
    n_evaluated: int
    cost: float
    features: tuple[int, ...]


@dataclass(frozen=True)
class PurchaseStep:
    """One look at an instance: what was bought last (None: nothing yet), what is believed now, and why it stops.

    `known` is False when the value was a category never seen before, which says nothing. `reason` is empty while
    buying goes on.
    """

    feature: int | None
    value: float
    known: bool
    posterior: NDArray[np.float64]
    cost: float
    choice: int
    reason: str


class InstanceClassifier(InNotebook, CopiedByState, ClassifierMixin, BaseEstimator):
    """Base class of classifiers that buy features one at a time; see the module docstring for the hooks."""

    parameter_limits: ClassVar[Limits] = {}
    counts_type: ClassVar[type[Any]]
    plan_type: ClassVar[type[Any]]
    notebook_picture = "reprs:instances"

    n_rows_seen_: int
    _counts: Any
    _made_plan: Any
    _features: FeatureVocabulary
    _labels: LabelVocabulary
    _categories: CategoryVocabulary

    # -- what a method implements -------------------------------------------------------------------------------

    def _begin(self, batch: CheckedBatch) -> Any:
        raise NotImplementedError

    def _plan(self, counts: Any) -> Any:
        raise NotImplementedError

    def stream_tags(self) -> InstanceTags:
        """Counts add up, so the plan after many batches is the plan after one, once the bins are cut."""
        return InstanceTags()

    # -- learning -----------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Forget everything, learn X and y, and make the plan."""
        return self._absorb(X, y, None, fresh=True, plan_now=True)

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Self:
        """Count one more batch; bins are cut by the first. The plan is made when it is next needed."""
        return self._absorb(X, y, classes, fresh=False, plan_now=False)

    @one_thread
    def _absorb(self, X: Any, y: Any, classes: Any, *, fresh: bool, plan_now: bool) -> Self:
        owner = type(self).__name__
        fresh = fresh or not hasattr(self, "n_rows_seen_")
        if fresh:
            check_parameters(owner, self.get_params(deep=False), self.parameter_limits)
        rows_before = 0 if fresh else self.n_rows_seen_
        if getattr(y, "ndim", 1) == 2:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected: use y.ravel().",
                DataConversionWarning,
                stacklevel=4,
            )
        batch = check_batch(
            X,
            y,
            owner=owner,
            features=None if fresh else self._features,
            labels=None if fresh else self._labels,
            categories=NO_CATEGORIES if fresh else self._categories,
            classes=classes,
            missing=True,
            first_row=rows_before,
        )
        places, labels = _in_order(batch.labels)
        counts = self._begin(batch) if fresh else self._counts
        counts = counts.with_classes(np.arange(len(counts.class_counts)), len(batch.labels))
        counts = counts.with_room(batch, batch.features.n_features)
        counts.add(batch)
        counts = counts.with_classes(places, len(labels))
        self._check_counts(counts)
        plan = self._plan(counts) if plan_now else None
        # Nothing has failed: from here on the object changes.
        self._know(counts, plan, batch.features, labels, rows_before + batch.n_rows)
        self._categories = batch.categories
        return self

    def _check_counts(self, counts: Any) -> None:
        """Refuse at once what the plan could not be made for; methods with limits override this."""

    def _know(
        self, counts: Any, plan: Any, features: FeatureVocabulary, labels: LabelVocabulary, n_rows_seen: int
    ) -> None:
        self._counts, self._made_plan, self._features, self._labels = counts, plan, features, labels
        self.n_rows_seen_ = n_rows_seen
        self.n_features_in_ = features.n_features
        self.classes_ = labels.as_array()
        if features.names is not None:
            self.feature_names_in_ = np.array(features.names, object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _current_plan(self) -> Any:
        if not hasattr(self, "n_rows_seen_"):
            check_is_fitted(self)  # which takes longer than a row
        if self._made_plan is None:
            self._made_plan = self._plan(self._counts)
        return self._made_plan

    # -- answers ------------------------------------------------------------------------------------------------

    @one_thread
    def classify(self, X: Any) -> Classification:
        """Classify each row, reading only the values its own decisions ask for; missing values are skipped."""
        plan = self._current_plan()
        # No scan: the time depends on the values bought, not on those present.
        batch = check_batch(
            X,
            None,
            owner=type(self).__name__,
            features=self._features,
            categories=self._categories,
            missing=True,
            scan=False,
            needs_y=False,
        )
        codes, posteriors, n_evaluated, cost, bought = plan.classify(self._counts, batch)
        return Classification(self.classes_[codes], posteriors, n_evaluated, cost, bought)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row."""
        return self.classify(X).labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class, given the features bought."""
        return self.classify(X).posteriors

    @one_thread
    def classify_one(self, acquire: Acquire) -> Purchase:
        """Classify one instance whose values must be paid for.

        Parameters
        ----------
        acquire : callable
            `acquire(j)` gives the value of feature j; it is called only for features that are really bought. None or
            NaN means that the value cannot be had: it is skipped and not charged. A category is given by its name.
        """
        steps = list(self._walk(acquire))
        bought = tuple(step.feature for step in steps if step.feature is not None)
        end = steps[-1]
        return Purchase(self.classes_[end.choice], end.posterior, len(bought), end.cost, bought)

    def _walk(self, acquire: Acquire) -> Iterator[PurchaseStep]:
        plan = self._current_plan()
        walk: Iterator[PurchaseStep] = plan.walk(
            self._counts, self._coded(acquire) if self._categories.names else acquire
        )
        return walk

    def _coded(self, acquire: Acquire) -> Acquire:
        """The same with names of categories as their codes."""

        def value(feature: int) -> Any:
            given = acquire(feature)
            if feature not in self._categories.names or not isinstance(given, str | bool | np.bool_):
                return given
            name = given if isinstance(given, str) else str(bool(given)).lower()
            return self._categories.code(feature, name)

        return value

    # -- state --------------------------------------------------------------------------------------------------

    @one_thread
    def state_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything learnt, as named arrays (copies), with the plan. With `get_params` it is the whole object."""
        plan = self._current_plan()
        arrays = state_to_arrays(RowCounts(self.n_rows_seen_, self._features.n_features))
        arrays["labels"] = self._labels.as_array()
        if self._features.names is not None:
            arrays["feature_names"] = np.array(self._features.names)
        arrays |= self._categories.to_arrays()
        return arrays | state_to_arrays(self._counts, "counts.") | state_to_arrays(plan, "plan.")

    @one_thread
    def load_state_arrays(self, arrays: dict[str, NDArray[Any]]) -> Self:
        """Take over a state written by `state_arrays`; the parameters must be those of the writer."""
        labels, size = saved_labels(arrays), state_from_arrays(RowCounts, arrays)
        names = saved_names(arrays, size.n_features)
        sizes = {"n_features": size.n_features, "n_classes": len(labels), "n_rows_seen": size.n_rows_seen}
        counts = state_from_arrays(self.counts_type, arrays, "counts.", sizes)
        plan = state_from_arrays(self.plan_type, arrays, "plan.", sizes)
        categories = CategoryVocabulary.from_arrays(arrays, size.n_features)
        # Nothing has failed: from here on the object changes.
        self._know(counts, plan, FeatureVocabulary(names, size.n_features), labels, size.n_rows_seen)
        self._categories = categories
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        ours = self.stream_tags()
        tags.input_tags.sparse = ours.sparse
        tags.input_tags.allow_nan = ours.missing
        return tags


def _in_order(labels: LabelVocabulary) -> tuple[NDArray[np.int64], LabelVocabulary]:
    """The place of each label when they are sorted (or kept as they came, if they cannot be), and the vocabulary."""
    known = labels.labels
    try:
        ordered = sorted(range(len(known)), key=lambda code: known[code])  # type: ignore[arg-type,return-value]
    except TypeError:
        return np.arange(len(known)), labels
    places = np.empty(len(known), np.int64)
    places[ordered] = np.arange(len(known))
    return places, LabelVocabulary(known[code] for code in ordered)
