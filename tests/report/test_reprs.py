"""What a notebook shows: selections with bars, comparisons with their recommendation, and no markup from names."""

from __future__ import annotations

import re

import numpy as np
from tests.report.test_page import NASTY, Page

from streamsift import Screener
from streamsift.comparison.comparison import Comparison
from streamsift.core.selection import Selection


def test_a_selection_is_a_table_with_bars():
    found = Selection(np.arange(3), ("a", NASTY, "c"), np.array([np.inf, 4.0, 1.0]), 9, 1000)
    text = found._repr_html_()
    assert NASTY not in text
    assert NASTY in Page(text).text
    assert "3 of 9 features after 1,000 rows" in text
    assert re.findall(r"width: (\d+)px", text) == ["120", "120", "30"]
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


def test_a_comparison_shows_what_to_do_and_the_entries(comparison):
    found = comparison(3, recommended="method0 + naive_bayes", verdict="use", reason="It is the best of 3.")
    found["entries"][2]["method"] = NASTY
    text = Comparison(found)._repr_html_()
    assert NASTY not in text
    words = Page(text).text
    for part in ("Use method0 with naive_bayes", "It is the best of 3.", "accuracy 90.0 %", "1*", NASTY):
        assert part in words
    assert "methodaccuracy" in words  # one learner for all has no column
