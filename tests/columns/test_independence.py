"""Tests of independence: the published toolbox's values, naive twins, and what data they refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import chdtrc, ndtr
from tests.columns.compared import codes, examples, numbers
from tests.naive import independence as naive

from streamsift.columns.fast_osfs import FastOSFS
from streamsift.columns.independence import CountTest, FisherZ, SymmetricUncertainty, codes_of
from streamsift.columns.osfs import OSFS
from streamsift.columns.saola import SAOLA
from streamsift.core.exceptions import InputError
from streamsift.kernels.independence import fisher_z, partial_correlation, standardise, table_statistic

NO_CLASSES = np.empty(0, np.int64)


@pytest.fixture(scope="module")
def toolbox(shared: Path) -> tuple[Any, dict[str, Any]]:
    folder = shared / "golden" / "lofs"
    return np.load(folder / "inputs.npz"), json.loads((folder / "outputs.json").read_text())


def correlation_matrix(X: Any, y: Any) -> Any:
    units = np.vstack([X.T, y]).astype(float)
    standardise(units)
    return units @ units.T


def given_array(given: list[int]) -> Any:
    return np.array(given, np.int64)


def conditional(matrix: Any, x: int, given: list[int]) -> float:
    work = np.empty((len(given) + 2, len(given) + 2))
    return float(partial_correlation(matrix, x, len(matrix) - 1, given_array(given), len(given), work))


def test_fisher_z_equals_the_toolbox(toolbox: Any) -> None:
    inputs, outputs = toolbox
    data = inputs["cont"]
    matrix = correlation_matrix(data[:, :-1], data[:, -1])
    assert len(outputs["fisherz_tests"]) > 50
    for i, size, *chosen, _, dep, p in outputs["fisherz_tests"]:
        r = conditional(matrix, int(i) - 1, [int(c) - 1 for c in chosen[: int(size)]])
        assert abs(r) == pytest.approx(dep, rel=1e-9, abs=1e-12)
        statistic = fisher_z(r, len(data), int(size))
        assert ndtr(np.copysign(statistic, r)) == pytest.approx(p, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("key", "pearson"), [("g2_tests", False), ("chi2_tests", True)])
def test_table_statistics_equal_the_toolbox(toolbox: Any, key: str, pearson: bool) -> None:
    inputs, outputs = toolbox
    table, sizes = codes_of(inputs["disc"].T, range(16))
    n_tested = 0
    for i, size, *chosen, independent, dep, p in outputs[key]:
        S = given_array([int(c) - 1 for c in chosen[: int(size)]])
        statistic, freedom = table_statistic(table, sizes, int(i) - 1, 15, S, len(S), pearson)
        if dep == -1.0:  # too few rows
            assert statistic == -1.0
            continue
        n_tested += 1
        assert (-1 if independent else 1) * (2.0 + statistic / freedom) == pytest.approx(dep, rel=1e-10)
        assert chdtrc(freedom, statistic) == pytest.approx(p, rel=1e-8, abs=1e-14)
    assert n_tested > 50


def test_symmetric_uncertainty_equals_the_toolbox(toolbox: Any) -> None:
    inputs, outputs = toolbox
    data = inputs["disc"]
    relations = SymmetricUncertainty(0.0).relations(data[:, -1], data[:, -1].astype(np.int64) - 1)
    strength = relations.alone(np.array(data[:, :-1].T, order="C"), range(15)).strength
    np.testing.assert_allclose(strength, outputs["disc_SU_with_class"][0], rtol=1e-10, atol=1e-14)


@given(seed=st.integers(0, 10**6), n_given=st.integers(0, 4))
@settings(max_examples=examples(50))
def test_partial_correlation_equals_the_naive_twin(seed: int, n_given: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 5)) @ rng.normal(size=(5, 5)) * 10.0 ** rng.integers(-50, 50, 5)
    y = rng.normal(size=40) + X[:, 0] / np.abs(X[:, 0]).max()
    S = list(range(1, 1 + n_given))
    mine = conditional(correlation_matrix(X, y), 0, S)
    # Badly conditioned sets lose digits either way.
    assert mine == pytest.approx(naive.partial_correlation(X[:, 0], y, [X[:, k] for k in S]), abs=1e-6)


def test_what_the_given_columns_determine_is_independent() -> None:
    X, y = np.random.default_rng(0).normal(size=(50, 3)), np.arange(50.0)
    X = np.column_stack([X, X[:, 0] + X[:, 1], X[:, 0]])
    matrix = correlation_matrix(X, y)
    assert conditional(matrix, 3, [0, 1]) == 0.0
    assert conditional(matrix, 4, [0]) == 0.0
    # A set that repeats itself says no more than without the repetition.
    assert conditional(matrix, 2, [0, 1, 3, 4]) == pytest.approx(conditional(matrix, 2, [0, 1]), abs=1e-9)
    assert conditional(correlation_matrix(X, X[:, 0]), 1, [0]) == 0.0


@given(seed=st.integers(0, 10**6), pearson=st.booleans(), n_given=st.integers(0, 2))
@settings(max_examples=examples(50))
def test_table_statistic_equals_the_naive_twin(seed: int, pearson: bool, n_given: int) -> None:
    X, y = codes(seed, n_columns=3, n_classes=3)
    table, sizes = codes_of(np.vstack([X.T, y]).astype(float), range(4))
    statistic, freedom = table_statistic(table, sizes, 0, 3, given_array([1, 2]), n_given, pearson)
    S = [X[:, 1].tolist(), X[:, 2].tolist()][:n_given]
    expected, their_freedom = naive.table(X[:, 0].tolist(), y.tolist(), S, pearson)
    assert freedom == their_freedom or expected is None
    assert statistic == (-1.0 if expected is None else pytest.approx(expected, rel=1e-9, abs=1e-9))


@given(seed=st.integers(0, 10**6))
@settings(max_examples=examples(50))
def test_symmetric_uncertainty_equals_the_naive_twin(seed: int) -> None:
    X, y = codes(seed, n_classes=3)
    relations = SymmetricUncertainty(0.0).relations(y.astype(float), y.astype(np.int64))
    alone = relations.alone(np.array(X.T, order="C"), range(15))
    expected = [naive.symmetric_uncertainty(column, y) for column in X.T]
    np.testing.assert_allclose(alone.strength, expected, rtol=1e-9, atol=1e-12)


def test_hard_columns_are_independent_not_errors() -> None:
    hard = np.array([np.full(8, 7.0), np.zeros(8), [5e-324, 0, 0, 0, 0, 0, 0, 0], 1e150 * np.array([1.0, -1] * 4)])
    y = np.array([0.0, 1] * 4)
    alone = FisherZ(0.01).relations(y, NO_CLASSES).alone(hard.copy(), range(4))
    assert alone.relevant.tolist() == [False, False, False, True]
    assert alone.statistic[:2].tolist() == [0.0, 0.0]
    assert alone.statistic[3] > 30  # a correlation of 1, up to rounding; infinity is larger
    one_class = FisherZ(0.01).relations(np.ones(8), NO_CLASSES).alone(hard.copy(), range(4))
    assert not one_class.relevant.any()
    one_class_codes = CountTest(0.01).relations(np.ones(8), np.zeros(8, np.int64)).alone(hard.copy(), range(4))
    assert not one_class_codes.relevant.any()
    three_rows = FisherZ(0.5).relations(np.arange(3.0), NO_CLASSES).alone(np.arange(3.0)[None], range(1))
    assert not three_rows.relevant.any()


def test_offset_and_scale_change_nothing_that_rounding_does_not() -> None:
    X, y = numbers(3)
    tiles = [np.array(X.T[:1]), np.array(X.T[:1]) * 1e-300 + 0.0, np.array(X.T[:1]) * 1e100]
    relations = FisherZ(0.01).relations(y.astype(float), NO_CLASSES)
    statistics = [relations.alone(tile, range(1)).statistic[0] for tile in tiles]
    np.testing.assert_allclose(statistics, statistics[0], rtol=1e-9)


@pytest.mark.parametrize("kind", [OSFS, FastOSFS, SAOLA])
def test_auto_takes_codes_as_codes_until_the_first_number(kind: Any) -> None:
    X, y = codes(5)
    for_codes = {"test": "symmetric_uncertainty"} if kind is SAOLA else {"test": "g2"}
    auto = kind().begin(y)
    assert auto.offer_many(X) == kind(**for_codes).begin(y).offer_many(X)
    # A first number turns everything, members included, to numbers.
    X = np.column_stack([X, np.random.default_rng(5).normal(size=len(y)) + y])
    auto.offer(X[:, -1])
    assert not auto._state.as_codes
    assert auto.offer(y + 0.25 * X[:, -1], "late").statistic > 10.0
    assert kind().begin(np.linspace(0, 1, 150)).offer_many(X) == kind(test="fisher_z").begin(
        np.linspace(0, 1, 150)
    ).offer_many(X)


def test_categories_are_refused_where_they_would_be_taken_for_numbers() -> None:
    y = np.array([0, 1, 1] * 30)
    colour = np.array(["red", "green", "blue"] * 30)
    assert OSFS("g2").begin(y).offer(colour, "colour").accepted
    with pytest.raises(InputError, match="Column 'colour' holds 3 categories"):
        OSFS("fisher_z").begin(y).offer(colour, "colour")
    selector = OSFS().begin(y)
    assert selector.offer(colour, "colour").accepted
    with pytest.raises(InputError, match="Column 'colour' holds 3 categories"):
        selector.offer(np.random.default_rng(0).normal(size=90), "noise")
    assert selector.selected_ == ["colour"]
    assert selector.n_offered_ == 1


def test_tests_of_categories_refuse_numbers() -> None:
    values = np.arange(2000.0)
    with pytest.raises(InputError, match="Column 'id' has 2000 distinct values"):
        SAOLA("symmetric_uncertainty").begin(values % 2).offer(values, "id")
    with pytest.raises(InputError, match="y has 2000 classes"):
        OSFS("g2").begin(values)
    assert OSFS().begin(values)._state.as_codes is False


def test_labels_that_are_no_numbers_are_numbered_in_sorted_order() -> None:
    X, y = numbers(7, n_classes=3)
    text = np.array(["a", "b", "c"])[y]
    assert FastOSFS("fisher_z").begin(text).offer_many(X) == FastOSFS("fisher_z").begin(y).offer_many(X)
