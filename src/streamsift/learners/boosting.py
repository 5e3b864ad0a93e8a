"""The naive Bayes that is boosted, in arrays: river's GaussianNB for numbers, counts plus one for categories.

River has an object per feature and class, and asks each of them about every row.
"""

from __future__ import annotations

import numpy as np
from river.base import Classifier
from scipy.special import logsumexp

from streamsift.kernels.hoeffding import add_row, joint_logs
from streamsift.learners.arrays import Observed, Row


class ArrayBayes(Classifier):  # type: ignore[misc]  # river has no types
    """Naive Bayes over rows of `streamsift.learners.arrays`; its answers are those of river's GaussianNB."""

    def __init__(self) -> None:
        self.class_counts: dict[int, int] = {}
        self._observed: Observed | None = None

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: Row, y: int) -> None:
        self.class_counts[y] = self.class_counts.get(y, 0) + 1
        own = self._in_space_of(x)
        add_row(x.values, x.places, y, 1.0, x.space.columns, own.moments, own.cells)

    def joint_log_likelihood(self, x: Row) -> dict[int, float]:
        """The logarithm of the probability of the row and each class together; nothing before the first row."""
        if not self.class_counts:
            return {}
        own, labels = self._in_space_of(x), np.array(list(self.class_counts), np.int64)
        found = np.array(list(self.class_counts.values()), np.float64)
        joint_logs(x.values, x.places, labels, found, x.space.columns, own.moments, own.cells)
        return dict(zip(self.class_counts, found.tolist(), strict=True))

    def predict_proba_one(self, x: Row) -> dict[int, float]:
        found = self.joint_log_likelihood(x)
        if not found:
            return {}
        total = logsumexp(list(found.values()))
        return {label: float(np.exp(log - total)) for label, log in found.items()}

    def _in_space_of(self, x: Row) -> Observed:
        self._observed = Observed(x.space) if self._observed is None else self._observed.in_space(x.space)
        return self._observed
