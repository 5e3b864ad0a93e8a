"""Charts of reproduced figures that are neither scores nor lanes: pictures side by side, and points of two measures."""

from __future__ import annotations

from typing import Any

from bokeh.models import ColumnDataSource, Label, Range1d
from bokeh.plotting import figure

from streamsift.report.chart import N_COLOURS, Chart, Mark, dress, hover

GAP, HEAD = 3, 6  # cells between two pictures, and above a row of them for their names
A_ROW = 3  # pictures side by side: more would be too small on a phone
LEAST_MARK, LARGEST_MARK = 9.0, 30.0


def pictures_chart(panel: dict[str, Any]) -> Chart:
    """Matrices side by side as squares, the larger the value the darker, selected cells in colour."""
    pictures = panel["pictures"]
    side = len(pictures[0]["values"])
    places = [(k % A_ROW * (side + GAP), k // A_ROW * (side + HEAD)) for k in range(len(pictures))]
    width, height = max(left for left, _ in places) + side, places[-1][1] + side
    ratio = (width + 2) / (height + HEAD)  # cells are squares
    plot = figure(sizing_mode="scale_width", aspect_ratio=ratio, tools="", toolbar_location=None, min_border=0)
    plot.x_range, plot.y_range = Range1d(-1, width + 1), Range1d(height, -HEAD)
    chart = Chart(panel["title"], panel["reading"], panel["alt"], plot)
    for role, selected in (("quiet", False), ("series-0", True)):
        cells: dict[str, list[Any]] = {"x": [], "y": [], "alpha": []}
        for picture, place in zip(pictures, places, strict=True):
            _add_cells(cells, picture, place, selected)
        squares = plot.rect("x", "y", 1, 1, source=ColumnDataSource(cells), fill_alpha="alpha", line_color=None)
        chart.colour(squares.glyph, fill_color=role)
    for picture, (left, top) in zip(pictures, places, strict=True):
        name = Label(x=left, y=top - 1.5, text=picture["name"], text_font_size="12px")
        plot.add_layout(name)
        chart.colour(name, text_color="quiet")
    plot.axis.visible = plot.grid.visible = False
    plot.background_fill_color = plot.border_fill_color = plot.outline_line_color = None
    chart.legend = [Mark("series-0", "band", "selected"), Mark("quiet", "band", "weight")]
    cells_of = [
        (picture["name"], x, y, value, picture["selected"][y][x])
        for picture in pictures
        for y, row in enumerate(picture["values"])
        for x, value in enumerate(row)
    ]
    columns = ("picture", "column", "line", "weight", "selected")
    chart.data = {name: [cell[k] for cell in cells_of] for k, name in enumerate(columns)}
    return chart


def _add_cells(cells: dict[str, list[Any]], picture: dict[str, Any], place: tuple[int, int], selected: bool) -> None:
    values = picture["values"]
    flat = [value for row in values for value in row]
    low, high = min(flat), max(flat)
    for y, row in enumerate(values):
        for x, value in enumerate(row):
            share = (value - low) / (high - low) if high > low else 0.0
            if picture["selected"][y][x] == selected and (selected or share > 0.02):
                cells["x"].append(place[0] + x + 0.5)
                cells["y"].append(place[1] + y + 0.5)
                cells["alpha"].append(0.35 + 0.65 * share if selected else share)


def points_chart(panel: dict[str, Any]) -> Chart:
    """One point a method, as large as its mark says."""
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
    dress(chart, "0.00")
    plot.xgrid.visible = True
    plot.x_range.range_padding = plot.y_range.range_padding = 0.25  # room for a large mark at the edge
    return chart
