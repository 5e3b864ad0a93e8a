"""Selection accuracy, Jaccard similarity and RAM-hours, from their definitions and in the corners."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamsift.core.exceptions import InputError, ParameterError
from streamsift.metrics import jaccard, ram_hours, selection_accuracy

SETS = st.sets(st.integers(0, 11))


@given(SETS, SETS, st.floats(0, 1))
def test_selection_accuracy_is_the_weighted_sum_of_its_parts(
    selected: set[int], relevant: set[int], gamma: float
) -> None:
    found = selection_accuracy(selected, relevant, 12, gamma)
    rrf = len(selected & relevant) / len(relevant) if relevant else 1.0
    ccp = 1 - len(selected - relevant) / (12 - len(relevant)) if len(relevant) < 12 else 1.0
    assert (found.rrf, found.ccp) == pytest.approx((rrf, ccp))
    assert found == pytest.approx(gamma * rrf + (1 - gamma) * ccp)
    assert 0.0 <= found <= 1.0 + 1e-15
    assert isinstance(found, float)
    masks = [np.isin(np.arange(12), list(members)) for members in (selected, relevant)]
    assert selection_accuracy(*masks, 12, gamma) == found


def test_selecting_everything_scores_gamma() -> None:
    assert selection_accuracy(range(10), [3, 4], 10) == pytest.approx(0.7)
    assert selection_accuracy([3, 4], [3, 4], 10) == 1.0
    assert selection_accuracy([], [3, 4], 10) == pytest.approx(0.3)
    assert selection_accuracy([], [], 1) == selection_accuracy([0], [0], 1) == 1.0


@given(SETS, SETS)
def test_jaccard(a: set[int], b: set[int]) -> None:
    wanted = len(a & b) / len(a | b) if a | b else 1.0
    assert jaccard(a, b) == jaccard(b, a) == jaccard(np.array(sorted(a), int), frozenset(b)) == wanted
    assert jaccard(a, a) == 1.0


def test_bad_features_are_refused_in_words() -> None:
    with pytest.raises(InputError, match="no feature 10: indices run from 0 to 9"):
        selection_accuracy([10], [1], 10)
    with pytest.raises(InputError, match="mask has 2 entries but there are 3"):
        selection_accuracy([True, False], [1], 3)
    with pytest.raises(InputError, match="indices in one dimension"):
        jaccard([[1]], [1])
    with pytest.raises(InputError, match="no feature -1"):
        jaccard([-1], [1])
    with pytest.raises(ParameterError, match="gamma"):
        selection_accuracy([1], [1], 3, gamma=1.5)


@given(st.floats(0, 1e15), st.floats(0, 1e9))
def test_ram_hours(n_bytes: float, seconds: float) -> None:
    assert ram_hours(n_bytes, seconds) == pytest.approx(n_bytes * seconds / (1024**3 * 3600))


def test_ram_hours_refuses_less_than_nothing() -> None:
    for arguments in ((-1, 1), (1, -1), (math.nan, 1)):
        with pytest.raises(ParameterError):
            ram_hours(*arguments)


@pytest.mark.parametrize("features", [[0.0, 1.0], ["a"], [[0, 1]], np.array(3)], ids=repr)
def test_features_are_whole_numbers_in_one_dimension(features: object) -> None:
    with pytest.raises(InputError, match="indices in one dimension, or as a boolean mask"):
        jaccard(features, [1])


def test_the_first_and_the_last_feature_count() -> None:
    assert selection_accuracy([0, 4], [0, 4], 5) == 1.0
    with pytest.raises(InputError, match="There is no feature 5: indices run from 0 to 4"):
        selection_accuracy([5], [0], 5)
    with pytest.raises(InputError, match="There is no feature -1: indices run from 0\\."):
        jaccard([1], [-1])
    with pytest.raises(InputError, match="The mask has 4 entries but there are 5 features"):
        selection_accuracy([True] * 4, [0], 5)
    assert jaccard([True, False, True], [False, False, True]) == 0.5
