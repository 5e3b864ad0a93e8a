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
NEWER = json.loads((FOLDER / "newer.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def make():
    return runpy.run_path(str(FOLDER / "make.py"))


def test_page_and_charts_are_those_of_the_results(make):
    made = make["files"]()
    for name, text in made.items():
        assert (FOLDER / name).read_text("utf-8") == text, f"run python docs/reproduction/make.py for {name}"
    assert {path.name for path in FOLDER.glob("*.svg")} == {name for name in made if name.endswith(".svg")}


def pages(make, found, texts):
    return make["page"](found, texts), make["details"](found, make["checks"](), texts, NEWER)


def test_another_number_makes_another_page(make):
    found, texts = make["records"](), json.loads((FOLDER / "texts.json").read_text("utf-8"))
    before = pages(make, found, texts)
    stem = "investing-table-1"
    for cell in found[stem]["cells"]:
        cell["ours"] *= 3
    assert all(new != old for new, old in zip(pages(make, found, texts), before, strict=True))
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
        lines = [text["claim"], text["verdict"], *(line["what"] for line in text["found"])]
        for why in (line.get("why", "") for line in text["found"]):
            lines += [why] if isinstance(why, str) else [why["then"], why["else"]]
        for line in lines:
            plain = re.sub(
                r"[Ss]ection [\d.]+|eps (below )?[\d.]+( and [\d.]+)?", "", line
            )  # places in the paper, its settings
            plain = re.sub(r"\{[^{}]*\}|`[^`]*`|\"[^\"]*\"", "", plain)
            assert not re.search(r"\d\.\d", plain), (paper, line)


def test_every_number_that_a_text_looks_up_is_there():
    for name in ("index.md", "details.md"):
        assert "(not measured)" not in (FOLDER / name).read_text("utf-8")


def test_the_overview_counts_what_is_judged(make):
    tables = [
        {"kind": kind, "verdict": {"word": word}}
        for kind, word in [
            *[("results", word) for word in ("reproduced", "fitted", "differs", "differs", "data in part")],
            ("settings", "reproduced"),
        ]
    ]
    claims = [{"holds": holds} for holds in (True, True, False, None)]
    figures = [{"verdict": {"n_agreeing": 1, "n_judged": 3}}, {"verdict": {"n_agreeing": 2, "n_judged": 2}}]
    assert make["_verdict_counts"](tables, claims, figures) == ["2 of 3 (1 not judged)", "2 of 4, 1 fitted", "3 of 5"]
    assert make["_verdict_counts"](tables[:1], claims[:1], figures[1:]) == ["1 of 1", "1 of 1", "2 of 2"]


def test_abfs_on_real_data_is_the_version_that_the_page_says():
    """Table 10 and the check of the order of rows, one repeat, run the program's version.

    That of the text selects nothing on IADS, so that it would be the learner alone, which is many deviations away.
    """
    cells = json.loads((FOLDER / "results" / "abfs-table-10.json").read_text("utf-8"))["cells"]
    check = json.loads((FOLDER / "results" / "abfs-check-order.json").read_text("utf-8"))
    column = check["columns"].index("shuffled, all rows")
    rows = {f"{row[0]}, {row[1]}": float(row[column]) for row in check["rows"]}
    for name in ("IADS, ABFS-NB", "IADS, ABFS-HT"):  # ties of neighbours are broken by rounding
        cell, alone = (
            next(cell for cell in cells if cell["cell"] == wanted) for wanted in (name, name.replace("ABFS-", ""))
        )
        deviation = cell["error"] * cell["repeats"] ** 0.5  # of a single repeat
        assert abs(rows[name] - cell["ours"]) < 3 * deviation, name
        assert abs(rows[name] - alone["ours"]) > 5 * deviation, name


def test_results_of_another_folder_are_added_all_or_none(make, tmp_path):
    kept, more = tmp_path / "kept", tmp_path / "more"
    for folder in (kept, more):
        folder.mkdir()
    first = json.loads((FOLDER / "results" / "investing-table-1.json").read_text("utf-8"))
    first |= {"seeds": [1], "repeats": 1, "cells": [{**cell, "error": None, "repeats": 1} for cell in first["cells"]]}
    second = {**first, "seeds": [2], "cells": [{**cell, "ours": cell["ours"] + 2.0} for cell in first["cells"]]}
    (kept / "investing-table-1.json").write_text(json.dumps(first), "utf-8")
    (more / "investing-table-1.json").write_text(json.dumps(second), "utf-8")
    (more / "investing-table-2.json").write_text(json.dumps(second), "utf-8")
    make["add"](more, kept)
    both = json.loads((kept / "investing-table-1.json").read_text("utf-8"))
    assert (both["seeds"], both["repeats"], both["cells"][0]["error"]) == ([1, 2], 2, pytest.approx(1.0))
    assert (kept / "investing-table-2.json").is_file()
    (kept / "investing-table-2.json").unlink()
    with pytest.raises(SystemExit, match=r"investing-table-1: The seeds \[2\] do not follow .* Nothing was added"):
        make["add"](more, kept)
    assert not (kept / "investing-table-2.json").exists()
    with pytest.raises(SystemExit, match="There are no results in"):
        make["add"](tmp_path, kept)


@pytest.mark.parametrize("source", NEWER, ids=lambda source: source["where"])
def test_newer_figures_say_where_they_stand_and_are_on_the_page(make, source):
    assert source["paper"] in make["PAPERS"]
    assert re.search(r"commit [0-9a-f]{12}", source["where"]), "a reader must find the very file that was read"
    section = (
        (FOLDER / "details.md").read_text("utf-8").split("**Newer results**")[1 + make["PAPERS"].index(source["paper"])]
    )
    assert source["where"] in section
    for figure in source["figures"]:
        assert f"| {figure['method']} | {figure['data']} | {figure['measure']} |" in section
        assert f"| {figure['value']:.4g} |" in section
        if "of" in figure:
            assert figure["value"] == pytest.approx(sum(figure["of"]) / len(figure["of"]), abs=1e-9)


def test_newer_figures_stand_beside_ours_and_those_in_print(make):
    figure = {"method": "M", "data": "D", "measure": "accuracy", "value": 0.5, "cell": ["one", "table1", "D, M"]}
    source = {"source": "S", "where": "W", "how": "H", "figures": [figure, {**figure, "cell": None}]}
    found = {"one": {"cells": [{"table": "table1", "cell": "D, M", "ours": 0.25, "published": 0.75}]}}
    table, note = make["_newer"]([source], found)
    assert table.splitlines()[2:] == [
        "| M | D | accuracy | 0.25 | 0.75 | 0.5 | [1] |",
        "| M | D | accuracy |  |  | 0.5 | [1] |",
    ]
    assert note == "[1] S (W): H."
    assert make["_newer"]([], found) == []
