"""Tails against their definition in exact arithmetic, and the laws of a summary: any cut, merge, sparse = dense."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from tests.naive import tails as naive

from streamsift.summaries.tails import Tails

Floats = NDArray[np.float64]


def hard_columns(n_rows: int = 60) -> Floats:
    rng = np.random.default_rng(0)
    return np.column_stack(
        [
            rng.normal(size=n_rows),
            np.exp(3.0 * rng.normal(size=n_rows)),
            1e6 + rng.random(n_rows),
            np.full(n_rows, 0.1),
            np.where(np.arange(n_rows) == 40, 1e150, rng.normal(size=n_rows)),
            1e-120 * rng.normal(size=n_rows),
            np.where(rng.random(n_rows) < 0.9, 0.0, rng.normal(size=n_rows)),
        ]
    )


def learnt(X: Any, weights: Floats, cut: int, decay: float = 1.0) -> Tails:
    found = Tails.empty()
    for start in range(0, X.shape[0], cut):
        found.learn(X[start : start + cut], weights[start : start + cut], decay)
    return found


def assert_twin(found: Tails, X: Floats, weights: Floats) -> None:
    for j, column in enumerate(X.T.tolist()):
        wanted = naive.tails(column, weights.tolist())
        mine = tuple(getattr(found, name)[j] for name in ("weight", "mean", "square", "skewness", "kurtosis"))
        np.testing.assert_allclose(mine, wanted, rtol=1e-6, atol=1e-12, err_msg=f"column {j}")


@pytest.mark.parametrize("cut", [1, 7, 60])
@pytest.mark.parametrize("weighted", [False, True])
def test_any_cut_gives_the_definition(cut: int, weighted: bool) -> None:
    X = hard_columns()
    weights = np.random.default_rng(1).integers(0, 5, len(X)).astype(float) if weighted else np.ones(len(X))
    assert_twin(learnt(X, weights, cut), X, weights)


@pytest.mark.parametrize("cut", [1, 7, 60])
def test_missing_values_are_left_out(cut: int) -> None:
    X = hard_columns()
    X[np.random.default_rng(2).random(X.shape) < 0.3] = np.nan
    X[:30, 0] = np.nan
    X[:, 1] = np.nan
    found = learnt(X, np.ones(len(X)), cut)
    assert_twin(found, X, np.ones(len(X)))
    assert found.excess(7)[1] == 0.0


@pytest.mark.parametrize("gaps", [False, True])
def test_sparse_rows_are_as_dense_ones(gaps: bool) -> None:
    X = hard_columns()[:, [0, 1, 4, 6]]
    X[np.random.default_rng(3).random(X.shape) < 0.6] = 0.0
    if gaps:
        X[5, 0] = X[7, 3] = np.nan
        X[:, 2] = np.nan
    weights = np.random.default_rng(4).random(len(X))
    assert_twin(learnt(sparse.csr_matrix(X), weights, 20), X, weights)


def test_fading_is_weights() -> None:
    X = hard_columns()[:, :3]
    found = learnt(X, np.ones(len(X)), 1, decay=0.9)
    weights = 0.9 ** np.arange(len(X) - 1.0, -1.0, -1.0)
    assert_twin(found, X, weights)
    even = (weights**4).sum() * weights.sum() ** 2 / (weights**2).sum() ** 3
    assert found.unevenness == pytest.approx(even)
    assert learnt(X, np.full(len(X), 3.0), 7).unevenness == 1.0


def test_sums_of_weights_that_no_rows_have_are_refused() -> None:
    sizes = {"n_rows_seen": 60}
    fine = learnt(hard_columns(), np.ones(60), 60)
    assert fine.problem(sizes) is None
    for name, value in (("squares", 1e-200), ("fourths", 1e300), ("total", 1e150)):
        forged = fine.copy()
        setattr(forged, name, value)
        assert forged.problem(sizes) is not None, name
        assert forged.unevenness >= 1.0


def test_merged_parts_and_late_columns_are_one_pass() -> None:
    X, ones = hard_columns(), np.ones(60)
    one = learnt(X[:20, :4], ones[:20], 20)
    one.learn(X[20:], ones[20:], 1.0, np.array([False, True, True]))
    two = learnt(X[:20, :4], ones[:20], 20)
    other = learnt(X[20:], ones[20:], 20)
    two.merge(other)
    late = X.copy()
    late[:20, 4] = np.nan
    late[:20, 5:] = 0.0
    assert_twin(one, late, ones)
    late[:20, 5:] = np.nan
    assert_twin(two, late, ones)


def test_columns_that_move_keep_their_tails() -> None:
    X = hard_columns()[:, :3]
    moved = learnt(X, np.ones(60), 60).placed(np.array([4, 0, 2]), 6)
    wide = np.zeros((60, 6))
    wide[:, [4, 0, 2]] = X
    assert_twin(moved, wide, np.ones(60))


def test_a_missing_value_counts_as_the_mean_in_the_excess_of_all_rows() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(50, 1))
    gaps = np.where(np.arange(50)[:, None] < 30, X, np.nan)
    filled = np.where(np.isnan(gaps), np.nanmean(gaps), gaps)
    found, wanted = learnt(gaps, np.ones(50), 50), learnt(filled, np.ones(50), 50)
    np.testing.assert_allclose(found.excess(1), wanted.excess(1), rtol=1e-9)
    np.testing.assert_allclose(found.excess(1, of_all=False), learnt(X[:30], np.ones(30), 30).excess(1), rtol=1e-9)
