"""Instance classifiers that each break one promise; small changes of ETANA, which keeps all of them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from tests.contract.anything import Anything

from streamsift.core.constraints import Limits
from streamsift.core.exceptions import InputError
from streamsift.core.instances import Classification
from streamsift.core.vocabulary import FeatureVocabulary
from streamsift.instances.etana import ETANA


class ConvertsArguments(ETANA):
    def __init__(self, feature_cost: Any = 0.01) -> None:
        self.feature_cost = float(feature_cost)


class SharesState(ETANA):
    everybody: ClassVar[list[Any]] = []

    def _know(self, counts: Any, *others: Any) -> None:
        super()._know(counts, *others)
        self.everybody[:] = [counts]

    def state_arrays(self) -> Any:
        self._current_plan()
        self._counts = self.everybody[0]
        return super().state_arrays()


class HasNoLimits(ETANA):
    parameter_limits: ClassVar[Limits] = {}


class AcceptsAnyParameter(ETANA):
    parameter_limits: ClassVar[Limits] = dict.fromkeys(ETANA.parameter_limits, (Anything(),))


class AnswersBeforeData(ETANA):
    def predict(self, X: Any) -> Any:
        return super().predict(X) if hasattr(self, "classes_") else np.zeros(len(X))


class ReturnsNothing(ETANA):
    def fit(self, X: Any, y: Any = None) -> Any:
        super().fit(X, y)


class UsesGlobalRandomNumbers(ETANA):
    def _plan(self, counts: Any) -> Any:
        np.random.random()
        return super()._plan(counts)


class IsRandom(ETANA):
    def _plan(self, counts: Any) -> Any:
        plan = super()._plan(counts)
        return replace(plan, feature_cost=plan.feature_cost * np.random.default_rng().random())


class RefusesWithoutWords(ETANA):
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
        try:
            return super().partial_fit(X, y, classes)
        except InputError as error:
            raise InputError("bad data") from error


class ForgetsTheStream(ETANA):
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
        try:
            return super().partial_fit(X, y, classes)
        except InputError as error:
            raise InputError(re.sub(r" \(row \d+ of the stream\)", "", str(error))) from error


class CountsBeforeItLearns(ETANA):
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
        if hasattr(self, "n_rows_seen_"):
            self.n_rows_seen_ += 1
        super().partial_fit(X, y, classes)
        self.n_rows_seen_ -= self.n_rows_seen_ > len(y)
        return self


class LearnsBeforeItChecks(ETANA):
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
        if not hasattr(self, "n_rows_seen_"):
            super().partial_fit([[0.0] * 5, [1.0] * 5], [0, 1])
        return super().partial_fit(X, y, classes)


class ForgetsBeforeItFits(ETANA):
    def fit(self, X: Any, y: Any = None) -> Any:
        if hasattr(self, "_counts"):
            self._counts.counts[:] = 0
        return super().fit(X, y)


class PredictsAnything(ETANA):
    def predict(self, X: Any) -> Any:
        return self.classes_[np.zeros(len(np.atleast_2d(X)), int)]


class ChangesItsInput(ETANA):
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
        super().partial_fit(X, y, classes)
        if isinstance(X, np.ndarray) and X.dtype == np.float64 and X.flags.writeable:
            X *= 2
        return self


class KeepsItsInput(ETANA):
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
        super().partial_fit(X, y, classes)
        self._kept = X
        return self

    def state_arrays(self) -> Any:
        return super().state_arrays() | {"kept": np.array(self._kept)}


class HandsOutItsPosteriors(ETANA):
    def classify(self, X: Any) -> Any:
        key = np.asarray(X).tobytes()
        memory = self.__dict__.setdefault("_memory", {})
        if key not in memory:
            memory[key] = super().classify(X)
        return memory[key]


class MisreadsFloat32(ETANA):
    def _begin(self, batch: Any) -> Any:
        counts = super()._begin(batch)
        counts.counts += 3.0 * (batch.X.dtype == np.float32)
        return counts


class MisreadsSparse(ETANA):
    def _begin(self, batch: Any) -> Any:
        counts = super()._begin(batch)
        counts.counts += 3.0 * batch.sparse
        return counts


class LosesNames(ETANA):
    def _know(self, counts: Any, plan: Any, features: Any, *others: Any) -> None:
        super()._know(counts, plan, FeatureVocabulary(None, features.n_features), *others)


class ReadsLabelsAsText(ETANA):
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
        return super().partial_fit(X, [str(label) for label in y], classes)


class ReadsLabelsAsNumbers(ETANA):
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
        return super().partial_fit(X, np.asarray(y, float), classes)


class NeedsOneDimension(ETANA):
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
        if np.ndim(y) != 1:
            raise InputError("y must have one dimension.")
        return super().partial_fit(X, y, classes)


def changed(part: str, change: Any) -> type[ETANA]:
    """A method whose `classify` answers in one part otherwise than it should."""

    class Changed(ETANA):
        def classify(self, X: Any) -> Classification:
            result = super().classify(X)
            return replace(result, **{part: change(getattr(result, part), X)})

    Changed.__name__ = Changed.__qualname__ = f"Changes_{part}"
    return Changed


class KeepsObjects(ETANA):
    def state_arrays(self) -> Any:
        return super().state_arrays() | {"words": np.array([None])}


class HidesState(ETANA):
    hidden = 0

    def _know(self, *everything: Any) -> None:
        super()._know(*everything)
        self.hidden = self.hidden + 1

    def classify(self, X: Any) -> Classification:
        result = super().classify(X)
        return replace(result, cost=result.cost * self.hidden)

    def load_state_arrays(self, arrays: Any) -> Any:
        super().load_state_arrays(arrays)
        self.hidden = 0
        return self


class NeverForgets(ETANA):
    def fit(self, X: Any, y: Any = None) -> Any:
        return self.partial_fit(X, y)


class PrefersLaterColumns(ETANA):
    def _plan(self, counts: Any) -> Any:
        plan = super()._plan(counts)
        return replace(plan, order=np.sort(plan.order))


class NeedsAnnouncedClasses(ETANA):
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
        known = set(self.classes_.tolist()) if hasattr(self, "classes_") else set(y)
        super().partial_fit(X, y, classes)
        for code, label in enumerate(self.classes_.tolist()):
            if label not in known and classes is None:
                self._counts.counts[code] = 0.0
        return self


class CountsCalls(ETANA):
    def _know(self, *everything: Any) -> None:
        super()._know(*everything)
        self.n_rows_seen_ = 1


class KeepsAllRows(ETANA):
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
        super().partial_fit(X, y, classes)
        self._rows = [*getattr(self, "_rows", []), np.array(X)]
        return self

    def state_arrays(self) -> Any:
        return super().state_arrays() | {"rows": np.concatenate(self._rows)}


class ChangesWhenAsked(ETANA):
    def classify(self, X: Any) -> Classification:
        self._counts.counts += 5.0
        return super().classify(X)


class PrefersNoise(ETANA):
    def _plan(self, counts: Any) -> Any:
        plan = super()._plan(counts)
        return replace(plan, order=(plan.order + 1) % 5)


class BuysAtLeastOne(ETANA):
    """Says that everything is free when it plans."""

    def _plan(self, counts: Any) -> Any:
        given, self.feature_cost = self.feature_cost, 0.0
        plan = super()._plan(counts)
        self.feature_cost = given
        return replace(plan, feature_cost=np.full(len(plan.feature_cost), float(given)))


class CannotLearnFromGaps(ETANA):
    def fit(self, X: Any, y: Any = None) -> Any:
        if np.isnan(np.asarray(X, float)).any():
            raise InputError("X has gaps.")
        return super().fit(X, y)


class ForgetsCategories(ETANA):
    def _begin(self, batch: Any) -> Any:
        given, self.categorical = self.categorical, None
        counts = super()._begin(batch)
        self.categorical = given
        return counts


class CountsBatches(ETANA):
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
        super().partial_fit(X, y, classes)
        self._counts.counts += 1.0
        return self


class BuysAnything(ETANA):
    def classify_one(self, acquire: Any) -> Any:
        return super().classify_one(lambda feature: None)


BREAKS: dict[str, type[ETANA]] = {
    "init_only_stores_arguments": ConvertsArguments,
    "clone_is_unfitted_with_equal_parameters": SharesState,
    "every_parameter_has_limits": HasNoLimits,
    "bad_parameters_are_refused_in_one_wording": AcceptsAnyParameter,
    "nothing_is_answered_before_data": AnswersBeforeData,
    "learning_returns_self": ReturnsNothing,
    "global_random_numbers_are_left_alone": UsesGlobalRandomNumbers,
    "same_seed_same_result": IsRandom,
    "refusals_say_what_and_where": RefusesWithoutWords,
    "failed_call_changes_nothing": CountsBeforeItLearns,
    "failed_first_call_leaves_no_trace": LearnsBeforeItChecks,
    "failed_fit_keeps_what_was_learnt": ForgetsBeforeItFits,
    "rows_of_another_width_are_refused": PredictsAnything,
    "input_is_not_changed": ChangesItsInput,
    "input_is_not_kept": KeepsItsInput,
    "answers_are_copies": HandsOutItsPosteriors,
    "every_kind_of_array_gives_the_same_answer": MisreadsFloat32,
    "float32_gives_the_same_answer": MisreadsFloat32,
    "every_kind_of_table_gives_the_same_answer": LosesNames,
    "sparse_equals_dense": MisreadsSparse,
    "labels_of_every_kind": ReadsLabelsAsText,
    "labels_in_every_container": ReadsLabelsAsNumbers,
    "constant_features_do_not_make_nan": changed(
        "posteriors", lambda found, X: found / (np.ptp(X, axis=0).all() or np.nan)
    ),
    "tiny_data": changed("posteriors", lambda found, X: found if len(X) > 2 else found * np.nan),
    "huge_values_are_refused_or_survived": changed("cost", lambda found, X: found * np.nan),
    "state_is_plain_arrays": KeepsObjects,
    "state_survives_a_round_trip": HidesState,
    "loaded_method_goes_on_like_the_saved_one": HidesState,
    "fit_forgets_and_learns_one_batch": NeverForgets,
    "later_refusals_say_what_and_where": RefusesWithoutWords,
    "refusals_count_rows_from_the_start_of_the_stream": ForgetsTheStream,
    "failed_call_on_named_columns_changes_nothing": CountsBeforeItLearns,
    "named_columns_may_come_in_another_order": LosesNames,
    "permuted_columns_permute_the_answer": PrefersLaterColumns,
    "labels_may_be_a_column_vector": NeedsOneDimension,
    "late_class_counts_like_an_announced_one": NeedsAnnouncedClasses,
    "rows_are_counted": CountsCalls,
    "memory_does_not_grow_with_the_stream": KeepsAllRows,
    "asking_changes_nothing": ChangesWhenAsked,
    "informative_column_is_bought": PrefersNoise,
    "one_instance_at_a_time_equals_many": changed("cost", lambda found, X: found + 1.0),
    "answers_agree": changed("labels", lambda found, X: found[::-1]),
    "probabilities_sum_to_one": changed("posteriors", lambda found, X: 0.9 * found),
    "costs_add_up": changed("cost", lambda found, X: found + 1.0),
    "nothing_is_bought_when_everything_costs_too_much": BuysAtLeastOne,
    "higher_prices_buy_no_more": BuysAtLeastOne,
    "missing_values_are_skipped_and_not_charged": changed("cost", lambda found, X: found + 0.01),
    "missing_values_may_be_learnt_from": CannotLearnFromGaps,
    "unseen_values_are_survived": changed("posteriors", lambda found, X: found * np.where(np.max(X) > 1e9, np.nan, 1)),
    "unseen_category_says_nothing_and_is_charged": ForgetsCategories,
    "one_class_is_answered_at_once": changed("n_evaluated", lambda found, X: found + 1),
    "rows_do_not_depend_on_each_other": changed("cost", lambda found, X: found + np.arange(len(found))),
    "batches_add_up_once_bins_are_cut": CountsBatches,
    "bad_purchases_are_refused": BuysAnything,
}
