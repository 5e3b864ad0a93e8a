"""Numbers as people write them: read as numbers where that is safe, said, and refused where it may mean two things."""

from __future__ import annotations

import gzip
import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.streams.drain import drain

from streamsift import InputError, Screener
from streamsift.core.exceptions import ParameterError, ReaderError, ReadingNotice
from streamsift.runs.rows import follow_rows
from streamsift.streams import open_columns, open_stream
from streamsift.streams.csv import CsvStream
from streamsift.streams.files import ByteSource, ReadLimits


def column(path: Path, cells: list[str], **options: Any) -> tuple[list[float], list[str], Any]:
    """One column of a file with semicolons: its numbers, the notices, and the stream."""
    path.write_text("x;label\n" + "".join(f'"{cell}";{"ab"[k % 2]}\n' for k, cell in enumerate(cells)), "utf-8")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stream = open_stream(path, "label", **options)
        X, _ = drain(stream)
    assert all(issubclass(warning.category, ReadingNotice) for warning in caught)
    return X[:, 0].tolist(), [str(warning.message) for warning in caught], stream


@pytest.mark.parametrize(
    ("cells", "numbers", "example"),
    [
        (["1,5", "2", "-0,25"], [1.5, 2, -0.25], "-0,25"),
        (["1.234,56", "99,5", "7"], [1234.56, 99.5, 7], "1.234,56"),
        (["1,234.5", "12", "1,234,567"], [1234.5, 12, 1234567], "1,234,567"),
        (["1 234,5", "12\u00a0345", "3"], [1234.5, 12345, 3], "1 234,5"),
        (["1'234.5", "2"], [1234.5, 2], "1'234.5"),
        (["1.234.567", "1.000"], [1234567, 1000], "1.234.567"),
        (["0,123", "0,456"], [0.123, 0.456], "0,123"),
        (["12.5%", "5 %"], [0.125, 0.05], "12.5%"),
        (["12,5 %", "5 %"], [0.125, 0.05], "12,5 %"),
        (["€ 5", "-€7.5", "€1"], [5, -7.5, 1], "-€7.5"),
        (["5 EUR", "7,5 EUR"], [5, 7.5], "7,5 EUR"),
        (["\u22125,5", "+2,5"], [-5.5, 2.5], "\u22125,5"),
        (["1,5e3", "inf"], [1500, np.inf], "1,5e3"),
    ],
)
def test_numbers_written_otherwise_are_read_and_said(
    tmp_path: Path, cells: list[str], numbers: list[float], example: str
) -> None:
    found, said, stream = column(tmp_path / "a.csv", cells)
    assert found == numbers
    assert said == [f"x: {example} read as numbers"]
    assert stream.categories == {}


@pytest.mark.parametrize(
    ("cells", "value", "meanings", "sign"),
    [
        (["1,234", "12", "5,678"], "1,234", "1234 or 1.234", ","),
        (["€1.234", "€5.678"], "€1.234", "1234 or 1.234", "."),
    ],
)
def test_what_may_mean_two_numbers_is_refused_with_the_option_that_settles_it(
    tmp_path: Path, cells: list[str], value: str, meanings: str, sign: str
) -> None:
    path = tmp_path / "a.csv"
    with pytest.raises(ReaderError) as raised:
        column(path, cells)
    assert str(raised.value) == (
        f"Column 'x' of {path} holds {value!r}, which may be {meanings}: say thousands={sign!r} (--thousands {sign}) "
        f"or decimal={sign!r} (--decimal {sign})."
    )
    large, small = 1234.0, 1.234
    assert column(path, cells, thousands=sign)[0][0] == large
    assert column(path, cells, decimal=sign)[:2][0][0] == small


def test_points_beside_decimal_commas_are_refused_unless_they_cannot_be_thousands(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x;y;label\n1,5;1.234;a\n2,5;999;b\n")
    refusal = r"Column 'y' of .*, beside decimal commas, holds '1.234', which may be 1234"
    with pytest.warns(ReadingNotice), pytest.raises(ReaderError, match=refusal):
        open_stream(path, "label")
    assert drain(open_stream(path, "label", decimal=","))[0].tolist() == [[1.5, 1234], [2.5, 999]]
    path.write_text("x;y;label\n1,5;1.5;a\n2,5;999;b\n")
    with pytest.warns(ReadingNotice, match="x: 1,5 read as numbers"):
        stream = open_stream(path, "label")
    assert drain(stream)[0].tolist() == [[1.5, 1.5], [2.5, 999]]


def test_two_currencies_cannot_be_compared(tmp_path: Path) -> None:
    with pytest.raises(ReaderError, match=r"Column 'x' of .* holds amounts in \$ and in €"):
        column(tmp_path / "a.csv", ["$5", "€7"])


def test_words_for_missing_numbers(tmp_path: Path) -> None:
    cells = ["1.5", "NA", "-", "n/a", "?", "", "null", "2"]
    found, said, _ = column(tmp_path / "a.csv", cells)
    np.testing.assert_array_equal(found, [1.5, *[np.nan] * 6, 2])
    assert said == ["x: '-' and '?' read as missing"]
    found, said, _ = column(tmp_path / "a.csv", [*cells, "-999", "1,5"], na=["-999"], decimal=",", categorical=["x"])
    assert np.isnan(found[8])


def test_own_words_for_missing_values_hold_in_all_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,town,label\n1,Oslo,a\n-999,nobody,b\n3,nobody,a\n4,Rome,b\n")
    stream = open_stream(path, "label", na=["-999", "nobody"])
    X, _ = drain(stream)
    np.testing.assert_array_equal(X, [[1, 0], [np.nan, np.nan], [3, np.nan], [4, 1]])


def test_a_dash_is_a_category_among_texts_and_a_label(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("strand,only,label\n+,-,+\n-,-,-\n+,-,-\n")
    stream = open_stream(path, "label")
    X, y = drain(stream)
    assert stream.categories == {"strand": ("+", "-"), "only": ("-",)}
    assert X[:, 0].tolist() == [0, 1, 0]
    assert y == ["+", "-", "-"]


def test_a_text_among_many_numbers_is_refused_with_its_line(tmp_path: Path) -> None:
    cells = [f"{k},5" for k in range(200)]
    cells[120] = "many"
    with pytest.raises(ReaderError, match=r"Line 122 of .*, column 'x': 'many' is not a number as most others are"):
        column(tmp_path / "a.csv", cells)


def test_a_later_value_of_another_form_is_refused_with_its_line_and_the_option(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    limits = ReadLimits(head_bytes=64, block_bytes=64, most_block_bytes=64)

    def read(**options: Any) -> list[list[float]]:
        return list(drain(CsvStream(ByteSource(path), "label", limits=limits, **options))[0].tolist())

    path.write_text("x;label\n" + "1;a\n" * 50 + "1,5;b\n")
    with pytest.raises(
        ReaderError, match=r"Line 52 of .*'1,5' is not a number as .*; say decimal=',' \(--decimal ,\), "
    ):
        read()
    assert read(decimal=",")[-1] == [1.5]
    path.write_text("x;label\n" + "1,5;a\n" * 50 + "1.234,5;b\n")
    with (
        pytest.warns(ReadingNotice),
        pytest.raises(ReaderError, match=r"Line 52 of .*'1.234,5' is not a number as the values before it are"),
    ):
        read()
    assert read(thousands=".")[-1] == [1234.5]
    path.write_text("x;label\n" + "1;a\n" * 50 + "1,234;b\n")
    assert read(thousands=",")[-1] == [1234]


def test_a_target_of_such_numbers_is_a_number(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x;price\n1;1.234,5\n2;7\n")
    with pytest.warns(ReadingNotice, match="price: 1.234,5 read as numbers"):
        stream = open_stream(path, "price")
    assert drain(stream)[1] == [1234.5, 7]
    assert drain(open_stream(path, "price", decimal=",", thousands="."))[1] == [1234.5, 7]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"decimal": ";"}, "'decimal' must be"),
        ({"thousands": ".."}, "'thousands' must be one character"),
        ({"decimal": ",", "thousands": ","}, "they must differ"),
        ({"na": "NA"}, r"write na=\['NA'\]"),
        ({"encoding": "latin-99"}, "'encoding' must be"),
        ({"encoding": "base64"}, "'encoding' must be"),
        ({"unlabelled": "maybe"}, "'unlabelled' must be"),
    ],
)
def test_options_that_mean_nothing(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    (tmp_path / "a.csv").write_text("x,label\n1,a\n")
    with pytest.raises(ParameterError, match=words):
        open_stream(tmp_path / "a.csv", "label", **options)


TEXT = "größe,ort,label\n1.5,Århus,ja\n2.5,Köln,nein\n"


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (TEXT.encode("utf-16"), None),
        (b"\xfe\xff" + TEXT.encode("utf-16-be"), None),
        (TEXT.encode("utf-32"), None),
        (TEXT.encode("utf-8-sig"), None),
        (TEXT.encode("utf-8-sig"), "utf-8-sig"),
        (TEXT.encode("utf-16"), "latin-1"),  # the mark knows better
        (TEXT.encode("utf-16-le"), "utf-16"),
        (TEXT.encode("latin-1"), "latin-1"),
        (TEXT.encode("cp1252"), "cp1252"),
        (TEXT.encode(), None),
    ],
)
def test_encodings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, encoding: str | None) -> None:
    (tmp_path / "a.csv").write_bytes(data)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(data))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    for source in (tmp_path / "a.csv", tmp_path / "a.csv.gz", "-"):
        stream = open_stream(source, "label", encoding=encoding)
        X, y = drain(stream, 1)
        assert stream.feature_names == ("größe", "ort")
        assert stream.categories == {"ort": ("Århus", "Köln")}
        assert (X[:, 0].tolist(), y) == ([1.5, 2.5], ["ja", "nein"])


def test_a_character_may_lie_across_two_pieces(tmp_path: Path) -> None:
    rows = "".join(f"{k}.5,ä😀ö{k % 3},{'ab'[k % 2]}\n" for k in range(300))
    (tmp_path / "a.csv").write_bytes(("x,c,label\n" + rows).encode("utf-16"))
    limits = ReadLimits(head_bytes=101, block_bytes=37, most_block_bytes=37)
    stream = CsvStream(ByteSource(tmp_path / "a.csv"), "label", limits=limits)
    X, _ = drain(stream, 7)
    assert X[:, 0].tolist() == [k + 0.5 for k in range(300)]
    assert stream.categories == {"c": ("ä😀ö0", "ä😀ö1", "ä😀ö2")}


def test_bytes_that_are_not_of_the_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("x,label\n1,å\n".encode("latin-1"))
    with pytest.raises(ReaderError, match=r"is not cp932 text, byte 10 cannot be decoded: say which encoding"):
        drain(open_stream(path, "label", encoding="cp932"))


def test_the_line_of_the_file_is_named_for_a_value_that_a_method_refuses(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('x,t,label\n1,"a\nb",a\n\n2,c,b\n' + "3,c,a\n" * 5 + ",c,b\n")
    with pytest.raises(InputError, match=r"Line 11 of the file, column 'x' is NaN: .* \(--missing skip\)"):
        list(follow_rows(path, Screener(), batch_size=3, target="label"))


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_rows_without_a_label_can_be_skipped(tmp_path: Path, suffix: str) -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "label": ["a", None, "b", None]})
    path = tmp_path / f"a{suffix}"
    {
        ".csv": lambda: frame.to_csv(path, index=False),
        ".jsonl": lambda: frame.to_json(path, orient="records", lines=True),
        ".parquet": lambda: frame.to_parquet(path),
    }[suffix]()
    with pytest.raises(ReaderError, match="has no label"):
        drain(open_stream(path, "label"))
    stream = open_stream(path, "label", unlabelled="skip")
    for size in (1, 10):
        with pytest.warns(ReadingNotice, match="label: 2 rows without a label were skipped"):
            X, y = drain(stream, size)
        assert (X.tolist(), y) == ([[1], [3]], ["a", "b"])
    with pytest.raises(ParameterError, match="needs a table with a target column"):
        open_stream((np.zeros((2, 1)), [0, 1]), unlabelled="skip")


def test_columns_of_rows_with_a_label(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": [0.5, None, 2.5]}).to_parquet(path)
    with pytest.warns(ReadingNotice, match="y: 1 row without a label was skipped"):
        source = open_columns(path, "y", unlabelled="skip")
    assert source.y.tolist() == [0.5, 2.5]
    assert next(iter(source))[1].X.tolist() == [[1], [3]]


@pytest.mark.parametrize(
    ("name", "text", "column", "line"),
    [
        ("a.arff", "@relation r\n@attribute x numeric\n@attribute y {a,b}\n@data\n1,a\n% no row\n\n2,b\n?,a\n", "x", 9),
        ("b.arff", "@relation r\n@attribute x numeric\n@attribute y {a,b}\n@data\n{0 1}\n\n{0 2,1 b}\n{0 ?}\n", "x", 8),
        ("a.svm", "1 1:2\n# no row\n0 1:3\n\n1 1:nan\n", "x0", 5),
        ("a.jsonl", '{"x": 1, "y": "a"}\n\n{"x": 2, "y": "b"}\n{"x": null, "y": "a"}\n', "x", 4),
    ],
)
def test_every_text_format_names_the_line(tmp_path: Path, name: str, text: str, column: str, line: int) -> None:
    (tmp_path / name).write_text(text)
    target = None if name.endswith(".svm") else "y"
    with pytest.raises(InputError, match=rf"Line {line} of the file, column '{column}' is NaN"):
        list(follow_rows(tmp_path / name, Screener(), batch_size=2, target=target))


@pytest.mark.parametrize("rows", ["1,a\n2,?\n3,b\n", "{0 1}\n{0 2,1 ?}\n{0 3,1 b}\n"], ids=["dense", "sparse"])
def test_arff_rows_without_a_label_can_be_skipped(tmp_path: Path, rows: str) -> None:
    path = tmp_path / "a.arff"
    path.write_text("@relation r\n@attribute x numeric\n@attribute y {a,b}\n@data\n" + rows)
    with pytest.raises(ReaderError, match=r"Line 6 of .* has no label"):
        drain(open_stream(path))
    with pytest.warns(ReadingNotice, match="y: 1 row without a label was skipped"):
        X, y = drain(open_stream(path, unlabelled="skip"), 2)
    assert (X.tolist(), y) == ([[1], [3]], ["a", "b"])
