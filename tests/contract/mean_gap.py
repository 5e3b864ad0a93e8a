"""MeanGap: the worked example of CONTRIBUTING.md, a complete row selector in one short file.

A feature is relevant when its mean differs between classes: the score is the largest class mean minus the smallest.
Time per batch: O(rows x features). Memory: one sum per class and feature.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import CheckedBatch
from streamsift.core.constraints import Limits
from streamsift.core.rows import N_FEATURES_LIMITS, RowSelector
from streamsift.core.tags import StreamTags


@dataclass
class ClassSums:
    """How many rows each class has, and the sum of each feature over them."""

    counts: NDArray[np.float64]  # (n_classes,)
    sums: NDArray[np.float64]  # (n_classes, n_features)


class MeanGap(RowSelector):
    """Score a feature by the gap between its largest and its smallest class mean.

    Parameters
    ----------
    n_features_to_select : int or float, default=10
        How many features to select; a float in (0, 1] is a fraction of all.

    Examples
    --------
    >>> MeanGap(n_features_to_select=1).fit([[0.0, 5.0], [9.0, 5.0]], ["a", "b"]).scores_.tolist()
    [9.0, 0.0]
    """

    parameter_limits: ClassVar[Limits] = {"n_features_to_select": N_FEATURES_LIMITS}
    state_type = ClassSums

    def __init__(self, n_features_to_select: int | float = 10) -> None:
        self.n_features_to_select = n_features_to_select

    def stream_tags(self) -> StreamTags:
        return StreamTags(mergeable="exact", batch_invariant=True)

    def _begin(self, batch: CheckedBatch) -> ClassSums:
        return ClassSums(np.zeros(0), np.zeros((0, batch.features.n_features)))

    def _learn(self, state: ClassSums, batch: CheckedBatch) -> None:
        # The sums of the batch are complete before the state changes: a call that fails leaves nothing behind.
        counts = np.bincount(batch.codes, minlength=len(batch.labels)).astype(float)
        sums = np.zeros((len(batch.labels), batch.features.n_features))
        np.add.at(sums, batch.codes, batch.X)
        known = len(state.counts)
        counts[:known] += state.counts
        sums[:known] += state.sums
        state.counts, state.sums = counts, sums

    def _score(self, state: ClassSums) -> NDArray[np.float64]:
        seen = state.counts > 0  # a class may be announced before its first row
        means = state.sums[seen] / state.counts[seen, None]
        return np.asarray(means.max(axis=0) - means.min(axis=0))

    def _align_classes(self, state: ClassSums, codes: NDArray[np.int64], n_classes: int) -> ClassSums:
        counts = np.zeros(n_classes)
        sums = np.zeros((n_classes, state.sums.shape[1]))
        counts[codes], sums[codes] = state.counts, state.sums
        return ClassSums(counts, sums)

    def _merge(self, state: ClassSums, other: ClassSums) -> None:
        state.counts += other.counts
        state.sums += other.sums
