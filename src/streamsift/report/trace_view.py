"""A trace in a notebook: what was run, its numbers in large type, its curves, and what was selected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from streamsift.report.measures import count, measure
from streamsift.report.notebook import Floats, Small, curves, facts, folded, frame, head, hint, table
from streamsift.report.numbers import duration, number, share, size
from streamsift.report.plots import CURVES

if TYPE_CHECKING:
    from streamsift.catalog import Kind
    from streamsift.runs.trace import Trace

MOST_NAMES = 12
WRITTEN: dict[str, Callable[[float | None], str]] = {
    "rows": count, "n_selected": count, "peak_memory": size, "n_restarts": count, "n_features": count,
    "n_offered": count, "rows_trained": count, "rows_held_out": count, "mean_cost": number,
    **dict.fromkeys(("seconds", "selection_seconds", "learner_seconds"), duration),
}  # fmt: skip
CALLED = {
    "seconds": "time",
    "n_selected": "features",
    "n_restarts": "restarts of the learner",
    "peak_memory": "peak memory",
}
LARGE = {
    "rows": (
        "rows",
        "accuracy",
        "balanced_accuracy",
        "rmse",
        "mae",
        "r2",
        "stability",
        "n_selected",
        "selection_accuracy",
    ),
    "columns": ("n_offered", "seconds"),
    "instances": ("accuracy", "mean_cost", "rows_held_out"),
}


def html(trace: Trace) -> str:
    """The trace as a notebook shows it."""
    run, summary = trace.run, trace.summary()
    known = {name: value for name, value in summary.items() if value is not None}
    large = [(_written(name, known[name]), _called(name)) for name in LARGE[run.kind] if name in known]
    names = _names(trace)
    if "n_offered" in known:
        large.insert(1, (f"{len(names):,}", "selected"))
    rest = [(_called(name), _written(name, value)) for name, value in known.items() if name not in LARGE[run.kind]]
    parts = [head(run.method, _about(trace)), facts(large), curves(SMALL[run.kind](trace))]
    if names:
        more = f" and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
        words = '<p style="margin: 4px 0 0; font-size: 13px">Selected at the end: {}{}</p>'
        parts.append(Markup(words).format(", ".join(names[:MOST_NAMES]), more))
    if rest:
        parts.append(folded("More numbers", table("", [], rest)))
    return frame(*parts, hint("Drawn, to zoom into:", "trace.plot()"))


def _about(trace: Trace) -> str:
    run = trace.run
    model = run.settings.get("model")
    words = [f"judged by {model}" if model else "", f"on {run.data}" if run.data else ""]
    words.append(
        f"{trace.n_features:,} features in {len(trace):,} steps" if trace.n_features else f"{len(trace):,} steps"
    )
    words.append("" if run.complete else "interrupted")
    return ", ".join(word for word in words if word)


def _called(name: str) -> str:
    return CALLED.get(name) or measure(name.removeprefix("n_")).label


def _written(name: str, value: float) -> str:
    return (WRITTEN.get(name) or measure(name).write)(value)


def _names(trace: Trace) -> list[str]:
    """What is selected at the end, as far as the run says it."""
    if "selected" in trace.result:
        return [str(one["name"]) for one in trace.result["selected"]]
    if "selected" not in trace.table.column_names or trace.table["selected"].null_count == len(trace):
        return []
    last = trace.snapshots().table["selected"][-1].as_py()
    return [trace.name(index) for index in last]


def _row_curves(trace: Trace) -> list[Small]:
    rows = trace.column("row")
    found = rows[trace.column("drift_found") == 1.0].tolist()
    drawn = []
    for name, label in CURVES.items():
        x, values, level, write = rows, trace.column(name), None, measure(label.lower()).write
        if name == "n_selected" and np.isnan(values).all() and trace.table["selected"].null_count < len(trace):
            x, values = trace.snapshots().column("row"), trace.sizes()
        told = _told(values, write)
        if name == "window_accuracy" and "window_majority" in trace.table.column_names:
            level = trace.column("window_majority")
            known = level[~np.isnan(level)]
            told += f"; shaded: the most frequent class, {share(float(known[-1]))} at the end" if known.size else ""
        if name == "window_rmse" and "window_mean_rmse" in trace.table.column_names:
            level = trace.column("window_mean_rmse")
            known = level[~np.isnan(level)]
            told += (
                f"; shaded: no better than the mean so far, {write(float(known[-1]))} at the end" if known.size else ""
            )
        drawn.append(Small(label, x, values, told, level, found, above=name == "window_rmse"))
    return drawn


def _column_curves(trace: Trace) -> list[Small]:
    if not len(trace):
        return []
    x = trace.column("offered")
    named = (("selected", "n_selected", count), ("wealth", "wealth", number))
    return [Small(label, x, trace.column(key), _told(trace.column(key), write)) for label, key, write in named]


def _instance_curves(trace: Trace) -> list[Small]:
    """Means over the rows so far: how many values were bought, and how many answers were right."""
    if not len(trace):
        return []
    x = trace.column("row")
    named: Sequence[tuple[str, str, Any]] = (("features bought", "n_evaluated", count), ("accuracy", "correct", share))
    drawn = []
    for label, key, write in named:
        values = trace.column(key)
        mean = np.cumsum(values) / np.arange(1, len(values) + 1)
        drawn.append(Small(label, x, mean, f"mean so far: {_told(mean, write)}"))
    return drawn


def _told(values: Floats, write: Callable[[float | None], str]) -> str:
    known = values[~np.isnan(values)]
    if not known.size:
        return ""
    low, high, last = (write(float(value)) for value in (known.min(), known.max(), known[-1]))
    return low if low == high else f"{low} to {high}, at the end {last}"


SMALL: dict[Kind, Callable[[Trace], list[Small]]] = {
    "rows": _row_curves,
    "columns": _column_curves,
    "instances": _instance_curves,
}
