"""Cross moments against their naive twin: cuts, fading, weights, gaps, sparse rows, late columns, merging."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from tests.naive import joint as naive

from streamsift.summaries.cross_moments import CrossMoments
from streamsift.summaries.target_moments import TargetMoments

Floats = NDArray[np.float64]


def data(seed: int = 0, n: int = 60, p: int = 4) -> tuple[Floats, Floats, Floats]:
    """Features on different scales and offsets, indicator columns of three classes, weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * [1.0, 10.0, 0.1, 3.0] + [0.0, 1e4, -2.0, 5.0]
    X[:, 1] += 5 * X[:, 0]
    return X, np.eye(3)[rng.integers(0, 3, n)], rng.random(n)


def holed(X: Floats, seed: int = 1) -> Floats:
    return np.where(np.random.default_rng(seed).random(X.shape) < 0.3, np.nan, X)


def fed(X: Any, Y: Floats, weight: Floats | None, size: int, fading: float = 1.0) -> CrossMoments:
    moments = CrossMoments.empty(fading, X.shape[1], Y.shape[1])
    for start in range(0, len(Y), size):
        rows = slice(start, start + size)
        moments.learn(X[rows], Y[rows], None if weight is None else weight[rows])
    return moments


def same(moments: CrossMoments, X: Floats, Y: Floats, weights: Floats) -> None:
    """The state is that of the naive twin over all rows with these weights."""
    weight, mean, cross = naive.cross_moments(X, Y, weights)
    scale = moments.fading**moments.age
    full = (moments.cross + np.tril(moments.cross, -1).T) * scale
    np.testing.assert_allclose(np.broadcast_to(moments.weight * scale, full.shape), weight, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(full, cross, rtol=1e-7, atol=1e-7)
    some = weight > 0
    np.testing.assert_allclose(np.broadcast_to(moments.mean, full.shape)[some], mean[some], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(moments.squared_weight * scale**2, (weights**2).sum(), rtol=1e-10)


@pytest.mark.parametrize("size", [1, 7, 60])
@pytest.mark.parametrize("fading", [1.0, 0.9, 0.5])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_any_cut_gives_the_moments_of_all_rows(size: int, fading: float, gaps: bool, weighted: bool) -> None:
    X, Y, w = data()
    X = holed(X) if gaps else X
    weights = fading ** np.arange(len(X) - 1, -1, -1.0) * (w if weighted else 1.0)
    same(fed(X, Y, w if weighted else None, size, fading), X, Y, weights)


@pytest.mark.parametrize("fading", [1.0, 0.9])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_rows_give_the_same_as_dense_ones(fading: float, weighted: bool) -> None:
    X, Y, w = data()
    X[np.random.default_rng(3).random(X.shape) < 0.8] = 0.0
    X[:, 1] += 1e6  # a column with a value in every row
    weight = w if weighted else None
    sparse, dense = fed(csr_matrix(X), Y, weight, 13, fading), fed(X, Y, weight, 13, fading)
    np.testing.assert_allclose(sparse.cross, dense.cross, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(sparse.mean, dense.mean, rtol=1e-12)


def test_a_huge_offset_changes_nothing_and_constants_have_no_spread() -> None:
    X, Y, _ = data()
    X[:, 2] = 0.1
    plain, moved = fed(X, Y, None, 7).read(), fed(X + 1e8, Y, None, 7).read()
    assert plain.feature_scale[2] == moved.feature_scale[2] == 0.0
    assert not plain.features[2].any()
    np.testing.assert_allclose(plain.targets, moved.targets, atol=1e-6)


def test_short_floats_are_added_up_as_long_ones() -> None:
    X, Y, _ = data()
    short = X.astype(np.float32)
    np.testing.assert_array_equal(fed(short, Y, None, 7).cross, fed(short.astype(np.float64), Y, None, 7).cross)


@pytest.mark.parametrize("fading", [1.0, 0.9])
@pytest.mark.parametrize("gaps", [(False, False), (True, False), (False, True), (True, True)])
def test_merging_equals_one_pass_where_both_count_as_equally_recent(fading: float, gaps: tuple[bool, bool]) -> None:
    X, Y, _ = data()
    parts = [holed(part) if hole else part for part, hole in zip((X[:25], X[25:]), gaps, strict=True)]
    first, second = fed(parts[0], Y[:25], None, 10, fading), fed(parts[1], Y[25:], None, 10, fading)
    first.merge(second)
    weights = np.concatenate([fading ** np.arange(24, -1, -1.0), fading ** np.arange(34, -1, -1.0)])
    same(first, np.vstack(parts), Y, weights)


@pytest.mark.parametrize("gaps", [False, True])
def test_late_columns_were_missing_or_zero_and_late_classes_zero(gaps: bool) -> None:
    X, Y, _ = data()
    Y[:30, 2], Y[:30, 0] = 0.0, 1.0 - Y[:30, 1]
    X = holed(X) if gaps else X
    for zero, before in ((True, 0.0), (False, np.nan)):
        moments = CrossMoments.empty(1.0, 3, 2)
        moments.learn(X[:30, :3], Y[:30, :2])
        moments.make_room(4, 3, np.array([zero]))
        moments.learn(X[30:], Y[30:])
        known = X.copy()
        known[:30, 3] = before
        same(moments, known, Y, np.ones(60))


def test_columns_can_be_taken_and_classes_moved() -> None:
    X, Y, _ = data()
    moments = fed(holed(X), Y, None, 60)
    same(moments.taken(np.array([2, 0])), holed(X)[:, [2, 0]], Y, np.ones(60))
    moved = moments.aligned(np.array([3, 0, 1]), 4)
    same(moved, holed(X), np.column_stack([Y[:, 1], Y[:, 2], np.zeros(60), Y[:, 0]]), np.ones(60))
    fresh = fed(X, Y, None, 60).taken(np.array([1, -1]))
    same(fresh, np.column_stack([X[:, 1], np.full(60, np.nan)]), Y, np.ones(60))


def test_rows_without_weight_are_left_out() -> None:
    X, Y, w = data()
    w[10:] = 0.0
    kept, alone = fed(X, Y, w, 7), fed(X[:10], Y[:10], w[:10], 7)
    np.testing.assert_allclose(kept.cross, alone.cross)
    assert kept.all_weight == pytest.approx(alone.all_weight)


@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
@pytest.mark.parametrize("gaps", [False, True])
def test_target_moments_are_those_of_the_cross_moments(form: Any, gaps: bool) -> None:
    X, Y, w = data()
    X = holed(X) if gaps else X
    screened = TargetMoments.empty(0.95, 4, 3)
    for start in range(0, 60, 13):
        rows = slice(start, start + 13)
        screened.learn(form(X[rows]), Y[rows], w[rows])
    full = fed(X, Y, w, 13, 0.95)
    wanted = TargetMoments.of(full)
    for name in ("mean", "square", "cross", "target_mean"):
        found = getattr(screened, name)
        np.testing.assert_allclose(found, getattr(wanted, name), rtol=1e-6, atol=1e-6, err_msg=name)
    read = full.read()
    spread = read.target_scale @ read.target_scale
    if not gaps:
        shares = (read.targets**2 * read.target_scale**2).sum(axis=1) / spread
        np.testing.assert_allclose(screened.explained(read.target_scale), shares, rtol=1e-6)


@pytest.mark.parametrize("zero", [True, False])
def test_late_columns_of_target_moments(zero: bool) -> None:
    X, Y, _ = data()
    early, late = TargetMoments.empty(1.0, 3, 3), TargetMoments.empty(1.0, 4, 3)
    early.learn(X[:30, :3], Y[:30])
    early.make_room(4, np.array([zero]), 30.0, Y[:30].mean(axis=0))
    early.learn(X[30:], Y[30:])
    known = X.copy()
    known[:30, 3] = 0.0 if zero else np.nan
    late.learn(known, Y)
    for name in ("mean", "square", "cross"):
        np.testing.assert_allclose(getattr(early, name), getattr(late, name), rtol=1e-9, atol=1e-9)
