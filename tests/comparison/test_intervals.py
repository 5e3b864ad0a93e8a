"""Intervals of an entry's figures: over streams, over time, or only the range of the repeats."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from streamsift.comparison.compare import compare
from streamsift.comparison.intervals import intervals_of


def result(accuracy, steps=None, **others):
    return {"accuracy": accuracy, "stability": 0.5, "features": 5.0, "steps": steps} | others


def test_independent_streams_have_students_interval():
    values = [0.8, 0.9, 0.85, 0.83]
    found = intervals_of([result(value) for value in values], "accuracy", independent=True)
    low, high = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert found["accuracy"] == {"low": pytest.approx(low), "high": pytest.approx(high), "kind": "over streams", "n": 4}
    assert found["stability"]["low"] == found["stability"]["high"] == 0.5


def test_repeats_that_share_rows_give_no_interval_beyond_the_first():
    hits = np.random.default_rng(0).binomial(100, 0.9, size=400) / 100
    first = result(float(hits.mean()), {"accuracy": hits.tolist()})
    found = intervals_of([first, result(0.1, features=9.0)], "accuracy", independent=False)
    half = 1.96 * hits.std(ddof=1) / np.sqrt(400)
    assert found["accuracy"]["kind"] == "over time"
    assert found["accuracy"]["n"] == 400
    assert half * 0.9 < (found["accuracy"]["high"] - found["accuracy"]["low"]) / 2 < half * 2
    assert (found["accuracy"]["high"] + found["accuracy"]["low"]) / 2 == pytest.approx(hits.mean())
    assert found["features"] == {"low": 5.0, "high": 9.0, "kind": "range", "n": 2}


def test_too_little_gives_none():
    few = result(0.9, {"accuracy": [0.9] * 3 + [0.8]})
    assert intervals_of([few], "accuracy", independent=False) == {}
    assert intervals_of([], "accuracy", independent=True) == {}
    assert intervals_of([result(0.9, {"accuracy": None})], "accuracy", independent=True) == {}


def test_a_comparison_has_them():
    found = compare(
        "generate:sea", methods=["screen:fisher"], models=["nb"], baselines=["majority"], repeats=3, n_rows=400
    )
    for entry in found.as_dict()["entries"]:
        assert entry["intervals"]["accuracy"]["low"] <= entry["accuracy"] <= entry["intervals"]["accuracy"]["high"]
    assert found.as_dict()["reason"] in found.recommendation
