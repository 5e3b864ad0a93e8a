"""What judging costs: a prequential run beside the bare calls it makes, the memory of a very long trace, and reading.

The last is about comparisons, which read their file once instead of once for every run.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from pyarrow import csv
from scipy.sparse import csr_matrix
from sklearn.datasets import dump_svmlight_file
from sklearn.naive_bayes import GaussianNB

from benchmarks.table import Row, best_times
from streamsift.comparison.repeats import Source, read_once, survey
from streamsift.core.batch import Batch
from streamsift.evaluate.prequential import prequential
from streamsift.learners.online import make_learner, teach
from streamsift.rows.fires import FIRES
from streamsift.rows.screener import Screener
from streamsift.streams.arrays import ArrayStream

BATCH = 100
A_TURN = 10  # steps
LEAST_SHARE = 0.95  # of the time of a run that selector and model take themselves
LEAST_READING_GAIN = 3.0  # of a comparison of 15 runs that reads its file once
MOST_MEGABYTES = 64.0  # that a trace of any length may need while it is written


class TakingTurns:
    """A stream of batches that are ready, which carries out `other` on the way, a few steps at a time.

    A difference of a few hundredths drowns in how fast the machine happens to be from one second to the next; two
    runs that take turns every few steps meet the same moments. `seconds` are those that `other` took, of the
    processor: what other programs take from the clock does not count.
    """

    feature_names = target_name = None
    categories: ClassVar[dict[str, tuple[str, ...]]] = {}

    def __init__(self, batches: list[Batch], other: Iterator[None]) -> None:
        self._batches, self._other = batches, other
        self.n_rows = sum(batch.n_rows for batch in batches)
        self.seconds = 0.0

    def progress(self) -> float | None:
        return None

    def batches(self, batch_size: int) -> Iterator[Batch]:
        for first in range(0, len(self._batches), A_TURN):
            start = time.process_time()
            for _ in islice(self._other, A_TURN):
                pass
            self.seconds += time.process_time() - start
            yield from self._batches[first : first + A_TURN]


class ByHand:
    """scikit-learn's naive Bayes as one would call it by hand: started again when the selection changes.

    The package's own keeps the statistics of all features and is several times as fast, so that what judging costs
    beside it would say little about the loop; a user has this one to compare with.
    """

    def __init__(self) -> None:
        self._model, self._selected = GaussianNB(), np.empty(0, np.intp)

    def learn(self, X: Any, y: Any, selected: Any, classes: int) -> None:
        if not np.array_equal(selected, self._selected):
            self._model, self._selected = GaussianNB(), selected
        self._model.partial_fit(X, y, classes=np.arange(classes))

    def predict(self, X: Any) -> Any:
        return self._model.predict(X)

    def reset(self) -> None:
        self.__init__()  # type: ignore[misc]


def bare(batches: list[Batch], codes: list[Any], selector: Any, model: Any) -> Iterator[None]:
    """Test and train as a prequential run does, and judge nothing; a step at a time."""
    support = None
    for batch, y in zip(batches, codes, strict=True):
        if support is not None:
            model.predict(np.asarray(batch.X[:, support], np.float64))
        selector.partial_fit(batch)
        support = np.flatnonzero(selector.get_support())
        teach(model, batch.X, y, support, 2)
        yield


def overhead(name: str, n_features: int, make: Callable[[], Any], model: str, n_batches: int, repeats: int) -> Row:
    """Bare calls over a judged run, on the same rows; the middle one of several repeats."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_batches * BATCH)
    X = rng.normal(size=(len(y), n_features)).astype(np.float32)
    X[:, :5] += y[:, None]
    batches = list(ArrayStream(X, y).batches(BATCH))
    codes = [batch.y ^ y[0] for batch in batches]  # the label met first has the code 0
    found = []
    for _ in range(repeats):
        learner = ByHand() if model == "naive_bayes" else make_learner(model)
        stream = TakingTurns(batches, bare(batches, codes, make(), learner))
        start = time.process_time()
        prequential(stream, make(), model, batch_size=BATCH)
        found.append((time.process_time() - start - stream.seconds, stream.seconds))
    peer = "bare calls with scikit-learn's" if model == "naive_bayes" else "bare calls"
    found.sort(key=lambda pair: pair[1] / pair[0])
    judged, alone = found[repeats // 2]
    shares = [bare_time / time_in_all for time_in_all, bare_time in found]
    noise = (shares[3 * repeats // 4] - shares[repeats // 4]) / (alone / judged)  # spread of the middle half
    return Row(
        f"{name} + {model}", judged / n_batches * 1e6, alone / n_batches * 1e6, peer, alone / judged,
        LEAST_SHARE, "µs/step", f"{n_features} features, batches of {BATCH}", noise,
    )  # fmt: skip


LONG_TRACE = """
import sys
from time import perf_counter
import numpy as np
from streamsift.evaluate.scoreboard import JudgedStep, Scoreboard, Predictions
from streamsift.runs.row_trace import RowTraceWriter
from streamsift.runs.run import Run

def peak():
    lines = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
    return int(lines["VmHWM"].split()[0]) / 1024

n_steps, path = int(sys.argv[1]), sys.argv[2]
rng = np.random.default_rng(0)
codes, shares = rng.integers(0, 2, 10), np.full((10, 2), 0.5)
scores, sets = rng.random(1000), [rng.choice(1000, 50, replace=False) for _ in range(7)]

def record(n_steps, path):
    board = Scoreboard(window=10, every=1)
    with RowTraceWriter(path, Run("none")) as writer:
        for k in range(n_steps):
            snapshot = board.wants_snapshot()
            test = Predictions(codes, shares)
            board.add(JudgedStep(10 * k, 1e-3 * k, 1e-4 * k, 1e-4 * k, 10**6, test, sets[k % 7], 1000, 0.5, None,
                                 False, False, snapshot, scores + k if snapshot else None))
            if board.is_full:
                writer.extend(board.records(), 1000)
        board.snapshot_of_last(scores)
        writer.extend(board.records(end=True), 1000)

record(2000, path)  # what every run needs: the package, Arrow, a row group
before, start = peak(), perf_counter()
record(n_steps, path)
print(peak() - before, perf_counter() - start)
"""


def long_trace(n_steps: int) -> Row:
    """Peak memory that a trace of many steps and 1,000 features adds to that of one with 2,000 steps."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.parquet"
        command = [sys.executable, "-c", LONG_TRACE, str(n_steps), str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        size = path.stat().st_size / 2**20
    added, seconds = (float(word) for word in done.stdout.split())
    note = f"{n_steps:,} steps, {seconds / n_steps * 1e6:.1f} µs each, a file of {size:.0f} MB"
    added = max(added, 0.1)
    return Row("trace, memory added", added, MOST_MEGABYTES, "the limit", MOST_MEGABYTES / added, 1.0, "MB", note)


def comparison_reading(n_rows: int, n_columns: int, n_runs: int, suffix: str) -> Row:
    """Reading the rows for all runs of a comparison: once, and then from the spool, or from the file each time."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n_rows, n_columns)).round(6), rng.integers(0, 2, n_rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"rows{suffix}"
        if suffix == ".csv":
            columns = {f"x{k}": pa.array(X[:, k]) for k in range(n_columns)}
            csv.write_csv(pa.table(columns | {"y": pa.array(y)}), path)
        else:
            dump_svmlight_file(csr_matrix(np.where(X > 1.5, X, 0.0)), y, str(path), zero_based=False)
        source = Source(path, "y" if suffix == ".csv" else None, None, 0)

        def read(source: Source) -> None:
            for k in range(n_runs):
                for _ in source.stream(k % 5).batches(BATCH):
                    pass

        def once() -> None:
            spooled, _ = read_once(source)
            read(spooled)

        def each_time() -> None:
            survey(source)
            read(source)

        ours, peer = best_times(once, each_time, repeats=3)
    note = f"{n_rows:,} rows, {n_columns} columns, {n_runs} runs"
    return Row(f"compare: reading a {suffix} file", ours, peer, "reading it each time", peer / ours,
               LEAST_READING_GAIN, "s", note)  # fmt: skip


def run(quick: bool) -> list[Row]:
    """Measure the share of a run that is spent on judging, and the memory of a long trace."""
    n_batches, repeats = (300, 3) if quick else (2000, 7)
    rows = [
        overhead("screen:fisher", n_features, lambda: Screener("fisher", n_features_to_select=10), "naive_bayes",
                 n_batches, repeats)
        for n_features in (50, 500)
    ]  # fmt: skip
    rows.append(
        overhead("fires", 50, lambda: FIRES(n_features_to_select=10, random_state=0), "perceptron", n_batches, repeats)
    )
    n_rows = 5_000 if quick else 20_000
    reading = [comparison_reading(n_rows, 100, 15, suffix) for suffix in (".csv", ".svm")]
    return [*rows, long_trace(50_000 if quick else 1_000_000), *reading]
