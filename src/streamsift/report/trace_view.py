"""A trace in a notebook: a small table of its numbers, with sparklines."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from streamsift.report.plots import CURVES

if TYPE_CHECKING:
    from streamsift.runs.trace import Trace

Floats = NDArray[np.float64]

N_POINTS, WIDTH, HEIGHT = 200, 160, 28  # of a sparkline
SHOWN = {
    "rows": "rows",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "kappa": "kappa",
    "log_loss": "log loss",
    "f1": "F1",
    "rmse": "RMSE",
    "mae": "MAE",
    "r2": "R²",
    "stability": "stability",
    "n_selected": "features",
    "selection_accuracy": "selection accuracy",
    "rows_per_second": "rows per second",
    "peak_memory": "peak memory, bytes",
    "ram_hours": "RAM-hours",
}


def html(trace: Trace) -> str:
    """A table of the run's numbers, and its curves as sparklines."""
    summary, run = trace.summary(), trace.run
    about = ", ".join(str(word) for word in (run.method, run.settings.get("model")) if word)
    judged = {name: label for name, label in SHOWN.items() if name in summary}
    names = judged if len(judged) > len(SHOWN) // 2 else {name: name.replace("_", " ") for name in summary}
    cells = [(label, number(summary[name])) for name, label in names.items() if summary[name] is not None]
    rows = "".join(f"<tr><th style='text-align:left'>{name}</th><td>{value}</td></tr>" for name, value in cells)
    lines = "".join(
        f"<tr><th style='text-align:left'>{label}</th><td>{picture}</td></tr>"
        for name, label in CURVES.items()
        if name in trace.table.column_names and (picture := sparkline(trace.column(name), label))
    )
    caption = f"Trace of {len(trace):,} steps: {escape(about)}"
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
