"""The HTML page: one file, nothing fetched, every chart in words and as data too."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

from streamsift.report.chart import shorten
from streamsift.report.figures import lanes_chart
from streamsift.report.reproduction import reproduction_report
from streamsift.report.run import run_report
from streamsift.report.summarize import summarize

NASTY = "</script><script>alert(1)</script>"
LIMIT = 3_000_000  # bytes


class Page(HTMLParser):
    """Collects the tags, the attributes and the visible text of a page."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.text, self._inside = [], "", ""
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._inside = tag

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        if self._inside not in ("script", "style"):
            self.text += data

    def all(self, tag, kind=None):
        return [a for t, a in self.tags if t == tag and (kind is None or kind in a.get("class", "").split())]


@pytest.fixture(scope="module")
def page(drifting_trace):
    runs = [summarize(drifting_trace, "with fading"), summarize(drifting_trace, "no fading")]
    return run_report("people.csv", "What tells the most.", runs)


def test_what_is_selected_stands_above_the_charts_and_the_settings_below_them(page):
    run = page[page.index(">with fading</button>") :]
    places = [run.index(words) for words in (">Selected features<", "<figure", ">Settings<")]
    assert places == sorted(places)


RESULT = {
    "title": "Figure 3",
    "lead": "Detection rates.",
    "note": "The paper prints no numbers.",
    "columns": ["l", "score", "rate@100"],
    "rows": [["250", "t_score", "0.500"]],
    "x_label": "selected features",
    "dashed_means": "without fading",
    "panels": [
        {
            "title": "A shift every 250 rows",
            "reading": "More with fading.",
            "alt": "Curves.",
            "curves": [
                {"name": "t", "colour_by": "t_score", "dashed": False, "x": [100.0, 200.0], "y": [0.5, 0.7]},
                {"name": "t plain", "colour_by": "t_score", "dashed": True, "x": [100.0, 200.0], "y": [0.3, 0.4]},
            ],
        }
    ],
}


def test_nothing_is_loaded_from_elsewhere(page):
    parsed = Page(page)
    for tag, attributes in parsed.tags:
        assert "src" not in attributes, tag
        assert attributes.get("href", "data:").startswith(("data:", "#")), tag
    style = page[page.index("<style>") : page.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    policy = next(a["content"] for a in parsed.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy


def test_every_chart_has_a_title_a_reading_alt_text_and_data(page, unpack):
    parsed = Page(page)
    charts = parsed.all("div", "chart")
    # Detection, then heat map, lanes and scores of two runs, and the two charts of a single feature.
    assert len(charts) == 1 + 2 * 3 + 2
    assert len(parsed.all("figcaption")) == len(parsed.all("figure")) == len(parsed.all("button", "csv")) == len(charts)
    assert all(chart["role"] == "img" and len(chart["aria-label"]) > 20 for chart in charts)
    single, others = unpack(page)["single"], unpack(page)["charts"]
    assert all(chart["data"] or chart["heat"] for chart in others)
    assert all(len({len(column) for column in chart["data"].values()}) <= 1 for chart in others)
    assert [chart["file"] for chart in single] == ["score.csv", "rank.csv"]


def test_the_table_and_the_settings_are_on_the_page(page):
    text = Page(page).text
    for words in ("people.csv", "sensor_8", "screen:t_score", "mean over the second half", "4,000", "true feature"):
        assert words in text
    assert 'lang="en"' in page
    assert 'name="viewport"' in page
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_a_judged_run_shows_its_measures(judged_page, unpack):
    text = Page(judged_page).text
    for words in (
        "Accuracy over time",
        "Stability over time",
        "Time spent",
        "Memory held",
        "drift found by the selector",
    ):
        assert words in text
    assert "97.6 %" in text  # 40 / 41
    assert "4 kB" in text
    assert "2,500" in text  # 4,000 rows in 1.6 seconds
    charts = {chart["file"]: chart["data"] for chart in unpack(judged_page)["charts"]}
    assert charts["stability-over-time.csv"]["stability"][:2] == [None, 0.5]
    found = [row for row, what in zip(*(charts["the-selection-over-time.csv"][c] for c in ("to", "what")), strict=True)
             if what == "drift found"]  # fmt: skip
    assert found == [400, 1400, 2400, 3400]  # the snapshots after steps 3, 13, 23 and 33


def test_a_run_without_true_features_says_nothing_about_them(make_trace):
    html = run_report("data", "lead", [summarize(make_trace([[1, 2, 3], [3, 2, 1]]), "run")])
    assert "true feature" not in Page(html).text
    assert "drift" not in Page(html).text
    assert len(Page(html).all("div", "chart")) == 3 + 2


def test_names_from_the_data_cannot_become_markup(make_trace):
    trace = make_trace([[1, 2, 3]] * 2, names=["a", NASTY, "$$x$$"], target=NASTY)
    html = run_report(NASTY, NASTY, [summarize(trace, NASTY)])
    assert NASTY not in html
    assert NASTY in Page(html).text
    assert len(Page(html).all("script")) == 2


@pytest.mark.parametrize(
    ("snapshots", "features"), [(1, 1), (1, 2), (2, 2), (5, 41), (3, 5000)], ids=lambda number: f"{number}"
)
def test_small_and_wide_runs(make_trace, snapshots, features, unpack):
    scores = np.random.default_rng(0).random((snapshots, features))
    html = run_report("data", "lead", [summarize(make_trace(scores, k=min(features, 20)), "run")])
    assert len(unpack(html)["charts"]) == (3 if snapshots > 1 else 2)
    assert len(html) < LIMIT


def test_long_names_that_begin_alike_are_told_apart_beside_the_lanes():
    names = [f"a very long name of a sensor in hall {k // 3}, channel {k % 3} (raw, millivolts)" for k in range(40)]
    found = shorten([*names, "short"])
    assert len(set(found)) == 41
    assert max(len(name) for name in found) <= 18
    assert found[-1] == "short"


def test_a_run_that_ends_without_a_selection_says_so(make_trace, unpack):
    trace = make_trace([[1.0, 2.0], [1.0, 2.0], [2.0, 1.0]], k=1)
    last = trace.table.slice(2).to_pylist()[0] | {"selected": []}
    table = pa.concat_tables([trace.table.slice(0, 2), pa.Table.from_pylist([last], trace.table.schema)])
    run = summarize(replace(trace, table=table), "run")
    page = Page(run_report("data", "lead", [run]))
    assert "Nothing is selected at the end." in page.text
    assert "Each coloured line" not in page.text
    chart = lanes_chart(run["lanes"])
    assert (chart.figure.x_range.start, chart.figure.x_range.end) == (0, 300)  # though 200 is the last row selected


def test_a_single_snapshot_has_no_lines_over_time_and_lanes_in_the_order_of_rank(make_trace, unpack):
    html = run_report("data", "lead", [summarize(make_trace([[1.0, 3.0, 2.0]], k=3), "run")])
    assert "Scores of the leaders" not in html
    lanes = next(chart for chart in unpack(html)["charts"] if "what" in chart["data"])
    assert lanes["data"]["feature"] == ["x1", "x2", "x0"]


def test_a_method_without_scores_has_no_heat_map(make_trace):
    trace = make_trace([[1, 2, 3]] * 3)
    run = summarize(trace, "run")
    empty = trace.table.set_column(2, "indices", [[[]] * 3]).set_column(3, "scores", [[[]] * 3])
    without = summarize(replace(trace, table=_typed(empty, trace.table)), "run")
    assert len(Page(run_report("data", "lead", [run])).all("div", "chart")) == 5
    assert len(Page(run_report("data", "lead", [without])).all("div", "chart")) == 3


def _typed(table, like):
    return table.cast(like.schema)


def test_long_names_and_infinite_scores(make_trace):
    names = ["a" * 200, "Überfüllung 🚰 温度", "x\u202ey"]
    html = run_report("data", "lead", [summarize(make_trace([[np.inf, -np.inf, 1]] * 3, names=names), "run")])
    text = Page(html).text
    assert "∞" in text
    assert "perfect separation" in text
    assert names[0] in text


def test_many_selected_features_are_cut_with_a_word(make_trace):
    html = run_report("data", "lead", [summarize(make_trace(np.random.default_rng(0).random((2, 900)), k=800), "run")])
    assert "more features are in selection.json" in Page(html).text
    assert len(html) < LIMIT


def test_charts_say_what_they_leave_out():
    lane = {"index": 0, "name": "a", "selected": [(0, 10)], "relevant": []}
    lanes = {"features": [lane], "n_ever_selected": 4, "drift": [], "drift_found": [], "true_features_known": False}
    lanes["end"] = 10
    assert "3 more features" in lanes_chart(lanes).reading


def test_a_reproduction_has_panels_a_table_and_the_note():
    parsed = Page(reproduction_report(RESULT))
    assert len(parsed.all("div", "chart")) == 1
    for words in ("Figure 3", "0.500", "The paper prints no numbers.", "without fading", "A shift every 250 rows"):
        assert words in parsed.text


def test_a_figure_of_several_repeats_has_its_means_and_their_errors():
    line = {"panel": "mean accuracy", "name": "FIRES", "x": ["SEA"], "y": [0.8125], "error": [0.0125]}
    curve = {"panel": "over time", "name": "FIRES", "x": list(range(50)), "y": [0.987654] * 50}
    record = {"seeds": [1, 2, 3], "repeats": 3, "paper_repeats": 30, "cells": [], "series": [line, curve]}
    parsed = Page(reproduction_report(RESULT, record))
    for words in ("What the figure shows, means over 3 repeats (30 in the paper)", "0.8125", "0.0125", "first repeat"):
        assert words in parsed.text
    assert "Lines of more than 40 places are left out: 1." in parsed.text
    assert "0.9877" not in parsed.text
    alone = Page(reproduction_report(RESULT, {**record, "seeds": [1], "repeats": 1}))
    assert "standard error" not in alone.text
