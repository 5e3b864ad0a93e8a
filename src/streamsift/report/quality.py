"""The charts that judge runs: accuracy and stability over time and against each other, cost, critical differences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from bokeh.core.properties import value
from bokeh.models import ColumnDataSource, NumeralTickFormatter, Range1d

from streamsift.comparison.kinds import is_baseline
from streamsift.report.chart import (
    FONT,
    Chart,
    Mark,
    as_share,
    coloured,
    draw_curves,
    dress,
    hover,
    hover_curves,
    name_lanes,
    new_figure,
)
from streamsift.report.figures import ROWS
from streamsift.report.numbers import duration, number, share, size

Line = tuple[str, Sequence[float], Sequence[float | None]]  # name, rows, values; the most important line first


def accuracy_chart(lines: Sequence[Line], what: str) -> Chart:
    """Accuracy over time, one line per method; `what` says which accuracy."""
    return _over_time(
        "Accuracy over time",
        f"{what} at each moment; a dip that recovers is a drift the method followed.",
        "accuracy",
        lines,
    )


def stability_chart(lines: Sequence[Line]) -> Chart:
    """Stability of the selection over time, one line per method."""
    return _over_time(
        "Stability over time",
        "How alike the latest selections were (Nogueira): 100 % means that nothing changed, 0 % that chance would do "
        "the same.",
        "stability",
        lines,
    )


def _over_time(title: str, reading: str, label: str, lines: Sequence[Line]) -> Chart:
    ends = [f"{name} {share(_last(values))}" for name, _, values in lines[:6]]
    chart = Chart(
        title,
        reading,
        f"Line chart of the {label} against the rows seen, at the end: {', '.join(ends)}.",
        new_figure(ROWS, label, 280),
    )
    drawn = draw_curves(chart, coloured(lines), ("method", "row", label))
    hover_curves(chart, drawn, "method", ("row", "0,0"), (label, "0.0%"))
    known = [value for _, _, values in lines for value in values if value is not None]
    # From the ten per cent below the lowest value on: the differences are what the chart is for.
    highest = max(known, default=1.0)
    lowest = min(math.floor(10 * min(known, default=0.0) + 1e-9) / 10, highest - 0.1)
    as_share(chart)
    chart.figure.y_range = Range1d(lowest - 0.01, highest + 0.015)
    return dress(chart)


def _last(values: Sequence[float | None]) -> float | None:
    return next((value for value in reversed(values) if value is not None), None)


def amounts_chart(title: str, reading: str, label: str, lines: Sequence[Line], number_format: str) -> Chart:
    """Something that grows over the rows, seconds or bytes for example, a line each."""
    chart = Chart(title, reading, f"Line chart of the {label} against the rows seen.", new_figure(ROWS, label, 240))
    drawn = draw_curves(chart, coloured(lines), ("what", "row", label))
    hover_curves(chart, drawn, "what", ("row", "0,0"), (label, number_format))
    chart.figure.y_range.start = 0
    chart.figure.yaxis.formatter = NumeralTickFormatter(format=number_format)
    return dress(chart)


def trade_chart(entries: Sequence[dict[str, Any]]) -> Chart | None:
    """Accuracy against stability, a numbered point per entry, in colour those on the front (`on_front`)."""
    points = [e for e in entries if e["accuracy"] is not None and e["stability"] is not None]
    if not points:
        return None
    best = [e["name"] for e in points if e["on_front"]]
    chart = Chart(
        "Accuracy against stability",
        "Each point is a method, numbered as in the table; up is more accurate, right is more stable, and no other "
        "method beats those on the front in accuracy, stability and number of features together.",
        f"Scatter chart of {len(points)} methods; on the front: {', '.join(best) or 'none'}.",
        new_figure("stability", "accuracy", 360),
    )
    plot = chart.figure
    for role, chosen, text in (
        ("quiet", [e for e in points if not e["on_front"] and not is_baseline(e)], "beaten by another method"),
        ("series-1", [e for e in points if is_baseline(e)], "baseline"),
        ("series-0", [e for e in points if e["on_front"]], "on the front"),
    ):
        if not chosen:
            continue
        source = ColumnDataSource(_merged(chosen))
        dots = plot.scatter("x", "y", source=source, size="size", line_width=1.5)
        chart.colour(dots.glyph, fill_color=role, line_color="paper")
        words = plot.text(
            "x", "y", "text", source=source, text_align="center", text_baseline="middle", text_font_size="12px",
            text_font=value(FONT), text_font_style="bold",
        )  # fmt: skip
        chart.colour(words.glyph, text_color="paper")
        chart.legend.append(Mark(role, "dot", text))
        tips = [("method", "@name"), ("accuracy", "@y{0.0%}"), ("stability", "@x{0.0%}"), ("features", "@features")]
        hover(chart, [dots], tips)
    chart.data = {
        "number": [e["number"] for e in points],
        "method": [e["name"] for e in points],
        "accuracy": [e["accuracy"] for e in points],
        "stability": [e["stability"] for e in points],
        "features": [e["features"] for e in points],
        "on the front": [e["on_front"] for e in points],
    }
    plot.x_range, plot.y_range = (_roomy([e[key] for e in points]) for key in ("stability", "accuracy"))
    dress(chart, "0%")
    plot.xgrid.visible = True
    plot.yaxis.formatter = NumeralTickFormatter(format="0%")
    return chart


def _merged(points: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """Points as columns; those that would hide each other become one, with all their numbers and names."""
    places: dict[tuple[float, float], list[dict[str, Any]]] = {}
    for point in points:
        places.setdefault((round(point["stability"], 3), round(point["accuracy"], 3)), []).append(point)
    groups = list(places.values())
    texts = [
        ", ".join(str(one["number"]) for one in group) if len(group) < 4 else f"{group[0]['number']} +{len(group) - 1}"
        for group in groups
    ]
    return {
        "x": [group[0]["stability"] for group in groups],
        "y": [group[0]["accuracy"] for group in groups],
        "name": [", ".join(one["name"] for one in group) for group in groups],
        "features": [", ".join(f"{one['features']:.4g}" for one in group) for group in groups],
        "text": texts,
        "size": [max(22, 10 + 7 * len(text)) for text in texts],
    }


def _roomy(values: Sequence[float]) -> Any:
    """A range with room for the points at its ends; very near values are not torn apart, and 101 % is not reached."""
    low, high = min(values), max(values)
    margin = max(0.12 * (high - low), 0.02)
    return Range1d(low - margin, min(high + margin, 1.0 + 0.35 * margin))


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
    name_lanes(chart, names)
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
    names, points = [pair["second"] for pair in mine], [100.0 * pair["difference"] for pair in mine]
    ends = [[None if pair[end] is None else 100.0 * pair[end] for pair in mine] for end in ("low", "high")]
    verdicts = [pair["verdict"] for pair in mine]
    told = ", ".join(
        f"{name} {gap:.1f} ({verdict})" for name, gap, verdict in zip(names, points, verdicts, strict=True)
    )
    chart = Chart(
        "Differences from the best",
        f"Points of accuracy by which {pairs[0]['first']} is ahead, with the interval of the test, corrected for the "
        "number of comparisons; one that holds 0 cannot be distinguished; too few rows have none.",
        f"Interval chart. {pairs[0]['first']} is ahead of: {told}.",
        new_figure("points of accuracy", None, 80 + 22 * max(len(names), 2)),
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
    hover(chart, [dots], [("method", "@name"), ("points ahead", "@x{0.0}"), ("verdict", "@verdict")])
    name_lanes(chart, names)
    values = [0.0, *points, *(end for side in ends for end in side if end is not None)]
    margin = 0.05 * max(max(values) - min(values), 1.0)
    plot.x_range = Range1d(min(values) - margin, max(values) + margin)
    chart.data = {
        "method": names, "points ahead": points, "from": ends[0], "to": ends[1], "verdict": verdicts,
        "adjusted p": [pair["p_adjusted"] for pair in mine],
    }  # fmt: skip
    dress(chart, "0.[0]")
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
    name_lanes(chart, names)
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
