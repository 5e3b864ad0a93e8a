"""ARFF files: dense and sparse rows, every kind of attribute, every way of quoting, and the lines of what is wrong."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import arff as scipy_arff
from tests.streams.drain import drain

from streamsift.core.exceptions import ReaderError, UnknownNameError
from streamsift.streams.arff import ArffStream
from streamsift.streams.arff_header import split_values
from streamsift.streams.files import ByteSource, ReadLimits

SMALL = ReadLimits(head_bytes=50, block_bytes=100)  # so that small files have many blocks


def read(
    path: Path, target: str | None = None, *, ignore: Sequence[str] = (), limits: ReadLimits = SMALL
) -> ArffStream:
    return ArffStream(ByteSource(path), target, ignore=ignore, limits=limits)


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


DENSE = """% weather, made up
@RELATION 'the weather'

@ATTRIBUTE 'dry bulb' REAL
@attribute outlook {sunny, overcast, 'light rain'}
@attribute\tstation string
@Attribute day DATE "dd.MM.yyyy"
@attribute noon date
@attribute "a \\"quoted\\" name" integer
@attribute class { yes, no }

@DATA
21.5, sunny, Oslo, 02.01.1970, 1970-01-01T00:01:00, 7, yes
% a comment
?, 'light rain', "New York", ?, ?, ?, no

-3e1 , overcast , ?,31.12.1969,'1970-01-02T00:00:00', -1,yes
1,?,Oslo,01.01.1970,?,0,no
"""


def test_dense_rows(tmp_path: Path) -> None:
    stream = read(write(tmp_path / "w.arff", DENSE))
    assert stream.feature_names == ("dry bulb", "outlook", "station", "day", "noon", 'a "quoted" name')
    assert stream.target_name == "class"
    nan = np.nan
    expected = [
        [21.5, 0, 0, 86_400, 60, 7],
        [nan, 2, 1, nan, nan, nan],
        [-30, 1, nan, -86_400, 86_400, -1],
        [1, nan, 0, 0, nan, 0],
    ]
    for size in (1, 3, 10):
        X, y = drain(stream, size)
        np.testing.assert_array_equal(X, expected)
        assert y == ["yes", "no", "yes", "no"]
    assert stream.categories == {"outlook": ("sunny", "overcast", "light rain"), "station": ("Oslo", "New York")}
    mask = next(stream.batches(1)).categorical
    assert mask is not None
    assert mask.tolist() == [False, True, True, False, False, False]


def test_rows_with_and_without_quotes_read_alike(tmp_path: Path) -> None:
    header = "@relation r\n@attribute x numeric\n@attribute c {a,b}\n@attribute s string\n@attribute t {u,v}\n@data\n"
    bare = "".join(f"{k}.5, {'ab'[k % 2]} ,s{k % 7},\t{'uv'[k % 2]}\r\n" for k in range(60)) + "?,?,?,u\n"
    quoted = "".join(f"'{k}.5', \"{'ab'[k % 2]}\",'s{k % 7}',{'uv'[k % 2]}\n" for k in range(60)) + "?,?,?,'u'"
    first, y = drain(read(write(tmp_path / "a.arff", header + "% note\n" + bare + "%")), 7)
    second, labels = drain(read(write(tmp_path / "b.arff", header + quoted)), 7)
    assert len(y) == 61
    np.testing.assert_array_equal(first, second)
    assert y == labels


def test_agrees_with_scipy(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((100, 3))
    codes, labels = rng.integers(0, 3, 100), rng.integers(0, 2, 100)
    body = "".join(
        f"{a!r},{b!r},{'rgb'[code]},{c!r},{['no', 'yes'][label]}\n"
        for (a, b, c), code, label in zip(rows.tolist(), codes, labels, strict=True)
    )
    names = "@attribute a real\n@attribute b real\n@attribute hue {b,g,r}\n@attribute c real\n@attribute t {no,yes}\n"
    path = write(tmp_path / "a.arff", f"@relation r\n{names}@data\n{body}")
    data, meta = scipy_arff.loadarff(str(path))
    X, y = drain(read(path), 9)
    for place, name in enumerate(["a", "b", "hue", "c"]):
        column = data[name]
        if name == "hue":
            column = [meta[name][1].index(value.decode()) for value in column]
        np.testing.assert_array_equal(X[:, place], column)
    assert y == [value.decode() for value in data["t"]]


SPARSE = """@relation s
@attribute n0 numeric
@attribute colour {red, green, blue}
@attribute word string
@attribute kind {spam, ham}
@attribute n4 numeric
@data
{0 1.5, 1 green, 2 'a b', 3 ham, 4 2}
{ 4 -1 }
{}
{1 'blue',0 ?, 2 "c"}
% done
{2 'a b', 3 ham}
"""


@pytest.mark.parametrize("size", [1, 2, 10])
def test_sparse_rows(tmp_path: Path, size: int) -> None:
    stream = read(write(tmp_path / "s.arff", SPARSE), target="kind")
    X, y = drain(stream, size)
    assert stream.feature_names == ("n0", "colour", "word", "n4")
    expected = [[1.5, 1, 1, 2], [0, 0, 0, -1], [0, 0, 0, 0], [np.nan, 2, 2, 0], [0, 0, 1, 0]]
    np.testing.assert_array_equal(X, expected)
    assert y == ["ham", "spam", "spam", "spam", "ham"]
    assert stream.categories == {"colour": ("red", "green", "blue"), "word": ("", "a b", "c")}


def test_sparse_rows_with_a_numeric_target(tmp_path: Path) -> None:
    X, y = drain(read(write(tmp_path / "s.arff", SPARSE), target="n4", ignore=["word"]))
    assert y == [2, -1, 0, 0, 0]
    assert X.shape == (5, 3)


@pytest.mark.parametrize(
    ("names", "target"), [(["a", "Class", "b"], "Class"), (["a", "b", "c"], "c"), (["class", "a", "b"], "class")]
)
def test_the_target_by_custom(tmp_path: Path, names: list[str], target: str) -> None:
    header = "".join(f"@attribute {name} numeric\n" for name in names)
    path = write(tmp_path / "a.arff", f"@relation r\n{header}@data\n1,2,3\n4,5,6\n")
    stream = read(path)
    assert stream.target_name == target
    _, y = drain(stream)
    assert y == [names.index(target) + 1, names.index(target) + 4]
    assert {type(label) for label in y} == {int}
    assert read(path, target=names[1]).target_name == names[1]
    with pytest.raises(UnknownNameError, match="There is no target column 'z'"):
        read(path, target="z")


def test_a_compressed_file_and_ignored_attributes(tmp_path: Path) -> None:
    path = tmp_path / "w.arff.gz"
    path.write_bytes(gzip.compress(DENSE.encode()))
    stream = read(path, ignore=["station", "noon", "day"])
    X, _ = drain(stream)
    assert stream.feature_names == ("dry bulb", "outlook", 'a "quoted" name')
    assert X[0].tolist() == [21.5, 0, 7]


@pytest.mark.parametrize(
    ("declared", "text", "seconds"),
    [
        ("date", "1970-01-01T00:00:01", 1),
        ("date 'yyyy-MM-dd HH:mm:ss.SSS'", "1970-01-01 00:00:00.250", 0.25),
        ('date "EEE, d MMM yy"', "Thu, 1 Jan 70", 0),
        ("date \"yyyyMMdd'at'hha\"", "19700101at01PM", 13 * 3600),
        ("date 'yyyy-MM-dd HH:mmZ'", "1970-01-01 00:00+0100", -3600),
    ],
)
def test_date_formats(tmp_path: Path, declared: str, text: str, seconds: float) -> None:
    body = f"@relation r\n@attribute d {declared}\n@attribute c {{a,b}}\n@data\n'{text}',a\n"
    X, _ = drain(read(write(tmp_path / "a.arff", body)))
    assert X.tolist() == [[seconds]]


value = st.text(st.sampled_from("ab ,'\"\\?%{}\t"), max_size=5)


@given(values=st.lists(value, min_size=1, max_size=5), quote=st.sampled_from("'\""))
def test_quoted_values_are_split_as_they_were_joined(values: list[str], quote: str) -> None:
    quoted = [quote + text.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote for text in values]
    assert split_values(" , ".join(quoted)) == values


HEADER = """@relation r
@attribute x numeric
@attribute c {red,blue}
@attribute d date yyyy
@attribute t {u,v}
@data
"""


def refusal(path: Path, text: str) -> str:
    write(path, text)
    with pytest.raises(ReaderError) as raised:
        list(read(path).batches(5))
    assert str(path) in str(raised.value)
    return str(raised.value).replace(str(path), "FILE")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("1,red,2000", "Line 28 of FILE has 3 values where the header declares 4 attributes"),
        ("one,red,2000,u", "Line 28 of FILE, attribute 'x': 'one' is not a number"),
        (",red,2000,u", "Line 28 of FILE, attribute 'x': '' is not a number"),
        ("1,read,2000,u", "Line 28 of FILE, column 'c': 'read' is not among the declared values. Did you mean 'red'?"),
        ("1,red,2000,?", "Line 28 of FILE has no label, its target 't' is empty"),
        ("1,red,2000,w", "Line 28 of FILE, column 't': 'w' is not among the declared values. Known: 'u', 'v'."),
        ("1,'red'blue,2000,u", "Line 28 of FILE: a quote or a comma is missing near"),
    ],
)
@pytest.mark.parametrize("declared", ["date yyyy", "real"])  # without dates rows go the quick way, through pyarrow
def test_a_bad_dense_row(tmp_path: Path, line: str, sentence: str, declared: str) -> None:
    text = HEADER.replace("date yyyy", declared) + "% note\n" + "1,red,2000,u\n" * 20 + line + "\n"
    assert refusal(tmp_path / "a.arff", text).startswith(sentence)


def test_a_bad_date(tmp_path: Path) -> None:
    sentence = refusal(tmp_path / "a.arff", HEADER + "1,red,2000,u\n1,red,soon,u\n")
    assert sentence.startswith("Line 8 of FILE, attribute 'd': 'soon' is not a date of the declared format")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{0 one}", "Line 28 of FILE, attribute 'x': 'one' is not a number"),
        ("{1 green}", "Line 28 of FILE, column 'c': 'green' is not among the declared values"),
        ("{3 w}", "Line 28 of FILE, column 't': 'w' is not among the declared values"),
        ("{3 ?}", "Line 28 of FILE has no label"),
        ("{4 1}", "Line 28 of FILE: '4 1' does not begin with 'index value', each index once and below 4"),
        ("{0 1, 0 2}", "Line 28 of FILE: '0 2' does not begin with"),
        ("{x 1}", "Line 28 of FILE: 'x 1' does not begin with"),
        ("1,red,2000,u", "Line 28 of FILE is not a sparse row"),
    ],
)
def test_a_bad_sparse_row(tmp_path: Path, line: str, sentence: str) -> None:
    assert refusal(tmp_path / "a.arff", HEADER + "{0 1, 1 blue}\n" * 20 + "%\n" + line + "\n").startswith(sentence)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "FILE is empty"),
        (" \n", "FILE is empty"),
        ("x,y\n1,2\n", "FILE has no @data line: is it an ARFF file?"),
        ("@relation r\nnonsense\n@data\n1\n", "Line 2 of FILE is neither @relation, @attribute, @data nor a % comment"),
        ("@attribute x relational\n@data\n1\n", "Line 1 of FILE, attribute 'x': 'relational' is no type known here"),
        ("@attribute x {'a'b}\n@data\n1\n", "Line 1 of FILE, attribute 'x': a quote or a comma is missing near"),
        ("@attribute x date ww\n@data\n1\n", "Line 1 of FILE: the date format ww has 'ww', which is not supported"),
        ("@attribute x real\n@attribute x real\n@data\n1,2\n", "FILE: Two columns are called 'x'"),
        ("@attribute x real\n@attribute y real\n@data", "FILE has a header but no rows"),
        ("@attribute x real\n@attribute y real\n@data\n%\n", "FILE has a header but no rows"),
        ("@relation r\n@data\n1\n", "FILE declares no attributes before its @data line"),
        ("@attribute x real\n@data\n1\n", "FILE has no feature columns besides the target"),
    ],
)
def test_a_bad_header(tmp_path: Path, text: str, sentence: str) -> None:
    assert refusal(tmp_path / "a.arff", text).startswith(sentence)


def test_a_file_without_a_data_line(tmp_path: Path) -> None:
    path = write(tmp_path / "a.arff", "% text\n" * 10_000)
    with pytest.raises(ReaderError, match=r"a\.arff has no @data line in its first"):
        read(path, limits=replace(SMALL, longest_record=1000))


def test_blocks_of_comments_give_no_rows(tmp_path: Path) -> None:
    comments = "% nothing to see here\n" * 20
    for name, row in (("dense.arff", "1,red,2000,u\n"), ("sparse.arff", "{0 1}\n")):
        X, y = drain(read(write(tmp_path / name, HEADER + row + comments + row + comments)))
        assert (X.shape, y) == ((2, 3), ["u", "u"])


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "a.arff"
    body: Any = "@relation r\n@attribute s string\n@attribute t real\n@data\na,1\n"
    path.write_bytes(body.encode() + "Å,2\n".encode("latin-1"))
    with pytest.raises(ReaderError, match=r"Line 6 of .* is not UTF-8 text"):
        drain(read(path))
    path.write_bytes("@attribute å real\n@attribute t real\n@data\n1,2\n".encode("latin-1"))
    with pytest.raises(ReaderError, match=r"The header of .* is not UTF-8 text"):
        read(path)
