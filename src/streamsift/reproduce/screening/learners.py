"""Tables 8 and 9 of the screening paper: the error of a learner on the features that screening leaves.

The paper screens 20 Newsgroups (70 and 35 thousand words) and the URL set (days 0 to 99; a million features and two),
then trains SparseFSA, which keeps half or a twentieth of what it is given, and SGD with log loss. Neither set is in any
folder of ours in full, so no cell of theirs has a twin here: what is measured is the shape of the tables, on two pairs
of newsgroups (log counts, 70 % to train, rows shuffled) and on a part of day 0 of URL (70 % to train, in time order).
Screening keeps a tenth of the features, FSA half of these; without screening FSA keeps the twentieth by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import SGDClassifier

from streamsift.core.exceptions import ReaderError
from streamsift.core.selection import rank_scores
from streamsift.learners.fsa import FSA
from streamsift.reproduce.papers import published_table
from streamsift.reproduce.result import Options, Pair, Progress, Result
from streamsift.reproduce.screening.data import folder_of, load
from streamsift.rows.screener import Screener

SHARE, FSA_SHARE = 0.1, 0.5  # of the features, and of those left by screening
TRAIN = 0.7
FADING = 0.9995  # a row counts half after 1,386 more
BATCH = 250
SCORES = {"T-score": "t_score", "Fisher": "fisher", "MI": "mutual_info", "Chi2": "chi2", "Gini": "gini"}
LEARNERS = ("SparseFSA", "SGD")

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class StandIn:
    """A data set to show the shape of a table on."""

    name: str
    file: str
    text: bool  # counts of words, to be shuffled; else rows in time order, to be scaled


TABLES = {
    8: ("20 Newsgroups in time order", (StandIn("basehock", "basehock_full.npz", True),
                                        StandIn("pcmac", "pcmac_full.npz", True))),
    9: ("URL, days 0 to 99", (StandIn("URL, part of day 0", "url_day0.npz", False),)),
}  # fmt: skip


@dataclass(frozen=True)
class Line:
    """A row of the table: what screening, what learner, and what came out."""

    data: str
    name: str  # as in published/screening.json
    n_screened: int
    n_used: int
    seconds: float
    error: float


def table_8(options: Options, progress: Progress) -> Result:
    """20 Newsgroups."""
    return _table(8, options, progress)


def table_9(options: Options, progress: Progress) -> Result:
    """URL."""
    return _table(9, options, progress)


def _table(number: int, options: Options, progress: Progress) -> Result:
    folder = folder_of(options)
    wanted, stand_ins = TABLES[number]
    sets = [data for data in stand_ins if (folder / data.file).is_file()]
    if not sets:
        names = ", ".join(data.file for data in stand_ins)
        raise ReaderError(f"The folder {str(folder)!r} has none of the files {names}: give the folder with --data.")
    repeats = options.n_repeats()
    total = len(sets) * repeats * len(LEARNERS) * (2 + 2 * len(SCORES))
    lines: list[Line] = []
    for data in sets:
        for seed in range(options.seed, options.seed + repeats):
            for line in measure(folder, data, options.rows, seed):
                lines.append(line)
                progress(len(lines), total)
    paper = published_table("screening", f"table{number}")
    rows, pairs = [], []
    for data_name, name in dict.fromkeys((line.data, line.name) for line in lines):
        same = [line for line in lines if (line.data, line.name) == (data_name, name)]
        error, theirs = float(np.mean([line.error for line in same])), float(paper[name]["error rate"])
        cell = f"{data_name.replace(',', '')}, {name.replace(',', '')}"  # one comma: set, method
        pairs.append(Pair(f"table{number}", cell, error, theirs, "part"))
        rows.append(
            [
                data_name,
                name,
                f"{same[0].n_screened:,}",
                f"{same[0].n_used:,}",
                f"{np.mean([line.seconds for line in same]):.2f}",
                f"{error:.4f}",
                f"{theirs:g}",
                f"{error - theirs:+.4f}",
            ]
        )
    return Result(
        title=f"Table {number}: error with and without screening, {wanted}",
        lead="Wang and Barbu, Online Feature Screening for Data Streams with Concept Drift. Screening keeps "
        f"{SHARE:.0%} of the features, FSA {FSA_SHARE:.0%} of these; {TRAIN:.0%} of the rows train, the others judge; "
        f"adaptive is fading {FADING}; {repeats} repeat{'s' if repeats > 1 else ''}, "
        f"seed {options.seed}.",
        note=f"Data missing: {wanted}. The published errors are of that set, ours of "
        f"{', '.join(data.name for data in sets)}: only their shape compares. {' '.join(_shape(lines))}",
        columns=["data set", "learner and screening", "screened", "used", "train s", "error", "published", "gap"],
        rows=rows,
        x_label="",
        dashed_means="",
        panels=[],
        pairs=pairs,
        missing=[wanted],
    )


def _shape(lines: list[Line]) -> Iterator[str]:
    """What a tenth of the features costs, by score and at random."""
    for data in dict.fromkeys(line.data for line in lines):
        for learner in LEARNERS:
            errors: dict[str, list[float]] = {}
            for line in lines:
                if line.data == data and line.name.startswith(learner):
                    errors.setdefault(line.name.partition(": ")[2], []).append(line.error)
            mean = {name: 100 * float(np.mean(found)) for name, found in errors.items()}
            alone, lot = mean.pop("no screening"), mean.pop("random features")
            yield (
                f"{data}, {learner}: {alone:.1f} % wrong without screening; with it {min(mean.values()) - alone:+.1f} "
                f"to {max(mean.values()) - alone:+.1f} points, with as many random features {lot - alone:+.1f}."
            )


def measure(folder: Path, data: StandIn, max_rows: int | None, seed: int) -> Iterator[Line]:
    """All rows of a table for one data set."""
    X, y = load(folder, data.file)
    order = np.random.default_rng(seed).permutation(len(y)) if data.text else np.arange(len(y))
    order = order[:max_rows]
    X, y = X[order], y[order]
    if data.text:
        X.data = np.log1p(X.data)
    else:
        X = X / np.maximum(np.abs(X).max(axis=0), 1e-30)
    n_train = int(TRAIN * len(y))
    train, test = np.arange(n_train), np.arange(n_train, len(y))
    n_kept = max(1, int(SHARE * X.shape[1]))
    for name, columns in _screenings(X[train], y[train], n_kept, seed):
        for learner in LEARNERS:
            yield _line(data.name, learner, name, X[:, columns], y, train, test, n_kept)


def _screenings(X: Any, y: NDArray[np.int64], n_kept: int, seed: int) -> Iterator[tuple[str, Rows]]:
    yield "no screening", np.arange(X.shape[1])
    yield "random features", np.random.default_rng(seed).choice(X.shape[1], n_kept, replace=False)
    for name, score in SCORES.items():
        for suffix, fading in (("adaptive", FADING), ("not adaptive", 1.0)):
            screener = Screener(score, fading=fading)
            for first in range(0, len(y), BATCH):
                screener.partial_fit(X[first : first + BATCH], y[first : first + BATCH], classes=np.unique(y))
            yield f"{name}, {suffix}", rank_scores(screener.scores_)[:n_kept]


def _line(data: str, learner: str, name: str, X: Any, y: Any, train: Rows, test: Rows, n_kept: int) -> Line:
    model: Any = SGDClassifier(loss="log_loss", random_state=0)
    if learner == "SparseFSA":
        model = FSA(max(1, int(FSA_SHARE * n_kept)))
    began = process_time()
    model.fit(X[train], y[train])
    seconds = process_time() - began
    error = float((model.predict(X[test]) != y[test]).mean())
    n_used = int(model.support_.sum()) if learner == "SparseFSA" else X.shape[1]
    return Line(data, f"{learner}: {name}", X.shape[1], n_used, seconds, error)
