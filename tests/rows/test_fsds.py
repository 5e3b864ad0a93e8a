"""FSDS against its naive twin, the reference values and the contract."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive.fsds import fsds as naive_fsds
from threadpoolctl import threadpool_info, threadpool_limits

from streamsift.rows import fsds
from streamsift.rows.fsds import FSDS, leading_eigenvectors


def sketch_squared(selector: FSDS) -> np.ndarray:
    state = selector.state_arrays()
    sketch = state["state.directions"] * state["state.lengths"][:, None]
    return sketch.T @ sketch


@pytest.mark.parametrize("form", ["raw", "minmax"])
def test_reference_values(shared: Path, form: str) -> None:
    stream, wanted = np.load(shared / "golden/common/stream_1000x20.npz"), np.load(shared / "golden/fsds/fsds.npz")
    selector = FSDS(5)
    for step, rows in enumerate(np.split(np.arange(1000), 20)):
        selector.partial_fit(stream[f"X_{form}"][rows])
        np.testing.assert_allclose(selector.scores_, wanted[f"{form}_l4_k2_w"][step], rtol=1e-10)
        right = wanted[f"{form}_l4_k2_BBt"][step]
        np.testing.assert_allclose(sketch_squared(selector), right, rtol=1e-10, atol=1e-12 * np.abs(right).max())


HARD = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "low rank": lambda rng, n, d: rng.normal(size=(n, 1)) @ rng.normal(size=(1, d)),
    "constant": lambda rng, n, d: np.full((n, d), 2.0),
    "zero": lambda rng, n, d: np.zeros((n, d)),
    "huge offset": lambda rng, n, d: rng.normal(size=(n, d)) + 1e8 * (np.arange(d) == 0),
    "tiny": lambda rng, n, d: rng.normal(size=(n, d)) * 1e-120,
    "large": lambda rng, n, d: rng.normal(size=(n, d)) * 1e140,
}


@given(
    st.sampled_from(sorted(HARD)),
    st.lists(st.integers(1, 30), min_size=1, max_size=4),
    st.integers(1, 40),
    st.integers(1, 3),
    st.integers(0, 999),
)
def test_equals_naive_twin(kind: str, lengths: list[int], n_features: int, n_components: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    batches = [HARD[kind](rng, n_rows, n_features) for n_rows in lengths]
    size = max(int(np.sqrt(n_features)), 2 * n_components)
    selector = FSDS(n_components=n_components)
    for X in batches:
        selector.partial_fit(X)
    scores, squared = naive_fsds(batches, size, n_components)[-1]
    assert np.isfinite(selector.scores_).all()
    np.testing.assert_allclose(sketch_squared(selector), squared, rtol=1e-7, atol=1e-9 * np.abs(squared).max())
    if kind in ("normal", "huge offset", "tiny") and min(sum(lengths), n_features) > 2 * size:
        # Elsewhere directions of equal length, or of none, may be chosen in more than one way.
        np.testing.assert_allclose(selector.scores_, scores, rtol=1e-5, atol=1e-7 * scores.max())


def test_labels_change_nothing() -> None:
    X = np.random.default_rng(0).normal(size=(40, 6))
    wanted = FSDS().partial_fit(X).scores_
    np.testing.assert_array_equal(FSDS().partial_fit(X, np.arange(40) % 3).scores_, wanted)


def test_sketch_stays_below_the_data_by_no_more_than_its_bound() -> None:
    """Frequent directions: 0 <= |X a|^2 - |B' a|^2 <= |X|_F^2 / l for every unit vector a."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(500, 30)) * np.linspace(0.1, 3, 30)
    selector = FSDS(sketch_size=8)
    for start in range(0, 500, 20):
        selector.partial_fit(X[start : start + 20])
    gap = np.linalg.eigvalsh(X.T @ X - sketch_squared(selector))
    assert gap.min() >= -1e-9 * gap.max()
    assert gap.max() <= np.square(X).sum() / 8


def test_no_nan_from_hard_streams() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 8))
    X[:50] *= 1e6
    X[50:100, 3] = 1e150
    X[100:150] = 0.0
    X[150:, 2] = 1e300
    for order in (slice(None), slice(None, None, -1)):
        selector = FSDS(3)
        for start in range(0, 200, 50):
            selector.partial_fit(X[order][start : start + 50])
            assert np.isfinite(selector.scores_).all()
    assert not FSDS(3).partial_fit(np.zeros((5, 4))).scores_.any()


@pytest.mark.parametrize("seed", range(40))
def test_leading_eigenvectors(seed: int) -> None:
    """Values, vectors and their orthogonality, also of matrices with equal, zero and few different eigenvalues."""
    rng = np.random.default_rng(seed)
    size, rank = rng.integers(1, 60), rng.integers(1, 60)
    n = int(rng.integers(1, size + 1))
    C = rng.normal(size=(size, rank)) if seed % 3 else rng.integers(0, 3, (size, rank)).astype(float)
    if seed % 5 == 0:
        C[: size // 2] = 0.0
    squares = C @ C.T
    values, vectors = leading_eigenvectors(squares.copy(), n)
    wanted = np.linalg.eigvalsh(squares)[::-1][:n]
    unit = 1e-12 * max(wanted[0], 1e-300)
    np.testing.assert_allclose(values, wanted, atol=unit)
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(n), atol=1e-12)
    np.testing.assert_allclose(squares @ vectors.T, vectors.T * values, atol=unit)


@pytest.mark.parametrize("size", [1e150, 1e299, 1e302, 1e305, 1e307])
def test_values_near_the_largest_float(size: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, size=(50, 8)) * np.arange(1, 9)
    large, smaller = FSDS(3).partial_fit(X * size), FSDS(3).partial_fit(X * 1e50)  # where the ridge is nothing
    assert large.ranking_.tolist() == smaller.ranking_.tolist()
    for rows in (X * size, rng.random((50, 8)), X * size):
        large.partial_fit(rows)
        assert np.isfinite(large.scores_).all()
        assert large.scores_.any()


@pytest.mark.parametrize(("seed", "n_features", "n_rows"), [(640, 20, 12), (3297, 12, 12), (6151, 20, 20)])
def test_one_hot_rows(seed: int, n_features: int, n_rows: int) -> None:
    """Many equal eigenvalues, of which LAPACK finds too few when asked for some of them."""
    rng = np.random.default_rng(seed)
    rng.choice(4)
    rng.choice(5)
    selector = FSDS(2)
    for _ in range(6):
        selector.partial_fit(np.eye(n_features)[rng.integers(0, n_features, n_rows)])
        assert np.isfinite(selector.scores_).all()
    lengths = selector.state_arrays()["state.lengths"]
    assert (np.diff(lengths) <= 0.0).all()
    assert lengths[0] > 0.0


@pytest.mark.parametrize("coupling", [1e-30, 1e-100, 1e-158, 2e-162, 0.0])
def test_columns_of_the_tiniest_values(coupling: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 10))
    X[0], X[1:, 0] = 0.0, 0.0
    X[0, 0] = 1.0
    wanted = FSDS(3).partial_fit(X).scores_
    X[1:, 0] = coupling * rng.normal(size=5)
    np.testing.assert_allclose(FSDS(3).partial_fit(X).scores_, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.compiled
def test_leading_eigenvectors_of_a_large_matrix() -> None:
    squares = np.cov(np.random.default_rng(0).normal(size=(500, 700)))
    values, vectors = leading_eigenvectors(squares.copy(), 20)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(squares)[::-1][:20], rtol=1e-10)
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(20), atol=1e-12)
    np.testing.assert_allclose(squares @ vectors.T, vectors.T * values, atol=1e-11 * values[0])


def test_linear_algebra_runs_in_one_thread(monkeypatch):
    seen, compute = [], fsds.leading_directions

    def spy(*arguments):
        seen.append({library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"})
        return compute(*arguments)

    monkeypatch.setattr(fsds, "leading_directions", spy)
    with threadpool_limits(2):
        FSDS(2).partial_fit(np.random.default_rng(0).random((20, 30)))
        after = {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}
    assert (seen, after) == ([{1}], {2})
