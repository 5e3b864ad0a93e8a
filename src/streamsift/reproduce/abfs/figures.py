"""Figures 4, 5, 8, 9 and 11 of the ABFS paper: how good, how stable and how small its selections are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from streamsift.comparison.run_store import RunStore
from streamsift.evaluate.baselines import RandomSelector
from streamsift.evaluate.folds import SCHEMES, fold_selections
from streamsift.metrics.selection import selection_accuracy
from streamsift.metrics.stability import pearson_stability
from streamsift.reproduce.abfs.runs import (
    ALL_ROWS,
    N_SNAPSHOTS,
    ROWS,
    STREAMS,
    VARIANTS,
    AbfsMeasured,
    AbfsRun,
    make_selector,
    make_stream,
)
from streamsift.reproduce.abfs.settings import PAPER, STREAM_NOTE, data_marks, lead, mean, measure_all, n_left, silent
from streamsift.reproduce.result import FigureCurve, Options, Panel, Progress, Result, Series
from streamsift.runs.workers import run_all

SHARES = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0)  # of Figure 4
PLAIN_LEARNER = "NB"
MANY = 500  # irrelevant features of Figure 9
TREES = ("HT", "HAT")


@dataclass(frozen=True)
class FoldsRun:
    """ABFS on the ten folds of a stream; `scheme` is how they are made."""

    run: AbfsRun
    scheme: str


def random_figure(options: Options, progress: Progress, *, streams: Sequence[str] = STREAMS) -> Result:
    """Figure 4: what random selection would give."""
    rows, series = [], []
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
        parts = {
            "SA": [float(one) for one in found],
            "RRF": [one.rrf for one in found],
            "CCP": [one.ccp for one in found],
        }
        series += [
            Series(name, f"{share:.0%}", ["mean", "deviation", "least", "largest"], _spread(values))
            for name, values in parts.items()
        ]
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
        series=series,
    )


def selection_figure(options: Options, progress: Progress, *, streams: Sequence[str] = STREAMS) -> Result:
    """Figure 5: accuracy and selection accuracy of each stream."""
    runs = [AbfsRun(stream, 100, PLAIN_LEARNER, selector) for stream in streams for selector in VARIANTS]
    done = measure_all(runs, options, progress)
    rows, series = [], []
    for run, found in done.items():
        many = mean(np.mean(one.n_selected) for one in found)
        drifts = ", ".join(f"{row:,}" for row in found[0].drifts[:6]) or "none"
        accuracy = f"{mean(one.accuracy for one in found):.2f}"
        rows.append([run.stream, run.selector, drifts, accuracy, *_parts(found), f"{many:.1f}"])
        measured = [float(accuracy), *map(float, _parts(found)), many]
        series.append(Series(run.selector, run.stream, ["accuracy", "SA", "RRF", "CCP", "features"], measured))
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
        n_left=n_left(runs, done, options),
        series=series,
    )


def stability_figure(options: Options, progress: Progress, *, streams: Sequence[str] = STREAMS) -> Result:
    """Figure 8: stability by stream and way of making folds."""
    tasks = [
        FoldsRun(AbfsRun(stream, 100, "", "ABFS", rows=options.rows or ROWS, seed=options.seed + repeat), scheme)
        for repeat in range(options.n_repeats())
        for stream in streams
        for scheme in SCHEMES
    ]
    done = _fold_stabilities(tasks, options, progress)
    found: dict[tuple[str, str], list[list[float]]] = defaultdict(list)
    for task, stabilities in done.items():
        found[task.run.stream, task.scheme].append(stabilities)
    streams = [stream for stream in streams if all((stream, scheme) in found for scheme in SCHEMES)]
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
        n_left=len(tasks) - len(done),
        series=[Series("mean stability", row[0], list(SCHEMES), [float(value) for value in row[1:]]) for row in rows],
    )


def features_figure(options: Options, progress: Progress, *, irrelevant: int = MANY) -> Result:
    """Figure 9: features in use over the stream, by trees with ABFS and without."""
    runs = [
        AbfsRun(stream, irrelevant, learner, selector)
        for stream in ("BG1", "SEA")
        for learner in TREES
        for selector in ("", "ABFS")
    ]
    done = measure_all(runs, options, progress)
    drifts = {}
    for stream in ("BG1", "SEA"):
        ranges = make_stream(replace(runs[0], stream=stream, rows=options.rows or ROWS)).drifts
        drifts[stream] = " and ".join(f"{drift.first:,} to {drift.last:,}" for drift in ranges)
    in_use = _features_in_use(done, {stream: f" Drifts are under way in rows {drifts[stream]}." for stream in drifts})
    return replace(
        in_use,
        title="Figure 9: features in use",
        lead=f"{lead(options)} {irrelevant} irrelevant features; the first repeat.",
        note="The paper draws this without numbers; it says that trees grow on and on, that ABFS keeps up to 4 "
        "features on BG1, and that HAT drops features at drifts there but not on SEA. With ABFS the curve is what ABFS "
        "selects. "
        f"{STREAM_NOTE}",
        n_left=n_left(runs, done, options),
    )


def spam_figure(options: Options, progress: Progress) -> Result:
    """Figure 11: features in use over SPAM; the runs of Tables 10 to 12."""
    (mark,) = data_marks(options, ("SPAM",)).values()
    runs = [
        AbfsRun("SPAM", 0, learner, selector, options.rows or ALL_ROWS, grace_period=100, threshold=0.05, data=mark)
        for learner in TREES
        for selector in ("ABFS", "")
    ]
    done = measure_all(runs, replace(options, rows=None), progress)
    return replace(
        _features_in_use(done, {}),
        title="Figure 11: features in use on SPAM",
        lead=f"{lead(options)} The configuration of Tables 10 to 12; the first repeat.",
        note="The paper's text has 16 features for HAT alone and 10 for HT alone, and at most 5 with ABFS. With ABFS "
        "the curve is what ABFS selects, which is everything until it has selected a first feature. "
        "The rows are shuffled by the seed.",
        n_left=n_left(runs, done, options),
    )


def _features_in_use(done: dict[AbfsRun, list[AbfsMeasured]], said: Mapping[str, str]) -> Result:
    """Rows, panels and series of the first repeat of each run; `said` is added to the words of a stream's panel."""
    rows, panels, series = [], [], []
    for stream in dict.fromkeys(run.stream for run in done):
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
            series.append(Series(stream, run.method, places, [float(n) for n in counts]))
            if run.selector:
                series.append(Series(stream, f"{run.method}, in the tree", places, [float(n) for n in used]))
                rows_of_drifts = [float(row) for row in one.drifts]
                places = [float(k) for k in range(len(rows_of_drifts))]
                series.append(Series(f"{stream}, drifts found", run.method, places, rows_of_drifts))
        reading = f"{'; '.join(words)}.{said.get(stream, '')}"
        panels.append(Panel(stream, reading, f"Number of features over the rows of {stream}. {reading}", curves))
    return Result(
        title="",
        lead="",
        note="",
        columns=["stream", "method", "most features", "features at the end", "in the tree at the end", "drifts found"],
        rows=rows,
        x_label="rows",
        dashed_means="the tree alone: features its splits use",
        panels=panels,
        series=series,
    )


def _fold_stabilities(tasks: Sequence[FoldsRun], options: Options, progress: Progress) -> dict[FoldsRun, list[float]]:
    """What is kept of the tasks and what there is time for."""
    store = RunStore(None if options.keep is None else Path(options.keep) / "abfs-folds")
    kept = {task: record["stability"] for task in tasks if (record := store.find(task)) is not None}
    due = [task for task in tasks if task not in kept]
    outcomes = run_all(_stability, None, due, options.jobs, silent, admit=lambda task: not options.time_is_up)
    for done, outcome in enumerate(outcomes, start=1):
        if outcome.error is not None:
            raise outcome.error
        kept[outcome.task] = outcome.result
        store.add(outcome.task, {"stability": outcome.result})
        progress(done, len(due))
    return {task: kept[task] for task in tasks if task in kept}


def _stability(shared: None, task: FoldsRun, progress: Any) -> list[float]:
    run = task.run
    every = max(1, run.rows // N_SNAPSHOTS)
    batch_size = min(every, 1_000)
    snapshots = fold_selections(make_stream(run), make_selector(run), task.scheme, every=every, batch_size=batch_size)
    return [float(pearson_stability(snapshot.selected)) for snapshot in snapshots][:N_SNAPSHOTS]


def _spread(values: Sequence[float]) -> list[float]:
    return [float(value) for value in (np.mean(values), np.std(values), np.min(values), np.max(values))]


def _parts(found: Sequence[AbfsMeasured]) -> list[str]:
    return [f"{mean(one.selection[place] for one in found):.3f}" for place in range(3)]


def _drift_rows(one: AbfsMeasured) -> str:
    return ", ".join(f"{row:,}" for row in one.drifts[:8]) or "none"
