"""Files that lie: each ends in one sentence, and takes little time and memory before."""

from __future__ import annotations

import datetime
import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.fuzz.forked import run
from tests.fuzz.readers import make
from tests.fuzz.seeds import corpus, good_files

from streamsift import InputError, ReaderError, Screener, StreamsiftWarning, open_stream
from streamsift.streams import ReadLimits, open_columns
from streamsift.streams.files import records

ARFF = b"@relation r\n@attribute a real\n@attribute y {u}\n@data\n"
SMALL = ReadLimits(
    head_bytes=64,
    block_bytes=64,
    longest_record=1 << 12,
    longest_field=50,
    longest_name=20,
    most_columns=30,
    most_index=999,
)


def drain(path: Path, target: str | None = "y", **options: Any) -> int:
    return sum(batch.n_rows for batch in open_stream(path, target, **options).batches(7))


@pytest.mark.parametrize("suffix", list(good_files()))
def test_the_corpus_is_good(tmp_path: Path, suffix: str) -> None:
    assert len(corpus(hostile=False)[suffix]) == len(good_files()[suffix])
    for data in corpus(hostile=False)[suffix]:
        path = tmp_path / f"a{suffix}"
        path.write_bytes(data)
        assert drain(path, None if suffix in (".npz", ".libsvm") else "y") >= 10


def test_damaged_files() -> None:
    """A short run of `python -m tests.fuzz readers`."""
    tally = run(make, seed=20, n_inputs=600)
    assert tally.broken == []
    assert tally.n_inputs == 600


@pytest.mark.parametrize("kind", ["file", "stream"])
@pytest.mark.parametrize("size", [0.5, 0.0])
def test_an_arrow_file_that_shrinks_while_it_is_read(tmp_path: Path, kind: str, size: float) -> None:
    path, n = tmp_path / "a.arrow", 40_000
    table = pa.table({"a": np.arange(n) / 3, "b": np.arange(n) / 7, "y": np.arange(n) % 2})
    with getattr(pa.ipc, f"new_{kind}")(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=5_000)
    batches = open_stream(path, "y").batches(1000)
    next(batches)
    os.truncate(path, int(path.stat().st_size * size))
    with pytest.raises(ReaderError, match=r"cannot be read|became shorter"):
        list(batches)


def test_a_text_file_that_shrinks_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,y\n" + "1,u\n2,v\n" * 1000)
    batches = open_stream(path, "y", limits=ReadLimits(block_bytes=400)).batches(10)
    next(batches)
    os.truncate(path, 4004)
    with pytest.raises(ReaderError, match="became shorter while it was read"):
        list(batches)


@pytest.mark.parametrize("opening", [open_stream, open_columns])
def test_an_arrow_file_with_wrong_offsets(tmp_path: Path, opening: Any) -> None:
    path = tmp_path / "a.arrow"
    table = pa.table({"a": np.arange(60.0), "s": pa.array(["aa", "bb"] * 30), "y": pa.array(["u", "v"] * 30)})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    data = bytearray(path.read_bytes())
    place = data.find((np.arange(61, dtype=np.int32) * 2).tobytes())
    data[place + 4 : place + 8] = (0x7FFFFF00).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(ReaderError, match="cannot be read"):
        list(opening(path, "y") if opening is open_columns else opening(path, "y").batches(9))


LABELS = {
    "list": pa.array([[1], [2]]),
    "struct": pa.array([{"a": 1}, {"a": 2}]),
    "binary": pa.array([b"\xff", b"\xfe"]),
    "null": pa.nulls(2),
    "map": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int64())),
}


@pytest.mark.parametrize("kind", list(LABELS))
def test_labels_of_other_kinds(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": [1.0, 2.0], "y": LABELS[kind]}), path)
    for read in (drain, lambda path: open_columns(path, "y")):
        with pytest.raises(ReaderError, match="target 'y'"):
            read(path)


def test_features_of_other_kinds() -> None:
    rows = 4
    for values in (
        pa.array([datetime.time(1)] * rows, pa.time32("s")),
        pa.array([0] * rows, pa.timestamp("us", "Nowhere/Never")),
        pa.array([0] * rows, pa.timestamp("s", "+02:00")),
    ):
        assert Screener().fit(pa.table({"a": values, "b": np.arange(rows)}), [0, 1] * 2).n_rows_seen_ == rows


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("a.csv", b"a" * 9000, "has no whole line"),
        ("a.csv", b"a,y\n1,2\n" + b"7" * 9000, "Line 3 of .* is longer than"),
        ("a.csv", b'a,y\n1,2\n"' + b"1,2\n" * 4000, "quote that is never closed"),
        ("a.csv", b"a" * 40 + b",y\n1,2\n", "The name of column 0 of .* has 40 characters"),
        ("a.csv", b",".join(b"c%d" % k for k in range(40)) + b",y\n" + b"1," * 40 + b"2\n", "has 41 columns"),
        ("a.libsvm", b"1 1:1\n1 " + b"2:1 " * 4000, "Line 2 of .* is longer than"),
        ("a.libsvm", b"1 1:1\n0 1001:1\n", "Line 2 of .* has feature index 1001, more than the 999 allowed"),
        ("a.libsvm", b"1 1:1\n0 2147483647:1\n", "Line 2 of .* is not of the form"),
        ("a.arff", ARFF + b"1,u\n" + b"1," * 5000, "is longer than"),
        ("a.arff", ARFF.replace(b"real", b"string") + b"'" + b"z" * 90 + b"',u\n", "92 characters"),
        ("a.arff", ARFF.replace(b"real", b"{" + b"a," * 90 + b"}") + b"a,u\n", "more than the 30"),
        ("a.arff", b"@relation r\n" + b"@attribute a real\n" * 40 + b"@data\n1\n", "more than the 30 attributes"),
        ("a.arff", ARFF + b"{" + b"9" * 3000 + b" 1}\n", "Line 5"),
        ("a.arff", b'@relation r\n@attribute a date "yyyy MM MM"\n@attribute y {u}\n@data\n1,u\n', "'MM' twice"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("compressed", [False, True])
def test_limits(tmp_path: Path, name: str, data: bytes, sentence: str, compressed: bool) -> None:
    path = tmp_path / (name + ".gz" if compressed else name)
    path.write_bytes(gzip.compress(data) if compressed else data)
    with pytest.raises(ReaderError, match=sentence) as caught:
        drain(path, None if "libsvm" in name else "y", limits=SMALL)
    assert len(str(caught.value)) < 1200
    assert "\n" not in str(caught.value)


def test_a_wide_file_says_what_it_takes(tmp_path: Path) -> None:
    path = tmp_path / "a.libsvm"
    path.write_text("1 1:1\n0 100000000:1\n")
    with pytest.warns(StreamsiftWarning, match=r"has at least 100,000,000 features: a selector takes 0.8 GB for each"):
        assert drain(path, None) == 2


def test_a_long_record_is_looked_at_a_few_times_only(monkeypatch: pytest.MonkeyPatch) -> None:
    from streamsift.streams import files as module

    seen: list[int] = []
    usual = module.last_record_end

    def counting(block: bytes, delimiter: bytes) -> int:
        seen.append(len(block))
        return usual(block, delimiter)

    monkeypatch.setattr(module, "last_record_end", counting)
    chunks = [b'"' + b"1,2\n" * 25] + [b"1,2\n" * 25] * 5000
    with pytest.raises(ReaderError, match="never closed"):
        list(records(chunks, name="a", line=1, delimiter=b",", longest=400_000))
    assert sum(seen) < 4 * 400_000


def test_raw_data_of_the_api() -> None:
    y = [0, 1, 0]
    for X, sentence in (
        ([[1, 2], [3], [4, 5]], "Row 1 of X has 1 values where row 0 has 2"),
        (np.array([[1], [10**400], [2]], object), "Row 1, column 0 of X is a whole number beyond"),
    ):
        with pytest.raises(InputError, match=sentence):
            Screener().fit(X, y)
    with pytest.raises(InputError, match="y holds lists of different lengths"):
        Screener().fit([[1.0], [2.0]], [[1], [1, 2]])


def test_messages_are_one_line() -> None:
    name = "long\n" * 400
    with pytest.raises(InputError, match="Two columns are called") as caught:
        Screener().fit(pa.table([[1.0, 2.0], [1.0, 2.0]], names=[name, name]), [0, 1])
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250
