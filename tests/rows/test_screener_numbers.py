"""The Screener against a target that is a number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.feature_selection import f_regression
from tests.naive.correlation import correlation, eta

from streamsift import InputError, ParameterError, Screener, catalog, persist
from streamsift.core.exceptions import MergeError, SavedStateError


def screener(**settings: Any) -> Screener:
    return Screener("correlation", task="regression", **settings)


def rows(n_rows: int = 300, n_features: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) + 5.0
    return X, 100.0 + 3.0 * X[:, 2] - 2.0 * X[:, 4] + rng.normal(size=n_rows)


def in_batches(selector: Screener, X: Any, y: Any, size: int, weight: Any = None) -> Screener:
    for start in range(0, len(y), size):
        part = slice(start, start + size)
        selector.partial_fit(X[part], y[part], sample_weight=None if weight is None else weight[part])
    return selector


def test_scores_are_absolute_correlations_with_their_f_tests() -> None:
    X, y = rows()
    selector = in_batches(screener(n_features_to_select=2), X, y, 37)
    np.testing.assert_allclose(selector.scores_, [correlation(x, y) for x in X.T], rtol=1e-12)
    np.testing.assert_allclose(selector.pvalues_, f_regression(X, y)[1], rtol=1e-9)
    np.testing.assert_array_equal(selector.criterion_values_, selector.scores_)
    assert selector.selected_ == ["x2", "x4"]
    assert not hasattr(selector, "classes_")


@pytest.mark.parametrize("size", [1, 7, 300])
def test_the_cut_into_batches_does_not_matter(size: int) -> None:
    X, y = rows()
    for fading in (1.0, 0.97):
        whole = screener(fading=fading).partial_fit(X, y)
        np.testing.assert_allclose(in_batches(screener(fading=fading), X, y, size).scores_, whole.scores_, rtol=1e-10)


def test_fading_and_weights_and_missing_values() -> None:
    X, y = rows()
    rng = np.random.default_rng(1)
    X[rng.random(X.shape) < 0.2] = np.nan
    weight = rng.integers(0, 4, len(y)).astype(float)
    with pytest.raises(InputError, match="NaN"):
        screener().partial_fit(X, y)
    for fading in (1.0, 0.98):
        selector = in_batches(screener(fading=fading, missing="skip"), X, y, 50, weight)
        n_left = np.cumsum((weight > 0)[::-1])[::-1] - 1  # a row of weight 0 is left out, and ages nothing
        expected = [correlation(x, y, weight * fading**n_left) for x in X.T]
        np.testing.assert_allclose(selector.scores_, expected, rtol=1e-9)


def test_a_weight_of_two_is_a_row_twice() -> None:
    X, y = rows(100)
    weight = np.repeat([1.0, 2.0], 50)
    twice = screener().partial_fit(np.vstack([X, X[50:]]), np.append(y, y[50:]))
    once = screener().partial_fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(once.scores_, twice.scores_, rtol=1e-12)
    assert (once.pvalues_[[2, 4]] > twice.pvalues_[[2, 4]]).all()  # two weights do not make two observations


def test_event_time_fades() -> None:
    X, y = rows(200)
    selector = screener(half_life="10s")
    seconds = np.arange(200.0)
    for part in (slice(0, 90), slice(90, 200)):
        selector.partial_fit(X[part], y[part], time=seconds[part])
    weight = 0.5 ** ((199.0 - seconds) / 10.0)
    np.testing.assert_allclose(selector.scores_, [correlation(x, y, weight) for x in X.T], rtol=1e-10)


def test_sparse_rows_give_the_same_and_late_features_were_zero() -> None:
    X, y = rows()
    X[X < 5.0] = 0.0
    dense = screener().partial_fit(X, y)
    matrix = sparse.csr_matrix(X)
    np.testing.assert_allclose(in_batches(screener(), matrix, y, 60).scores_, dense.scores_, rtol=1e-9)
    X[:100, 4] = 0.0
    late = screener(new_features="add").partial_fit(sparse.csr_matrix(X[:100, :4]), y[:100])
    late.partial_fit(sparse.csr_matrix(X[100:]), y[100:])
    np.testing.assert_allclose(late.scores_, screener().partial_fit(X, y).scores_, rtol=1e-9)


def test_a_late_feature_of_dense_rows_counts_from_its_first_row_on() -> None:
    X, y = rows()
    frame = pd.DataFrame(X, columns=list("abcde"))
    selector = screener(new_features="add").partial_fit(frame[["a", "b"]][:100], y[:100])
    selector.partial_fit(frame[100:], y[100:])
    expected = [correlation(X[:, j] if j < 2 else X[100:, j], y if j < 2 else y[100:]) for j in range(5)]
    np.testing.assert_allclose(selector.scores_, expected, rtol=1e-10)


def test_merging_equals_one_pass() -> None:
    X, y = rows()
    parts = [screener().partial_fit(X[part], y[part]) for part in (slice(0, 10), slice(10, 200), slice(200, 300))]
    merged = parts[0].merge(parts[1]).merge(parts[2])
    whole = screener().partial_fit(X, y)
    np.testing.assert_allclose(merged.scores_, whole.scores_, rtol=1e-12)
    np.testing.assert_allclose(merged.pvalues_, whole.pvalues_, rtol=1e-9)
    with pytest.raises(MergeError, match="task"):
        whole.merge(Screener("correlation").partial_fit(X, y > 100))


def test_constant_columns_and_targets_score_nothing() -> None:
    X, y = rows()
    X[:, 0] = 1e8 / 3.0
    selector = in_batches(screener(), X, y, 7)
    assert selector.scores_[0] == 0.0
    assert selector.pvalues_[0] == 1.0
    flat = screener().partial_fit(X, np.full(len(y), 0.1))
    assert not flat.scores_.any()
    assert (flat.pvalues_ == 1.0).all()
    as_sparse = in_batches(screener(), sparse.csr_matrix(X), y, 7)
    assert as_sparse.scores_[0] == 0.0


def test_large_offsets_do_not_matter() -> None:
    X, y = rows()
    expected = screener().partial_fit(X, y).scores_
    np.testing.assert_allclose(in_batches(screener(), X + 1e8, y - 1e8, 50).scores_, expected, rtol=1e-6)


def test_categories_score_their_correlation_ratio() -> None:
    rng = np.random.default_rng(3)
    town = rng.choice(["Oslo", "Rome", "Zürich"], 400)
    y = rng.normal(size=400) + 2.0 * (town == "Rome") - (town == "Oslo")
    ident = np.array([f"id{i % 200}" for i in rng.permutation(400)])
    two = np.where(town == "Rome", "a", "b")
    table = pd.DataFrame({"town": town, "x": rng.normal(size=400), "id": ident, "two": two})
    selector = screener(n_features_to_select=2)
    for start in range(0, 400, 150):
        selector.partial_fit(table[start : start + 150], y[start : start + 150])
    values = selector.criterion_values_
    np.testing.assert_allclose(values[[0, 2]], [eta(town, y), eta(ident, y)], rtol=1e-9)
    np.testing.assert_allclose(values[3], correlation((two == "a").astype(float), y), rtol=1e-9)
    anova = stats.f_oneway(*(y[town == name] for name in np.unique(town)))
    np.testing.assert_allclose(selector.pvalues_[0], anova.pvalue, rtol=1e-8)
    assert selector.pvalues_[2] > 1e-3
    assert values[2] > 0.5
    assert selector.scores_[2] < 0.3
    assert selector.scores_[3] == values[3]  # two categories are 0 and 1
    assert selector.selected_ == ["town", "two"]


def test_missing_categories_are_not_counted() -> None:
    rng = np.random.default_rng(4)
    town = rng.choice(["a", "b", "c"], 300).astype(object)
    y = rng.normal(size=300) + (town == "a")
    gone = rng.random(300) < 0.3
    table = pd.DataFrame({"town": np.where(gone, None, town), "x": np.where(gone, np.nan, y)})
    selector = screener(missing="skip").partial_fit(table, y)
    np.testing.assert_allclose(selector.criterion_values_, [eta(town[~gone].astype(str), y[~gone]), 1.0], rtol=1e-9)


def test_settings_and_targets_that_do_not_go_together_are_refused() -> None:
    X, y = rows()
    for criterion in ("t_score", "fisher"):
        with pytest.raises(ParameterError, match="one of 'correlation', 'mutual_info', 'chi2', 'gini'"):
            Screener(criterion, task="regression").partial_fit(X, y)
    with pytest.raises(ParameterError, match="fading='auto'"):
        screener(fading="auto").partial_fit(X, y)
    with pytest.raises(InputError, match="'red', which is not a number"):
        screener().partial_fit(X[:2], ["red", "blue"])
    selector = screener().partial_fit(X, y)
    before = selector.scores_
    with pytest.raises(ParameterError, match="task cannot change"):
        selector.set_params(task="classification").partial_fit(X, y > 100)
    np.testing.assert_array_equal(selector.set_params(task="regression").scores_, before)


def test_noise_is_selected_at_the_level() -> None:
    rng = np.random.default_rng(6)
    p = screener().partial_fit(rng.normal(size=(60, 4000)), rng.exponential(size=60)).pvalues_
    assert 0.035 < np.mean(p < 0.05) < 0.065
    X = rng.normal(size=(400, 4000))
    faded = screener(fading=0.98).partial_fit(X, rng.normal(size=400)).pvalues_
    assert 0.03 < np.mean(faded < 0.05) < 0.07


def test_with_two_classes_it_is_the_correlation_with_0_and_1() -> None:
    X, y = rows()
    label = np.where(y > np.median(y), "high", "low")
    selector = Screener("correlation").partial_fit(X, label)
    np.testing.assert_allclose(selector.scores_, [correlation(x, label == "high") for x in X.T], rtol=1e-10)
    np.testing.assert_allclose(selector.pvalues_, f_regression(X, label == "high")[1], rtol=1e-8)


def test_saving_and_going_on(tmp_path: Any) -> None:
    X, y = rows()
    table = pd.DataFrame(X, columns=list("abcde")).assign(town=np.where(X[:, 0] > 5.0, "Oslo", "Rome"))
    selector = screener(fading=0.99).partial_fit(table[:200], y[:200])
    persist.save(selector, tmp_path / "s.streamsift")
    loaded = persist.load(tmp_path / "s.streamsift")
    for each in (selector, loaded):
        each.partial_fit(table[200:], y[200:])
    np.testing.assert_array_equal(loaded.scores_, selector.scores_)
    assert catalog.name_of("streamsift.rows.screener:Screener", selector.get_params()) == "screen:correlation"


FORGED = {
    "weight": (0, 1e9),
    "square": (1, -1.0),
    "cross": (2, 1e12),
    "mean": (0, np.nan),
    "target_square": (3, np.inf),
    "target_mean": (0, np.nan),
}


@pytest.mark.parametrize("name", [*FORGED, "all_weight", "all_square", "all_weight_square", "age", "fading"])
def test_forged_states_are_refused(name: str) -> None:
    X, y = rows()
    selector = screener().partial_fit(X, y)
    arrays = selector.state_arrays()
    key = f"state.{name}"
    if name in FORGED:
        place, value = FORGED[name]
        arrays[key][place] = value
    else:
        wrong = {"all_weight": 1e12, "all_square": np.inf, "all_weight_square": 1e-9, "age": 5, "fading": 0.5}
        arrays[key] = np.array(wrong[name], arrays[key].dtype)
    with pytest.raises(SavedStateError):
        screener().load_state_arrays(arrays)
    for cut in ("weight", "cross"):
        arrays = selector.state_arrays()
        arrays[f"state.{cut}"] = arrays[f"state.{cut}"][:-1]
        with pytest.raises(SavedStateError):
            screener().load_state_arrays(arrays)


def test_a_refused_batch_changes_nothing() -> None:
    X, y = rows()
    selector = screener().partial_fit(X, y)
    before = selector.state_arrays()
    bad = y.copy()
    bad[7] = np.inf
    for rows_, target in ((X[:, :3], y), (np.where(X > 6, np.inf, X), y), (X, bad)):
        with pytest.raises(InputError):
            selector.partial_fit(rows_, target)
    for key, array in selector.state_arrays().items():
        np.testing.assert_array_equal(array, before[key])
