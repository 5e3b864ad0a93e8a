"""The door for tables: a column means the same wherever and in whatever form it comes in."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamsift.columns.penalised import Penalised
from streamsift.core.batch import check_batch, check_matrix, seconds
from streamsift.core.exceptions import InputError
from streamsift.core.tables import read_column
from streamsift.rows.screener import Screener
from streamsift.streams import open_columns, open_stream

DAY = 86_400.0
COLUMNS: dict[str, list[Any]] = {
    "number": [1.5, None, 3.0],
    "price": [Decimal("1.25"), Decimal("2.50"), None],
    "member": [True, None, False],
    "town": ["Oslo", "Rome", None],
    "day": [datetime.date(1970, 1, 2), None, datetime.date(1969, 12, 31)],
    "time": [datetime.datetime(1970, 1, 1, 1), datetime.datetime(1970, 1, 2), None],
    "span": [datetime.timedelta(minutes=1), None, datetime.timedelta(days=2)],
    "nothing": [None, None, None],
}
NAN = np.nan
MEANING = np.array(
    [
        [1.5, 1.25, 0, 0, DAY, 3600, 60, NAN],
        [NAN, 2.5, NAN, 1, NAN, DAY, NAN, NAN],
        [3.0, NAN, 1, NAN, -DAY, NAN, 2 * DAY, NAN],
    ]
)
CATEGORIES = {2: ("true", "false"), 3: ("Oslo", "Rome")}


def arrow() -> pa.Table:
    return pa.table({name: pa.array(values) for name, values in COLUMNS.items()})


def dictionaries() -> pa.Table:
    table = arrow()
    return table.set_column(3, "town", table.column("town").dictionary_encode())


def rows() -> list[dict[str, Any]]:
    return [dict(zip(COLUMNS, values, strict=True)) for values in zip(*COLUMNS.values(), strict=True)]


FORMS: dict[str, Callable[[], Any]] = {
    "arrow": arrow,
    "dictionary": dictionaries,
    "record batch": lambda: arrow().to_batches()[0],
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas with arrow types": lambda: arrow().to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "dicts": rows,
    "iterator of dicts": lambda: iter(rows()),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_column_means_the_same_in_every_table(form: str) -> None:
    batch = check_batch(FORMS[form](), ["a", "b", "a"], owner="Method", missing=True)
    np.testing.assert_array_equal(batch.X, MEANING)
    assert batch.features.names == tuple(COLUMNS)
    assert batch.categories.names == CATEGORIES
    assert batch.categories.undecided == {7}
    assert batch.categorical is not None
    assert np.flatnonzero(batch.categorical).tolist() == [2, 3]


@pytest.mark.parametrize("form", ["arrow", "pandas", "polars", "dicts"])
def test_a_stream_gives_columns_the_same_meaning(form: str) -> None:
    batch = next(open_stream((FORMS[form](), ["a", "b", "a"])).batches(3))
    np.testing.assert_array_equal(batch.X, MEANING)
    checked = check_batch(batch, None, owner="Method", missing=True)
    assert checked.categories.names == CATEGORIES


def test_a_file_gives_columns_the_same_meaning(tmp_path: Path) -> None:
    table = arrow().append_column("y", pa.array(["a", "b", "a"]))
    pq.write_table(table, tmp_path / "t.parquet")
    batch = next(open_stream(tmp_path / "t.parquet", target="y").batches(3))
    np.testing.assert_array_equal(batch.X, MEANING)
    (_, block), *_ = open_columns(tmp_path / "t.parquet", target="y")
    np.testing.assert_array_equal(block.X, MEANING)
    assert dict(block.kinds.names) == CATEGORIES


@pytest.mark.parametrize("offered", ["pandas", "polars", "arrow", "numpy", "list"])
def test_a_single_column_means_the_same(offered: str) -> None:
    days = [datetime.date(1970, 1, 2), datetime.date(1970, 1, 5), datetime.date(1970, 1, 3), datetime.date(1970, 1, 9)]
    forms: dict[str, Any] = {
        "pandas": pd.Series(pd.to_datetime(days)),
        "polars": pl.Series(days),
        "arrow": pa.chunked_array([days[:1], days[1:]]),
        "numpy": np.array(days, "M8[D]"),
        "list": days,
    }
    y = [1.0, 4.1, 2.0, 8.0]
    wanted = Penalised("bic").begin(y).offer(np.array([1.0, 4.0, 2.0, 8.0]) * DAY, "day")
    assert Penalised("bic").begin(y).offer(forms[offered], "day") == wanted


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["b", "a", "b"], dtype="category"),
        pd.Series(["b", "a", "b"], dtype=object),
        pl.Series(["b", "a", "b"], dtype=pl.Categorical),
        pl.Series(["b", "a", "b"], dtype=pl.Enum(["a", "b"])),
        pa.array(["b", "a", "b"]).dictionary_encode(),
        np.array(["b", "a", "b"]),
        ["b", "a", "b"],
    ],
    ids=lambda column: type(column).__module__ + str(getattr(column, "dtype", "")),
)
def test_a_single_column_of_categories_has_names(column: Any) -> None:
    values, names = read_column(column, "c")
    assert (values.tolist(), names) == ([0.0, 1.0, 0.0], ("b", "a"))


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pa.array([[1, 2], [3, 4]]), "Column 'c' holds list.* in each row"),
        (np.zeros((2, 3)), "must have one dimension"),
        (["a", 2], "Row 1, column 'c' of X is 2, where row 0 has 'a'"),
    ],
)
def test_what_is_no_column_is_refused_in_words(column: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_column(column, "c")


@pytest.mark.parametrize(("unit", "ticks"), [("ns", 1e9), ("us", 1e6), ("ms", 1e3), ("s", 1), ("h", 1 / 3600)])
def test_dates_of_numpy_are_seconds(unit: str, ticks: float) -> None:
    times = np.array([["1970-01-02", "NaT"]], f"M8[{unit}]")
    np.testing.assert_array_equal(check_matrix(times, owner="Method").values, [[DAY, NAN]])
    np.testing.assert_array_equal(seconds(np.array([round(7 * 3600 * ticks)], f"m8[{unit}]")), [7 * 3600.0])


def test_months_have_no_length() -> None:
    assert seconds(np.array(["1970-02"], "M8[M]")).tolist() == [31 * DAY]
    with pytest.raises(InputError, match="months or years has no length"):
        check_matrix(np.array([[3]], "m8[M]"), owner="Method")


def test_a_structured_array_is_a_table() -> None:
    records = np.array([(1, "Oslo", 2.5), (3, "Rome", 4.5)], [("n", "i4"), ("town", "U9"), ("x", "f8")])
    batch = check_batch(records, [0, 1], owner="Method")
    assert batch.X.tolist() == [[1, 0, 2.5], [3, 1, 4.5]]
    assert batch.features.names == ("n", "town", "x")
    assert batch.categories.names == {1: ("Oslo", "Rome")}


@pytest.mark.parametrize(
    "matrix",
    [
        [[1, "Oslo"], [2, "Rome"], [3, "Oslo"]],
        np.array([[1, "Oslo"], [2, "Rome"], [3, "Oslo"]], object),
        np.array([["1", "Oslo"], ["2", "Rome"], ["3", "Oslo"]]),
        np.array([[b"1", b"Oslo"], [b"2", b"Rome"], [b"3", b"Oslo"]]),
    ],
    ids=["list", "objects", "text", "bytes"],
)
def test_text_in_a_matrix_is_a_category(matrix: Any) -> None:
    batch = check_batch(matrix, [0, 1, 0], owner="Method")
    assert batch.X.tolist() == [[1, 0], [2, 1], [3, 0]]
    assert batch.categories.names == {1: ("Oslo", "Rome")}
    read = next(open_stream((matrix, [0, 1, 0])).batches(3))
    assert read.X.tolist() == batch.X.tolist()


def test_dates_in_a_matrix_of_objects_are_seconds() -> None:
    matrix = np.array([[1, datetime.date(1970, 1, 2)], [2, None]], object)
    np.testing.assert_array_equal(check_matrix(matrix, owner="Method").values, [[1, DAY], [2, NAN]])


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (pd.DataFrame({"n": [1, 2], "c": [1, "two"]}), r"Row 1, column 'c' of X is 'two', where row 0 has 1"),
        ([{"c": "one"}, {"c": 2}], r"Row 1, column 'c' of X is 2, where row 0 has 'one'"),
        ([{"c": 1}, 5], "Row 1 of X is a int, where the rows before it are dicts"),
        (pd.DataFrame({"c": [1j, 2.0]}), r"Column 'c' is neither numbers nor categories \(its type is complex128\)"),
        ({"c": [1, 2]}, "X is a dict: give a list of dicts"),
        (
            pa.table({"c": [{"a": 1}, {"a": 2}]}),
            "Column 'c' of X is of type struct.*, which is no feature: leave it out",
        ),
        (pa.table({"c": [[1, 2], [3]]}), "Row 1 of X, column 'c': the list has 1 numbers where the first row has 2"),
        (np.zeros((2, 2), [("n", "i4")]), "structured array must have one dimension"),
    ],
)
def test_what_is_no_table_is_refused_in_words(table: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        check_batch(table, ["a", "b"], owner="Method")


def test_bools_of_a_file_and_of_a_frame_are_the_same_categories(tmp_path: Path) -> None:
    frame = pd.DataFrame({"flag": [True, False, True], "y": ["a", "b", "a"]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert "True" in (tmp_path / "t.csv").read_text()
    read = next(open_stream(tmp_path / "t.csv", target="y").batches(3))
    assert check_batch(read, None, owner="Method").categories.names == {0: ("true", "false")}
    assert check_batch(frame[["flag"]], frame["y"], owner="Method").categories.names == {0: ("true", "false")}


class TestTransform:
    frame = pd.DataFrame({"town": ["Oslo", "Rome", "Oslo", "Bern"], "x": [1.0, 2.0, 3.0, 4.0], "n": [0.0, 0, 0, 0]})
    y = ("a", "b", "a", "b")

    def selector(self) -> Screener:
        return Screener("fisher", n_features_to_select=2).fit(self.frame, self.y)

    @pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
    def test_text_comes_back_as_it_was_given(self, make: Any) -> None:
        table = make({"town": ["Nice", "Rome"], "x": [5.0, 6.0], "n": [0.0, 1.0]})
        chosen = self.selector().transform(table)
        assert type(chosen) is type(table)
        wanted = make({"town": ["Nice", "Rome"], "x": [5.0, 6.0]})
        assert chosen.equals(wanted)

    def test_with_set_output_text_of_another_table_comes_back(self) -> None:
        table = pa.table({"town": ["Nice", None], "x": [5.0, 6.0], "n": [0.0, 1.0]})
        chosen = self.selector().set_params(missing="skip").set_output(transform="pandas").transform(table)
        assert chosen.where(chosen.notna(), "").to_numpy().tolist() == [["Nice", 5.0], ["", 6.0]]

    def test_with_set_output_a_frame_comes_back_with_its_types(self) -> None:
        chosen = self.selector().set_output(transform="pandas").transform(self.frame)
        pd.testing.assert_frame_equal(chosen, self.frame[["town", "x"]])

    def test_numbers_alone_stay_numbers(self) -> None:
        told_by_x = self.frame.assign(town=["Oslo", "Oslo", "Rome", "Rome"], x=[1.0, 9, 1, 9])
        selector = Screener("fisher", n_features_to_select=1).fit(told_by_x, self.y)
        assert selector.get_feature_names_out().tolist() == ["x"]
        assert selector.transform(self.frame).dtypes.tolist() == [np.float64]

    def test_bare_numbers_pass_through(self) -> None:
        assert self.selector().transform(np.array([[2.0, 5.0, 0.0]])).tolist() == [[2.0, 5.0]]

    def test_a_selector_from_a_csv_file_transforms_the_same_frame(self, tmp_path: Path) -> None:
        self.frame.assign(y=self.y).to_csv(tmp_path / "t.csv", index=False)
        selector = Screener("fisher", n_features_to_select=2)
        for batch in open_stream(tmp_path / "t.csv", target="y").batches(2):
            selector.partial_fit(batch)
        assert selector.scores_.tolist() == pytest.approx(self.selector().scores_.tolist())
        assert selector.transform(self.frame)["town"].tolist() == self.frame["town"].tolist()

    def test_columns_and_objects_come_back_too(self) -> None:
        rng = np.random.default_rng(0)
        town = rng.choice(["Oslo", "Rome", "Bern"], 90)
        y = 3.0 * (town == "Rome") + rng.normal(size=90)
        table = np.column_stack([rng.normal(size=90).astype(object), town.astype(object)])
        selector = Penalised("bic").fit(table, y)
        assert selector.selected_ == ["x1"]
        assert selector.transform(table)[:, 0].tolist() == town.tolist()
        records = [{"n": n, "town": t} for n, t in table]
        assert Penalised("bic").fit(records, y).transform(records)[:, 0].tolist() == town.tolist()
