"""The page of the papers is what its command makes of the results beside it, and these say where they come from."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest

from streamsift.reproduce.printed import TABLES

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "reproduction"
RESULTS = sorted((FOLDER / "results").glob("*.json"))


@pytest.fixture(scope="module")
def make():
    return runpy.run_path(str(FOLDER / "make.py"))


def test_page_and_charts_are_those_of_the_results(make):
    made = make["files"]()
    for name, text in made.items():
        assert (FOLDER / name).read_text("utf-8") == text, f"run python docs/reproduction/make.py for {name}"
    assert {path.name for path in FOLDER.glob("*.svg")} == {name for name in made if name.endswith(".svg")}


def test_another_number_makes_another_page(make):
    found, texts = make["records"](), json.loads((FOLDER / "texts.json").read_text("utf-8"))
    before = make["page"](found, make["checks"](), texts)
    stem = "investing-table-1"
    for cell in found[stem]["cells"]:
        cell["ours"] *= 3
    assert make["page"](found, make["checks"](), texts) != before
    assert make["chart"](make["CHARTS"]["investing"](found) or [("a", 1.0, 2.0, 0.1)], "t").startswith("<svg")


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_every_result_says_where_it_comes_from(path):
    found = json.loads(path.read_text("utf-8"))
    assert found["command"].startswith("streamsift reproduce ")
    assert found["seconds"] > 0
    if "-check-" in path.stem:
        assert found["commit"]
        assert found["rows"]
        return
    assert path.stem == f"{found['paper']}-{found['exhibit'].replace(' ', '-')}"
    assert found["commits"]
    assert len(found["seeds"]) >= found["repeats"]
    names = {table.name for table in TABLES if table.paper == found["paper"] and found["exhibit"] in table.exhibits}
    assert {cell["table"] for cell in found["cells"]} <= names
    for cell in found["cells"]:
        assert (cell["error"] is None) == (cell["repeats"] == 1 or isinstance(cell["ours"], str)), cell


def test_no_number_of_the_texts_is_typed_in():
    """Numbers in what was found out come from results, but for those that the papers print and names of tables."""
    texts = json.loads((FOLDER / "texts.json").read_text("utf-8"))
    for paper, text in texts["papers"].items():
        lines = [
            words
            for line in text["found"]
            for words in ([line] if isinstance(line, str) else [line["then"], line["else"]])
        ]
        for line in lines:
            plain = re.sub(r"[Ss]ection [\d.]+|eps [\d.]+( and [\d.]+)?", "", line)  # places in the paper, its settings
            plain = re.sub(r"\{[^{}]*\}|\([^()]*\)|`[^`]*`|\"[^\"]*\"", "", plain)
            assert not re.search(r"\d\.\d", plain), (paper, line)
