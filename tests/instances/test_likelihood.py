"""Bins, counts and orders against their naive twins, on random and on hard data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from tests.naive import etana as naive

from streamsift.core.batch import check_batch
from streamsift.instances.etana import ETANA
from streamsift.instances.likelihood import Likelihoods
from streamsift.instances.ordering import by_error, by_variance

RANDOM = np.random.default_rng(5)
HARD = {
    "random": RANDOM.normal(size=(60, 4)),
    "ties": RANDOM.integers(0, 3, (60, 4)).astype(float),
    "constant": np.full((60, 4), 7.0),
    "huge offset": RANDOM.normal(size=(60, 4)) + 1e9,
    "denormal": RANDOM.integers(0, 9, (60, 4)) * 5e-324,
    "huge range": RANDOM.choice([-1.7e308, 0.0, 1.7e308], (60, 4)),
    "gaps": np.where(RANDOM.random((60, 4)) < 0.3, np.nan, RANDOM.normal(size=(60, 4))),
    "empty column": np.column_stack([RANDOM.normal(size=(60, 3)), np.full(60, np.nan)]),
    "mostly zero": np.where(RANDOM.random((60, 4)) < 0.9, 0.0, RANDOM.normal(size=(60, 4))),
    "one row": RANDOM.normal(size=(1, 4)),
}


def learn(X: Any, y: np.ndarray, n_bins: int, binning: str, categorical: Any = None) -> Likelihoods:
    batch = check_batch(X, y, owner="test", missing=True)
    mask = np.zeros(X.shape[1], bool) if categorical is None else np.asarray(categorical)
    counts = Likelihoods.begin(batch, n_bins, binning, mask).with_room(batch, X.shape[1])
    counts.add(batch)
    return counts


@pytest.mark.parametrize("n_bins", [2, 3, 7])
@pytest.mark.parametrize("binning", ["width", "quantile", "integer_width"])
@pytest.mark.parametrize("data", HARD)
def test_tables_equal_the_naive_ones(data: str, binning: str, n_bins: int) -> None:
    X = HARD[data]
    y = np.arange(len(X)) % 3
    counts = learn(X, y, n_bins, binning)
    n_classes, table = len(np.unique(y)), counts.table()
    for j in range(X.shape[1]):
        if binning == "quantile":
            cuts = naive.quantile_cuts(X[:, j], n_bins)
        elif data == "huge range":  # the plain formula overflows
            cuts = counts.cuts[counts.cut_start[j] : counts.cut_start[j + 1]].tolist()
            assert np.isfinite(cuts).all()
        else:
            cuts = naive.width_cuts(X[:, j], n_bins, integer=binning == "integer_width")
        wanted = naive.likelihood(X[:, j], y.tolist(), n_classes, cuts)
        np.testing.assert_allclose(table[counts.bin_start[j] : counts.bin_start[j + 1]], wanted, rtol=1e-12)


@pytest.mark.parametrize("binning", ["width", "quantile"])
@pytest.mark.parametrize("data", ["mostly zero", "gaps", "ties", "random"])
def test_sparse_rows_count_as_dense_ones(data: str, binning: str) -> None:
    X = HARD[data]
    y = np.arange(len(X)) % 2
    dense, sparse = learn(X, y, 4, binning), learn(csr_matrix(X), y, 4, binning)
    np.testing.assert_array_equal(dense.cuts, sparse.cuts)
    np.testing.assert_array_equal(dense.counts, sparse.counts)
    categories = [True, False, True, False]
    dense, sparse = learn(X, y, 4, binning, categories), learn(csr_matrix(X), y, 4, binning, categories)
    np.testing.assert_array_equal(dense.cuts, sparse.cuts)
    np.testing.assert_array_equal(dense.counts, sparse.counts)


def test_orders_equal_the_naive_ones() -> None:
    X, y = RANDOM.normal(size=(90, 12)), RANDOM.integers(0, 3, 90)
    X[:, 4] += y
    X[:, 7] -= 2 * (y == 1)
    counts = learn(X, y, 3, "width")
    table = counts.table()
    tables = [table[counts.bin_start[j] : counts.bin_start[j + 1]].tolist() for j in range(12)]
    variance = [naive.variance_score(one) for one in tables]
    assert by_variance(table, counts.bin_start, np.ones(12)).tolist() == sorted(range(12), key=lambda j: -variance[j])
    cost = RANDOM.uniform(0.5, 2.0, 12)
    per_price = [variance[j] / cost[j] for j in range(12)]
    assert by_variance(table, counts.bin_start, cost).tolist() == sorted(range(12), key=lambda j: -per_price[j])
    error = [naive.error_score(one, counts.class_counts.tolist()) * cost[j] for j, one in enumerate(tables)]
    assert by_error(table, counts.bin_start, counts.class_counts, cost).tolist() == sorted(
        range(12), key=lambda j: error[j]
    )


def test_free_features_come_first_and_the_telling_ones_before_the_others() -> None:
    X, y = RANDOM.normal(size=(200, 3)), np.arange(200) % 2
    X[:, 2] += 3 * y
    for ordering in ("error", "variance"):
        model = ETANA(feature_cost=0.0, ordering=ordering).fit(X, y)
        assert model._current_plan().order[0] == 2
        model = ETANA(feature_cost=[0.1, 0.0, 0.0], ordering=ordering).fit(X, y)
        assert model._current_plan().order.tolist() == [2, 1, 0]


@settings(max_examples=20)
@given(st.integers(1, 79), st.integers(0, 2**31))
def test_batches_count_as_one_once_the_bins_are_cut(cut: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(80, 3)), rng.choice(["a", "b", "c"], 80)
    X[:, 2] = rng.integers(0, 4, 80)
    first = ETANA(n_bins=3, categorical=[2]).partial_fit(X[:40], y[:40])
    whole = ETANA(n_bins=3, categorical=[2]).partial_fit(X[:40], y[:40]).partial_fit(X, y)
    for part in (slice(0, cut), slice(cut, 80)):
        first.partial_fit(X[part], y[part])
    one, other = first.state_arrays(), whole.state_arrays()
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_a_category_of_a_later_batch_gets_a_bin() -> None:
    model = ETANA(categorical=[0]).partial_fit([[1.0, 0.0], [4.0, 1.0]], ["no", "yes"])
    model.partial_fit([[2.0, 0.5], [4.0, 0.1]], ["no", "yes"])
    counts = model._counts
    assert counts.cuts[counts.cut_start[0] : counts.cut_start[1]].tolist() == [1.0, 2.0, 4.0]
    assert counts.counts[:, :3].tolist() == [[1.0, 1.0, 0.0], [0.0, 0.0, 2.0]]
