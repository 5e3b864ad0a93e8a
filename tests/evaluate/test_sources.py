"""Whatever a user has will do as a stream, for every function that reads one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from streamsift.comparison.compare import compare
from streamsift.core.exceptions import InputError, ParameterError
from streamsift.evaluate.folds import fold_selections
from streamsift.evaluate.prequential import prequential
from streamsift.rows.screener import Screener
from streamsift.runs.rows import follow_rows
from streamsift.streams import open_stream
from streamsift.streams.open import as_stream

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 5))
TOWN = np.where(RNG.random(400) < 0.5, "Oslo", "Rome")
Y = np.where(X[:, 3] > 0, "yes", "no")
NAMES = [f"c{k}" for k in range(5)]
FRAME = pd.DataFrame(X, columns=NAMES).assign(town=TOWN, label=Y)


def batches() -> Iterator[tuple[Any, Any]]:
    for first in range(0, 400, 30):
        yield FRAME.drop(columns="label")[first : first + 30], Y[first : first + 30]


def pairs_of_river() -> Iterator[tuple[dict[str, Any], str]]:
    for row in FRAME.to_dict("records"):
        yield {name: row[name] for name in row if name != "label"}, row["label"]


SOURCES: dict[str, Callable[[], tuple[Any, str | None]]] = {
    "generator": lambda: (batches(), None),
    "pair": lambda: ((FRAME.drop(columns="label"), Y), None),
    "pandas": lambda: (FRAME, "label"),
    "polars": lambda: (pl.from_pandas(FRAME), "label"),
    "stream": lambda: (open_stream(FRAME, target="label"), None),
    "river": lambda: (pairs_of_river(), None),
    "list of dicts": lambda: (FRAME.to_dict("records"), "label"),
    "generator of dicts": lambda: (iter(FRAME.to_dict("records")), "label"),
}


def selector() -> Screener:
    return Screener("t_score", n_features_to_select=2)


@pytest.fixture(scope="module")
def wanted() -> dict[str, Any]:
    return prequential(open_stream(FRAME, target="label"), selector(), "naive_bayes").summary()


@pytest.mark.parametrize("source", [*SOURCES, "file"])
def test_prequential_takes_what_a_user_has(source: str, wanted: dict[str, Any], tmp_path: Path) -> None:
    if source == "file":
        FRAME.to_csv(tmp_path / "t.csv", index=False)
        data, target = tmp_path / "t.csv", "label"
    else:
        data, target = SOURCES[source]()
    found = prequential(data, selector(), "naive_bayes", target=target).summary()
    assert found["accuracy"] == wanted["accuracy"] > 0.9
    assert found["rows"] == 400


@pytest.mark.parametrize("source", SOURCES)
def test_follow_and_folds_take_it_too(source: str) -> None:
    data, target = SOURCES[source]()
    *_, last = follow_rows(data, selector(), 100, target=target)
    assert last.snapshot is not None
    assert last.snapshot.selection.names[0] == "c3"
    data, target = SOURCES[source]()
    (look,) = fold_selections(data, selector(), "split", n_folds=2, target=target)
    assert look.selected[:, 3].all()


@pytest.mark.parametrize("source", ["generator", "pandas", "stream"])
def test_compare_takes_it_too(source: str) -> None:
    data, target = SOURCES[source]()
    found = compare(data, target, methods=["screen:t_score", "all"], baselines=(), repeats=1, batch_size=100)
    assert {row["name"] for row in found.table()} == {"screen:t_score + naive_bayes", "all + naive_bayes"}


def test_numbers_without_names() -> None:
    found = prequential((X, Y), selector(), "naive_bayes").summary()
    assert found["accuracy"] > 0.9
    assert found["rows"] == 400


def test_dicts_may_bring_new_keys() -> None:
    rows = [({"a": 1.0}, 0), ({"a": 2.0, "b": "x"}, 1), ({"b": "y", "a": 0.0}, 0), ({"a": 1.0}, 1)]
    stream = as_stream(rows)
    parts = list(stream.batches(2))
    np.testing.assert_array_equal(parts[0].X, [[1.0, np.nan], [2.0, 0.0]])
    np.testing.assert_array_equal(parts[1].X, [[0.0, 1.0], [1.0, np.nan]])
    assert stream.feature_names == ("a", "b")
    assert stream.categories == {"b": ("x", "y")}


@pytest.mark.parametrize(
    ("items", "target", "words"),
    [
        ([{"a": 1}, {"a": 2}], None, "Item 0 of the stream is a dict without a label, for no target is named"),
        (iter([{"a": 1}]), "y", "Item 0 of the stream is a dict without a label, for it has no key 'y'"),
        ([({"a": 1}, 0), ({"a": "x"}, 1)], None, "Item 0 of the stream: Row 1, column 'a' of X is 'x'"),
    ],
)
def test_dicts_are_refused_in_words(items: Any, target: str | None, words: str) -> None:
    with pytest.raises(InputError, match=words):
        list(as_stream(items, target).batches(5))


def test_what_is_no_stream_is_refused() -> None:
    with pytest.raises(ParameterError, match="not a int"):
        prequential(5, selector(), "naive_bayes")
