"""What `.plot()` returns: the charts of the report as bokeh figures that stand alone, in light colours.

On a page, the style sheet says what the colour roles of a chart are and a script paints them. A figure without a page
has neither, so it is painted here, with the light colours of the same style sheet. A notebook shows such a figure
as it is, without a network and without a call of `output_notebook`; `bokeh.plotting.show` opens it in a browser.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.embed import file_html
from bokeh.layouts import column
from bokeh.models import BoxZoomTool, CustomJS, Div, PanTool, ResetTool, SaveTool, Span, WheelZoomTool
from bokeh.resources import INLINE
from numpy.typing import NDArray

from streamsift.report.chart import Chart, Curve, Mark, draw_curves, dress, hover_curves, new_figure
from streamsift.report.decisions import decision_charts
from streamsift.report.export import save_drawing
from streamsift.report.figures import lanes_chart, scores_chart
from streamsift.report.measures import measure
from streamsift.report.over_time import accuracy_chart, error_chart, mean_so_far, most_frequent
from streamsift.report.purchases import purchase_charts
from streamsift.report.ranking import labels, majority
from streamsift.report.summarize import summarize
from streamsift.report.trade import trade_chart

if TYPE_CHECKING:
    from streamsift.catalog import Kind
    from streamsift.comparison.comparison import Comparison
    from streamsift.runs.trace import Trace

Floats = NDArray[np.float64]

WIDTH, MARGIN, WORDS = 760, 16, 28  # of a picture, around it and the height of a line of words, in pixels
CURVES = {"window_accuracy": "accuracy", "window_rmse": "RMSE", "stability": "stability", "n_selected": "features"}


def _light() -> dict[str, str]:
    """The colours of the roles, as the style sheet gives them first."""
    style = (files("streamsift.report") / "templates" / "style.css").read_text("utf-8")
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", style[: style.index("@media")]))


LIGHT = _light()


def plot_trace(trace: Trace, path: Path | str | None = None) -> Any:
    """The pictures of a run, by its kind; with a path they are written to that file as well."""
    charts = PLOTS[trace.run.kind](trace)
    return _saved(shown(column([_painted(chart) for chart in charts], width=WIDTH)), path)


def _saved(drawing: Any, path: Path | str | None) -> Any:
    if path is not None:
        save_drawing(drawing, path)
    return drawing


def plot_comparison(comparison: Comparison, path: Path | str | None = None) -> Any:
    """The metric against stability, a dot with its name for each entry; numbers where there is no room for names."""
    found = comparison.as_dict()
    called, metric = labels(found["entries"]), found.get("metric", "accuracy")
    entries = [
        entry | {"number": number, "label": called[entry["name"]]}
        for number, entry in enumerate(found["entries"], 1)
        if entry["rank"]
    ]
    chart = trade_chart(entries, metric, majority(found["entries"]))
    if chart is None:
        return shown(column(Div(text=f"No entry has both {measure(metric).label} and stability.")))
    names = "".join(f"<li>{entry['number']} {escape(entry['label'])}</li>" for entry in entries)
    listed = Div(text=f"<ul style='list-style: none; padding: 0; columns: 2'>{names}</ul>", width=WIDTH)
    return _saved(shown(column(_painted(chart), listed, width=WIDTH)), path)


def _row_charts(trace: Trace) -> list[Chart]:
    """Accuracy or error, stability and number of features, a line where drift was found; then selection and scores."""
    charts = [
        _curve_chart(trace, name, label)
        for name, label in CURVES.items()
        if name != ("window_accuracy" if trace.numeric else "window_rmse")
    ]
    if trace.table["selected"].null_count < len(trace):  # else the selection was never recorded
        run = summarize(trace, trace.run.method)
        charts += [lanes_chart(run["lanes"]), scores_chart(run, 0)]
    return [chart for chart in charts if chart is not None]


def _curve_chart(trace: Trace, name: str, label: str) -> Chart | None:
    """A measure over the rows; None where the run has no value of it."""
    rows, values = trace.column("row"), trace.column(name)
    found = rows[trace.column("drift_found") == 1.0]
    if name == "n_selected" and np.isnan(values).all():  # the run was followed, not judged
        rows, values = trace.snapshots().column("row"), trace.sizes()
    if np.isnan(values).all():
        return None
    line = (label, rows.tolist(), _known(values))
    if name == "window_accuracy":
        shares = _known(trace.column("window_majority")) if "window_majority" in trace.table.column_names else []
        chart = accuracy_chart([line], "Accuracy over the latest steps", most_frequent(line[1], shares))
    elif name == "window_rmse":
        errors = _known(trace.column("window_mean_rmse")) if "window_mean_rmse" in trace.table.column_names else []
        chart = error_chart([line], "RMSE over the latest steps", mean_so_far(line[1], errors))
    else:
        chart = Chart(label, "", "", new_figure("rows seen", label, 200))
        drawn = draw_curves(chart, [Curve(*line)], ("what", "row", label))
        hover_curves(chart, drawn, "", ("row", "0,0"), (label, "0.[000]"))
        chart.legend = []  # the axis says it
        dress(chart)
        if name == "n_selected":
            chart.figure.yaxis.ticker.min_interval = 1  # there are no half features
    for row in found.tolist():
        span = Span(location=row, dimension="height", line_dash="dotted")
        chart.figure.add_layout(span)
        chart.colour(span, line_color="quiet")
    if found.size and name in ("window_accuracy", "window_rmse"):
        chart.legend.append(Mark("quiet", "dashed", "drift found by the selector"))
    return chart


def _known(values: Floats) -> list[float | None]:
    return [None if np.isnan(value) else value for value in values.tolist()]


PLOTS: dict[Kind, Callable[[Trace], list[Chart]]] = {
    "rows": _row_charts,
    "columns": decision_charts,
    "instances": purchase_charts,
}


def _painted(chart: Chart) -> Any:
    """The figure of a chart in light colours, with its legend below it."""
    for model in chart.figure.references():
        for name, role in chart.paint.get(model.id, {}).items():
            setattr(model, name, LIGHT[role])
    chart.figure.title = chart.title if chart.reading else None
    chart.figure.add_tools(PanTool(), BoxZoomTool(), WheelZoomTool(), ResetTool(), SaveTool())
    chart.figure.toolbar_location, chart.figure.toolbar.logo, chart.figure.toolbar.autohide = "right", None, True
    chart.figure.toolbar.active_drag = None  # a hand on the page scrolls it
    if chart.labels:  # a page does this by its script
        code = (files("streamsift.report") / "templates" / "labels.js").read_text("utf-8")
        chart.figure.js_on_change(
            "inner_width", CustomJS(args={"plot": chart.figure}, code=f"{code}\nplaceLabels(plot);")
        )
    if not chart.legend:
        return chart.figure
    marks = [f"<span style='color: {LIGHT[mark.role]}'>■</span> {escape(mark.text)}" for mark in chart.legend]
    return column(chart.figure, Div(text="&ensp; ".join(marks)), sizing_mode="stretch_width")


def shown(drawing: Any) -> Any:
    """The same figure or layout, which a notebook now shows as a picture instead of a list of its properties."""
    drawing._repr_html_ = lambda: _frame(drawing)
    return drawing


def _frame(drawing: Any) -> str:
    """The drawing in a frame of its own, with everything it needs; its paper is white in a dark notebook, too."""
    page = escape(file_html(drawing, INLINE, title="streamsift"))
    height = _height([drawing]) + MARGIN
    style = f"width: 100%; height: {height}px; border: 0; background: #ffffff; color-scheme: light"
    return f'<iframe srcdoc="{page}" style="{style}"></iframe>'


def _height(parts: Sequence[Any]) -> int:
    """The height of figures one above the other."""
    return sum(
        _height(part.children) if hasattr(part, "children") else (getattr(part, "height", None) or WORDS)
        for part in parts
    )
