"""The report of a run over columns: what was accepted and dropped, and what there was to bid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bokeh.models import ColumnDataSource

from streamsift.report.chart import Chart, Curve, Mark, draw_curves, dress, hover, hover_curves, new_figure
from streamsift.report.figures import lanes_chart
from streamsift.report.numbers import duration, number, rounded
from streamsift.report.page import Cell, Section, Table, render
from streamsift.report.run import settings_table
from streamsift.report.summarize import N_LANES, evenly
from streamsift.runs.trace import Trace

OFFERED = "columns offered"
N_POINTS = 800  # of a curve, of the accepted columns and of the others


def columns_page(trace: Trace, first: Sequence[Section] = ()) -> str:
    """Return the HTML report of a run over columns.

    Parameters
    ----------
    trace : Trace
        Its table holds the decisions (see `streamsift.runs.column_trace`), its result the selected columns.
    first : sequence of Section
        What stands above the run.

    Returns
    -------
    str
        A complete page that needs no other file and no network.

    Examples
    --------
    >>> from streamsift.core.selection import Decision, Decisions
    >>> from streamsift.runs.column_trace import ColumnTraceWriter
    >>> from streamsift.runs.run import Run
    >>> with ColumnTraceWriter(None, Run("investing", "columns", "people.csv", "sex")) as writer:
    ...     writer.add(Decisions.of([Decision("age", True, statistic=9.0, threshold=4.0)]))
    ...     selected = [{"rank": 1, "index": 0, "name": "age", "statistic": 9.0}]
    ...     writer.result = {"n_features": 1, "n_offered": 1, "selected": selected}
    >>> columns_page(writer.trace())[:15]
    '<!doctype html>'
    """
    run, found, record = trace.run, trace.result, _record(trace)
    dropped = record["n_dropped"]
    facts = [
        (f"{found['n_offered']:,}", "columns offered"),
        (f"{len(found['selected']):,}", "selected at the end"),
        *(
            [(f"{record['n_accepted_at_all']:,}", "accepted on the way"), (f"{dropped:,}", "dropped again")]
            if dropped
            else []
        ),
        (duration(run.seconds), "reading and deciding"),
    ]
    lead = f"The columns that tell about {run.target!r}, offered one after another to {run.method}"
    lead += "." if run.complete else "; the run was interrupted."
    settings = [settings_table(run.shown())]
    section = Section("The run", facts, decision_charts(trace), settings, above=[_selected(found)])
    return render(run.data, lead, [*first, section])


def decision_charts(trace: Trace) -> list[Chart]:
    """The charts of a run over columns; none for a method that takes the whole table at once."""
    record = _record(trace)
    if not record["offered"]:
        return []
    charts = [_growth(record), *_bids(record), *_statistics(record)]
    return [*charts, _members(record, trace.n_features)] if record["members"] else charts


def _record(trace: Trace) -> dict[str, Any]:
    """The decisions as columns, an even choice of them for curves, and from when to when columns were selected."""
    every: dict[str, list[Any]] = trace.table.to_pydict()
    n_accepted = every["n_accepted"][-1] if every["offered"] else 0
    curve = evenly(len(every["offered"]), N_POINTS).tolist()
    points: list[int] = []
    for wanted in (True, False):
        places = [k for k, accepted in enumerate(every["accepted"]) if accepted == wanted]
        points += [places[k] for k in evenly(len(places), N_POINTS).tolist()]
    members = [
        {"name": name, "from": offered - 1, "to": trace.n_features if until is None else until}
        for name, offered, accepted, until in zip(
            *(every[key] for key in ("name", "offered", "accepted", "until")), strict=True
        )
        if accepted
    ]
    return {
        **{key: [every[key][k] for k in curve] for key in ("offered", "n_accepted", "n_selected")},
        "wealth": [rounded(every["wealth"][k]) for k in curve],
        "points": [
            (every["offered"][k], rounded(every["statistic"][k]), rounded(every["threshold"][k]), every["accepted"][k])
            for k in sorted(points)
        ],
        "members": members,
        "n_accepted_at_all": n_accepted,
        "n_dropped": sum(len(names) for names in every["dropped"]),
    }


def _growth(record: dict[str, Any]) -> Chart:
    chart = Chart(
        "The selection grows",
        "How many columns are in the selection, after so many offered; a level line means that nothing new was needed.",
        f"Line chart of the size of the selection; at the end it holds {record['n_selected'][-1]:,} columns.",
        new_figure(OFFERED, "columns", 240),
    )
    curves = [Curve("in the selection", record["offered"], record["n_selected"])]
    if record["n_dropped"]:
        curves.append(Curve("accepted so far", record["offered"], record["n_accepted"], 1))
    lines = draw_curves(chart, curves, ("what", "offered", "columns"))
    hover_curves(chart, lines, "what", ("offered", "0,0"), ("columns", "0,0"))
    chart.figure.y_range.start = 0
    chart.figure.yaxis.ticker.min_interval = 1  # there are no half columns
    return dress(chart)


def _bids(record: dict[str, Any]) -> list[Chart]:
    if all(value is None for value in record["wealth"]):
        return []
    chart = Chart(
        "Wealth",
        "What there is left to bid: each column costs a little, each accepted one pays back.",
        f"Line chart of the wealth over the columns offered; at the end {number(record['wealth'][-1])}.",
        new_figure(OFFERED, "wealth", 240),
    )
    lines = draw_curves(chart, [Curve("wealth", record["offered"], record["wealth"])], ("what", "offered", "wealth"))
    hover_curves(chart, lines, "what", ("offered", "0,0"), ("wealth", "0.0000"))
    chart.figure.y_range.start = 0
    return [dress(chart)]


def _statistics(record: dict[str, Any]) -> list[Chart]:
    """Each kept decision as a point, with the threshold it was compared with."""
    known = [point for point in record["points"] if point[1] is not None]
    if not known:
        return []
    values = [value for _, value, _, _ in known]
    wide = min(values) > 0 and max(values) > 100 * min(values)
    plot = new_figure(OFFERED, "statistic", 300, y_axis_type="log" if wide else "linear")
    chart = Chart(
        "Each decision",
        "Each point is a column and what the method measured on it, in colour where it was accepted; the line is the "
        "threshold it was compared with."
        + (" Of many columns an even choice is drawn." if len(known) < record["offered"][-1] else ""),
        f"Scatter chart of the statistic of {len(known)} offered columns.",
        plot,
    )
    for role, wanted, text in (("faint", False, "not accepted"), ("series-0", True, "accepted")):
        chosen = [point for point in known if point[3] == wanted]
        source = ColumnDataSource({"x": [p[0] for p in chosen], "y": [p[1] for p in chosen]})
        dots = plot.scatter("x", "y", source=source, size=8 if wanted else 5, line_color=None)
        chart.colour(dots.glyph, fill_color=role)
        chart.legend.append(Mark(role, "dot", text))
        hover(chart, [dots], [("column", "@x{0,0}"), ("statistic", "@y{0.0000}"), ("", text)])
    limits = [(offered, limit) for offered, _, limit, _ in known if limit is not None and (limit > 0 or not wide)]
    if limits:
        source = ColumnDataSource({"x": [x for x, _ in limits], "y": [y for _, y in limits]})
        line = plot.line("x", "y", source=source, line_width=1.6, line_dash="dashed")
        chart.colour(line.glyph, line_color="series-1")
        chart.legend.append(Mark("series-1", "dashed", "threshold"))
    columns = ("offered", "statistic", "threshold", "accepted")
    chart.data = {name: [point[k] for point in known] for k, name in enumerate(columns)}
    return [dress(chart)]


def _members(record: dict[str, Any], n_offered: int) -> Chart:
    members: Sequence[dict[str, Any]] = record["members"]
    longest = sorted(members, key=lambda member: member["from"] - member["to"])[:N_LANES]
    lanes = {
        "features": [
            {"name": member["name"], "selected": [(member["from"], member["to"])]}
            for member in sorted(longest, key=lambda member: (member["from"], member["to"]))
        ],
        "n_ever_selected": len(members),
        "end": n_offered,
        "drift": [],
        "drift_found": [],
        "true_features_known": False,
    }
    return lanes_chart(lanes, x_label=OFFERED)


def _selected(found: dict[str, Any]) -> Table:
    rows: list[list[str | Cell]] = [
        [
            str(row["rank"]),
            row["name"],
            Cell(f"{row['index'] + 1:,}", row["index"] + 1),
            Cell(number(float(row["statistic"])), float(row["statistic"])),
        ]
        for row in found["selected"]
    ]
    columns = ["accepted", "column", "place", "statistic"]
    note = "In the order of their acceptance; place is its number among the columns offered."
    return Table("Selected columns", columns, rows, note, frozenset({"accepted", "place", "statistic"}))
