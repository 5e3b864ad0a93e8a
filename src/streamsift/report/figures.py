"""The charts: each function takes plain data and returns a Chart, a bokeh figure with its title, reading and alt text.

Colours are roles such as "series-0" or "grid". The page's style sheet says what they are in light and in dark, and its
script paints the figures with them; so one figure serves both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, NumeralTickFormatter, PlainText, Range1d
from bokeh.plotting import figure

N_COLOURS = 6  # --series-0 to --series-5 in style.css
N_SOLID = 3  # the later colours are dashed too, so that nobody needs to tell six colours apart
LONGEST_LABEL = 16
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif"

Paint = dict[str, dict[str, str]]  # bokeh model id -> its property -> colour role


@dataclass(frozen=True)
class Mark:
    """One entry of a legend: a colour role, how it is drawn ("line", "dashed", "bar" or "band"), and its text."""

    role: str
    kind: str
    text: str


@dataclass
class Chart:
    """A figure and the words that belong to it."""

    title: str
    reading: str  # one sentence: how to read the chart
    alt: str  # what it shows, for those who cannot see it
    figure: Any
    paint: Paint = field(default_factory=dict)
    legend: list[Mark] = field(default_factory=list)

    def colour(self, model: Any, **roles: str) -> None:
        """Let the page's script set colour properties of a bokeh model."""
        self.paint.setdefault(model.id, {}).update(roles)


@dataclass(frozen=True)
class Curve:
    """A line of a chart; None is a gap."""

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    colour: int = 0
    dashed: bool = False


def scores_chart(scores: dict[str, Any]) -> Chart:
    """The scores of the leading features over time, those of other features in grey behind them."""
    leaders, others = scores["leaders"], scores["others"]
    first = leaders[0]["name"] if leaders else "none"
    unseen = scores["infinite"]
    chart = Chart(
        "Scores over time",
        "Each coloured line is one of the features that lead at the end, best first; the grey ones were selected as "
        "well, now or earlier."
        + (f" An infinite score (perfect separation) is a gap: {', '.join(unseen[:3])}." if unseen else ""),
        f"Line chart of the scores of {len(leaders)} leading features against the rows seen; at the end {first} leads.",
        _figure("score", height=320),
    )
    grey = ColumnDataSource(
        {
            "x": [scores["rows"]] * len(others),
            "y": [_gaps(feature["values"]) for feature in others],
            "name": [feature["name"] for feature in others],
        }
    )
    behind = chart.figure.multi_line("x", "y", source=grey, line_width=1, line_alpha=0.55)
    chart.colour(behind.glyph, line_color="faint")
    curves = [
        Curve(leader["name"], scores["rows"], leader["values"], k % N_COLOURS, k >= N_SOLID)
        for k, leader in enumerate(leaders)
    ]
    lines = _draw_curves(chart, curves)
    _hover(chart, [*lines, behind], [("feature", "@name"), ("row", "$x{0,0}"), ("score", "$y{0.0000}")])
    _dress(chart)
    return chart


def lanes_chart(lanes: dict[str, Any]) -> Chart:
    """Which features were selected when: a lane for each, true features and drift marked where they are known."""
    features, known = lanes["features"], lanes["true_features_known"]
    drift = lanes["drift"]
    left_out = lanes["n_ever_selected"] - len(features)
    chart = Chart(
        "The selection over time",
        "Each lane is a feature: a bar while it was selected"
        + (", a pale band while it was a true feature." if known else ".")
        + (f" {left_out} more features were selected for a shorter time and are not drawn." if left_out else ""),
        f"Lanes of {len(features)} features showing in which rows each was selected"
        + (" and in which it was a true feature." if known else "."),
        _figure(None, height=70 + 17 * (len(features) + bool(drift))),
    )
    plot = chart.figure
    bands = _bars(chart, features, "relevant", height=0.92, role="band")
    bars = _bars(chart, features, "selected", height=0.42, role="series-0")
    labels = {k: PlainText(text=shorten(feature["name"])) for k, feature in enumerate(features)}
    chart.legend.append(Mark("series-0", "bar", "selected"))
    if known:
        chart.legend.append(Mark("band", "band", "true feature"))
    if drift:
        labels[len(features)] = PlainText(text="drift")
        marks = _bars(chart, [{}] * len(features) + [{"name": "drift", "drift": drift}], "drift", 0.42, "series-1")
        chart.legend.append(Mark("series-1", "bar", "drifting"))
        _hover(chart, [marks], [("drift in rows", "@left{0,0} – @right{0,0}")])
    plot.y_range = Range1d(len(labels) - 0.4, -0.6)
    plot.yaxis.ticker = FixedTicker(ticks=list(labels))
    plot.yaxis.major_label_overrides = labels
    _hover(chart, [bars], [("feature", "@name"), ("selected in rows", "@left{0,0} – @right{0,0}")])
    _hover(chart, [bands], [("feature", "@name"), ("true in rows", "@left{0,0} – @right{0,0}")])
    _dress(chart)
    plot.ygrid.visible = False
    return chart


def detection_chart(runs: Sequence[dict[str, Any]]) -> Chart:
    """The detection rate over time, a line a run."""
    chart = Chart(
        "True features found",
        "The share of the true features that are in the selection at each moment: 100 % means that all are found.",
        "Line chart of the detection rate against the rows seen; mean over the second half: "
        + ", ".join(f"{run['name']} {run['detection']['mean_second_half']:.0%}" for run in runs)
        + ".",
        _figure("detection rate", height=260),
    )
    curves = [
        Curve(run["name"], run["detection"]["rows"], run["detection"]["rates"], k % N_COLOURS, k >= N_SOLID)
        for k, run in enumerate(runs)
    ]
    lines = _draw_curves(chart, curves)
    _hover(chart, lines, [("run", "@name"), ("row", "$x{0,0}"), ("found", "$y{0%}")])
    _as_share(chart)
    _dress(chart)
    return chart


def curves_chart(title: str, reading: str, alt: str, x_label: str, curves: Sequence[Curve]) -> Chart:
    """Detection rates against something else than rows, for example the number of selected features."""
    chart = Chart(title, reading, alt, _figure("detection rate", height=300))
    chart.figure.xaxis.axis_label = x_label
    lines = _draw_curves(chart, curves)
    _hover(chart, lines, [("curve", "@name"), (x_label, "$x{0,0}"), ("found", "$y{0.0%}")])
    _as_share(chart)
    _dress(chart)
    return chart


def shorten(name: str) -> str:
    """A name that fits beside a lane.

    >>> shorten("mean_concave_points_worst")
    'mean_concave_po…'
    """
    return name if len(name) <= LONGEST_LABEL else name[: LONGEST_LABEL - 1] + "…"


def _figure(y_label: str | None, height: int) -> Any:
    plot = figure(height=height, sizing_mode="stretch_width", tools="", toolbar_location=None)
    plot.xaxis.axis_label = "rows seen"
    plot.yaxis.axis_label = y_label
    return plot


def _draw_curves(chart: Chart, curves: Sequence[Curve]) -> list[Any]:
    lines = []
    for curve in curves:
        source = ColumnDataSource({"x": list(curve.x), "y": _gaps(curve.y), "name": [curve.name] * len(curve.x)})
        dash = "dashed" if curve.dashed else "solid"
        line = chart.figure.line("x", "y", source=source, line_width=2.2, line_dash=dash, line_join="round")
        chart.colour(line.glyph, line_color=f"series-{curve.colour}")
        chart.legend.append(Mark(f"series-{curve.colour}", "dashed" if curve.dashed else "line", curve.name))
        lines.append(line)
    return lines


def _gaps(values: Sequence[float | None]) -> list[float]:
    return [float("nan") if value is None else value for value in values]


def _bars(chart: Chart, features: Sequence[dict[str, Any]], key: str, height: float, role: str) -> Any:
    """One horizontal bar for each interval under `key`, in the lane of its feature."""
    pieces = [(k, feature["name"], *piece) for k, feature in enumerate(features) for piece in feature.get(key, ())]
    lane, name, left, right = ([piece[k] for piece in pieces] for k in range(4))
    source = ColumnDataSource({"lane": lane, "name": name, "left": left, "right": right})
    bars = chart.figure.hbar(y="lane", left="left", right="right", height=height, source=source, line_color=None)
    chart.colour(bars.glyph, fill_color=role)
    return bars


def _hover(chart: Chart, renderers: list[Any], tooltips: list[tuple[str, str]]) -> None:
    chart.figure.add_tools(HoverTool(renderers=renderers, tooltips=tooltips, line_policy="nearest"))


def _as_share(chart: Chart) -> None:
    chart.figure.y_range = Range1d(-0.02, 1.03)
    chart.figure.yaxis.formatter = NumeralTickFormatter(format="0%")


def _dress(chart: Chart) -> None:
    """The look that all charts share: no frame, quiet axes, horizontal grid lines only."""
    plot = chart.figure
    plot.background_fill_color = None
    plot.border_fill_color = None
    plot.outline_line_color = None
    plot.min_border_right = 12
    plot.x_range.range_padding = 0.01
    plot.xgrid.visible = False
    plot.xaxis.formatter = NumeralTickFormatter(format="0.[00]a")  # 25k: narrow enough for a phone
    plot.xaxis.ticker.desired_num_ticks = 5
    for grid in plot.grid:
        chart.colour(grid, grid_line_color="grid")
    for axis in plot.axis:
        axis.minor_tick_line_color = None
        axis.major_tick_line_color = None
        axis.axis_label_text_font = axis.major_label_text_font = FONT
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_font_size = "12px"
        axis.major_label_text_font_size = "12px"
        axis.axis_label_standoff = 8
        chart.colour(axis, axis_line_color="grid", major_label_text_color="quiet", axis_label_text_color="quiet")
