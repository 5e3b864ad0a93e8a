"""Wang and Barbu, "Online Feature Screening for Data Streams with Concept Drift": Figure 3 here, Figure 2 in traces.py;
Tables 2 to 6 in tables.py, 8 and 9 in learners.py.

The figure shows the share of the true features found (detection rate) against the number k of selected features, for
four speeds l of the drift (stream.py) and five scores, with model adaptation (solid) and without (dashed). Here each
point is the mean over snapshots in the second half of the stream.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from streamsift import catalog
from streamsift.reproduce.result import Exhibit, FigureCurve, Options, Panel, Progress, Result, Series
from streamsift.reproduce.screening.learners import table_8, table_9
from streamsift.reproduce.screening.stream import (
    FADING,
    N_FEATURES,
    N_RELEVANT,
    ROWS,
    SCORES,
    DetectionRun,
    drifting_stream,
    rates_by_count,
)
from streamsift.reproduce.screening.tables import table_2, table_3, tables_4_to_6
from streamsift.reproduce.screening.traces import figure_2
from streamsift.runs.workers import map_all

BATCH = 1_000
N_SNAPSHOTS = 25  # in the second half
COUNTS = tuple(range(50, 1_001, 25))  # k, the number of selected features
COUNTS_IN_TABLE = (100, 200, 300, 500, 700)


def figure_3(
    options: Options,
    progress: Progress,
    *,
    scores: Sequence[str] = SCORES,
    fading: Mapping[int, float] = FADING,
) -> Result:
    """Measure every curve of Figure 3: each score at each speed of drift, with its fading and without."""
    rows = options.rows or ROWS
    runs = [
        DetectionRun(score, factor, shift_every, rows, seed=options.seed)
        for shift_every, fits in fading.items()
        for score in scores
        for factor in (fits, 1.0)
    ]
    rates = {}
    for done, (run, curve) in enumerate(map_all(_measure, runs, options.jobs), start=1):
        rates[run] = curve
        progress(done, len(runs))
    return _result(rows, options.seed, runs, rates)


def detection_curve(run: DetectionRun, counts: Sequence[int] = COUNTS) -> NDArray[np.float64]:
    """The detection rate for each number of selected features, mean over snapshots in the second half of the stream."""
    selector = catalog.make(f"screen:{run.score}", fading=run.fading)
    snapshots, rows = [], 0
    distance = max(run.rows // 2 // N_SNAPSHOTS, 1)
    due = run.rows // 2 + distance
    for batch in drifting_stream(run).batches(min(BATCH, distance)):
        selector.partial_fit(batch)
        rows += batch.n_rows
        if rows >= due:
            due += distance
            assert batch.relevant is not None  # a generated stream knows its true features
            snapshots.append(rates_by_count(selector.scores_, batch.relevant, counts))
    return np.asarray(np.mean(snapshots, axis=0))


def _measure(run: DetectionRun) -> tuple[DetectionRun, NDArray[np.float64]]:
    return run, detection_curve(run)


def _result(rows: int, seed: int, runs: list[DetectionRun], rates: dict[DetectionRun, NDArray[np.float64]]) -> Result:
    panels = [_panel(shift_every, runs, rates) for shift_every in dict.fromkeys(run.shift_every for run in runs)]
    table = [
        [
            f"{run.shift_every:,}",
            run.score,
            "none" if run.fading == 1.0 else str(run.fading),
            *(f"{rates[run][COUNTS.index(k)]:.3f}" for k in COUNTS_IN_TABLE),
        ]
        for run in runs
    ]
    return Result(
        title="Figure 3: true features found under drift",
        lead="Wang and Barbu, Online Feature Screening for Data Streams with Concept Drift. "
        f"Detection rate against the number of selected features: {rows:,} rows, {N_FEATURES:,} features, "
        f"{N_RELEVANT} of them true, the window of true features moving on by one every l rows; seed {seed}.",
        note="All numbers are measured here. The paper prints no numbers for this figure, only curves, so there is "
        "nothing to set beside them; what it says in words is that adaptation finds more at every l, and that "
        "slower drift needs fewer features. The fading of each l is ours: the best of two or three values by the "
        "t-score on seed 0, so read seed 0 as slightly favourable to fading and any other seed as a check.",
        columns=["l", "score", "fading", *(f"rate@{k}" for k in COUNTS_IN_TABLE)],
        rows=table,
        x_label="selected features",
        dashed_means="without fading",
        panels=panels,
        series=[
            Series(f"l = {run.shift_every}", _name(run), list(map(float, COUNTS)), [round(y, 4) for y in rates[run]])
            for run in runs
        ],
    )


def _name(run: DetectionRun) -> str:
    return f"{run.score}, {'no fading' if run.fading == 1.0 else f'fading {run.fading}'}"


def _panel(shift_every: int, runs: Sequence[DetectionRun], rates: dict[DetectionRun, NDArray[np.float64]]) -> Panel:
    """One chart, its curves in the order of the runs: a score with fading, then without."""
    runs = [run for run in runs if run.shift_every == shift_every]
    curves = [
        FigureCurve(
            _name(run),
            run.score,
            run.fading == 1.0,
            [float(k) for k in COUNTS],
            rates[run].tolist(),
        )
        for run in runs
    ]
    middle = COUNTS.index(500)
    faded = [float(rates[run][middle]) for run in runs if run.fading < 1.0]
    plain = [float(rates[run][middle]) for run in runs if run.fading == 1.0]
    words = (
        f"With 500 features, {min(faded):.0%} to {max(faded):.0%} of the true ones are found with fading "
        f"{runs[0].fading}, {min(plain):.0%} to {max(plain):.0%} without."
    )
    return Panel(
        f"A shift every {shift_every:,} rows",
        words,
        f"Detection rate against the number of selected features for five scores, l = {shift_every}. {words}",
        curves,
    )


EXHIBITS: dict[str, Exhibit] = {
    "figure 2": figure_2,
    "figure 3": figure_3,
    "table 2": table_2,
    "table 3": table_3,
    "table 4": tables_4_to_6,
    "table 5": tables_4_to_6,
    "table 6": tables_4_to_6,
    "table 8": table_8,
    "table 9": table_9,
}
