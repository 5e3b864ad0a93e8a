"""Columns judged per second, against one column at a time with numpy, least squares from scratch, and the limit.

The stream is in memory, in Fortran order (one column after the other). One thread, and times are those of the
processor, not of the clock: on a machine shared with others the clock measures the others.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.table import Row
from streamsift.columns.investing import Investing
from streamsift.columns.penalised import Penalised


def run(quick: bool) -> list[Row]:
    """All rows of the table."""
    rng = np.random.default_rng(0)
    n_columns = 10_000 if quick else 40_000  # 64 MB, more than the cache holds
    X = rng.standard_normal((n_columns, 200)).T
    # Each column explains three quarters of what is left, so that every method accepts the first ten.
    y = X[:, :10] @ 0.5 ** np.arange(10) + 0.5**10 * rng.standard_normal(200)
    rows: list[Row] = []
    investing = Investing(payoff=0.01).begin(y)
    investing.offer_many(X[:, :10])
    penalised = Penalised("ric", n_columns=10**9).begin(y)
    penalised.offer_many(X[:, :10])
    for name, selector in (("Investing", investing), ("Penalised RIC", penalised)):
        rows += _against_numpy(name, selector, X[:, 10:], y)
    rows.append(_against_the_limit(rng, 30_000 if quick else 100_000))
    rows.append(_against_refits(rng))
    return rows


def best_times(*actions: Callable[[], Any], repeats: int = 10) -> list[float]:
    """Processor seconds of the fastest run of each action; the actions take turns, after one warm-up each."""
    for action in actions:
        action()
    best = [float("inf")] * len(actions)
    for _ in range(repeats):
        for place, action in enumerate(actions):
            start = time.process_time()
            action()
            best[place] = min(best[place], time.process_time() - start)
    return best


def _against_numpy(name: str, selector: Any, X: Any, y: Any) -> list[Row]:
    """Rates in columns per second; the peers judge a few columns only, and are given the fit for nothing."""
    basis = np.linalg.qr(np.column_stack([np.ones(len(y)), X[:, : len(selector.selected_)]]))[0]
    residual = y - basis @ (basis.T @ y)
    few = 1000

    def one_at_a_time() -> int:
        """The same work: orthogonalised twice, the gain against the threshold of the bid, the bid paid."""
        wealth, rss, accepted = 0.5, residual @ residual, 0
        for k in range(few):
            x = X[:, k]
            for _ in range(2):
                x = x - basis @ (basis.T @ x)
            gain = -len(y) * np.log1p(-((x @ residual) ** 2) / ((x @ x) * rss))
            bid = wealth / (2 * (k + 11))
            accepted += gain >= 2 * np.log(2) * (0.5 - np.log2(bid))
            wealth -= bid
        return int(accepted)

    def from_scratch() -> None:
        design = np.column_stack([basis, np.empty(len(y))])
        for k in range(few // 10):
            design[:, -1] = X[:, k]
            np.linalg.lstsq(design, y, rcond=None)

    def ours() -> None:
        selector.offer_many(X)  # the stream goes on; the columns are new ones as far as the selector knows

    mine, single, scratch = best_times(ours, one_at_a_time, from_scratch, repeats=15)
    rate = X.shape[1] / mine / 1e6
    note = f"200 rows, {len(selector.selected_)} accepted"
    rows = [Row(f"{name}: million columns per second", rate, 2.0, "what is asked for", rate / 2.0, 1.0, "M/s", note)]
    for peer, seconds, count, wanted in (
        ("numpy, one column at a time", single, few, 20.0),
        ("numpy.linalg.lstsq per column", scratch, few // 10, 100.0),
    ):
        other = count / seconds / 1e6
        rows.append(Row(f"{name}: against {peer}", rate, other, peer, rate / other, wanted, "M/s", note))
    return rows


def _against_the_limit(rng: Any, n_rows: int) -> Row:
    """The share of the speed of a large square matrix product; counted are only the products that are needed."""
    width = 512
    X = rng.standard_normal((width + 40, n_rows)).T
    y = X[:, :40].sum(axis=1) + rng.standard_normal(n_rows)
    selector = Penalised("ric", n_columns=10**9).begin(y)
    selector.offer_many(X[:, :40])
    state = selector.state_arrays()
    square = rng.standard_normal((1000, 1000))
    selector.load_state_arrays(state)
    mine, product = best_times(
        lambda: selector.offer_many(X[:, 40:], names=_names(selector)), lambda: square @ square, repeats=12
    )
    operations = 2.0 * n_rows * (len(selector.selected_) + 2) * width
    rate, peak = operations / mine / 1e9, 2.0 * 1000**3 / product / 1e9
    note = f"{n_rows:,} rows, {len(selector.selected_)} accepted"
    return Row("Penalised: share of the matrix-product speed", rate, peak, "numpy @", rate / peak, 0.5, "GF/s", note)


def _names(selector: Any) -> list[str]:
    return [f"n{selector.n_offered_ + k}" for k in range(512)]


def _against_refits(rng: Any) -> Row:
    n_rows, width, few = 500, 2000, 20
    X = rng.standard_normal((width, n_rows)).T
    y = (X[:, :4].sum(axis=1) + rng.logistic(size=n_rows) > 0).astype(int)
    selector = Penalised("ric", model="logistic", n_columns=10**9).begin(y)
    selector.offer_many(X[:, :4])
    state = selector.state_arrays()

    def refits() -> None:
        model = LogisticRegression(C=np.inf)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for k in range(few):
                model.fit(X[:, [0, 1, 2, 3, 4 + k]], y)

    mine, other = best_times(lambda: selector.load_state_arrays(state).offer_many(X[:, 4:]), refits)
    rate, peer = (width - 4) / mine, few / other
    note = f"{n_rows} rows, {len(selector.selected_)} accepted, binary"
    return Row(
        "logistic: columns per second", rate, peer, "scikit-learn, a refit per column", rate / peer, 50.0, "/s", note
    )
