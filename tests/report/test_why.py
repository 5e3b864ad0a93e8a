"""Why these features: the cards of the report and of a notebook."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from tests.report.test_page import NASTY, Page

from streamsift import Joint, Screener
from streamsift.report.summarize import summarize
from streamsift.report.trace_page import trace_page
from streamsift.report.why import Course, _means, html, unknown_to_all, why_cards
from streamsift.runs.lead import lead
from streamsift.runs.run import Run
from streamsift.runs.trace import Trace


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """A run over rows in which `late` becomes a leader half-way; one name is markup."""
    rng = np.random.default_rng(0)
    n = 4000
    y = rng.integers(0, 2, n)
    late = rng.normal(size=n) + np.where(np.arange(n) < 2000, 0.0, 3.0 * y)
    frame = pd.DataFrame({"steady": rng.normal(size=n) + y, "late": late, NASTY: rng.normal(size=n)})
    path = tmp_path_factory.mktemp("why") / "trace.parquet"
    lead(Screener(n_features_to_select=1), Run("screen:mutual_info"), (frame, y), trace_path=path)
    return Trace.read(path)


def test_a_run_keeps_its_explanations_and_selection_json_does_not(trace):
    assert [why["name"] for why in trace.result["why"]] == ["late", "steady", NASTY]
    assert [why["selected"] for why in trace.result["why"]] == [True, False, False]


def test_the_cards_say_when_a_feature_came_in(trace):
    run = summarize(trace, "run")
    cards = [Page(str(card.html)).text for card in why_cards(run, 0)]
    snapshots = trace.snapshots().table
    held = [trace.name(one[0]) == "late" for one in snapshots["selected"].to_pylist()]
    since = snapshots["row"].to_pylist()[held.index(True)]
    assert not held[0]
    assert f"Selected since row {since:,}" in cards[0]
    assert "selected for a time, first at row 1,000" in cards[1].lower()
    assert "never selected" in cards[2].lower()
    assert "never missing" in cards[0]
    assert "Share of each class by value" in cards[0]


def test_what_no_feature_knows_is_said_once(trace):
    common = unknown_to_all(trace.result["why"])
    assert len(common) == 1
    page = trace_page(trace)
    assert Page(page).text.count(common[0]) == 1
    assert "Why these features?" in Page(page).text
    assert NASTY not in page


def test_bars_are_shares_of_each_class():
    why = {
        "name": "a", "index": 0, "selected": True, "rank": 1, "score": "inf", "threshold": None, "n_features": 1,
        "n_rows_seen": 30, "classes": ["no", "yes"],
        "evidence": {
            "bins": [{"text": "0", "weights": [5.0, 0.0]}, {"text": "1 to 2", "weights": [15.0, 10.0]}],
            "spreads": [], "missing": None, "examples": [], "related": [["b", 0.9]], "figures": [], "unknown": [],
        },
    }  # fmt: skip
    text = html(why, Course([1, 2], [None, 3.0], [], False))
    widths = [float(found) for found in re.findall(r'<rect [^>]*width="([\d.]+)"', text)]
    assert widths == pytest.approx([260 * 0.25, 0.5, 260 * 0.75, 260.0])
    assert "score ∞" in text
    assert "b 0.90" in text
    assert "polyline" not in text  # one point is no line


def test_means_by_class_are_drawn_on_one_scale():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = np.column_stack([rng.normal(size=400) + 3.0 * y, rng.normal(size=400)])
    names = np.array(["no", "yes"])[y]
    for selector in (Screener("t_score", n_features_to_select=1), Joint(n_features_to_select=1)):
        text = selector.partial_fit(X, names).explain("x0")._repr_html_()
        dots = {
            label: float(x)
            for x, label in re.findall(r'<circle cx="([\d.]+)"[^>]*><title>(\w+): ', text)
        }  # fmt: skip
        assert dots["no"] < dots["yes"]
        assert "Mean ± standard deviation" in text


def test_a_mean_that_is_nothing_but_rounding_is_zero_and_its_numbers_stand_clear_of_the_line():
    spreads = [{"label": "all rows", "mean": -2.012e-16, "deviation": 0.04757}]
    evidence = {"bins": [], "spreads": spreads, "missing": None, "examples": [], "related": [], "figures": []}
    why = {"name": "a", "index": 0, "selected": True, "rank": 1, "score": 1.0, "threshold": 0.5, "n_features": 2}
    text = html({**why, "classes": [], "evidence": evidence | {"unknown": []}})
    assert "all rows: 0.000 ± 0.04757" in text
    assert float(re.search(r'x2="([\d.]+)"', text).group(1)) < 270.0  # where the room for the numbers begins
    assert "score 1.000 (the best that is not selected has 0.5000)" in text


def test_a_notebook_shows_the_same_card(trace):
    X = np.column_stack([np.arange(100.0), np.ones(100)])
    why = Screener(n_features_to_select=1).partial_fit(X, np.arange(100) > 40).explain("x0")
    text = why._repr_html_()
    assert "<svg" in text
    assert "x0" in text
    assert "<script" not in text


def marked(course):
    """Where the dashed line of a card's small curve stands, as a share of its width."""
    why = {
        "name": "a",
        "selected": course.held,
        "rank": 1,
        "n_features": 2,
        "score": 1.0,
        "threshold": None,
        "classes": [],
    }
    known = {"figures": [], "missing": None, "bins": [], "spreads": [], "related": [], "examples": [], "unknown": []}
    return float(re.search(r'<line x1="([\d.]+)"', html(why | {"evidence": known}, course))[1]) / 400


def test_the_mark_is_the_row_since_which_a_feature_is_selected():
    rows, scores = [100, 200, 300, 400], [1.0, 0.5, 0.2, 2.0]
    assert marked(Course(rows, scores, [100, 300], held=True)) == pytest.approx(0.75, abs=0.01)
    assert marked(Course(rows, scores, [100, 300], held=False)) == pytest.approx(0.25, abs=0.01)


def test_large_numbers_do_not_stand_on_the_line_of_means():
    spreads = [{"label": "all rows", "mean": 1_714_865_400.0, "deviation": 6_235_383.0}]
    drawn = str(_means(spreads))
    end = max(float(x) for x in re.findall(r'x2="([\d.]+)"', drawn))
    (words,) = re.findall(r">([^<]*±[^<]*)<", drawn.partition("</circle>")[2])
    assert end < 400 - 6.5 * len(words)
