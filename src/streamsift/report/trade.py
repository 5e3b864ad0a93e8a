"""The scatter of a comparison: a measure against stability, a dot per entry, with names that avoid each other.

How much room there is for names, only the browser knows: templates/labels.js places them, on a page and in a notebook.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bokeh.core.properties import value
from bokeh.models import BasicTicker, BoxAnnotation, ColumnDataSource, NumeralTickFormatter, Range1d

from streamsift.comparison.kinds import is_baseline
from streamsift.report.chart import FONT, Chart, Mark, dress, hover, new_figure
from streamsift.report.measures import Measure, measure

LABELS = "labels"  # the name of the data source that labels.js fills
DOT = 12
Entry = dict[str, Any]


def trade_chart(entries: Sequence[Entry], metric: str = "accuracy", chance: Entry | None = None) -> Chart | None:
    """A metric against stability, a dot per entry, in colour those on the front (`on_front`).

    `chance` is the baseline that needs no features: the chart is shaded where a method is worse. Up is better,
    whichever way the metric goes. None where no entry has both measures.
    """
    points = [e for e in entries if e[metric] is not None and e["stability"] is not None]
    if not points:
        return None
    judged = measure(metric)
    best = [_label(e) for e in points if e["on_front"]]
    chart = Chart(
        f"{judged.label[:1].upper()}{judged.label[1:]} against stability",
        f"Each dot is a method, numbered as in the table; up is better, right is more stable, and no other method "
        f"beats those on the front in {judged.label}, stability and number of features together. Names stand where "
        "there is room; the others show under the mouse.",
        f"Scatter chart of {len(points)} methods. On the front: {', '.join(best) or 'none'}.",
        new_figure("stability", judged.label, 340),
    )
    plot = chart.figure
    plot.x_range = _roomy([e["stability"] for e in points], share=True)
    plot.y_range = _roomy([e[metric] for e in points], share=judged.format.endswith("%"))
    if judged.lower_is_better:
        plot.y_range = Range1d(plot.y_range.end, plot.y_range.start)
    groups = _merged(points, metric)
    if chance is not None and chance.get(metric) is not None:
        _shade(chart, float(chance[metric]))
    for role, text in (("quiet", "beaten by another method"), ("series-1", "baseline"), ("series-0", "on the front")):
        _dots(chart, [group for group in groups if group["role"] == role], judged, Mark(role, "dot", text))
    _labels(chart, groups)
    if chance is not None and chance.get(metric) is not None and _in_sight(plot.y_range, float(chance[metric])):
        chart.legend.append(Mark("chance", "band", "no better than without features"))
    names = {"number": "number", "method": "name", metric: metric, "stability": "stability", "features": "features"}
    chart.data = {text: [e[key] for e in points] for text, key in names.items()}
    chart.data = {**chart.data, "on the front": [e["on_front"] for e in points]}
    dress(chart, "0%")
    plot.xaxis.ticker = BasicTicker(min_interval=0.01)  # labels are whole per cents, each stands there once
    plot.xgrid.visible = True
    plot.yaxis.formatter = NumeralTickFormatter(format=judged.format)
    return chart


def _label(entry: Entry) -> str:
    return str(entry.get("label") or entry["name"])


def _role(entry: Entry) -> str:
    return "series-0" if entry["on_front"] else "series-1" if is_baseline(entry) else "quiet"


def _merged(points: Sequence[Entry], metric: str) -> list[dict[str, Any]]:
    """Dots that would hide each other become one, with all their numbers and names; those of the front come first."""
    places: dict[tuple[float, float], list[Entry]] = {}
    for point in points:
        places.setdefault((round(point["stability"], 3), _digits(point[metric])), []).append(point)
    found = []
    for group in places.values():
        numbers = ", ".join(str(one["number"]) for one in group[:3]) + (f" +{len(group) - 3}" if len(group) > 3 else "")
        roles = [_role(one) for one in group]
        found.append(
            {
                "x": group[0]["stability"],
                "y": group[0][metric],
                "name": ", ".join(_label(one) for one in group),
                "features": ", ".join(f"{one['features']:.4g}" for one in group),
                "number": numbers,
                "role": min(roles, key=("series-0", "series-1", "quiet").index),
            }
        )
    return sorted(found, key=lambda group: group["role"] != "series-0")


def _digits(number: float) -> float:
    """Three significant digits or decimals, whichever is coarser: what the eye tells apart on the chart."""
    return float(f"{number:.3g}") if abs(number) >= 1 else round(number, 3)


def _dots(chart: Chart, groups: Sequence[dict[str, Any]], judged: Measure, mark: Mark) -> None:
    if not groups:
        return
    columns = {key: [group[key] for group in groups] for key in ("x", "y", "name", "features", "number")}
    dots = chart.figure.scatter("x", "y", source=ColumnDataSource(columns), size=DOT, line_width=1.5)
    chart.colour(dots.glyph, fill_color=mark.role, line_color="paper")
    chart.legend.append(mark)
    tips = [("method", "@name"), (judged.label, f"@y{{{judged.format}}}"), ("stability", "@x{0.0%}")]
    hover(chart, [dots], [*tips, ("features", "@features"), ("number", "@number")])


def _labels(chart: Chart, groups: Sequence[dict[str, Any]]) -> None:
    """Number and name of each dot, most important first; labels.js says where, and what is left out."""
    n = len(groups)
    source = ColumnDataSource(
        {
            "x": [group["x"] for group in groups],
            "y": [group["y"] for group in groups],
            "long": [f"{group['number']} {group['name']}" for group in groups],
            "short": [group["number"] for group in groups],
            "text": [group["number"] for group in groups],
            "dx": [DOT] * n,
            "dy": [0] * n,
        },
        name=LABELS,
    )
    words = chart.figure.text(
        "x", "y", "text", source=source, x_offset="dx", y_offset="dy", text_align="left", text_baseline="middle",
        text_font_size="12px", text_font=value(FONT),
    )  # fmt: skip
    chart.colour(words.glyph, text_color="ink")
    chart.labels = True


def _shade(chart: Chart, level: float) -> None:
    """All that is below a level on the screen: there is worse, for the axis of an error is turned over."""
    box = BoxAnnotation(top=level, line_color=None, fill_alpha=1.0, level="image")
    chart.figure.add_layout(box)
    chart.colour(box, fill_color="chance")


def _in_sight(up: Any, level: float) -> bool:
    """Whether something of the chart is shaded: all that is below a level on the screen.

    >>> _in_sight(Range1d(0.9, 1.0), 0.5), _in_sight(Range1d(3.0, 1.0), 2.0)  # the axis of an error is turned over
    (False, True)
    """
    return bool(level < up.start if up.start > up.end else level > up.start)


def _roomy(values: Sequence[float], *, share: bool) -> Any:
    """A range with room for the dots at its ends; very near values are not torn apart, and 101 % is not reached."""
    low, high = min(values), max(values)
    margin = max(0.12 * (high - low), 0.02 if share else 0.02 * abs(high), 1e-12)
    return Range1d(low - margin, min(high + margin, 1.0 + 0.35 * margin) if share else high + margin)
