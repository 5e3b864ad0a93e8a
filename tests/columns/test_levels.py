"""LORD++, SAFFRON and ADDIS against a naive twin and against the package online-fdr."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.columns.data import classes, regression
from tests.naive import investing as naive_fits
from tests.naive import levels as naive

from streamsift.columns.investing import Investing
from streamsift.columns.levels import LevelAccount
from streamsift.core.exceptions import ParameterError
from streamsift.core.selection import Decisions


class PlainFit:
    """A fit whose gains are p-values, turned round so that a larger gain is better."""

    def tail_threshold(self, probability: Any, df: int) -> Any:
        return -np.asarray(probability)

    def tail_probability(self, gain: Any, df: int) -> Any:
        return -np.asarray(gain)


def p_values(seed: int, n: int = 300) -> list[float]:
    """A third of them small, some twice, and the borders of the rules among them."""
    rng = np.random.default_rng(seed)
    p = np.where(rng.random(n) < 0.3, rng.beta(0.05, 5.0, n), rng.random(n)).round(6)
    p[rng.choice(n, 30, replace=False)] = np.tile([0.0, 0.25, 0.5, 1.0, 0.75], 6)
    return [float(value) for value in p]


def our_levels(rule: str, p: list[float], width: int) -> list[float]:
    """Tiles of some width; behind an acceptance a new tile begins, as in the walk."""
    account, answers, start = LevelAccount(rule, 0.05, 0, np.empty(0, np.int64)), [], 0
    while start < len(p):
        tile = np.array(p[start : start + width])
        terms = account.terms(-tile, 1, PlainFit())  # type: ignore[arg-type]
        hits = np.flatnonzero(-tile >= terms.threshold)
        used = int(hits[0]) + 1 if len(hits) else len(tile)
        account = account.after(terms, used - bool(len(hits)), bool(len(hits)))
        answers += (-terms.threshold[:used]).tolist()
        start += used
    return answers


@pytest.mark.parametrize("rule", naive.RULES)
@pytest.mark.parametrize("width", [1, 7, 300])
@pytest.mark.parametrize("seed", range(3))
def test_levels_are_those_of_the_twin(rule: str, width: int, seed: int) -> None:
    p = p_values(seed)
    twin = naive.levels(rule, p)
    assert sum(value <= level for value, level in zip(p, twin, strict=True)) > 20
    np.testing.assert_allclose(our_levels(rule, p, width), twin, rtol=1e-12)


@pytest.mark.parametrize("rule", naive.RULES)
@pytest.mark.parametrize("seed", range(3))
def test_levels_are_those_of_online_fdr(rule: str, seed: int) -> None:
    investing = pytest.importorskip("online_fdr.p_values.investing", reason="skipped: no online-fdr")
    oracle = {
        "lord": lambda: investing.LordPlusPlus(alpha=0.05, wealth=0.025),
        "saffron": lambda: investing.Saffron(alpha=0.05, wealth=0.025, lambda_=0.5),
        "addis": lambda: investing.Addis(alpha=0.05, wealth=0.025, lambda_=0.25, tau=0.5),
    }[rule]()
    oracle.seq.c = 1 / (12.645107872871751 if rule == "lord" else 2.2857656656801293)  # sequences that sum to 1
    p = p_values(seed)
    levels = []
    for value in p:
        oracle.test_one(value)
        levels.append(oracle.alpha)
    np.testing.assert_allclose(our_levels(rule, p, 300), levels, rtol=1e-9)


def twin_of_decisions(X: Any, y: Any, rule: str, model: str) -> list[bool]:
    """Every fit from scratch, every level from the whole list of p-values."""
    Z, p, accepted = np.ones((len(y), 1)), [], []
    n_classes = int(np.max(y)) + 1
    for x in X.T:
        level = naive.RULES[rule](p, accepted, 0.05)
        if model == "linear":
            freedom = len(y) - Z.shape[1] - 1
            f = freedom * np.expm1(naive_fits.gaussian_gain(Z, x, y, np.ones(len(y))) / len(y))
            p.append(float(stats.f.sf(f, 1, freedom)))
        else:
            weight = np.ones(len(y))
            p.append(float(stats.chi2.sf(naive_fits.score_statistic(Z, x, y, weight, n_classes), n_classes - 1)))
            if p[-1] <= level:
                ratio = naive_fits.likelihood_ratio(Z, x, y, weight, n_classes)
                p[-1] = float(stats.chi2.sf(ratio, n_classes - 1))
        if p[-1] <= level:
            accepted.append(len(p))
            Z = np.column_stack([Z, x])
    return [t in accepted for t in range(1, len(p) + 1)]


@pytest.mark.parametrize("rule", naive.RULES)
@pytest.mark.parametrize("seed", range(3))
def test_decisions_on_numbers_are_those_of_the_twin(rule: str, seed: int) -> None:
    X, y = regression(seed, n_rows=120, n_columns=60, n_true=8)
    answers: Decisions = Investing(rule).begin(y).offer_many(X)
    assert answers.accepted.any()
    assert answers.accepted.tolist() == twin_of_decisions(X, y, rule, "linear")


@pytest.mark.parametrize("rule", naive.RULES)
def test_decisions_on_classes_are_those_of_the_twin(rule: str) -> None:
    X, y = classes(5, 2, n_rows=150, n_columns=15, n_true=3)
    coded = (y != y[0]).astype(int)
    answers = Investing(rule, model="logistic").begin(y).offer_many(X)
    assert answers.accepted.any()
    assert answers.accepted.tolist() == twin_of_decisions(X, coded, rule, "logistic")


def test_collinear_columns_count_as_useless_ones() -> None:
    """Their arithmetic is delicate: the walk examines them one by one before it asks for levels."""
    X, y = regression(1, n_rows=120, n_columns=30)
    doubled = np.repeat(X, 2, axis=1)
    for rule in naive.RULES:
        block = Investing(rule).begin(y).offer_many(doubled)
        single = Investing(rule).begin(y)
        assert block.accepted.tolist() == [single.offer(x).accepted for x in doubled.T]


def test_level_and_wealth_belong_to_their_criteria() -> None:
    X, y = regression(0)
    selector = Investing("lord").fit(X, y)
    assert 0.0 < selector.level_ < 0.05
    with pytest.raises(AttributeError, match="see level_"):
        _ = selector.wealth_
    with pytest.raises(AttributeError, match="see wealth_"):
        _ = Investing().fit(X, y).level_
    with pytest.raises(ParameterError, match="'passes'"):
        Investing("lord", passes=(0.1, 0.2)).fit(X, y)


@pytest.mark.parametrize("criterion", ["alpha", *naive.RULES])
def test_streams_of_noise_seldom_accept_anything(criterion: str) -> None:
    """All that is accepted is false: the share of such streams is the false discovery rate."""
    rng = np.random.default_rng(7)
    runs = 400
    hits = 0
    for _ in range(runs):
        hits += bool(
            Investing(criterion).begin(rng.normal(size=50)).offer_many(rng.normal(size=(50, 100))).accepted.any()
        )
    assert hits / runs < 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)
    assert hits > 0  # the levels are not simply 0


def test_the_rules_find_more_than_alpha_investing_when_signals_come_late() -> None:
    """With the same promise, and useful columns only behind 600 useless ones."""
    found = dict.fromkeys(["alpha", *naive.RULES], 0)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 620))
        y = X[:, 600:].sum(axis=1) * 0.4 + rng.normal(size=200)
        for criterion in found:
            found[criterion] += int(Investing(criterion).fit(X, y).get_support()[600:].sum())
    assert all(found[rule] > found["alpha"] for rule in naive.RULES)
