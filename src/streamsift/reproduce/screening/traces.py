"""Figure 2 of the screening paper: the share of the true features among the 500 best, over the rows of the stream.

Four panels: by score, by speed of drift with one fading, by speed with a fading that fits it, and the last half of the
stream by speed and fading. The paper's alpha of 0.9 is applied once per mini-batch, of a size that it does not give;
ours is 0.99995 per row, the value that fits its l of 2,000 in Figure 3 (0.9 in about 2,100 rows). The score of the
panels by speed, which the paper does not name, is the t-score, by which those fadings were chosen (on another seed).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from streamsift import catalog
from streamsift.reproduce.result import FigureCurve, Options, Panel, Progress, Result, Series
from streamsift.reproduce.screening.stream import FADING, ROWS, SCORES, DetectionRun, drifting_stream, rates_by_count
from streamsift.runs.workers import map_all

SELECTED = 500
SLOWEST = max(FADING)
FIXED = FADING[SLOWEST]
FADINGS = (0.999, 0.9995, 0.9998, 0.9999, 0.99995, 1.0)
BY_SPEED = "t_score"
N_POINTS = 100


def figure_2(
    options: Options,
    progress: Progress,
    *,
    scores: Sequence[str] = SCORES,
    fadings: Sequence[float] = FADINGS,
) -> Result:
    """Measure every curve and every cell of Figure 2, each run once."""
    rows, seed = options.rows or ROWS, options.seed
    by_score = {score: DetectionRun(score, FIXED, SLOWEST, rows, seed=seed) for score in scores}
    fixed = {speed: DetectionRun(BY_SPEED, FIXED, speed, rows, seed=seed) for speed in FADING}
    fitting = {speed: DetectionRun(BY_SPEED, fading, speed, rows, seed=seed) for speed, fading in FADING.items()}
    cells = {
        (speed, fading): DetectionRun(BY_SPEED, fading, speed, rows, seed=seed)
        for speed in FADING
        for fading in fadings
    }
    runs = list(dict.fromkeys([*by_score.values(), *fixed.values(), *fitting.values(), *cells.values()]))
    traces = {}
    for done, (run, trace) in enumerate(map_all(_measure, runs, options.jobs), start=1):
        traces[run] = trace
        progress(done, len(runs))
    places = [float(rows * (k + 1) // N_POINTS) for k in range(N_POINTS)]
    panels = {
        "by score": {score: traces[run] for score, run in by_score.items()},
        "by speed": {f"l = {speed}": traces[run] for speed, run in fixed.items()},
        "by speed, fitting fading": {f"l = {speed}": traces[run] for speed, run in fitting.items()},
    }
    series = [
        Series(panel, name, places, [round(float(rate), 3) for rate in trace])
        for panel, lines in panels.items()
        for name, trace in lines.items()
    ]
    last = {cell: float(traces[run][N_POINTS // 2 :].mean()) for cell, run in cells.items()}
    series += [
        Series("by speed and fading", f"l = {speed}", list(fadings), [last[speed, fading] for fading in fadings])
        for speed in FADING
    ]
    return Result(
        title="Figure 2: true features found over time",
        lead="Wang and Barbu, Online Feature Screening for Data Streams with Concept Drift. Share of the true features "
        f"among the {SELECTED} best of 1,000, over {rows:,} rows; seed {seed}.",
        note="The paper prints no numbers for this figure. Its alpha of 0.9 is applied once per mini-batch, of a size "
        f"that it does not give; ours is {FIXED} per row. The panels by speed (l, the rows between two shifts) show "
        "the t-score. The table is the mean over the second half of the stream, by l and fading.",
        columns=["l", *(f"fading {fading}" for fading in fadings)],
        rows=[[f"{speed:,}", *(f"{last[speed, fading]:.3f}" for fading in fadings)] for speed in FADING],
        x_label="rows",
        dashed_means="",
        panels=[_panel(title, lines, places) for title, lines in panels.items()],
        series=series,
    )


def detection_trace(run: DetectionRun, selected: int = SELECTED, n_points: int = N_POINTS) -> NDArray[np.float64]:
    """The share of the true features among the best, at places of equal distance over the whole stream."""
    selector = catalog.make(f"screen:{run.score}", fading=run.fading)
    rates = []
    for batch in drifting_stream(run).batches(max(run.rows // n_points, 1)):
        selector.partial_fit(batch)
        assert batch.relevant is not None  # a generated stream knows its true features
        rates.append(float(rates_by_count(selector.scores_, batch.relevant, [selected])[0]))
    return np.array(rates[:n_points])


def _measure(run: DetectionRun) -> tuple[DetectionRun, NDArray[np.float64]]:
    return run, detection_trace(run)


def _panel(title: str, lines: dict[str, NDArray[np.float64]], places: list[float]) -> Panel:
    words = "Second half: " + ", ".join(f"{name} {trace[N_POINTS // 2 :].mean():.3f}" for name, trace in lines.items())
    curves = [FigureCurve(name, name, False, places, trace.tolist()) for name, trace in lines.items()]
    title = f"Detection rate {title}"
    return Panel(title, f"{words}.", f"{title} over the rows. {words}.", curves)
