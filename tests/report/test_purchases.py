"""Instances: how few features were needed, which, and how belief grew."""

from __future__ import annotations

from tests.report.test_page import NASTY, Page

from streamsift.report.purchases import N_LANES, instances_page, purchase_charts
from streamsift.runs.instances import InstanceTraceWriter
from streamsift.runs.run import Run

USED = {"mean": 1.5, "min": 0, "q1": 1, "median": 1.5, "q3": 2, "max": 2, "histogram": [1, 4, 5]}
STEPS = [
    {"feature": "", "probability": 0.5, "cost": 0.0},
    {"feature": "height", "probability": 0.8, "cost": 0.02},
    {"feature": "weight", "probability": 0.97, "cost": 0.03},
]
FOUND = {
    "accuracy": 0.9, "mean_cost": 0.1, "rows_trained": 20, "rows_held_out": 10, "features_used": USED,
    "bought": [{"name": "height", "share": 0.9, "price": 0.02}, {"name": "weight", "share": 0.5, "price": 0.01}],
    "examples": [{"row": 7, "answer": "f", "reason": "the next feature costs more than it can save", "steps": STEPS}],
}  # fmt: skip


def traced(**changes):
    with InstanceTraceWriter(None, Run("etana", "instances", "people.csv", "sex", {"n_bins": 2})) as writer:
        writer.result = FOUND | changes
    return writer.trace()


def test_everything_is_on_the_page(unpack):
    html = instances_page(traced())
    text = Page(html).text
    for words in ("90.0 %", "1.50", "height → weight", "0.02", "the next feature costs more", "people.csv"):
        assert words in text
    charts = {chart["file"]: chart["data"] for chart in unpack(html)["charts"]}
    assert charts["features-needed-per-row.csv"] == {"features": [0, 1, 2], "rows": [1, 4, 5]}
    assert charts["what-was-bought.csv"]["share"] == [0.9, 0.5]
    assert charts["how-belief-grew.csv"]["probability"] == [0.5, 0.8, 0.97]


def test_nothing_bought_and_no_prices(unpack):
    nothing = traced(bought=[], examples=[], features_used=USED | {"histogram": [10]})
    page = instances_page(nothing)
    assert len(unpack(page)["charts"]) == 1
    assert "Features bought" not in Page(page).text  # no table without a line
    many = [{"name": f"x{k}", "share": 0.5} for k in range(N_LANES + 5)]
    html = instances_page(traced(bought=many))
    assert "5 more were bought more rarely" in Page(html).text


def test_rows_that_bought_alike_are_one_line_that_says_so(unpack):
    examples = [FOUND["examples"][0] | {"row": row} for row in (7, 9)]
    html = instances_page(traced(examples=examples))
    assert "These lines coincide: row 7: f = row 9: f." in Page(html).text
    charts = {chart["file"]: chart["data"] for chart in unpack(html)["charts"]}
    assert charts["how-belief-grew.csv"]["row"] == ["row 7: f"] * 3 + ["row 9: f"] * 3


def test_the_axis_of_few_bars_has_whole_numbers():
    (chart,) = purchase_charts(traced(bought=[], examples=[], features_used=USED | {"histogram": [10]}))
    assert chart.figure.xaxis.ticker.min_interval == 1
    assert chart.figure.x_range.end - chart.figure.x_range.start > 2.0  # the only bar does not fill the chart


def test_names_cannot_become_markup():
    html = instances_page(traced(bought=[{"name": NASTY, "share": 1.0, "price": 1.0}]))
    assert NASTY not in html
