"""Fading that finds its own rate, against a twin that keeps all rows, and on streams with and without drift."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from tests.naive.ladder import NaiveLadder

from streamsift import Screener
from streamsift.core.batch import Batch
from streamsift.core.exceptions import InputError, MergeError
from streamsift.rows.category_scores import category_score
from streamsift.rows.ladder import RATES, STEP
from streamsift.summaries.category_counts import CategoryTable

CRITERIA = ("t_score", "fisher", "mutual_info", "chi2", "gini")


def stream(n: int, n_concepts: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Bits; in each concept another column is the class, but for one row in ten."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, 8)) < 0.4).astype(float)
    truth = X[np.arange(n), np.arange(n) * n_concepts // n]
    return X, np.where(rng.random(n) < 0.1, 1 - truth, truth).astype(int)


def feed(selector: Screener, X: object, y: np.ndarray, cut: int) -> Screener:
    for start in range(0, len(y), cut):
        selector.partial_fit(X[start : start + cut], y[start : start + cut])  # type: ignore[index]
    return selector


@pytest.mark.parametrize("n_concepts", [1, 4])
@pytest.mark.parametrize("seed", [0, 1])
def test_naive_twin(n_concepts: int, seed: int) -> None:
    X, y = stream(1200, n_concepts, seed)
    twin, selector, rates = NaiveLadder(RATES, STEP), Screener("fisher", fading="auto"), []
    for start in range(0, len(y), STEP):
        twin.learn(X[start : start + STEP], y[start : start + STEP])
        selector.partial_fit(X[start : start + STEP], y[start : start + STEP], classes=[0, 1])
        assert selector.fading_ == RATES[twin.current]
        rates.append(selector.fading_)
    assert (set(rates) == {1.0}) == (n_concepts == 1)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_nothing_fades_before_a_drift_and_the_new_feature_is_found_after_it(criterion: str) -> None:
    X, y = stream(2000, 2)
    auto = Screener(criterion, n_features_to_select=1, fading="auto")
    plain = Screener(criterion, n_features_to_select=1)
    feed(auto, X[:1000], y[:1000], 100)
    feed(plain, X[:1000], y[:1000], 100)
    assert auto.fading_ == 1.0
    np.testing.assert_allclose(auto.scores_, plain.scores_, rtol=1e-9)
    feed(auto, X[1000:1400], y[1000:1400], 100)
    feed(plain, X[1000:1400], y[1000:1400], 100)
    assert auto.fading_ < 1.0
    assert auto.get_support(indices=True).tolist() == [1]
    assert plain.get_support(indices=True).tolist() == [0]
    fixed = feed(Screener(criterion, n_features_to_select=1, fading=auto.fading_), X[:1400], y[:1400], 100)
    np.testing.assert_allclose(auto.scores_, fixed.scores_, rtol=1e-9)
    assert fixed.fading_ == auto.fading_


@pytest.mark.parametrize("criterion", ["fisher", "mutual_info"])
@pytest.mark.parametrize("sparse", [False, True])
def test_batches_do_not_matter_and_a_loaded_selector_goes_on(criterion: str, sparse: bool) -> None:
    dense, y = stream(900, 3)
    X = csr_matrix(dense) if sparse else dense
    whole = Screener(criterion, fading="auto").partial_fit(X, y)
    assert whole.fading_ < 1.0
    half = feed(Screener(criterion, fading="auto"), X[:433], y[:433], 7)
    arrays = half.state_arrays()
    for selector in (half, Screener(criterion, fading="auto").load_state_arrays(arrays)):
        feed(selector, X[433:], y[433:], 31)
        assert selector.fading_ == whole.fading_
        np.testing.assert_allclose(selector.scores_, whole.scores_, rtol=1e-7, atol=1e-12)


def test_a_bad_row_at_the_end_of_a_batch_changes_nothing() -> None:
    X, y = stream(300, 1)
    selector = Screener("fisher", fading="auto").partial_fit(X[:120], y[:120])
    before = selector.state_arrays()
    X[-1, 2] = np.nan
    with pytest.raises(InputError):
        selector.partial_fit(X[120:], y[120:])
    assert all(np.array_equal(array, before[name]) for name, array in selector.state_arrays().items())


def test_missing_values_late_features_and_late_classes() -> None:
    X, y = stream(600, 2)
    X[::7, 3] = np.nan
    y[400:500] += 2
    selector = Screener("mutual_info", fading="auto", missing="skip")
    assert np.isfinite(feed(selector, X, y, 40).scores_).all()
    late = Screener("fisher", fading="auto", missing="skip", new_features="add")
    names = [f"x{place}" for place in range(8)]
    late.partial_fit(pd.DataFrame(X[:130, :3], columns=names[:3]), y[:130])
    late.partial_fit(pd.DataFrame(X[130:], columns=names), y[130:])
    assert late.scores_.shape == (8,)
    assert np.isfinite(late.scores_).all()


def shops(n: int, n_concepts: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Shops, days and noise; in each concept other shops sell, and new shops keep coming."""
    rng = np.random.default_rng(seed)
    shop = rng.integers(0, 6 + np.arange(n) // 150)
    side = np.random.default_rng(9).integers(0, 2, (n_concepts, 40))
    truth = side[np.arange(n) * n_concepts // n, shop]
    y = np.where(rng.random(n) < 0.1, 1 - truth, truth)
    day = np.array(["mon", "tue", "wed"])[rng.integers(0, 3, n)]
    return pd.DataFrame({"noise": rng.normal(size=n), "shop": [f"shop {k}" for k in shop], "day": day}), y


def fisher_of(table: dict[str, list[float]]) -> float:
    """Fisher's score of a category, as the screener gives it; it has tests of its own."""
    weights = np.array(list(table.values()))
    n = len(weights)
    # Squares only decide how much is taken off for chance.
    return category_score(
        "fisher", CategoryTable(np.arange(n), weights, weights.sum(1), np.zeros(n), np.zeros(2), 0.0), 2
    ).score


@pytest.mark.parametrize("n_concepts", [1, 3])
def test_naive_twin_with_categories(n_concepts: int) -> None:
    frame, y = shops(900, n_concepts)
    # Three features: all of them are judged, so their order does not matter.
    twin, selector, rates = NaiveLadder(RATES, STEP, fisher_of), Screener("fisher", fading="auto"), []
    for start in range(0, len(y), STEP):
        part, labels = frame.iloc[start : start + STEP], y[start : start + STEP]
        twin.learn(part.to_numpy().tolist(), labels)
        selector.partial_fit(part, labels, classes=[0, 1])
        assert selector.fading_ == RATES[twin.current]
        rates.append(selector.fading_)
    assert (set(rates) == {1.0}) == (n_concepts == 1)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_categories_fade_and_names_decide(criterion: str) -> None:
    frame, y = shops(1200, 3)
    auto, other = (Screener(criterion, fading="auto") for _ in range(2))
    for start in range(0, len(y), 80):
        part = frame.iloc[start : start + 80]
        auto.partial_fit(part, y[start : start + 80])
        other.partial_fit(
            part.assign(shop=pd.Categorical(part["shop"], sorted(set(part["shop"]), reverse=True))),
            y[start : start + 80],
        )
    assert auto.fading_ == other.fading_ < 1.0
    np.testing.assert_allclose(auto.scores_, other.scores_, rtol=1e-9, atol=1e-12)
    fixed = Screener(criterion, fading=auto.fading_).partial_fit(frame, y)
    np.testing.assert_allclose(auto.scores_, fixed.scores_, rtol=1e-9, atol=1e-12)
    assert auto.ranking_[1] == 1
    loaded = Screener(criterion, fading="auto").load_state_arrays(auto.state_arrays())
    for selector in (auto, loaded):
        selector.partial_fit(frame[::-1], y[::-1])
    assert loaded.fading_ == auto.fading_
    np.testing.assert_array_equal(loaded.scores_, auto.scores_)


def test_categories_only_and_bare_codes() -> None:
    frame, y = shops(300, 1)
    only = Screener("mutual_info", fading="auto").partial_fit(frame[["shop", "day"]], y)
    assert only.ranking_.tolist() == [1, 2]
    codes = np.column_stack([pd.factorize(frame["shop"])[0], pd.factorize(frame["day"])[0]]).astype(float)
    bare = Screener("mutual_info", fading="auto").partial_fit(Batch(codes, y, categorical=np.array([True, True])))
    np.testing.assert_allclose(bare.scores_, only.scores_)
    before = bare.state_arrays()
    codes[-1, 0] = 0.5
    with pytest.raises(InputError, match="whole numbers"):
        bare.partial_fit(Batch(codes, y, categorical=np.array([True, True])))
    assert all(np.array_equal(array, before[name]) for name, array in bare.state_arrays().items())


def test_ladders_cannot_be_merged() -> None:
    X, y = stream(100, 1)
    one, other = (Screener("fisher", fading="auto").partial_fit(X, y) for _ in range(2))
    with pytest.raises(MergeError, match="order of the rows"):
        one.merge(other)
