"""`python -m benchmarks` fails when a wanted figure is missed by more than the noise it states."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace

import pytest
from benchmarks import __main__ as benchmarks
from benchmarks import page, record
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
    for name in benchmarks.NAMES:
        text = (benchmarks.HERE / f"{name}.py").read_text(encoding="utf-8")
        assert "\ndef run(quick: bool) -> list[Row]:" in text, name


def test_a_result_says_where_it_was_measured_and_how_busy_the_machine_was(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(
        benchmarks.importlib, "import_module", lambda name: SimpleNamespace(run=lambda quick: [row(5.0)])
    )
    monkeypatch.setattr(benchmarks, "RESULTS", tmp_path)
    assert benchmarks.main(["evaluate"]) == 0
    content = json.loads((tmp_path / "evaluate.json").read_text())
    assert content["benchmark"] == "evaluate"
    assert content["date"].endswith("UTC")
    assert {"commit", "load_before", "load_after", "cores_used_by_others", "machine", "cores", "python"} <= set(content)
    assert record.sentence(content) in capsys.readouterr().out
    assert "busy" not in record.sentence(content | {"cores_used_by_others": 0.01})
    assert "The machine was busy" in record.sentence(content | {"cores_used_by_others": 1.3})


def test_an_interrupted_run_goes_on_and_renews_the_record_at_its_end(monkeypatch, tmp_path):
    ran, renewed = [], []

    def load(name):
        def run(quick):
            ran.append(name.partition(".")[2])
            if ran == ["abfs", "columns"]:
                raise MemoryError("the first time")
            return [row(5.0)]

        return SimpleNamespace(run=run)

    monkeypatch.setattr(benchmarks.importlib, "import_module", load)
    monkeypatch.setattr(benchmarks, "RESULTS", tmp_path)
    monkeypatch.setattr(benchmarks, "NAMES", ["abfs", "columns", "evaluate"])
    monkeypatch.setattr(record, "commit", lambda: "1234567890")
    monkeypatch.setattr(page, "main", lambda files: renewed.append([Path(file).stem for file in files]))
    assert benchmarks.main([]) == 1
    assert benchmarks.main(["--resume"]) == 0
    assert ran == ["abfs", "columns", "evaluate", "columns"]
    assert renewed == [["abfs", "evaluate"], ["abfs", "columns", "evaluate"]]


def test_what_was_measured_with_other_files_is_measured_again(monkeypatch, tmp_path):
    path = tmp_path / "abfs.json"
    record.write(path, "abfs", [row(5.0)], quick=False, circumstances={"commit": "1234567890"})
    for now, current in (("1234567890", True), ("1234567890+", False), ("0987654321", False), (None, False)):
        monkeypatch.setattr(record, "commit", lambda now=now: now)
        assert record.is_current(path) is current
    assert not record.is_current(tmp_path / "columns.json")


def test_page_and_readme_show_the_record():
    for path, figures in ((page.PAGE, page.figures()), (page.README, page.short_table())):
        text = path.read_text(encoding="utf-8")
        assert figures in text
        assert page.renewed(text, figures) == text, "python -m benchmarks.page"
    assert len(page.short_table().splitlines()) == 2 + 5


def test_every_missed_figure_is_explained():
    rows = [(name, row) for name, content in page.results().items() for row in record.rows_of(content)]
    missed = [(name, row.name) for name, row in rows if row.missed]
    assert [one for one in missed if one not in page.EXPLAINED] == []


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
