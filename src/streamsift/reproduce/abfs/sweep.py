"""Figures 1, 2, 3, 6, 7 and 10 of the ABFS paper: all 36 configurations, with every learner.

On synthetic streams that is 7 streams with 100, 200 and 500 irrelevant features, on real data 3 sets: runs for hours,
which the figures share. They are run block by block, one width and one learner at a time, the quickest learner first,
stream by stream. Where the time runs out, a stream counts in a block only if all of its configurations are done, so
that every configuration has the same runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from streamsift.reproduce.abfs.runs import ALL_ROWS, DETECTORS, LEARNERS, STREAMS, AbfsMeasured, AbfsRun
from streamsift.reproduce.abfs.settings import STREAM_NOTE, data_marks, lead, mean, measure_all, n_left
from streamsift.reproduce.result import FigureCurve, Options, Panel, Progress, Result, Series

GRACE_PERIODS, THRESHOLDS = (100, 200, 500, 1_000), (0.01, 0.05, 0.1)
WIDTHS = (100, 200, 500)  # irrelevant features
MEASURES = ("accuracy", "SA", "RRF", "CCP")
BOX = ("least", "quartile 1", "median", "quartile 3", "largest", "mean", "deviation")
N_BEST = 10
REAL_BY_SIZE = ("IADS", "SPAM", "COVTYPE")  # the least first
PARAMETERS: dict[int, tuple[str, Callable[[AbfsRun], str]]] = {
    1: ("grace period", lambda run: str(run.grace_period)),
    2: ("threshold", lambda run: str(run.threshold)),
    3: ("drift detector", lambda run: run.detector),
}
Done = Mapping[AbfsRun, list[AbfsMeasured]]


def configurations(
    stream: str,
    irrelevant: int,
    learner: str,
    grace_periods: Sequence[int] = GRACE_PERIODS,
    thresholds: Sequence[float] = THRESHOLDS,
    data: str | None = None,
    rows: int = 200_000,
) -> list[AbfsRun]:
    """A stream with every configuration of ABFS.

    >>> len(configurations("SEA", 100, "NB"))
    36
    """
    return [
        AbfsRun(stream, irrelevant, learner, "ABFS", rows, 1, grace_period, threshold, detector, data=data)
        for grace_period in grace_periods
        for threshold in thresholds
        for detector in DETECTORS
    ]


def sweep(
    options: Options,
    streams: Sequence[str],
    learners: Sequence[str],
    widths: Sequence[int],
    grace_periods: Sequence[int],
    thresholds: Sequence[float],
) -> list[AbfsRun]:
    """The runs on synthetic streams, block by block; a brief sweep has the first block only."""
    if options.brief:
        learners, widths = learners[:1], widths[:1]
    return [
        run
        for irrelevant in widths
        for learner in learners
        for stream in streams
        for run in configurations(stream, irrelevant, learner, grace_periods, thresholds)
    ]


def balanced(runs: Sequence[AbfsRun], done: Done) -> dict[AbfsRun, list[AbfsMeasured]]:
    """What is done of the streams of a block whose configurations are all done."""
    blocks: dict[tuple[str, int, str], list[AbfsRun]] = defaultdict(list)
    for run in runs:
        blocks[run.stream, run.irrelevant, run.learner].append(run)
    by_key = {_key(run): found for run, found in done.items()}
    return {
        run: by_key[_key(run)]
        for block in blocks.values()
        if all(_key(run) in by_key for run in block)
        for run in block
    }  # fmt: skip


def _key(run: AbfsRun) -> tuple[str, int, str, str]:
    return run.stream, run.irrelevant, run.learner, run.configuration


def parameter_figure(
    number: int,
    options: Options,
    progress: Progress,
    *,
    streams: Sequence[str] = STREAMS,
    learners: Sequence[str] = LEARNERS,
    widths: Sequence[int] = WIDTHS,
    grace_periods: Sequence[int] = GRACE_PERIODS,
    thresholds: Sequence[float] = THRESHOLDS,
) -> Result:
    """Figures 1, 2 and 3: one parameter at a time."""
    runs = sweep(options, streams, learners, widths, grace_periods, thresholds)
    done = measure_all(runs, options, progress)
    found = balanced(runs, done)
    what, value = PARAMETERS[number]
    groups: dict[str, dict[str, list[AbfsMeasured]]] = defaultdict(lambda: defaultdict(list))
    by_stream: dict[str, list[AbfsMeasured]] = defaultdict(list)
    for run, repeats in found.items():
        for width in ("all widths", f"{run.irrelevant} irrelevant"):
            groups[width][value(run)] += repeats
        by_stream[run.stream] += repeats
    rows = [
        [width, name, str(len(repeats)), *(_shown(measure, _values(measure, repeats)) for measure in MEASURES)]
        for width, values in groups.items()
        for name, repeats in values.items()
    ]
    series = [
        Series(f"{measure}, {width}", name, list(BOX), _box(_values(measure, repeats)))
        for measure in MEASURES
        for width, values in groups.items()
        for name, repeats in values.items()
    ]
    if number == 1:
        series += [
            Series(f"{measure} by stream", name, ["runs", "mean", "deviation"], _moments(_values(measure, repeats)))
            for measure in ("accuracy", "SA")
            for name, repeats in by_stream.items()
        ]
    return Result(
        title=f"Figure {number}: ABFS by {what}",
        lead=f"{lead(options)} Means, with the standard deviation over all runs in parentheses.",
        note=f"The paper draws box plots and prints no numbers. {_of(found, runs)} {STREAM_NOTE}",
        columns=["streams with", what, "runs", *MEASURES],
        rows=rows,
        x_label="",
        dashed_means="",
        panels=[],
        n_left=n_left(runs, done, options),
        series=series,
    )


def best_figure(
    options: Options,
    progress: Progress,
    *,
    streams: Sequence[str] = STREAMS,
    learners: Sequence[str] = LEARNERS,
    widths: Sequence[int] = WIDTHS,
    grace_periods: Sequence[int] = GRACE_PERIODS,
    thresholds: Sequence[float] = THRESHOLDS,
) -> Result:
    """Figure 6: the ten best configurations on synthetic streams."""
    runs = sweep(options, streams, learners, widths, grace_periods, thresholds)
    done = measure_all(runs, options, progress)
    return _best("Figure 6: the ten best configurations", options, runs, done, STREAM_NOTE)


def real_best_figure(
    options: Options,
    progress: Progress,
    *,
    data_sets: Iterable[str] = REAL_BY_SIZE,
    learners: Sequence[str] = LEARNERS,
    grace_periods: Sequence[int] = GRACE_PERIODS,
    thresholds: Sequence[float] = THRESHOLDS,
) -> Result:
    """Figure 10: the ten best configurations on real data, set by set, COVTYPE last: it takes longest by far."""
    rows = options.rows or ALL_ROWS
    runs = [
        run
        for data, mark in data_marks(options, data_sets).items()
        for learner in (learners[:1] if options.brief else learners)
        for run in configurations(data, 0, learner, grace_periods, thresholds, mark, rows)
    ]
    done = measure_all(runs, options, progress)
    note = "NOMAO and PAMAP2 are not here. The rows are shuffled by the seed."
    return _best("Figure 10: the ten best configurations on real data", options, runs, done, note)


def _best(title: str, options: Options, runs: Sequence[AbfsRun], done: Done, note: str) -> Result:
    """All configurations, the best first, by the mean over streams and learners."""
    found = balanced(runs, done)
    groups: dict[str, list[AbfsRun]] = defaultdict(list)
    for run in found:
        groups[run.configuration].append(run)
    means = {name: mean(one.accuracy for run in same for one in found[run]) for name, same in groups.items()}
    order = sorted(means, key=lambda name: -means[name])
    sets = dict.fromkeys(run.stream for run in found)
    by_set = {
        name: [
            mean(one.accuracy for run in groups[name] if run.stream == stream for one in found[run]) for stream in sets
        ]
        for name in order
    }
    rows = [
        [str(place), name, f"{means[name]:.2f}", *(f"{value:.2f}" for value in by_set[name])]
        for place, name in enumerate(order[:N_BEST], start=1)
    ]
    return Result(
        title=title,
        lead=lead(options),
        note=f"The paper draws box plots and prints no numbers. {_of(found, runs)} {note}",
        columns=["place", "configuration", "accuracy", *sets],
        rows=rows,
        x_label="",
        dashed_means="",
        panels=[],
        n_left=n_left(runs, done, options),
        series=[Series("mean accuracy", "configurations", order, [means[name] for name in order])],
    )


def learners_figure(
    options: Options,
    progress: Progress,
    *,
    streams: Sequence[str] = STREAMS,
    learners: Sequence[str] = LEARNERS,
    widths: Sequence[int] = WIDTHS,
    grace_periods: Sequence[int] = GRACE_PERIODS,
    thresholds: Sequence[float] = THRESHOLDS,
) -> Result:
    """Figure 7: accuracy against selection accuracy, by learner.

    The configuration of Tables 3 to 5 is run first with every learner, so that learners can be compared early.
    """
    runs = sweep(options, streams, learners, widths, grace_periods, thresholds)
    first = [
        AbfsRun(stream, irrelevant, learner, "ABFS")
        for irrelevant in widths
        for learner in learners
        for stream in streams
    ]
    runs = list(dict.fromkeys([*([] if options.brief else first), *runs]))
    done = measure_all(runs, options, progress)
    points: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    shared: dict[str, dict[tuple[str, int, str], float]] = defaultdict(dict)
    for run, found in done.items():
        accuracy = mean(one.accuracy for one in found)
        selection = mean(one.selection[0] for one in found)
        points[run.learner, f"{run.stream}, {run.irrelevant} irrelevant"].append((selection, accuracy))
        shared[run.learner][run.stream, run.irrelevant, run.configuration] = accuracy
    common = sorted(set.intersection(*(set(of) for of in shared.values()))) if shared else []
    series = [
        Series(learner, name, [round(x, 3) for x, _ in found], [round(y, 2) for _, y in found])
        for (learner, name), found in points.items()
    ]
    series += [
        Series("where all learners were run", learner, ["runs", "mean"], [len(common), mean(of[k] for k in common)])
        for learner, of in shared.items()
        if common
    ]
    rows = [
        [learner, str(len(of)), *(f"{mean(values):.3f}" for values in _sides(learner, points))]
        for learner, of in shared.items()
    ]
    return Result(
        title="Figure 7: accuracy against selection accuracy",
        lead=f"{lead(options)} One point per stream, width and configuration.",
        note=f"The paper draws points and prints no numbers. {len(done):,} of {len(runs):,} runs are done. "
        f"{STREAM_NOTE}",
        columns=["learner", "points", "SA", "accuracy"],
        rows=rows,
        x_label="selection accuracy",
        dashed_means="",
        panels=[_cloud(learner, points) for learner in shared],
        n_left=n_left(runs, done, options),
        series=series,
    )


Points = Mapping[tuple[str, str], list[tuple[float, float]]]


def _sides(learner: str, points: Points) -> list[list[float]]:
    """Selection accuracies and accuracies of all points of a learner."""
    own = [point for (name, _), found in points.items() if name == learner for point in found]
    return [[x for x, _ in own], [y for _, y in own]]


def _cloud(learner: str, points: Points) -> Panel:
    """The points of each stream in the order of selection accuracy."""
    curves = []
    for (name, stream), found in points.items():
        if name == learner:
            line = sorted(found)
            curves.append(
                FigureCurve(stream, stream.partition(",")[0], False, [x for x, _ in line], [y for _, y in line])
            )
    words = f"Accuracy (percent) against selection accuracy with {learner}, one line per stream and width."
    return Panel(learner, words, words, curves)


def _of(found: Done, runs: Sequence[AbfsRun]) -> str:
    blocks = dict.fromkeys(f"{run.learner} with {run.irrelevant} irrelevant features" for run in found)
    of = "; ".join(blocks) if found and next(iter(found)).data is None else ", ".join({run.learner: 0 for run in found})
    hours = sum(one.seconds for repeats in found.values() for one in repeats) / 3600
    return f"Counted are {len(found):,} of {len(runs):,} runs ({of or 'none'}), of {hours:.1f} processor hours."


def _values(measure: str, found: Sequence[AbfsMeasured]) -> list[float]:
    if measure == "accuracy":
        return [one.accuracy for one in found]
    return [one.selection[MEASURES.index(measure) - 1] for one in found]


def _box(values: Sequence[float]) -> list[float]:
    quartiles = np.quantile(values, [0.0, 0.25, 0.5, 0.75, 1.0])
    return [float(value) for value in (*quartiles, np.mean(values), np.std(values))]


def _moments(values: Sequence[float]) -> list[float]:
    return [float(len(values)), float(np.mean(values)), float(np.std(values))]


def _shown(measure: str, values: Sequence[float]) -> str:
    digits = 2 if measure == "accuracy" else 3
    return f"{np.mean(values):.{digits}f} ({np.std(values):.{digits}f})"
