"""p-values of the Screener against scipy's tests, and the rules that select by them against scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks import calibration
from scipy import stats
from sklearn.feature_selection import SelectFdr, SelectFpr, SelectFwe, f_classif
from tests.naive import tails as naive

from streamsift import Fdr, Fpr, Fwe, Joint, Screener, load, save
from streamsift.core.batch import Batch
from streamsift.core.exceptions import ParameterError
from streamsift.rows.p_values import group_excess, table_p


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


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rare_classes_are_tested_twice(n_classes: int) -> None:
    """By the spread of all rows and by that of each class; the larger p-value counts."""
    rng = np.random.default_rng(1)
    y = rng.choice(n_classes, 400, p=[0.05, 0.95] if n_classes == 2 else [0.04, 0.5, 0.46])
    X = np.exp(rng.normal(size=(400, 8))) + 0.5 * (y == 0)[:, None] * (np.arange(8) < 4)
    tests = [
        np.maximum(
            stats.ttest_ind(X[y == c], X[y != c], equal_var=False).pvalue,
            stats.ttest_ind(X[y == c], X[y != c]).pvalue if np.mean(y == c) < 0.3 else 0.0,
        )
        for c in range(n_classes)
    ]
    wanted = tests[0] if n_classes == 2 else np.minimum(n_classes * np.min(tests, axis=0), 1.0)
    np.testing.assert_allclose(Screener("t_score").fit(X, y).pvalues_, wanted, rtol=1e-9)
    wanted = np.maximum(f_classif(X, y)[1], wanted)
    np.testing.assert_allclose(Screener("fisher").fit(X, y).pvalues_, wanted, rtol=1e-9)


def test_a_rare_class_without_spread_is_no_reason_to_select() -> None:
    y = np.arange(300) % 30 == 0
    X = np.column_stack([np.where(y, 0.0, np.random.default_rng(0).exponential(size=300)), y.astype(float)])
    p = Screener("fisher").fit(X, y).pvalues_
    assert p[0] == pytest.approx(f_classif(X[:, :1], y)[1][0])
    assert p[1] < 1e-9


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.97, 0.03], [0.2, 0.3, 0.5], [0.01] * 100])
def test_the_excess_of_groups_is_mardias(shares: list[float]) -> None:
    assert group_excess(np.array([*shares, 0.0])) == pytest.approx(naive.groups_excess(shares))


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


@pytest.mark.compiled
@pytest.mark.parametrize(("kind", "criterion"), [
    ("rare_skewed", "fisher"), ("rare_skewed", "t_score"), ("rare_skewed", "joint"), ("classes_skewed", "fisher"),
    ("classes_skewed", "joint"), ("numbers_skewed", "correlation"), ("numbers_skewed", "joint"),
])  # fmt: skip
def test_heavy_tails_do_not_select(kind: str, criterion: str) -> None:
    """Streams of pure noise: plain tests select something in most of them; at most 5 % of 40 may, within chance."""
    any_of_noise = [
        bool(calibration.fitted(kind, criterion, 0, np.random.default_rng(seed)).get_support().any())
        for seed in range(40)
    ]
    assert np.mean(any_of_noise) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 40)


def test_heavy_tails_have_their_naive_twin() -> None:
    """Numbers and categories against a number, and the first step of Joint against both kinds of target."""
    rng = np.random.default_rng(3)
    towns = rng.choice(5, 150, p=[0.4, 0.3, 0.2, 0.06, 0.04])
    X, y = np.exp(rng.normal(size=(150, 6))), np.exp(1.5 * rng.normal(size=150)) + 2.0 * (towns == 1)
    X[:, 0] += 0.3 * y
    heavy = naive.excess(y.tolist())
    r2 = np.corrcoef(X.T, y)[-1, :-1] ** 2
    plain = stats.pearsonr(X, y[:, None]).pvalue
    wanted = [
        min(p + naive.meeting_by_chance(share, 150, naive.excess(x.tolist()), heavy), 1.0)
        for p, share, x in zip(plain, r2, X.T, strict=True)
    ]
    assert (np.array(wanted) > 1.05 * plain).any()
    found = Screener("correlation", task="regression").fit(X, y).pvalues_
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    path = Joint(n_features_to_select=1, task="regression").fit(X, y).path_
    np.testing.assert_allclose(path.p_values[0], wanted[path.order[0]], rtol=1e-6)

    table = pd.DataFrame({"town": np.array(list("abcde"))[towns]})
    groups = [y[towns == c] for c in range(5)]
    share = sum(len(g) * (g.mean() - y.mean()) ** 2 for g in groups) / ((y - y.mean()) ** 2).sum()
    own = naive.groups_excess([len(g) / 150 for g in groups])
    by_town = stats.f_oneway(*groups).pvalue + naive.meeting_by_chance(share, 150, own, heavy)
    found = Screener("correlation", task="regression").fit(table, y).pvalues_
    np.testing.assert_allclose(found, [by_town], rtol=1e-9)

    rare = np.arange(150) % 25 == 0
    path = Joint(n_features_to_select=1).fit(X, rare).path_
    x = X[:, path.order[0]]
    share, own = np.corrcoef(x, rare)[0, 1] ** 2, naive.groups_excess([0.96, 0.04])
    by_class = f_classif(x[:, None], rare)[1] + naive.meeting_by_chance(share, 150, naive.excess(x.tolist()), own)
    np.testing.assert_allclose(path.p_values, by_class, rtol=1e-6)


@pytest.mark.parametrize("make", [lambda **more: Joint(task="regression", **more),
                                  lambda **more: Screener("correlation", task="regression", **more)])  # fmt: skip
def test_what_heavy_tails_hold_back_is_said(make: Any) -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=300)
    X = rng.normal(size=(300, 8)) + 0.8 * z[:, None] * (np.arange(8) < 3)
    heavy = make(n_features_to_select="fdr:0.05").fit(np.exp(2.0 * X), np.exp(2.0 * z))
    assert heavy.held_back_ > 0
    assert heavy.held_back_ + len(heavy.selected_) <= 8
    assert make(n_features_to_select=3).fit(np.exp(2.0 * X), np.exp(2.0 * z)).held_back_ == 0
    light = make(n_features_to_select="fdr:0.05").fit(X, z)
    assert (light.held_back_, set(light.selected_) >= {"x0", "x1", "x2"}) == (0, True)


def test_heavy_tails_are_those_of_pairs_that_meet_by_chance() -> None:
    """The p-value is never far below the share of shuffles that correlate as much."""
    rng = np.random.default_rng(0)
    X, y = np.exp(2.0 * rng.normal(size=(200, 30))), np.exp(2.0 * rng.normal(size=200))
    X[np.argmax(y), :5] = X[:, :5].max(axis=0) * 1.01  # the largest values meet
    p = Screener("correlation", task="regression").fit(X, y).pvalues_
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    seen = np.abs(y @ X)
    shuffled = np.array([np.abs(rng.permutation(y) @ X) >= seen for _ in range(4000)]).mean(axis=0)
    assert (p >= shuffled / 2.0 - 0.002).all()
    assert (stats.pearsonr(X, y[:, None]).pvalue < shuffled / 2.0 - 0.002).any()  # which the plain test is


def test_an_identifier_never_wins() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = np.column_stack([np.arange(400.0), y + rng.normal(size=400)])
    batch = Batch(X, y, categorical=np.array([True, False]))
    for criterion in calibration.CRITERIA:
        selector = Screener(criterion).partial_fit(batch)
        assert np.argmax(selector.scores_) == 1
        assert selector.pvalues_[0] > 0.05
