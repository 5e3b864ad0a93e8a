"""The examples of the gallery run as they stand, print something, and show charts that a page can hold."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest
from bokeh.embed import components

DOCS = Path(__file__).resolve().parents[2] / "docs"
EXAMPLES = sorted((DOCS / "gallery").glob("*.py"))


def test_there_are_twenty_examples_with_a_small_picture_each():
    assert len(EXAMPLES) >= 20
    assert {path.stem for path in (DOCS / "images" / "gallery").glob("*.png")} == {path.stem for path in EXAMPLES}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_prints_and_draws(path, capsys, monkeypatch):
    monkeypatch.setattr("bokeh.plotting.show", None)  # given back after the test; run_example puts its own there
    charts = runpy.run_path(str(DOCS / "charts.py"))["run_example"](path)
    assert charts
    assert capsys.readouterr().out.strip()
    for chart in charts:
        script, place = components(chart)
        assert "<div" in place
        assert len(script) < 500_000, "too much data for a page"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short_and_says_what_it_shows(path):
    text = path.read_text(encoding="utf-8")
    title, rule, *_ = ast.get_docstring(ast.parse(text)).splitlines()
    assert rule == "=" * len(title)
    assert len(text.splitlines()) <= 60
