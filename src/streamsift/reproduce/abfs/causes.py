"""Differences to the ABFS paper, looked into: what its cells say about themselves, and what the authors' program does.

oracle   In the printed tables, how far is a learner with the oracle above the better of the learner alone and the
         learner with ABFS? No run, only the cells of Tables 3 to 5.
resets   In the authors' program the oracle selects the true features of every single row and resets the learner when
         they change. While a drift is gradual, rows of both concepts alternate, so the learner is reset again and
         again. From the accuracy by the number of rows since a reset, which is measured, follows that of the stream.
program  ABFS as the text has it and as the authors' program runs it, when an irrelevant category has five values and
         when it has two, the default of MOA's generator: which of them comes nearest to the printed cells?
order    The paper's text says that real data were shuffled; the authors' program reads the files as they are, and takes
         the accuracy of the last 1,000 rows every 2,000 rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from streamsift.evaluate.prequential import prequential
from streamsift.learners.mixed import MixedBayes, MixedNeighbours, mixed_learner
from streamsift.reproduce.abfs.runs import BATCH, ROWS, STREAMS, VARIANTS, WIDTH, AbfsRun, make_selector, real_stream
from streamsift.reproduce.abfs.settings import PAPER, data_marks, mean, measure_all
from streamsift.reproduce.papers import published_table
from streamsift.reproduce.result import Options, Progress, Result
from streamsift.reproduce.verdict import agrees
from streamsift.streams import generate

TABLES = {100: "table3", 200: "table4", 500: "table5"}  # by irrelevant features
Floats = NDArray[np.float64]


def _result(title: str, lead: str, note: str, columns: list[str], rows: list[list[str]]) -> Result:
    return Result(
        title=title, lead=f"{PAPER} {lead}", note=note, columns=columns, rows=rows,
        x_label="", dashed_means="", panels=[],
    )  # fmt: skip


# -- the printed oracle -----------------------------------------------------------------------------------------------


def oracle_gaps(options: Options, progress: Progress) -> Result:
    """How far the printed oracle is above the better of the learner alone and the learner with ABFS."""
    rows, words = [], []
    for learner in ("NB", "KNN", "HT", "HAT"):
        gaps = [
            row[f"{learner}-ORACLE"] - max(row[learner], row[f"{learner}-ABFS"])
            for table in TABLES.values()
            for row in published_table("abfs", table).values()
        ]
        rows.append([learner, str(len(gaps)), f"{min(gaps):.2f}", f"{np.median(gaps):.2f}", f"{max(gaps):.2f}"])
        words.append(f"{learner} {min(gaps):.2f} to {max(gaps):.2f}")
        progress(len(rows), 4)
    return _result(
        "The printed oracle",
        "Points by which the oracle's cell of Tables 3 to 5 exceeds the better of the other two of its learner.",
        f"Points above the better of the two, over all streams and tables: {', '.join(words)}.",
        ["learner", "cells", "least", "median", "most"],
        rows,
    )


# -- the oracle that resets -------------------------------------------------------------------------------------------

AGES = (0, 1, 2, 4, 8, 12, 18, 25, 35, 50, 75, 100, 150, 250, 500)  # rows learnt since a reset
RESET_STREAMS = ("AGR", "AN", "BG1", "BG2", "BG3", "SEA")  # every run of the paper has another tree of RTG
DRIFTS = (ROWS // 3, 2 * ROWS // 3)
N_TRIES, N_TESTED = 40, 10
MOA_NEIGHBOURS = 9  # of the authors' program


class TiedNeighbours(MixedNeighbours):
    """As MOA searches: all rows as near as the ninth vote."""

    def predict(self, X: Floats) -> NDArray[np.int64]:
        distance = np.round(self.distances(X), 6)
        place = min(MOA_NEIGHBOURS, distance.shape[1]) - 1
        near = distance <= np.partition(distance, place, axis=1)[:, [place]]
        votes = near.astype(np.float64) @ np.equal.outer(self._labels, np.arange(self._classes))
        return np.asarray(votes.argmax(axis=1), np.int64)


RESET_LEARNERS = {"NB": MixedBayes, "KNN": TiedNeighbours}


def resets(options: Options, progress: Progress) -> Result:
    """What an oracle costs that resets its learner whenever a row follows another concept than the one before."""
    ages, changed = _rows_since_reset(np.random.default_rng(options.seed))
    rows: list[list[str]] = []
    off: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in RESET_LEARNERS}
    for done, stream in enumerate(RESET_STREAMS, start=1):
        printed = published_table("abfs", "table3")[stream]
        for name, kind in RESET_LEARNERS.items():
            curve = _accuracy_by_age(stream, kind, options.seed)
            often = np.interp(np.minimum(ages, AGES[-1]), AGES, curve)
            often[changed] = 50.0  # predicted from the features of the other concept
            there = printed[f"{name}-ORACLE"]
            rows.append([stream, name, f"{curve[-1]:.2f}", f"{often.mean():.2f}", f"{there:.2f}"])
            off[name][0].append(abs(curve[-1] - there))
            off[name][1].append(abs(often.mean() - there))
        progress(done, len(RESET_STREAMS))
    words = [
        f"{name}: {np.mean(without):.1f} points off print on average without these resets, {np.mean(often):.1f} with "
        f"them (at most {max(often):.1f})"
        for name, (without, often) in off.items()
    ]
    return _result(
        "An oracle that resets its learner at every change of concept",
        f"{ROWS:,} rows with two gradual drifts {WIDTH:,} rows wide, as MOA draws them; accuracy after up to "
        f"{AGES[-1]} rows since the reset from {N_TRIES * N_TESTED * 3:,} predictions each, seed {options.seed}; a row "
        "at which the concept changes counts as a guess. Neighbours: nine, and all as near as the ninth, of 500 rows.",
        "; ".join(words) + ".",
        ["stream", "learner", f"{AGES[-1]} rows after a reset", "whole stream, reset at every change", "in print"],
        rows,
    )


def _rows_since_reset(rng: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """For each row how many rows the learner has learnt since it was reset, and whether the concept is another."""
    rows = np.arange(ROWS)
    concept = np.zeros(ROWS, np.intp)
    for drift in DRIFTS:
        concept += rng.random(ROWS) < 1.0 / (1.0 + np.exp(np.clip(-4.0 * (rows - drift) / WIDTH, -50.0, 50.0)))
    changed = np.concatenate([[False], np.diff(concept) != 0])
    start = np.maximum.accumulate(np.where(changed, rows, 0))  # the first row learnt since the last reset
    learnt = np.concatenate([[0], (rows - start + 1)[:-1]])
    return learnt, changed


def _accuracy_by_age(stream: str, kind: Any, seed: int) -> Floats:
    """The accuracy, in percent, of a learner of the true features that has learnt so many rows."""
    hits = np.zeros(len(AGES))
    generated = generate(stream.lower(), n_rows=3 * N_TRIES * (AGES[-1] + N_TESTED), seed=seed, drift="abrupt")
    parts = list(_concepts(generated))
    for X, y, categorical, n_values in parts:
        learner, selected = kind(categorical, n_values), np.arange(X.shape[1])
        for first in range(0, N_TRIES * (AGES[-1] + N_TESTED), AGES[-1] + N_TESTED):
            test = slice(first + AGES[-1], first + AGES[-1] + N_TESTED)
            for place, age in enumerate(AGES):
                learner.reset()
                found = np.zeros(N_TESTED, np.int64)
                if age:
                    before = slice(test.start - age, test.start)
                    learner.learn(X[before], y[before], selected, 2)
                    found = learner.predict(X[test])
                hits[place] += np.count_nonzero(found == y[test])
    return 100.0 * hits / (len(parts) * N_TRIES * N_TESTED)


def _concepts(stream: Any) -> Iterator[tuple[Floats, NDArray[np.int64], NDArray[np.bool_], int]]:
    """The rows of each concept, with its true features only."""
    whole = next(stream.batches(stream.n_rows))
    categorical = np.zeros(whole.X.shape[1], bool) if whole.categorical is None else whole.categorical
    n_values = max((len(values) for values in stream.categories.values()), default=2)
    for segment in stream.segments():
        true, here = list(segment.relevant), slice(segment.first, segment.last + 1)
        yield whole.X[here][:, true].astype(np.float64), whole.y[here].astype(np.int64), categorical[true], n_values


# -- ABFS as its authors run it ---------------------------------------------------------------------------------------

PROGRAM_STREAMS, PROGRAM_LEARNERS = STREAMS, ("NB", "KNN", "HT")
N_VALUES = (5, 2)  # of an irrelevant category; the paper does not say
FEW = 100  # irrelevant features


def program(options: Options, progress: Progress) -> Result:
    """ABFS as the text has it and as the authors' program runs it, by the values of irrelevant categories."""
    printed = published_table("abfs", TABLES[FEW])
    groups = {
        (selector, n_values): [
            AbfsRun(stream, FEW, learner, selector, n_values=n_values)
            for stream in PROGRAM_STREAMS
            for learner in PROGRAM_LEARNERS
        ]
        for n_values in N_VALUES
        for selector in reversed(VARIANTS)
    }
    done = measure_all([run for runs in groups.values() for run in runs], options, progress)
    found = {replace(run, rows=ROWS, seed=1): repeats for run, repeats in done.items()}  # as they were asked for
    rows, words = [], []
    for (selector, n_values), runs in groups.items():
        pairs = [(mean(one.accuracy for one in found[run]), printed[run.stream][f"{run.learner}-ABFS"]) for run in runs]
        near = sum(agrees(ours, paper) for ours, paper in pairs)
        off = mean(abs(ours - paper) for ours, paper in pairs)
        selected = mean(np.mean(one.n_selected) for run in runs for one in found[run])
        name = "as in the text" if selector == "ABFS (text)" else "as in the program"
        rows.append([name, str(n_values), f"{near} of {len(pairs)}", f"{off:.1f}", f"{selected:.1f}"])
        words.append(f"{name}, {n_values} values: {near} of {len(pairs)} cells within a tenth, {off:.1f} points off")
    return _result(
        "ABFS as its authors' program runs it",
        f"{options.rows or ROWS:,} rows, {FEW} irrelevant features, seed {options.seed}; {', '.join(PROGRAM_LEARNERS)} "
        f"on {', '.join(PROGRAM_STREAMS)}. The printed cells are those of Table 3.",
        "; ".join(words) + ".",
        ["ABFS", "values of an irrelevant category", "cells within a tenth", "points off print", "features selected"],
        rows,
    )


# -- the order of real rows -------------------------------------------------------------------------------------------

ORDER_ROWS = 30_000
ORDER_RUNS = {"IADS": ("NB", "KNN", "HT", "HAT"), "COVTYPE": ("NB", "KNN", "HT")}
EVERY, LAST = 2_000, 1_000  # rows between two looks at the accuracy, and rows that it covers
ORDERS = {"shuffled": True, "file": False}


@dataclass(frozen=True)
class _Order:
    data: str
    learner: str
    selector: str
    shuffled: bool


def file_order(options: Options, progress: Progress) -> Result:
    """Real data shuffled and as the file has them, by the mean of all rows and as the authors' program measures."""
    data_marks(options, ORDER_RUNS)  # all files are there
    rows: list[list[str]] = []
    n_rows = options.rows or ORDER_ROWS
    todo = [
        _Order(data, learner, selector, shuffled)
        for data, learners in ORDER_RUNS.items()
        for learner in learners
        for selector in ("", *VARIANTS)
        for shuffled in ORDERS.values()
    ]
    found: dict[_Order, tuple[float, float]] = {}
    for done, task in enumerate(todo, start=1):
        found[task] = _by_order(task, n_rows, options)
        progress(done, len(todo))
    for task in todo[::2]:
        there = published_table("abfs", "table10")[task.data]
        name = f"ABFS-{task.learner}" if task.selector else task.learner
        shown = f"{name}{task.selector.removeprefix('ABFS')}"
        values = [found[_Order(task.data, task.learner, task.selector, order)] for order in ORDERS.values()]
        rows.append([task.data, shown, *(f"{value:.2f}" for pair in values for value in pair), f"{there[name]:.2f}"])
    return _result(
        "Real data in two orders",
        f"The first {n_rows:,} rows of each order, seed {options.seed}.",
        f"Two ways to measure: the mean over all rows, and the mean of the accuracy in the last {LAST:,} rows, taken "
        f"every {EVERY:,} rows and at the end.",
        [
            "data",
            "method",
            *(f"{order}, {what}" for order in ORDERS for what in ("all rows", "last 1,000")),
            "in print",
        ],
        rows,
    )


def _by_order(task: _Order, n_rows: int, options: Options) -> tuple[float, float]:
    """The accuracy over all rows, and that of the authors' program, in percent."""
    run = AbfsRun(
        task.data, 0, task.learner, task.selector, rows=n_rows, seed=options.seed, grace_period=100, threshold=0.05
    )
    stream = real_stream(run, Path(str(options.data)), shuffled=task.shuffled)
    learner = mixed_learner(task.learner, stream.categorical, 2)
    with threadpool_limits(1):  # see `runs.measure`
        trace = prequential(stream, make_selector(run), learner, batch_size=BATCH)
    accuracy = np.asarray(trace.column("batch_accuracy"), np.float64)
    ends = list(range(EVERY // BATCH, len(accuracy) + 1, EVERY // BATCH))
    if not ends or ends[-1] < len(accuracy):
        ends.append(len(accuracy))
    last = [accuracy[max(1, end - LAST // BATCH) : end].mean() for end in ends]
    return 100.0 * float(accuracy[1:].mean()), 100.0 * float(np.mean(last))
