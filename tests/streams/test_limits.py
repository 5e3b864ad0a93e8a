"""Limits on lines, values, names, columns and indices: each is met by a file, and raised by a dict or ReadLimits."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from streamsift.core.exceptions import ParameterError, ReaderError, UnknownNameError
from streamsift.streams import ReadLimits, open_stream
from streamsift.streams.arff_header import split_values
from streamsift.streams.column_sources import open_columns
from streamsift.streams.files import LIMIT_OPTIONS, records

LONG_NAME = "n" * 60
WIDE = {f"c{k}": [0.5, 1.5] for k in range(30)} | {"y": [0, 1]}


def write(folder, name, columns):
    """The same table in the format of the name."""
    path = folder / name
    names, rows = list(columns), list(zip(*columns.values(), strict=True))
    if name.endswith(".csv"):
        path.write_text("\n".join(",".join(map(str, row)) for row in [names, *rows]) + "\n")
    elif name.endswith(".jsonl"):
        path.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows))
    elif name.endswith(".arff"):
        head = "".join(f"@attribute {column} numeric\n" for column in names)
        path.write_text(f"@relation r\n{head}@data\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    elif name.endswith(".parquet"):
        pq.write_table(pa.table(columns), path)
    else:
        feather.write_feather(pa.table(columns), str(path))
    return path


def read(path, target="y", **options):
    return sum(batch.n_rows for batch in open_stream(path, target, **options).batches(100))


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.arff", "a.parquet", "a.feather"])
@pytest.mark.parametrize(
    ("columns", "limit", "value", "option"),
    [
        ({LONG_NAME: [0.5, 1.5], "y": [0, 1]}, "longest_name", 50, "--max-name"),
        (WIDE, "most_columns", 10, "--max-columns"),
    ],
    ids=["name", "columns"],
)
def test_names_and_columns_in_every_format_of_tables(tmp_path, name, columns, limit, value, option):
    path = write(tmp_path, name, columns)
    assert read(path) == 2
    for limits in ({limit: value}, ReadLimits(**{limit: value})):
        with pytest.raises(ReaderError, match=rf"{value} .*allowed.*{option} \(in Python limits=\{{'{limit}'"):
            read(path, limits=limits)
    with pytest.raises(ReaderError, match=option):
        open_columns(path, "y", limits={limit: value})
    assert read(path, limits={limit: 1000}) == 2
    assert len(open_columns(path, "y", limits={limit: 1000}).names) == len(columns) - 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "x,y\n1,0\n{},1\n2,0\n"),
        ("a.jsonl", '{{"x": 1, "y": 0}}\n{{"x": {}, "y": 1}}\n'),
        ("a.libsvm", "0 1:1\n1 1:{}\n"),
        ("a.arff", "@attribute x numeric\n@attribute y numeric\n@data\n1,0\n{},1\n"),
    ],
)
def test_a_line_longer_than_the_limit_is_named(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text.format("1." + "0" * 300))
    assert read(path) >= 2
    line = text.partition("{}")[0].replace("{{", "").count("\n") + 1
    with pytest.raises(ReaderError, match=rf"Line {line} of .* longer than 200 bytes.*--max-line"):
        read(path, limits={"longest_record": 200})
    assert read(path, limits={"longest_record": 400}) >= 2


def test_the_header_of_a_csv_file_is_a_line_too(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f"{LONG_NAME},y\n1,0\n2,1\n")
    with pytest.raises(ReaderError, match=r"Line 1 .* longer than 30 bytes"):
        read(path, limits={"longest_record": 30})


def test_the_last_line_may_lack_a_break_and_is_still_too_long():
    with pytest.raises(ReaderError, match="Line 9 of f is longer than 10 bytes"):
        list(records([b"short\n", b"x" * 11], name="f", line=8, longest=10))
    assert [block for _, block in records([b"short\n", b"x" * 10], name="f", line=8, longest=10)] == [
        b"short\n",
        b"x" * 10,
    ]


def test_an_index_beyond_the_limit_in_libsvm_and_npz(tmp_path):
    lines = tmp_path / "a.libsvm"
    lines.write_text("0 1:1\n1 5000:1\n")
    arrays = tmp_path / "a.npz"
    np.savez(arrays, X=np.zeros((2, 5000)), y=[0, 1])
    for path in (lines, arrays):
        with pytest.raises(ReaderError, match=r"more than the 4,999 allowed.*--max-index"):
            read(path, None, limits={"most_index": 4999})
        assert read(path, None, limits={"most_index": 5000}) == 2


def test_a_value_of_an_arff_file(tmp_path):
    path = tmp_path / "a.arff"
    path.write_text("@attribute x string\n@attribute y {a,b}\n@data\n'" + "v" * 99 + "',a\nw,b\n")
    with pytest.raises(ReaderError, match=r"101 characters, more than the 50 allowed .*--max-field"):
        read(path, limits={"longest_field": 50})


def test_a_dict_keeps_the_readers_own_limits_and_refuses_what_is_none(tmp_path):
    path = write(tmp_path, "a.csv", WIDE)
    assert open_stream(path, "y", limits={"longest_name": 99})._limits.block_bytes == 2 << 20
    with pytest.raises(UnknownNameError, match="no limit 'longest_line'"):
        read(path, limits={"longest_line": 3})
    for value in (0, -1, 1.5, True, "9"):
        with pytest.raises(ParameterError, match="whole number from 1 on"):
            read(path, limits={"longest_name": value})


def test_every_limit_with_an_option_exists():
    assert set(LIMIT_OPTIONS) <= set(ReadLimits.__dataclass_fields__)


@pytest.mark.parametrize("text", ["1.5, b ,?", "a,,b", "", ",", " ? ", "a b, c\td ,", "x, \u00a0y", "?, '?'"])
def test_values_without_quotes_are_split_as_those_with(text):
    quoted = split_values(text + ",'q'")  # takes the long way
    assert [*split_values(text), "q"] == quoted
