"""Every method that merges, over any parts in any order, beside one pass; and thousands of keys."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest

from streamsift import Joint, Screener, catalog
from streamsift.core.exceptions import MergeError
from streamsift.core.one_hot import OneHotColumns
from streamsift.engines import select_by_key
from streamsift.engines.local import LocalEngine
from streamsift.engines.work import Job, packed, unpacked
from streamsift.streams.arrays import FrameStream
from tests.engines.tables import frame, one_pass

MERGEABLE = [name for name in catalog.names("rows") if catalog.make(name).stream_tags().mergeable != "no"]


class FramePart:
    """Rows of a frame as a part."""

    def __init__(self, table: pd.DataFrame) -> None:
        self.table = table

    def open(self, target: str | None, reading: dict[str, Any]) -> Any:
        return FrameStream(self.table, target)


def folded(selector: Any, table: pd.DataFrame, n_parts: int, seed: int) -> Any:
    """The merged selector of parts of unequal length, in a random order."""
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.choice(np.arange(1, len(table)), n_parts - 1, replace=False))
    bounds = [0, *cuts.tolist(), len(table)]
    parts = [FramePart(table[first:stop]) for first, stop in pairwise(bounds)]
    rng.shuffle(parts)  # type: ignore[arg-type]
    job = Job.of(selector, "y", {}, 1000)
    return unpacked(LocalEngine(1).fold(job, parts, lambda fraction: None))


def test_what_merges_is_what_the_page_says() -> None:
    assert {name.partition(":")[0] for name in MERGEABLE} == {"screen", "joint"}


@pytest.mark.parametrize("name", MERGEABLE)
@pytest.mark.parametrize("n_parts", [2, 11])
def test_any_parts_in_any_order_are_one_pass(name: str, n_parts: int) -> None:
    table = frame(1, 600)
    if name.startswith("joint:"):
        table = table.drop(columns="shop")
    found = folded(catalog.make(name), table, n_parts, seed=n_parts)
    alone = one_pass(catalog.make(name), table)
    assert found.n_rows_seen_ == alone.n_rows_seen_
    assert sorted(found.classes_) == sorted(alone.classes_)
    # 600 rows have fewer different values than 2 / eps, up to which bins are exact, too.
    np.testing.assert_allclose(found.scores_, alone.scores_, rtol=1e-9, atol=1e-12)
    assert set(found.selected_) == set(alone.selected_)


@pytest.mark.parametrize("criterion", ["mutual_info", "chi2", "gini"])
def test_bounded_methods_stay_within_their_bound(criterion: str) -> None:
    """With eps 0.05 a list of 600 values is shortened: a rank is off by up to 30, and a tuple holds up to 30 rows."""
    table = frame(2, 600).drop(columns="shop")
    found = folded(Screener(criterion, eps=0.05), table, 7, seed=0)
    alone = one_pass(Screener(criterion, eps=1e-3), table)
    counts, exact = (each._state.numbers.bin_counts(5) for each in (found, alone))
    np.testing.assert_allclose(counts.sum(axis=(1, 2)), 600.0)
    moved = np.abs(np.cumsum(counts.sum(axis=2), axis=1) - np.cumsum(exact.sum(axis=2), axis=1))
    assert moved.max() <= 2 * 0.05 * 600


def with_categories(n: int = 300) -> pd.DataFrame:
    """Parts of it meet the categories in different orders, and some of them not at all."""
    rng = np.random.default_rng(8)
    table = frame(1, n)
    return table.assign(town=[f"t{k}" for k in np.minimum(rng.geometric(0.2, n), 12)])


@pytest.mark.parametrize("rule", ["forward", "mrmr", "ols", "lasso", "fsa"])
def test_features_chosen_together_merge_categories_by_their_names(rule: str) -> None:
    table = with_categories()
    make: dict[str, Any] = {"rule": rule, "n_features_to_select": 3}
    alone = one_pass(Joint(**make), table)
    for n_parts in (2, 7):
        found = folded(Joint(**make), table, n_parts, seed=n_parts)
        assert found.n_rows_seen_ == 300
        np.testing.assert_allclose(found.scores_, alone.scores_, rtol=1e-7, atol=1e-10)
        assert set(found.path_.names) == set(alone.path_.names)


def test_merged_categories_go_on_with_missing_ones_and_with_event_time() -> None:
    table = with_categories()
    table.loc[::9, "town"] = None
    table.loc[::7, "n1"] = np.nan
    X, y, times = table.drop(columns="y"), table["y"], np.arange(300.0)
    make: dict[str, Any] = {"missing": "skip", "half_life": "2m", "n_features_to_select": 4}
    whole = Joint(**make).partial_fit(X, y, time=times)
    parts = [Joint(**make).partial_fit(X[k:200:2], y[k:200:2], time=times[k:200:2]) for k in (1, 0)]
    merged = unpacked(packed(parts[0].merge(parts[1]))).partial_fit(X[200:], y[200:], time=times[200:])
    np.testing.assert_allclose(merged.scores_, whole.scores_, rtol=1e-7, atol=1e-10)


def test_categories_that_cannot_be_merged_are_refused_with_two_ways() -> None:
    table = with_categories()
    X, y = table.drop(columns="y"), table["y"]
    for settings, words in (
        ({"max_pool": 8}, r"of more than max_pool=8 columns .* raise max_pool .*, or feed one selector with all rows"),
        ({"interactions": "pairs"}, r"with interactions .* leave interactions or .* out, or feed one selector"),
    ):
        first, second = (Joint(**settings).partial_fit(X[k::2], y[k::2]) for k in (0, 1))
        before = first.scores_
        with pytest.raises(MergeError, match=words):
            first.merge(second)
        assert first.scores_.tolist() == before.tolist()
    columns = OneHotColumns(np.array([0, 0]), np.array([0, 1]), most_columns=2)
    union, places = columns.with_those_of(replace(columns, codes=np.array([1, 0])), {0: np.array([1, 0])})
    assert (union.codes.tolist(), places.tolist()) == ([0, 1], [0, 1])
    with pytest.raises(MergeError, match=r"more than 2 categories, .* leave it out, or feed one selector"):
        columns.with_those_of(columns, {0: np.array([0, 2])})
    unknown = X[1::2].assign(town=None).to_dict("records")
    parts = [Joint(missing="skip").partial_fit(rows, y[k::2]) for k, rows in enumerate((X[::2], unknown))]
    with pytest.raises(MergeError, match=r"has no value at all .* leave that column out, or feed one selector"):
        parts[0].merge(parts[1])


def test_thousands_of_keys(tmp_path: Any) -> None:
    n_keys = 2000
    rng = np.random.default_rng(0)
    keys = np.tile(np.arange(n_keys), 4)
    y = np.repeat([0, 1, 0, 1], n_keys)
    table = pd.DataFrame({"key": [f"k{key}" for key in keys], "a": y + 0.1 * rng.normal(size=len(y)), "b": 0.0, "y": y})
    table["b"] = rng.normal(size=len(y))
    for part in range(2):
        table[2 * n_keys * part :][: 2 * n_keys].to_csv(tmp_path / f"{part}.csv", index=False)
    selector = Screener("t_score", n_features_to_select=1)
    found = select_by_key(tmp_path, selector, "key", "y", jobs=1, batch_size=10_000).to_pandas()
    assert len(found) == n_keys
    assert set(found["key"]) == set(table["key"])
    assert (found["rows"] == 4).all()
    assert (found["feature"] == "a").mean() > 0.9
