"""Column selectors that each break one promise; small changes of Correlated, which keeps all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from tests.contract.anything import Anything
from tests.contract.correlated import Correlated, UnitColumns, unit

from streamsift.core.constraints import Limits
from streamsift.core.exceptions import InputError
from streamsift.core.selection import Decision
from streamsift.core.tags import ColumnTags


class ConvertsArguments(Correlated):
    def __init__(self, level: Any = 0.4) -> None:
        self.level = float(level)


class SharesState(Correlated):
    everybody: ClassVar[list[Any]] = []

    def _know(self, members: Any) -> None:
        self.everybody[:] = [members]
        super()._know(members)

    def state_arrays(self) -> Any:
        self._check_begun()
        self._members = self.everybody[0]
        return super().state_arrays()


class HasNoLimits(Correlated):
    parameter_limits: ClassVar[Limits] = {}


class AcceptsAnyParameter(Correlated):
    parameter_limits: ClassVar[Limits] = {"level": (Anything(),)}


class AnswersBeforeData(Correlated):
    @property
    def selected_(self) -> list[str]:
        return super().selected_ if hasattr(self, "n_offered_") else []


class ReturnsNothing(Correlated):
    def fit(self, X: Any, y: Any = None) -> Any:
        super().fit(X, y)


class UsesGlobalRandomNumbers(Correlated):
    def _decide_one(self, state: Any, column: Any, name: str, categorical: bool) -> Decision:
        np.random.random()
        return super()._decide_one(state, column, name, categorical)


class IsRandom(Correlated):
    def _begin(self, target: Any, weight: Any) -> Any:
        state = super()._begin(target, weight)
        state.target *= 1.0 - 0.01 * np.random.default_rng().random()
        return state


class RefusesWithoutWords(Correlated):
    def _checked(self, X: Any, names: Any, categorical: Any) -> Any:
        return self._wordless(super()._checked, X, names, categorical)

    def begin(self, y: Any, sample_weight: Any = None) -> Any:
        return self._wordless(super().begin, y, sample_weight)

    def _judge(self, block: Any, *, again: bool = False) -> Any:
        return self._wordless(super()._judge, block)

    def _wordless(self, call: Any, *arguments: Any) -> Any:
        try:
            return call(*arguments)
        except InputError as error:
            raise InputError("bad data") from error


class CountsBeforeItDecides(Correlated):
    def offer_many(self, block: Any, names: Any = None, *, categorical: Any = None) -> Any:
        self._members.n_offered += 1
        answers = super().offer_many(block, names, categorical=categorical)
        self._members.n_offered -= 1
        return answers


class BeginsBeforeItFits(Correlated):
    def fit(self, X: Any, y: Any = None) -> Any:
        return self.begin(y) and super().fit(X, y)


class ForgetsBeforeItFits(Correlated):
    def fit(self, X: Any, y: Any = None) -> Any:
        if hasattr(self, "_state"):
            self._state.target[:] = 0
        return super().fit(X, y)


class TransformsByPlace(Correlated):
    def transform(self, X: Any) -> Any:
        matrix = np.atleast_2d(np.asarray(X))
        return matrix[:, self.get_support()[: matrix.shape[1]]]


class KeepsTheFirstColumns(Correlated):
    def transform(self, X: Any) -> Any:
        return np.array(X)[:, : len(self.selected_)]


class RenamesColumns(Correlated):
    def get_feature_names_out(self, input_features: Any = None) -> Any:
        return np.array([f"new {name}" for name in super().get_feature_names_out(input_features)], object)


class ChangesItsInput(Correlated):
    def fit(self, X: Any, y: Any = None) -> Any:
        super().fit(X, y)
        if isinstance(X, np.ndarray) and X.dtype == np.float64 and X.flags.writeable:
            X *= 2
        return self


@dataclass
class WithLastBlock(UnitColumns):
    last: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))


class KeepsItsInput(Correlated):
    state_type = WithLastBlock

    def _begin(self, target: Any, weight: Any) -> Any:
        return WithLastBlock(**vars(super()._begin(target, weight)))

    def _decide(self, state: Any, block: Any) -> Any:
        state.last = block.values
        return super()._decide(state, block)


class KeepsAllColumns(KeepsItsInput):
    def _decide(self, state: Any, block: Any) -> Any:
        last = np.append(state.last, block.values)
        answers = super()._decide(state, block)
        state.last = last
        return answers


class HandsOutItsMask(Correlated):
    def _get_support_mask(self) -> Any:
        if not hasattr(self, "_mask") or len(self._mask) != self.n_offered_:
            self._mask = super()._get_support_mask()
        return self._mask


class MisreadsFloat32(Correlated):
    def _decide(self, state: Any, block: Any) -> Any:
        state.target *= 0.9 if block.values.dtype == np.float32 else 1.0
        return super()._decide(state, block)


class MisreadsSparse(Correlated):
    def _decide(self, state: Any, block: Any) -> Any:
        state.target *= 0.9 if block.sparse else 1.0
        return super()._decide(state, block)


class LosesNames(Correlated):
    def _name_features(self, block: Any) -> None:
        pass


class ReadsLabelsAsText(Correlated):
    def begin(self, y: Any, sample_weight: Any = None) -> Any:
        return super().begin([str(label) for label in y], sample_weight)


class ReadsLabelsAsNumbers(Correlated):
    def begin(self, y: Any, sample_weight: Any = None) -> Any:
        return super().begin(np.asarray(y, float), sample_weight)


class AcceptsConstants(Correlated):
    def _decide_one(self, state: Any, column: Any, name: str, categorical: bool) -> Decision:
        if not unit(column).any():
            return Decision(name, True, threshold=0.0)
        return super()._decide_one(state, column, name, categorical)


class Overflows(Correlated):
    scans_itself: ClassVar[bool] = True

    def _decide_one(self, state: Any, column: Any, name: str, categorical: bool) -> Decision:
        with np.errstate(all="ignore"):
            return Decision(name, True, statistic=float(0.0 * np.sum(column**2)), threshold=0.0)


@dataclass
class WithWords(UnitColumns):
    words: NDArray[np.object_] = field(default_factory=lambda: np.array([None]))


class KeepsObjects(Correlated):
    state_type = WithWords

    def _begin(self, target: Any, weight: Any) -> Any:
        return WithWords(**vars(super()._begin(target, weight)))


class HidesState(Correlated):
    hidden = 0

    def _decide(self, state: Any, block: Any) -> Any:
        state.target *= 0.9**self.hidden
        self.hidden = self.hidden + 1
        return super()._decide(state, block)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        super()._fit(X, y, sample_weight)
        self.hidden = 1
        return self


class NeverForgets(Correlated):
    def fit(self, X: Any, y: Any = None) -> Any:
        before = self._members.n_offered if hasattr(self, "_members") else 0
        super().fit(X, y)
        self._members.n_offered += before
        return self


class PrefersNoise(Correlated):
    def _decide_one(self, state: Any, column: Any, name: str, categorical: bool) -> Decision:
        answer = super()._decide_one(state, column, name, categorical)
        return Decision(name, not answer.accepted, statistic=answer.statistic, threshold=answer.threshold)


class NeedsClasses(Correlated):
    def begin(self, y: Any, sample_weight: Any = None) -> Any:
        return super().begin(np.asarray(y) > np.median(y), sample_weight)


class SelectsBackwards(Correlated):
    @property
    def selected_(self) -> list[str]:
        return super().selected_[::-1]


class ClaimsToNeedTheTable(Correlated):
    def stream_tags(self) -> ColumnTags:
        return ColumnTags(whole_table=True)


class BeginsByItself(Correlated):
    def offer(self, column: Any, name: Any = None, *, categorical: bool = False) -> Any:
        if not hasattr(self, "_state"):
            self.begin(np.arange(len(column)))
        return super().offer(column, name, categorical=categorical)


class CountsBlocks(Correlated):
    def _decide(self, state: Any, block: Any) -> Any:
        state.target *= 0.99
        return super()._decide(state, block)


class RunsBackwards(Correlated):
    def run(self, columns: Any, y: Any = None, sample_weight: Any = None) -> Any:
        return super().run(reversed(list(columns)), y, sample_weight)


class SaysNothing(Correlated):
    def _decide_one(self, state: Any, column: Any, name: str, categorical: bool) -> Decision:
        return Decision(name, super()._decide_one(state, column, name, categorical).accepted)


class LooksAtTheFirstRows(Correlated):
    def _begin(self, target: Any, weight: Any) -> Any:
        state = super()._begin(target, weight)
        state.target[len(state.target) // 2 :] = 0.0
        return state


class BeginsWithWhatWasOffered(Correlated):
    def begin(self, y: Any, sample_weight: Any = None) -> Any:
        before = self._members.n_offered if hasattr(self, "_members") else 0
        super().begin(y, sample_weight)
        self._members.n_offered = before
        return self


class ForgetsBeforeItBegins(Correlated):
    def begin(self, y: Any, sample_weight: Any = None) -> Any:
        if hasattr(self, "_state"):
            self._state.target[:] = 0
        return super().begin(y, sample_weight)


class AcceptsCopies(Correlated):
    def _decide_one(self, state: Any, column: Any, name: str, categorical: bool) -> Decision:
        strength = float(abs(unit(column) @ state.target))
        return Decision(name, strength >= self.level, statistic=strength, threshold=self.level)


class TakesAnyName(Correlated):
    def _refuse_known_names(self, block: Any) -> None:
        pass


class ForgetsWeights(Correlated):
    def stream_tags(self) -> ColumnTags:
        return ColumnTags(weights=True)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        return self._fit(X, y, None)

    def _begin(self, target: Any, weight: Any) -> Any:
        state = super()._begin(target, weight)
        state.target *= min(1.0, target.n_rows / 80)  # so that repeated rows make a difference
        return state


BREAKS: dict[str, type[Correlated]] = {
    "init_only_stores_arguments": ConvertsArguments,
    "clone_is_unfitted_with_equal_parameters": SharesState,
    "every_parameter_has_limits": HasNoLimits,
    "bad_parameters_are_refused_in_one_wording": AcceptsAnyParameter,
    "nothing_is_answered_before_data": AnswersBeforeData,
    "learning_returns_self": ReturnsNothing,
    "global_random_numbers_are_left_alone": UsesGlobalRandomNumbers,
    "same_seed_same_result": IsRandom,
    "refusals_say_what_and_where": RefusesWithoutWords,
    "failed_call_changes_nothing": CountsBeforeItDecides,
    "failed_first_call_leaves_no_trace": BeginsBeforeItFits,
    "failed_fit_keeps_what_was_learnt": ForgetsBeforeItFits,
    "rows_of_another_width_are_refused": TransformsByPlace,
    "input_is_not_changed": ChangesItsInput,
    "input_is_not_kept": KeepsItsInput,
    "answers_are_copies": HandsOutItsMask,
    "every_kind_of_array_gives_the_same_answer": MisreadsFloat32,
    "float32_gives_the_same_answer": MisreadsFloat32,
    "every_kind_of_table_gives_the_same_answer": LosesNames,
    "sparse_equals_dense": MisreadsSparse,
    "labels_of_every_kind": ReadsLabelsAsText,
    "labels_in_every_container": ReadsLabelsAsNumbers,
    "constant_features_do_not_make_nan": AcceptsConstants,
    "tiny_data": AcceptsConstants,
    "huge_values_are_refused_or_survived": Overflows,
    "state_is_plain_arrays": KeepsObjects,
    "state_survives_a_round_trip": HidesState,
    "loaded_method_goes_on_like_the_saved_one": HidesState,
    "fit_forgets_and_learns_one_batch": NeverForgets,
    "transform_refuses_nan": TransformsByPlace,
    "transform_keeps_the_selected_columns": KeepsTheFirstColumns,
    "transform_finds_columns_by_name": TransformsByPlace,
    "set_output_gives_pandas": RenamesColumns,
    "informative_column_is_selected": PrefersNoise,
    "numeric_target": NeedsClasses,
    "answers_agree": SelectsBackwards,
    "offering_is_refused_without_the_table": ClaimsToNeedTheTable,
    "columns_are_offered_after_begin": BeginsByItself,
    "offering_many_equals_offering_one_by_one": CountsBlocks,
    "cut_into_blocks_does_not_matter": CountsBlocks,
    "run_equals_offering": RunsBackwards,
    "decisions_tell_the_story": SaysNothing,
    "rejected_columns_leave_no_trace": KeepsAllColumns,
    "permuted_rows_give_the_same_decisions": LooksAtTheFirstRows,
    "begin_forgets_everything": BeginsWithWhatWasOffered,
    "refused_begin_keeps_what_was_learnt": ForgetsBeforeItBegins,
    "constant_columns_are_rejected": AcceptsConstants,
    "duplicate_columns_are_selected_once": AcceptsCopies,
    "bad_column_is_refused_by_row_and_name": RefusesWithoutWords,
    "names_tell_columns_apart": TakesAnyName,
    "weights_count_rows": ForgetsWeights,
}
