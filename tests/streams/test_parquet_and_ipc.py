"""Parquet and the Arrow formats: every column type, lists as many features, and the same values as pandas reads."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from tests.streams.drain import drain

from streamsift.core.exceptions import ParameterError, ReaderError, UnknownNameError
from streamsift.streams import open_stream
from streamsift.streams.ipc import IpcStream
from streamsift.streams.parquet import ParquetStream


def write_file(table: Any, path: Path) -> None:
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=3)


def write_stream(table: Any, path: Path) -> None:
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=3)


def write_feather(table: Any, path: Path) -> None:
    feather.write_feather(table, str(path), compression="zstd")


def write_parquet(table: Any, path: Path) -> None:
    pq.write_table(table, path, row_group_size=4)


WRITERS = {
    "t.parquet": write_parquet,
    "t.arrow": write_file,
    "t.ipc": write_stream,
    "t.feather": write_feather,
}

Write = Callable[[Any], Path]


@pytest.fixture(params=WRITERS)
def write(request: pytest.FixtureRequest, tmp_path: Path) -> Write:
    def to_file(table: Any) -> Path:
        path = tmp_path / request.param
        WRITERS[request.param](table, path)
        return path

    return to_file


def test_every_type_of_column(write: Write) -> None:
    day = datetime.date(1970, 1, 2)
    table = pa.table(
        {
            "int8": pa.array([1, None, -3], pa.int8()),
            "uint64": pa.array([2**63, 0, None], pa.uint64()),
            "float32": pa.array([0.5, None, 1.5], pa.float32()),
            "float16": pa.array([np.float16(0.5), None, np.float16(1.5)], pa.float16()),
            "decimal": pa.array([Decimal("1.25"), None, Decimal("-2.50")], pa.decimal128(6, 2)),
            "nothing": pa.nulls(3),
            "bool": [True, None, False],
            "text": ["b", "a", None],
            "dictionary": pa.DictionaryArray.from_arrays(pa.array([1, 1, 0]), pa.array(["u", "v", "unused"])),
            "date": pa.array([day, None, day], pa.date32()),
            "date64": pa.array([day, None, day], pa.date64()),
            "moment": pa.array([1_500, None, -1], pa.timestamp("ms")),
            "zoned": pa.array([1, None, 2], pa.timestamp("s", "Europe/Oslo")),
            "clock": pa.array([1_000_000, 0, None], pa.time64("us")),
            "length": pa.array([2_000_000_000, 0, None], pa.duration("ns")),
            "label": ["x", "y", "x"],
        }
    )
    stream = open_stream(write(table), target="label")
    X, y = drain(stream, 2)
    nan = np.nan
    expected = [
        [1, 2.0**63, 0.5, 0.5, 1.25, nan, 0, 0, 0, 86_400, 86_400, 1.5, 1, 1, 2],
        [nan, 0, nan, nan, nan, nan, nan, 1, 0, nan, nan, nan, nan, 0, 0],
        [-3, nan, 1.5, 1.5, -2.5, nan, 1, nan, 1, 86_400, 86_400, -0.001, 2, nan, nan],
    ]
    np.testing.assert_array_equal(X, expected)
    assert y == ["x", "y", "x"]
    assert stream.categories == {"bool": ("true", "false"), "text": ("b", "a"), "dictionary": ("v", "u")}
    mask = next(stream.batches(1)).categorical
    assert mask is not None
    assert [name for name, is_category in zip(stream.feature_names or (), mask, strict=True) if is_category] == [
        "bool",
        "text",
        "dictionary",
    ]


def test_values_agree_with_pandas_for_every_batch_size(write: Write, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.standard_normal((50, 4)), columns=list("abcd"))
    frame["c"] = rng.integers(0, 1000, 50)
    frame["town"] = rng.choice(["Oslo", "Rome", "Lima"], 50)
    frame["label"] = rng.integers(0, 2, 50)
    path = write(pa.Table.from_pandas(frame, preserve_index=False))
    codes, towns = pd.factorize(frame["town"])
    for size in (1, 3, 7, 50, 1000):
        stream = open_stream(path, target="label")
        X, y = drain(stream, size)
        np.testing.assert_array_equal(X[:, :4], frame[list("abcd")].to_numpy())
        np.testing.assert_array_equal(X[:, 4], codes)
        assert stream.categories == {"town": tuple(towns)}
        assert y == frame["label"].tolist()


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (pa.array([1, 2, 1], pa.int8()), [1, 2, 1]),
        (pa.array([0.5, 2, 1]), [0.5, 2.0, 1.0]),
        (pa.array([True, False, True]), [True, False, True]),
        (pa.array(["a", "b", "a"], pa.large_string()), ["a", "b", "a"]),
        (pa.array(["a", "b", "a"]).dictionary_encode(), ["a", "b", "a"]),
        (pa.array([Decimal("1.5"), Decimal("2.5"), Decimal("1.5")]), [1.5, 2.5, 1.5]),
        (pa.array([datetime.date(2020, 1, 1)] * 3), ["2020-01-01"] * 3),
    ],
    ids=["int", "float", "bool", "text", "dictionary", "decimal", "date"],
)
def test_every_type_of_label(write: Write, labels: Any, expected: list[Any]) -> None:
    _, y = drain(open_stream(write(pa.table({"x": [1.0, 2.0, 3.0], "t": labels})), target="t"), 2)
    assert y == expected
    assert {type(label) for label in y} == {type(label) for label in expected}


def test_small_types_make_a_float32_matrix(write: Write) -> None:
    small = pa.table({"a": pa.array([1, None], pa.int16()), "b": pa.array([0.5, 1], pa.float32()), "t": [0, 1]})
    assert drain(open_stream(write(small), target="t"))[0].dtype == np.float32
    large = small.append_column("c", pa.array([2**24 + 1, 0], pa.int32()))
    X, _ = drain(open_stream(write(large), target="t"))
    assert X.dtype == np.float64
    assert X[0, 2] == 2**24 + 1


def test_lists_are_many_features(write: Write) -> None:
    table = pa.table(
        {
            "first": pa.array([1.0, 2.0, 3.0, 4.0]),
            "fixed": pa.array([[1, 2], None, [5, None], [7, 8]], pa.list_(pa.float32(), 2)),
            "loose": pa.array([[1, 2, 3], [4, 5, 6], None, [7, 8, 9]], pa.list_(pa.int64())),
            "label": ["a", "b", "a", "b"],
        }
    )
    try:
        path = write(table)
    except pa.ArrowNotImplementedError:
        pytest.skip("skipped: no pyarrow that writes lists of fixed length with nulls to Parquet")
    stream = open_stream(path, target="label")
    assert stream.feature_names == ("first", "fixed[0]", "fixed[1]", "loose[0]", "loose[1]", "loose[2]")
    nan = np.nan
    expected = [[1, 1, 2, 1, 2, 3], [2, nan, nan, 4, 5, 6], [3, 5, nan, nan, nan, nan], [4, 7, 8, 7, 8, 9]]
    for size in (1, 3, 10):
        np.testing.assert_array_equal(drain(stream, size)[0], expected)


def test_one_list_column_is_not_copied(tmp_path: Path) -> None:
    values = pa.array(np.arange(600, dtype=np.float32))
    table = pa.table({"x": pa.FixedSizeListArray.from_arrays(values, 6), "label": np.arange(100) % 2})
    path = tmp_path / "t.arrow"
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    batches = list(open_stream(path, target="label").batches(40))
    assert all(batch.X.base is not None and not batch.X.flags.owndata for batch in batches[:2])
    np.testing.assert_array_equal(np.concatenate([batch.X for batch in batches]), np.arange(600).reshape(100, 6))


def test_lists_of_different_lengths_are_refused(write: Write) -> None:
    path = write(pa.table({"x": [[1.0, 2.0]] * 5 + [[1.0]], "label": [0, 1] * 3}))
    with pytest.raises(ReaderError, match=r"^Row 5 of .*, column 'x': the list has 1 numbers where the first row"):
        drain(open_stream(path, target="label"))


@pytest.mark.parametrize("first", [None, []])
def test_a_first_row_without_a_list_is_refused(write: Write, first: Any) -> None:
    path = write(pa.table({"x": pa.array([first, [1.0]], pa.list_(pa.float64())), "label": [0, 1]}))
    with pytest.raises(ReaderError, match=r"Column 'x' of .* has no list in its first row"):
        open_stream(path, target="label")


def test_lists_are_no_categories(write: Write) -> None:
    path = write(pa.table({"x": [[1.0], [2.0]], "label": [0, 1]}))
    with pytest.raises(ReaderError, match=r"Column 'x' of .* is of type list<.*, which is no feature"):
        open_stream(path, target="label", categorical=["x"])


def test_columns_can_be_read_as_categories_or_left_out(write: Write) -> None:
    table = pa.table({"a": [1, 1], "a.b": [2, 2], "zip": [9, 7], "s": [{"k": 1}, {"k": 2}], "label": [0, 1]})
    path = write(table)
    with pytest.raises(ReaderError, match=r"Column 's' of .* is of type struct<k: int64>, .*ignore=\['s'\]"):
        open_stream(path, target="label")
    stream = open_stream(path, target="label", categorical=["zip"], ignore=["s", "a.b"])
    X, _ = drain(stream)
    assert stream.feature_names == ("a", "zip")
    np.testing.assert_array_equal(X, [[1, 0], [1, 1]])
    assert stream.categories == {"zip": ("9", "7")}


def test_progress_and_number_of_rows(write: Write) -> None:
    path = write(pa.table({"x": np.arange(12.0), "label": [0, 1] * 6}))
    stream = open_stream(path, target="label")
    assert stream.n_rows == (12 if path.suffix == ".parquet" else None)
    seen = []
    for _ in stream.batches(3):
        seen.append(stream.progress())
    assert seen == sorted(seen)
    assert stream.progress() == 1.0
    if path.suffix in (".parquet", ".arrow"):
        assert seen == [0.25, 0.5, 0.75, 1.0]


def test_wide_rows_are_decoded_a_few_at_a_time(tmp_path: Path) -> None:
    table = pa.table({**{f"x{j}": np.arange(30.0) + j for j in range(5)}, "label": np.arange(30) % 3})
    write_parquet(table, tmp_path / "w.parquet")
    stream = ParquetStream(tmp_path / "w.parquet", "label", most_batch_bytes=8 * 5 * 4)
    assert [block.n_rows for block in stream._blocks(10)] == [4] * 7 + [2]  # four rows of five features
    X, y = drain(stream, 10)
    np.testing.assert_array_equal(X, np.add.outer(np.arange(30.0), np.arange(5)))
    assert y == table["label"].to_pylist()


def test_one_record_batch_of_many_rows_is_decoded_in_parts(tmp_path: Path) -> None:
    table = pa.table({"x": np.arange(30.0), "town": [f"t{k // 4}" for k in range(30)], "label": np.arange(30) % 3})
    with pa.ipc.new_file(tmp_path / "w.arrow", table.schema) as writer:
        writer.write_table(table)
    stream = IpcStream(tmp_path / "w.arrow", "label", most_block_rows=7)
    assert [block.n_rows for block in stream._blocks(10)] == [7] * 4 + [2]
    X, y = drain(stream, 10)
    np.testing.assert_array_equal(X, np.stack([np.arange(30.0), np.arange(30) // 4], axis=1))
    assert y == table["label"].to_pylist()


def test_record_batches_without_rows_are_passed_over(tmp_path: Path) -> None:
    rows = pa.record_batch({"x": [1.0, 2.0], "label": ["a", "b"]})
    with pa.ipc.new_stream(tmp_path / "t.arrow", rows.schema) as writer:
        for part in (rows.slice(0, 0), rows, rows.slice(0, 0), rows):
            writer.write_batch(part)
    assert drain(open_stream(tmp_path / "t.arrow", target="label"), 3)[1] == ["a", "b", "a", "b"]


def test_refusals(write: Write) -> None:
    path = write(pa.table({"x": [1.0, 2.0, 3.0, 4.0, 5.0], "label": ["a", "b", None, "a", "b"]}))
    with pytest.raises(ReaderError, match=r"^Row 2 of .* has no label, its target 'label' is empty"):
        drain(open_stream(path, target="label"), 2)
    with pytest.raises(UnknownNameError, match=r"There is no target column 'labl'. Did you mean 'label'\?"):
        open_stream(path, target="labl")
    with pytest.raises(ParameterError, match="needs the name of its target column"):
        open_stream(path)
    with pytest.raises(UnknownNameError, match="called 'z'"):
        open_stream(path, target="label", ignore=["z"])
    nan_label = write(pa.table({"x": [1.0, 2.0], "label": [0.0, float("nan")]}))
    with pytest.raises(ReaderError, match=r"^Row 1 of .* has no label"):
        drain(open_stream(nan_label, target="label"))
    only_target = write(pa.table({"label": [1, 2]}))
    with pytest.raises(ReaderError, match="has no feature columns besides the target"):
        open_stream(only_target, target="label")


def test_a_file_without_rows(write: Write) -> None:
    path = write(pa.table({"x": pa.array([], pa.float64()), "label": pa.array([], pa.int64())}))
    with pytest.raises(ReaderError, match="has a header but no rows"):
        open_stream(path, target="label")


def test_a_file_of_another_kind(tmp_path: Path) -> None:
    for name in WRITERS:
        path = tmp_path / name
        path.write_bytes(b"this is neither Parquet nor Arrow" * 10)
        with pytest.raises(ReaderError, match="cannot be read, the file may be damaged or of another format"):
            open_stream(path, target="label")
    (tmp_path / "old.feather").write_bytes(b"FEA1" + bytes(100))
    with pytest.raises(ReaderError, match="old Feather 1 format"):
        open_stream(tmp_path / "old.feather", target="label")


def test_a_file_cut_short(tmp_path: Path) -> None:
    table = pa.table({"x": np.random.default_rng(0).standard_normal(5000), "label": np.arange(5000) % 2})
    path = tmp_path / "t.ipc"
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=500)
    path.write_bytes(path.read_bytes()[:50_000])
    with pytest.raises(ReaderError, match="cannot be read, the file may be damaged"):
        drain(open_stream(path, target="label"), 100)
