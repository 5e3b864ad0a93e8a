"""Tests of a comparison against their definitions; ranks, front and recommendation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.naive import significance as naive

from streamsift.comparison.recommend import beats, in_order, recommend
from streamsift.comparison.significance import average_ranks, critical_difference, groups_within, significance
from streamsift.core.exceptions import InputError


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ties", [False, True])
def test_friedman_is_that_of_the_definition(seed, ties):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, (8, 5)) / 4 if ties else rng.random((8, 5))
    test = significance(scores, list("abcde"))
    assert list(test.average_ranks.values()) == pytest.approx(naive.average_ranks(scores.tolist()))
    assert test.p == pytest.approx(stats.chi2.sf(naive.friedman_statistic(scores.tolist()), 4))
    assert test.p == pytest.approx(stats.friedmanchisquare(*scores.T).pvalue)


@pytest.mark.parametrize("n_entries", range(2, 11))
def test_the_critical_difference_is_that_of_the_published_table(n_entries):
    rounding = 0.001 * np.sqrt(n_entries * (n_entries + 1) / 42)  # q has three decimals there, some cut, some rounded
    assert critical_difference(n_entries, 7) == pytest.approx(naive.critical_difference(n_entries, 7), abs=rounding)


@pytest.mark.parametrize("seed", range(10))
def test_wilcoxon_is_that_of_all_signs(seed):
    gaps = np.random.default_rng(seed).normal(0.3, 1.0, 8)
    test = significance(np.column_stack([gaps, np.zeros(8)]), ["a", "b"])
    assert test.kind == "wilcoxon"
    assert test.p == pytest.approx(naive.wilcoxon_p(gaps.tolist()))
    assert test.critical_difference is None


def test_equal_entries_are_not_distinguished():
    for names in (["a", "b"], ["a", "b", "c"]):
        test = significance(np.full((5, len(names)), 0.5), names)
        assert test.p == 1.0
        assert test.groups == [names]


def test_sums_in_another_order_are_ties():
    a = np.array([0.1 + 0.2, 0.7, 0.4])
    test = significance(np.column_stack([a, [0.3, 0.7, 0.4]]), ["a", "b"])
    assert test.p == 1.0


def test_five_repeats_are_too_few_to_distinguish_two_and_it_says_so():
    scores = np.column_stack([np.linspace(0.8, 0.9, 5), np.linspace(0.1, 0.3, 5)])
    few = significance(scores, ["a", "b"])
    assert few.p == pytest.approx(0.0625)
    assert "6 or more" in few.sentence
    assert few.groups == [["a", "b"]]
    many = significance(np.vstack([scores, scores + 0.01]), ["a", "b"])
    assert many.groups == []
    assert "distinguishable" in many.sentence


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
    ("scores", "names", "words"),
    [
        ([[1.0, 2.0]] * 2, ["a", "b"], r"3 repeats at least.*shape \(2, 2\)"),
        ([[1.0]] * 4, ["a"], "2 entries .*and 1 names"),
        ([[1.0, 2.0]] * 4, ["a", "b", "c"], "and 3 names"),
        ([1.0, 2.0], ["a", "b"], r"shape \(2,\)"),
        ([[1.0, np.nan]] * 4, ["a", "b"], "A score is not a number"),
    ],
)
def test_what_cannot_be_tested_is_refused(scores, names, words):
    with pytest.raises(InputError, match=words):
        significance(scores, names)


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


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ([entry("a", 0.9, 0.5), entry("b", 0.895, 0.9), entry("c", 0.5)], ["Use b", "Of the 2 within 0.01"]),
        ([entry("a", 0.9, 0.5), entry("b", 0.8, 0.9)], ["Use a", "most accurate of 2, the next reaching 0.800"]),
        ([entry("a", 0.9)], ["Use a", "the only method of the protocol 'prequential'"]),
        ([entry("a", 0.6), entry("random", 0.595, kind="baseline")], ["Use a", "drawn at random do as well"]),
        ([entry("a", 0.6), entry("all", 0.7, kind="baseline")], ["so selecting costs accuracy"]),
        ([entry("a", 0.8), entry("all", 0.7, kind="baseline")], ["so selecting gains accuracy"]),
        ([entry("a", 0.8), entry("all", 0.805, kind="baseline")], ["so selecting costs nothing"]),
        (
            [entry("e", 0.8, None, 1.2, "instances", "instances", None)],
            ["Use e: accuracy 0.800 with 1.2 features per row"],
        ),
        ([entry("a", 0.8, features=1.0)], ["with 1 feature per row"]),
        ([entry("all", 0.8, kind="baseline"), entry("a", None)], ["nothing to recommend"]),
    ],
)
def test_the_recommendation_is_two_sentences_with_a_reason(entries, words):
    text = recommend(in_order(entries), None)
    assert all(word in text for word in words)
    assert text.count(". ") == 1
    assert text.endswith(".")


def test_the_recommendation_is_on_the_front():
    rng = np.random.default_rng(5)
    for _ in range(50):
        entries = in_order(
            [
                entry(str(k), 0.9 + rng.integers(0, 8) / 400, rng.integers(0, 3) / 2, rng.integers(1, 4))
                for k in range(6)
            ]
        )
        chosen = recommend(entries, None).removeprefix("Use ").partition(":")[0]
        assert next(one for one in entries if one["name"] == chosen)["on_front"]


def test_the_recommendation_says_what_the_repeats_distinguish():
    entries = in_order([entry("a", 0.9), entry("b", 0.7), entry("c", 0.6)])
    tests = {"average_ranks": {"a": 1.0, "b": 2.0, "c": 3.0}, "groups": [["a", "b"]]}
    assert "distinguish it from 1 of the 2 others" in recommend(entries, tests)
