"""Tests of a comparison against their definitions; ranks, front and recommendation."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.false_alarms import alarms
from scipy import stats
from tests.naive import significance as naive

from streamsift.comparison.recommend import beats, in_order
from streamsift.comparison.significance import (
    average_ranks,
    block_lengths,
    compare_over_streams,
    compare_over_time,
    critical_difference,
    groups_within,
)
from streamsift.core.exceptions import InputError


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ties", [False, True])
def test_friedman_is_that_of_the_definition(seed, ties):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, (8, 5)) / 4 if ties else rng.random((8, 5))
    test = compare_over_streams(scores, list("abcde"))
    assert list(test.average_ranks.values()) == pytest.approx(naive.average_ranks(scores.tolist()))
    p = stats.chi2.sf(naive.friedman_statistic(scores.tolist()), 4)
    assert f"gives p = {p:.2g}" in test.sentence


@pytest.mark.parametrize("n_entries", range(2, 11))
def test_the_critical_difference_is_that_of_the_published_table(n_entries):
    rounding = 0.001 * np.sqrt(n_entries * (n_entries + 1) / 42)  # q has three decimals there, some cut, some rounded
    assert critical_difference(n_entries, 7) == pytest.approx(naive.critical_difference(n_entries, 7), abs=rounding)


@pytest.mark.parametrize("seed", range(5))
def test_two_entries_on_independent_streams_are_compared_by_students_test(seed):
    scores = np.random.default_rng(seed).normal([0.8, 0.75], 0.05, (6, 2))
    pair = compare_over_streams(scores, ["a", "b"]).pairs[0]
    wanted = stats.ttest_rel(*scores.T)
    assert pair.p == pair.p_adjusted == pytest.approx(wanted.pvalue, rel=1e-6)
    assert (pair.low, pair.high) == pytest.approx(tuple(wanted.confidence_interval(0.95)), rel=1e-6)
    assert pair.verdict == ("alike" if wanted.pvalue > 0.05 else "better" if pair.difference > 0 else "worse")


def test_the_largest_p_and_the_widest_interval_over_all_lengths_of_blocks_count():
    gaps = np.random.default_rng(4).normal(0.01, 0.02, 96)
    table = 0.5 + np.column_stack([gaps, np.zeros(96)])
    pair = compare_over_time(table, ["a", "b"]).pairs[0]
    by_hand = [naive.block_test(gaps.tolist(), length) for length in (1, 2, 4, 8, 12)]
    assert block_lengths(96) == [1, 2, 4, 8, 12]
    assert pair.difference == pytest.approx(gaps.mean())
    assert pair.p == pytest.approx(max(2 * stats.t.sf(abs(gaps.mean()) / error, df) for error, df in by_hand), rel=1e-5)
    half = max(stats.t.isf(0.025, df) * error for error, df in by_hand)
    assert (pair.low, pair.high) == pytest.approx((gaps.mean() - half, gaps.mean() + half), rel=1e-5)


@pytest.mark.parametrize("seed", range(20))
def test_an_interval_leaves_out_zero_exactly_where_the_pair_is_told_apart(seed):
    rng = np.random.default_rng(seed)
    table = rng.binomial(100, 0.7 + 0.02 * rng.random(6), (150, 6)) / 100
    test = compare_over_time(table, list("abcdef"))
    p = [pair.p for pair in test.pairs]
    assert [pair.p_adjusted for pair in test.pairs] == pytest.approx(naive.holm(p))
    for pair in test.pairs:
        assert (pair.low > 0 or pair.high < 0) == (pair.verdict != "alike") == (pair.p_adjusted <= 0.05)
        turned = test.between(pair.second, pair.first)
        assert (turned.difference, turned.low, turned.high) == (-pair.difference, -pair.high, -pair.low)
        assert {pair.verdict, turned.verdict} in ({"alike"}, {"better", "worse"})
        assert pair.verdict == "alike" or f"{turned.first} is {turned.verdict} than" in turned.sentence


@pytest.mark.parametrize("kind", ["independent", "ar 0.6", "ar 0.9", "drift", "bursts", "regimes"])
@pytest.mark.parametrize(("n_steps", "n_entries"), [(60, 2), (60, 4), (300, 2)])
def test_equals_are_told_apart_no_more_often_than_the_level_says(kind, n_steps, n_entries):
    """Of 60 streams at most 9: more would be a chance of 1 in 1,000 at 5 %."""
    assert stats.binom.ppf(0.999, 60, 0.05) == 9
    assert 60 * alarms(kind, n_steps, n_entries, 60)[0] <= 9


def test_steps_taken_for_independent_would_not_hold_the_level():
    ours, naive_test, _ = alarms("ar 0.9", 300, 2, 60)
    assert naive_test > 0.4 > ours


def test_true_differences_are_found():
    assert alarms("ar 0.3", 300, 2, 30, 0.05)[0] > 0.8


def test_entries_that_are_equal_are_not_told_apart_however_few_the_steps():
    for compare in (compare_over_time, compare_over_streams):
        for names in (["a", "b"], ["a", "b", "c"]):
            test = compare(np.full((5, len(names)), 0.5), names)
            assert {(pair.verdict, pair.p_adjusted) for pair in test.pairs} == {("alike", 1.0)}


def test_sums_in_another_order_are_ties():
    a = np.array([0.1 + 0.2, 0.7, 0.4])
    assert compare_over_streams(np.column_stack([a, [0.3, 0.7, 0.4]]), ["a", "b"]).pairs[0].p == 1.0


def test_few_steps_and_steps_that_are_alike_are_too_few_and_it_says_so():
    table = np.column_stack([np.linspace(0.8, 0.9, 20), np.linspace(0.1, 0.3, 20)])
    slow = 0.5 + 0.1 * np.sin(np.arange(200) / 30)[:, None] * [1.0, -1.0]  # 200 steps, worth a handful
    for steps in (table, slow):
        test = compare_over_time(steps, ["a", "b"])
        pair = test.pairs[0]
        assert (pair.verdict, pair.low, pair.p_adjusted) == ("too few", None, None)
        assert "too few rows to distinguish a from b" in test.sentence
        assert "smaller batches" in test.sentence


def test_a_pair_is_not_trusted_to_be_less_correlated_than_the_others():
    rng = np.random.default_rng(0)
    slow = np.cumsum(rng.normal(0.0, 0.01, (40, 4)), axis=0)
    fast = rng.normal(0.0, 0.01, (40, 1))
    verdicts = [
        pair.verdict for pair in compare_over_time(0.5 + np.hstack([slow, slow[:, :1] + fast]), list("abcde")).pairs
    ]
    assert verdicts[3] == "too few"  # a and e, which alone would have been enough
    assert compare_over_time(0.5 + np.hstack([slow[:, :1], slow[:, :1] + fast]), ["a", "e"]).pairs[0].verdict == "alike"


def test_who_is_not_there_cannot_be_compared():
    with pytest.raises(InputError, match="no test of"):
        compare_over_time(np.full((5, 2), 0.5), ["a", "b"]).between("a", "c")


def test_groups_are_the_largest_ones_and_none_lies_in_another():
    rng = np.random.default_rng(3)
    for _ in range(50):
        ranks = {str(k): float(rank) for k, rank in enumerate(rng.uniform(1, 8, 7))}
        groups = groups_within(ranks, 1.5)
        together = {frozenset(pair) for group in groups for pair in _pairs(group)}
        assert together == {pair for pair in map(frozenset, _pairs(list(ranks))) if _gap(ranks, pair) <= 1.5}
        assert not any(set(a) < set(b) for a in groups for b in groups)


def _pairs(names):
    return [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]


def _gap(ranks, pair):
    a, b = (ranks[name] for name in pair)
    return abs(a - b)


@pytest.mark.parametrize(
    ("scores", "names"),
    [([[1.0, 2.0]] * 2, ["a", "b"]), ([[1.0]] * 4, ["a"]), ([[1.0, np.nan]] * 4, ["a", "b"]), ([1.0, 2.0], ["a", "b"])],
)
def test_what_cannot_be_tested_is_refused(scores, names):
    with pytest.raises(InputError):
        compare_over_streams(scores, names)


def test_average_ranks_share_places():
    assert average_ranks(np.array([[1.0, 1.0, 0.0]])).tolist() == [1.5, 1.5, 3.0]


# -- front and recommendation -----------------------------------------------------------------------------------


def entry(name, accuracy, stability=1.0, features=5.0, kind="rows", protocol="prequential", model="nb"):
    return {
        "name": name,
        "method": name,
        "model": model,
        "kind": kind,
        "protocol": protocol,
        "accuracy": accuracy,
        "stability": stability,
        "features": features,
    }


def test_the_front_is_that_of_the_definition():
    rng = np.random.default_rng(0)
    entries = [
        entry(str(k), *(float(value) for value in rng.integers(0, 4, 2) / 4), float(rng.integers(1, 4)))
        for k in range(40)
    ]
    for found in in_order(entries):
        better = [
            other
            for other in entries
            if other["accuracy"] >= found["accuracy"]
            and other["stability"] >= found["stability"]
            and other["features"] <= found["features"]
            and (other["accuracy"], other["stability"], other["features"])
            != (found["accuracy"], found["stability"], found["features"])
        ]
        assert found["on_front"] == (not better)
        assert any(beats(other, found) for other in entries) == bool(better)


def test_ranks_and_front_stay_within_a_protocol():
    entries = [
        entry("worse", 0.7),
        entry("column", 0.9, kind="columns", protocol="columns"),
        entry("better", 0.8),
        entry("etana", 0.95, None, 1.2, "instances", "instances", None),
        entry("failed", None, None, None),
    ]
    found = {one["name"]: (one["rank"], one["on_front"]) for one in in_order(entries)}
    assert found == {
        "better": (1, True),
        "worse": (2, False),
        "failed": (None, False),
        "column": (1, True),
        "etana": (1, True),
    }


def test_a_baseline_has_a_rank_but_no_place_on_the_front():
    found = in_order([entry("all", 0.9, kind="baseline"), entry("fires", 0.8, 0.9)])
    assert [(one["name"], one["rank"], one["on_front"]) for one in found] == [("all", 1, False), ("fires", 2, True)]
