"""Bytes of files: where records end, whatever stands in quotes, and sources of bytes read in pieces."""

from __future__ import annotations

import csv
import gzip
import io
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamsift.core.exceptions import ReaderError
from streamsift.streams.files import ByteSource, count_lines, last_record_end, records


@pytest.mark.parametrize(
    ("block", "end"),
    [
        ("", 0),
        ("no line break", 0),
        ("1,a\n", 4),
        ("1,a\n2,b", 4),
        ("1,a\n2,b\n", 8),
        ('1,"a"\n2,"b"\n', 12),
        ('1,"a\nb"\n', 8),  # the quotes are balanced at the last line break
        ('1,"a\nb"\n2,"c\nd', 8),  # the second quoted value is open: its record is cut off
        ('1,"a\nb\nc', 0),  # the very first record is open
        ('"a\nb', 0),  # it opens with the first byte
        ('1,a\n"b\nc', 4),  # a quote at the beginning of a line opens
        ('1,a\n2,b\n3,"c\nd\ne\nf', 8),  # many line breaks inside the open value
        ('1,a\n2,"b ""c\nd', 4),  # the last quote before the break is the second of a doubled one
        ('1,"x\ny",2\n3,"c\nd\n', 10),  # the record begins behind a value with a line break
        ('\n"a\nb', 1),  # behind an empty first line
        ('5" pipe\n', 8),  # a mere character opens nothing
        ('1,a\n5" pipe\n6,b', 12),
        ('1,"a\nb"\n5" pipe\n6,b\n', 20),
    ],
)
def test_where_the_last_whole_record_ends(block: str, end: int) -> None:
    assert last_record_end(block.encode(), b",") == end


def test_only_the_given_delimiter_stands_before_an_opening_quote() -> None:
    block = b'1,a\n2;"b\nc'
    assert last_record_end(block, b";") == 4
    assert last_record_end(block, b",") == 9


def test_without_a_delimiter_quotes_mean_nothing() -> None:
    assert last_record_end(b'1,a\n2,"b\nc', b"") == 9
    assert last_record_end(b'1,a\n"b\nc', b"") == 7


CELLS = st.text(st.sampled_from('ab,"\n'), max_size=5)


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=12), st.integers(1, 40))
def test_blocks_hold_whole_records_and_know_their_lines(rows: list[tuple[str, str]], size: int) -> None:
    written = []
    for row in rows:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow(row)
        written.append(text.getvalue().encode())
    data = b"".join(written)
    chunks = [data[start : start + size] for start in range(0, len(data), size)]
    found = list(records(chunks, name="FILE", line=2, delimiter=b","))
    assert b"".join(block for _, block in found) == data
    ends = [0]
    for record in written:
        ends.append(ends[-1] + len(record))
    start = 0
    for line, block in found:
        assert start in ends
        assert line == 2 + data.count(b"\n", 0, start)
        start += len(block)
    assert start == ends[-1]


def test_blocks_are_given_as_soon_as_they_hold_a_record() -> None:
    chunks = [b"1,a\n2", b",b\n", b"3", b",c", b"\n4,d"]
    assert list(records(chunks, name="FILE", line=7)) == [(7, b"1,a\n"), (8, b"2,b\n"), (9, b"3,c\n"), (10, b"4,d")]


def test_an_open_quote_is_waited_for() -> None:
    chunks = [b'1,a\n2,"b\n', b"c\n", b'd",e\n3,f\n']
    assert list(records(chunks, name="FILE", line=1, delimiter=b",")) == [(1, b"1,a\n"), (2, b'2,"b\nc\nd",e\n3,f\n')]


def test_a_record_may_be_as_long_as_the_limit_and_no_longer() -> None:
    assert list(records([b"x" * 6, b"x" * 4, b"\n"], name="FILE", line=1, longest=10)) == [(1, b"x" * 10 + b"\n")]
    with pytest.raises(
        ReaderError, match="Line 3 of FILE is longer than 2,097,152 bytes: look for a quote that is never closed"
    ):
        list(records([b"a\nb\n", b"x" * (2 << 20), b"y"], name="FILE", line=1, longest=2 << 20))


def test_lines_are_counted() -> None:
    assert [count_lines(block) for block in (b"", b"\n", b"a\nb", b"a\n\nb\n")] == [0, 1, 1, 3]


class Dripping(io.BytesIO):
    """A source that gives three bytes at most, as a pipe may."""

    def read(self, size: int | None = -1) -> bytes:
        assert size is not None
        assert size > 0
        return super().read(min(size, 3))


DATA = bytes(range(20))


@pytest.mark.parametrize("head", [2, 5, 9, 100])
def test_what_the_head_took_of_standard_input_comes_first(head: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(Dripping(DATA)))
    source = ByteSource(None)
    assert source.head(head) == DATA[:head]
    assert source.head(head + 1) == DATA[: head + 1]  # the next look goes on where the first ended
    chunks = list(source.chunks(8, skip=2))
    assert b"".join(chunks) == DATA[2:]
    assert all(len(chunk) == 8 for chunk in chunks[1:-1])
    assert source.name == "standard input"
    assert source.progress() is None
    with pytest.raises(ReaderError, match="standard input can be read only once"):
        next(source.chunks(8))


@pytest.mark.parametrize("suffix", ["", ".gz", ".GZ"])
def test_a_file_is_given_in_pieces_and_says_how_far_it_is(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"data{suffix}"
    path.write_bytes(gzip.compress(DATA) if suffix else DATA)
    source = ByteSource(path)
    assert source.head(7) == DATA[:7]
    assert source.progress() == 0.0
    chunks, seen = [], []
    for chunk in source.chunks(6, skip=3):
        chunks.append(chunk)
        seen.append(source.progress())
    assert chunks == [DATA[3:9], DATA[9:15], DATA[15:]]
    assert seen == ([9 / 20, 15 / 20, 1.0] if not suffix else sorted(seen))
    assert all(0 < fraction <= 1 for fraction in seen)
    assert source.progress() == 1.0
    assert list(source.chunks(6, skip=3)) == chunks  # a file can be read again
    assert all(first <= second for first, second in pairwise(seen))
