"""Screener against its naive twin, the authors' program, and the laws of a stream."""

from __future__ import annotations

import itertools
import math
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.naive import screening as naive

from streamsift.core.exceptions import InputError, MergeError
from streamsift.rows import screener
from streamsift.summaries.quantiles import QuantileSummary

SCORES = ("t_score", "fisher", "mutual_info", "chi2", "gini")
BIN_SCORES = ("mutual_info", "chi2", "gini")


class Screener(screener.Screener):
    """A Screener of which the tests choose how many values it counts without kernels."""

    few: ClassVar[int] = QuantileSummary.spare

    def _begin(self, batch: Any) -> Any:
        state = super()._begin(batch)
        if isinstance(state.numbers, QuantileSummary):
            state.numbers.spare = self.few
        return state


@pytest.fixture(scope="module", autouse=True, params=[0, QuantileSummary.spare], ids=["kernels", "few"])
def few(request: pytest.FixtureRequest) -> Iterator[None]:
    """Everything is true of the kernels as well as of what counts few rows without them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Screener, "few", request.param)
        yield


def hard_data(rng: np.random.Generator, n: int, n_classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Columns that break careless code: offset, ties, mostly zero, constant, binary, tiny, mixed signs, one outlier."""
    y = rng.integers(0, n_classes, n)
    X = rng.normal(size=(n, 9))
    X[:, 1] = X[:, 1] + 1e8 + 0.5 * y
    X[:, 2] = np.round(2 * X[:, 2])
    X[:, 3] *= rng.random(n) < 0.2
    X[:, 4] = 7.0
    X[:, 5] = X[:, 5] + y > 1
    X[:, 6] *= 1e-310
    X[:, 7] = np.where(rng.random(n) < 0.5, 0.0, -0.0)
    X[0, 8] = 1e6
    return X, y


# The mean of the column around 1e8 is kept to 1.5e-8 (one unit in the last place), its distances are about 0.1 to 0.5.
OFFSET_COLUMN, OFFSET_TOLERANCE = 1, 1e-6


def assert_scores(actual: np.ndarray, expected: object) -> None:
    rtol = np.full(len(actual), 1e-9)
    rtol[OFFSET_COLUMN] = OFFSET_TOLERANCE
    for score, wanted, tolerance in zip(actual, expected, rtol, strict=True):  # type: ignore[call-overload]
        np.testing.assert_allclose(score, wanted, rtol=tolerance, atol=1e-12)


def feed(selector: Screener, X: object, y: np.ndarray, cut: int) -> Screener:
    for start in range(0, len(y), cut):
        selector.partial_fit(X[start : start + cut], y[start : start + cut])  # type: ignore[index]
    return selector


def naive_values(score: str, X: np.ndarray, y: np.ndarray, fading: float, n_bins: int) -> list[float]:
    values = []
    for column in X.T:
        if score in ("t_score", "fisher"):
            values.append(getattr(naive, score)(column, y.tolist(), fading))
        else:
            values.append(getattr(naive, score)(naive.bin_counts(column, y, n_bins, int(y.max()) + 1, fading)))
    return values


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("fading", [1.0, 0.97, 0.5])
@pytest.mark.parametrize("score", SCORES)
def test_equals_naive_twin(score, fading, form, scale):
    X, y = hard_data(np.random.default_rng(3), 400 if scale == 1.0 else 60)
    selector = feed(Screener(score, fading=fading, eps=1e-3, n_bins=4), form(X), y, 37)
    expected = naive_values(score, X, y, fading, 4)
    assert_scores(selector.criterion_values_, expected)


@pytest.mark.parametrize("score", SCORES)
def test_large_offset_changes_nothing(score):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    X = rng.normal(size=(500, 3)) + 0.3 * y[:, None]
    moved = X + 2.0**30  # exact in float64 up to the last 22 bits
    plain, offset = feed(Screener(score), X, y, 50), feed(Screener(score), moved, y, 50)
    np.testing.assert_allclose(offset.scores_, plain.scores_, rtol=1e-5)


def test_fading_one_is_the_offline_formula():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(1000, 5)) + 3, rng.integers(0, 2, 1000)
    means, variances = np.stack([X[y == c].mean(0) for c in (0, 1)]), np.stack([X[y == c].var(0) for c in (0, 1)])
    n = np.array([(y == 0).sum(), (y == 1).sum()])
    t = abs(means[0] - means[1]) / np.sqrt(variances[0] / n[0] + variances[1] / n[1])
    np.testing.assert_allclose(feed(Screener("t_score"), X, y, 10).scores_, t, rtol=1e-12)


class TestAuthorsProgram:
    """../shared/golden/screening: inputs and outputs of the authors' own program."""

    @pytest.fixture
    def golden(self, shared: Path):
        folder = shared / "golden" / "screening"
        given_data, outputs = np.load(folder / "input.npz"), np.load(folder / "outputs.npz")
        return given_data["X"], given_data["y"], outputs

    @pytest.mark.parametrize(("score", "key"), [("t_score", "T-score"), ("fisher", "fisher")])
    def test_moments(self, golden, score, key):
        X, y, outputs = golden
        np.testing.assert_allclose(feed(Screener(score), X, y, 100).scores_, outputs[f"ma_nodrift|{key}"], rtol=1e-10)

    @pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
    @pytest.mark.parametrize(
        ("score", "key"),
        [("mutual_info", "mutual information"), ("chi2", "chi square score"), ("gini", "gini index")],
    )
    def test_bins(self, golden, score, key, form):
        X, y, outputs = golden
        exact = feed(Screener(score, eps=1 / 5000), form(X), y, 100)
        np.testing.assert_allclose(exact.criterion_values_, outputs[f"q5_nodrift_eps5000|{key}"], atol=1e-8)
        faded = f"q5_drift_a.99|{key}"
        if faded in outputs:
            # The program keeps faded weights in single precision: 2e-8 is what that costs here.
            selector = feed(Screener(score, eps=1 / 5000, fading=0.99), form(X), y, 100)
            np.testing.assert_allclose(selector.criterion_values_, outputs[faded], atol=2e-8)

    def test_coarse_summaries_agree_within_their_errors(self, golden):
        """At eps = 0.01 both err, differently; each lies within the bound, so their gini cannot differ by more."""
        X, y, outputs = golden
        selector = feed(Screener("gini", eps=0.01), X, y, 100)
        # A rank error of eps moves eps of the weight across a cut, which moves the impurity by at most 2 eps each.
        assert np.abs(selector.criterion_values_ - outputs["q5_nodrift_eps100|gini index"]).max() <= 4 * 0.01


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("fading", [1.0, 0.999])
@pytest.mark.parametrize("score", SCORES)
def test_cut_of_the_stream_does_not_matter(score, fading, form, scale):
    n = int(6000 * scale) + 100
    X, y = hard_data(np.random.default_rng(5), n)
    X = form(X)
    whole = feed(Screener(score, fading=fading, eps=0.01), X, y, n).scores_
    for cut in (1000, 333):
        assert_scores(feed(Screener(score, fading=fading, eps=0.01), X, y, cut).scores_, whole)


@given(
    st.lists(st.tuples(st.floats(-1e6, 1e6), st.integers(0, 2)), min_size=2, max_size=60),
    st.integers(1, 20),
    st.sampled_from(SCORES),
    st.sampled_from([1.0, 0.9]),
)
def test_any_small_stream(rows, cut, score, fading):
    """Any values, any cut: never NaN, never negative, and equal to one batch."""
    X, y = np.array([[x] for x, _ in rows]), np.array([label for _, label in rows])
    parts, whole = (
        feed(Screener(score, fading=fading), X, y, cut),
        feed(Screener(score, fading=fading), X, y, len(y)),
    )
    assert not np.isnan(parts.scores_).any()
    assert (parts.scores_ >= 0).all()
    if score in BIN_SCORES:
        np.testing.assert_allclose(parts.scores_, whole.scores_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("score", BIN_SCORES)
def test_bin_scores_ignore_monotone_maps(score):
    X, y = hard_data(np.random.default_rng(2), 700)
    X = np.clip(X[:, [0, 2, 3, 5]], -5, 5)
    np.testing.assert_allclose(
        feed(Screener(score), np.exp(X), y, 100).scores_, feed(Screener(score), X, y, 100).scores_, rtol=1e-12
    )


@pytest.mark.parametrize("score", ["t_score", "fisher"])
def test_moment_scores_ignore_affine_maps(score):
    X, y = hard_data(np.random.default_rng(2), 700)
    X = X[:, [0, 2, 3, 5]]
    np.testing.assert_allclose(
        feed(Screener(score), -3 * X + 11, y, 100).scores_, feed(Screener(score), X, y, 100).scores_, rtol=1e-9
    )


@pytest.mark.parametrize("score", SCORES)
def test_perfect_separation_ranks_first_and_constants_score_zero(score):
    y = np.tile([0, 1], 100)
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=200), y, np.full(200, 3.0)])
    selector = Screener(score, n_features_to_select=1).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [1]
    assert selector.scores_[2] == 0.0


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("fading", [1.0, 0.98])
@pytest.mark.parametrize("score", SCORES)
def test_missing_values_are_not_counted(score, fading, form):
    rng = np.random.default_rng(8)
    X, y = hard_data(rng, 300)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:100, 0] = np.nan  # a feature that is not there for a while
    selector = feed(Screener(score, missing="skip", fading=fading, n_bins=4), form(X), y, 40)
    assert_scores(selector.criterion_values_, naive_values(score, X, y, fading, 4))


@pytest.mark.parametrize("score", SCORES)
def test_late_feature_and_late_class(score):
    rng = np.random.default_rng(4)
    X, y = hard_data(rng, 300)
    y[:150] = y[:150] % 2  # class 2 appears late
    selector = Screener(score, new_features="add", n_bins=4)
    selector.partial_fit(X[:150, :5], y[:150])
    selector.partial_fit(X[150:], y[150:])
    seen = X.copy()
    seen[:150, 5:] = np.nan
    assert_scores(selector.criterion_values_, naive_values(score, seen, y, 1.0, 4))


@pytest.mark.parametrize("score", SCORES)
def test_dense_and_sparse_batches_mix(score):
    X, y = hard_data(np.random.default_rng(6), 200)
    for first, second in ((X[:100], sparse.csr_matrix(X[100:])), (sparse.csr_matrix(X[:100]), X[100:])):
        selector = Screener(score).partial_fit(first, y[:100]).partial_fit(second, y[100:])
        assert_scores(selector.scores_, Screener(score).fit(X, y).scores_)


@pytest.mark.parametrize("score", BIN_SCORES)
def test_single_and_double_precision_mix(score, scale):
    half = 3000 if scale == 1.0 else 400
    X, y = hard_data(np.random.default_rng(6), 2 * half)
    X = X[:, [0, 2, 3, 5]].astype(np.float32)
    mixed = Screener(score, eps=0.01).partial_fit(X[:half], y[:half])
    mixed.partial_fit(X[half:].astype(np.float64), y[half:])
    np.testing.assert_allclose(mixed.scores_, feed(Screener(score, eps=0.01), X, y, half).scores_, rtol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("score", ["t_score", "fisher"])
def test_merge_of_moments_is_exact(score, form):
    X, y = hard_data(np.random.default_rng(9), 400, n_classes=4)
    y[:200] %= 3
    left, right = Screener(score).fit(form(X[:200]), y[:200]), Screener(score).fit(form(X[200:]), y[200:])
    assert_scores(left.merge(right).scores_, Screener(score).fit(form(X), y).scores_)
    assert left.n_rows_seen_ == 400


def test_merge_refuses_other_settings():
    X, y = hard_data(np.random.default_rng(9), 40)
    with pytest.raises(MergeError, match=r"eps=0\.01 here, eps=0\.001 there"):
        Screener(eps=0.01).fit(X, y).merge(Screener().fit(X, y))


@pytest.mark.parametrize(
    ("value", "message"),
    [(math.nan, "column 'x3' of X is NaN"), (-math.inf, "is infinity"), (1e200, r"is too large \(1e\+200\)")],
)
@pytest.mark.parametrize("score", ["t_score", "fisher"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_bad_values_are_named_and_change_nothing(score, value, message, form):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 6)), rng.integers(0, 2, 50)
    selector = Screener(score).fit(form(X), y)
    before = selector.state_arrays()
    X[17, 3] = value
    for rows in (slice(0, 50), slice(17, 18)):
        with pytest.raises(InputError, match=message):
            selector.partial_fit(form(X[rows]), y[rows])
    after = selector.state_arrays()
    assert before.keys() == after.keys()
    assert all(np.array_equal(before[key], after[key]) for key in before)


@pytest.mark.compiled
def test_nothing_of_a_large_batch_stays_behind():
    """Ten batches of different size; of each, a number a row would be 16 megabytes in the end."""
    X, y = np.ones((210_000, 1)), np.arange(210_000) % 2
    selector = Screener("fisher").partial_fit(X[:100], y[:100])
    tracemalloc.start()
    try:
        for n in range(200_000, 210_000, 1000):
            selector.partial_fit(X[:n], y[:n])
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 1_000_000


def test_universal_weight_map_is_the_weight_of_the_zeros():
    """Eq. 18 summed over the gaps between non-zeros equals class weight less non-zero weight."""
    rng = np.random.default_rng(0)
    y, nonzero, fading = rng.integers(0, 2, 80), np.flatnonzero(rng.random(80) < 0.3) + 1, 0.93
    anchors = [0, *nonzero.tolist(), 81]
    for c in (0, 1):
        gaps = sum(naive.zero_weight(y, fading, c, a, b) * fading ** (80 - b) for a, b in itertools.pairwise(anchors))
        weights = np.array(naive.row_weights(80, fading))
        zeros = np.ones(80, bool)
        zeros[nonzero - 1] = False
        assert gaps == pytest.approx(weights[(y == c) & zeros].sum(), rel=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("score", ["t_score", "fisher"])
def test_fading_keeps_the_largest_values_finite(score, form):
    rng = np.random.default_rng(21)
    y = rng.integers(0, 2, 600)
    X = np.clip(rng.normal(size=(600, 3)) + y[:, None], -9, 9) / 10
    small, large = (feed(Screener(score, fading=0.8), form(X * unit), y, 50) for unit in (1.0, 1e150))
    np.testing.assert_allclose(large.scores_, small.scores_, rtol=1e-9)


@pytest.mark.parametrize("cut", [1, 4], ids=["row by row", "batches"])
@pytest.mark.parametrize("form", ["dense", "sparse", "gaps"])
def test_faded_class_comes_back_elsewhere(form, cut):
    """What is left of the old mean weighs nothing and lies 1e9 away: it must not take the digits of the new one."""
    rng = np.random.default_rng(22)
    fading, n_old, n_other, n_back = 0.5, 20, 60, 8
    X = np.concatenate([rng.normal(size=n_old + n_other), 1e9 + rng.normal(size=n_back)])[:, None]
    y = np.repeat([0, 1, 0, 1], [1, n_old - 1, n_other, n_back])
    if form == "gaps":
        X = np.column_stack([X, np.where(np.arange(len(X)) % 7, X[:, 0], np.nan)])
    selector = Screener("t_score", fading=fading, missing="skip" if form == "gaps" else "error")
    feed(selector, sparse.csr_matrix(X) if form == "sparse" else X, y, cut)
    moments = selector._state.numbers.read()
    weights = fading ** np.arange(len(y) - 1, -1, -1.0)
    for j, column in enumerate(X.T):
        mine = (y == 1) & ~np.isnan(column)
        w, x = weights[mine].astype(np.longdouble), column[mine].astype(np.longdouble)
        mean = (w * x).sum() / w.sum()
        m2 = float((w * (x - mean) ** 2).sum())
        np.testing.assert_allclose(moments.mean[1, j], float(mean), rtol=1e-15)
        np.testing.assert_allclose(moments.m2[1, j], m2, rtol=1e-5)  # a mean of 1e9 is kept to 1e-7


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("score", ["t_score", "mutual_info"])
def test_a_refused_batch_leaves_no_trace_in_the_arrays(score: str, bad: float) -> None:
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(120, 3)), np.arange(120) % 2
    selector = Screener(score).partial_fit(X[:100], y[:100])
    before = selector.state_arrays()
    X[115, 1] = bad
    with pytest.raises(InputError, match=r"Row 15 .*row 115 of the stream.*, column 'x1'"):
        selector.partial_fit(X[100:], y[100:])
    for name, array in selector.state_arrays().items():
        np.testing.assert_array_equal(array, before[name], err_msg=name)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [0.0, -1e30, np.inf, -np.inf, np.nan, np.finfo(np.float32).max, 1e30, 1e200])
def test_one_row_is_looked_at_before_it_is_learnt(value: float, dtype: type) -> None:
    X = np.ones((1, 70), dtype)
    with np.errstate(over="ignore"):
        X[0, 65] = value
    selector = Screener("t_score").fit(np.eye(2, 70, dtype=dtype), [0, 1])
    before = selector.state_arrays()
    if abs(float(X[0, 65])) <= 1e150:
        assert selector.partial_fit(X, [1]).n_rows_seen_ == 3
        return
    with pytest.raises(InputError, match=r"Row 0 .*column 'x65'"):
        selector.partial_fit(X, [1])
    for name, array in selector.state_arrays().items():
        np.testing.assert_array_equal(array, before[name], err_msg=name)
