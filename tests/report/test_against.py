"""A run beside an earlier one: what entered, what left, since when."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from tests.report import test_decisions, test_purchases

from streamsift.cli.report import report
from streamsift.core.exceptions import InputError
from streamsift.core.selection import Decision
from streamsift.report.against import changes_section, comparison_changes, final, last_held
from streamsift.report.page import Cell
from streamsift.runs.row_trace import RowTraceWriter


def texts(row):
    return [cell.text if isinstance(cell, Cell) else cell for cell in row]


@pytest.fixture
def runs(make_trace):
    """b and c at the end of the old run; of the new one a and b, a since the third of four snapshots."""
    old = make_trace(np.array([[0, 2, 1.0], [0, 3, 2.0]]), names=["a", "b", "c"])
    new = make_trace(np.array([[0, 2, 1.0], [0, 2, 1.0], [3, 2, 0.0], [4, 2, 0.0]]), names=["a", "b", "c"])
    return new, old


def test_what_entered_what_left_and_since_when(runs):
    section = changes_section(*runs, "monday")
    assert section.heading == "Since monday"
    assert section.facts == [("1", "entered"), ("1", "left"), ("1", "stayed"), ("33%", "in common")]
    assert [texts(row) for row in section.tables[0].rows] == [
        ["a", "entered", "row 300", "1", "–", "4.000", "–"],
        ["c", "left", "last held at row 200", "–", "2", "–", "2.000"],
        ["b", "stayed", "row 100", "2", "1", "2.000", "3.000"],
    ]


def test_a_feature_that_came_back_is_held_since_then(make_trace):
    trace = make_trace(np.array([[2.0, 1], [1, 2], [2, 1], [2, 1]]), k=1)
    assert final(trace)["x0"].since == 300
    assert last_held(trace, "x1") == 200
    assert last_held(trace, "x7") is None


def test_columns_and_instances_too():
    columns = test_decisions.recorded([Decision("a", True, (), 9.0, 4.0), Decision("b", True, (), 8.0, 4.0)])

    def kept(*names):
        chosen = [{"rank": k + 1, "index": k, "name": name, "statistic": 9.0} for k, name in enumerate(names)]
        return replace(columns, result={**columns.result, "selected": chosen})

    section = changes_section(kept("a", "b"), kept("b", "c"), "old")
    assert {row[0]: row[1] for row in section.tables[0].rows} == {"a": "entered", "c": "left", "b": "stayed"}
    bought = test_purchases.traced()
    assert changes_section(bought, bought, "old").facts[3] == ("100%", "in common")
    with pytest.raises(InputError, match="two of the same kind"):
        changes_section(bought, kept("a"), "old")


def test_other_settings_are_said(runs):
    new, old = runs
    old = replace(old, run=replace(old.run, method="fires", settings={"batch_size": 10}))
    note = changes_section(new, old, "old").note
    assert "Settings that differ: method fires → screen:t_score." in note
    assert "cannot be compared" in note


def test_comparisons(comparison):
    new, old = comparison(3, recommended="method1 + naive_bayes"), comparison(2, recommended="method0 + naive_bayes")
    old["entries"][0]["accuracy"] = 0.8
    section = comparison_changes(new, old, "old")
    assert section.note == "Recommended was method0 + naive_bayes, now it is method1 + naive_bayes."
    lines = [texts(row) for row in section.tables[0].rows]
    assert lines[0] == ["method0 + naive_bayes", "both", "90.0 %", "80.0 %", "+10.0 points"]
    assert lines[2][1:] == ["new", "80.0 %", "–", "–"]


def test_the_verb(runs, comparison, tmp_path, monkeypatch):
    for name, trace in zip(("new", "old"), runs, strict=True):
        (tmp_path / name).mkdir()
        with RowTraceWriter(tmp_path / name / "trace.parquet", trace.run) as writer:
            columns = {key: trace.table[key].to_pylist() for key in trace.table.column_names}
            for key in ("indices", "scores", "selected", "relevant"):
                columns[key] = [None if one is None else np.array(one) for one in columns[key]]
            writer.extend(columns, trace.n_features, list(trace.names.values()))
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or len(opened) == 1)
    page = tmp_path / "page.html"
    words = [str(tmp_path / "new"), "--against", str(tmp_path / "old"), "-o", str(page), "--open"]
    done = CliRunner().invoke(report, words)
    assert done.exit_code == 0, done.output
    assert "Since old" in page.read_text("utf-8")
    assert opened == [page.as_uri()]  # a relative path could be taken for the name of a host
    assert "No browser" not in done.output
    done = CliRunner().invoke(report, [str(tmp_path / "new"), "-o", str(page), "--open"])
    assert f"No browser could be started: open {page} in one." in done.output
    (tmp_path / "comparison.json").write_text(json.dumps(comparison(2)), "utf-8")
    words = [str(tmp_path / "new"), "--against", str(tmp_path / "comparison.json"), "-o", str(page)]
    both = CliRunner().invoke(report, words)
    assert isinstance(both.exception, InputError)
    assert "a run and a comparison" in str(both.exception)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    none = CliRunner().invoke(report, [str(tmp_path / "new"), "-o", str(page), "--export", "svg"])
    assert isinstance(none.exception, InputError)
    assert "Chromium, Chrome or Edge" in str(none.exception)
