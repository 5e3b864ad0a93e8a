"""The page of a run over columns: it shows what was decided, from the trace alone."""

from __future__ import annotations

from tests.report.test_page import Page

from streamsift.core.selection import Decision, Decisions
from streamsift.report.decisions import columns_page
from streamsift.runs.column_trace import ColumnTraceWriter
from streamsift.runs.run import Run

RUN = Run("investing", "columns", "people.csv", "sex", {"wealth": 0.5})


def recorded(*blocks, run=RUN, selected=()):
    with ColumnTraceWriter(None, run) as writer:
        for block in blocks:
            writer.add(Decisions.of(block))
        n_offered = sum(len(block) for block in blocks)
        writer.result = {"n_features": n_offered, "n_offered": n_offered, "selected": list(selected)}
        writer.seconds = 0.5
    return writer.trace()


def test_the_page_of_a_run(unpack):
    trace = recorded(
        [Decision("a", True, (), 9.0, 4.0, 0.6, 0.5), Decision("b", False, (), 1.0, 4.0, 0.55, 0.6)],
        [Decision("c", True, ("a",), 8.0, 4.0, 0.7, 0.55)],
        selected=[{"rank": 1, "index": 2, "name": "c", "statistic": "inf"}],
    )
    html = columns_page(trace)
    text = Page(html).text
    for words in ("people.csv", "dropped again", "Wealth", "Each decision", "∞", "The selection over time"):
        assert words in text
    charts = {chart["file"]: chart["data"] for chart in unpack(html)["charts"]}
    assert list(charts) == [
        "the-selection-grows.csv",
        "wealth.csv",
        "each-decision.csv",
        "the-selection-over-time.csv",
    ]
    assert charts["wealth.csv"]["wealth"] == [0.6, 0.55, 0.7]
    assert charts["each-decision.csv"]["accepted"] == [True, False, True]
    assert charts["the-selection-grows.csv"]["columns"] == [1, 1, 1, 1, 1, 2]
    lanes = charts["the-selection-over-time.csv"]
    assert list(zip(lanes["feature"], lanes["from"], lanes["to"], strict=True)) == [("a", 0, 3), ("c", 2, 3)]


def test_a_method_that_takes_no_decisions_one_by_one(unpack):
    html = columns_page(recorded(run=RUN.ended(seconds=0.0, complete=False)))
    assert unpack(html)["charts"] == []
    assert "the run was interrupted" in Page(html).text
