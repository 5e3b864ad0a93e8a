"""The pictures of plans and of single instances that `plot_policy` and `Explanation.plot` return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.models import FixedTicker
from bokeh.plotting import figure
from numpy.typing import NDArray

from streamsift.report.chart import N_COLOURS
from streamsift.report.plots import LIGHT, shown

if TYPE_CHECKING:
    from streamsift.instances.region import Region

STOP, GO_ON = LIGHT["series-1"], LIGHT["series-0"]


def _figure(title: str, **options: Any) -> Any:
    """An empty figure that is never wider than its place: a page on a phone, the cell of a notebook."""
    return figure(title=title, sizing_mode="stretch_width", max_width=640, height=400, toolbar_location=None, **options)


def region_figure(region: Region) -> Any:
    """Where a plan stops and where it goes on: a line for two classes, a triangle for three."""
    title = f"After {region.stage} feature{'' if region.stage == 1 else 's'}"
    labels = [str(label) for label in region.classes]
    drawing = _interval(region, labels, title) if len(labels) == 2 else _triangle(region, labels, title)
    return shown(drawing)


def _interval(region: Region, labels: list[str], title: str) -> Any:
    """Two classes: what stopping costs against the probability of the first class, coloured by the decision."""
    drawing = _figure(title, x_axis_label=f"P({labels[0]})", y_axis_label="cost of stopping")
    _scatter(drawing, region.points[:, 0], region.loss, region.stops, 4)
    return drawing


def _triangle(region: Region, labels: list[str], title: str) -> Any:
    """Three classes: the triangle of probabilities, each corner a class, coloured by the decision."""
    points, top = region.points, float(np.sqrt(0.75))
    drawing = _figure(title, match_aspect=True)
    _scatter(drawing, points[:, 1] + 0.5 * points[:, 2], points[:, 2] * top, region.stops, 5)
    drawing.text([-0.02, 1.02, 0.5], [-0.05, -0.05, top + 0.02], labels, text_align="center", text_font_size="12px")
    drawing.axis.visible = drawing.grid.visible = False
    return drawing


def _scatter(drawing: Any, x: NDArray[np.float64], y: NDArray[np.float64], stops: NDArray[np.bool_], size: int) -> None:
    for chosen, colour, words in ((stops, STOP, "stop"), (~stops, GO_ON, "go on")):
        if chosen.any():
            drawing.scatter(x[chosen], y[chosen], size=size, color=colour, legend_label=words)


def path_figure(posteriors: NDArray[np.float64], names: list[str], labels: list[str], title: str) -> Any:
    """The probability of each class after each purchase."""
    title = title.replace(": ", ":\n", 1)  # the reason to stop is a line of its own
    drawing = _figure(title, x_axis_label="feature bought", y_axis_label="probability", y_range=(-0.02, 1.02))
    steps = list(range(len(posteriors)))
    for c, label in enumerate(labels):
        colour = LIGHT[f"series-{c % N_COLOURS}"]
        drawing.line(steps, posteriors[:, c], color=colour, line_width=2, legend_label=label)
        drawing.scatter(steps, posteriors[:, c], color=colour, size=6)
    drawing.xaxis.ticker = FixedTicker(ticks=steps)
    drawing.xaxis.major_label_overrides = {step: names[step] or "start" for step in steps}
    drawing.xaxis.major_label_orientation = 0.7  # slanted, so that long names leave each other room
    drawing.legend.ncols = 4
    drawing.add_layout(drawing.legend[0], "below")  # beside the lines, not on them
    return shown(drawing)
