"""Stability measures against their naive twins, laws and corners."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.naive import stability as naive

from streamsift.core.exceptions import InputError, ParameterError
from streamsift.metrics import nogueira_interval, nogueira_stability, pearson_stability

MATRICES = st.tuples(st.integers(1, 8), st.integers(1, 10)).flatmap(lambda shape: arrays(bool, shape))


@given(MATRICES)
def test_equal_naive_twins(Z: np.ndarray) -> None:
    sets = Z.astype(int).tolist()
    assert nogueira_stability(Z) == pytest.approx(naive.nogueira(sets), abs=1e-12)
    assert pearson_stability(Z) == pytest.approx(naive.pearson(sets), abs=1e-12)
    if len(Z) > 1 and 0 < Z.mean() < 1:
        assert nogueira_interval(Z, 0.9) == pytest.approx(naive.nogueira_interval(sets, 0.9), abs=1e-12)


@given(MATRICES, st.randoms())
def test_laws(Z: np.ndarray, random: object) -> None:
    rows, columns = np.random.default_rng(0).permutation(len(Z)), np.random.default_rng(1).permutation(Z.shape[1])
    for measure in (nogueira_stability, pearson_stability):
        value = measure(Z)
        assert -1.0 <= value <= 1.0
        assert measure(Z[rows][:, columns]) == pytest.approx(value, abs=1e-12)
        assert measure(~Z) == pytest.approx(value, abs=1e-12)  # what is left out is as stable as what is kept
        assert measure(np.repeat(Z[:1], 5, axis=0)) == 1.0
        assert (value == pytest.approx(1.0)) == (len(np.unique(Z, axis=0)) == 1)


@pytest.mark.parametrize("measure", [nogueira_stability, pearson_stability])
def test_random_sets_are_unstable(measure: object) -> None:
    Z = np.random.default_rng(2).random((300, 100)) < 0.2
    assert abs(measure(Z)) < 0.01


def test_sets_of_nothing_and_everything() -> None:
    assert nogueira_stability(np.zeros((3, 4), bool)) == nogueira_stability(np.ones((3, 4), bool)) == 1.0
    assert nogueira_interval(np.zeros((3, 4), bool)) == (1.0, 1.0)
    assert pearson_stability([[0, 0], [1, 1]]) == pearson_stability([[0, 0], [1, 0]]) == 0.0
    assert nogueira_stability([[0], [1]]) == -1.0
    assert nogueira_interval([[0, 1]]) == (-1.0, 1.0)


def test_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    """Sets of 100 independent features, p chosen so that the true stability is known in the limit."""
    rng = np.random.default_rng(4)
    share = np.where(np.arange(40) < 10, 0.8, 0.1)
    truth = 1 - (share * (1 - share)).mean() / (share.mean() * (1 - share.mean()))
    covered = []
    for _ in range(300):
        low, high = nogueira_interval(rng.random((60, 40)) < share)
        covered.append(low <= truth <= high)
    assert 0.90 <= np.mean(covered) <= 0.99


@pytest.mark.parametrize("Z", [[1, 0], np.zeros((0, 3)), np.zeros((3, 0)), [[0.5, 1.0]], [[2, 0]]])
def test_refuses_what_is_not_sets(Z: object) -> None:
    for measure in (nogueira_stability, pearson_stability, nogueira_interval):
        with pytest.raises(InputError, match="Z must"):
            measure(Z)


def test_refuses_a_confidence_that_is_none() -> None:
    with pytest.raises(ParameterError, match="confidence"):
        nogueira_interval([[1, 0]], confidence=1.0)
