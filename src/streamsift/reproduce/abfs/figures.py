"""The figures of the ABFS paper; see abfs.py."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from streamsift.evaluate.baselines import RandomSelector
from streamsift.evaluate.folds import SCHEMES, fold_selections
from streamsift.metrics.selection import selection_accuracy
from streamsift.metrics.stability import pearson_stability
from streamsift.reproduce.abfs.runs import (
    DETECTORS,
    N_SNAPSHOTS,
    ROWS,
    SPLIT_TESTS,
    STREAMS,
    AbfsMeasured,
    AbfsRun,
    make_selector,
    make_stream,
)
from streamsift.reproduce.abfs.settings import PAPER, STREAM_NOTE, lead, mean, measure_all
from streamsift.reproduce.result import FigureCurve, Options, Panel, Progress, Result
from streamsift.runs.workers import map_all

GRACE_PERIODS, THRESHOLDS = (100, 200, 500, 1_000), (0.01, 0.05, 0.1)
SHARES = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0)  # of Figure 4
SWEEP_LEARNER = "NB"
MANY = 500  # irrelevant features of Figure 9


def sweep_figure(
    number: int,
    options: Options,
    progress: Progress,
    *,
    streams: Sequence[str] = STREAMS,
    grace_periods: Sequence[int] = GRACE_PERIODS,
    thresholds: Sequence[float] = THRESHOLDS,
) -> Result:
    """Figures 1, 2, 3 (one parameter at a time) and 6 (the ten best configurations)."""
    runs = [
        AbfsRun(stream, 100, SWEEP_LEARNER, "ABFS", grace_period=grace_period, threshold=threshold, detector=detector)
        for grace_period in grace_periods
        for threshold in thresholds
        for detector in DETECTORS
        for stream in streams
    ]
    done = measure_all(runs, options, progress)
    groups: dict[str, list[AbfsMeasured]] = defaultdict(list)
    for run, found in done.items():
        value = {1: run.grace_period, 2: run.threshold, 3: run.detector, 6: run.configuration}[number]
        groups[str(value)] += found
    rows = [
        [name, str(len(found)), f"{mean(one.accuracy for one in found):.2f}", *_parts(found)]
        for name, found in groups.items()
    ]
    if number == 6:
        rows = sorted(rows, key=lambda row: -float(row[2]))[:10]
    what = {1: "grace period", 2: "threshold", 3: "drift detector", 6: "configuration"}[number]
    return Result(
        title=f"Figure {number}: {'the ten best configurations' if number == 6 else f'ABFS by {what}'}",
        lead=lead(options),
        note="The paper draws box plots and prints no numbers. It finds accuracies hardly different, the selection "
        "best with a grace period of 500, more true features but also more false ones with a smaller threshold, and "
        "on average gp=500, theta=0.01 and ADWIN best. Here only naive Bayes and 100 irrelevant features are run, "
        f"over all {len(runs)} combinations of parameters and streams. {STREAM_NOTE}",
        columns=[what, "runs", "accuracy", "SA", "RRF", "CCP"],
        rows=rows,
        x_label="",
        dashed_means="",
        panels=[],
    )


def random_figure(options: Options, progress: Progress, *, streams: Sequence[str] = STREAMS) -> Result:
    """Figure 4: what random selection would give."""
    rows = []
    repeats = 30
    for done, share in enumerate(SHARES, start=1):
        found = []
        for stream in streams:
            generated = make_stream(AbfsRun(stream, 100, "", "", rows=1_000))
            true, n_features = list(generated.segments()[0].relevant), len(generated.feature_names)
            for seed in range(repeats):
                draw = np.random.RandomState(seed)
                chosen = RandomSelector(share, random_state=draw).fit(np.zeros((1, n_features)))
                found.append(selection_accuracy(chosen.get_support(), true, n_features))
        rows.append(
            [
                f"{share:.0%}",
                str(len(found)),
                f"{mean(found):.3f}",
                f"{mean(one.rrf for one in found):.3f}",
                f"{mean(one.ccp for one in found):.3f}",
                f"{float(np.std(found)):.3f}",
            ]
        )
        progress(done, len(SHARES))
    return Result(
        title="Figure 4: random selection",
        lead=f"{PAPER} Random shares of the features, {repeats} draws for each of the seven streams.",
        note="The paper draws this without numbers; it says that the accuracy of random selections varies widely, and "
        "that of ABFS (figure 5) is better.",
        columns=["selected", "draws", "SA", "RRF", "CCP", "SA's deviation"],
        rows=rows,
        x_label="",
        dashed_means="",
        panels=[],
    )


def selection_figure(options: Options, progress: Progress, *, streams: Sequence[str] = STREAMS) -> Result:
    """Figure 5: accuracy and selection accuracy of each stream."""
    runs = [AbfsRun(stream, 100, SWEEP_LEARNER, selector) for stream in streams for selector in SPLIT_TESTS]
    done = measure_all(runs, options, progress)
    rows = []
    for run, found in done.items():
        many = mean(np.mean(one.n_selected) for one in found)
        drifts = ", ".join(f"{row:,}" for row in found[0].drifts[:6]) or "none"
        accuracy = f"{mean(one.accuracy for one in found):.2f}"
        rows.append([run.stream, run.selector, drifts, accuracy, *_parts(found), f"{many:.1f}"])
    below = [row[0] for row in rows if row[1] == "ABFS" and float(row[4]) < 0.7]
    return Result(
        title="Figure 5: accuracy and selection accuracy by stream",
        lead=f"{lead(options)} ABFS with naive Bayes, 100 irrelevant features.",
        note="The paper draws this without numbers; it says that BG3 and RTG are far below the rest and below 0.7, "
        f"what selecting everything gives. Below 0.7 here, by ABFS: {', '.join(below) or 'none'}. {STREAM_NOTE}",
        columns=["stream", "selector", "drifts found (first run)", "accuracy", "SA", "RRF", "CCP", "features"],
        rows=rows,
        x_label="",
        dashed_means="",
        panels=[],
    )


def stability_figure(options: Options, progress: Progress, *, streams: Sequence[str] = STREAMS) -> Result:
    """Figure 8: stability by stream and way of making folds."""
    tasks = [
        (AbfsRun(stream, 100, "", "ABFS", rows=options.rows or ROWS, seed=options.seed + repeat), scheme)
        for stream in streams
        for scheme in SCHEMES
        for repeat in range(options.n_repeats())
    ]
    found: dict[tuple[str, str], list[list[float]]] = defaultdict(list)
    for done, (stream, scheme, stabilities) in enumerate(map_all(_stability, tasks, options.jobs), start=1):
        found[stream, scheme].append(stabilities)
        progress(done, len(tasks))
    rows = [[stream, *(f"{np.mean(found[stream, scheme]):.3f}" for scheme in SCHEMES)] for stream in streams]
    distance = (options.rows or ROWS) / N_SNAPSHOTS
    panels = []
    for stream in streams:
        curves = []
        for scheme in SCHEMES:
            height = np.mean(found[stream, scheme], axis=0)
            curves.append(
                FigureCurve(scheme, scheme, False, [distance * (k + 1) for k in range(len(height))], height.tolist())
            )
        words = ", ".join(f"{scheme} {np.mean(found[stream, scheme]):.2f}" for scheme in SCHEMES)
        panels.append(
            Panel(stream, f"Mean stability: {words}.", f"Stability over the rows of {stream}: {words}.", curves)
        )
    ordered = [row[0] for row in rows if float(row[1]) > float(row[3]) > float(row[2])]
    return Result(
        title="Figure 8: stability of ABFS",
        lead=f"{lead(options)} Pearson stability (Eqs. 11 and 12) of ten folds, 100 irrelevant features.",
        note="The paper draws this without numbers; it says that cross-validation is the most stable, split the least. "
        f"That order holds here on: {', '.join(ordered) or 'none'}. {STREAM_NOTE}",
        columns=["stream", *SCHEMES],
        rows=rows,
        x_label="rows",
        dashed_means="",
        panels=panels,
    )


def features_figure(options: Options, progress: Progress, *, irrelevant: int = MANY) -> Result:
    """Figure 9: features in use over the stream, by trees with ABFS and without."""
    runs = [
        AbfsRun(stream, irrelevant, learner, selector)
        for stream in ("BG1", "SEA")
        for learner in ("HT", "HAT")
        for selector in ("", "ABFS")
    ]
    done = measure_all(runs, options, progress)
    rows, panels = [], []
    for stream in ("BG1", "SEA"):
        curves, words = [], []
        for run, found in done.items():
            if run.stream != stream:
                continue
            one = found[0]
            used = [0 if value is None else value for value in one.n_used]
            counts = one.n_selected if run.selector else used
            places = [float(row) for row in one.rows[: len(counts)]]
            curves.append(FigureCurve(run.method, run.learner, not run.selector, places, [float(n) for n in counts]))
            words.append(f"{run.method} ends with {counts[-1]}")
            rows.append([stream, run.method, str(max(counts)), str(counts[-1]), str(used[-1]), _drift_rows(one)])
        drifts = make_stream(replace(runs[0], stream=stream, rows=options.rows or ROWS)).drifts
        marks = " and ".join(f"{drift.first:,} to {drift.last:,}" for drift in drifts)
        reading = f"{'; '.join(words)}. Drifts are under way in rows {marks}."
        panels.append(Panel(stream, reading, f"Number of features over the rows of {stream}. {reading}", curves))
    return Result(
        title="Figure 9: features in use",
        lead=f"{lead(options)} {irrelevant} irrelevant features; the first repeat.",
        note="The paper draws this without numbers; it says that trees grow on and on, that ABFS keeps up to 4 "
        "features on BG1, and that HAT drops features at drifts there but not on SEA. With ABFS the curve is what ABFS "
        "selects. "
        f"{STREAM_NOTE}",
        columns=["stream", "method", "most features", "features at the end", "in the tree at the end", "drifts found"],
        rows=rows,
        x_label="rows",
        dashed_means="the tree alone: features its splits use",
        panels=panels,
    )


def _stability(task: tuple[AbfsRun, str]) -> tuple[str, str, list[float]]:
    run, scheme = task
    every = max(1, run.rows // N_SNAPSHOTS)
    snapshots = fold_selections(make_stream(run), make_selector(run), scheme, every=every, batch_size=min(every, 1_000))
    return run.stream, scheme, [pearson_stability(snapshot.selected) for snapshot in snapshots][:N_SNAPSHOTS]


def _parts(found: Sequence[AbfsMeasured]) -> list[str]:
    return [f"{mean(one.selection[place] for one in found):.3f}" for place in range(3)]


def _drift_rows(one: AbfsMeasured) -> str:
    return ", ".join(f"{row:,}" for row in one.drifts[:8]) or "none"
