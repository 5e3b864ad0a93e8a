"""What a notebook shows: selections with bars, comparisons with their recommendation, and no markup from names."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
from tests.report.test_page import NASTY, Page

from streamsift import ETANA, Investing, Screener
from streamsift.comparison.comparison import Comparison
from streamsift.core.selection import Selection


def test_a_selection_is_a_table_with_bars():
    found = Selection(np.arange(3), ("a", NASTY, "c"), np.array([np.inf, 4.0, 1.0]), 9, 1000)
    text = found._repr_html_()
    assert NASTY not in text
    assert NASTY in Page(text).text
    assert "3 of 9 features after 1,000 rows" in text
    assert re.findall(r"width: (\d+)px\"></span>", text) == ["120", "120", "30"]
    many = Selection(np.arange(40), tuple(f"x{k}" for k in range(40)), None, 50, 1)._repr_html_()
    assert "10 more are not shown" in many


def test_a_selector_shows_its_selection_once_it_has_one():
    selector = Screener("t_score", n_features_to_select=1)
    assert "sk-" in selector._repr_mimebundle_()["text/html"]  # as scikit-learn draws it
    selector.partial_fit(np.array([[0.0, 1.0], [1.0, 1.1], [0.1, 1.1], [0.9, 1.0]]), ["no", "yes", "no", "yes"])
    bundle = selector._repr_mimebundle_()
    assert bundle["text/plain"] == repr(selector)
    text = Page(bundle["text/html"]).text
    assert "1 of 2 features after 4 rows" in text
    assert "explain('x0')" in text


def test_a_column_selector_shows_what_it_kept():
    rng = np.random.default_rng(0)
    y = np.repeat([0.0, 1.0], 40)
    X = np.column_stack([rng.normal(size=80), y + 0.1 * rng.normal(size=80)])
    selector = Investing(criterion="iic")
    assert "sk-" in selector._repr_mimebundle_()["text/html"]
    selector.begin(y)
    selector.offer_many(X, names=["noise", NASTY])
    text = selector._repr_mimebundle_()["text/html"]
    assert NASTY not in text
    assert "1 of 2 columns offered are selected" in Page(text).text
    assert re.findall(r"width: (\d+)px\"></span>", text) == ["120"]


def test_a_classifier_that_buys_shows_how_much_it_has_learnt():
    model = ETANA(n_bins=2)
    assert "sk-" in model._repr_mimebundle_()["text/html"]
    model.fit([[0, 5], [0, 6], [9, 5], [9, 6]] * 10, [NASTY, NASTY, "yes", "yes"] * 10)
    text = model._repr_mimebundle_()["text/html"]
    assert NASTY not in text
    words = Page(text).text
    assert "40rows learnt" in words
    assert f"2classes: {NASTY}, yes" in words


def test_a_trace_shows_its_numbers_its_curves_and_the_level_to_beat(judged_trace):
    shares = pa.array([None, *[0.6] * (len(judged_trace) - 1)])
    place = judged_trace.table.column_names.index("window_majority")
    table = judged_trace.table.set_column(place, "window_majority", shares)
    text = replace(judged_trace, table=table)._repr_html_()
    words = Page(text).text
    assert "51.0 % to 90.0 %, at the end 90.0 %; shaded: the most frequent class, 60.0 % at the end" in words
    assert "Selected at the end: sensor_7, sensor_8" in words
    assert len(re.findall("<polygon", text)) == 1
    assert len(re.findall("<line", text)) == 2 * len(range(3, 41, 10))  # drift, in accuracy and in stability
    assert "shaded" not in judged_trace._repr_html_()


def test_a_comparison_shows_what_to_do_and_the_entries(comparison):
    found = comparison(3, recommended="method0 + naive_bayes", verdict="use", reason="It is the best of 3.")
    found["entries"][2]["method"] = NASTY
    text = Comparison(found)._repr_html_()
    assert NASTY not in text
    words = Page(text).text
    for part in ("Use method0 with naive_bayes", "It is the best of 3.", "90.0 %accuracy", "1*", NASTY):
        assert part in words
    assert "methodaccuracy" in words  # one learner for all has no column
