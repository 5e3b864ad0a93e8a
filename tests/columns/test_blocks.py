"""A block gives the decisions of one column after the other, exactly, however it is cut and stored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.columns.compared import examples
from tests.columns.data import RULES, classes, made, regression


def hard_columns(rng: np.random.Generator, X: Any) -> Any:
    """Some columns made constant, zero, equal to or combined of others, huge, tiny, sparse or of few values."""
    X = X.copy()
    for k in range(X.shape[1]):
        other = X[:, rng.integers(X.shape[1])]
        kind = rng.integers(12)
        if kind == 0:
            X[:, k] = rng.normal()
        elif kind == 1:
            X[:, k] = 0.0
        elif kind == 2:
            X[:, k] = 3.0 * other
        elif kind == 3:
            X[:, k] = other + X[:, rng.integers(X.shape[1])]
        elif kind == 4:
            X[:, k] *= 10.0 ** rng.integers(-100, 100)
        elif kind == 5:
            X[:, k] += 1e6
        elif kind == 6:
            X[:, k] = np.round(X[:, k])
        elif kind == 7:
            X[:, k] = other + 1e-7 * X[:, k]
    return X


@settings(max_examples=examples(60))
@given(
    seed=st.integers(0, 10_000),
    rule=st.sampled_from(list(RULES)),
    model=st.sampled_from(["linear", "linear", "logistic", "multinomial"]),
    n_rows=st.integers(3, 90),
    n_columns=st.integers(1, 150),
    weighted=st.booleans(),
)
def test_any_cut_gives_the_same_decisions(
    seed: int, rule: str, model: str, n_rows: int, n_columns: int, weighted: bool
) -> None:
    rng = np.random.default_rng(seed)
    options = {"n_rows": n_rows, "n_columns": n_columns}
    X, y = (
        regression(seed, **options) if model == "linear" else classes(seed, 2 if model == "logistic" else 3, **options)
    )
    X = hard_columns(rng, X)
    weight = rng.integers(0, 3, n_rows) + (np.arange(n_rows) == 0) if weighted else None
    model = "linear" if model == "linear" else "logistic"
    whole = made(rule, model).begin(y, sample_weight=weight)
    answers = whole.offer_many(X)
    single = made(rule, model).begin(y, sample_weight=weight)
    one_by_one = [single.offer(X[:, k]) for k in range(n_columns)]
    assert answers == one_by_one
    cut = int(rng.integers(n_columns + 1))
    parts = made(rule, model).begin(y, sample_weight=weight)
    pieces = [piece for piece in (X[:, :cut], np.asfortranarray(X[:, cut:])) if piece.shape[1]]
    assert [decision for piece in pieces for decision in parts.offer_many(piece)] == one_by_one
    for other in (single, parts):
        assert whole.selected_ == other.selected_
        assert_same_state(whole, other)


def assert_same_state(a: Any, b: Any) -> None:
    mine, theirs = a.state_arrays(), b.state_arrays()
    assert mine.keys() == theirs.keys()
    for name in mine:
        np.testing.assert_array_equal(mine[name], theirs[name], err_msg=name)


@pytest.mark.parametrize("model", ["linear", "logistic"])
def test_wide_blocks_on_many_accepted_columns(model: str, scale: float) -> None:
    options = {"n_rows": 400, "n_columns": 1500, "n_true": 40} if scale == 1.0 else {"n_rows": 150, "n_columns": 300}
    X, y = regression(0, **options) if model == "linear" else classes(0, 2, **options)
    whole = made("bic", model).begin(y)
    answers = whole.offer_many(np.asfortranarray(X))
    assert answers.accepted.sum() > (10 if scale == 1.0 else 4)
    single = made("bic", model).begin(y)
    assert answers == [single.offer(X[:, k]) for k in range(X.shape[1])]


@pytest.mark.parametrize("model", ["linear", "logistic"])
@pytest.mark.parametrize("rule", ["iic", "bic"])
def test_sparse_columns_get_the_decisions_of_dense_ones(rule: str, model: str) -> None:
    X, noise = regression(7, n_columns=200)
    X[np.random.default_rng(0).random(X.shape) < 0.8] = 0.0
    y = X[:, :5].sum(axis=1) + 0.1 * noise
    y = y if model == "linear" else (y > 0).astype(int)
    dense = made(rule, model).begin(y).offer_many(X)
    for matrix in (sparse.csc_matrix(X), sparse.csr_array(X)):
        selector = made(rule, model).begin(y)
        answers = selector.offer_many(matrix)
        assert answers.accepted.tolist() == dense.accepted.tolist()
        np.testing.assert_allclose(answers.statistic, dense.statistic, rtol=1e-7, atol=1e-9)
    columns = sparse.csc_matrix(X)
    single = made(rule, model).begin(y)
    assert [single.offer(columns[:, k]) for k in range(200)] == answers
    assert dense.accepted.any()


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8, bool])
def test_other_number_types_count_as_their_values(dtype: Any) -> None:
    X, y = regression(3)
    X = (np.round(3 * X)).astype(dtype)
    answers = made("iic", "linear").begin(y).offer_many(X)
    assert answers == made("iic", "linear").begin(y).offer_many(X.astype(np.float64))


def test_a_scale_changes_no_decision() -> None:
    X, y = regression(6, n_columns=100)
    plain = made("iic", "linear").begin(y).offer_many(X)
    for exponent in (-150, -12, 12, 140):
        scaled = made("iic", "linear").begin(y).offer_many(X * 10.0**exponent)
        assert scaled.accepted.tolist() == plain.accepted.tolist()
        np.testing.assert_allclose(scaled.statistic, plain.statistic, rtol=1e-9, atol=1e-10)


def test_memory_does_not_grow_with_rejected_columns() -> None:
    X, y = regression(6, n_columns=20)
    noise = np.random.default_rng(1).normal(size=(len(y), 3000))
    selector = made("ric", "linear").set_params(n_columns=10**9).begin(y)
    selector.offer_many(X)
    before = {name: array.nbytes for name, array in selector.state_arrays().items()}
    answers = selector.offer_many(noise)
    assert not answers.accepted.any()
    assert {name: array.nbytes for name, array in selector.state_arrays().items()} == before
