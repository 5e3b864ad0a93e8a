"""Investing and Penalised against twins that fit everything from scratch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.columns.data import RULES, classes, made, regression
from tests.naive import investing as naive


def assert_same(answers: Any, twin: list[naive.Answer], *, bids: bool) -> None:
    assert answers.accepted.tolist() == [answer.accepted for answer in twin]
    np.testing.assert_allclose(answers.statistic, [answer.statistic for answer in twin], rtol=1e-6, atol=1e-7)
    if bids:
        np.testing.assert_allclose(answers.wealth, [answer.wealth for answer in twin], rtol=1e-9)
    else:
        assert answers.wealth is None


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(3))
def test_linear_decisions_are_the_naive_ones(rule: str, seed: int) -> None:
    X, y = regression(seed)
    answers = made(rule, "linear").begin(y).offer_many(X)
    twin = naive.select(X, y, rule)
    assert any(answer.accepted for answer in twin)
    assert_same(answers, twin, bids=rule in ("iic", "iic:tail", "alpha"))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_logistic_decisions_are_the_naive_ones(rule: str, n_classes: int) -> None:
    X, y = classes(5, n_classes, n_rows=60, n_columns=12, n_true=3)
    # Codes follow the first appearance; the twin takes them as they come.
    codes = np.unique(y, return_inverse=True)[1]
    order = {label: place for place, label in enumerate(dict.fromkeys(codes.tolist()))}
    coded = np.array([order[code] for code in codes.tolist()])
    answers = made(rule, "logistic").begin(y).offer_many(X)
    twin = naive.select(X, coded, rule, model="logistic")
    assert_same(answers, twin, bids=rule in ("iic", "iic:tail", "alpha"))


@pytest.mark.parametrize("rule", ["iic", "iic:tail", "bic"])
def test_weights_are_those_of_the_naive_twin(rule: str) -> None:
    X, y = regression(3)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    answers = made(rule, "linear").begin(y, sample_weight=weight).offer_many(X)
    assert_same(answers, naive.select(X, y, rule, weight=weight), bids=rule != "bic")


@pytest.mark.parametrize("model", ["linear", "logistic"])
def test_a_weight_of_two_is_the_row_twice(model: str) -> None:
    X, y = regression(1) if model == "linear" else classes(1, 3)
    times = np.random.default_rng(2).integers(0, 4, len(y))
    weighted = made("iic", model).begin(y, sample_weight=times).offer_many(X)
    repeated = made("iic", model).begin(np.repeat(y, times)).offer_many(np.repeat(X, times, axis=0))
    assert weighted.accepted.any()
    assert weighted.accepted.tolist() == repeated.accepted.tolist()
    np.testing.assert_allclose(weighted.statistic, repeated.statistic, rtol=1e-8, atol=1e-9)


def test_without_an_intercept_the_mean_is_not_free() -> None:
    rng = np.random.default_rng(0)
    constant, noise = np.ones(50), rng.normal(size=50)
    y = 5.0 + rng.normal(size=50)
    with_mean = made("bic", "linear").begin(y)
    without = made("bic", "linear").set_params(fit_intercept=False).begin(y)
    assert not with_mean.offer(constant, "constant").accepted
    decision = without.offer(constant, "constant")
    assert decision.accepted
    assert decision.statistic == pytest.approx(50 * np.log(np.sum(y**2) / np.sum((y - y.mean()) ** 2)))
    assert not without.offer(noise * 0 + 2.0, "again").accepted


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
def test_a_large_offset_changes_no_decision(offset: float) -> None:
    X, y = regression(2)
    plain = made("iic", "linear").begin(y).offer_many(X)
    shifted = made("iic", "linear").begin(y).offer_many(X + offset)
    assert shifted.accepted.tolist() == plain.accepted.tolist()
    np.testing.assert_allclose(shifted.statistic, plain.statistic, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("bits", [0.0, 3.0])
def test_coefficient_bits_are_paid(bits: float) -> None:
    X, y = regression(4)
    selector = made("iic", "linear").set_params(coefficient_bits=bits)
    assert_same(selector.begin(y).offer_many(X), naive.select(X, y, "iic", coefficient_bits=bits), bids=True)
