"""The guarantee of the quantile summary: every rank within eps * n at any time, class weights exact."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from scipy import sparse

from streamsift import Screener
from streamsift.kernels.quantiles import COUNT, KEY

SHAPES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "sorted": lambda rng, n: np.arange(n, dtype=float),
    "falling": lambda rng, n: -np.arange(n, dtype=float),
    "drifting": lambda rng, n: rng.normal(size=n) + np.linspace(0, 20, n),
    "heavy tail": lambda rng, n: rng.standard_cauchy(n),
    "half zero": lambda rng, n: rng.normal(size=n) * (rng.random(n) < 0.5),
    "few values": lambda rng, n: rng.integers(0, 30, n).astype(float),
    "many ties": lambda rng, n: np.round(rng.normal(size=n), 2),
    "two clusters": lambda rng, n: rng.normal(size=n) + 1e6 * (rng.random(n) < 0.1),
    "zigzag": lambda rng, n: np.where(np.arange(n) % 2, np.arange(n), -np.arange(n)).astype(float),
}


def decode(keys: np.ndarray) -> np.ndarray:
    return (keys ^ ((keys >> 63) & np.int64(2**63 - 1))).view(np.float64)


def lists_of(selector: Screener) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(values, counts, class weights) of each feature, with what is still in the buffer merged in."""
    state = copy.deepcopy(selector._state.numbers)
    if state.n_buffered:
        state.eps = 1e-9  # any number of different values is kept
        state._merge_buffer(*state._runs(whole=False), 1, np.full(len(state.sizes), -1))
    lists, weights = state.lists, state.weights
    return [(decode(lists[f, KEY, :k]), lists[f, COUNT, :k], weights[f, :, :k]) for f, k in enumerate(state.sizes)]


@pytest.mark.parametrize(("fading", "n_classes"), [(1.0, 2), (1.0, 3), (1.0, 6), (0.9999, 2)])
@pytest.mark.parametrize("eps", [0.05, 0.01])
def test_rank_error(eps, fading, n_classes, scale):
    rng = np.random.default_rng(12)
    n = int(30_000 * scale) + 500
    X = np.column_stack([shape(rng, n) for shape in SHAPES.values()])
    y = rng.integers(0, n_classes, n)
    selector = Screener(eps=eps, fading=fading)
    for start in range(0, n, 700):
        end = min(start + 700, n)
        selector.partial_fit(X[start:end], y[start:end])
        if start % 7000 and end < n:
            continue
        for name, (values, counts, weights), column in zip(SHAPES, lists_of(selector), X[:end].T, strict=True):
            ranks = np.cumsum(counts)
            assert ranks[-1] == end, name
            ordered = np.sort(column)
            at, below = np.searchsorted(ordered, values, "right"), np.searchsorted(ordered, values, "left")
            assert np.abs(at - ranks).max() <= eps * end, name
            assert np.abs(below[1:] - ranks[:-1]).max(initial=0) <= eps * end, name
            expected = [(fading ** np.arange(end - 1, -1, -1.0))[y[:end] == c].sum() for c in selector.classes_]
            np.testing.assert_allclose(weights.sum(axis=1), expected, rtol=1e-9, err_msg=name)


def test_few_values_are_counted_exactly_for_ever(scale):
    rng = np.random.default_rng(3)
    n = int(40_000 * scale) + 200
    X, y = rng.integers(0, 100, (n, 2)).astype(np.float32), rng.integers(0, 2, n)
    selector = Screener(eps=0.02)
    for start in range(0, n, 1000):
        selector.partial_fit(X[start : start + 1000], y[start : start + 1000])
    exact = Screener(eps=1e-6 if n < 1000 else 0.9 / n).fit(X, y)
    np.testing.assert_array_equal(selector._state.numbers.bin_counts(5), exact._state.numbers.bin_counts(5))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_merge_stays_within_the_bound(form, scale):
    rng = np.random.default_rng(7)
    n, eps = int(12_000 * scale) + 200, 0.02
    X = np.column_stack([shape(rng, n) for shape in SHAPES.values()])
    y = rng.integers(0, 2, n)
    parts = [Screener("mutual_info", eps=eps).fit(form(X[i::3]), y[i::3]) for i in range(3)]
    merged = parts[0].merge(parts[1]).merge(parts[2])
    exact = Screener("mutual_info", eps=0.9 / n).fit(X, y)
    mine, true = merged._state.numbers.bin_counts(5), exact._state.numbers.bin_counts(5)
    np.testing.assert_allclose(mine.sum(axis=1), true.sum(axis=1))
    assert np.abs(np.cumsum(mine - true, axis=1)).max() <= 4 * eps * n  # two cuts, each with two rank errors


@pytest.mark.compiled
def test_late_features_are_kept_as_short_as_others(scale):
    """A newcomer is judged by its own rows: neither by errors made before it came nor by rows it was not in."""
    rng = np.random.default_rng(14)
    n, eps = int(60_000 * scale), 0.02
    X, y = rng.normal(size=(n, 70)).astype(np.float32), rng.integers(0, 2, n)
    early = n // 2 + 77
    X[:early, 3:] = np.nan
    selector = Screener("mutual_info", eps=eps, new_features="add").partial_fit(X[:early, :3], y[:early])
    for start in range(early, n, 5000):
        selector.partial_fit(X[start : start + 5000], y[start : start + 5000])
    state = selector._state.numbers
    buffered = np.arange(n) >= n - state.n_buffered
    assert (state.n_present <= np.count_nonzero(~np.isnan(X), axis=0)).all()
    assert state.n_present[3:].tolist() == [np.count_nonzero(~np.isnan(X[~buffered, 3]))] * 67
    assert state.sizes.max() <= 4 * 2 / eps
    wider = copy.deepcopy(selector)
    wider._state.numbers._to_double()
    for (values, counts, _), column in zip(lists_of(wider), X.T, strict=True):
        ordered = np.sort(column[~np.isnan(column)].astype(float))
        ranks = np.cumsum(counts)
        assert ranks[-1] == len(ordered)
        assert np.abs(np.searchsorted(ordered, values, "right") - ranks).max() <= eps * len(ordered)


@pytest.mark.parametrize(("fading", "n_classes"), [(1.0, 2), (0.99, 2), (1.0, 6)])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_few_rows_are_counted_as_by_kernels(kind, fading, n_classes):
    rng = np.random.default_rng(8)
    for n in (1, 2, 3, 7, 60, 333):
        X = np.column_stack([shape(rng, n) for shape in SHAPES.values()] + [np.zeros(n)] * 60).astype(kind)
        X[rng.random(X.shape) < 0.1] = np.nan
        selector = Screener("mutual_info", fading=fading, missing="skip").partial_fit(X, rng.integers(0, n_classes, n))
        for n_bins in (2, 5, 7):
            few = selector._state.numbers.bin_counts(n_bins)
            by_kernels = copy.deepcopy(selector._state.numbers)
            by_kernels.spare = -1
            np.testing.assert_allclose(few, by_kernels.bin_counts(n_bins), rtol=1e-12, atol=1e-15)


def naive_bins(values: np.ndarray, counts: np.ndarray, weights: np.ndarray, n_bins: int) -> np.ndarray:
    """Class weights between cut points at equal ranks, one tuple after the other."""
    bins, below, n = np.zeros((n_bins, len(weights))), 0, counts.sum()
    for k, count in enumerate(counts):
        bins[sum((2 * h * n + n_bins) // (2 * n_bins) <= below for h in range(1, n_bins))] += weights[:, k]
        below += count
    return bins


@pytest.mark.parametrize(("fading", "n_classes"), [(1.0, 2), (1.0, 3), (1.0, 6), (0.9999, 2)])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rows_that_wait_are_counted_as_if_merged(kind, fading, n_classes, scale):
    rng = np.random.default_rng(15)
    n = int(20_000 * scale) + 200
    X = np.column_stack([shape(rng, n) for shape in SHAPES.values()] + [np.zeros(n)]).astype(kind)
    X[rng.random(n) < 0.1, 0] = np.nan
    y = rng.integers(0, n_classes, n)
    y[n // 2 : n // 2 + 500] = 0
    selector = Screener(eps=0.02, fading=fading, missing="skip")
    for start in range(0, n, 4700):
        selector.partial_fit(X[start : start + 4700], y[start : start + 4700])
        selector._state.numbers.spare = -1
        merged = copy.deepcopy(selector)
        if kind is np.float32:
            merged._state.numbers._to_double()
        for n_bins in (2, 5, 8):
            found = selector._state.numbers.bin_counts(n_bins)
            for feature, (values, counts, weights) in enumerate(lists_of(merged)):
                expected = naive_bins(values, counts, weights, n_bins)
                np.testing.assert_allclose(found[feature], expected, rtol=1e-9, atol=1e-9)


def test_reading_an_empty_buffer():
    """All rows are in the lists: nothing waits."""
    rng = np.random.default_rng(16)
    n = Screener(eps=0.02).fit(np.zeros((2, 3), np.float32), [0, 1])._state.numbers.capacity
    X, y = rng.normal(size=(n, 3)).astype(np.float32), np.arange(n) // (n // 4) % 2
    state = Screener(eps=0.02).fit(X, y)._state.numbers
    assert state.n_buffered == 0
    assert state.bin_counts(5).sum(axis=1).tolist() == [[n / 2, n / 2]] * 3
    assert np.abs(state.bin_counts(5).sum(axis=2) - n / 5).max() <= 2 * 0.02 * n


@pytest.mark.compiled
@pytest.mark.parametrize(("late", "fading"), [(1, 1.0), (5, 1.0), (1, 0.999)])
@pytest.mark.parametrize("limit", [0, 2**25], ids=["sorted again", "kept"])
def test_reading_often_changes_no_count(limit, late, fading, scale):
    """Sorted rows that are kept between readings must not outlive a flush, a late class, a late feature or a merge."""
    rng = np.random.default_rng(17)
    n = int(21_000 * scale) + 1500
    X, y = rng.normal(size=(n, 70)).astype(np.float32), rng.integers(0, 2, n)
    y[n // 2 :: 7] = 2 + np.arange(len(y[n // 2 :: 7])) % late  # with more than four classes rows are sorted together
    settings = {"eps": 0.02, "fading": fading, "new_features": "add", "missing": "skip"}
    often, once = (Screener(**settings) for _ in range(2))
    for start in range(0, n, 130):
        width = 60 if start < n // 2 - 500 else 70  # another block of features
        for selector in (often, once):
            selector.partial_fit(X[start : start + 130, :width], y[start : start + 130])
        often._state.numbers.spare = once._state.numbers.spare = -1
        often._state.numbers.kept_bytes = once._state.numbers.kept_bytes = limit
        often._state.numbers.bin_counts(5)
        if start // 130 % 13 == 0:
            fresh = copy.deepcopy(once._state.numbers)
            np.testing.assert_array_equal(often._state.numbers.bin_counts(5), fresh.bin_counts(5))
    other = Screener(**settings).fit(X[:1700], np.where(y[:1700] == 1, 2, 1))
    for selector in (often, once):
        selector.merge(copy.deepcopy(other))
        selector.partial_fit(X[:50].astype(float), y[:50])
    np.testing.assert_array_equal(often._state.numbers.bin_counts(5), once._state.numbers.bin_counts(5))


@pytest.mark.compiled
@pytest.mark.parametrize("lacking", [0, 1, 60, 4096 // 8, 4096 // 8 + 1])
def test_a_run_that_is_nearly_whole_does_not_wait(lacking):
    n = Screener(eps=0.02).fit(np.zeros((2, 3), np.float32), [0, 1])._state.numbers.capacity
    rng = np.random.default_rng(18)
    y = rng.permutation(np.arange(n) < n // 2 - lacking)
    X = rng.normal(size=(n, 3))
    selector = Screener(eps=0.02).fit(X, y)
    length = n // 4
    whole = lacking <= length // 8
    assert selector._state.numbers.n_buffered == lacking + (0 if whole else length - lacking)
    for (values, counts, weights), column in zip(lists_of(selector), X.T, strict=True):
        ranks = np.cumsum(counts)
        assert np.abs(np.searchsorted(np.sort(column), values, "right") - ranks).max() <= 0.02 * n
        assert sorted(weights.sum(axis=1)) == sorted(np.bincount(y))
