"""OFS-Density and OFS-A3M: the published programs' selections, naive twins, blocks, states and contract."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.columns.compared import check_all_or_nothing, check_blocks, check_continues, codes, examples, numbers, places
from tests.naive import neighbourhood as naive

from streamsift.columns import neighbourhood
from streamsift.columns.ofs_a3m import OFSA3M
from streamsift.columns.ofs_density import OFSDensity
from streamsift.kernels.neighbourhood import add_column

METHODS = {"density": OFSDensity, "a3m": OFSA3M}


def dependencies(values: Any, y: Any, by_density: bool) -> tuple[float, float]:
    """Of a single column, as a line and as a space of one dimension."""
    found = neighbourhood.Dependencies(neighbourhood.NeighbourhoodState.begin(y.astype(float)), by_density)
    found.state.squares = np.empty((2, 0, 0))  # nothing kept
    return found.of(values), found.of_all(values)


@pytest.mark.compiled
@pytest.mark.parametrize("data", ["cont", "wdbc"])
@pytest.mark.parametrize("method", METHODS)
def test_selections_equal_the_published_programs(shared: Path, method: str, data: str) -> None:
    outputs = json.loads((shared / "golden" / "ofs_density_a3m" / "README.json").read_text())["outputs_0based"]
    table = np.load(shared / "golden" / "lofs" / "inputs.npz")[data]
    table = table[:150] if data == "wdbc" else table
    selector = METHODS[method]().fit(table[:, :-1], table[:, -1])
    assert places(selector) == outputs[f"{data}_{method}"]


def shape(seed: int, coded: bool) -> tuple[Any, Any]:
    X, y = codes(seed, 25, 8) if coded else numbers(seed, 25, 8)
    return X, y


@pytest.mark.parametrize("method", METHODS)
@given(seed=st.integers(0, 10**6), coded=st.booleans())
@settings(max_examples=examples(15))
def test_selections_equal_the_naive_twin(method: str, seed: int, coded: bool) -> None:
    X, y = shape(seed, coded)
    if not coded:  # the twin rounds otherwise: equal ratios of distances to ranks would tie in one and not in the other
        X += 1e-6 * np.std(X, axis=0) * np.random.default_rng(seed).normal(size=X.shape)
    naive.TIES.clear()
    expected = getattr(naive, f"ofs_{method}")(X, y.tolist())
    found = METHODS[method]().fit(X, y).selected_
    # Codes have equal ratios of distance to rank, which rounding tells apart, seldom otherwise than in the twin.
    assume(not naive.TIES or found == [f"x{k}" for k in expected])
    assert found == [f"x{k}" for k in expected]


@given(seed=st.integers(0, 10**6), tolerance=st.sampled_from([0.0, 0.01, 0.3]))
@settings(max_examples=examples(15))
def test_the_tolerance_is_that_of_the_naive_twin(seed: int, tolerance: float) -> None:
    X, y = shape(seed, coded=False)
    X += 1e-6 * np.std(X, axis=0) * np.random.default_rng(seed).normal(size=X.shape)
    expected = naive.ofs_density(X, y.tolist(), tolerance)
    assert OFSDensity(tolerance=tolerance).fit(X, y).selected_ == [f"x{k}" for k in expected]


@given(seed=st.integers(0, 10**6), coded=st.booleans(), by_density=st.booleans(), n_rows=st.integers(2, 60))
@settings(max_examples=examples(60))
def test_a_line_is_a_space_of_one_dimension(seed: int, coded: bool, by_density: bool, n_rows: int) -> None:
    X, y = (codes if coded else numbers)(seed, n_rows, 6)
    for column in X.T:
        values = neighbourhood.standardised(column)
        if values is not None:
            line, space = dependencies(values, y, by_density)
            assert line == space


@pytest.mark.parametrize("by_density", [True, False])
def test_a_row_equally_far_from_all_others_has_the_first_of_them_for_neighbour(by_density: bool) -> None:
    values, y = np.array([0.0, 1.0, 1.0, 1.0]), np.array([0, 0, 1, 1])
    # Row 0: by gap its neighbour is row 1 alone, by density all three are. Rows 1 to 3: the other two ones.
    expected = ((1 / 3 if by_density else 1.0) + 0.0 + 0.5 + 0.5) / 4
    assert dependencies(values, y, by_density) == pytest.approx((expected, expected))


@pytest.mark.parametrize("length", [1, 700, 2_000])
@pytest.mark.parametrize("method", METHODS)
def test_slices_give_the_same_answers(method: str, length: int) -> None:
    for seed in range(3):
        X, y = shape(seed, coded=seed % 2 == 0)
        whole, sliced = (METHODS[method]().begin(y) for _ in range(2))
        whole._state.most_kept = sliced._state.most_kept = 0 if seed else 1 << 23
        expected = whole.offer_many(X)
        sliced._state.at_once = length
        assert sliced.offer_many(X) == expected


@pytest.mark.parametrize("method", METHODS)
@given(seed=st.integers(0, 10**6), coded=st.booleans(), cuts=st.lists(st.integers(0, 8), max_size=3))
@settings(max_examples=examples(15))
def test_a_block_is_one_after_the_other(method: str, seed: int, coded: bool, cuts: list[int]) -> None:
    X, y = shape(seed, coded)
    check_blocks(METHODS[method], X, y, cuts)


@given(seed=st.integers(0, 10**6), coded=st.booleans())
@settings(max_examples=examples(30))
def test_a_column_taken_out_leaves_what_the_others_give(seed: int, coded: bool) -> None:
    X, _ = (codes if coded else numbers)(seed, 20, 7)
    columns = [values for column in X.T if (values := neighbourhood.standardised(column)) is not None]
    columns.append(1e-4 * columns[0])  # small distances must not drown in large ones
    squares, expected = np.zeros((2, 20, 20)), np.zeros((20, 20))
    for column in columns:
        add_column(squares, column, 1.0)
    for column in columns[:-2]:
        add_column(squares, column, -1.0)
    for column in columns[-2:]:
        expected += (column[:, None] - column) ** 2
    np.testing.assert_array_equal(squares[0], expected)  # two terms: their sum is rounded once
    for column in columns[-2:]:
        add_column(squares, column, -1.0)
    assert not squares.any()


@pytest.mark.parametrize("method", METHODS)
def test_distances_summed_anew_give_the_same_answers(method: str) -> None:
    for seed in range(5):
        X, y = shape(seed, coded=seed % 2 == 0)
        keeping, summing = (METHODS[method]().begin(y) for _ in range(2))
        summing._state.most_kept = 0
        assert summing.offer_many(X) == keeping.offer_many(X)
        assert summing._state.squares.size == 0 < keeping._state.squares.size


@pytest.mark.parametrize("method", METHODS)
def test_state(method: str) -> None:
    for seed in range(3):
        X, y = shape(seed, coded=False)
        check_continues(METHODS[method], X, y)
        check_all_or_nothing(METHODS[method], X, y)


def test_a_column_that_explains_as_much_takes_the_place_of_those_not_needed() -> None:
    y = np.arange(40) % 2
    rng = np.random.default_rng(0)
    first = y + 0.4 * rng.normal(size=40)
    selector = OFSA3M().begin(y)
    assert selector.offer(first, "first").accepted
    better = selector.offer(y + 0.01 * rng.normal(size=40), "better")
    assert better.accepted
    assert better.statistic > better.threshold
    opposite = selector.offer(np.random.default_rng(1).permutation(y), "shuffled")
    assert not opposite.accepted
    assert opposite.statistic <= opposite.threshold
    again = selector.offer(y + 0.01 * rng.normal(size=40), "again")
    assert (again.accepted, again.dropped) == (True, ("first", "better"))
