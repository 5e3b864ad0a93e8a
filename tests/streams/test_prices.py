"""Prices from a file, and what is refused, with line numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamsift.core.exceptions import ReaderError
from streamsift.streams.prices import read_prices

NAMES = ["age", "x-ray", "blood, red"]


def write(folder: Path, text: str) -> Path:
    path = folder / "prices.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_prices_come_in_the_order_of_the_features(tmp_path: Path) -> None:
    path = write(tmp_path, '\ufefffeature,price\n"blood, red",0.5\n\nage,0\nx-ray, 1e-2\n')
    assert read_prices(path, NAMES).tolist() == [0.0, 0.01, 0.5]


def test_features_without_a_line_get_the_default(tmp_path: Path) -> None:
    assert read_prices(write(tmp_path, "feature,price\n"), NAMES, default=0.2).tolist() == [0.2] * 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "header must be 'feature,price'"),
        ("name,cost\nage,1\n", "line 1 is 'name,cost'"),
        ("feature,price\nage,1,2\n", "line 2 has 3 cells"),
        ("feature,price\nage,dear\n", "line 2: the price 'dear' is not a number"),
        ("feature,price\nage,-1\n", "at least 0"),
        ("feature,price\nage,inf\n", "at least 0"),
        ("feature,price\nage,1\nage,2\n", "line 3: the price of 'age' was given before"),
        ("feature,price\nxray,1\n", "no feature 'xray'. Did you mean 'x-ray'"),
        ("feature,price\nage,1\n", "no price for 'x-ray' and 1 more"),
    ],
)
def test_a_bad_file_is_refused_in_words(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ReaderError, match=words):
        read_prices(write(tmp_path, text), NAMES)
