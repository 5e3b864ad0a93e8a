"""OFS, EFS and FSDS against the same methods in NumPy: one row (OFS, EFS) or one batch (FSDS) at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits

from benchmarks.table import Row, best_times
from streamsift.rows.efs import EFS
from streamsift.rows.fsds import FSDS
from streamsift.rows.ofs import OFS

Floats = NDArray[np.float64]


def numpy_ofs(X: Floats, signs: Floats, n_kept: int) -> Floats:
    """OFS with the work of a row in NumPy calls over all features."""
    w = np.zeros(X.shape[1])
    for x, sign in zip(X, signs, strict=True):
        margin = sign * (w @ x)
        w *= 0.998
        if margin < 1.0:
            w += 0.2 * sign * x
            length = np.sqrt(w @ w)
            if length > 10.0:
                w *= 10.0 / length
            size = np.abs(w)
            w[size < np.partition(size, -n_kept)[-n_kept]] = 0.0
    return w


def numpy_efs(X: Floats, signs: Floats) -> tuple[Floats, Floats]:
    """EFS with the work of a row in NumPy calls over all features; weights may underflow, ours may not."""
    u, v = np.full(X.shape[1], 2.0), np.ones(X.shape[1])
    for x, sign in zip(X, signs, strict=True):
        low = x.min()
        x = (x - low) / (x.max() - low)
        if sign * (x @ (u - v) - 1.0) <= 1.0:
            above = x > 0.0
            up, down = 1.5 * (1.0 + x), 0.5 * np.maximum(1.0 - x, 0.01)
            winner, loser = (u, v) if sign > 0 else (v, u)
            np.multiply(winner, up, out=winner, where=above)
            np.multiply(loser, down, out=loser, where=above)
    return u, v


def numpy_sparse_efs(X: Any, signs: Floats) -> tuple[Floats, Floats]:
    """EFS over the non-zeros of counts, a row in NumPy calls."""
    u, v = np.full(X.shape[1], 2.0), np.ones(X.shape[1])
    for i, sign in enumerate(signs):
        part = slice(X.indptr[i], X.indptr[i + 1])
        j, x = X.indices[part], X.data[part]
        x = x / x.max()
        if sign * (x @ (u[j] - v[j]) - 1.0) <= 1.0:
            winner, loser = (u, v) if sign > 0 else (v, u)
            winner[j] *= 1.5 * (1.0 + x)
            loser[j] *= 0.5 * np.maximum(1.0 - x, 0.01)
    return u, v


def numpy_fsds(batches: list[Floats], size: int) -> Floats:
    """FSDS by the singular value decomposition of sketch and batch."""
    sketch = np.zeros((batches[0].shape[1], 0))
    scores = np.empty(0)
    for X in batches:
        U, s, _ = np.linalg.svd(np.hstack([sketch, X.T]), full_matrices=False)
        U, s = U[:, :size], np.sqrt(s[:size] ** 2 - s[size - 1] ** 2)
        sketch = U * s
        scores = (np.abs(U[:, :2]) * (s[:2] / (s[:2] ** 2 + 8 * s[1]))).max(axis=1)
    return scores


def _rows(rng: np.random.Generator, n: int, features: int) -> tuple[Floats, Any, Floats]:
    y = rng.integers(0, 2, n)
    X = rng.random((n, features))
    X[:, 0] = 0.7 * X[:, 0] + 0.3 * y
    return X, y, 2.0 * y - 1.0


def _small_counts(size: int) -> Floats:
    return np.random.default_rng(size).integers(1, 5, size).astype(np.float64)


def run(quick: bool) -> list[Row]:
    """All three on dense rows of several widths, everything on one thread."""
    with threadpool_limits(1):
        return _measured(quick)


def _measured(quick: bool) -> list[Row]:
    rng = np.random.default_rng(0)
    rows = []
    for features in (50, 500, 5000):
        n = 300 if quick else 2000
        X, y, signs = _rows(rng, n, features)
        kept = features // 10
        selector: Any = OFS(kept)
        mine, peer = best_times(
            lambda s=selector, X=X, y=y: s.partial_fit(X, y),
            lambda X=X, signs=signs, kept=kept: numpy_ofs(X, signs, kept),
        )
        rows.append(
            Row(f"OFS, batches of {n:,}", mine / n * 1e6, peer / n * 1e6, "NumPy over features", peer / mine,
                1.0, "µs/row", f"{features:,} features")
        )  # fmt: skip
    for features in (20, 50, 500, 5000):
        n = 1000 if quick or features > 500 else 10_000
        X, y, signs = _rows(rng, n, features)
        selector = EFS(10)
        mine, peer = best_times(
            lambda s=selector, X=X, y=y: s.partial_fit(X, y), lambda X=X, signs=signs: numpy_efs(X, signs),
            repeats=5 if quick else 10,
        )  # fmt: skip
        rows.append(
            Row(f"EFS, batches of {n:,}", mine / n * 1e6, peer / n * 1e6, "NumPy row by row", peer / mine,
                50.0, "µs/row", f"{features:,} features")
        )  # fmt: skip
    n = 1000 if quick else 10_000
    counts = sparse.random_array((n, 5000), density=0.01, format="csr", rng=rng, data_sampler=_small_counts)
    y = rng.integers(0, 2, n)
    selector = EFS(10)
    mine, peer = best_times(
        lambda: selector.partial_fit(counts, y),
        lambda: numpy_sparse_efs(counts, 2.0 * y - 1.0),
        repeats=5 if quick else 10,
    )
    rows.append(
        Row(f"EFS, sparse, batches of {n:,}", mine / n * 1e6, peer / n * 1e6, "NumPy row by row", peer / mine,
            50.0, "µs/row", "50 of 5,000 features")
    )  # fmt: skip
    for features in (50, 500, 5000, 10_000):
        batches = [rng.random((100, features)) for _ in range(2 if quick else 6)]
        size = max(int(np.sqrt(features)), 4)

        def ours(batches: list[Floats] = batches) -> None:
            selector = FSDS(10)
            for X in batches:
                selector.partial_fit(X)

        mine, peer = best_times(
            ours, lambda batches=batches, size=size: numpy_fsds(batches, size), repeats=3 if quick else 15
        )
        scale = 1e3 / len(batches)
        rows.append(
            Row("FSDS, batches of 100", mine * scale, peer * scale, "NumPy SVD", peer / mine,
                5.0, "ms/batch", f"{features:,} features")
        )  # fmt: skip
    return rows
