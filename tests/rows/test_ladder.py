"""Fading that finds its own rate, against a twin that keeps all rows, and on streams with and without drift."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from tests.naive.ladder import NaiveLadder

from streamsift import Screener
from streamsift.core.exceptions import InputError, MergeError
from streamsift.rows.ladder import RATES, STEP

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
    pd = pytest.importorskip("pandas")
    late.partial_fit(pd.DataFrame(X[:130, :3], columns=names[:3]), y[:130])
    late.partial_fit(pd.DataFrame(X[130:], columns=names), y[130:])
    assert late.scores_.shape == (8,)
    assert np.isfinite(late.scores_).all()


def test_ladders_cannot_be_merged() -> None:
    X, y = stream(100, 1)
    one, other = (Screener("fisher", fading="auto").partial_fit(X, y) for _ in range(2))
    with pytest.raises(MergeError, match="order of the rows"):
        one.merge(other)
