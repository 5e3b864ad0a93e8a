"""Cross moments beside the machine's own X.T @ X, and Joint beside what people use offline.

The limit of the first is one symmetric product of a batch with itself (numpy takes the symmetric one for X.T @ X, too).
The peers of the second (joint_peers.py) see all rows at once. Wide data is shown with its memory: state and peak
of a run.
"""

from __future__ import annotations

import time
import tracemalloc
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse import random as random_sparse
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import LinearRegression

from benchmarks import joint_peers
from benchmarks.table import Row, best_times
from streamsift import Joint
from streamsift.summaries.cross_moments import CrossMoments

BATCH = 1000
SHARE = 0.6  # of the speed of X.T @ X that is wanted


def run(quick: bool) -> list[Row]:
    sizes = (500,) if quick else (500, 2000)
    rows = [_product(n, kind) for n in sizes for kind in (np.float64, np.float32)]
    rows.append(_stepwise(1000 if quick else 10_000))
    rows += [_wide(20_000 if quick else 100_000, sparse) for sparse in (False, True)]
    return rows + joint_peers.run(quick)


def _product(n_features: int, kind: Any) -> Row:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(BATCH, n_features)).astype(kind)
    long = X.astype(np.float64)
    targets = np.eye(2)[rng.integers(0, 2, BATCH)]
    moments = CrossMoments.empty(1.0, n_features, 2)
    ours, peer = best_times(lambda: moments.learn(X, targets), lambda: long.T @ long, repeats=9)
    name = f"cross moments, {n_features} features of {np.dtype(kind).name}"
    return Row(
        name, 1e3 * ours, 1e3 * peer, "X.T @ X in float64", peer / ours, SHARE, "ms", f"a batch of {BATCH:,} rows"
    )


def _stepwise(n_rows: int) -> Row:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 60)) @ rng.normal(size=(60, 60))
    y = X[:, 3] - 2.0 * X[:, 30] + 0.5 * X[:, 41] + rng.normal(size=n_rows)

    def streamed() -> NDArray[np.intp]:
        selector = Joint(n_features_to_select=5, task="regression")
        for start in range(0, n_rows, BATCH):
            selector.partial_fit(X[start : start + BATCH], y[start : start + BATCH])
        return np.sort(selector.path_.order)

    start = time.perf_counter()
    offline = SequentialFeatureSelector(LinearRegression(), n_features_to_select=5, cv=2).fit(X, y)
    peer = time.perf_counter() - start
    (ours,) = best_times(streamed, repeats=3)
    same = np.array_equal(streamed(), offline.get_support(indices=True))
    note = f"{n_rows:,} rows, 5 of 60 features, {'the same' if same else 'not the same'} features"
    return Row("joint:forward", ours, peer, "SequentialFeatureSelector", peer / ours, None, "s", note)


def _wide(n_features: int, sparse: bool) -> Row:
    """Ten true features among many: how many are found, and what memory it takes."""
    rng = np.random.default_rng(0)
    true = rng.choice(n_features, 10, replace=False)
    selector = Joint(n_features_to_select=10, task="regression")
    tracemalloc.start()
    for _ in range(20):
        X, values = _rows(rng, n_features, true, sparse)
        selector.partial_fit(X, values.sum(axis=1) + rng.normal(size=len(values)))
    found = len(set(selector.get_support(indices=True)) & set(true))
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    state = sum(array.nbytes for array in selector.state_arrays().values()) / 2**20
    full = 8.0 * n_features**2 / 2**20
    kind = "sparse" if sparse else "dense"
    note = f"{n_features:,} features, {kind}, {found} of 10 found, peak {peak:.0f} MB with the batch"
    return Row("wide data, state", state, full, "all cross moments", full / state, None, "MB", note)


def _rows(rng: np.random.Generator, n_features: int, true: NDArray[np.int64], sparse: bool) -> tuple[Any, Any]:
    if not sparse:
        X = rng.normal(size=(100, n_features)).astype(np.float32)
        return X, X[:, true].astype(np.float64)
    X = random_sparse(100, n_features, 50 / n_features, format="csr", random_state=rng)
    values = (rng.random((100, 10)) < 0.2) * rng.normal(size=(100, 10))
    places = csr_matrix((np.ones(10), (np.arange(10), true)), (10, n_features))
    X = (X + csr_matrix(values) @ places).tocsr()
    X.sort_indices()
    return X, values
