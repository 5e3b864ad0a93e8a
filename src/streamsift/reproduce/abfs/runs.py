"""One run of the ABFS paper's experiments: a stream, a learner, a selector, and what is measured about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from streamsift.core.batch import Batch
from streamsift.core.state import n_bytes as state_bytes
from streamsift.evaluate.baselines import Oracle
from streamsift.evaluate.prequential import prequential
from streamsift.learners.mixed import features_used, mixed_learner, n_bytes
from streamsift.metrics.cost import ram_hours
from streamsift.metrics.selection import selection_accuracy
from streamsift.reproduce.archives import read_matrix
from streamsift.rows.abfs import ABFS
from streamsift.streams import generate
from streamsift.streams.generation import GeneratedStream

STREAMS = ("AGR", "AN", "BG1", "BG2", "BG3", "RTG", "SEA")
LEARNERS = ("NB", "KNN", "HT", "HAT")
DETECTORS = {"ADWIN": "adwin", "HDDM-A": "hddm_a", "HDDM-W": "hddm_w"}
# The authors' program asks for the threshold only and keeps the last selection when all units are gone; the paper's
# text has the test of Hoeffding trees. See STREAM_NOTE.
VARIANTS: dict[str, dict[str, str]] = {
    "ABFS": {"split_test": "threshold", "when_empty": "keep"},
    "ABFS (text)": {"split_test": "hoeffding", "when_empty": "none"},
}
TREE_VALUES = 5  # of a category of RTG itself
REDUNDANT = {100: 15, 200: 30, 500: 40}  # of RTG, by the number of irrelevant features
REAL_DATA = {"COVTYPE": "covtype.npz", "IADS": "internet_ads.npz", "SPAM": "spam_corpus.npz"}
ROWS, WIDTH = 200_000, 10_000
ALL_ROWS = 10**9  # of a real data set
N_SNAPSHOTS = 20  # every 5 % of the stream
BATCH = 100


@dataclass(frozen=True)
class AbfsRun:
    """What is run; `selector` is "", "ORACLE" or one of `VARIANTS`. `crowded`: as Table 8.

    `n_values` is that of an irrelevant category; 2, the default of MOA's generator, as in the authors' program.

    `data` is the mark of the file of real data (`archives.file_mark`): a kept run is found again wherever the file is.
    """

    stream: str
    irrelevant: int
    learner: str
    selector: str
    rows: int = ROWS
    seed: int = 1
    grace_period: int = 500
    threshold: float = 0.01
    detector: str = "ADWIN"
    crowded: bool = False
    n_values: int = 2
    data: str | None = None

    @property
    def method(self) -> str:
        """The name of its column in the tables of the paper."""
        return f"{self.learner}-{self.selector}" if self.selector else self.learner

    @property
    def configuration(self) -> str:
        """The name of its row in Table 8."""
        return f"{self.detector}, gp={self.grace_period}, theta={self.threshold}"


@dataclass(frozen=True)
class AbfsMeasured:
    """What came out: means over the snapshots, and for each the row, the features selected and those a tree uses."""

    accuracy: float  # percent
    seconds: float  # of the processor, without making the rows
    ram_hours: float
    selection: tuple[float, float, float]  # accuracy and its parts RRF and CCP; NaN where the truth is unknown
    rows: list[int]
    n_selected: list[int]
    n_used: list[int | None]
    drifts: list[int]


def make_stream(run: AbfsRun) -> GeneratedStream:
    """The synthetic stream of a run: two gradual drifts, each a twentieth of the stream wide, as 10,000 of 200,000."""
    options: dict[str, Any] = {"drift": "gradual", "width": max(1, run.rows * WIDTH // ROWS)}
    name = run.stream.lower()
    if run.crowded:
        options |= {"n_categorical": 250, "n_numeric": 250, "n_relevant": 100}
    else:
        options |= {"irrelevant": run.irrelevant, "n_values": run.n_values}
    if name == "rtg":
        options |= {"concept_seed": run.seed, "own_values": TREE_VALUES}
        options["redundant"] = 0 if run.crowded else REDUNDANT.get(run.irrelevant, 0)
    return generate(name, n_rows=run.rows, seed=run.seed, **options)


def make_selector(run: AbfsRun) -> Any:
    """The selector of a run, None for none."""
    if run.selector == "ORACLE":
        return Oracle()
    if run.selector in VARIANTS:
        detector = DETECTORS[run.detector]
        return ABFS.paper(run.grace_period, run.threshold, detector=detector, **VARIANTS[run.selector])
    return None


def measure(run: AbfsRun, folder: str | None = None) -> tuple[AbfsRun, AbfsMeasured]:
    """Test, then train, the learner of a run on what its selector selects; `folder` is where real data is.

    Linear algebra has one thread: several wait for each other where other processes are at work, which counts as
    processor time, and they round differently, which decides between neighbours at the same distance.
    """
    stream: Any = make_stream(run) if run.data is None else real_stream(run, Path(str(folder)))
    first = next(stream.batches(1))
    categorical = np.zeros(first.X.shape[1], bool) if first.categorical is None else first.categorical
    n_values = max((len(values) for values in stream.categories.values()), default=2)
    learner, selector = mixed_learner(run.learner, categorical, n_values), make_selector(run)
    everything = np.ones(len(categorical), bool)
    watch = _Watch(
        stream,
        lambda: _memory(learner, selector),
        lambda: features_used(learner),
        lambda: everything if selector is None else selector.get_support(),
    )
    began = process_time()
    with threadpool_limits(1):
        result = prequential(watch, selector, learner, batch_size=BATCH)
    seconds = process_time() - began - watch.seconds
    measured = AbfsMeasured(
        accuracy=100.0 * float(result.column("batch_accuracy")[1:].mean()),
        seconds=seconds,
        ram_hours=ram_hours(float(np.mean(watch.memory)), max(seconds, 0.0)),
        selection=_selection(stream, watch.rows, watch.selected),
        rows=watch.rows,
        n_selected=[int(mask.sum()) for mask in watch.selected],
        n_used=watch.used,
        drifts=[drift.row for drift in getattr(selector, "drifts_", [])],
    )
    return run, measured


class _Watch:
    """A stream that takes snapshots of memory, trees and selection at times, and knows how long that took."""

    def __init__(
        self,
        stream: Any,
        memory: Callable[[], int],
        used: Callable[[], int | None],
        support: Callable[[], NDArray[np.bool_]],
    ) -> None:
        self._stream, self._memory, self._used, self._support = stream, memory, used, support
        self.feature_names, self.target_name = stream.feature_names, stream.target_name
        self.n_rows, self.categories = stream.n_rows, stream.categories
        self.seconds = 0.0
        self.rows: list[int] = []
        self.memory: list[int] = []
        self.used: list[int | None] = []
        self.selected: list[NDArray[np.bool_]] = []

    def progress(self) -> float | None:
        """As the stream itself."""
        found: float | None = self._stream.progress()
        return found

    def batches(self, batch_size: int) -> Iterator[Batch]:
        """As the stream itself."""
        batches = iter(self._stream.batches(batch_size))
        rows, due = 0, self.n_rows / N_SNAPSHOTS
        while True:
            began = process_time()
            if rows >= due or (rows and rows >= self.n_rows):
                due += self.n_rows / N_SNAPSHOTS
                self.rows.append(rows)
                self.memory.append(self._memory())
                self.used.append(self._used())
                self.selected.append(self._support())
            batch = next(batches, None)
            self.seconds += process_time() - began
            if batch is None:
                return
            rows += batch.n_rows
            yield batch


def _memory(learner: Any, selector: Any) -> int:
    return n_bytes(learner) + (0 if selector is None else state_bytes(selector.state_arrays()))


def _selection(stream: Any, rows: list[int], selected: list[NDArray[np.bool_]]) -> tuple[float, float, float]:
    if not isinstance(stream, GeneratedStream):
        return float("nan"), float("nan"), float("nan")
    segments = stream.segments()
    snapshots = []
    for row, mask in zip(rows, selected, strict=True):
        true = next(list(segment.relevant) for segment in segments if segment.first < row <= segment.last + 1)
        found = selection_accuracy(mask, true, len(mask))
        snapshots.append((float(found), found.rrf, found.ccp))
    accuracy, rrf, ccp = np.mean(snapshots, axis=0).tolist()
    return accuracy, rrf, ccp


@dataclass(frozen=True)
class _RealStream:
    """Rows in memory, some of their columns categories; sparse rows are made dense batch by batch."""

    X: Any
    y: NDArray[np.int64]
    categorical: NDArray[np.bool_]

    feature_names: ClassVar[None] = None
    target_name: ClassVar[str] = "label"
    categories: ClassVar[dict[str, tuple[str, ...]]] = {}

    @property
    def n_rows(self) -> int:
        return len(self.y)

    def progress(self) -> float | None:
        return None

    def batches(self, batch_size: int) -> Iterator[Batch]:
        for first in range(0, len(self.y), batch_size):
            rows = self.X[first : first + batch_size]
            dense = rows.toarray() if hasattr(rows, "toarray") else rows
            yield Batch(dense.astype(np.float32), self.y[first : first + batch_size], None, self.categorical)


def real_stream(run: AbfsRun, folder: Path, *, shuffled: bool = True) -> _RealStream:
    """A real data set, shuffled by the seed or not; columns of only 0 and 1 are categories, except in IADS."""
    X, y = read_matrix(folder / REAL_DATA[run.stream])
    y = y.astype(np.int64)
    order = np.random.default_rng(run.seed).permutation(len(y)) if shuffled else np.arange(len(y))
    order = order[: run.rows]
    X = X[order]
    low, high = X.min(axis=0), X.max(axis=0)
    if hasattr(low, "toarray"):
        low, high = low.toarray()[0], high.toarray()[0]
    binary = (low >= 0) & (high <= 1)
    return _RealStream(X, y[order], binary if run.stream != "IADS" else np.zeros(len(binary), bool))
