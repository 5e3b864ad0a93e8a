"""Data that tests of comparisons share, and an entry without what depends on the clock."""

from __future__ import annotations

import numpy as np

DRIFT = "generate:linear_drift,n_features=15,n_relevant=3,shift_every=100000"
TIMES = {"seconds", "rows_per_second", "ram_hours", "memory"}  # memory is read now and then, by the clock


def people(n_rows=1200, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    X = rng.normal(size=(n_rows, 8))
    X[:, 2] += 2.0 * y
    X[:, 5] += 1.0 * y
    return X, np.array(["f", "m", "x"])[y]


def timeless(entry):
    return {name: value for name, value in entry.items() if name not in TIMES}
