"""Every method that merges, over any parts in any order, beside one pass; and thousands of keys."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest

from streamsift import Joint, Screener, catalog
from streamsift.core.exceptions import ReaderError, StreamsiftError
from streamsift.engines import select_by_key
from streamsift.engines.local import LocalEngine
from streamsift.engines.work import Job, unpacked
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


def test_features_chosen_together_refuse_categories_in_words() -> None:
    with pytest.raises((StreamsiftError, ReaderError), match="categories have columns of their own: leave them out"):
        folded(Joint(), frame(1, 200), 2, seed=0)


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
