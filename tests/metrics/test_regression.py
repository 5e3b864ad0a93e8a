"""RMSE, MAE and R2 from sums that add up, beside errors added up row by row."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import regression as naive

from streamsift.drift.error_scale import ErrorScale
from streamsift.metrics.regression import error_sums, joined_sums, regression_scores

numbers = st.floats(-1e6, 1e6).map(lambda value: round(value, 3))


def close(found: float, expected: float) -> bool:
    if math.isnan(expected):
        return math.isnan(found)
    return found == pytest.approx(expected, rel=1e-9, abs=1e-6)


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=30), st.integers(1, 5), st.floats(-1e9, 1e9))
def test_any_grouping_gives_the_scores_of_all_rows(pairs: list[tuple[float, float]], size: int, offset: float) -> None:
    true = np.array([pair[0] for pair in pairs]) + offset
    predicted = np.array([pair[1] for pair in pairs]) + offset
    groups = np.arange(len(pairs)) // size
    sums = error_sums(groups, true, predicted, int(groups[-1]) + 1)
    found = [float(score[0]) for score in regression_scores(joined_sums(sums))]
    rows = true.tolist(), predicted.tolist()
    assert close(found[0], naive.rmse(*rows))
    assert close(found[1], naive.mae(*rows))
    spread = float(joined_sums(sums)[4, 0])
    if spread > 1e-3 or spread == 0.0:  # below, the offset has eaten the digits
        assert close(found[2], naive.r2(*rows)) or abs(found[2] - naive.r2(*rows)) < 1e-6 * abs(naive.r2(*rows))


def test_a_large_offset_costs_no_digits() -> None:
    rng = np.random.default_rng(0)
    true = 1e12 + rng.normal(size=500)
    predicted = true + 0.5 * rng.normal(size=500)
    found = regression_scores(error_sums(np.zeros(500, int), true, predicted, 1))
    assert float(found.r2[0]) == pytest.approx(naive.r2(true.tolist(), predicted.tolist()), rel=1e-6)


def test_groups_without_rows_and_equal_numbers_say_nothing() -> None:
    sums = error_sums(np.array([1, 1]), np.array([3.0, 3.0]), np.array([3.0, 5.0]), 3)
    scores = regression_scores(sums)
    assert np.isnan(scores.rmse[[0, 2]]).all()
    assert np.isnan(scores.r2).all()
    assert (scores.rmse[1], scores.mae[1]) == (math.sqrt(2.0), 1.0)
    assert joined_sums(sums)[:, 0].tolist() == [2.0, 4.0, 2.0, 3.0, 0.0]
    assert joined_sums(np.zeros((5, 0)))[:, 0].tolist() == [0.0] * 5


def test_errors_are_scaled_for_detectors() -> None:
    errors = np.random.default_rng(1).normal(3.0, 2.0, 50).tolist()
    scale = ErrorScale()
    np.testing.assert_allclose([scale.scaled(error) for error in errors], naive.scaled_errors(errors), rtol=1e-12)
