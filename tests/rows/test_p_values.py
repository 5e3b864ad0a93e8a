"""p-values of the Screener against scipy's tests, and the rules that select by them against scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benchmarks import calibration
from scipy import stats
from sklearn.feature_selection import SelectFdr, SelectFpr, SelectFwe, f_classif

from streamsift import Fdr, Fpr, Fwe, Screener, load, save
from streamsift.core.batch import Batch
from streamsift.core.exceptions import ParameterError
from streamsift.rows.p_values import table_p


def rows(n_classes: int, seed: int = 0, n_rows: int = 300) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    return rng.normal(size=(n_rows, 12)) + 0.35 * y[:, None] * (np.arange(12) < 5), y


@pytest.mark.parametrize("n_classes", [2, 4])
def test_fisher_is_the_f_test(n_classes: int) -> None:
    X, y = rows(n_classes)
    np.testing.assert_allclose(Screener("fisher").fit(X, y).pvalues_, f_classif(X, y)[1], rtol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_t_score_is_welchs_test(n_classes: int) -> None:
    X, y = rows(n_classes)
    tests = [stats.ttest_ind(X[y == c], X[y != c], equal_var=False).pvalue for c in range(n_classes)]
    wanted = tests[0] if n_classes == 2 else np.minimum(n_classes * np.min(tests, axis=0), 1.0)
    np.testing.assert_allclose(Screener("t_score").fit(X, y).pvalues_, wanted, rtol=1e-9)


def test_bins_with_many_rows_are_the_usual_tests() -> None:
    X, y = rows(3, n_rows=5000)
    bins = np.array([np.searchsorted(np.quantile(x, [0.2, 0.4, 0.6, 0.8]), x, side="right") for x in X.T])
    tables = [np.array([[np.sum((b == k) & (y == c)) for c in range(3)] for k in range(5)]) for b in bins]
    for criterion, how in (("mutual_info", "log-likelihood"), ("chi2", "pearson")):
        wanted = [stats.chi2_contingency(table, correction=False, lambda_=how).pvalue for table in tables]
        found = Screener(criterion, eps=1e-5).fit(X, y).pvalues_
        np.testing.assert_allclose(found, wanted, rtol=0.05, atol=1e-6)  # cut points between two rows may differ
    np.testing.assert_array_equal(Screener("gini", eps=1e-5).fit(X, y).pvalues_, found)


def test_small_cells_have_the_moments_of_classes_dealt_out_at_random() -> None:
    """The 5 % point of the matched distribution is that of 4,000 shuffles."""
    rng = np.random.default_rng(0)
    categories = np.repeat(np.arange(20), [1] * 10 + [2] * 5 + [9] * 5)
    y = rng.permutation(np.repeat([0, 1, 2], [40, 20, 5]))
    p = []
    for _ in range(4000):
        table = np.zeros((1, 20, 3))
        np.add.at(table[0], (categories, rng.permutation(y)), 1.0)
        p.append(table_p(table, 1.0, likelihood=False)[0])
    for level in (0.2, 0.05, 0.01):
        assert abs(np.mean(np.array(p) <= level) - level) < 3 * np.sqrt(level / 4000) + 0.2 * level


@pytest.mark.parametrize("criterion", calibration.CRITERIA)
def test_what_tells_nothing_has_the_p_value_1(criterion: str) -> None:
    X = np.column_stack([np.ones(20), np.arange(20.0)])
    y = np.arange(20) % 2
    assert Screener(criterion).fit(X, y).pvalues_[0] == 1.0
    with pytest.warns(UserWarning, match="label"):
        assert Screener(criterion, n_features_to_select="fdr").fit(X, y * 0).selected_ == []
    assert Screener(criterion).fit(X[:2], y[:2]).pvalues_.tolist() == [1.0, 1.0]


def test_a_perfect_feature_has_the_p_value_0() -> None:
    y = np.arange(40) % 2
    X = np.column_stack([y.astype(float), np.random.default_rng(0).normal(size=40)])
    for criterion in calibration.CRITERIA:
        assert Screener(criterion).fit(X, y).pvalues_[0] < 1e-6


@pytest.mark.parametrize("criterion", ["fisher", "chi2"])
def test_fading_and_weights_count_rows_that_scatter_as_much(criterion: str) -> None:
    """Weights of 3 are three rows in the score and one in the test; fading forgets rows."""
    X, y = rows(2)
    plain = Screener(criterion).fit(X, y).pvalues_
    heavy = Screener(criterion).partial_fit(X, y, sample_weight=np.full(len(y), 3.0)).pvalues_
    np.testing.assert_allclose(heavy, plain, rtol=1e-9)
    state = Screener(criterion, fading=0.9).fit(X, y)._state
    weights = 0.9 ** np.arange(len(y))
    assert state.rows_per_weight == pytest.approx(weights.sum() / (weights**2).sum())


def test_two_parts_merged_have_the_p_values_of_one_pass() -> None:
    X, y = rows(3)
    one = Screener("fisher").fit(X, y)
    two = Screener("fisher").fit(X[:100], y[:100]).merge(Screener("fisher").fit(X[100:], y[100:]))
    np.testing.assert_allclose(two.pvalues_, one.pvalues_, rtol=1e-9)


@pytest.mark.parametrize(("rule", "peer"), [(Fdr, SelectFdr), (Fwe, SelectFwe), (Fpr, SelectFpr)])
@pytest.mark.parametrize("level", [0.05, 0.2])
def test_rules_select_what_scikit_learn_selects(rule: Any, peer: Any, level: float) -> None:
    X, y = rows(2)
    ours = Screener("fisher", n_features_to_select=rule(level)).fit(X, y)
    theirs = peer(f_classif, alpha=level).fit(X, y)
    assert ours.get_support().tolist() == theirs.get_support().tolist()
    assert ours.get_support().any()
    scores = ours.selection().scores
    assert scores is not None
    assert (np.diff(scores) <= 0.0).all()  # best first


def test_a_rule_can_be_saved_and_a_wrong_one_is_refused(tmp_path: Any) -> None:
    X, y = rows(2)
    save(Screener(n_features_to_select=Fdr(0.1)).fit(X, y), tmp_path / "s")
    assert load(tmp_path / "s").n_features_to_select == "fdr:0.1"
    for wrong in ("fdr:2", "ten", "fdr:x"):
        with pytest.raises(ParameterError, match=r"a rule such as 'fdr:0\.05'"):
            Screener(n_features_to_select=wrong).fit(X, y)


@pytest.mark.parametrize("kind", calibration.KINDS)
def test_noise_is_seldom_significant(kind: str) -> None:
    """A small version of `python -m benchmarks.calibration`: 500 p-values of noise, at most 5 % of them below 0.05."""
    for criterion in ("fisher", "mutual_info"):
        noise = [calibration.fitted(kind, criterion, 0, np.random.default_rng(seed)).pvalues_ for seed in range(10)]
        assert np.mean(np.concatenate(noise) <= 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 500)


@pytest.mark.compiled
@pytest.mark.parametrize("kind", calibration.NUMBER_KINDS)
def test_noise_is_seldom_significant_for_a_number(kind: str) -> None:
    """The same where the target is a number, which is cut at its running quantiles: 1,500 p-values of noise."""
    for criterion in ("mutual_info", "chi2"):
        noise = [calibration.fitted(kind, criterion, 0, np.random.default_rng(seed)).pvalues_ for seed in range(30)]
        assert np.mean(np.concatenate(noise) <= 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1500)


def test_an_identifier_never_wins() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = np.column_stack([np.arange(400.0), y + rng.normal(size=400)])
    batch = Batch(X, y, categorical=np.array([True, False]))
    for criterion in calibration.CRITERIA:
        selector = Screener(criterion).partial_fit(batch)
        assert np.argmax(selector.scores_) == 1
        assert selector.pvalues_[0] > 0.05
