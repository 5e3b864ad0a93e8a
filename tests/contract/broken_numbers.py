"""Slope, which takes numbers as targets and keeps its promises, and small changes of it that each break one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from tests.contract.mean_gap import ClassSums, MeanGap

from streamsift.core.constraints import Limits, OneOf
from streamsift.core.rows import N_FEATURES_LIMITS
from streamsift.core.tags import StreamTags


@dataclass
class Moments:
    """Rows, means and centred cross products of the features and, last, of the target."""

    n_rows: NDArray[np.float64]  # one number
    mean: NDArray[np.float64]
    cross: NDArray[np.float64]


class Slope(MeanGap):
    """Score a feature by its correlation with the target, or as MeanGap does where there are classes."""

    parameter_limits: ClassVar[Limits] = {
        "n_features_to_select": N_FEATURES_LIMITS,
        "task": (OneOf("classification", "regression"),),
    }

    def __init__(self, n_features_to_select: int | float = 10, *, task: str = "classification") -> None:
        self.n_features_to_select = n_features_to_select
        self.task = task

    def stream_tags(self) -> StreamTags:
        return replace(super().stream_tags(), regression=True)

    def _type_of_state(self, arrays: dict[str, NDArray[Any]]) -> type[Any]:
        return Moments if self._numeric else ClassSums

    def _begin(self, batch: Any) -> Any:
        width = batch.features.n_features + 1
        return (
            Moments(np.zeros(1), np.zeros(width), np.zeros((width, width))) if self._numeric else super()._begin(batch)
        )

    def _learn(self, state: Any, batch: Any) -> None:
        if not self._numeric:
            super()._learn(state, batch)
            return
        rows = np.column_stack([batch.X, batch.target])
        n_new, mean = len(rows), rows.mean(axis=0)
        gap, total = mean - state.mean, state.n_rows + n_new
        around = rows - mean
        state.cross = state.cross + around.T @ around + np.outer(gap, gap) * state.n_rows * n_new / total
        state.mean, state.n_rows = state.mean + gap * n_new / total, total

    def _score(self, state: Any) -> Any:
        if not self._numeric:
            return super()._score(state)
        spread = np.sqrt(np.diag(state.cross))
        return np.abs(state.cross[-1, :-1]) / np.maximum(spread[:-1] * spread[-1], 1e-300)


class PrefersWhatExplainsNothing(Slope):
    def _score(self, state: Any) -> Any:
        return 1.0 - super()._score(state)


class ScoresInUnits(Slope):
    def _score(self, state: Any) -> Any:
        return np.abs(state.cross[-1, :-1]) if self._numeric else super()._score(state)


class RemembersOutsideOfItsState(Slope):
    def _learn(self, state: Any, batch: Any) -> None:
        super()._learn(state, batch)
        self.calls = getattr(self, "calls", 0) + 1
        if self._numeric:
            state.mean = state.mean + self.calls


class TakesAnyNumber(Slope):
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Any:
        if self._numeric and np.asarray(y).dtype.kind == "f":
            y = np.nan_to_num(y, posinf=0.0)
        return super().partial_fit(X, y, classes)


class CountsBatchesOfNumbers(Slope):
    def _learn(self, state: Any, batch: Any) -> None:
        super()._learn(state, batch)
        if self._numeric:
            state.cross = state.cross + 1.0


class SelectsOneMore(Slope):
    def _chosen(self) -> Any:
        return np.argsort(-self.scores_, kind="stable")[: int(self.n_features_to_select) + 1]


BREAKS: dict[str, type[MeanGap]] = {
    "column_that_explains_a_number_wins": PrefersWhatExplainsNothing,
    "units_of_a_number_do_not_matter": ScoresInUnits,
    "state_of_numbers_survives": RemembersOutsideOfItsState,
    "bad_numbers_are_refused_and_change_nothing": TakesAnyNumber,
    "cut_of_numbers_into_batches_does_not_matter": CountsBatchesOfNumbers,
    "number_of_features_is_kept_for_numbers": SelectsOneMore,
}
