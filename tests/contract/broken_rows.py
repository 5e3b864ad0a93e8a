"""Row selectors that each break one promise, so that every check can be seen to fail.

BREAKS maps the name of a check to a method it must catch. They are small changes of MeanGap, which keeps all promises.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from tests.contract.anything import Anything
from tests.contract.broken_numbers import BREAKS as BREAKS_WITH_NUMBERS
from tests.contract.mean_gap import ClassSums, MeanGap

from streamsift.core.constraints import Limits, OneOf, Real
from streamsift.core.exceptions import InputError
from streamsift.core.half_life import HALF_LIFE_LIMITS, TIME_LIMITS
from streamsift.core.rows import N_FEATURES_LIMITS, NEW_FEATURES_LIMITS
from streamsift.core.tags import StreamTags
from streamsift.core.vocabulary import FeatureVocabulary


class ConvertsArguments(MeanGap):
    def __init__(self, n_features_to_select: Any = 10) -> None:
        self.n_features_to_select = float(n_features_to_select)


class SharesStateBetweenInstances(MeanGap):
    everybody: ClassVar[list[Any]] = []

    def _begin(self, batch: Any) -> Any:
        if not self.everybody or self.everybody[0].sums.shape[1] != batch.features.n_features:
            self.everybody[:] = [super()._begin(batch)]
        return self.everybody[0]


class LearnsUnlabelledRows(MeanGap):
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
        missing = [label is None or label != label or label == "" for label in np.asarray(y, object)]
        return super().partial_fit(X, np.where(missing, 0, np.asarray(y, object)), classes)


class IgnoresWeights(MeanGap):
    def stream_tags(self) -> StreamTags:
        return replace(super().stream_tags(), weights=True)


class ForgetsNothing(IgnoresWeights):
    parameter_limits: ClassVar[Limits] = {
        "n_features_to_select": N_FEATURES_LIMITS,
        "fading": (Real(0, 1, closed="right"),),
        "half_life": HALF_LIFE_LIMITS,
        "time": TIME_LIMITS,
    }

    def __init__(
        self, n_features_to_select: Any = 10, *, fading: Any = 1.0, half_life: Any = None, time: Any = None
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.fading, self.half_life, self.time = fading, half_life, time

    def stream_tags(self) -> StreamTags:
        return replace(super().stream_tags(), fades=True)

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None, **more: Any) -> Any:
        return self._absorb(X, y, classes, weight=sample_weight, **more)


class NeedsNoTime(ForgetsNothing):
    def _times_from(self, given: Any) -> Any:
        return given


class AdvisesInVain(MeanGap):
    new_features = "error"  # no parameter, but refusals tell of it


class HasNoLimits(MeanGap):
    parameter_limits: ClassVar[Limits] = {}


class AcceptsAnyParameter(MeanGap):
    parameter_limits: ClassVar[Limits] = {"n_features_to_select": (Anything(),)}


class AnswersBeforeData(MeanGap):
    @property
    def scores_(self) -> Any:
        return super().scores_ if hasattr(self, "n_rows_seen_") else np.zeros(5)


class ReturnsNothing(MeanGap):
    def fit(self, X: Any, y: Any = None) -> Any:
        super().fit(X, y)


class UsesGlobalRandomNumbers(MeanGap):
    def _score(self, state: Any) -> Any:
        return super()._score(state) + 0.0 * np.random.random()


class RefusesWithoutWords(MeanGap):
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
        try:
            return super().partial_fit(X, y, classes)
        except InputError as error:
            raise InputError("bad data") from error


class ForgetsTheStream(MeanGap):
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
        try:
            return super().partial_fit(X, y, classes)
        except InputError as error:
            raise InputError(re.sub(r" \(row \d+ of the stream\)", "", str(error))) from error


class CountsBeforeItLearns(MeanGap):
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
        first = not hasattr(self, "n_rows_seen_")
        self.n_rows_seen_ = 0 if first else self.n_rows_seen_ + 1
        self._absorb(X, y, classes, fresh=first)
        self.n_rows_seen_ -= not first
        return self


class ForgetsBeforeItFits(MeanGap):
    def fit(self, X: Any, y: Any = None) -> Any:
        if hasattr(self, "_state"):
            self._state.sums[:] = 0
        return super().fit(X, y)


class Overflows(MeanGap):
    def _score(self, state: Any) -> Any:
        with np.errstate(all="ignore"):
            return super()._score(state) ** 2 - 0.0 * super()._score(state) ** 2


class TransformsAnything(MeanGap):
    def transform(self, X: Any) -> Any:
        matrix = np.atleast_2d(np.asarray(X))
        return matrix[:, self.get_support()[: matrix.shape[1]]]


class ChangesItsInput(MeanGap):
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
        super().partial_fit(X, y, classes)
        if isinstance(X, np.ndarray) and X.dtype == np.float64 and X.flags.writeable:
            X *= 2
        return self


@dataclass
class WithLastBatch(ClassSums):
    last: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))


class KeepsItsInput(MeanGap):
    state_type = WithLastBatch

    def _begin(self, batch: Any) -> Any:
        return WithLastBatch(**vars(super()._begin(batch)))

    def _learn(self, state: Any, batch: Any) -> None:
        super()._learn(state, batch)
        state.last = batch.X


class HandsOutItsScores(MeanGap):
    @property
    def scores_(self) -> Any:
        super().scores_
        return self._cache["scores"]


class MisreadsFloat32(MeanGap):
    def _learn(self, state: Any, batch: Any) -> None:
        super()._learn(state, batch)
        state.sums *= 2 if batch.X.dtype == np.float32 else 1


class LosesNames(MeanGap):
    def _know(self, features: Any, labels: Any) -> None:
        super()._know(FeatureVocabulary(None, features.n_features), labels)


class TakesSparseWithoutSayingSo(MeanGap):
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
        return super().partial_fit(X.toarray() if hasattr(X, "toarray") else X, y, classes)


class PrefersLaterColumns(MeanGap):
    def _score(self, state: Any) -> Any:
        return super()._score(state) * np.arange(1, state.sums.shape[1] + 1)


class ReadsLabelsAsText(MeanGap):
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
        return super().partial_fit(X, [str(label) for label in y], classes)


class ReadsLabelsAsNumbers(MeanGap):
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
        return super().partial_fit(X, np.asarray(y, float), classes)


class NeedsOneDimension(MeanGap):
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
        if np.ndim(y) != 1:
            raise InputError("y must have one dimension.")
        return super().partial_fit(X, y, classes)


class CountsBatches(MeanGap):
    def _learn(self, state: Any, batch: Any) -> None:
        super()._learn(state, batch)
        state.counts += 1


class IsRandom(MeanGap):
    def _learn(self, state: Any, batch: Any) -> None:
        super()._learn(state, batch)
        state.sums += np.random.default_rng().random(state.sums.shape)


class ScoresWithoutClasses(MeanGap):
    def _score(self, state: Any) -> Any:
        return super()._score(state) + 1.0


class FailsOnManyClasses(MeanGap):
    def _score(self, state: Any) -> Any:
        return super()._score(state) * (np.nan if len(state.counts) > 5 else 1)


class NeedsAnnouncedClasses(MeanGap):
    def _learn(self, state: Any, batch: Any) -> None:
        known = len(state.counts)
        super()._learn(state, batch)
        if known:
            state.sums[known:] = 0


class DividesByZero(MeanGap):
    def _score(self, state: Any) -> Any:
        gap = super()._score(state)
        with np.errstate(all="ignore"):
            return gap * (gap / gap)


class SqueezesScores(MeanGap):
    def _score(self, state: Any) -> Any:
        return np.squeeze(super()._score(state))


@dataclass
class WithAllRows(ClassSums):
    rows: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))


class KeepsAllRows(MeanGap):
    state_type = WithAllRows

    def _begin(self, batch: Any) -> Any:
        return WithAllRows(**vars(super()._begin(batch)))

    def _learn(self, state: Any, batch: Any) -> None:
        super()._learn(state, batch)
        state.rows = np.append(state.rows, batch.X)


class PromisesTooMuch(MeanGap):
    """Claims missing values and late features, and does nothing about them."""

    parameter_limits: ClassVar[Limits] = {
        "n_features_to_select": N_FEATURES_LIMITS,
        "missing": (OneOf("error", "skip"),),
        "new_features": NEW_FEATURES_LIMITS,
    }

    def __init__(self, n_features_to_select: Any = 10, missing: str = "error", new_features: str = "error") -> None:
        self.n_features_to_select = n_features_to_select
        self.missing = missing
        self.new_features = new_features

    def stream_tags(self) -> StreamTags:
        return StreamTags(mergeable="exact", batch_invariant=True, missing=True, late_features=True)


class GrowsBeforeItChecks(PromisesTooMuch):
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
        if hasattr(self, "_state"):
            new = max(0, X.shape[1] - self._state.sums.shape[1])
            self._state.sums = np.pad(self._state.sums, ((0, 0), (0, new)))
        return super().partial_fit(X, y, classes)


class TransformsWhatItKnowsOnly(PromisesTooMuch):
    def transform(self, X: Any) -> Any:
        return np.asarray(X)[:, self.get_support()]


@dataclass
class WithWords(ClassSums):
    words: NDArray[np.object_] = field(default_factory=lambda: np.array([None]))


class KeepsObjects(MeanGap):
    state_type = WithWords

    def _begin(self, batch: Any) -> Any:
        return WithWords(**vars(super()._begin(batch)))


class HidesState(MeanGap):
    hidden = 1.0

    def _learn(self, state: Any, batch: Any) -> None:
        super()._learn(state, batch)
        self.hidden = self.hidden + 1.0

    def _score(self, state: Any) -> Any:
        return super()._score(state) * self.hidden


class LosesPartOfTheOther(MeanGap):
    def _merge(self, state: Any, other: Any) -> None:
        state.counts += other.counts
        state.sums += 0.9 * other.sums


class CountsEmptySides(MeanGap):
    def merge(self, other: Any) -> Any:
        super().merge(other)
        self.n_rows_seen_ += 1
        return self


class MergesAnything(MeanGap):
    def merge(self, other: Any) -> Any:
        return self


class PrefersConstants(MeanGap):
    def _score(self, state: Any) -> Any:
        scores = super()._score(state)
        return np.where(scores == 0.0, scores.max() + 1.0, scores)


class PrefersNoise(MeanGap):
    def _score(self, state: Any) -> Any:
        return -super()._score(state)


class NeverForgets(MeanGap):
    def fit(self, X: Any, y: Any = None) -> Any:
        return self.partial_fit(X, y)


class CountsCalls(MeanGap):
    def _absorb(self, X: Any, y: Any, classes: Any, *, fresh: bool) -> Any:
        before = 0 if fresh else self.n_rows_seen_
        super()._absorb(X, y, classes, fresh=fresh)
        self.n_rows_seen_ = before + 1
        return self


class RanksBackwards(MeanGap):
    @property
    def ranking_(self) -> Any:
        return super().ranking_[::-1]


class TransformsBestFirst(MeanGap):
    def transform(self, X: Any) -> Any:
        return np.asarray(X)[:, self.selection().indices]


class TransformsByPlace(MeanGap):
    def transform(self, X: Any) -> Any:
        return np.asarray(X)[:, self.get_support()]


class NamesBackwards(MeanGap):
    def get_feature_names_out(self, input_features: Any = None) -> Any:
        return super().get_feature_names_out(input_features)[::-1]


class ChangesWhenAsked(MeanGap):
    def _score(self, state: Any) -> Any:
        scores = super()._score(state)
        state.counts += 1
        return scores


class TakesNumbersOnly(MeanGap):
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
        return super().partial_fit(np.asarray(X, float), y, classes)


class CallsCodesCounts(MeanGap):
    def stream_tags(self) -> StreamTags:
        return StreamTags(mergeable="exact", batch_invariant=True, categorical="counts")


BREAKS: dict[str, type[MeanGap]] = {
    **BREAKS_WITH_NUMBERS,
    "init_only_stores_arguments": ConvertsArguments,
    "clone_is_unfitted_with_equal_parameters": SharesStateBetweenInstances,
    "every_parameter_has_limits": HasNoLimits,
    "bad_parameters_are_refused_in_one_wording": AcceptsAnyParameter,
    "nothing_is_answered_before_data": AnswersBeforeData,
    "learning_returns_self": ReturnsNothing,
    "global_random_numbers_are_left_alone": UsesGlobalRandomNumbers,
    "refusals_say_what_and_where": RefusesWithoutWords,
    "later_refusals_say_what_and_where": RefusesWithoutWords,
    "refusals_count_rows_from_the_start_of_the_stream": ForgetsTheStream,
    "failed_call_changes_nothing": CountsBeforeItLearns,
    "failed_call_on_named_columns_changes_nothing": CountsBeforeItLearns,
    "failed_first_call_leaves_no_trace": CountsBeforeItLearns,
    "failed_fit_keeps_what_was_learnt": ForgetsBeforeItFits,
    "huge_values_are_refused_or_survived": Overflows,
    "rows_of_another_width_are_refused": TransformsAnything,
    "transform_refuses_nan": TransformsAnything,
    "input_is_not_changed": ChangesItsInput,
    "input_is_not_kept": KeepsItsInput,
    "answers_are_copies": HandsOutItsScores,
    "every_kind_of_array_gives_the_same_answer": MisreadsFloat32,
    "float32_gives_the_same_answer": MisreadsFloat32,
    "every_kind_of_table_gives_the_same_answer": LosesNames,
    "named_columns_may_come_in_another_order": LosesNames,
    "sparse_equals_dense": TakesSparseWithoutSayingSo,
    "permuted_columns_permute_the_answer": PrefersLaterColumns,
    "labels_of_every_kind": ReadsLabelsAsText,
    "labels_in_every_container": ReadsLabelsAsNumbers,
    "labels_may_be_a_column_vector": NeedsOneDimension,
    "cut_into_batches_does_not_matter": CountsBatches,
    "same_seed_same_result": IsRandom,
    "one_class_scores_zero_and_warns": ScoresWithoutClasses,
    "many_classes": FailsOnManyClasses,
    "features_that_come_and_go_are_refused_without_the_promise": AdvisesInVain,
    "sample_weight_counts_or_is_refused": IgnoresWeights,
    "half_life_is_fading_in_other_words": ForgetsNothing,
    "event_time_is_weights": ForgetsNothing,
    "half_lives_that_do_not_fit_are_refused": NeedsNoTime,
    "rows_without_label_are_left_out_and_counted": LearnsUnlabelledRows,
    "values_of_rows_without_label_do_not_matter": LearnsUnlabelledRows,
    "late_class_counts_like_an_announced_one": NeedsAnnouncedClasses,
    "constant_features_do_not_make_nan": DividesByZero,
    "constant_features_do_not_come_first": PrefersConstants,
    "tiny_data": SqueezesScores,
    "memory_does_not_grow_with_the_stream": KeepsAllRows,
    "missing_values_are_not_counted": PromisesTooMuch,
    "missing_values_may_fill_a_column": PromisesTooMuch,
    "late_features_get_a_slot": PromisesTooMuch,
    "vanished_features_keep_their_slots": PromisesTooMuch,
    "transform_follows_coming_and_going_features": TransformsWhatItKnowsOnly,
    "absent_features_are_missing_values": PromisesTooMuch,
    "failed_call_with_new_features_changes_nothing": GrowsBeforeItChecks,
    "state_is_plain_arrays": KeepsObjects,
    "state_survives_a_round_trip": HidesState,
    "loaded_method_goes_on_like_the_saved_one": HidesState,
    "merging_equals_one_pass": LosesPartOfTheOther,
    "merging_later_rows_equals_one_pass": LosesPartOfTheOther,
    "merging_is_associative": LosesPartOfTheOther,
    "merging_with_an_empty_side": CountsEmptySides,
    "merging_refuses_other_settings_and_features": MergesAnything,
    "informative_column_wins": PrefersNoise,
    "fit_forgets_and_learns_one_batch": NeverForgets,
    "rows_are_counted": CountsCalls,
    "answers_agree": RanksBackwards,
    "transform_keeps_the_selected_columns": TransformsBestFirst,
    "transform_finds_columns_by_name": TransformsByPlace,
    "set_output_gives_pandas": NamesBackwards,
    "pipeline_selects_before_it_classifies": PrefersNoise,
    "asking_changes_nothing": ChangesWhenAsked,
    "text_columns_are_taken_or_refused_in_words": TakesNumbersOnly,
    "order_of_categories_does_not_matter": CallsCodesCounts,
}
