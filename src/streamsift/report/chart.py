"""What a chart is: a bokeh figure, the words that belong to it, its colours by role, and the data behind it.

Colours are roles such as "series-0" or "grid". The page's style sheet says what they are in light and in dark, and its
script paints the figures with them; so one figure serves both.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, MultiLine, NumeralTickFormatter, PlainText, Range1d
from bokeh.plotting import figure
from markupsafe import escape

N_COLOURS = 6  # --series-0 to --series-5 in style.css
N_SOLID = 3  # the later colours are dashed too, so that nobody needs to tell six colours apart
LONGEST_LABEL, LONGEST_ENTRY = 18, 24  # of a feature, and of a method with its learner
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif"

Paint = dict[str, dict[str, str]]  # bokeh model id -> its property -> colour role
Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Mark:
    """One entry of a legend: a colour role, how it is drawn (a class of .swatch in style.css), and its text.

    Where `feature` is a place in the grid of the chart, the entry opens that feature.
    """

    role: str
    kind: str
    text: str
    feature: int | None = None


@dataclass
class Chart:
    """A figure and what belongs to it.

    `data` holds the columns of the CSV file. `grid` numbers the run whose features the chart shows, and `lanes` their
    places in that run's grid from top to bottom: a click on a lane opens the feature. A `heat` chart takes its CSV and
    its tooltip from the grid.
    """

    title: str
    reading: str  # one sentence: how to read the chart
    alt: str  # what it shows, for those who cannot see it
    figure: Any
    data: Columns = field(default_factory=dict)
    paint: Paint = field(default_factory=dict)
    legend: list[Mark] = field(default_factory=list)
    grid: int | None = None
    lanes: list[int] = field(default_factory=list)
    heat: bool = False
    zooms: bool = False  # whether heat.js zooms into its lines
    labels: bool = False  # whether labels.js places its labels

    def colour(self, model: Any, **roles: str) -> None:
        """Let the page's script set colour properties of a bokeh model."""
        self.paint.setdefault(model.id, {}).update(roles)


@dataclass(frozen=True)
class Curve:
    """A line of a chart; None is a gap. A curve without a colour is drawn in grey, behind the others."""

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    colour: int | None = 0
    dashed: bool = False


def coloured(curves: Sequence[tuple[str, Sequence[float], Sequence[float | None]]]) -> list[Curve]:
    """Curves in the order of their importance: the first ones get a colour each, the others are grey."""
    return [
        Curve(name, x, y, k if k < N_COLOURS else None, N_SOLID <= k < N_COLOURS)
        for k, (name, x, y) in enumerate(curves)
    ]


def new_figure(x_label: str | None, y_label: str | None, height: int, **options: Any) -> Any:
    """An empty figure as wide as the page, without a toolbar."""
    plot = figure(height=height, sizing_mode="stretch_width", tools="", toolbar_location=None, **options)
    plot.xaxis.axis_label = x_label
    plot.yaxis.axis_label = y_label
    return plot


def draw_curves(chart: Chart, curves: Sequence[Curve], data_names: tuple[str, str, str]) -> list[Any]:
    """Draw the curves, grey ones first, fill legend and data, and return the renderers."""
    grey = [curve for curve in curves if curve.colour is None]
    lines = []
    if grey:
        source = ColumnDataSource(
            {
                "x": [list(curve.x) for curve in grey],
                "y": [gaps(curve.y) for curve in grey],
                "name": [curve.name for curve in grey],
            }
        )
        lines.append(chart.figure.multi_line("x", "y", source=source, line_width=1, line_alpha=0.55))
        chart.colour(lines[-1].glyph, line_color="faint")
    for curve in curves:
        if curve.colour is None:
            continue
        source = ColumnDataSource({"x": list(curve.x), "y": gaps(curve.y), "name": [curve.name] * len(curve.x)})
        dash = "dashed" if curve.dashed else "solid"
        line = chart.figure.line("x", "y", source=source, line_width=2.2, line_dash=dash, line_join="round")
        role = f"series-{curve.colour}"
        chart.colour(line.glyph, line_color=role)
        if len(curve.x) == 1:  # a line of one point would not be seen
            dot = chart.figure.scatter("x", "y", source=source, size=8, line_color=None)
            chart.colour(dot.glyph, fill_color=role)
        chart.legend.append(Mark(role, "dashed" if curve.dashed else "line", curve.name))
        lines.append(line)
    if grey:
        chart.legend.append(Mark("faint", "line", f"{len(grey)} more"))
    places = {x for curve in curves for x in curve.x}
    if len(places) == 1:  # else the axis would run from half a row before to half a row after
        chart.figure.x_range = Range1d(0, 1.05 * (max(places) or 1))
    chart.data = curve_columns(curves, data_names)
    return lines


def curve_columns(curves: Sequence[Curve], names: tuple[str, str, str]) -> dict[str, list[Any]]:
    """The points of some curves as long columns, for the CSV file."""
    points = [(curve.name, x, y) for curve in curves for x, y in zip(curve.x, curve.y, strict=True)]
    return {name: [point[k] for point in points] for k, name in enumerate(names)}


def hover(chart: Chart, renderers: list[Any], tooltips: list[tuple[str, str]]) -> None:
    """A tooltip over some renderers; bokeh's own labels are too pale to be read."""
    lines = "".join(
        f'<div><span style="color: #57606a">{escape(label)}</span> {text}</div>' for label, text in tooltips
    )
    box = f'<div style="color: #1b1f24; font: 13px/1.45 {escape(FONT)}">{lines}</div>'
    chart.figure.add_tools(HoverTool(renderers=renderers, tooltips=box, line_policy="nearest"))


def hover_curves(chart: Chart, lines: list[Any], who: str, x: tuple[str, str], y: tuple[str, str]) -> None:
    """A tooltip over curves: whose it is, and label and format of both coordinates at the nearest point."""
    grey = [line for line in lines if isinstance(line.glyph, MultiLine)]
    own = [line for line in lines if line not in grey]
    hover(chart, own, [(who, "@name"), (x[0], f"@x{{{x[1]}}}"), (y[0], f"@y{{{y[1]}}}")])
    if grey:  # all points of such a line are one value: only its name can be told
        hover(chart, grey, [(who, "@name")])


def name_lanes(chart: Chart, names: Sequence[str], longest: int = LONGEST_LABEL) -> None:
    """Lanes from top to bottom, with their names as they are: PlainText keeps $$ from becoming a formula."""
    plot = chart.figure
    plot.y_range = Range1d(max(len(names), 1) - 0.4, -0.6)
    plot.yaxis.ticker = FixedTicker(ticks=list(range(len(names))))
    plot.yaxis.major_label_overrides = {k: PlainText(text=name) for k, name in enumerate(shorten(names, longest))}
    plot.ygrid.visible = False


def as_share(chart: Chart) -> None:
    """A vertical axis from 0 to 100 %."""
    chart.figure.y_range = Range1d(-0.02, 1.03)
    chart.figure.yaxis.formatter = NumeralTickFormatter(format="0%")


def dress(chart: Chart, x_format: str = "0.[00]a") -> Chart:
    """The look that all charts share: no frame, quiet axes, horizontal grid lines only."""
    plot = chart.figure
    plot.background_fill_color = plot.border_fill_color = plot.outline_line_color = None
    plot.min_border_right = 14
    if not isinstance(plot.x_range, Range1d):
        plot.x_range.range_padding = 0.01
    plot.xgrid.visible = False
    plot.xaxis.formatter = NumeralTickFormatter(format=x_format)  # 25k: narrow enough for a phone
    if hasattr(plot.xaxis[0].ticker, "desired_num_ticks"):
        plot.xaxis.ticker.desired_num_ticks = 5
    for grid in plot.grid:
        chart.colour(grid, grid_line_color="grid")
    for axis in plot.axis:
        axis.minor_tick_line_color = None
        axis.major_tick_line_color = None
        axis.axis_label_text_font = axis.major_label_text_font = FONT
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_font_size = axis.major_label_text_font_size = "12px"
        axis.axis_label_standoff = 8
        chart.colour(axis, axis_line_color="grid", major_label_text_color="quiet", axis_label_text_color="quiet")
    return chart


def gaps(values: Sequence[float | None]) -> list[float]:
    """Missing values as NaN, which bokeh draws as a gap."""
    return [math.nan if value is None else value for value in values]


def shorten(names: Sequence[str], longest: int = LONGEST_LABEL) -> list[str]:
    """Names that fit beside lanes: their beginning and end, or, where these are alike, the part in which they differ.

    >>> shorten(["mean_concave_points_worst", "area"])
    ['mean_conca…s_worst', 'area']
    >>> shorten(["station_010_temperature", "station_011_temperature"])
    ['station_010_tempe…', 'station_011_tempe…']
    >>> shorten([f"hall 1 of the plant, channel {k}, raw values in millivolts" for k in (10, 12)])
    ['…10, raw values i…', '…12, raw values i…']
    """
    keep = longest * 5 // 9
    found = [_cut(name, f"{name[:keep]}…{name[keep + 1 - longest :]}", longest) for name in names]
    if len(set(found)) == len(set(names)):
        return found
    ordered = sorted(set(names))
    differs = dict.fromkeys(ordered, 0)  # where each name leaves the one that is most like it
    for one, other in pairwise(ordered):
        alike = _alike(one, other)
        differs[one], differs[other] = max(differs[one], alike), alike
    found = [_cut(name, _from_word(name, differs[name], longest), longest) for name in names]
    groups: dict[str, list[str]] = {}
    for name, short in zip(names, found, strict=True):
        groups.setdefault(short, []).append(name)
    return [_both(name, groups[short], differs[name], longest) for name, short in zip(names, found, strict=True)]


def _cut(name: str, short: str, longest: int) -> str:
    return name if len(name) <= longest else short


def _alike(one: str, other: str) -> int:
    """How many letters two names begin with that are the same."""
    return next(
        (k for k, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other))
    )


def _both(name: str, group: Sequence[str], place: int, longest: int) -> str:
    """The part of a name that holds a place; of names of which it is the same, first what tells these apart.

    >>> names = ["the northern hall, channel 10", "the southern hall, channel 10"]
    >>> _both(names[0], names[:1], 27, 18), _both(names[0], names, 27, 18)
    ('…10', 'the north…10')
    """
    alike = _alike(min(group), max(group))
    if len(name) <= longest or min(group) == max(group):
        return _cut(name, _from_word(name, place, longest), longest)
    head = _from_word(name, alike, longest // 2 + 1).rstrip("…")
    return f"{head}…{_from_word(name, place, longest - len(head)).strip('…')}"[:longest]


def _from_word(name: str, place: int, longest: int) -> str:
    """The part of a name from the word on that holds a place, or from its beginning where there is room for both.

    >>> _from_word("station_010_temperature", 10, 18), _from_word("the temperature of s10", 20, 12)
    ('station_010_tempe…', '…s10')
    """
    if place < longest - 5:
        return f"{name[: longest - 1]}…"
    words = [found.end() for found in re.finditer(r"[\s,;:./]", name[:place])]
    start = max([place - longest // 2, *words[-1:]])
    rest = name[start:]
    return f"…{rest}" if len(rest) < longest else f"…{rest[: longest - 2]}…"
