"""The runs behind the FIRES reproduction: six selectors with a Perceptron, two learners on all features, over a grid.

The two learners are run with the largest batch only, and their time is brought to the mean batch of the grid, because
nothing about them depends on the grid but the number of rows per step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from streamsift.comparison.run_store import RunStore
from streamsift.core.batch import Batch
from streamsift.core.exceptions import InputError
from streamsift.evaluate.prequential import prequential
from streamsift.learners.online import Codes, Floats, Indices, Learner, make_learner
from streamsift.reproduce.archives import file_mark
from streamsift.reproduce.fires.data import FiresData, load
from streamsift.reproduce.result import Options
from streamsift.rows.efs import EFS
from streamsift.rows.fires import FIRES
from streamsift.rows.fsds import FSDS
from streamsift.rows.ofs import OFS
from streamsift.runs.trace import Trace
from streamsift.streams.arrays import ArrayStream

BATCH_SIZES, FRACTIONS, WINDOW = (25, 50, 75, 100), (0.1, 0.15, 0.2), 10

SELECTORS: dict[str, Callable[[int | float, int], Any]] = {
    "FIRES-GLM": lambda wanted, seed: FIRES.paper(model="glm", n_features_to_select=wanted, random_state=seed),
    "FIRES-ANN": lambda wanted, seed: FIRES.paper(model="ann", n_features_to_select=wanted, random_state=seed),
    "FIRES-SDT": lambda wanted, seed: FIRES.paper(model="sdt", n_features_to_select=wanted, random_state=seed),
    "OFS": lambda wanted, seed: OFS(wanted),
    "EFS": lambda wanted, seed: EFS(wanted),
    "FSDS": lambda wanted, seed: FSDS(wanted),
}
WIDE = 1_000  # features
BENCHMARKS = {"Online Boosting": "boosting", "VFDT": "hoeffding_tree_majority"}


@dataclass(frozen=True)
class FiresCell:
    """One method on one data set with one setting of the grid; `rows` is the cap on them.

    `file` is the mark of the set's file (`archives.file_mark`): a kept run is found again wherever the file is.
    """

    data: str
    method: str
    batch_size: int
    fraction: float
    seed: int
    file: str
    rows: int | None

    def measures(self, result: Trace) -> dict[str, float]:
        """Accuracy and its variance over time, milliseconds per step, and stability (of selectors only)."""
        found = {
            "accuracy": mean_accuracy(result),
            "variance": float(result.column("batch_accuracy")[1:].var()),
            "ms": 1e3 * result.run.settings["processor_seconds"] / len(result),
        }
        if self.method in BENCHMARKS:
            found["ms"] *= float(np.mean(BATCH_SIZES)) / self.batch_size
        else:
            found["stability"] = float(stabilities(result).mean())
        return found


@dataclass(frozen=True)
class FiresRun:
    """A cell, and what came out (see `FiresCell.measures`)."""

    cell: FiresCell
    found: dict[str, float]


@dataclass(frozen=True)
class FiresPlan:
    """What is run: the grid, the cap on rows, the methods, and a seed for each repeat.

    The time of the two learners on all features grows with their number, so a brief plan leaves them out on wide sets.
    """

    batch_sizes: tuple[int, ...] = BATCH_SIZES
    fractions: tuple[float, ...] = FRACTIONS
    max_rows: int | None = None
    methods: tuple[str, ...] = (*BENCHMARKS, *SELECTORS)
    seeds: tuple[int, ...] = (1,)
    brief: bool = False

    def methods_on(self, n_features: int) -> tuple[str, ...]:
        """The methods that are run on a set of so many features."""
        if self.brief and n_features > WIDE:
            return tuple(method for method in self.methods if method not in BENCHMARKS)
        return self.methods

    def settings(self, method: str) -> list[tuple[int, float]]:
        """The batch sizes and fractions a method is run with."""
        if method in BENCHMARKS:
            return [(max(self.batch_sizes), 1.0)]
        return [(size, fraction) for size in self.batch_sizes for fraction in self.fractions]


def runs(
    folder: Path,
    sets: list[FiresData],
    plan: FiresPlan,
    keep: str | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[FiresRun]:
    """Measure every method on every data set over the grid; finished runs are kept in the folder `keep`.

    Once `stop` says so, only what is kept already is given. A learner that is not installed is refused before anything
    is measured: its own turn may come after hours.

    One run after the other and with one thread of linear algebra: times would disturb each other. A method is warmed up
    by two batches first: kernels are compiled on first use, and no step of the paper's had to wait for that.
    """
    store = RunStore(None if keep is None else Path(keep) / "fires")
    for method in BENCHMARKS.keys() & plan.methods:
        make_learner(BENCHMARKS[method])
    warm: set[str] = set()
    files = {data.name: file_mark(folder / data.file) if data.file else "" for data in sets}
    for learners in (False, True):  # those on all features take longest: they come last
        for data in sets:
            for seed in plan.seeds:
                rows = _Rows(folder, data, plan.max_rows, seed)
                methods = plan.methods_on(rows.n_features if plan.brief else 0)
                for method in (name for name in methods if (name in BENCHMARKS) == learners):
                    for batch_size, fraction in plan.settings(method):
                        cell = FiresCell(data.name, method, batch_size, fraction, seed, files[data.name], plan.max_rows)
                        found = store.find(cell)
                        if found is None and stop():
                            continue
                        if found is None:
                            found = rows.measured(cell, warm)
                            store.add(cell, found)
                        yield FiresRun(cell, found)


class _Rows:
    """The rows of a data set, read when they are first needed: of a set whose runs are all kept, never."""

    def __init__(self, folder: Path, data: FiresData, max_rows: int | None, seed: int) -> None:
        self._load = lru_cache(1)(lambda: load(folder, data, max_rows, seed))

    @property
    def n_features(self) -> int:
        return int(self._load()[0].shape[1])

    def measured(self, cell: FiresCell, warm: set[str]) -> dict[str, float]:
        X, y = self._load()
        settings = (cell.method, cell.batch_size, cell.fraction, cell.seed)
        with threadpool_limits(1):
            if cell.method not in warm:
                run(X[: 2 * cell.batch_size], y[: 2 * cell.batch_size], *settings)
                warm.add(cell.method)
            return cell.measures(run(X, y, *settings))


def run(
    X: NDArray[np.float32], y: NDArray[np.int64], method: str, batch_size: int, fraction: float, seed: int
) -> Trace:
    """One prequential run of a selector with a Perceptron, or of a learner on all features."""
    selector: Any = None if method in BENCHMARKS else _TimedSelector(SELECTORS[method](fraction, seed))
    learner = _Trained(make_learner(BENCHMARKS.get(method, "perceptron"), "none"))
    result = prequential(ArrayStream(X, y), selector, learner, batch_size=batch_size, window=WINDOW)
    selecting = 0.0 if selector is None else selector.seconds
    result.run.settings["processor_seconds"] = selecting + learner.seconds
    return result


class _Trained:
    """A learner that knows its processor time in training: the times of the paper leave out the predictions."""

    def __init__(self, learner: Learner) -> None:
        self.predict, self.reset = learner.predict, learner.reset
        self._learner, self.seconds = learner, 0.0

    def learn(self, X: Floats, y: Codes, selected: Indices, classes: int) -> None:
        start = process_time()
        self._learner.learn(X, y, selected, classes)
        self.seconds += process_time() - start


class _TimedSelector:
    """A selector that knows its processor time, which other work on the machine hardly changes."""

    def __init__(self, selector: Any) -> None:
        self._selector, self.seconds = selector, 0.0

    def partial_fit(self, batch: Batch) -> None:
        start = process_time()
        self._selector.partial_fit(batch)
        self.seconds += process_time() - start

    def get_support(self) -> NDArray[np.bool_]:
        start = process_time()
        support: NDArray[np.bool_] = self._selector.get_support()
        self.seconds += process_time() - start
        return support

    def __getattr__(self, name: str) -> Any:
        return getattr(self._selector, name)


def mean_accuracy(result: Trace) -> float:
    """The mean over all batches but the first, for which nothing has been learnt."""
    return float(result.column("batch_accuracy")[1:].mean())


def stabilities(result: Trace) -> NDArray[np.float64]:
    """The stability of each whole window; a shorter run is one window."""
    return result.column("stability")[min(WINDOW, len(result)) - 1 :]


def data_folder(options: Options) -> Path:
    """The folder the user gave; an error where there is none."""
    if options.data is None:
        raise InputError("The paper's data sets are not part of the package: give a folder of them with --data.")
    return Path(options.data)
