"""OFS against its naive twin, the reference values and the contract."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, random_array
from tests.naive.ofs import decided_by_rounding
from tests.naive.ofs import ofs as naive_ofs

from streamsift.core.exceptions import InputError, OneClassWarning
from streamsift.rows.efs import EFS
from streamsift.rows.ofs import OFS
from streamsift.summaries import repeated


def test_reference_values(shared: Path) -> None:
    stream, wanted = np.load(shared / "golden/common/stream_1000x20.npz"), np.load(shared / "golden/ofs/ofs.npz")
    for labels, classes in (("y01", [0, 1]), ("ypm", [-1, 1])):
        selector = OFS(5)
        for step, rows in enumerate(np.split(np.arange(1000), 20)):
            selector.partial_fit(stream["X_raw"][rows], stream[labels][rows], classes=classes)
            weights = wanted["raw_matlab_shrink_B5"][step]
            np.testing.assert_allclose(selector.state_arrays()["state.weights"][0], weights, rtol=1e-12, atol=1e-15)
            np.testing.assert_allclose(selector.scores_, np.abs(weights), rtol=1e-12, atol=1e-15)


HARD = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "counts with ties": lambda rng, n, d: rng.integers(0, 3, (n, d)).astype(float),
    "constant": lambda rng, n, d: np.full((n, d), 2.0),
    "zero": lambda rng, n, d: np.zeros((n, d)),
    "huge offset": lambda rng, n, d: 1e8 + rng.normal(size=(n, d)),
    "denormal": lambda rng, n, d: rng.normal(size=(n, d)) * 5e-310,
    "large": lambda rng, n, d: rng.normal(size=(n, d)) * 1e150,
}


@given(st.sampled_from(sorted(HARD)), st.integers(1, 60), st.integers(1, 12), st.integers(1, 12), st.integers(0, 999))
def test_equals_naive_twin(kind: str, n_rows: int, n_features: int, n_kept: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = HARD[kind](rng, n_rows, n_features), rng.integers(0, 2, n_rows)
    stream = (X.tolist(), (2 * y - 1).tolist(), min(n_kept, n_features))
    assume(not decided_by_rounding(*stream))
    wanted = naive_ofs(*stream)[-1]
    dense = OFS(n_kept).partial_fit(X, y, classes=[0, 1]).state_arrays()["state.weights"][0]
    sparse = OFS(n_kept).partial_fit(csr_matrix(X), y, classes=[0, 1]).state_arrays()["state.weights"][0]
    np.testing.assert_array_equal(sparse, dense)
    np.testing.assert_allclose(dense, wanted, rtol=1e-9, atol=1e-300)
    assert np.count_nonzero(dense) <= n_kept
    assert np.linalg.norm(dense) <= 10.0 * (1 + 1e-12)


@given(st.integers(1, 40), st.integers(1, 8), st.integers(1, 8), st.integers(0, 999))
def test_weights_equal_the_naive_twin_and_whole_ones_are_repetitions(
    n_rows: int, n_features: int, n_kept: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n_rows, n_features)), rng.integers(0, 2, n_rows)
    weight = rng.choice([0.25, 0.5, 1.0, 2.5, 3.0], n_rows)
    stream = (X.tolist(), (2 * y - 1).tolist(), min(n_kept, n_features))
    assume(not decided_by_rounding(*stream, given=weight.tolist()))
    wanted = naive_ofs(*stream, given=weight.tolist())[-1]
    for rows in (X, csr_matrix(X)):
        found = OFS(n_kept).partial_fit(rows, y, classes=[0, 1], sample_weight=weight).state_arrays()["state.weights"]
        np.testing.assert_allclose(found[0], wanted, rtol=1e-9, atol=1e-300)
        whole = np.ceil(weight).astype(int)
        found = OFS(n_kept).partial_fit(rows, y, classes=[0, 1], sample_weight=whole).state_arrays()["state.weights"]
        again = OFS(n_kept).partial_fit(np.repeat(X, whole, axis=0), np.repeat(y, whole), classes=[0, 1])
        np.testing.assert_array_equal(found, again.state_arrays()["state.weights"])


@pytest.mark.parametrize("method", [OFS, EFS])
def test_heavy_rows_are_learnt_in_pieces_and_too_heavy_ones_refused(
    method: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    X, y, weight = rng.random((30, 4)), np.arange(30) % 3, rng.integers(1, 9, 30)
    wanted = method().partial_fit(X, y, sample_weight=weight).scores_
    monkeypatch.setattr(repeated, "VALUES_AT_ONCE", 20)
    selector = method().partial_fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(selector.scores_, wanted)
    with pytest.raises(InputError, match="Row 2 has the weight 1001, but a row is learnt as often as its weight says"):
        selector.partial_fit(X, y, sample_weight=np.where(np.arange(30) == 2, 1001.0, 1.0))
    np.testing.assert_array_equal(selector.scores_, wanted)


def test_third_class_mirrors_the_first_model_and_starts_its_own() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 6)), np.repeat([0, 1, 2], 30)
    y[:60] = rng.permutation(y[:60])
    two = OFS(3).partial_fit(X[:60], y[:60], classes=[0, 1, 2])
    state = two.state_arrays()
    assert state["state.weights"].shape == (1, 6)
    last = two.partial_fit(X[60:], y[60:]).state_arrays()["state.weights"]
    binary = state["state.weights"][0]
    # Model 0 is that of class 1, then its mirror image for class 0, then class 2 from nothing.
    late = np.full(30, -1.0)
    for model, (start, signs) in enumerate(((binary, late), (-binary, late), (np.zeros(6), -late))):
        np.testing.assert_allclose(last[model], _go_on(start, X[60:], signs, 3), rtol=1e-9)
    np.testing.assert_allclose(two.scores_, np.abs(last).mean(axis=0))


def _go_on(weights: np.ndarray, X: np.ndarray, signs: np.ndarray, n_kept: int) -> np.ndarray:
    w = weights.copy()
    for x, sign in zip(X, signs, strict=True):
        margin = sign * (w @ x)
        w = 0.998 * w
        if margin < 1:
            w = w + 0.2 * sign * x
            w *= min(1.0, 10 / np.linalg.norm(w))
            w[np.argsort(-np.abs(w), kind="stable")[n_kept:]] = 0.0
    return w


def test_no_nan_from_hard_streams(scale: float) -> None:
    rng = np.random.default_rng(1)
    n = max(int(10_000 * scale), 100)
    selector = OFS(5)
    with pytest.warns(OneClassWarning):
        selector.partial_fit(rng.normal(size=(n, 8)), np.zeros(n, int)).get_support()
    assert not selector.scores_.any()
    X = rng.normal(size=(200, 8))
    X[:50] *= 1e6
    X[50:100, 3] = 1e150
    X[100:150] = 0.0
    X[150:, 2] = 1.7e308
    X[160:, 3] = -1.7e308
    for start in range(0, 200, 50):
        selector.partial_fit(X[start : start + 50], rng.integers(0, 3, 50))
        assert np.isfinite(selector.scores_).all()


def test_wide_sparse_rows_equal_dense_ones(scale: float) -> None:
    n = max(int(300 * scale), 20)
    X = random_array((n, 20_000), density=0.001, format="csr", rng=np.random.default_rng(0))
    y = np.arange(n) % 2
    sparse = OFS(10).partial_fit(X, y)
    np.testing.assert_array_equal(sparse.scores_, OFS(10).partial_fit(X.toarray(), y).scores_)
    assert np.count_nonzero(sparse.scores_) == 10
