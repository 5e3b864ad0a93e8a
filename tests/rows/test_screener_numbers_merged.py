"""Screener("correlation") of a number, with categories: parts of the rows, merged, are as good as one pass."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamsift import Screener
from streamsift.core.exceptions import MergeError
from streamsift.engines.work import packed, unpacked


def eta(categories: np.ndarray, y: np.ndarray) -> float:
    """The root of the share of the spread that lies between categories, over the rows that have one: by its meaning."""
    here = ~pd.isna(categories)
    categories, y = categories[here], y[here]
    if len(set(categories)) < 2:
        return 0.0
    groups = [y[categories == name] for name in set(categories)]
    between = sum(len(group) * (group.mean() - y.mean()) ** 2 for group in groups)
    return float(np.sqrt(between / ((y - y.mean()) ** 2).sum()))


def table(n: int, seed: int, missing: float = 0.0) -> tuple[pd.DataFrame, np.ndarray]:
    """Parts of it meet the categories in different orders, and some of them not at all."""
    rng = np.random.default_rng(seed)
    town = np.array([f"t{k}" for k in np.minimum(rng.geometric(0.3, n), 7)], object)
    shop = rng.choice(["north", "south"], n).astype(object)
    y = rng.normal(size=n) + 0.7 * (town == "t2") - 0.4 * (shop == "north")
    town[rng.random(n) < missing] = None
    price = y + rng.normal(size=n)
    return pd.DataFrame({"town": town, "price": price, "shop": shop, "noise": rng.normal(size=n)}), y


def screener(**given: Any) -> Screener:
    return Screener("correlation", task="regression", n_features_to_select="fdr:0.05", **given)


def same(found: Screener, whole: Screener) -> None:
    for name in ("scores_", "criterion_values_", "pvalues_"):
        np.testing.assert_allclose(getattr(found, name), getattr(whole, name), rtol=1e-9, atol=1e-12, err_msg=name)
    assert found.selected_ == whole.selected_
    assert found.n_rows_seen_ == whole.n_rows_seen_


@given(seed=st.integers(0, 10_000), cuts=st.lists(st.integers(0, 199), max_size=5), missing=st.sampled_from([0.0, 0.3]))
@settings(max_examples=40, deadline=None)
def test_parts_merged_in_any_order_are_one_pass(seed: int, cuts: list[int], missing: float) -> None:
    X, y = table(200, seed, missing)
    pairs = pairwise([0, *sorted(set(cuts) - {0}), 200])
    # Of a part without any town nobody knows that towns are categories: it is refused, see below.
    rows = [slice(*edges) for edges in pairs if X["town"][slice(*edges)].notna().any()]
    parts = [screener(missing="skip").partial_fit(X[here], y[here]) for here in rows]
    all_rows = np.concatenate([np.arange(200)[here] for here in rows])
    X, y = X.iloc[all_rows], y[all_rows]
    whole = screener(missing="skip").partial_fit(X, y)
    order = np.random.default_rng(seed).permutation(len(parts))
    found = parts[order[0]]
    for place in order[1:]:
        found.merge(parts[place])
    same(found, whole)
    assert found.criterion_values_[0] == pytest.approx(eta(X["town"].to_numpy(), y), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("step", [1, 3, 50])
def test_rows_before_the_first_category_are_left_out_however_the_stream_is_cut(step: int) -> None:
    X, y = table(120, 5, 0.3)
    X.loc[:9, "town"] = None
    rows = [{**row, "town": None if pd.isna(row["town"]) else row["town"]} for row in X.to_dict("records")]
    whole = screener(missing="skip").partial_fit(rows, y)
    assert whole.criterion_values_[0] == pytest.approx(eta(X["town"].to_numpy(), y), rel=1e-9)
    cut = screener(missing="skip")
    for start in range(0, 120, step):
        cut.partial_fit(rows[start : start + step], y[start : start + step])
    same(cut, whole)


@pytest.mark.parametrize("step", [1, 3, 50])
def test_parts_learnt_in_small_batches_know_the_rows_without_a_category(step: int) -> None:
    """In each part another category is the first, and comes after rows whose category is missing."""
    X, y = table(120, 5, 0.3)
    X.loc[0, "town"], X.loc[1:3, "town"] = "t1", None
    X.loc[60, "town"], X.loc[61:63, "town"] = "t2", None
    whole = screener(missing="skip").partial_fit(X, y)
    parts = [screener(missing="skip") for _ in range(2)]
    for part, rows in zip(parts, (range(60), range(60, 120)), strict=True):
        for start in range(rows.start, rows.stop, step):
            part.partial_fit(X[start : min(start + step, rows.stop)], y[start : min(start + step, rows.stop)])
    same(parts[0].merge(parts[1]), whole)


def test_with_weights_and_fading_later_parts_go_on_after_saving() -> None:
    X, y = table(300, 1)
    weight = np.random.default_rng(2).uniform(0.1, 3.0, 300)
    make = {"fading": 0.99}
    whole = screener(**make).partial_fit(X, y, sample_weight=weight)
    first, second = (
        screener(**make).partial_fit(X[rows], y[rows], sample_weight=weight[rows])
        for rows in (slice(0, 70), slice(70, 200))
    )
    merged = unpacked(packed(first.merge_later(second)))
    same(merged.partial_fit(X[200:], y[200:], sample_weight=weight[200:]), whole)


def test_merging_is_associative_and_leaves_the_other_as_it_was() -> None:
    X, y = table(150, 3)

    def parts() -> list[Screener]:
        return [screener().partial_fit(X[a:b], y[a:b]) for a, b in ((0, 20), (20, 90), (90, 150))]

    a, b, c = parts()
    before = c.state_arrays()
    left = a.merge(b).merge(c)
    assert all(np.array_equal(before[name], value) for name, value in c.state_arrays().items())
    a, b, c = parts()
    same(a.merge(b.merge(c)), left)


def test_a_part_without_any_category_of_a_column_is_refused_in_words() -> None:
    X, y = table(80, 4)
    first = screener(missing="skip").partial_fit(X[:40], y[:40])
    second = screener(missing="skip").partial_fit(X[40:].assign(town=None).to_dict("records"), y[40:])
    before = first.scores_
    with pytest.raises(MergeError, match=r"has no value at all .* leave that column out, or feed one selector"):
        first.merge(second)
    assert first.scores_.tolist() == before.tolist()
