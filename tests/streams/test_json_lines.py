"""JSON Lines: flat objects as rows, and one sentence with the line for what is none."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from tests.streams.drain import drain

from streamsift.core.exceptions import ReaderError, UnknownNameError
from streamsift.streams import open_stream
from streamsift.streams.files import ByteSource, ReadLimits
from streamsift.streams.json_lines import JsonLinesStream

MIXED = """{"age": 30, "town": "Oslo", "member": true, "joined": "2020-01-01", "label": "yes"}

{"town": "Rome", "age": 41.5, "member": false, "joined": null, "label": "no"}
{"label": "yes", "age": null}
"""


def test_a_mixed_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(MIXED)
    stream = open_stream(path, "label")
    X, y = drain(stream, 2)
    assert stream.feature_names == ("age", "town", "member", "joined")
    nan = np.nan
    np.testing.assert_array_equal(X, [[30, 0, 0, 18262 * 86400.0], [41.5, 1, 1, nan], [nan] * 4])
    assert y == ["yes", "no", "yes"]
    assert stream.categories == {"town": ("Oslo", "Rome"), "member": ("true", "false")}
    (tmp_path / "a.ndjson.gz").write_bytes(gzip.compress(MIXED.encode()))
    again, _ = drain(open_stream(tmp_path / "a.ndjson.gz", "label"))
    np.testing.assert_array_equal(again, X)


def test_columns_can_be_left_out_or_read_as_categories(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": {"n": 1}, "zip": 7, "y": 1}\n{"id": {"n": 2}, "zip": 8, "y": 0}\n')
    stream = open_stream(path, "y", ignore=["id"], categorical=["zip"])
    X, y = drain(stream)
    assert (X.tolist(), y) == ([[0], [1]], [1, 0])
    assert stream.feature_names == ("zip",)
    with pytest.raises(UnknownNameError, match="'z'"):
        open_stream(path, "z", ignore=["id"])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            '{"x": "many", "y": 1}',
            "Line 102 of FILE, key 'x': \"many\" is a text where the lines before it have a number",
        ),
        ('{"x": 1, "y": 1', "Line 102 of FILE is not JSON"),
        ("[1, 2]", "Line 102 of FILE is no JSON object"),
        ('{"x": 1, "z": 2, "y": 1}', "Line 102 of FILE has the key 'z', which no line at the start of the file has"),
        ('{"x": 1}', "Line 102 of FILE has no label"),
    ],
)
@pytest.mark.parametrize("head_bytes", [100, 1 << 20])
def test_what_is_wrong_on_which_line(tmp_path: Path, line: str, words: str, head_bytes: int) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"x": 1, "y": 1}\n' * 50 + "\n" + '{"x": 2.5, "y": 0}\n' * 50 + line + "\n")
    if "'z'" in words and head_bytes > 100:
        assert JsonLinesStream(ByteSource(path), "y").feature_names == ("x", "z")
        return
    limits = ReadLimits(head_bytes=head_bytes, block_bytes=200)
    with pytest.raises(ReaderError) as raised:
        drain(JsonLinesStream(ByteSource(path), "y", limits=limits))
    assert words in str(raised.value).replace(str(path), "FILE")
    assert "\n" not in str(raised.value)


def test_nested_values_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"x": {"a": 1}, "y": 1}\n')
    with pytest.raises(ReaderError, match=r"Column 'x' of .* holds objects or lists .*: flatten them, or leave it out"):
        open_stream(path, "y")
    path.write_text("\n\n")
    with pytest.raises(ReaderError, match="is empty"):
        open_stream(path, "y")
