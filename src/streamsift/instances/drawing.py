"""Drawings of plans and of single instances with bokeh; nothing here decides anything."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

STOP, GO_ON = "#c8553d", "#33658a"
CLASS_COLOURS = ("#33658a", "#c8553d", "#5b8e3b", "#8e5ba6", "#b8860b", "#2f8f8b", "#b05a8f", "#6b6b6b")


def _figure(title: str, **options: Any) -> Any:
    from bokeh.plotting import figure

    return figure(title=title, width=520, height=360, toolbar_location=None, **options)


def _stage_title(stage: int) -> str:
    return f"After {stage} feature{'' if stage == 1 else 's'}"


def interval_figure(
    probability: NDArray[np.float64], loss: NDArray[np.float64], stops: NDArray[np.bool_], labels: list[str], stage: int
) -> Any:
    """Two classes: what stopping costs against the probability of the first class, coloured by the decision."""
    drawing = _figure(_stage_title(stage), x_axis_label=f"P({labels[0]})", y_axis_label="cost of stopping")
    for chosen, colour, words in ((stops, STOP, "stop"), (~stops, GO_ON, "go on")):
        if chosen.any():
            drawing.scatter(probability[chosen], loss[chosen], size=4, color=colour, legend_label=words)
    return drawing


def triangle_figure(points: NDArray[np.float64], stops: NDArray[np.bool_], labels: list[str], stage: int) -> Any:
    """Three classes: the triangle of probabilities, each corner a class, coloured by the decision."""
    x, y = points[:, 1] + 0.5 * points[:, 2], points[:, 2] * np.sqrt(0.75)
    drawing = _figure(_stage_title(stage), match_aspect=True)
    for chosen, colour, words in ((stops, STOP, "stop"), (~stops, GO_ON, "go on")):
        if chosen.any():
            drawing.scatter(x[chosen], y[chosen], size=5, color=colour, legend_label=words)
    top = float(np.sqrt(0.75))
    drawing.text([-0.02, 1.02, 0.5], [-0.05, -0.05, top + 0.02], labels, text_align="center", text_font_size="12px")
    drawing.axis.visible = drawing.grid.visible = False
    return drawing


def path_figure(posteriors: NDArray[np.float64], names: list[str], labels: list[str], title: str) -> Any:
    """The probability of each class after each purchase."""
    from bokeh.models import FixedTicker

    drawing = _figure(title, x_axis_label="feature bought", y_axis_label="probability", y_range=(-0.02, 1.02))
    steps = list(range(len(posteriors)))
    for c, label in enumerate(labels):
        colour = CLASS_COLOURS[c % len(CLASS_COLOURS)]
        drawing.line(steps, posteriors[:, c], color=colour, line_width=2, legend_label=label)
        drawing.scatter(steps, posteriors[:, c], color=colour, size=6)
    drawing.xaxis.ticker = FixedTicker(ticks=steps)
    drawing.xaxis.major_label_overrides = {step: names[step] or "start" for step in steps}
    return drawing
