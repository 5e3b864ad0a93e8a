"""`streamsift report`, and the reports that `streamsift select` writes for columns and instances."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.report.test_page import Page

from streamsift.cli.errors import run
from streamsift.cli.main import cli


@pytest.fixture
def sift(capsys):
    def call(*arguments):
        code = run(cli, [str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def people(tmp_path):
    """A file in which height tells the sex and noise does not."""
    rng = np.random.default_rng(0)
    sex = rng.integers(0, 2, 200)
    lines = ["height,noise,sex"] + [f"{170 + 12 * s + rng.normal():.2f},{rng.normal():.2f},{'fm'[s]}" for s in sex]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("screen:t_score", "Scores of all features"),
        ("investing", "Wealth"),
        ("osfs", "Each decision"),
        ("etana", "How belief grew"),
    ],
)
def test_a_run_of_each_kind_writes_a_report_that_can_be_written_again(sift, people, tmp_path, method, words):
    out = tmp_path / "run"
    code, _, err = sift("select", people, "--target", "sex", "--method", method, "--out", out)
    assert code == 0, err
    first = Page((out / "report.html").read_text("utf-8")).text
    assert words in first
    assert "height" in first
    code, said, err = sift("report", out, "-o", tmp_path / "again" / "page.html")
    assert (code, err) == (0, "")
    assert "page.html" in said
    again = Page((tmp_path / "again" / "page.html").read_text("utf-8")).text
    assert again == first


def test_a_comparison_by_file_and_by_folder(sift, comparison, tmp_path):
    path = tmp_path / "comparison.json"
    path.write_text(json.dumps(comparison()))
    for source in (path, tmp_path):
        assert sift("report", source, "-o", tmp_path / "page.html")[0] == 0
        assert "Critical differences" in Page((tmp_path / "page.html").read_text("utf-8")).text


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("nothing.parquet", None, "no such file"),
        ("some.parquet", "no parquet", "is not a Parquet file"),
        ("some.json", "{", "is not JSON"),
        ("some.json", "{}", "is no comparison"),
        ("", None, "holds neither"),
    ],
)
def test_what_is_no_run_is_refused_in_words(sift, tmp_path, name, text, words):
    folder = tmp_path / "run"
    folder.mkdir()
    if text is not None:
        (folder / name).write_text(text)
    code, out, err = sift("report", folder / name, "-o", tmp_path / "page.html")
    assert (code, out) == (1, "")
    assert words in err
    assert not (tmp_path / "page.html").exists()
