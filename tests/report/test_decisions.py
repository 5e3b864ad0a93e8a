"""Columns: the record of decisions stays small and true, and the report shows it."""

from __future__ import annotations

import numpy as np
from tests.report.test_page import Page

from streamsift.core.selection import Decision, Decisions
from streamsift.report.decisions import columns_report
from streamsift.report.record import N_POINTS, DecisionRecord

FOUND = {"data": "people.csv", "target": "sex", "method": "investing", "parameters": {"wealth": 0.5}, "complete": True}


def recorded(*blocks):
    record = DecisionRecord()
    for block in blocks:
        record.add(Decisions.of(block))
    return record.as_dict()


def test_what_was_held_from_when_to_when():
    found = recorded(
        [Decision("a", True, statistic=9.0, threshold=4.0), Decision("b", False, statistic=1.0, threshold=4.0)],
        [Decision("c", True, ("a",), 8.0, 4.0), Decision("d", False, (), 2.0, 4.0)],
    )
    assert found["members"] == [{"name": "a", "from": 0, "to": 3}, {"name": "c", "from": 2, "to": 4}]
    assert found["held"] == [1, 1, 1, 1]
    assert found["accepted"] == [1, 1, 2, 2]
    assert found["taken"]["statistic"] == [9.0, 8.0]
    assert found["refused"]["offered"] == [2, 4]
    assert (found["n_accepted"], found["n_dropped"]) == (2, 1)


def test_many_columns_make_a_small_record():
    record, n = DecisionRecord(), 5000
    rng = np.random.default_rng(0)
    for first in range(0, 20 * n, n):
        names = [f"x{first + k}" for k in range(n)]
        accepted = np.zeros(n, bool)
        accepted[::1000] = True
        record.add(Decisions(names, accepted, rng.random(n), np.full(n, 0.5), rng.random(n), rng.random(n)))
    found = record.as_dict()
    assert N_POINTS <= len(found["offered"]) <= 2 * N_POINTS
    assert len(set(np.diff(found["offered"]))) == 1
    assert len(found["taken"]["offered"]) == len(found["members"]) == 100
    assert found["held"][-1] == 100


def test_the_page_of_a_run(unpack):
    record = recorded(
        [Decision("a", True, (), 9.0, 4.0, 0.6, 0.5), Decision("b", False, (), 1.0, 4.0, 0.55, 0.6)],
        [Decision("c", True, ("a",), 8.0, 4.0, 0.7, 0.55)],
    )
    selected = [{"rank": 1, "index": 2, "name": "c", "statistic": "inf"}]
    html = columns_report(FOUND | {"n_offered": 3, "seconds": 0.5, "selected": selected}, record)
    text = Page(html).text
    for words in ("people.csv", "dropped again", "Wealth", "Each decision", "∞", "The selection over time"):
        assert words in text
    assert [chart["file"] for chart in unpack(html)["charts"]] == [
        "the-selection-grows.csv",
        "wealth.csv",
        "each-decision.csv",
        "the-selection-over-time.csv",
    ]


def test_a_method_that_takes_no_decisions_one_by_one(unpack):
    found = FOUND | {"n_offered": 3, "seconds": 0.5, "selected": [], "complete": False}
    html = columns_report(found, DecisionRecord().as_dict())
    assert unpack(html)["charts"] == []
    assert "the run was interrupted" in Page(html).text
