"""Screener: class moments and quantile summaries, dense and sparse, against the peers a user would pick."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse
from sklearn.naive_bayes import GaussianNB

from benchmarks.table import Row, best_times
from streamsift import Screener


@njit(fastmath=True, cache=True)
def _read(X: NDArray[Any]) -> float:
    """One read of the data at the speed numba can: the limit of any single pass."""
    total = 0.0
    for i in range(X.shape[0]):
        row, part = X[i], X.dtype.type(0)
        for j in range(row.size):
            part += row[j]
        total += part
    return total


def _batches(rng: np.random.Generator, n: int, rows: int, features: int, dtype: Any) -> list[Any]:
    y = rng.integers(0, 2, rows)
    return [(rng.standard_normal((rows, features), dtype=np.float32).astype(dtype), y) for _ in range(n)]


def _feed(selector: Any, batches: list[Any]) -> None:
    for X, y in batches:
        selector.partial_fit(X, y)


def _moments(rng: np.random.Generator, quick: bool) -> list[Row]:
    rows = []
    for dtype in (np.float32, np.float64):
        # Two batches, again and again: data fresh from a reader lies in the processor's outer cache. (From memory, one
        # read of float32 alone takes a fifteenth of the peer's time; the wide rows below measure that.)
        batches = _batches(rng, 2, 250, 5000, dtype) * 10
        values = len(batches) * 250 * 5000
        ours, bayes = Screener("t_score"), GaussianNB()
        bayes.partial_fit(*batches[0], classes=[0, 1])
        mine, peer = best_times(
            lambda b=batches, s=ours: _feed(s, b), lambda b=batches, s=bayes: _feed(s, b), repeats=5
        )
        rows.append(
            Row("class moments, 5,000 features, batch 250", mine / values * 1e9, peer / values * 1e9,
                "GaussianNB.partial_fit", peer / mine, 15.0, "ns/value", np.dtype(dtype).name)
        )  # fmt: skip
    for dtype in (np.float32, np.float64):
        batches = _batches(rng, 1 if quick else 2, 500, 50_000, dtype)
        values = len(batches) * 500 * 50_000
        ours = Screener("t_score")
        mine, limit = best_times(
            lambda b=batches, s=ours: _feed(s, b), lambda b=batches: [_read(X) for X, _ in b], repeats=7
        )
        rows.append(
            Row("class moments, 50,000 features, batch 500", mine / values * 1e9, limit / values * 1e9,
                "one read of the data", limit / mine, 0.6, "ns/value", np.dtype(dtype).name)
        )  # fmt: skip
    rows += _one_row(rng)
    return rows


def _one_row(rng: np.random.Generator) -> list[Row]:
    """Fixed call cost and cost per feature of a batch of one row: a straight line through two widths."""
    times = {}
    for features in (10, 5000):
        X, y = rng.standard_normal((1, features), dtype=np.float32), np.array([1])
        selector = Screener("t_score").partial_fit(X, y)
        runs = []
        for _ in range(2000):
            start = time.perf_counter()
            selector.partial_fit(X, y)
            runs.append(time.perf_counter() - start)
        times[features] = float(np.min(runs)), float(np.median(runs))
    per_feature = (times[5000][0] - times[10][0]) / 4990 * 1e9
    fixed = times[10][1] * 1e6
    return [
        Row("one row: fixed call cost", fixed, 40.0, "limit", 40.0 / fixed, 1.0, "µs"),
        Row("one row: per feature", per_feature, 0.5, "limit", 0.5 / per_feature, 1.0, "ns"),
    ]


class _SparseProducts:
    """The same statistics with products of two sparse matrices: sums and sums of squares per class, batch upon batch.

    What a product gives is added to the sums so far at its non-zeros, so that the cost is theirs alone.
    """

    def __init__(self, n_features: int) -> None:
        self.count, self.sums = np.zeros(2), np.zeros((2, 2, n_features))

    def partial_fit(self, X: Any, y: NDArray[Any]) -> None:
        one_hot = sparse.csr_matrix((np.ones(len(y), X.dtype), (y, np.arange(len(y)))), (2, len(y)))
        squares = X.copy()
        squares.data **= 2
        self.count += np.bincount(y, minlength=2)
        for sums, values in zip(self.sums, (X, squares), strict=True):
            product = one_hot @ values
            for c in range(2):
                part = slice(product.indptr[c], product.indptr[c + 1])
                sums[c, product.indices[part]] += product.data[part]


class _DenseProducts(_SparseProducts):
    """The same with dense classes: quick where columns are few, but its cost is that of all columns."""

    def partial_fit(self, X: Any, y: NDArray[Any]) -> None:
        one_hot = np.zeros((len(y), 2))
        one_hot[np.arange(len(y)), y] = 1.0
        squares = X.copy()
        squares.data **= 2
        self.count += np.bincount(y, minlength=2)
        for sums, values in zip(self.sums, (X, squares), strict=True):
            sums += (values.T @ one_hot).T


def _sparse(rng: np.random.Generator, quick: bool) -> list[Row]:
    rows, per_entry = [], {}
    n, per_row = (2_000 if quick else 10_000), 100
    y = rng.integers(0, 2, n)
    for features in (10_000, 100_000, 1_000_000):
        columns = np.sort(
            rng.integers(0, features // per_row, (n, per_row)) + np.arange(per_row) * (features // per_row)
        )
        X = sparse.csr_matrix(
            (rng.random(n * per_row), columns.ravel(), np.arange(0, n * per_row + 1, per_row)), (n, features)
        )
        parts = [(X[i : i + 500], y[i : i + 500]) for i in range(0, n, 500)]
        contestants = (Screener("t_score"), _SparseProducts(features), _DenseProducts(features))
        times = best_times(*(lambda p=parts, s=s: _feed(s, p) for s in contestants), repeats=10)
        mine, products, dense = (seconds / X.nnz * 1e9 for seconds in times)
        per_entry[features] = mine
        name = f"sparse class moments, {features:,} features"
        rows += [
            Row(name, mine, products, "scipy.sparse products", products / mine, 8.0, "ns/non-zero"),
            Row(name, mine, dense, "scipy.sparse by a dense one-hot", dense / mine, None, "ns/non-zero"),
        ]
    flat = per_entry[10_000] / per_entry[100_000]
    rows.append(
        Row("sparse: 100,000 against 10,000 features", per_entry[100_000], per_entry[10_000], "10,000 features", flat,
            None, "ns/non-zero", "equal non-zeros")
    )  # fmt: skip
    return rows


def _offline(X: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    """Quantiles of all rows at once, then counting: what one would write without a stream."""
    cuts = np.quantile(X, [0.2, 0.4, 0.6, 0.8], axis=0)
    counts = np.empty((X.shape[1], 5, 2))
    for j in range(X.shape[1]):
        counts[j] = np.bincount(np.searchsorted(cuts[:, j], X[:, j]) * 2 + y, minlength=10).reshape(5, 2)
    return counts


def _reading(X: NDArray[Any], y: NDArray[Any]) -> list[Row]:
    """Scores after every batch of 100 rows, as when a stream is followed or judged."""
    import datasketches

    starts = range(0, len(X), 100)

    def ours(labels: NDArray[Any]) -> None:
        selector = Screener("mutual_info", eps=0.01)
        for i in starts:
            selector.partial_fit(X[i : i + 100], labels[i : i + 100])
            selector.scores_  # noqa: B018 - computed when it is read

    def kll() -> None:
        sketches = datasketches.vector_of_kll_floats_sketches(200, X.shape[1])
        for i in starts:
            sketches.update(X[i : i + 100])
            sketches.get_quantiles([0.2, 0.4, 0.6, 0.8])

    many = np.arange(len(X)) % 10
    two, ten, peer = (1e3 * seconds / len(starts) for seconds in best_times(
        lambda: ours(y), lambda: ours(many), kll, repeats=2
    ))  # fmt: skip
    name, peer_name = (
        "scores read after every 100 rows, 500 features",
        "datasketches vector of KLL(200), quantiles alone",
    )
    return [
        Row(name, two, peer, peer_name, peer / two, None, "ms/batch"),
        Row(name, ten, peer, peer_name, peer / ten, None, "ms/batch", "10 classes"),
    ]


def _quantiles(rng: np.random.Generator, quick: bool) -> list[Row]:
    import datasketches

    features, n = 500, 16_384 if quick else 65_536
    X = rng.standard_normal((n, features), dtype=np.float32)
    y = rng.integers(0, 2, n)
    parts = [(X[i : i + 256], y[i : i + 256]) for i in range(0, n, 256)]

    def ours(fading: float) -> Any:
        selector = Screener("mutual_info", eps=0.01, fading=fading)
        _feed(selector, parts)
        return selector.scores_

    def kll() -> Any:
        sketches = datasketches.vector_of_kll_floats_sketches(200, features)
        for part, _ in parts:
            sketches.update(part)
        return sketches.get_quantiles([0.2, 0.4, 0.6, 0.8])

    plain, faded, sketch = best_times(lambda: ours(1.0), lambda: ours(0.9999), kll, repeats=3 if quick else 8)
    (offline,) = best_times(lambda: _offline(X, y), repeats=1)
    scale = 1e9 / (n * features)
    return [
        *_reading(X[: n // 2], y[: n // 2]),
        Row("quantile summary, float32, eps 0.01", plain * scale, sketch * scale, "datasketches vector of KLL(200)",
            sketch / plain, 10.0, "ns/value", "the peer keeps no classes"),
        Row("quantile summary, float32, eps 0.01", plain * scale, offline * scale, "numpy.quantile and counting",
            offline / plain, 5.0, "ns/value"),
        Row("the same, faded", faded * scale, plain * scale, "unfaded", plain / faded, 0.25, "ns/value"),
    ]  # fmt: skip


_MEMORY = """
import sys, numpy as np
from streamsift import Screener
n, features = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(0)
X, y = rng.standard_normal((1000, features), dtype=np.float32), rng.integers(0, 2, 1000)
Screener("mutual_info", eps=0.01).partial_fit(X, y).scores_
selector = Screener("mutual_info", eps=0.01)
for i in range(0, n, 1000):
    selector.partial_fit(np.roll(X, i // 1000, axis=1) + np.float32(1e-7 * i), y)
from streamsift.core.state import n_bytes
print(n_bytes(selector.state_arrays()) / 1e9)
"""

_FRESH = """
import time; start = time.perf_counter()
import numpy as np
from streamsift import Screener
rng = np.random.default_rng(0)
X, y = rng.standard_normal((3000, 50), dtype=np.float32), rng.integers(0, 2, 3000)
selector = Screener("{score}")
for i in range(0, 3000, 500):
    selector.partial_fit(X[i : i + 500], y[i : i + 500])
selector.scores_
print(time.perf_counter() - start)
"""


def _python(code: str, *arguments: str, cache: str | None = None) -> float:
    environment = dict(os.environ) | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True, env=environment
    )
    return float(done.stdout.split()[-1])


def _seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def _memory_and_start(quick: bool) -> list[Row]:
    rows = []
    n = 100_000 if quick else 1_000_000
    used = _python(_MEMORY, str(n), "5000")
    rows.append(Row(f"state after {n:,} rows × 5,000 features, eps 0.01", used, 0.3, "limit", 0.3 / used, 1.0, "GB"))
    for what, limit, command in (
        ("import streamsift, fresh process", 0.15, ["-c", "import streamsift"]),
        ("streamsift --help", 0.3, ["-m", "streamsift", "--help"]),
    ):
        seconds = min(_seconds(command) for _ in range(7))
        rows.append(Row(what, seconds, limit, "limit", limit / seconds, 1.0, "s"))
    for score in ("t_score", "mutual_info"):
        with tempfile.TemporaryDirectory() as cache:
            cold = _python(_FRESH.format(score=score), cache=cache)
            warm = min(_python(_FRESH.format(score=score), cache=cache) for _ in range(3))
        rows.append(Row(f"first result, fresh process, cold, {score}", cold, 8.0, "limit", 8.0 / cold, 1.0, "s"))
        rows.append(Row(f"first result, fresh process, warm, {score}", warm, 2.5, "limit", 2.5 / warm, 1.0, "s"))
    return rows


_CSV = """
import sys
from streamsift import Screener
from streamsift.streams import open_stream
selector = Screener("mutual_info", eps=0.01)
for batch in open_stream(sys.argv[1], target="label").batches(1000):
    selector.partial_fit(batch)
selector.scores_
# Not ru_maxrss: a new process inherits that from the one that started it.
print(int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1e6)
"""


def _csv_memory(rng: np.random.Generator, quick: bool) -> list[Row]:
    size = 0.1e9 if quick else 2e9
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.csv"
        block = rng.standard_normal((5000, 200))
        text = "\n".join(",".join(f"{v:.5f}" for v in row) + f",{i % 2}" for i, row in enumerate(block)) + "\n"
        for wanted in (1e7, size):  # a small file first: compiling kernels takes memory too, once per machine
            with path.open("w") as file:
                file.write(",".join([*(f"x{j}" for j in range(200)), "label"]) + "\n")
                while file.tell() < wanted:
                    file.write(text)
            peak = _python(_CSV, str(path))
    return [Row(f"peak memory over a CSV of {size / 1e9:g} GB", peak, 0.5, "limit", 0.5 / peak, 1.0, "GB")]


def run(quick: bool) -> list[Row]:
    """All figures of the Screener."""
    rng = np.random.default_rng(0)
    return [
        *_moments(rng, quick),
        *_sparse(rng, quick),
        *_quantiles(rng, quick),
        *_memory_and_start(quick),
        *_csv_memory(rng, quick),
    ]
