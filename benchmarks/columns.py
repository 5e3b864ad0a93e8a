"""Columns judged a second, against one column at a time with numpy, least squares from scratch, and the limit.

The stream is in memory, in Fortran order (one column after the other). One thread.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.table import Row, best_times
from streamsift.columns.investing import Investing
from streamsift.columns.penalised import Penalised


def run(quick: bool) -> list[Row]:
    """All rows of the table."""
    rng = np.random.default_rng(0)
    n_columns = 20_000 if quick else 200_000
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


def _against_numpy(name: str, selector: Any, X: Any, y: Any) -> list[Row]:
    """Rates in columns a second; the peers judge a few columns only, and are given the fit for nothing."""
    basis = np.linalg.qr(np.column_stack([np.ones(len(y)), X[:, : len(selector.selected_)]]))[0]
    residual = y - basis @ (basis.T @ y)
    few = 2000

    def one_at_a_time() -> None:
        for k in range(few):
            x = X[:, k]
            x = x - basis @ (basis.T @ x)
            -len(y) * np.log1p(-((x @ residual) ** 2) / ((x @ x) * (residual @ residual)))

    def from_scratch() -> None:
        design = np.column_stack([basis, np.empty(len(y))])
        for k in range(few // 10):
            design[:, -1] = X[:, k]
            np.linalg.lstsq(design, y, rcond=None)

    state = selector.state_arrays()

    def ours() -> None:
        selector.load_state_arrays(state).offer_many(X)

    mine, single, scratch = best_times(ours, one_at_a_time, from_scratch)
    rate = X.shape[1] / mine / 1e6
    note = f"200 rows, {len(selector.selected_)} accepted"
    rows = [Row(f"{name}: million columns a second", rate, 2.0, "what is asked for", rate / 2.0, 1.0, "M/s", note)]
    for peer, seconds, count, wanted in (
        ("numpy, one column at a time", single, few, 20.0),
        ("numpy.linalg.lstsq a column", scratch, few // 10, 100.0),
    ):
        other = count / seconds / 1e6
        rows.append(Row(f"{name}: against {peer}", rate, other, peer, rate / other, wanted, "M/s", note))
    return rows


def _against_the_limit(rng: Any, n_rows: int) -> Row:
    """The share of the speed of a large square matrix product; counted are only the products that are needed."""
    width = 256
    X = rng.standard_normal((width + 40, n_rows)).T
    y = X[:, :40].sum(axis=1) + rng.standard_normal(n_rows)
    selector = Penalised("ric", n_columns=10**9).begin(y)
    selector.offer_many(X[:, :40])
    state = selector.state_arrays()
    square = rng.standard_normal((1500, 1500))
    selector.load_state_arrays(state)
    mine, product = best_times(lambda: selector.offer_many(X[:, 40:], names=_names(selector)), lambda: square @ square)
    operations = 2.0 * n_rows * (len(selector.selected_) + 2) * width
    rate, peak = operations / mine / 1e9, 2.0 * 1500**3 / product / 1e9
    note = f"{n_rows:,} rows, {len(selector.selected_)} accepted"
    return Row("Penalised: share of the matrix-product speed", rate, peak, "numpy @", rate / peak, 0.5, "GF/s", note)


def _names(selector: Any) -> list[str]:
    return [f"n{selector.n_offered_ + k}" for k in range(256)]


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
        "logistic: columns a second", rate, peer, "scikit-learn, a refit a column", rate / peer, 50.0, "/s", note
    )
