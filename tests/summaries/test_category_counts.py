"""Category counts: what is kept, what is not, and what merging makes of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import categories as naive

from streamsift.summaries.category_counts import CategoryCounts

NAN = float("nan")


def counts_of(values: Any, labels: Any, *, most: int = 1000, fading: float = 1.0, cut: int | None = None) -> Any:
    values, labels = np.asarray(values, float), np.asarray(labels, np.int64)
    counts = CategoryCounts.empty(fading, most, 1)
    for start in range(0, len(values), cut or len(values)):
        part = slice(start, start + (cut or len(values)))
        counts.learn(np.ascontiguousarray(values[None, part]), labels[part], int(labels[: part.stop].max()) + 1)
    return counts


def as_dict(counts: Any) -> dict[int, list[float]]:
    table = counts.table(0)
    return dict(zip(table.codes.tolist(), table.weights.tolist(), strict=True))


@pytest.mark.parametrize("fading", [1.0, 0.9])
@pytest.mark.parametrize("cut", [1, 7, None])
def test_counts_equal_the_naive_twin(fading: float, cut: int | None) -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 9, 100).astype(float)
    values[rng.random(100) < 0.1] = NAN
    labels = np.minimum(np.arange(100) // 30, rng.integers(0, 4, 100))  # classes come late
    known = [None if np.isnan(value) else int(value) for value in values]
    wanted = naive.count(known, labels.tolist(), fading)
    found = counts_of(values, labels, fading=fading, cut=cut)
    assert set(as_dict(found)) == set(wanted)
    for code, row in as_dict(found).items():
        np.testing.assert_allclose(row, [wanted[code].get(c, 0.0) for c in range(len(row))], rtol=1e-12)
    squares = naive.count(known, labels.tolist(), fading**2)
    table = found.table(0)
    np.testing.assert_allclose(table.squares, [sum(squares[int(code)].values()) for code in table.codes], rtol=1e-12)
    assert not table.other.any()


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 2)), min_size=1, max_size=80), st.integers(1, 6), st.data()
)
def test_the_rarest_share_a_place_within_the_bound(rows: Any, most: int, data: Any) -> None:
    values, labels = [value for value, _ in rows], [label for _, label in rows]
    cut = data.draw(st.integers(1, len(rows)))
    table = counts_of(values, labels, most=most, cut=cut).table(0)
    kept = naive.space_saving(values, most)
    found = {
        code: (weight, earlier)
        for code, weight, earlier in zip(
            table.codes.tolist(), table.weights.sum(axis=1).tolist(), table.earlier.tolist(), strict=True
        )
    }
    assert found == kept
    within_the_bound(table, values, labels, most)


def within_the_bound(table: Any, values: list[int], labels: list[int], most: int) -> None:
    """What the module promises: who is kept, what a kept category lacks, and that nothing is lost."""
    n, true = len(values), {value: values.count(value) for value in set(values)}
    assert len(table.codes) <= most
    assert {value for value, times in true.items() if times > n / most} <= set(table.codes.tolist())
    for code, weight, earlier in zip(table.codes.tolist(), table.weights.sum(axis=1), table.earlier, strict=True):
        assert 0 <= true[code] - weight <= earlier <= n / most
    in_all = table.weights.sum(axis=0) + table.other
    assert in_all.tolist() == [labels.count(c) for c in range(len(in_all))]


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 2)), min_size=3, max_size=80), st.integers(1, 6))
def test_merging_keeps_the_bound(rows: Any, most: int) -> None:
    values, labels = [value for value, _ in rows], [label for _, label in rows]
    third = len(rows) // 3
    parts = [(values[:third], labels[:third]), (values[third : 2 * third], labels[third : 2 * third])]
    parts.append((values[2 * third :], labels[2 * third :]))
    summaries = [counts_of(*part, most=most).aligned(np.arange(max(part[1]) + 1), 3) for part in parts]
    summaries[1].merge(summaries[2])
    summaries[0].merge(summaries[1])
    within_the_bound(summaries[0].table(0), values, labels, most)
    if len(set(values)) <= most:
        wanted = counts_of(values, labels).aligned(np.arange(max(labels) + 1), 3)
        assert as_dict(summaries[0]) == as_dict(wanted)


def test_heavy_categories_survive_a_flood_of_rare_ones() -> None:
    rng = np.random.default_rng(1)
    values = np.where(rng.random(20_000) < 0.3, rng.integers(0, 5, 20_000), np.arange(20_000) + 10)
    table = counts_of(values, values % 2, most=50).table(0)
    assert set(range(5)) <= set(table.codes.tolist())
    for code in range(5):
        lacking = np.count_nonzero(values == code) - table.weights[table.codes == code].sum()
        assert 0 <= lacking <= 20_000 / 50


def test_renaming_moves_codes_and_all_that_belongs_to_them() -> None:
    counts = counts_of([0, 1, 1, 2, 3, 3, 3], [0, 0, 1, 1, 0, 0, 1], most=3)
    before = counts.table(0)
    new = np.array([7, 5, 9, 1])
    after = counts.renamed({0: new}).table(0)
    assert after.codes.tolist() == sorted(new[before.codes].tolist())
    for code, weights, earlier in zip(before.codes, before.weights, before.earlier, strict=True):
        place = after.codes.tolist().index(new[code])
        assert (after.weights[place].tolist(), after.earlier[place]) == (weights.tolist(), earlier)


def test_features_may_be_taken_in_another_order() -> None:
    counts = CategoryCounts.empty(1.0, 10, 2)
    counts.learn(np.array([[0.0, 1.0, 1.0], [4.0, 4.0, NAN]]), np.array([0, 1, 1]), 2)
    moved = counts.taken(np.array([1, -1, 0]))
    assert [table.codes.tolist() for table in moved.tables()] == [[4], [], [0, 1]]
    assert moved.table(2).weights.tolist() == counts.table(0).weights.tolist()
