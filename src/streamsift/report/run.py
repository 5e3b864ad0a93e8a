"""The report of a run, or of several runs side by side: which sections, which words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from streamsift.report.chart import Chart
from streamsift.report.figures import detection_chart, heat_chart, lanes_chart, scores_chart
from streamsift.report.measures import measure
from streamsift.report.numbers import duration, more_are, number, share, size
from streamsift.report.over_time import (
    Line,
    Reference,
    accuracy_chart,
    amounts_chart,
    error_chart,
    mean_so_far,
    most_frequent,
    stability_chart,
)
from streamsift.report.page import Cell, Section, Table, render
from streamsift.report.summarize import summarize
from streamsift.report.why import unknown_to_all, why_cards
from streamsift.runs.trace import Trace


def run_report(title: str, lead: str, runs: Sequence[dict[str, Any]], first: Sequence[Section] = ()) -> str:
    """Return the HTML report of one or more runs.

    Parameters
    ----------
    title, lead : str
        The heading of the page and the sentence below it.
    runs : sequence of dict
        Each run as `summarize` gives it.
    first : sequence of Section
        What stands above the runs.

    Returns
    -------
    str
        A complete page that needs no other file and no network.

    Examples
    --------
    >>> import tempfile
    >>> from streamsift import Screener
    >>> from streamsift.runs.row_trace import RowTraceWriter
    >>> from streamsift.runs.rows import follow_rows
    >>> from streamsift.runs.run import Run
    >>> from streamsift.runs.trace import Trace
    >>> from streamsift.report.summarize import summarize
    >>> from streamsift.streams import generate
    >>> stream = generate("linear_drift", n_rows=300, seed=0, n_features=10, n_relevant=2, shift_every=100)
    >>> path = f"{tempfile.mkdtemp()}/trace.parquet"
    >>> with RowTraceWriter(path, Run("screen:t_score")) as writer:
    ...     for step in follow_rows(stream, Screener(n_features_to_select=2), batch_size=100):
    ...         writer.append(step)
    >>> page = run_report("A drift", "Two of ten features are true.", [summarize(Trace.read(path), "t-score")])
    >>> page[:15]
    '<!doctype html>'
    """
    sections = [*first]
    judged = [run for run in runs if run["detection"] is not None]
    if judged:
        facts = [
            (f"{run['detection']['mean_second_half']:.0%}", f"{run['name']}, mean over the second half")
            for run in judged
        ]
        sections.append(Section("Are the true features found?", facts, [detection_chart(judged)]))
    measured = [run for run in runs if "accuracy" in run["measures"] or "rmse" in run["measures"]]
    if measured:
        sections.append(_quality(measured, alone=len(runs) == 1))
    for k, run in enumerate(runs):
        sections += [run_section(run, k, "The run" if len(runs) == 1 else run["name"]), *why_sections(run, k)]
    return render(title, lead, sections, [run["grid"] for run in runs])


def rows_page(trace: Trace, first: Sequence[Section] = ()) -> str:
    """Return the HTML report of a run over rows; title and lead say what was run, `first` stands above it."""
    run = trace.run
    lead = "The features that tell the most" + (f" about {run.target!r}" if run.target else "")
    lead += f", selected by {run.method} in one pass"
    lead += f" and judged by {run.settings['model']} row by row" if run.settings.get("model") else ""
    lead += "." if run.complete else "; the run was interrupted."
    return run_report(run.data or run.method, lead, [summarize(trace, run.method)], first)


def _quality(runs: Sequence[dict[str, Any]], *, alone: bool) -> Section:
    """Accuracy or error, stability and cost of judged runs."""
    if "rmse" in runs[0]["measures"]:
        charts = [error_chart(*_over_time(runs, "rmse", "RMSE", alone=alone), _mean(runs[0]))]
    else:
        charts = [accuracy_chart(*_over_time(runs, "accuracy", "Accuracy", alone=alone), _majority(runs[0]))]
    stable = _lines(runs, "stability")
    if stable:
        charts.append(stability_chart(stable))
    return Section("How well it does", _finals(runs[0]) if alone else [], [*charts, *_costs(runs)], columns=2)


def _over_time(runs: Sequence[dict[str, Any]], key: str, name: str, *, alone: bool) -> tuple[list[Line], str]:
    windows = _lines(runs, f"window_{key}")
    if not alone or not windows:
        return (windows, f"{name} over the latest steps") if windows else (_lines(runs, key), f"{name} so far")
    measures = runs[0]["measures"]
    both = [("latest steps", measures["rows"], measures[f"window_{key}"])]
    both.append(("all rows so far", measures["rows"], measures[key]))
    return both, f"{name} over the latest steps and over all rows so far"


def _majority(run: dict[str, Any]) -> Reference | None:
    """The share of the most frequent class among the rows tested; traces of earlier versions do not have it."""
    measures = run["measures"]
    key = "window_majority" if "window_accuracy" in measures else "majority"
    return most_frequent(measures["rows"], measures.get(key, ()))


def _mean(run: dict[str, Any]) -> Reference | None:
    """The error of predicting the mean so far; traces of earlier versions do not have it."""
    measures = run["measures"]
    key = "window_mean_rmse" if "window_rmse" in measures else "mean_rmse"
    return mean_so_far(measures["rows"], measures.get(key, ()))


def _lines(runs: Sequence[dict[str, Any]], key: str) -> list[Line]:
    return [(run["name"], run["measures"]["rows"], run["measures"][key]) for run in runs if key in run["measures"]]


def _costs(runs: Sequence[dict[str, Any]]) -> list[Chart]:
    """Seconds and memory over time: by part for one run, by run for several."""
    charts = []
    times = [
        (f"{run['name']}: {part}" if len(runs) > 1 else part, run["measures"]["rows"], run["measures"][key])
        for run in runs
        for part, key in (("selection", "selection_seconds"), ("learner", "learner_seconds"))
        if key in run["measures"]
    ]
    if times:
        reading = "Seconds spent on selecting and on the learner so far; a straight line is a steady speed."
        charts.append(amounts_chart("Time spent", reading, "seconds", times, "0.[0000]"))
    memory = _lines(runs, "memory")
    if memory:
        reading = "Bytes held by selector and learner at each moment; a level line means bounded memory."
        charts.append(amounts_chart("Memory held", reading, "bytes", memory, "0.[00]a"))
    return charts


def _finals(run: dict[str, Any]) -> list[tuple[str, str]]:
    """The final values in large type, as far as the run has them."""
    ends = {key: _end(values) for key, values in run["measures"].items()}
    stable = [value for value in run["measures"].get("stability", ()) if value is not None]
    if "rmse" in ends:
        judged = [(number(ends.get(key)), measure(key).label) for key in ("rmse", "mae", "r2")]
    else:
        judged = [(share(ends.get(key)), measure(key).label) for key in ("accuracy", "balanced_accuracy")]
        judged.append((number(ends.get("kappa")), "kappa"))
    facts = [
        *judged,
        (share(sum(stable) / len(stable)) if stable else "–", "stability, mean"),
        (size(ends.get("peak_memory") or ends.get("memory")), "memory"),
        (_speed(run, ends), "rows per second"),
    ]
    return [(value, what) for value, what in facts if value != "–"]


def _end(values: Sequence[float | None]) -> float | None:
    return next((value for value in reversed(values) if value is not None), None)


def _speed(run: dict[str, Any], ends: dict[str, float | None]) -> str:
    seconds = (ends.get("selection_seconds") or 0.0) + (ends.get("learner_seconds") or 0.0)
    return f"{run['n_rows'] / seconds:,.0f}" if seconds > 0 else "–"


def run_section(run: dict[str, Any], place: int, heading: str) -> Section:
    """Scores, selection and settings of a run, whose grid has the given place on the page."""
    facts = [
        (f"{run['n_rows']:,}", "rows"),
        (f"{run['n_features']:,}", "features"),
        (f"{len(run['selected']):,}", "selected"),
        (duration(run["seconds"]), "reading and learning"),
    ]
    places = {feature["index"]: k for k, feature in enumerate(run["grid"]["features"])}
    lanes = lanes_chart(run["lanes"], place, [places[lane["index"]] for lane in run["lanes"]["features"]])
    charts = [heat_chart(run, place), lanes, scores_chart(run, place)]
    drawn = [chart for chart in charts if chart]
    settings = [settings_table(run["settings"])]
    return Section(heading, facts, drawn, settings, above=[_selected(run, place, places)])


def why_sections(run: dict[str, Any], place: int) -> list[Section]:
    """Why the leading features are selected, or not; nothing for a trace without explanations."""
    if not run["why"]:
        return []
    note = (
        "The selected features, best first, then those that came nearest to being selected. All of it comes from the "
        "summary that the method keeps, without a second pass over the data."
    )
    note = " ".join([note, *unknown_to_all(run["why"])])
    return [Section("Why these features?", note=note, cards=why_cards(run, place))]


def _selected(run: dict[str, Any], place: int, places: dict[int, int]) -> Table:
    rows = [row for row in run["selected"] if row["index"] in places]  # as many as can be opened
    best = max((row["score"] for row in rows if row["score"] is not None and math.isfinite(row["score"])), default=0.0)
    known = run["lanes"]["true_features_known"]
    columns = ["rank", "feature", "score", "time selected"] + (["true feature"] if known else [])
    cells: list[list[str | Cell]] = []
    for row in rows:
        name = Cell(row["name"], feature=(place, places[row["index"]]))
        line: list[str | Cell] = [str(row["rank"]), name, _score_bar(row["score"], best)]
        line.append(Cell(f"{row['share']:.0%}", row["share"], row["share"]))
        cells.append(line + (["yes" if row["relevant"] else "no"] if known else []))
    left_out = len(run["selected"]) - len(rows)
    note = (
        "Higher scores are more relevant. Time selected is the share of the rows during which a feature was selected. "
        "A click on a name shows the feature."
        + (f" {more_are(left_out, 'feature')} in selection.json." if left_out else "")
    )
    note = note if rows else "Nothing is selected at the end."
    return Table("Selected features", columns, cells, note, frozenset({"rank"}))


def _score_bar(score: float | None, best: float) -> Cell:
    if score is None:
        return Cell("–", bar=0.0)
    length = 1.0 if math.isinf(score) and score > 0 else score / best if best > 0 else 0.0
    return Cell(number(score), score, min(max(length, 0.0), 1.0))


def settings_table(settings: dict[str, Any]) -> Table:
    """The settings of a run as a table of names and values; settings within settings stand on lines of their own."""
    flat = {
        k: v for key, value in settings.items() for k, v in (value if isinstance(value, dict) else {key: value}).items()
    }
    rows: list[list[str | Cell]] = [
        [key.replace("_", " "), "–" if value is None else str(value)] for key, value in flat.items()
    ]
    return Table("Settings", ["setting", "value"], rows)
