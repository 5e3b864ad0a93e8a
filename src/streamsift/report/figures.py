"""The charts of a run over its rows: heat map, scores, selection, true features found, and a single feature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import BoxZoomTool, ColumnDataSource, LinearColorMapper, Range1d

from streamsift.report.chart import (
    N_COLOURS,
    N_SOLID,
    Chart,
    Curve,
    Mark,
    as_share,
    coloured,
    draw_curves,
    dress,
    hover,
    hover_curves,
    name_lanes,
    new_figure,
)
from streamsift.report.grid import grid_scores
from streamsift.report.numbers import more_are
from streamsift.report.over_time import ROWS, joined, told

LABELLED = 40  # lines of a heat map that get all their names beside them; of more, those that have room
NAMES_WIDTH = 120  # pixels for names, so that the picture keeps its place while they change
MOST_COLUMNS = 1_000  # of the heat map
COLOURS = 254  # steps of the heat map's palette; 0 is left for cells without a score
BRIGHT = 0.99  # quantile of the scores that gets the last colour, so that a single giant does not blind the others


def heat_chart(run: dict[str, Any], number_of_run: int) -> Chart | None:
    """The scores of the best features over time as colours; None for a method without scores."""
    grid = run["grid"]
    scores = grid_scores(grid)
    known = np.atleast_1d((~np.isnan(scores)).any(axis=1))
    if not known.any():
        return None
    # The best at the end stand on top; those without a score at the end below, those scored later first.
    last = np.where(np.isnan(scores[:, -1]), -np.inf, scores[:, -1])
    latest = np.where(np.isnan(scores), -1, np.arange(scores.shape[1])).max(axis=1)
    order = [int(k) for k in np.lexsort((-last, -latest)) if known[k]]
    cells, low, high = _bytes(scores[order])
    n_features, n_snapshots = cells.shape
    end = grid["rows"][-1]
    names = [grid["features"][k]["name"] for k in order]
    left_out = run["n_features"] - n_features
    few = n_features <= LABELLED
    chart = Chart(
        "Scores of all features" if left_out <= 0 else "Scores of the top features",
        "Each line is a feature, the best at the end on top; the stronger the colour, the higher its score."
        + (f" {more_are(left_out, 'feature')} not drawn." if left_out > 0 else "")
        + _thinned(run)
        + " Click a line to see the feature."
        + ("" if few else " Drag over lines to zoom into them (or Ctrl and the wheel): names come as there is room."),
        f"Heat map of the scores of {n_features} features over {n_snapshots} snapshots; at the end {names[0]} leads.",
        new_figure(ROWS, None, 64 + (17 * max(n_features, 2) if few else min(640, max(480, 2 * n_features)))),
        grid=number_of_run,
        lanes=order,
        heat=True,
        zooms=not few,
    )
    plot = chart.figure
    mapper = LinearColorMapper(low=1, high=COLOURS, palette=["#808080"] * COLOURS, low_color="rgba(0, 0, 0, 0)")
    source = ColumnDataSource({"image": [cells[:, _snapshot_of_column(grid["rows"])]]})
    plot.image("image", x=0, y=-0.5, dw=end, dh=n_features, source=source, color_mapper=mapper)
    chart.colour(mapper, palette="heat")
    beyond = " and more" if (scores[np.isfinite(scores)] > high).any() else ""
    chart.legend.append(Mark("heat", "ramp", f"{0 if abs(low) < high / 1000 else low:.3g} to {high:.3g}{beyond}"))
    plot.x_range = Range1d(0, end)
    name_lanes(chart, names)
    plot.y_range = Range1d(n_features - 0.5, -0.5)
    if not few:
        plot.yaxis.ticker.ticks = list(range(0, n_features, -(-n_features // LABELLED)))
        plot.min_border_left = NAMES_WIDTH
        plot.add_tools(BoxZoomTool(dimensions="height"))
        plot.toolbar.active_drag = None  # heat.js switches it on where there is a mouse
    dress(chart)
    plot.ygrid.visible = False
    return chart


def _snapshot_of_column(rows: Sequence[int]) -> np.ndarray[Any, Any]:
    """Which snapshot each column of the picture shows; columns are equally wide, snapshots may be unevenly spaced."""
    least = int(np.diff(rows, prepend=0).min())
    n_columns = min(MOST_COLUMNS, max(1, round(rows[-1] / least)))
    middles = (np.arange(n_columns) + 0.5) * rows[-1] / n_columns
    return np.searchsorted(rows, middles)  # a snapshot speaks for the rows since the one before it


def _bytes(scores: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], float, float]:
    """Scores as steps of the palette, and the scores of its first and its last step."""
    finite = scores[np.isfinite(scores)]
    low, high = (float(finite.min()), float(np.quantile(finite, BRIGHT))) if finite.size else (0.0, 1.0)
    width = high - low
    with np.errstate(invalid="ignore", over="ignore"):
        share = (scores - low) / width if width > 0 else np.where(scores > low, 1.0, 0.0)
        cells = 1 + np.rint(np.clip(share, 0, 1) * (COLOURS - 1))
    return np.where(np.isnan(scores), 0, np.nan_to_num(cells, nan=1.0)).astype(np.uint8), low, high


def _thinned(run: dict[str, Any]) -> str:
    every = run["lanes"]["every"]
    return f" Of every {every:g} snapshots one is drawn." if every > 1 else ""


def scores_chart(run: dict[str, Any], number_of_run: int) -> Chart | None:
    """The scores of the leading features over time, those of other features in grey behind them.

    None without scores, and for a single snapshot, whose scores are in the table.
    """
    scores = run["scores"]
    leaders, others, unseen = scores["leaders"], scores["others"], scores["infinite"]
    if len(scores["rows"]) < 2 or not (leaders or others):
        return None
    first = leaders[0]["name"] if leaders else "none"
    reading = "Each coloured line is one of the features that lead at the end, best first"
    reading += "; the grey ones were selected as well, now or earlier." if others else "."
    chart = Chart(
        "Scores of the leaders",
        (
            reading
            if leaders
            else "Nothing is selected at the end; the grey lines are features that were selected earlier."
        )
        + (f" An infinite score (perfect separation) is a gap: {', '.join(unseen[:3])}." if unseen else ""),
        f"Line chart of the scores of {len(leaders)} leading features against the rows seen; at the end {first} leads.",
        new_figure(ROWS, "score", 320),
        grid=number_of_run,
    )
    curves = [Curve(other["name"], scores["rows"], other["values"], None) for other in others]
    lines = [(leader["name"], scores["rows"], leader["values"]) for leader in leaders]
    chart.reading += told(joined(lines))  # drawn each for itself all the same: their names open them
    curves += coloured(lines)
    drawn = draw_curves(chart, curves, ("feature", "row", "score"))
    places = {feature["index"]: place for place, feature in enumerate(run["grid"]["features"])}
    for k, leader in enumerate(leaders):
        mark = chart.legend[k]
        chart.legend[k] = Mark(mark.role, mark.kind, mark.text, places[leader["index"]])
    hover_curves(chart, drawn, "feature", ("row", "0,0"), ("score", "0.0000"))
    return dress(chart)


def lanes_chart(
    lanes: dict[str, Any], number_of_run: int | None = None, places: Sequence[int] = (), x_label: str = ROWS
) -> Chart:
    """Which features were selected when: a lane for each, true features and drift marked where they are known."""
    features, known = lanes["features"], lanes["true_features_known"]
    drift, found = lanes["drift"], lanes["drift_found"]
    left_out = lanes["n_ever_selected"] - len(features)
    names = [feature["name"] for feature in features] + ["drift"] * bool(drift) + ["drift found"] * bool(found)
    unit = x_label.split()[0]
    chart = Chart(
        "The selection over time",
        "Each lane is a feature: a bar while it was selected"
        + (", a pale band while it was a true feature." if known else ".")
        + (f" {more_are(left_out, 'feature')} not drawn, selected for a shorter time." if left_out else ""),
        f"Lanes of {len(features)} features showing in which {unit} each was selected"
        + (" and in which it was a true feature." if known else "."),
        new_figure(x_label, None, 70 + 17 * max(len(names), 2)),
        grid=number_of_run,
        lanes=list(places),
    )
    if known:
        bands = _bars(chart, features, "relevant", 0.92, "band")
    bars = _bars(chart, features, "selected", 0.42, "series-0")
    chart.legend.append(Mark("series-0", "bar", "selected"))
    if known:
        chart.legend.append(Mark("band", "band", "true feature"))
        hover(chart, [bands], [("feature", "@name"), (f"true in {unit}", "@left{0,0} – @right{0,0}")])
    if drift:
        drifting: list[dict[str, Any]] = [{}] * len(features) + [{"name": "drift", "drift": drift}]
        marks = _bars(chart, drifting, "drift", 0.42, "series-1")
        marks.glyph.line_width = 2  # so that a short drift in a long run is seen
        chart.colour(marks.glyph, line_color="series-1")
        chart.legend.append(Mark("series-1", "bar", "the stream drifts"))
        hover(chart, [marks], [("drift in rows", "@left{0,0} – @right{0,0}")])
    if found:
        source = ColumnDataSource({"x": found, "y": [len(names) - 1] * len(found)})
        marks = chart.figure.scatter("x", "y", source=source, marker="triangle", size=9, line_color=None)
        chart.colour(marks.glyph, fill_color="series-3")
        chart.legend.append(Mark("series-3", "dot", "drift found by the selector"))
        hover(chart, [marks], [("drift found by row", "@x{0,0}")])
    hover(chart, [bars], [("feature", "@name"), (f"selected in {unit}", "@left{0,0} – @right{0,0}")])
    name_lanes(chart, names)
    chart.figure.x_range = Range1d(0, lanes["end"])  # as the scores above it, though nothing was selected at the ends
    chart.data = _lane_columns(features, drift, found)
    return dress(chart)


def _lane_columns(features: Sequence[dict[str, Any]], drift: Sequence[Any], found: Sequence[int]) -> dict[str, Any]:
    pieces = [
        (feature["name"], what, *piece)
        for feature in features
        for what, key in (("selected", "selected"), ("true feature", "relevant"))
        for piece in feature.get(key, ())
    ]
    pieces += [("", "drift", *piece) for piece in drift] + [("", "drift found", row, row) for row in found]
    return {name: [piece[k] for piece in pieces] for k, name in enumerate(("feature", "what", "from", "to"))}


def _bars(chart: Chart, features: Sequence[dict[str, Any]], key: str, height: float, role: str) -> Any:
    """One horizontal bar for each interval under `key`, in the lane of its feature."""
    pieces = [(k, feature["name"], *piece) for k, feature in enumerate(features) for piece in feature.get(key, ())]
    lane, name, left, right = ([piece[k] for piece in pieces] for k in range(4))
    source = ColumnDataSource({"lane": lane, "name": name, "left": left, "right": right})
    bars = chart.figure.hbar(y="lane", left="left", right="right", height=height, source=source, line_color=None)
    chart.colour(bars.glyph, fill_color=role)
    return bars


def detection_chart(runs: Sequence[dict[str, Any]]) -> Chart:
    """The detection rate over time, one line per run."""
    chart = Chart(
        "True features found",
        "The share of the true features that are in the selection at each moment: 100 % means that all are found.",
        "Line chart of the detection rate against the rows seen; mean over the second half: "
        + ", ".join(f"{run['name']} {run['detection']['mean_second_half']:.0%}" for run in runs)
        + ".",
        new_figure(ROWS, "detection rate", 260),
    )
    curves = [
        Curve(run["name"], run["detection"]["rows"], run["detection"]["rates"], k % N_COLOURS, k >= N_SOLID)
        for k, run in enumerate(runs)
    ]
    lines = draw_curves(chart, curves, ("run", "row", "detection rate"))
    hover_curves(chart, lines, "run", ("row", "0,0"), ("found", "0%"))
    as_share(chart)
    return dress(chart)


def curves_chart(title: str, reading: str, alt: str, x_label: str, curves: Sequence[Curve]) -> Chart:
    """Detection rates against something else than rows, for example the number of selected features."""
    chart = Chart(title, reading, alt, new_figure(x_label, "detection rate", 300))
    lines = draw_curves(chart, curves, ("curve", x_label, "value"))
    hover_curves(chart, lines, "curve", (x_label, "0,0"), ("found", "0.0%"))
    as_share(chart)
    return dress(chart)


def feature_charts() -> list[Chart]:
    """The two charts of a single feature; the page's script fills them in, by the names "line" and "held"."""
    charts = []
    for title, reading, label in (
        ("Score", "The score over time, on a pale band while the feature was selected.", "score"),
        ("Rank", "Its place among all scores at each step; 1 is the best.", "rank"),
    ):
        chart = Chart(title, reading, f"Line chart of the {label} of the chosen feature over time.", None)
        chart.figure = new_figure(ROWS, label, 200)
        if label == "rank":
            chart.figure.y_range.flipped = True
        held = ColumnDataSource({"left": [], "right": []}, name="held")
        # y runs over the whole frame in screen units: the band must not stretch the axis of the scores.
        band = chart.figure.vstrip("left", "right", source=held, line_color=None)
        chart.colour(band.glyph, fill_color="band")
        source = ColumnDataSource({"x": [0, 1], "y": [0, 1]}, name="line")  # bokeh warns of a chart without a range
        line = chart.figure.line("x", "y", source=source, line_width=2)
        dots = chart.figure.scatter("x", "y", source=source, size=3, line_color=None)
        chart.colour(line.glyph, line_color="series-0")
        chart.colour(dots.glyph, fill_color="series-0")
        hover(chart, [line], [("row", "@x{0,0}"), (label, "@y{0.[0000]}")])
        charts.append(dress(chart))
    return charts
