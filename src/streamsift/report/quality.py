"""The charts beside the ranking of a comparison: costs, differences from the best, critical differences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from bokeh.models import ColumnDataSource, Range1d

from streamsift.comparison.metrics import in_units_of_target
from streamsift.report.chart import LONGEST_ENTRY, Chart, Mark, dress, hover, name_lanes, new_figure
from streamsift.report.measures import measure
from streamsift.report.numbers import duration, number, size

LARGEST = 100.0  # points by which two shares can differ
COSTS = (
    (
        "rows_per_second",
        "Speed",
        "rows per second",
        "Rows per second, tested and learnt; further right is faster.",
        number,
    ),
    ("memory", "Memory", "bytes", "Memory of selector and learner; further left is leaner.", size),
    ("features", "Features used", "features", "Features the learner was given, on average.", number),
    ("seconds", "Time", "seconds", "Seconds of a whole run; further left is faster.", duration),
)


def cost_charts(entries: Sequence[dict[str, Any]]) -> list[Chart]:
    """What each method costs: one chart a measure, a dot a method."""
    charts = []
    for key, title, unit, reading, words in COSTS:
        known = [entry for entry in entries if entry.get(key) is not None]
        if known:
            values = [float(entry[key]) for entry in known]
            charts.append(_dots(title, reading, unit, [entry["name"] for entry in known], values, words))
    return charts


def _dots(title: str, reading: str, unit: str, names: list[str], values: list[float], words: Any) -> Chart:
    positive = [value for value in values if value > 0]
    wide = len(positive) == len(values) and max(values) > 30 * min(values)
    best = ", ".join(f"{name} {words(value)}" for name, value in list(zip(names, values, strict=True))[:6])
    plot = new_figure(unit, None, 70 + 22 * max(len(names), 2), x_axis_type="log" if wide else "linear")
    chart = Chart(title, reading + (" Each step is ten times the last." if wide else ""), f"{title}: {best}.", plot)
    start = 10 ** _floor_log(min(values)) if wide else 0.0
    lanes = list(range(len(names)))
    texts = [words(value) for value in values]
    source = ColumnDataSource({"y": lanes, "x": values, "start": [start] * len(names), "name": names, "text": texts})
    stems = plot.segment("start", "y", "x", "y", source=source, line_width=2)
    dots = plot.scatter("x", "y", source=source, size=11, line_color=None)
    chart.colour(stems.glyph, line_color="band")
    chart.colour(dots.glyph, fill_color="series-0")
    hover(chart, [dots], [("method", "@name"), (unit, "@text")])
    name_lanes(chart, names, LONGEST_ENTRY)
    top = max(positive, default=1.0)
    plot.x_range = Range1d(start, top * (2.0 if wide else 1.08))
    chart.data = {"method": names, unit: values}
    dress(chart)
    plot.xgrid.visible = True
    return chart


def _floor_log(value: float) -> int:
    return len(str(int(value))) - 1 if value >= 1 else -len(f"{1 / value:.0f}")


def differences_chart(pairs: Sequence[dict[str, Any]]) -> Chart:
    """By how much the best method is ahead of each other one, with the interval of the test."""
    mine = [pair for pair in pairs if pair["first"] == pairs[0]["first"]]
    metric = mine[0].get("metric", "accuracy")
    in_target = in_units_of_target(metric)
    factor, unit = (1.0, f"lower {metric.upper()}") if in_target else (100.0, f"points of {measure(metric).label}")
    names, points = [pair["second"] for pair in mine], [factor * pair["difference"] for pair in mine]
    ends = [[None if pair[end] is None else factor * pair[end] for pair in mine] for end in ("low", "high")]
    verdicts = [pair["verdict"] for pair in mine]
    told = ", ".join(
        f"{name} {f'{gap:.3g}' if in_target else f'{gap:.1f}'} ({verdict})"
        for name, gap, verdict in zip(names, points, verdicts, strict=True)
    )
    chart = Chart(
        "Differences from the best",
        f"By how much {pairs[0]['first']} is ahead ({unit}), with the interval of the test, corrected for the "
        "number of comparisons; one that holds 0 cannot be distinguished; too few rows have none.",
        f"Interval chart. {pairs[0]['first']} is ahead of: {told}.",
        new_figure(unit, None, 80 + 22 * max(len(names), 2)),
    )
    plot, lanes = chart.figure, list(range(len(names)))
    source = ColumnDataSource({"y": lanes, "x": points, "name": names, "verdict": verdicts})
    known = [place for place in lanes if ends[0][place] is not None]
    bars = plot.segment(
        [ends[0][place] for place in known], known, [ends[1][place] for place in known], known, line_width=3
    )
    chart.colour(bars.glyph, line_color="band")
    zero = plot.segment([0.0], [-0.5], [0.0], [len(names) - 0.5], line_width=1)
    chart.colour(zero.glyph, line_color="ink")
    dots = plot.scatter("x", "y", source=source, size=9, line_color=None)
    chart.colour(dots.glyph, fill_color="series-0")
    hover(chart, [dots], [("method", "@name"), (f"{unit}", "@x{0.[000]}"), ("verdict", "@verdict")])
    name_lanes(chart, names, LONGEST_ENTRY)
    values = [0.0, *points, *(end for side in ends for end in side if end is not None)]
    margin = 0.05 * max(max(values) - min(values), 1e-12 if in_target else 1.0)
    # The interval of few streams may be wider than any difference can be.
    ends_of_axis = (min(values) - margin, max(values) + margin)
    largest = math.inf if in_target else LARGEST
    plot.x_range = Range1d(*(min(max(end, -largest), largest) for end in ends_of_axis))
    chart.data = {
        "method": names, f"{unit} ahead" if in_target else "points ahead": points,
        "from": ends[0], "to": ends[1], "verdict": verdicts,
        "adjusted p": [pair["p_adjusted"] for pair in mine],
    }  # fmt: skip
    dress(chart, "0.[000]" if in_target else "0.[0]")
    return chart


def ranks_chart(tests: dict[str, Any]) -> Chart:
    """The critical-difference diagram: average ranks, and bars over the methods that were not distinguished."""
    ranked = sorted(tests["average_ranks"].items(), key=lambda item: item[1])
    names, ranks = [name for name, _ in ranked], [rank for _, rank in ranked]
    groups = [group for group in tests["groups"] if len(group) > 1]
    difference = tests["critical_difference"]
    chart = Chart(
        "Critical differences",
        "Average rank over the streams, 1 is the best; methods under a common bar were not distinguished"
        + (", for their ranks differ by less than the critical difference." if difference else "."),
        f"Critical-difference diagram. Average ranks: {', '.join(f'{n} {r:.2f}' for n, r in ranked)}."
        + "".join(f" Not distinguished: {', '.join(group)}." for group in groups),
        new_figure("average rank", None, 80 + 22 * len(names) + 14 * (len(groups) + bool(difference))),
    )
    plot = chart.figure
    last = max(len(names), 2)
    depth = len(groups) + bool(difference)  # bars stand above the lanes, as lanes -1, -2, ...
    left = 0.8
    places = list(range(len(names)))
    source = ColumnDataSource({"x": ranks, "y": places, "name": names, "left": [left] * len(names)})
    threads = plot.segment("left", "y", "x", "y", source=source, line_width=1.2)
    drops = plot.segment("x", -0.6 - 0.65 * depth, "x", "y", source=source, line_width=1.2)
    dots = plot.scatter("x", "y", source=source, size=9, line_color=None)
    chart.colour(threads.glyph, line_color="faint")
    chart.colour(drops.glyph, line_color="faint")
    chart.colour(dots.glyph, fill_color="series-0")
    hover(chart, [dots], [("method", "@name"), ("average rank", "@x{0.00}")])
    of = tests["average_ranks"]
    ends = [(min(of[name] for name in group) - 0.04, max(of[name] for name in group) + 0.04) for group in groups]
    _bars_above(chart, ends, "ink", "not distinguished")
    if difference:
        _bars_above(chart, [(1.0, 1.0 + difference)], "series-1", f"critical difference, {difference:.2f}", len(groups))
    name_lanes(chart, names, LONGEST_ENTRY)
    right = max(last, 1 + difference if difference else 0) + 0.15
    plot.x_range, plot.y_range = Range1d(left, right), Range1d(len(names) - 0.4, -0.6 - 0.65 * depth)
    chart.data = {
        "method": names,
        "average rank": ranks,
        "not distinguished from": ["; ".join(sorted({m for g in groups if n in g for m in g} - {n})) for n in names],
    }
    dress(chart, "0.[0]")
    return chart


def _bars_above(chart: Chart, ends: list[tuple[float, float]], role: str, text: str, first: int = 0) -> None:
    if not ends:
        return
    y = [-0.75 - 0.65 * (first + k) for k in range(len(ends))]
    source = ColumnDataSource({"left": [left for left, _ in ends], "right": [right for _, right in ends], "y": y})
    bars = chart.figure.hbar("y", left="left", right="right", height=0.22, source=source, line_color=None)
    chart.colour(bars.glyph, fill_color=role)
    chart.legend.append(Mark(role, "bar", text))
