"""Charts of reproduced figures that are neither scores nor lanes: pictures side by side, and points of two measures."""

from __future__ import annotations

from typing import Any

from bokeh.models import ColumnDataSource, Label, Range1d
from bokeh.plotting import figure

from streamsift.report.chart import N_COLOURS, Chart, Mark, dress, hover

GAP, HEAD = 3, 6  # cells between two pictures, and above them for their names
LEAST_MARK, LARGEST_MARK = 9.0, 30.0


def pictures_chart(panel: dict[str, Any]) -> Chart:
    """Matrices side by side as squares: above the values, the larger the darker, below the selected cells in colour."""
    pictures = panel["pictures"]
    side = len(pictures[0]["values"])
    lefts = [k * (side + GAP) for k in range(len(pictures))]
    width, height = lefts[-1] + side, 2 * side + GAP
    ratio = (width + 2) / (height + HEAD)  # cells are squares
    plot = figure(sizing_mode="scale_width", aspect_ratio=ratio, tools="", toolbar_location=None, min_border=0)
    plot.x_range, plot.y_range = Range1d(-1, width + 1), Range1d(height, -HEAD)
    chart = Chart(panel["title"], panel["reading"], panel["alt"], plot)
    for role, add, top in (("ink", _add_values, 0), ("series-0", _add_selected, side + GAP)):
        cells: dict[str, list[Any]] = {"x": [], "y": [], "alpha": []}
        for picture, left in zip(pictures, lefts, strict=True):
            add(cells, picture, left, top)
        squares = plot.rect("x", "y", 1, 1, source=ColumnDataSource(cells), fill_alpha="alpha", line_color=None)
        chart.colour(squares.glyph, fill_color=role)
    for picture, left in zip(pictures, lefts, strict=True):
        name = Label(x=left, y=-1.5, text=picture["name"], text_font_size="11px")
        plot.add_layout(name)
        chart.colour(name, text_color="quiet")
    plot.axis.visible = plot.grid.visible = False
    plot.background_fill_color = plot.border_fill_color = plot.outline_line_color = None
    chart.legend = [Mark("ink", "band", "weight, dark is high"), Mark("series-0", "band", "selected")]
    cells_of = [
        (picture["name"], x, y, value, picture["selected"][y][x])
        for picture in pictures
        for y, row in enumerate(picture["values"])
        for x, value in enumerate(row)
    ]
    columns = ("picture", "column", "line", "weight", "selected")
    chart.data = {name: [cell[k] for cell in cells_of] for k, name in enumerate(columns)}
    return chart


def _add_values(cells: dict[str, list[Any]], picture: dict[str, Any], left: int, top: int) -> None:
    values = picture["values"]
    flat = [value for row in values for value in row]
    low, high = min(flat), max(flat)
    for y, row in enumerate(values):
        for x, value in enumerate(row):
            share = (value - low) / (high - low) if high > low else 0.0
            if share > 0.02:
                _add_cell(cells, left + x, top + y, share)


def _add_selected(cells: dict[str, list[Any]], picture: dict[str, Any], left: int, top: int) -> None:
    for y, row in enumerate(picture["selected"]):
        for x, selected in enumerate(row):
            if selected:
                _add_cell(cells, left + x, top + y, 1.0)


def _add_cell(cells: dict[str, list[Any]], x: int, y: int, alpha: float) -> None:
    for name, value in (("x", x + 0.5), ("y", y + 0.5), ("alpha", alpha)):
        cells[name].append(value)


def points_chart(panel: dict[str, Any]) -> Chart:
    """One point per method, as large as its mark says."""
    plot = figure(height=300, sizing_mode="stretch_width", tools="", toolbar_location=None)
    plot.xaxis.axis_label, plot.yaxis.axis_label = panel["x_label"], panel["y_label"]
    chart = Chart(panel["title"], panel["reading"], panel["alt"], plot)
    largest = max(panel["marks"]) or 1.0
    renderers = []
    for k, (curve, mark) in enumerate(zip(panel["curves"], panel["marks"], strict=True)):
        size = LEAST_MARK + (LARGEST_MARK - LEAST_MARK) * (mark / largest) ** 0.5
        source = ColumnDataSource({"x": curve["x"], "y": curve["y"], "name": [curve["name"]]})
        point = plot.scatter("x", "y", size=size, source=source, fill_alpha=0.6, line_color=None)
        chart.colour(point.glyph, fill_color=f"series-{k % N_COLOURS}")
        chart.legend.append(Mark(f"series-{k % N_COLOURS}", "band", curve["name"]))
        renderers.append(point)
    chart.data = {
        "method": [curve["name"] for curve in panel["curves"]],
        panel["x_label"]: [curve["x"][0] for curve in panel["curves"]],
        panel["y_label"]: [curve["y"][0] for curve in panel["curves"]],
        "mark": list(panel["marks"]),
    }
    tips = [("method", "@name"), (panel["x_label"], "@x{0.000}"), (panel["y_label"], "@y{0.000}")]
    hover(chart, renderers, tips)
    dress(chart, "0.000")
    plot.xgrid.visible = True
    plot.x_range.range_padding = plot.y_range.range_padding = 0.25  # room for a large mark at the edge
    return chart
