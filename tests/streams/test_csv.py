"""CSV files and standard input: the same values as pandas reads, whatever the batch size, compression and quoting."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.streams.drain import drain

from streamsift.streams import files, open_stream
from streamsift.streams.csv import LIMITS, CsvStream
from streamsift.streams.files import ByteSource


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def read(path: Path | None, target: str, *, categorical: Sequence[str] = (), **limits: int) -> CsvStream:
    """The stream of a file (None: standard input) with limits so low that a small file meets them.

    Blocks keep the given size, however many records they would have to hold.
    """
    most = limits.get("block_bytes", LIMITS.most_block_bytes)
    given = replace(LIMITS, **{"most_block_bytes": most, **limits})
    return CsvStream(ByteSource(path), target, categorical=categorical, limits=given)


MIXED = """age,town,member,joined,height,label
30,Oslo,true,2020-01-01,1.80,yes
41,Rome,false,2020-01-02,,no
,Oslo,true,,1.65,yes
25,,,1999-12-31,1.70,no
"""


def test_a_mixed_table_is_coded_and_converted(tmp_path: Path) -> None:
    stream = open_stream(write(tmp_path / "people.csv", MIXED), target="label")
    assert stream.feature_names == ("age", "town", "member", "joined", "height")
    assert stream.target_name == "label"
    assert stream.n_rows is None
    X, y = drain(stream, 3)
    nan, day = np.nan, 86_400.0
    expected = [
        [30, 0, 0, 18262 * day, 1.80],
        [41, 1, 1, 18263 * day, nan],
        [nan, 0, 0, nan, 1.65],
        [25, nan, nan, 10956 * day, 1.70],
    ]
    np.testing.assert_array_equal(X, expected)
    assert y == ["yes", "no", "yes", "no"]
    assert stream.categories == {"town": ("Oslo", "Rome"), "member": ("true", "false")}
    first = next(stream.batches(2))
    assert first.categorical is not None
    assert first.categorical.tolist() == [False, True, True, False, False]


def test_numbers_agree_with_pandas(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        rng.standard_normal((500, 6)) * 10.0 ** rng.integers(-200, 200, (500, 6)), columns=list("abcdef")
    )
    frame.iloc[rng.integers(0, 500, 40), 2] = np.nan
    frame["d"] = rng.integers(-1000, 1000, 500)
    frame["label"] = rng.integers(0, 3, 500)
    path = tmp_path / "numbers.csv"
    frame.to_csv(path, index=False)
    X, y = drain(open_stream(path, target="label"), 64)
    assert X.dtype == np.float64
    np.testing.assert_array_equal(X, frame.drop(columns="label").to_numpy())
    assert y == frame["label"].tolist()


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_the_batch_size_changes_nothing(tmp_path: Path, size: int) -> None:
    path = write(tmp_path / "people.csv", MIXED)
    X, y = drain(read(path, target="label", block_bytes=40), size)  # many blocks, even for this little file
    whole, labels = drain(open_stream(path, target="label"), 1000)
    np.testing.assert_array_equal(X, whole)
    assert y == labels


def test_a_stream_can_be_read_again(tmp_path: Path) -> None:
    stream = open_stream(write(tmp_path / "people.csv", MIXED), target="label")
    assert stream.progress() == 0.0
    next(stream.batches(2))
    first, _ = drain(stream, 2)
    second, _ = drain(stream, 3)
    np.testing.assert_array_equal(first, second)


def test_an_integer_column_may_turn_real_later(tmp_path: Path) -> None:
    n = 200_000  # well beyond the head on which the types are decided
    numbers = [*map(str, range(n)), "0.5", "1e-3"]
    text = "x,label\n" + "".join(f"{number},{k % 2}\n" for k, number in enumerate(numbers))
    assert len(text) > LIMITS.head_bytes
    X, y = drain(open_stream(write(tmp_path / "late.csv", text), target="label"), 50_000)
    np.testing.assert_array_equal(X[:, 0], [*range(n), 0.5, 1e-3])
    assert y == [k % 2 for k in range(n + 2)]


def test_an_integer_target_may_turn_real_later(tmp_path: Path) -> None:
    _, y = drain(read(write(tmp_path / "t.csv", "x,t\n" + "1,3\n" * 20 + "1,2.5\n"), target="t", head_bytes=16), 4)
    assert y == [3] * 20 + [2.5]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["a", "b", "a"], ["a", "b", "a"]),
        (["1", "0", "7"], [1, 0, 7]),
        (["True", "false", "TRUE"], [True, False, True]),
        (["0.5", "1", "2"], [0.5, 1.0, 2.0]),
        (["2020-01-01", "2020-01-02", "2020-01-01"], ["2020-01-01", "2020-01-02", "2020-01-01"]),
        (["9007199254740993", "9007199254740992", "1"], [9007199254740993, 9007199254740992, 1]),
    ],
    ids=["text", "int", "bool", "float", "date", "beyond float64"],
)
def test_the_target_keeps_its_kind(tmp_path: Path, cells: list[str], expected: list[Any]) -> None:
    path = write(tmp_path / "t.csv", "x,t\n" + "".join(f"1,{cell}\n" for cell in cells))
    _, y = drain(open_stream(path, target="t"))
    assert y == expected
    assert {type(label) for label in y} == {type(label) for label in expected}


def test_a_number_with_underscores_is_a_text(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "x,t\n" + "1,3\n" * 20 + "1,1_000\n")
    with pytest.raises(files.ReaderError, match=r"Line 22 of .*, target 't': '1_000' is not a number"):
        drain(read(path, target="t", head_bytes=16))


def test_categories_grow_in_the_order_of_appearance(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    values = [f"v{number}" for number in rng.integers(0, 300, 2000)]
    path = write(tmp_path / "g.csv", "c,label\n" + "".join(f"{value},x\n" for value in values))
    order = list(dict.fromkeys(values))
    for size in (1, 17, 5000):
        stream = read(path, target="label", block_bytes=64)
        X, _ = drain(stream, size)
        assert stream.categories == {"c": tuple(order)}
        assert [order[int(code)] for code in X[:, 0]] == values


def test_dates_times_and_zones_become_seconds(tmp_path: Path) -> None:
    text = (
        "day,moment,zoned,clock,label\n"
        "1970-01-02,1970-01-01 00:01:00,2020-01-01T00:00:00Z,00:01:00,a\n"
        "1969-12-31,2000-01-01T12:00:00.25,2020-01-01T00:00:01Z,23:59:59,b\n"
    )
    X, _ = drain(open_stream(write(tmp_path / "d.csv", text), target="label"))
    zoned = pd.Timestamp("2020-01-01", tz="UTC").timestamp()
    later = pd.Timestamp("2000-01-01T12:00:00.25").timestamp()
    np.testing.assert_array_equal(X, [[86_400, 60, zoned, 60], [-86_400, later, zoned + 1, 86_399]])


def test_a_date_column_may_gain_times_later(tmp_path: Path) -> None:
    text = "day,label\n" + "1970-01-01,a\n" * 10 + "1970-01-01 00:00:01.5,b\n9999-12-31,b\n"
    X, _ = drain(read(write(tmp_path / "d.csv", text), target="label", head_bytes=40), 5)
    assert X[:, 0].tolist() == [0.0] * 10 + [1.5, 253402214400.0]


def test_columns_can_be_read_as_categories_or_left_out(tmp_path: Path) -> None:
    path = write(tmp_path / "z.csv", "id,zip,x,label\na1,007,1.5,1\na2,7,2.5,0\n")
    stream = open_stream(path, target="label", categorical=["zip"], ignore=["id"])
    X, _ = drain(stream)
    assert stream.feature_names == ("zip", "x")
    assert stream.categories == {"zip": ("007", "7")}
    np.testing.assert_array_equal(X, [[0, 1.5], [1, 2.5]])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "x;y;label\n1,5;2;a\n3;4;b\n".replace("1,5", "1.5")),
        ("a.tsv", "x\ty\tlabel\n1.5\t2\ta\n3\t4\tb\n"),
        ("a.txt", "x|y|label\n1.5|2|a\n3|4|b\n"),
        ("a.TXT", 'x,"y",label\r\n1.5,2,a\r\n\r\n3,4,b'),
        ("a.csv", "\ufeff\n\nx,y,label\n1.5,2,a\n\n3,4,b\n"),
    ],
    ids=["semicolon", "tab", "bar", "windows", "byte order mark"],
)
def test_delimiters_and_line_ends(tmp_path: Path, name: str, text: str) -> None:
    stream = open_stream(write(tmp_path / name, text), target="label")
    X, y = drain(stream)
    assert stream.feature_names == ("x", "y")
    np.testing.assert_array_equal(X, [[1.5, 2], [3, 4]])
    assert y == ["a", "b"]


def test_the_separator_can_be_given(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "x:a,b:label\n1:2:u\n3:4:v\n")
    stream = open_stream(path, target="label", sep=":")
    assert stream.feature_names == ("x", "a,b")
    assert drain(stream)[0].tolist() == [[1, 2], [3, 4]]


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as file:
        file.write(data)
    return bytes(sink.getvalue())


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".zst", zstd)])
def test_compressed_files(tmp_path: Path, suffix: str, compress: Any) -> None:
    data = MIXED.encode()
    path = tmp_path / f"people.csv{suffix}"
    path.write_bytes(compress(data))
    plain, labels = drain(open_stream(write(tmp_path / "people.csv", MIXED), target="label"))
    X, y = drain(open_stream(path, target="label"))
    np.testing.assert_array_equal(X, plain)
    assert y == labels


def test_gzip_files_of_several_members(tmp_path: Path) -> None:
    path = tmp_path / "two.csv.gz"
    path.write_bytes(gzip.compress(b"x,label\n1,a\n") + gzip.compress(b"2,b\n"))
    X, y = drain(open_stream(path, target="label"))
    assert (X.tolist(), y) == ([[1.0], [2.0]], ["a", "b"])


def standard_input(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    standard_input(monkeypatch, MIXED.encode())
    stream = read(None, "label", head_bytes=60, block_bytes=50)
    assert stream.feature_names == ("age", "town", "member", "joined", "height")
    X, y = drain(stream, 3)
    assert y == ["yes", "no", "yes", "no"]
    assert X[:2, 0].tolist() == [30, 41]
    assert stream.progress() is None
    with pytest.raises(files.ReaderError, match="standard input can be read only once"):
        next(stream.batches(3))


def test_many_empty_lines_are_no_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "e.csv", "x,label\n1,a\n" + "\n" * 500 + "2,b\n" + "\r\n" * 500)
    X, y = drain(read(path, target="label", block_bytes=100))
    assert (X.tolist(), y) == ([[1], [2]], ["a", "b"])


def test_empty_cells_alone_are_a_row(tmp_path: Path) -> None:
    X, _ = drain(read(write(tmp_path / "e.tsv", "label\tx\ty\na\t1\t2\nb\t\t\n"), target="label", block_bytes=1), 1)
    np.testing.assert_array_equal(X, [[1, 2], [np.nan, np.nan]])


def test_progress_is_the_share_of_the_file(tmp_path: Path) -> None:
    stream = read(write(tmp_path / "p.csv", "x,label\n" + "1,a\n" * 1000), target="label", block_bytes=400)
    seen = []
    for _ in stream.batches(50):
        seen.append(stream.progress())
    assert seen == sorted(seen)
    assert 0 < seen[0] < 0.3
    assert seen[-1] == 1.0


@pytest.mark.parametrize("block_bytes", [8, 16, 64, 4096])
def test_quoted_line_breaks_and_stray_quotes(tmp_path: Path, block_bytes: int) -> None:
    texts = ["two\nlines", 'say ""hi""\nthere', "", "plain", 'a,b""', "\n\n\n", '""']
    quoted = "".join(f'"{text}",{k}\n' for k, text in enumerate(texts)) + '5" pipe,7\n6" and 7" pipe,8\nend,9\n'
    path = write(tmp_path / "q.csv", '"a\nname",label\n' + quoted)
    stream = read(path, target="label", block_bytes=block_bytes)
    X, y = drain(stream, 2)
    assert stream.feature_names == ("a\nname",)
    assert y == list(range(10))
    expected = [text.replace('""', '"') for text in texts] + ['5" pipe', '6" and 7" pipe', "end"]
    values = stream.categories["a\nname"]
    assert [None if code != code else values[int(code)] for code in X[:, 0]] == [text or None for text in expected]


cell = st.text(st.sampled_from('ab,"\n ;é'), max_size=6)


@given(
    rows=st.lists(st.tuples(cell, cell, st.floats(allow_nan=False)), min_size=1, max_size=30), block=st.integers(1, 80)
)
def test_whatever_the_csv_module_writes_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, float]], block: int
) -> None:
    path = tmp_path_factory.mktemp("written") / "w.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["first", "second", "x", "label"])
        writer.writerows([first, second, repr(x), "yes"] for first, second, x in rows)
    stream = read(path, target="label", categorical=["first", "second"], block_bytes=block)
    X, y = drain(stream, 4)
    for place, name in enumerate(("first", "second")):
        values = stream.categories[name]
        found = ["" if code != code else values[int(code)] for code in X[:, place]]
        assert found == [row[place] for row in rows]
    np.testing.assert_array_equal(X[:, 2], [x for _, _, x in rows])
    assert y == ["yes"] * len(rows)


def test_a_row_may_be_longer_than_a_block(tmp_path: Path) -> None:
    n = 500
    names = ",".join(f"x{j}" for j in range(n))
    row = ",".join(str(j) for j in range(n))
    stream = read(
        write(tmp_path / "wide.csv", f"{names},label\n{row},a\n{row},b\n"),
        target="label",
        head_bytes=100,
        block_bytes=100,
    )
    X, y = drain(stream)
    np.testing.assert_array_equal(X, [np.arange(n)] * 2)
    assert y == ["a", "b"]
