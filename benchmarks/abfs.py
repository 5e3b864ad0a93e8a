"""ABFS against river's Hoeffding tree on the same rows, ADWIN against river's, and how the cost grows with features.

The tree is the nearest thing in Python: a stump is its first node, and both collect the same statistics.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from benchmarks.table import Row, best_times
from river import drift, tree
from streamsift.drift import ADWIN
from streamsift.rows.abfs import ABFS
from streamsift.streams import generate

UNITS = 20
CODES = 5
LIMIT_ROWS, LIMIT_SPEED = 150_000, 20e9  # rows/s wanted where memory is read at 20 GB/s


@njit(fastmath=True, cache=True)
def _read(X: NDArray[Any]) -> float:
    """One read of the data at the speed numba can."""
    total = 0.0
    for i in range(X.shape[0]):
        row, part = X[i], X.dtype.type(0)
        for j in range(row.size):
            part += row[j]
        total += part
    return total


def _stream(rows: int, features: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Uniform numbers and codes in turns; the class follows the first twenty columns and noise."""
    rng = np.random.default_rng(0)
    X = np.empty((rows, features), np.float32)
    X[:, ::2] = rng.random((rows, features // 2))
    X[:, 1::2] = rng.integers(0, CODES, (rows, features // 2))
    signal = X[:, :UNITS] - X[:, :UNITS].mean(axis=0)
    y = (signal / X[:, :UNITS].std(axis=0)).sum(axis=1) + rng.normal(size=rows) * 2.0 > 0.0
    return X, y.astype(np.int64)


def _with_units(X: NDArray[np.float32], y: NDArray[np.int64]) -> ABFS:
    """A selector that has twenty units and, from now on, tests its candidate in vain."""
    selector = ABFS(grace_period=200, threshold=0.0, categorical=list(range(1, X.shape[1], 2)))
    row = 0
    while row == 0 or len(selector.units_) < UNITS:
        selector.partial_fit(X[row : row + 50], y[row : row + 50])
        row = (row + 50) % len(X)
    return selector.set_params(threshold=1.0)


def _feed(selector: ABFS, X: NDArray[np.float32], y: NDArray[np.int64]) -> None:
    for start in range(0, len(X), 1000):
        selector.partial_fit(X[start : start + 1000], y[start : start + 1000])


def _grow_tree(model: Any, rows: list[dict[int, float]], labels: list[int]) -> None:
    for x, label in zip(rows, labels, strict=True):
        model.learn_one(x, label)


def _selector(quick: bool) -> list[Row]:
    n_rows, n_tree = (5_000, 200) if quick else (20_000, 600)
    X, y = _stream(n_rows, 500)
    selector = _with_units(X, y)
    model = tree.HoeffdingTreeClassifier(nominal_attributes=list(range(1, 500, 2)))
    rows, labels = [dict(enumerate(x.tolist())) for x in X[:n_tree]], y[:n_tree].tolist()
    ours, peer, limit = best_times(
        lambda: _feed(selector, X, y), lambda: _grow_tree(model, rows, labels), lambda: _read(X), repeats=7
    )
    speed, peer_speed, memory = n_rows / ours, n_tree / peer, X.nbytes / limit
    due = LIMIT_ROWS * min(1.0, memory / LIMIT_SPEED)
    return [
        Row("ABFS, 500 features (half categorical), 20 units", speed, peer_speed,
            "HoeffdingTreeClassifier.learn_one", speed / peer_speed, 200.0, "rows/s"),
        Row("the same against 150,000 rows/s at 20 GB/s", speed, due,
            "the part of it this memory allows", speed / due, 1.0, "rows/s", f"memory: {memory / 1e9:.1f} GB/s"),
    ]  # fmt: skip


def _features(quick: bool) -> Row:
    """Cost per row and feature at 2,000 features over that at 500: 1 or less is linear."""
    per_feature = []
    for features in (500, 2000):
        X, y = _stream(2_000 if quick else 5_000, features)
        selector = _with_units(X, y)
        (seconds,) = best_times(lambda s=selector, X=X, y=y: _feed(s, X, y), repeats=7)
        per_feature.append(seconds / X.size * 1e9)
    narrow, wide = per_feature
    return Row(
        "ABFS, cost per row and feature, 2,000 features", wide, narrow, "500 features", narrow / wide, None, "ns"
    )


def _adwin(quick: bool) -> Row:
    n = 2_000 if quick else 20_000
    bits = (np.random.default_rng(1).random((UNITS, n // UNITS)) < 0.2).astype(np.float64)
    ours, peers = ADWIN(), [drift.ADWIN() for _ in range(UNITS)]
    bank, lists = ours.bank(UNITS), bits.tolist()

    def update_peers() -> None:
        for peer, values in zip(peers, lists, strict=True):
            for value in values:
                peer.update(value)

    mine, peer = best_times(lambda: ours.scan(bank, bits), update_peers, repeats=15)
    return Row(
        "ADWIN, 20 detectors", mine / n * 1e9, peer / n * 1e9, "river.drift.ADWIN", peer / mine, 3.0, "ns/update"
    )


def _generators(quick: bool) -> Row:
    """The slowest of the streams that take irrelevant features, read to the end."""
    rows, seconds = 20_000 if quick else 200_000, {}
    for name in ("agr", "an", "bg1", "bg2", "bg3", "rtg", "sea", "rbf"):
        start = time.perf_counter()
        for _ in generate(name, n_rows=rows, seed=0, irrelevant=500).batches(1000):
            pass
        seconds[name] = time.perf_counter() - start
    slowest = max(seconds, key=lambda name: seconds[name])
    limit = 10.0 * rows / 200_000
    return Row(f"generate {rows:,} rows, 500 irrelevant features", seconds[slowest], limit, "limit",
               limit / seconds[slowest], 1.0, "s", f"the slowest of 8: {slowest}")  # fmt: skip


def run(quick: bool) -> list[Row]:
    """All rows of this topic."""
    return [*_selector(quick), _features(quick), _adwin(quick), _generators(quick)]
