"""CSV files that cannot be read: one sentence that says what is wrong, on which line, and what to do."""

from __future__ import annotations

import gzip
import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamsift.core.exceptions import ParameterError, ReaderError, UnknownNameError
from streamsift.streams import open_stream
from streamsift.streams.csv import CsvStream
from streamsift.streams.files import ByteSource, ReadLimits

# Decide types on a few lines and read in small blocks, so that small files show what large ones would.
SMALL = ReadLimits(head_bytes=64, block_bytes=256, most_block_bytes=256)
LARGE_HEAD = replace(SMALL, head_bytes=1 << 20)


def read(path: Path | None, target: str | None = "label", *, limits: ReadLimits = SMALL, **options: Any) -> CsvStream:
    """The stream of a file (None: standard input)."""
    return CsvStream(ByteSource(path), target, limits=limits, **options)


def refusal(path: Path, data: str | bytes, limits: ReadLimits = SMALL) -> str:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    with pytest.raises(ReaderError) as raised:
        list(read(path, limits=limits).batches(10))
    sentence = str(raised.value)
    assert str(path) in sentence
    assert "\n" not in sentence
    return sentence.replace(str(path), "FILE")


GOOD = "x,town,label\n" + "1,Oslo,a\n" * 100


def test_a_word_in_a_numeric_column(tmp_path: Path) -> None:
    sentence = refusal(tmp_path / "a.csv", GOOD + "\n\nabc,Oslo,a\n2,Oslo,b\n")
    assert sentence == (
        "Line 104 of FILE, column 'x': 'abc' is not a number as the values before it are; correct it, leave it empty "
        "if it is missing, or read the column as text with categorical=['x'] (--categorical x)."
    )


def test_a_word_among_the_first_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    data = "x,town,label\n" + "1,Oslo,a\n" * 30 + "\nlots,Bonn,b\n" + "-2.5e3,Bonn,a\n" * 30
    sentence = refusal(path, data, LARGE_HEAD)
    assert sentence.startswith("Line 33 of FILE, column 'x': 'lots' is not a number as most others are; correct it")
    batch = next(read(path, limits=LARGE_HEAD, categorical=["x"]).batches(100))
    assert batch.categorical.tolist() == [True, True]
    assert next(read(path, limits=LARGE_HEAD, ignore=["x"]).batches(100)).feature_names == ("town",)


def test_infinity_in_letters_is_not_the_stray_word(tmp_path: Path) -> None:
    data = "x,town,label\n" + "-inf,Oslo,a\nInfinity,Oslo,b\n1,Bonn,a\n" * 10 + "lots,Bonn,b\n"
    sentence = refusal(tmp_path / "a.csv", data, LARGE_HEAD)
    assert sentence.startswith("Line 32 of FILE, column 'x': 'lots' is not a number as most")


def test_text_of_which_some_values_look_like_numbers_is_text(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("house,label\n" + "7,a\n8,b\n12b,a\n" * 20)
    assert next(read(path, limits=LARGE_HEAD).batches(100)).categorical.tolist() == [True]


def test_a_word_in_a_numeric_column_after_quoted_line_breaks(tmp_path: Path) -> None:
    data = "x,town,label\n" + '1,"Os\nlo",a\n' * 50 + "oops,Oslo,a\n"
    assert refusal(tmp_path / "a.csv", data).startswith("Line 102 of FILE, column 'x': 'oops' is not a number")


def test_the_column_is_right_when_others_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("skip,x,y,label\n" + "s,1,2,a\n" * 30 + "s,1,bad,a\n")
    with pytest.raises(ReaderError, match=r"Line 32 of .*, column 'y': 'bad' is not a number"):
        list(read(path, ignore=["skip"]).batches(10))


def test_a_word_in_a_date_column(tmp_path: Path) -> None:
    data = "day,label\n" + "2020-01-01,a\n" * 50 + "yesterday,b\n"
    assert "Line 52 of FILE, column 'day': 'yesterday' is not a date" in refusal(tmp_path / "a.csv", data)


def test_a_word_in_a_numeric_target(tmp_path: Path) -> None:
    data = "x,label\n" + "1,0\n" * 50 + "1,maybe\n"
    sentence = refusal(tmp_path / "a.csv", data)
    assert sentence.startswith("Line 52 of FILE, target 'label': 'maybe' is not a number")
    data = "x,label\n" + "1,true\n" * 50 + "1,maybe\n"
    assert "'maybe' is not true or false" in refusal(tmp_path / "b.csv", data)


@pytest.mark.parametrize(("line", "cells"), [("1,Oslo", 2), ("1,Oslo,a,", 4), ("1,Oslo,a,b,c", 5)])
def test_a_ragged_line(tmp_path: Path, line: str, cells: int) -> None:
    sentence = refusal(tmp_path / "a.csv", GOOD + line + "\n1,Oslo,a\n")
    assert sentence == (
        f"Line 102 of FILE has {cells} cells where the header names 3 columns: correct the line, or quote values that "
        "contain the separator."
    )


def test_a_ragged_line_in_the_head(tmp_path: Path) -> None:
    assert "Line 2 of FILE has 4 cells" in refusal(tmp_path / "a.csv", "x,town,label\n1,2,3,4\n")


def test_a_ragged_line_of_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((GOOD + "1,2\n").encode())))
    with pytest.raises(ReaderError, match="Line 102 of standard input has 2 cells"):
        list(read(None).batches(10))


@pytest.mark.parametrize("cell", ["", "NA", "nan"])
def test_a_missing_label(tmp_path: Path, cell: str) -> None:
    sentence = refusal(tmp_path / "a.csv", GOOD + f"1,Oslo,{cell}\n")
    assert sentence == (
        "Line 102 of FILE has no label, its target 'label' is empty: give it a label, or leave such rows out with "
        "unlabelled='skip' (--skip-unlabelled)."
    )


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    sentence = refusal(tmp_path / "a.csv", GOOD.encode() + "1,Årnes,a\n".encode("latin-1"))
    assert re.match(
        r"Line 102 of FILE, column 'town': '.rnes' is not UTF-8: say which encoding it is with encoding=", sentence
    )
    assert "The header of FILE is not UTF-8" in refusal(tmp_path / "b.csv", b"\xffx,label\n1,a\n")


def test_a_quote_that_never_closes(tmp_path: Path) -> None:
    limits = replace(SMALL, longest_record=2000)
    sentence = refusal(tmp_path / "a.csv", GOOD + '1,"Oslo,a\n' + "1,Oslo,a\n" * 1000, limits)
    assert sentence.startswith("Line 102 of FILE is longer than")
    assert "look for a quote that is never closed" in sentence
    assert "has no whole line" in refusal(tmp_path / "b.csv", b"x" * 10_000, limits)


def test_a_quote_that_is_open_at_the_end(tmp_path: Path) -> None:
    sentence = refusal(tmp_path / "a.csv", GOOD + '1,"Oslo,a\n2,Oslo,b\n')
    assert sentence.startswith("Line 102 of FILE has 2 cells where the header names 3 columns")


def test_a_failure_of_another_kind(tmp_path: Path) -> None:
    """Whatever else pyarrow may complain of, the lines are narrowed down to the block."""
    path = tmp_path / "a.csv"
    path.write_text(GOOD)
    error = read(path)._explained(b"1,Oslo,a\n2,Oslo,b\n", 7, "the parser gave up.")
    assert str(error) == f"{path} cannot be read between lines 7 and 9: the parser gave up."


def test_a_very_long_cell_beside_a_bad_one(tmp_path: Path) -> None:
    data = GOOD + f"1,{'o' * 200_000},a\nbad,Oslo,b\n"
    assert refusal(tmp_path / "a.csv", data, replace(SMALL, block_bytes=1 << 20)).startswith(
        "Line 103 of FILE, column 'x': 'bad' is not a number"
    )


@pytest.mark.parametrize("sep", ["", "::", "é", '"', "\n"])
def test_a_separator_that_is_none(tmp_path: Path, sep: str) -> None:
    (tmp_path / "a.csv").write_text(GOOD)
    with pytest.raises(ParameterError, match="'sep' must be one ASCII character"):
        open_stream(tmp_path / "a.csv", target="label", sep=sep)


def test_a_column_of_identifiers(tmp_path: Path) -> None:
    data = "id,label\n" + "".join(f"u{k},a\n" for k in range(500))
    sentence = refusal(tmp_path / "a.csv", data, replace(SMALL, block_bytes=1, most_block_bytes=1, most_categories=100))
    assert "column 'id': this is text number 101 of the column" in sentence
    assert "ignore=['id']" in sentence


@pytest.mark.parametrize("data", ["", "\n\n", "\ufeff\r\n"])
def test_an_empty_file(tmp_path: Path, data: str) -> None:
    assert refusal(tmp_path / "a.csv", data) == "FILE is empty: there is nothing to read."


@pytest.mark.parametrize("data", ["x,label", "x,label\n", "x,label\n\n\n"])
def test_a_header_and_nothing_else(tmp_path: Path, data: str) -> None:
    assert refusal(tmp_path / "a.csv", data) == "FILE has a header but no rows: there is nothing to learn from."


def test_nothing_but_the_target(tmp_path: Path) -> None:
    assert "has no feature columns besides the target" in refusal(tmp_path / "a.csv", "label\na\nb\n")


def test_two_columns_of_one_name(tmp_path: Path) -> None:
    assert "Two columns are called 'x'" in refusal(tmp_path / "a.csv", "x,x,label\n1,2,a\n")


@pytest.mark.parametrize("name", ["a.csv.gz", "a.csv.zst"])
def test_a_damaged_compressed_file(tmp_path: Path, name: str) -> None:
    assert "cannot be read, the file may be damaged" in refusal(tmp_path / name, b"this is not compressed at all")


def test_a_truncated_compressed_file(tmp_path: Path) -> None:
    data = gzip.compress("".join(f"{k},{k * k % 977},a\n" for k in range(3000)).encode())
    sentence = refusal(tmp_path / "a.csv.gz", gzip.compress(b"x,y,label\n") + data[: len(data) // 2])
    assert "cannot be read, the file may be damaged" in sentence


def test_the_target_is_unknown_or_missing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(GOOD)
    with pytest.raises(UnknownNameError, match=r"There is no target column 'lable'. Did you mean 'label'\?"):
        open_stream(path, target="lable")
    with pytest.raises(ParameterError, match=r"needs the name of its target column: pass target=. Known: 'x', 'town'"):
        open_stream(path)
    with pytest.raises(UnknownNameError, match=r"There is no column of .* called 'twon'. Did you mean 'town'\?"):
        open_stream(path, target="label", ignore=["twon"])
    with pytest.raises(UnknownNameError, match="called 'y'"):
        open_stream(path, target="label", categorical=["y"])


@pytest.mark.parametrize("option", ["categorical", "ignore"])
def test_one_column_without_a_list_is_not_taken_letter_by_letter(tmp_path: Path, option: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(GOOD)
    with pytest.raises(ParameterError, match=rf"'{option}' is a list of columns: write {option}=\['town'\]"):
        open_stream(path, target="label", **{option: "town"})
