"""What the tables and figures of the ABFS paper share: measuring many runs, and the words around them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from streamsift.comparison.run_store import RunStore
from streamsift.core.exceptions import InputError
from streamsift.reproduce.abfs.runs import REAL_DATA, AbfsMeasured, AbfsRun, measure
from streamsift.reproduce.archives import file_mark
from streamsift.reproduce.result import Options, Progress
from streamsift.runs.workers import run_all

PAPER = "Barddal, Enembreck, Gomes, Bifet and Pfahringer, Boosting Decision Stumps for Dynamic Feature Selection."

FEW_ROWS = 1_000  # two of the usual grace periods
STREAM_NOTE = (
    "ABFS is run as the authors' program does: the merit need only exceed the threshold, the last selection stays "
    "when a drift has removed all units, and an irrelevant category has two values, the default of MOA's generator. "
    "ABFS (text) asks in addition for the test of Hoeffding trees, as the paper's text has it, and selects nothing "
    "then. Which of the two is compared with print was decided after numbers of both were known. Why figures differ: "
    "with fewer rows than 200,000 ABFS has fewer grace periods between two drifts, which costs it most. The paper "
    "does not name the functions of AGR, AN and SEA; ours are those of the authors' program where it shows them, and "
    "RTG has a tree of its own for every seed, with categories of five values. A row of BG1 and BG2 is drawn evenly "
    "among those of its class, which their program does not do. The paper's Table 1 gives AGR 4, 3, 4 true features "
    "and AN 2, which fits the functions only the other way round. A gradual drift ends at the edge of its region "
    "here, where MOA lets 12 % of the other concept through. Batches of 100 rows are predicted before they are "
    "learnt; MOA goes row by row. HT and HAT learn as river's do, which differ from MOA's."
)


_measured: dict[AbfsRun, AbfsMeasured] = {}  # of this process: Tables 5, 6 and 7 share their runs, 10, 11 and 12 too


def measure_all(runs: Sequence[AbfsRun], options: Options, progress: Progress) -> dict[AbfsRun, list[AbfsMeasured]]:
    """Measure every run with every seed; the runs come back in their own order, without those that had no time."""
    tasks = [
        replace(run, seed=options.seed + repeat, rows=options.rows or run.rows)
        for run in runs
        for repeat in range(options.n_repeats())
    ]
    store = RunStore(None if options.keep is None else Path(options.keep) / "abfs")
    for task in tasks:
        found = store.find(task)
        if found is not None:
            _measured[task] = AbfsMeasured(**{**found, "selection": tuple(found["selection"])})
        elif task in _measured:  # for another folder
            store.add(task, asdict(_measured[task]))
    due = [task for task in tasks if task not in _measured]
    folder = options.data
    found_now = run_all(_measured_run, folder, due, options.jobs, silent, admit=lambda task: not options.time_is_up)
    for done, outcome in enumerate(found_now, start=1):
        if outcome.error is not None:
            raise outcome.error
        _measured[outcome.task] = outcome.result
        store.add(outcome.task, asdict(outcome.result))
        progress(done, len(due))
    grouped: dict[AbfsRun, list[AbfsMeasured]] = defaultdict(list)
    for task in tasks:
        if task in _measured:
            grouped[replace(task, seed=options.seed)].append(_measured[task])
    return dict(grouped)


def n_left(runs: Sequence[AbfsRun], done: Mapping[AbfsRun, list[AbfsMeasured]], options: Options) -> int:
    """Runs that had no time."""
    return len(runs) * options.n_repeats() - sum(map(len, done.values()))


def data_marks(options: Options, data_sets: Iterable[str] = REAL_DATA) -> dict[str, str]:
    """The marks of real data sets by their names in the paper; an error where one is not there."""
    if options.data is None:
        raise InputError("The paper's data sets are not part of the package: give a folder of them with --data.")
    return {name: file_mark(Path(options.data) / REAL_DATA[name]) for name in data_sets}


def _measured_run(folder: str | None, task: AbfsRun, progress: Any) -> AbfsMeasured:
    return measure(task, folder)[1]


def silent(task: Any, fraction: float) -> None:
    """Single runs report nothing: they are counted when they are done."""


def lead(options: Options) -> str:
    """What was run, for the head of a page."""
    rows = f"{options.rows:,} rows" if options.rows else "As many rows as in the paper"
    repeats = f"{options.n_repeats()} repeat{'s' if options.n_repeats() > 1 else ''}"
    few = " So few rows hold few grace periods or none: ABFS has hardly begun to select."
    said = few if options.rows and options.rows <= FEW_ROWS else ""
    return f"{PAPER} {rows}; {repeats} (30 in the paper), seed {options.seed}.{said}"


def mean(values: Iterable[Any]) -> float:
    """The mean of anything that is a number."""
    return float(np.mean([float(value) for value in values]))
