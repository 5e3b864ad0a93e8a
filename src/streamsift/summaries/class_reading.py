"""What scores read of a summary: counts by class, or by groups of its classes where these are cells of a number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamsift.summaries.category_counts import CategoryTable
from streamsift.summaries.mixed import MixedSummary
from streamsift.summaries.quantile_points import kept_values

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class ClassReading:
    """A summary from bins or moments, and the group of each of its classes; None: each stands for itself."""

    summary: MixedSummary
    groups: Ints | None = None

    def bin_counts(self, n_bins: int) -> Floats:
        """Weights (n_numbers, n_bins, n_classes) of the numeric features between cut points at equal ranks."""
        return self._gathered(self.summary.numbers.bin_counts(n_bins))

    def values(self, place: int) -> tuple[Floats, Floats]:
        """The values kept of a numeric feature, rising, and the weights (n_values, n_classes) at each."""
        values, weights = kept_values(self.summary.numbers, place)
        return values, self._gathered(weights)

    def table(self, place: int) -> CategoryTable:
        """The counts of a categorical feature."""
        table = self.summary.categories.table(place)
        return table._replace(weights=self._gathered(table.weights), other=self._gathered(table.other))

    def tables(self) -> list[CategoryTable]:
        """The counts of all categorical features."""
        return [self.table(place) for place in range(self.summary.categories.n_features)]

    def _gathered(self, weights: Floats) -> Floats:
        """Add up the weights of the classes of each group; classes are the last axis."""
        if self.groups is None:
            return weights
        member = self.groups[:, None] == np.arange(self.groups.max(initial=0) + 1)
        return np.asarray(weights @ member.astype(np.float64))
