"""Columns made, judged and forgotten, against making them all at once: memory, time, and what is found.

Each figure is measured in a process of its own: memory is the most the process had, less what it had when the data was
there and everything was imported. Times are those of the processor. docs/recipes/columns_without_end.md shows the
tables.
"""

from __future__ import annotations

import multiprocessing
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import LassoCV, LinearRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from benchmarks.table import Row
from streamsift.columns.investing import Investing
from streamsift.interop.sklearn import make_columns

Found = dict[str, float]
Answer = tuple[Any, list[str]]  # predictions for the test rows, names of the columns behind them

TRUE = ("x3", "x11", "x5^2", "x2*x7", "x9*x14", "x1*x4*x8", "x6*x10^2")


def run(quick: bool) -> list[Row]:
    """All rows of the table."""
    return [*_endless(quick), *_beside_all_at_once("generated", quick), *_beside_all_at_once("diabetes", quick)]


# -- a million columns --------------------------------------------------------------------------------------------


def _endless(quick: bool) -> list[Row]:
    rows = []
    n_rows = 200 if quick else 1000
    for n_base in (30, 60) if quick else (100, 200):
        found = in_its_own_process(endless, n_base, n_rows)
        table = found["columns"] * n_rows * 8 / 1e6
        note = (
            f"{found['columns']:,.0f} columns from {n_base}, {n_rows:,} rows, {found['found']:.0f} of {len(TRUE)} true"
        )
        note += f" ones and {found['others']:.0f} others found, {found['seconds']:.1f} s"
        ratio = table / max(found["megabytes"], 0.1)
        rows.append(
            Row("memory", found["megabytes"], table, "the table itself", ratio, None if quick else 20.0, "MB", note)
        )
    return rows


def endless(n_base: int, n_rows: int) -> Found:
    """All products and powers up to the third degree, offered to information investing."""
    X, y = generated(n_base, n_rows, seed=0)
    _warm_up()
    source = make_columns(X, "polynomial:3", y)
    before, start = resident("VmRSS"), time.process_time()
    selector = Investing().run(source)
    seconds = time.process_time() - start
    n_true = len(set(selector.selected_) & set(TRUE))
    return {
        "columns": selector.n_offered_,
        "seconds": seconds,
        "megabytes": (resident("VmHWM") - before) / 1e6,
        "found": n_true,
        "others": len(selector.selected_) - n_true,
    }


def generated(n_base: int, n_rows: int, seed: int) -> tuple[Any, Any]:
    """Normal columns, and a target that is the sum of seven columns made from them (TRUE), and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_base))
    signal = make_columns(X, "polynomial:3").columns(TRUE)
    return X, (signal / signal.std(axis=0)).sum(axis=1) + 1.5 * rng.normal(size=n_rows)


# -- beside everything at once ------------------------------------------------------------------------------------


def streaming(X: Any, y: Any, X_test: Any) -> Answer:
    """Information investing, and least squares on what it accepted."""
    source = make_columns(X, "polynomial:3", y)
    return _least_squares(source, Investing().run(source).selected_, y, X_test)


def level_kept(X: Any, y: Any, X_test: Any) -> Answer:
    """LORD++, and least squares on what it accepted."""
    source = make_columns(X, "polynomial:3", y)
    return _least_squares(source, Investing("lord").run(source).selected_, y, X_test)


def k_best(X: Any, y: Any, X_test: Any) -> Answer:
    """As many columns as are true, by their F statistics, one by one."""
    model = make_pipeline(_polynomial(), SelectKBest(f_regression, k=len(TRUE)), LinearRegression())
    model.fit(X, y)
    return model.predict(X_test), [_ours(name) for name in model[:-1].get_feature_names_out()]


def lasso(X: Any, y: Any, X_test: Any) -> Answer:
    """The lasso, its penalty chosen out of 30 by five folds."""
    centred = y - y.mean()
    standard = make_pipeline(_polynomial(), StandardScaler()).fit_transform(X)
    largest = np.abs(standard.T @ centred).max() / len(y)  # the least penalty that leaves no column
    model = make_pipeline(
        _polynomial(), StandardScaler(), LassoCV(alphas=np.geomspace(1, 1e-2, 30) * largest, max_iter=1000)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that some penalties have not converged
        model.fit(X, y)
    names = model[:-1].get_feature_names_out()[model[-1].coef_ != 0]
    return model.predict(X_test), [_ours(name) for name in names]


def linear(X: Any, y: Any, X_test: Any) -> Answer:
    """Least squares on the given columns."""
    return LinearRegression().fit(X, y).predict(X_test), [f"x{k}" for k in range(X.shape[1])]


METHODS = {
    "Investing": streaming,
    "Investing, LORD++": level_kept,
    "PolynomialFeatures + SelectKBest": k_best,
    "PolynomialFeatures + LassoCV": lasso,
    "the given columns": linear,
}


def _beside_all_at_once(data: str, quick: bool) -> list[Row]:
    found = {name: in_its_own_process(judged, name, data, quick) for name in METHODS}
    rows = []
    ours = found["Investing"]
    for name, its in found.items():
        note = f"{its['columns']:.1f} columns"
        note += f", {its['true']:.1f} of {len(TRUE)} true" if data == "generated" else ""
        note += f", {its['seconds']:.2f} s, {its['megabytes']:.0f} MB; Investing {ours['seconds']:.2f} s"
        rows.append(
            Row(f"{data}: R² on other rows", ours["r2"], its["r2"], name, ours["r2"] / its["r2"], None, "", note)
        )
    return rows


def judged(name: str, data: str, quick: bool) -> Found:
    """A method on five splits: means of R² on the other rows, columns, true columns, seconds; and the most memory."""
    _warm_up()
    if data == "generated":
        X, y = generated(15 if quick else 20, 600, seed=1)
    else:
        X, y = load_diabetes(return_X_y=True)
    method, before = METHODS[name], resident("VmRSS")
    results = []
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        start = time.process_time()
        predicted, names = method(X[train], y[train], X[test])
        seconds = time.process_time() - start
        r2 = 1 - np.sum((y[test] - predicted) ** 2) / np.sum((y[test] - y[test].mean()) ** 2)
        results.append([r2, len(names), len(set(names) & set(TRUE)), seconds])
    means = dict(zip(("r2", "columns", "true", "seconds"), np.mean(results, axis=0).tolist(), strict=True))
    return means | {"megabytes": (resident("VmHWM") - before) / 1e6}


def _least_squares(source: Any, names: list[str], y: Any, X_test: Any) -> Answer:
    if not names:
        return np.full(len(X_test), y.mean()), []
    model = LinearRegression().fit(source.columns(names), y)
    return model.predict(source.columns(names, X_test)), names


def _polynomial() -> Any:
    return PolynomialFeatures(3, include_bias=False)


def _ours(name: str) -> str:
    return str(name).replace(" ", "*")


# -- measuring ----------------------------------------------------------------------------------------------------


def _warm_up() -> None:
    """Import and compile what is needed, so that it is not counted."""
    X, y = np.random.default_rng(0).normal(size=(50, 3)), np.arange(50.0)
    for method in (streaming, level_kept, k_best, linear):
        method(X, y, X)


def resident(which: str) -> int:
    """Bytes of this process in memory: now (VmRSS) or at most so far (VmHWM); Linux only."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(which + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"This system does not tell {which}.")


def in_its_own_process(action: Callable[..., Found], *arguments: Any) -> Found:
    """What an action returns that is called in a new process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(action, arguments)
