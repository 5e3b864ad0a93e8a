"""The report of a method that buys features: how many each row needed, which ones, and how belief grew with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bokeh.models import ColumnDataSource, NumeralTickFormatter, Range1d

from streamsift.report.chart import (
    Chart,
    as_share,
    coloured,
    draw_curves,
    dress,
    hover,
    hover_curves,
    name_lanes,
    new_figure,
)
from streamsift.report.numbers import duration, number, share
from streamsift.report.over_time import joined, told
from streamsift.report.page import Cell, Section, Table, render
from streamsift.report.run import settings_table
from streamsift.runs.trace import Trace

N_LANES = 30  # features drawn in the chart of the most bought


def instances_page(trace: Trace, first: Sequence[Section] = ()) -> str:
    """Return the HTML report of a run of a method that buys features.

    Parameters
    ----------
    trace : Trace
        Its result holds accuracy, mean_cost, rows_trained, rows_held_out, features_used, bought (name, share and price)
        and `examples` (row, answer, reason and steps of some rows of the file).
    first : sequence of Section
        What stands above the run.

    Returns
    -------
    str
        A complete page that needs no other file and no network.

    Examples
    --------
    >>> from streamsift.runs.instances import InstanceTraceWriter
    >>> from streamsift.runs.run import Run
    >>> used = {"mean": 1.5, "min": 1, "q1": 1, "median": 1.5, "q3": 2, "max": 2, "histogram": [0, 5, 5]}
    >>> with InstanceTraceWriter(None, Run("etana", "instances", "people.csv", "sex")) as writer:
    ...     writer.result = {"accuracy": 0.9, "mean_cost": 0.1, "rows_trained": 20, "rows_held_out": 10}
    ...     bought = [{"name": "height", "share": 1.0, "price": 0.01}]
    ...     writer.result |= {"features_used": used, "bought": bought, "examples": []}
    >>> instances_page(writer.trace())[:15]
    '<!doctype html>'
    """
    run, found = trace.run, trace.result
    used = found["features_used"]
    facts = [
        (share(found["accuracy"]), "accuracy on held-out rows"),
        (f"{used['mean']:.2f}", "features per row, mean"),
        (number(found["mean_cost"]), "cost per row, mean"),
        (f"{found['rows_held_out']:,}", "rows held out"),
        (duration(run.seconds), "learning and judging"),
    ]
    lead = (
        f"How few features {run.method} needs to tell {run.target!r}: learnt on {found['rows_trained']:,} "
        f"rows, judged on {found['rows_held_out']:,} others" + ("." if run.complete else "; the run was interrupted.")
    )
    tables = [
        *([_bought(found)] if found["bought"] else []),
        *([_examples(found["examples"])] if found["examples"] else []),
    ]
    section = Section("The trial", facts, purchase_charts(trace), [*tables, settings_table(run.shown())])
    return render(run.data, lead, [*first, section])


def purchase_charts(trace: Trace) -> list[Chart]:
    """The charts of a run of a method that buys features."""
    found = trace.result
    charts = [_histogram(found["features_used"]["histogram"])]
    if found["bought"]:
        charts.append(_most_bought(found["bought"]))
    if found["examples"]:
        charts.append(_beliefs(found["examples"]))
    return charts


def _histogram(counts: list[int]) -> Chart:
    total = sum(counts)
    chart = Chart(
        "Features needed per row",
        "How many of the held-out rows were decided with so many features; the further left, the cheaper.",
        "Bar chart of the number of features bought: "
        + ", ".join(f"{count} rows with {k}" for k, count in enumerate(counts) if count)
        + ".",
        new_figure("features bought", "share of rows", 260),
    )
    source = ColumnDataSource({"x": list(range(len(counts))), "top": [c / total for c in counts], "count": counts})
    bars = chart.figure.vbar("x", top="top", width=0.8, source=source, line_color=None)
    chart.colour(bars.glyph, fill_color="series-0")
    hover(chart, [bars], [("features", "@x"), ("rows", "@count{0,0}"), ("share", "@top{0.0%}")])
    chart.data = {"features": list(range(len(counts))), "rows": counts}
    chart.figure.x_range = Range1d(-0.6, max(len(counts), 3) - 0.4)
    chart.figure.y_range.start = 0
    chart.figure.yaxis.formatter = NumeralTickFormatter(format="0%")
    dress(chart)
    chart.figure.xaxis.ticker.min_interval = 1  # there are no half features
    return chart


def _most_bought(bought: list[dict[str, Any]]) -> Chart:
    shown = bought[:N_LANES]
    left_out = len(bought) - len(shown)
    chart = Chart(
        "What was bought",
        "The share of the held-out rows that bought each feature, most bought first."
        + (f" {left_out:,} more were bought more rarely." if left_out else ""),
        f"Bar chart of how often features were bought; most often {shown[0]['name']}, by {shown[0]['share']:.0%}.",
        new_figure("share of rows", None, 70 + 18 * max(len(shown), 2)),
    )
    source = ColumnDataSource(
        {
            "y": list(range(len(shown))),
            "right": [one["share"] for one in shown],
            "name": [one["name"] for one in shown],
            "price": [_price(one) for one in shown],
        }
    )
    bars = chart.figure.hbar("y", left=0, right="right", height=0.62, source=source, line_color=None)
    chart.colour(bars.glyph, fill_color="series-0")
    hover(chart, [bars], [("feature", "@name"), ("bought by", "@right{0.0%}"), ("price", "@price")])
    name_lanes(chart, [one["name"] for one in shown])
    chart.data = {
        "feature": [one["name"] for one in bought],
        "share": [one["share"] for one in bought],
        "price": [one.get("price") for one in bought],
    }
    chart.figure.x_range.start = 0
    return dress(chart, "0%")


def _price(one: dict[str, Any]) -> str:
    return "–" if one.get("price") is None else f"{one['price']:g}"


def _beliefs(examples: list[dict[str, Any]]) -> Chart:
    chart = Chart(
        "How belief grew",
        "The probability of the final answer after each purchase, for some rows of the file; buying stops when the "
        "next feature costs more than it can save.",
        f"Line chart of the probability of the answer against the features bought, for {len(examples)} rows.",
        new_figure("features bought", "probability", 280),
    )
    lines = [
        (
            f"row {one['row']:,}: {one['answer']}",
            list(range(len(one["steps"]))),
            [step["probability"] for step in one["steps"]],
        )
        for one in examples
    ]
    drawn_lines = joined(lines)
    chart.reading += told(drawn_lines)
    drawn = draw_curves(chart, coloured(drawn_lines), ("row", "bought", "probability"))
    hover_curves(chart, drawn, "row", ("features bought", "0"), ("probability", "0.0%"))
    points = [(name, x, y) for name, bought, values in lines for x, y in zip(bought, values, strict=True)]
    chart.data = {key: [point[k] for point in points] for k, key in enumerate(("row", "bought", "probability"))}
    as_share(chart)
    dress(chart, "0")
    chart.figure.xaxis.ticker.min_interval = 1  # there are no half features
    return chart


def _bought(found: dict[str, Any]) -> Table:
    rows: list[list[str | Cell]] = [
        [
            str(k + 1),
            one["name"],
            Cell(share(one["share"]), one["share"], one["share"]),
            Cell(_price(one), one.get("price")),
        ]
        for k, one in enumerate(found["bought"])
    ]
    columns = ["rank", "feature", "bought by", "price"]
    return Table("Features bought", columns, rows, "", frozenset({"rank", "price"}))


def _examples(examples: list[dict[str, Any]]) -> Table:
    rows: list[list[str | Cell]] = [
        [
            f"{one['row']:,}",
            one["answer"],
            " → ".join(step["feature"] for step in one["steps"][1:]) or "nothing",
            Cell(f"{one['steps'][-1]['cost']:g}", one["steps"][-1]["cost"]),
            one["reason"],
        ]
        for one in examples
    ]
    columns = ["row", "answer", "bought, in this order", "price paid", "why it stopped"]
    return Table("Single rows", columns, rows, "", frozenset({"row", "price paid"}))
