"""summarize: everything a report says about a run, as a plain dict of numbers, texts and lists.

The page, a table in a notebook or JSON for another tool can all read this dict; nothing here knows how it will look.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.report.grid import grid_scores, make_grid
from streamsift.report.lists import Lists
from streamsift.report.numbers import rounded
from streamsift.runs.trace import Trace

N_LEADERS = 6  # features drawn in colour
N_OTHERS = 24  # features drawn in grey behind them
N_LANES = 40  # features with a lane of their own
N_FEATURES = 300  # features of the heat map and of the list one can choose from
N_POINTS = 400  # points a line; more would not be seen
N_SNAPSHOTS = 1_000  # columns of the heat map; of longer runs an even choice of snapshots

# Columns of a trace that are drawn over time; runs that were only followed, and older traces, lack them.
MEASURES = (
    "accuracy", "window_accuracy", "majority", "window_majority",
    "balanced_accuracy", "kappa", "log_loss", "f1", "rmse", "window_rmse", "mae", "r2",
    "mean_rmse", "window_mean_rmse",
    "stability", "selection_accuracy",
    "n_selected", "selection_seconds", "learner_seconds", "memory", "peak_memory", "ram_hours",
)  # fmt: skip

Interval = tuple[int, int]
Rows = NDArray[np.int64]


def summarize(trace: Trace, name: str) -> dict[str, Any]:
    """Return what the report says about a run.

    Parameters
    ----------
    trace : Trace
        The record of the run, with at least one step.
    name : str
        What the run is called where several stand side by side.

    Returns
    -------
    dict
        `selected` (the final selection), `grid` (features × snapshots), `scores` and `lanes` (charts over time),
        `detection` (None where the true features are unknown), `measures` (accuracy, stability and cost over time;
        only those the run has), `why` (explanations of the leading features), `settings`, and the size of the run.
    """
    every_step, measures = trace, _measures(trace)
    # Steps between two snapshots hold measures only.
    taken = np.flatnonzero(trace.table["selected"].is_valid().to_numpy())
    trace = replace(trace, table=trace.table.take(taken))
    rows: Rows = trace.table["row"].to_numpy()
    chosen, relevant = Lists.of(trace.table["selected"]), Lists.of(trace.table["relevant"])
    lines = evenly(len(rows), N_SNAPSHOTS)
    drift = {flag: _any_since(every_step, flag, taken[lines]) for flag in ("drifting", "drift_found")}
    shares = _shares(rows, chosen)
    by_share = sorted(shares, key=lambda index: (-shares[index], index))
    final = [int(index) for index in chosen.line(len(rows) - 1)]
    features = _features(trace, rows, chosen, shares, _listed(trace, final, by_share))
    grid = make_grid(trace, features, lines, chosen, relevant)
    truth = set(relevant.line(len(rows) - 1).tolist()) if relevant.known[-1] else None
    return {
        "name": name,
        "n_rows": int(rows[-1]),
        "n_features": trace.n_features,
        "n_snapshots": len(rows),
        "seconds": float(trace.table["seconds"][-1].as_py()),
        "settings": trace.run.shown(),
        "selected": _selected(trace, final, shares, truth),
        "grid": grid,
        "scores": _scores(grid, final, by_share),
        "lanes": _lanes(trace, rows, lines, chosen, relevant, by_share) | _drift(rows[lines].tolist(), drift),
        "detection": _detection(rows, chosen, relevant),
        "measures": measures,
        "why": trace.result.get("why", []),
    }


def _shares(rows: Rows, chosen: Lists) -> dict[int, float]:
    """For each feature ever selected, the share of the rows during which it was."""
    held = np.bincount(chosen.values, _since_last(rows)[chosen.lines])
    return {int(index): float(held[index] / rows[-1]) for index in np.unique(chosen.values)}


def _since_last(rows: Rows) -> Rows:
    """The rows each snapshot speaks for: those since the one before it. They need not be evenly spaced."""
    return np.diff(rows, prepend=0)


def _listed(trace: Trace, final: list[int], by_share: list[int]) -> list[int]:
    """The features of the grid: those selected now, then those selected longest, then those with the best scores."""
    last = trace.table.slice(len(trace) - 1)
    scores = Lists.of(last["scores"]).values
    others = Lists.of(last["indices"]).values[np.argsort(-scores, kind="stable")]
    wanted = [*final[: N_FEATURES - N_LANES], *by_share[:N_LANES], *final, *by_share, *others.tolist()]
    return list(dict.fromkeys(wanted))[:N_FEATURES]


def _features(
    trace: Trace, rows: Rows, chosen: Lists, shares: dict[int, float], listed: list[int]
) -> list[dict[str, Any]]:
    """For each listed feature its name, for how long it was selected, and from when on (None: never)."""
    values, places = np.unique(chosen.values, return_index=True)
    first = dict(zip(values.tolist(), rows[chosen.lines[places]].tolist(), strict=True))
    return [
        {"index": i, "name": trace.name(i), "share": rounded(shares.get(i, 0.0)), "first": first.get(i)} for i in listed
    ]


def _selected(trace: Trace, final: list[int], shares: dict[int, float], truth: set[int] | None) -> list[dict[str, Any]]:
    last = trace.table.slice(len(trace) - 1)
    scores = dict(zip(last["indices"][0].as_py(), last["scores"][0].as_py(), strict=True))
    return [
        {
            "rank": rank,
            "index": index,
            "name": trace.name(index),
            "score": scores.get(index),
            "share": shares[index],
            "relevant": None if truth is None else index in truth,
        }
        for rank, index in enumerate(final, start=1)
    ]


def _scores(grid: dict[str, Any], final: list[int], by_share: list[int]) -> dict[str, Any]:
    """The scores of some features over time; None where a score was not recorded or is not finite."""
    values = grid_scores(grid)
    points = evenly(len(grid["rows"]), N_POINTS)
    places = {feature["index"]: place for place, feature in enumerate(grid["features"])}
    leaders = final[:N_LEADERS]
    others = [index for index in dict.fromkeys([*final, *by_share]) if index not in leaders and index in places]
    drawn = [index for index in [*leaders, *others[:N_OTHERS]] if np.isfinite(values[places[index]]).any()]
    lines = [
        {
            "index": index,
            "name": grid["features"][places[index]]["name"],
            "values": [rounded(value) for value in values[places[index], points].tolist()],
        }
        for index in drawn
    ]
    n_leaders = sum(index in leaders for index in drawn)
    wanted = [*leaders, *others[:N_OTHERS]]
    return {
        "rows": [grid["rows"][point] for point in points],
        "leaders": lines[:n_leaders],
        "others": lines[n_leaders:],
        "infinite": [grid["features"][places[i]]["name"] for i in wanted if np.isposinf(values[places[i]]).any()],
    }


def evenly(n_lines: int, most: int) -> NDArray[np.intp]:
    """Which lines become points of a chart: all, or an even choice with the first and the last."""
    return np.unique(np.linspace(0, n_lines - 1, min(n_lines, most)).round().astype(np.intp))


def _lanes(
    trace: Trace, rows: Rows, lines: NDArray[np.intp], chosen: Lists, relevant: Lists, by_share: list[int]
) -> dict[str, Any]:
    """For each feature ever selected the intervals of rows in which it was, and in which it was a true feature."""
    # Early ones first, late ones last: what left, what stayed and what came can be read from top to bottom.
    when = rows[chosen.lines]
    middle = {i: float(np.median(when[chosen.values == i])) for i in by_share[:N_LANES]}
    ranks = {int(index): rank for rank, index in enumerate(chosen.line(len(rows) - 1))}
    shown = sorted(middle, key=lambda index: (middle[index], ranks.get(index, len(ranks)), index))
    selected, true = chosen.flags(shown, lines), relevant.flags(shown, lines)
    times = rows[lines].tolist()
    return {
        "features": [
            {
                "index": index,
                "name": trace.name(index),
                "selected": _intervals(times, selected[k].tolist()),
                "relevant": _intervals(times, true[k].tolist()),
            }
            for k, index in enumerate(shown)
        ],
        "n_ever_selected": len(by_share),
        "end": int(rows[-1]),
        "true_features_known": bool(relevant.known.any()),
        "every": round(len(rows) / len(lines), 1),
    }


def _drift(rows: list[int], flags: dict[str, list[bool]]) -> dict[str, Any]:
    """Where the stream drifted, and the rows by which the selector had found a drift."""
    found = [row for row, flag in zip(rows, flags["drift_found"], strict=True) if flag]
    return {"drift": _intervals(rows, flags["drifting"]), "drift_found": found}


def _any_since(trace: Trace, column: str, lines: NDArray[np.intp]) -> list[bool]:
    """For each chosen line, whether the flag was up there or at a line left out before it."""
    if column not in trace.table.column_names:
        return [False] * len(lines)
    flags = trace.table[column].fill_null(False).to_numpy()
    starts = np.concatenate([[0], lines[:-1] + 1])
    return [bool(flag) for flag in np.logical_or.reduceat(flags, starts)]


def _intervals(rows: list[int], flags: list[bool]) -> list[Interval]:
    """The runs of true flags as intervals of rows; a snapshot speaks for the rows since the one before it.

    >>> _intervals([10, 20, 30, 40], [True, True, False, True])
    [(0, 20), (30, 40)]
    """
    found: list[Interval] = []
    start: int | None = None
    before = 0
    for row, flag in zip(rows, flags, strict=True):
        if flag and start is None:
            start = before
        if not flag and start is not None:
            found.append((start, before))
            start = None
        before = row
    if start is not None:
        found.append((start, before))
    return found


def _detection(rows: Rows, chosen: Lists, relevant: Lists) -> dict[str, Any] | None:
    """The detection rate over time and its mean over the second half of the rows; None where nobody knows it there."""
    known = np.flatnonzero(np.diff(relevant.starts))
    late = rows[known] > rows[-1] / 2
    if not late.any():
        return None
    rates = _rates(chosen, relevant)[known]
    shown = evenly(len(known), N_POINTS)
    return {
        "rows": rows[known[shown]].tolist(),
        "rates": rates[shown].tolist(),
        "mean_second_half": float(np.average(rates[late], weights=_since_last(rows)[known[late]])),
    }


def _rates(chosen: Lists, relevant: Lists) -> NDArray[np.float64]:
    """The detection rate of each line, as `metrics.detection_rate` gives it; 0 where there are no true features."""
    width = int(max(chosen.values.max(initial=0), relevant.values.max(initial=0))) + 1
    found = np.isin(relevant.lines * width + relevant.values, chosen.lines * width + chosen.values)
    n_true = np.diff(relevant.starts)
    return np.bincount(relevant.lines, found, len(relevant)) / np.maximum(n_true, 1)


def _measures(trace: Trace) -> dict[str, list[float | None]]:
    """The measures a run has, thinned; empty for a run that was only followed."""
    rows: Rows = trace.table["row"].to_numpy()
    points = evenly(len(rows), N_POINTS)
    found = {}
    for name in MEASURES:
        if name in trace.table.column_names and trace.table[name].null_count < len(rows):
            found[name] = [rounded(value) for value in trace.table[name].take(points).to_pylist()]
    return {"rows": rows[points].tolist(), **found} if found else {}
