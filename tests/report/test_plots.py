"""What `.plot()` returns: one backend, painted, and shown by a notebook as it is."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from bokeh.models import Legend, Plot
from tests.report import test_decisions, test_purchases

from streamsift import catalog, prequential
from streamsift.core.selection import Decision
from streamsift.report.instance_plots import path_figure
from streamsift.report.plots import LIGHT, plot_comparison
from streamsift.report.trace_page import trace_page
from streamsift.streams import generate


class Compared:
    """A comparison that holds what it is given."""

    def __init__(self, found):
        self.found = found

    def as_dict(self):
        return self.found


def figures(drawing):
    """The plots of a layout, from top to bottom."""
    if isinstance(drawing, Plot):
        return [drawing]
    return [plot for part in getattr(drawing, "children", []) for plot in figures(part)]


def test_every_kind_of_run_can_be_plotted(judged_trace):
    columns = test_decisions.recorded([Decision("a", True, (), 9.0, 4.0, 0.6, 0.5), Decision("b", False, (), 1.0, 4.0)])
    plots = figures(judged_trace.plot())
    assert [plot.yaxis.axis_label for plot in plots] == ["accuracy", "stability", "features", None, "score"]
    assert {"PanTool", "WheelZoomTool", "SaveTool"} <= {type(tool).__name__ for tool in plots[0].tools}
    assert figures(columns.plot())[0].title.text == "The selection grows"
    assert figures(test_purchases.traced().plot())[-1].title.text == "How belief grew"


def test_accuracy_is_drawn_above_the_level_of_the_most_frequent_class(judged_trace):
    shares = pa.array([None, *[0.6] * (len(judged_trace) - 1)])
    place = judged_trace.table.column_names.index("window_majority")
    table = judged_trace.table.set_column(place, "window_majority", shares)
    drawing = replace(judged_trace, table=table).plot()
    plot = figures(drawing)[0]
    area, level, line = plot.renderers
    rows = judged_trace.column("row").tolist()
    assert area.data_source.data["x"] == level.data_source.data["x"] == rows[1:]
    assert set(level.data_source.data["y"]) == {0.6}
    assert max(area.data_source.data["bottom"]) < 0.6
    assert area.glyph.fill_color == LIGHT["chance"]
    assert line.data_source.data["y"] == judged_trace.column("window_accuracy").tolist()
    legend = drawing.children[0].children[1].text
    assert "the most frequent class" in legend
    assert "drift found by the selector" in legend
    without = figures(judged_trace.plot())[0]  # a trace of an earlier version: no shares, no shading
    assert len(without.renderers) == 1


def test_a_run_that_was_only_followed_shows_its_number_of_features(drifting_trace):
    plots = figures(drifting_trace.plot())
    assert len(plots) == 3  # nobody judged it: no accuracy, no stability
    features = plots[0]
    assert set(features.renderers[0].data_source.data["y"]) == {2.0}


def test_a_comparison_is_one_mark_for_each_entry(comparison):
    found = comparison()
    (plot,) = figures(plot_comparison(Compared(found)))
    assert (plot.xaxis.axis_label, plot.yaxis.axis_label) == ("stability", "accuracy")
    names = {name for renderer in plot.renderers for name in renderer.data_source.data.get("name", ())}
    assert names == {entry["method"] for entry in found["entries"]}  # one learner for all
    nothing = comparison(entries=[entry | {"rank": None} for entry in found["entries"]])
    assert figures(plot_comparison(Compared(nothing))) == []


def test_colours_are_those_of_the_style_sheet(judged_trace):
    assert {"paper", "ink", "grid", "series-0", "series-5"} <= LIGHT.keys()
    assert LIGHT["paper"] == "#ffffff"
    plot = figures(judged_trace.plot())[0]
    assert plot.renderers[0].glyph.line_color == LIGHT["series-0"]
    assert plot.xaxis.axis_line_color == LIGHT["grid"]


def test_a_notebook_shows_the_picture_without_a_network(judged_trace):
    frame = judged_trace.plot()._repr_html_()
    page = html.unescape(re.fullmatch(r'<iframe srcdoc="([^"]*)" style="[^"]*"></iframe>', frame, re.DOTALL).group(1))
    assert "Bokeh" in page
    assert not re.search(r"<(script|link)[^>]*(src|href)=", page)
    height = int(re.search(r"height: (\d+)px", frame.rpartition("style=")[2]).group(1))
    assert height > 3 * 200


def test_a_notebook_shows_the_picture_in_a_browser(judged_trace, browse_raw):
    page = browse_raw(judged_trace.plot()._repr_html_())
    frame = page.frame_locator("iframe")
    frame.locator("canvas").first.wait_for(timeout=30_000)
    assert page.troubles == []


@pytest.mark.parametrize("kind", ["columns", "instances"])
def test_a_notebook_shows_the_numbers_of_any_kind(kind):
    trace = test_decisions.recorded([Decision("a", True)]) if kind == "columns" else test_purchases.traced()
    page = trace._repr_html_()
    assert (">offered<" in page, ">mean cost<" in page) == (kind == "columns", kind == "instances")


def test_the_path_of_an_instance_has_its_legend_beside_the_lines_and_fits_its_place():
    names = ["", "temperature", "blood_count", "blood_pressure"]
    told = "yes after 3 features: the next feature costs more than it can save."
    drawing = path_figure(np.linspace([0.7, 0.3], [0.1, 0.9], 4), names, ["no", "yes"], told)
    assert isinstance(drawing.below[-1], Legend)
    assert drawing.title.text.split("\n") == ["yes after 3 features:", "the next feature costs more than it can save."]
    assert drawing.xaxis[0].major_label_orientation == 0.7
    assert drawing.sizing_mode == "stretch_width"


def test_the_error_chart_of_a_run_alone_has_the_level_of_the_mean():
    stream = generate("friedman_drift", n_rows=600, n_features=8, seed=0)
    selector = catalog.make("screen:correlation", n_features_to_select=5, task="regression")
    trace = prequential(stream, selector, "sgd", task="regression")
    assert "Shaded: no better than the mean so far" in trace_page(trace)
    assert "shaded: no better than the mean so far" in trace._repr_html_()
    assert "the mean so far" in str(trace.plot().children[0].children[1].text)
    assert repr(trace) == "<Trace of Screener over rows: 6 steps, 8 features>"


def test_a_plot_stands_on_white_paper_in_a_dark_notebook(drifting_trace, browse_raw):
    page = browse_raw(f'<!doctype html><body style="background: #111111">{drifting_trace.plot()._repr_html_()}</body>')
    paper = page.locator("iframe").evaluate("frame => getComputedStyle(frame).backgroundColor")
    assert paper == "rgb(255, 255, 255)"
