"""Checks of categories: a column of text is counted, taken as codes or refused, as the tag `categorical` says."""

from __future__ import annotations

from typing import Any

import numpy as np

from streamsift.checks.samples import Make, expect, pandas_for_checks, refused, same_scores
from streamsift.core.batch import Batch
from streamsift.core.categories import ColumnKinds


def check_text_columns_are_taken_or_refused_in_words(make: Make) -> None:
    table, y = _shops()
    selector = make()
    if selector.stream_tags().categorical == "refuses":
        with refused("a column of text, by a method that says it refuses them,") as message:
            selector.partial_fit(table, y)
        expect("'shop'" in message[0], f"the refusal does not name the column: {message[0]!r}")
        expect(not hasattr(selector, "n_rows_seen_"), "a refused first batch left a trace")
        selector.partial_fit(table.drop(columns="shop"), y)
        expect(len(selector.scores_) == 2, "without the column of text there is not one score per column")
        return
    selector.partial_fit(table.iloc[:40], y[:40]).partial_fit(table.iloc[40:], y[40:])
    expect(selector.scores_.shape == (3,), "a table with text does not get one score per column")
    expect(not np.isnan(selector.scores_).any(), "a table with text gets scores that are NaN")


def check_order_of_categories_does_not_matter(make: Make) -> None:
    if make().stream_tags().categorical != "counts":
        return
    table, y = _shops()
    names = sorted(table["shop"].unique())
    wanted = make().partial_fit(table, y).scores_
    for order in (names, names[::-1], names[2:] + names[:2]):
        codes = table["shop"].map({name: float(code) for code, name in enumerate(order)})
        X = table.assign(shop=codes).to_numpy(np.float64)
        numbered = Batch(X, y, tuple(table.columns), kinds=ColumnKinds({1: tuple(order)}))
        found = make().partial_fit(numbered).scores_
        same_scores(found, wanted, f"categories numbered in the order {order} give other scores")


def _shops() -> tuple[Any, Any]:
    """Two columns of numbers, and one of text on which the class depends."""
    random = np.random.default_rng(0)
    y = random.permutation(np.arange(120) % 2)
    shop = np.where(random.random(120) < 0.8, np.where(y == 1, "north", "east"), random.choice(["south", "west"], 120))
    numbers = random.normal(size=(2, 120)).astype(np.float32).astype(np.float64)
    return pandas_for_checks().DataFrame({"height": numbers[0], "shop": shop, "width": numbers[1]}), y
