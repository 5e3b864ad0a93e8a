"""`python -m benchmarks` fails when a wanted figure is missed by more than the noise it states."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import pytest
from benchmarks import __main__ as benchmarks
from benchmarks import page
from benchmarks.table import NOISE, Row, conclude, show


def row(ratio, wanted=2.0, **options):
    return Row("speed", 1.0, ratio, "a peer", ratio, wanted, "s", **options)


@pytest.mark.parametrize(
    ("measured", "reached", "missed", "sign"),
    [
        (row(2.0), True, False, "✓"),
        (row(2.0 * (1 - NOISE) + 1e-9), False, False, "≈"),
        (row(2.0 * (1 - NOISE) - 1e-9), False, True, "✗"),
        (row(1.9, noise=0.01), False, True, "✗"),
        (row(1.2, noise=0.5), False, False, "≈"),
        (row(math.nan), False, True, "✗"),
        (row(0.0, wanted=None), True, False, "–"),
    ],
)
def test_a_figure_is_missed_only_beyond_its_noise(measured, reached, missed, sign):
    assert (measured.reached, measured.missed) == (reached, missed)
    assert sign in show("table", [measured]).splitlines()[-1].split("|")[5]
    assert measured.as_dict()["missed"] is missed


def test_the_table_states_the_noise():
    lines = show("table", [row(2.5), row(2.5, noise=0.03), row(2.5, wanted=None)]).splitlines()
    assert [line.split("|")[6].strip() for line in lines[2:]] == ["noise", "---", "10%", "3%", "–"]


def test_the_end_lists_what_is_missed():
    tables = {"one": [row(3.0), row(1.9)], "two": [row(1.0, note="10 rows"), row(0.1, wanted=None)]}
    words, code = conclude(tables)
    assert code == 1
    assert words.splitlines() == [
        "1 figure missed; 1 below what is wanted, but within the noise:",
        "two: speed (10 rows), against a peer: 1 where 2 is wanted (noise 10%)",
    ]
    assert conclude({"one": [row(3.0), row(1.9)]}) == (
        "No figure is missed; 1 below what is wanted, but within the noise.",
        0,
    )
    assert conclude({"one": []}) == ("No figure is missed.", 0)


@pytest.mark.parametrize("options", [[], ["--quick"]])
@pytest.mark.parametrize(("ratio", "code"), [(5.0, 0), (1.0, 1)])
def test_the_exit_code_says_it(monkeypatch, capsys, tmp_path, options, ratio, code):
    asked = []

    def run(quick):
        asked.append(quick)
        return [row(ratio)]

    monkeypatch.setattr(benchmarks.importlib, "import_module", lambda name: SimpleNamespace(run=run))
    out = tmp_path / "result.json"
    assert benchmarks.main(["evaluate", *options, "--out", str(out)]) == code
    assert asked == [bool(options)]
    shown = capsys.readouterr().out
    assert ("1 figure missed:\nevaluate: speed, against a peer" in shown) is (code == 1)
    assert json.loads(out.read_text())["rows"][0]["missed"] is (code == 1)


def test_every_benchmark_can_be_run():
    without = [
        name for name in benchmarks.NAMES if "\ndef run(" not in (benchmarks.HERE / f"{name}.py").read_text("utf-8")
    ]
    assert without == []


def test_page_and_readme_show_the_record():
    for path, table in ((page.PAGE, page.tables()), (page.README, page.short_table())):
        text = path.read_text(encoding="utf-8")
        assert table in text
        assert page.renewed(text, table) == text, "python -m benchmarks.page"
    assert len(page.short_table().splitlines()) == 2 + 5


def test_every_missed_figure_is_explained():
    explained = page.PAGE.read_text(encoding="utf-8").partition("## What is missed")[2].lower()
    missed = [row for path in page.RECORD.glob("*.json") for row in page.rows_of(path.stem) if row.missed]
    assert missed
    assert [row.name for row in missed if row.name.lower() not in explained] == []


def test_new_results_become_the_record(tmp_path, monkeypatch):
    for name in ("PAGE", "README"):
        monkeypatch.setattr(page, name, tmp_path / f"{name}.md")
        (tmp_path / f"{name}.md").write_text(
            "before\n<!-- figures: made by python -m benchmarks.page -->\nstale\n<!-- end of figures -->\nafter\n"
        )
    record = tmp_path / "record"
    record.mkdir()
    for path in page.RECORD.glob("*.json"):
        (record / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(page, "RECORD", record)
    new = tmp_path / "river.json"
    new.write_text(json.dumps({"rows": [row(7.0).as_dict()]}))
    page.main([str(new)])
    written = page.PAGE.read_text(encoding="utf-8")
    assert written.startswith("before")
    assert written.endswith("after\n")
    assert "stale" not in written
    assert "### river" in written
    assert "| 7 |" in written
