"""A trace to look at: curves for a paper or a notebook, and a small table with sparklines where a notebook shows it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import MissingExtraError

if TYPE_CHECKING:
    from streamsift.runs.trace import Trace

Floats = NDArray[np.float64]

CURVES = {"window_accuracy": "accuracy", "stability": "stability", "n_selected": "features"}
N_POINTS, WIDTH, HEIGHT = 200, 160, 28  # of a sparkline
SHOWN = {
    "rows": "rows",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "kappa": "kappa",
    "log_loss": "log loss",
    "f1": "F1",
    "stability": "stability",
    "n_selected": "features",
    "selection_accuracy": "selection accuracy",
    "rows_per_second": "rows a second",
    "peak_memory": "peak memory, bytes",
    "ram_hours": "RAM-hours",
}


def plot(trace: Trace) -> Any:
    """Draw windowed accuracy, stability and number of features over the rows; a line where drift was found."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("Trace.plot", "matplotlib", "plot") from error
    rows = trace.column("row")
    figure = Figure(figsize=(8.0, 6.0), layout="constrained")
    panels = figure.subplots(len(CURVES), 1, sharex=True)
    for axes, (name, label) in zip(panels, CURVES.items(), strict=True):
        axes.plot(rows, trace.column(name), linewidth=1.2)
        for row in rows[trace.column("drift_found") == 1.0]:
            axes.axvline(row, color="0.6", linewidth=0.8, linestyle=":")
        axes.set_ylabel(label)
        axes.grid(visible=True, alpha=0.3)
    panels[-1].yaxis.get_major_locator().set_params(integer=True)  # features
    panels[-1].set_xlabel("rows seen")
    return figure


def html(trace: Trace) -> str:
    """A table of the run's numbers, and its curves as sparklines."""
    summary = trace.summary()
    about = ", ".join(str(trace.settings[key]) for key in ("selector", "model") if key in trace.settings)
    cells = [(SHOWN[name], number(summary[name])) for name in SHOWN if summary[name] is not None]
    rows = "".join(f"<tr><th style='text-align:left'>{name}</th><td>{value}</td></tr>" for name, value in cells)
    lines = "".join(
        f"<tr><th style='text-align:left'>{label}</th><td>{picture}</td></tr>"
        for name, label in CURVES.items()
        if (picture := sparkline(trace.column(name), label))
    )
    caption = f"Trace of {len(trace):,} lines" + (f": {escape(about)}" if about else "")
    return f"<table><caption>{caption}</caption><tbody>{rows}{lines}</tbody></table>"


def number(value: float | None) -> str:
    """A number for a table.

    >>> number(120000.0), number(0.81234), number(1.5e-9)
    ('120,000', '0.812', '1.5e-09')
    """
    if value is None:
        return ""
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3f}" if abs(value) >= 0.001 else f"{value:.2g}"


def sparkline(values: Floats, label: str) -> str:
    """A curve as a tiny SVG; nothing where there are fewer than two values."""
    known = np.flatnonzero(~np.isnan(values))
    if len(known) < 2:
        return ""
    known = known[np.unique(np.linspace(0, len(known) - 1, min(len(known), N_POINTS)).astype(int))]
    low, high = float(values[known].min()), float(values[known].max())
    x = 1.0 + (WIDTH - 2.0) * known / (len(values) - 1)
    y = (
        HEIGHT
        - 2.0
        - (HEIGHT - 4.0) * ((values[known] - low) / (high - low) if high > low else np.full(len(known), 0.5))
    )
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))
    title = f"{label}: {number(low)} to {number(high)}"
    return (
        f"<svg role='img' width='{WIDTH}' height='{HEIGHT}' viewBox='0 0 {WIDTH} {HEIGHT}'><title>{title}</title>"
        f"<polyline points='{points}' fill='none' stroke='currentColor' stroke-width='1.2'/></svg>"
    )
