"""Hoeffding trees in arrays against river's: predict and learn rows of numbers, batch by batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.table import Row, best_times
from river import tree
from streamsift.learners.adaptive_tree import AdaptiveTree
from streamsift.learners.arrays import ArrayLearner
from streamsift.learners.river_models import River
from streamsift.learners.trees import HoeffdingTree

BATCH = 100
WIDTHS = (20, 500)  # features
WANTED = {20: 2.0, 500: 20.0}
KINDS: dict[str, tuple[Any, Any]] = {
    "Hoeffding tree": (HoeffdingTree, tree.HoeffdingTreeClassifier),
    "adaptive tree": (AdaptiveTree, lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=0)),
}


def run(quick: bool) -> list[Row]:
    """Both trees at two widths: the time per row of a prediction and a step of learning."""
    rows, rng = [], np.random.default_rng(0)
    for width in WIDTHS:
        n = 500 if quick else 2_000
        y = rng.integers(0, 2, n)
        X = rng.normal(size=(n, width)) + y[:, None] * (np.arange(width) < 3)
        for name, (ours, theirs) in KINDS.items():
            mine, peer = best_times(
                lambda X=X, y=y, make=ours: follow(ArrayLearner(make), X, y),
                lambda X=X, y=y, make=theirs: follow(River(make), X, y),
                repeats=1 if quick else 3,
            )
            micro = 1e6 / n
            rows.append(
                Row(f"{name}, {width} features", mine * micro, peer * micro, "river's", peer / mine, WANTED[width],
                    "us/row", f"batches of {BATCH} rows")
            )  # fmt: skip
    return rows


def follow(learner: Any, X: Any, y: Any) -> None:
    """Predict every batch, then learn it."""
    selected = np.arange(X.shape[1])
    for first in range(0, len(y), BATCH):
        if first:
            learner.predict_proba(X[first : first + BATCH])
        learner.learn(X[first : first + BATCH], y[first : first + BATCH], selected, 2)
