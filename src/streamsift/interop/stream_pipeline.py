"""StreamPipeline: scikit-learn's Pipeline for streams, with a selector whose selection may change under the learner.

scikit-learn's own has no `partial_fit`, and its learners break when a column comes or goes. Here the learner is led as
by `prequential` (learners/foreign.py, learners/carried.py): one that can keeps the weights of the features that stay,
one that cannot starts again and says so.
"""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor
from sklearn.exceptions import DataConversionWarning
from sklearn.pipeline import Pipeline
from sklearn.utils import Bunch, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from streamsift.core.batch import Batch, CheckedBatch, check_batch, check_matrix, looks_like_frame
from streamsift.core.categories import NO_CATEGORIES, CategoryVocabulary
from streamsift.core.constraints import Integer, Limits, OneOf, check_parameters
from streamsift.core.estimators import BaseComposition, ClassifierMixin, TransformerMixin
from streamsift.core.exceptions import EmptySelectionWarning, OneClassWarning, ParameterError, RestartWarning
from streamsift.core.guard import OneThreadAtATime, one_thread
from streamsift.core.vocabulary import FeatureVocabulary, LabelVocabulary, from_column
from streamsift.interop import saved_pipeline
from streamsift.interop.pipeline_rows import MISSING, LearnerRows, PipelineRows, refuse_missing, rows_of, transformed
from streamsift.learners.carried import drifts_found, restart_if_needed
from streamsift.learners.foreign import as_learner, innermost
from streamsift.learners.online import teach
from streamsift.learners.whole_rows import columns_of

LIMITS: Limits = {"missing": (OneOf("error", "mean"),), "batch_size": (Integer(1),)}

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _KnownColumns:
    """What has been learnt, beside the steps themselves."""

    features: FeatureVocabulary | None = None
    labels: LabelVocabulary | None = None
    categories: CategoryVocabulary = NO_CATEGORIES
    rows: LearnerRows | None = None
    chosen: NDArray[np.intp] | None = None  # features, as the selector numbers them
    places: NDArray[np.intp] | None = None  # the same, as the learner numbers its columns
    class_counts: tuple[int, ...] = ()


def _knows_probabilities(pipeline: Any) -> bool:
    return hasattr(as_learner(pipeline.steps[-1][1]), "predict_proba")


class StreamPipeline(OneThreadAtATime, ClassifierMixin, TransformerMixin, BaseComposition):
    """Transformers, a selector and a learner in a row, trained batch by batch.

    Parameters
    ----------
    steps : list of (name, step)
        Transformers that have `partial_fit` (StandardScaler, MinMaxScaler, IncrementalPCA, ...) or need no fitting;
        then at most one row selector; then the learner: a classifier of scikit-learn with `partial_fit`, one of river
        with `learn_one`, or the name of a learner ("naive_bayes", "sgd", ...). Copies are trained: `named_steps` gives
        them, `steps` stays as it was given. None and "passthrough" do nothing.
    missing : {"error", "mean"}, default "error"
        What becomes of NaN: it is refused, or the learner sees the mean of the column so far. So does the selector,
        unless it has `missing="skip"`. A missing category is 0 in all of its columns, and for the selector a category
        "(missing)".
    batch_size : int, default 100
        Rows that `fit` gives to the steps at a time.

    Attributes
    ----------
    named_steps : Bunch
        The trained steps by name; of a learner by name, the learner.
    classes_ : array
        The labels met so far, sorted where they can be.
    n_rows_seen_, n_features_in_ : int
        What has been learnt.
    n_restarts_ : int
        How often the learner has started again.

    Notes
    -----
    Transformers see the columns of numbers; categories of a table pass by them. The learner sees a column of 0 and 1
    for each category of a selected feature.

    When the selection changes, linear models trained by gradient steps (SGDClassifier, Perceptron) keep the weights of
    the features that stay, models of river go on, and learners by name keep what `streamsift.learners.online` says.
    Other models start again: a RestartWarning says so once, and `n_restarts_` counts. Where the selector finds a drift
    (ABFS), the learner is reset. While nothing is selected, the most frequent class is predicted.

    A batch that is refused changes nothing. Only when the learner itself raises has the selector learnt the batch.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn.preprocessing import StandardScaler
    >>> from streamsift import FIRES, StreamPipeline
    >>> rng = np.random.default_rng(0)
    >>> pipeline = StreamPipeline(
    ...     [
    ...         ("scale", StandardScaler()),
    ...         ("select", FIRES(n_features_to_select=2, random_state=0)),
    ...         ("learn", SGDClassifier(random_state=0)),
    ...     ]
    ... )
    >>> for _ in range(20):
    ...     X = rng.normal(size=(50, 8))
    ...     y = np.where(X[:, 3] + X[:, 5] > 0, "yes", "no")
    ...     _ = pipeline.partial_fit(X, y)
    >>> pipeline.get_feature_names_out().tolist(), pipeline.score(X, y) > 0.9
    (['x3', 'x5'], True)
    """

    n_rows_seen_: int
    classes_: NDArray[Any]

    def __init__(self, steps: list[tuple[str, Any]], *, missing: str = "error", batch_size: int = 100) -> None:
        self.steps = steps
        self.missing = missing
        self.batch_size = batch_size

    # -- parameters ---------------------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; with `deep` also those of the steps, as `step__parameter`."""
        return self._get_params("steps", deep=deep)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also `step__parameter`; those of steps are used by the next `fit`."""
        return self._set_params("steps", **params)

    @property
    def named_steps(self) -> Any:
        """The steps by name: the trained ones, once there are any."""
        steps: dict[str, Any] = dict(self.steps)
        if hasattr(self, "n_rows_seen_"):
            steps |= dict(self._transformers)
            if self._selector is not None:
                steps[self._names[0]] = self._selector
            model = self._model()
            steps[self._names[1]] = self.steps[-1][1] if model is None else model
        return Bunch(**steps)

    def _begin(self) -> None:
        """Check the steps and copy them."""
        check_parameters("StreamPipeline", {"missing": self.missing, "batch_size": self.batch_size}, LIMITS)
        if not isinstance(self.steps, list) or not self.steps:
            raise ParameterError("StreamPipeline needs a list of steps, (name, step), the last of which learns.")
        self._validate_names([name for name, _ in self.steps])
        *before, (last, model) = [(name, step) for name, step in self.steps if not _does_nothing(step)] or [("", None)]
        selectors = [place for place, (_, step) in enumerate(before) if hasattr(step, "get_support")]
        if selectors and selectors != [len(before) - 1]:
            name = before[selectors[0]][0]
            raise ParameterError(
                f"Step {name!r} selects columns that change with time, so nothing but the learner can stand behind it: "
                "put the other steps before it."
            )
        _refuse_model(last, model)
        name, selector = before.pop() if selectors else ("", None)
        for each, step in before:
            _refuse_transformer(each, step)
        if selector is not None and not hasattr(selector, "partial_fit"):
            raise ParameterError(f"Step {name!r}, a {type(selector).__name__}, cannot learn batch by batch.")
        self._names = name, last
        self._transformers = [(each, copy.deepcopy(step)) for each, step in before]
        self._selector = copy.deepcopy(selector)
        self._learner = as_learner(model if isinstance(model, str) else copy.deepcopy(model))
        self._known, self._n_drifts, self._n_restarts, self._has_warned = (
            _KnownColumns(),
            drifts_found(selector),
            0,
            False,
        )

    # -- learning -----------------------------------------------------------------------------------------------

    @one_thread
    def fit(self, X: Any, y: Any) -> Self:
        """Forget everything, then learn X and y in batches of `batch_size` rows."""
        check_parameters("StreamPipeline", {"missing": self.missing, "batch_size": self.batch_size}, LIMITS)
        matrix, labels = check_matrix(X, owner="StreamPipeline"), None if y is None else from_column(y)
        if labels is not None and labels.ndim == 2 and labels.shape[1] == 1:
            text = "A column-vector y was passed when a 1d array was expected: use y.ravel()."
            warnings.warn(text, DataConversionWarning, stacklevel=3)
            labels = labels[:, 0]
        whole = Batch(matrix.values, labels, matrix.names, kinds=matrix.kinds)
        checked = check_batch(whole, None, owner="StreamPipeline", missing=True)
        if self.missing == "error":
            refuse_missing(checked)
        fresh = clone(self)
        for first in range(0, whole.n_rows, self.batch_size):
            fresh._learn(whole.rows(slice(first, first + self.batch_size)), None, labels)
        # Nothing has failed: from here on the object changes.
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        kept = {"_inside", *self.get_params(deep=False)}
        vars(self).update({name: value for name, value in vars(fresh).items() if name not in kept})
        return self

    @one_thread
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn one more batch. `classes` may announce labels in advance; labels may also appear unannounced."""
        self._learn(X, y, classes)
        return self

    def _learn(self, X: Any, y: Any, classes: Any) -> None:
        if not hasattr(self, "n_rows_seen_"):
            self._begin()
        known, n_seen = self._known, getattr(self, "n_rows_seen_", 0)
        batch = self._checked(X, y, known, classes=classes, learning=True)
        labels = y if y is not None else getattr(X, "y", None)
        transformers = copy.deepcopy(self._transformers)  # a later step may refuse the batch
        rows = transformed(rows_of(batch), transformers, labels, learn=True)
        matrix, seen = (known.rows or LearnerRows.none()).learnt(rows)
        if self._selector is not None:
            self._selector.partial_fit(self._for_selector(rows, seen).batch(labels), classes=classes)
        # Nothing has been refused: from here on the object changes.
        self._transformers = transformers
        chosen = self._chosen(rows.X.shape[1])
        counts = np.bincount(batch.codes, minlength=len(batch.labels))
        counts[: len(known.class_counts)] += np.array(known.class_counts, np.int64)
        self._known = replace(
            known,
            features=batch.features,
            labels=batch.labels,
            categories=batch.categories,
            rows=seen,
            chosen=chosen,
            places=seen.places(chosen),
            class_counts=tuple(counts.tolist()),
        )
        self._know(batch.features, batch.labels, n_seen + batch.n_rows)
        self._teach(matrix, batch, known.places)

    def _know(self, features: FeatureVocabulary, labels: LabelVocabulary, n_seen: int) -> None:
        self.n_rows_seen_ = n_seen
        self.n_features_in_ = features.n_features
        if features.names is not None:
            self.feature_names_in_ = np.array(features.names, object)
        known = labels.as_array()
        self._order = _sorted_order(known)
        self.classes_ = known[self._order]

    def _teach(self, matrix: Any, batch: CheckedBatch, before: NDArray[np.intp] | None) -> None:
        drifts, self._n_drifts = self._n_drifts, drifts_found(self._selector)
        places, was = self._known.places, self.n_restarts_
        assert places is not None
        drift_found = self._n_drifts > drifts
        self._n_restarts += restart_if_needed(self._learner, before, places, drift_found=drift_found)
        teach(self._learner, matrix, batch.codes, places, len(batch.labels))
        if self.n_restarts_ > was and not drift_found and not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"{type(self._model()).__name__} cannot keep what it knows when the selected columns or the classes "
                "change: it starts again each time, and n_restarts_ counts how often. SGDClassifier keeps the weights "
                "of the columns that stay.",
                RestartWarning,
                stacklevel=5,
            )

    def _model(self) -> Any:
        """The trained model of another package, or the learner itself."""
        return getattr(innermost(self._learner), "model", self._learner)

    @property
    def n_restarts_(self) -> int:
        """How often the learner has started again, because it could not go on or a drift was found."""
        check_is_fitted(self)
        return self._n_restarts + max(getattr(self._learner, "n_restarts", 0), 0)

    def _chosen(self, n_features: int) -> NDArray[np.intp]:
        if self._selector is None:
            return np.arange(n_features)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OneClassWarning)  # a stream may begin with one class
            warnings.simplefilter("ignore", EmptySelectionWarning)
            return np.flatnonzero(self._selector.get_support())

    def _fills(self) -> bool:
        """Whether the selector, too, sees means in the place of missing numbers."""
        return self.missing == "mean" and getattr(self._selector, "missing", "error") != "skip"

    def _for_selector(self, rows: PipelineRows, seen: LearnerRows) -> PipelineRows:
        return seen.complete(rows) if self._fills() else rows

    def _checked(
        self, X: Any, y: Any, known: _KnownColumns, *, classes: Any = None, learning: bool = False
    ) -> CheckedBatch:
        grows = not self._transformers and getattr(self._selector, "new_features", "error") == "add"
        batch = check_batch(
            X,
            y,
            owner="StreamPipeline",
            features=known.features,
            labels=known.labels,
            categories=known.categories,
            classes=classes,
            grow=grows,
            missing=True,
            needs_y=learning,
            first_row=getattr(self, "n_rows_seen_", 0) if learning else 0,
        )
        if self.missing == "error":
            refuse_missing(batch)
        return batch

    # -- answers ------------------------------------------------------------------------------------------------

    @one_thread
    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row, from the features selected now."""
        columns = self._columns(X)
        assert self._known.labels is not None
        labels = self._known.labels.as_array()
        if not columns.shape[1]:
            return np.repeat(labels[[int(np.argmax(self._known.class_counts))]], len(columns))
        return np.asarray(labels[self._learner.predict(columns)])

    @available_if(_knows_probabilities)  # type: ignore[untyped-decorator]
    @one_thread
    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, in the order of `classes_`."""
        columns = self._columns(X)
        n_classes = len(self.classes_)
        if columns.shape[1]:
            found = np.asarray(self._learner.predict_proba(columns), np.float64)[:, :n_classes]  # type: ignore[attr-defined]
        else:
            found = np.tile(np.array(self._known.class_counts, float), (len(columns), 1))
        sums = found.sum(axis=1, keepdims=True)
        found = np.divide(found, sums, out=np.full_like(found, 1.0 / n_classes), where=sums > 0.0)
        return np.asarray(found[:, self._order])

    def _columns(self, X: Any) -> Floats:
        """What the learner sees of rows."""
        rows = self._rows(X)
        assert self._known.rows is not None
        assert self._known.places is not None
        return columns_of(self._known.rows.seen(rows), self._known.places)

    def _rows(self, X: Any) -> PipelineRows:
        """Rows behind the transformers."""
        check_is_fitted(self)
        return transformed(rows_of(self._checked(X, None, self._known)), self._transformers)

    @one_thread
    def transform(self, X: Any) -> Any:
        """The selected columns of X as the learner gets them, before categories become numbers.

        Without transformers before the selector, a table comes back as a table of its kind.
        """
        check_is_fitted(self)
        if self._selector is not None and not self._transformers and not self._fills():
            return self._selector.transform(X)
        assert self._known.rows is not None
        rows = self._for_selector(self._rows(X), self._known.rows)
        result = rows.X if self._selector is None else self._selector.transform(rows.batch(None))
        if isinstance(result, np.ndarray) and result.dtype.kind == "O" and self._fills():
            result[result == MISSING] = None
        if not looks_like_frame(X) or hasattr(result, "tocsr"):
            return result
        from streamsift.core.tables import frame_like, wanted_container  # pyarrow: only for those who need it

        return frame_like(X, result, self.get_feature_names_out().tolist(), wanted_container(self))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the columns of `transform`."""
        check_is_fitted(self)
        if self._selector is not None:
            return np.asarray(self._selector.get_feature_names_out())
        assert self._known.rows is not None
        if self._transformers and hasattr(self._transformers[-1][1], "get_feature_names_out"):
            return np.asarray(self._transformers[-1][1].get_feature_names_out(getattr(self, "feature_names_in_", None)))
        return np.array([self._known.features.name(slot) for slot in range(self.n_features_in_)], object)  # type: ignore[union-attr]

    @property
    def selector_(self) -> Any:
        """The trained selector; None where there is none."""
        check_is_fitted(self)
        return self._selector

    # -- saving -------------------------------------------------------------------------------------------------

    def saved_parameters(self) -> dict[str, Any]:
        """The parameters with those of the trained steps, as a saved file keeps them."""
        check_is_fitted(self)
        return saved_pipeline.parameters(self)

    @one_thread
    def state_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything learnt, as named arrays (copies); SavedStateError where a step has no such form."""
        check_is_fitted(self)
        return saved_pipeline.to_arrays(self)

    @classmethod
    def from_saved(cls, parameters: dict[str, Any]) -> Self:
        """A pipeline with parameters of a saved file, to be given its state by `load_state_arrays`."""
        made: Self = saved_pipeline.remake(cls, parameters)
        return made

    def _resume(
        self,
        state: Any,
        features: FeatureVocabulary,
        labels: LabelVocabulary,
        categories: CategoryVocabulary,
        rows: LearnerRows,
        places: NDArray[np.intp],
    ) -> None:
        counts = tuple(state.class_counts.tolist())
        self._known = _KnownColumns(features, labels, categories, rows, state.chosen.astype(np.intp), places, counts)
        self._n_restarts, self._n_drifts, self._has_warned = state.n_restarts, state.n_drifts, state.has_warned
        self._know(features, labels, state.n_rows_seen)

    @one_thread
    def load_state_arrays(self, arrays: dict[str, NDArray[Any]]) -> Self:
        """Take over a state written by `state_arrays` of a pipeline with the same steps."""
        saved_pipeline.restore(self, arrays)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_rows_seen_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "mean"
        tags.target_tags.required = True
        return tags

    def _sk_visual_block_(self) -> Any:
        """The steps below each other, as scikit-learn draws its own pipelines."""
        return Pipeline(self.steps)._sk_visual_block_()


def _does_nothing(step: Any) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def _refuse_model(name: str, model: Any) -> None:
    if model is None or hasattr(model, "get_support"):
        raise ParameterError("The last step of a StreamPipeline must be a learner: a classifier with partial_fit.")
    numbers = hasattr(model, "learn_one") and not hasattr(model, "predict_proba_one")  # a regressor of river
    if numbers or (hasattr(model, "__sklearn_tags__") and is_regressor(model)):
        raise ParameterError(f"Step {name!r}, a {type(model).__name__}, predicts numbers: give a classifier.")
    if isinstance(getattr(model, "class_weight", None), dict):
        raise ParameterError(
            f"Step {name!r} has a class_weight for each label, but on a stream labels may come late: leave it out."
        )
    as_learner(model)  # which says what is wrong with it


def _refuse_transformer(name: str, step: Any) -> None:
    kind = type(step).__name__
    if not hasattr(step, "transform"):
        raise ParameterError(f"Step {name!r}, a {kind}, cannot transform: only the last step may be a learner.")
    if not hasattr(step, "partial_fit") and get_tags(step).requires_fit:
        raise ParameterError(
            f"Step {name!r}, a {kind}, cannot learn batch by batch: use a transformer that has partial_fit, such as "
            "StandardScaler, or one that learns nothing, such as Normalizer."
        )


def _sorted_order(labels: NDArray[Any]) -> NDArray[np.intp]:
    """The order in which labels are shown; as they came where they cannot be compared."""
    try:
        return np.argsort(labels, kind="stable")
    except TypeError:
        return np.arange(len(labels))
