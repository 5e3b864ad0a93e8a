"""ETANA: the dynamic program against its limit and numpy, rows against a Python loop, counts against CategoricalNB."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import CategoricalNB

from benchmarks.table import Row, best_times
from streamsift.core.batch import check_batch
from streamsift.instances import settings
from streamsift.instances.etana import ETANA
from streamsift.instances.f_etana import FETANA
from streamsift.instances.grid import make_grid, steps_for
from streamsift.instances.likelihood import Likelihoods
from streamsift.instances.plan import PurchasePlan
from streamsift.kernels.instance_stopping import solve_three, solve_two

Floats = NDArray[np.float64]
LIMIT_TWO, LIMIT_THREE = 5.0, 10.0  # nanoseconds a grid point and bin


def run(quick: bool) -> list[Row]:
    """Every figure, one thread."""
    return [*_program(quick), *_many_features(quick), *_rows(quick), _width(quick), _counting(quick), _classes(quick)]


def _tables(n_classes: int, n_features: int, n_bins: int) -> tuple[Floats, NDArray[np.int64]]:
    rng = np.random.default_rng(0)
    tables = rng.dirichlet(np.full(n_bins, 5.0), (n_features, n_classes)).transpose(0, 2, 1)
    return np.ascontiguousarray(tables.reshape(-1, n_classes)), np.arange(0, n_features * n_bins + 1, n_bins)


def _program(quick: bool) -> list[Row]:
    n_features = 20  # a run of milliseconds, often repeated, so that the best is free of interruptions
    rows = []
    for n_classes, solver, limit in ((2, solve_two, LIMIT_TWO), (3, solve_three, LIMIT_THREE)):
        likelihood, first = _tables(n_classes, n_features, n_classes)
        stop = np.ascontiguousarray(
            (make_grid(n_classes, steps_for(n_classes, "auto")).points @ (1 - np.eye(n_classes))).min(1)
        )
        cost, available, out = np.full(n_features, 0.01), np.ones(n_features), np.empty((n_features, len(stop)))

        def ours(args: Any = (solver, likelihood, first, cost, available, stop, out)) -> None:
            args[0](*args[1:6], args[5].copy(), args[6])

        def numpy_loop(args: Any = (likelihood, first, cost, stop)) -> None:
            _numpy_two(*args)

        times = best_times(ours, *([numpy_loop] if n_classes == 2 else []), repeats=20 if quick else 100)
        per = 1e9 / (len(likelihood) * len(stop))
        name = f"dynamic program, {n_classes} classes, {len(stop):,} points"
        rows.append(Row(name, times[0] * per, limit, "limit", limit / (times[0] * per), 1.0, "ns/point and bin"))
        if n_classes == 2:
            rows.append(
                Row(name, times[0] * per, times[1] * per, "numpy.interp", times[1] / times[0], None, "ns/point and bin")
            )
    return rows


def _numpy_two(likelihood: Floats, first: NDArray[np.int64], cost: Floats, stop: Floats) -> Floats:
    p = np.linspace(0.0, 1.0, len(stop))
    value = stop
    for k in range(len(cost) - 1, -1, -1):
        going_on = np.full(len(stop), cost[k])
        for d0, d1 in likelihood[first[k] : first[k + 1]]:
            total = p * d0 + (1 - p) * d1
            going_on += total * np.interp(p * d0 / total, p, value)
        value = np.minimum(stop, going_on)
    return value


def _many_features(quick: bool) -> list[Row]:
    n_features = 2_000 if quick else 20_000
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    X = rng.normal(size=(300, n_features)).astype(np.float32)
    X[:, ::50] += 0.5 * y[:, None]
    rows = []
    for price, words in ((0.01, "certified"), (0.0, "free features")):
        model = ETANA(price, n_bins=2).fit(X, y)
        (seconds,) = best_times(lambda model=model: model._plan(model._counts), repeats=3)
        stages = model._current_plan().n_stages
        name = f"plan for {n_features:,} features, 2 classes"
        rows.append(Row(name, seconds, 1.0, "limit", 1.0 / seconds, 1.0, "s", f"{words}, {stages:,} stages"))
    return rows


def _rows(quick: bool) -> list[Row]:
    n_rows, n_loop = (10_000, 200) if quick else (100_000, 1_000)
    found = []
    for n_classes in (2, 3):
        rng = np.random.default_rng(0)
        y = rng.integers(0, n_classes, n_rows)
        X = rng.normal(size=(n_rows, 50)) + 0.7 * rng.normal(size=(n_classes, 50))[y]
        model = ETANA(0.01).fit(X[:5000], y[:5000])
        plan, counts = model._current_plan(), model._counts
        ours, loop = best_times(
            lambda model=model, X=X: model.classify(X),
            lambda plan=plan, counts=counts, X=X: [_in_python(plan, counts, row) for row in X[:n_loop].tolist()],
            repeats=3,
        )
        per_row, per_loop = ours / n_rows, loop / n_loop
        used = model.classify(X).n_evaluated.mean()
        name = f"classify {n_rows:,} rows, {n_classes} classes"
        note = f"{used:.1f} features per row; the loop on {n_loop:,} rows"
        found.append(Row(name, 1 / per_row, 1 / per_loop, "Python loop", per_loop / per_row, 50.0, "rows/s", note))
    return found


def _in_python(plan: PurchasePlan, counts: Likelihoods, row: list[float]) -> int:
    """The same decisions in plain Python, as far as plain Python can: lists, floats and the math module."""
    import math
    from bisect import bisect_right

    tables = _as_lists(plan, counts)
    log_weight = list(tables["prior"])
    for k, j in enumerate(tables["order"]):
        if tables["two"]:
            low, high = tables["interval"][k]
            if not low < log_weight[0] - log_weight[1] < high:
                break
        else:
            largest = max(log_weight)
            weights = [math.exp(w - largest) for w in log_weight]
            total = sum(weights)
            posterior = [w / total for w in weights]
            if 1.0 - max(posterior) <= _between(posterior, tables["table"][k], tables["steps"]):
                break
        b = bisect_right(tables["cuts"][j], row[j])
        log_weight = [w + q for w, q in zip(log_weight, tables["logs"][j][b], strict=True)]
    return log_weight.index(max(log_weight))


def _between(posterior: list[float], table: list[float], steps: int) -> float:
    t2, t3 = min((posterior[1] + posterior[2]) * steps, steps), min(posterior[2] * steps, steps)
    r2 = min(int(t2), steps - 1)
    r3 = min(int(t3), r2)
    f2, f3 = t2 - r2, t3 - r3
    here = len(table) - (r2 + 1) * (r2 + 2) // 2 + r2 - r3
    far = here - r2 - 2
    bend = table[far + 1] if f2 >= f3 else table[here - 1]
    high, low = max(f2, f3), min(f2, f3)
    return table[here] + high * (bend - table[here]) + low * (table[far] - bend)


_LISTS: dict[int, dict[str, Any]] = {}


def _as_lists(plan: PurchasePlan, counts: Likelihoods) -> dict[str, Any]:
    """The plan as lists, made once: plain Python is slow on arrays."""
    if id(plan) not in _LISTS:
        logs = np.log(counts.table())
        n = len(counts.categorical)
        _LISTS[id(plan)] = {
            "prior": plan.log_prior.tolist(),
            "order": plan.order.tolist(),
            "two": len(plan.prior) == 2,
            "interval": plan.interval.tolist(),
            "table": plan.table.tolist(),
            "steps": plan.steps,
            "cuts": [counts.cuts[counts.cut_start[j] : counts.cut_start[j + 1]].tolist() for j in range(n)],
            "logs": [logs[counts.bin_start[j] : counts.bin_start[j + 1]].tolist() for j in range(n)],
        }
    return _LISTS[id(plan)]


def _width(quick: bool) -> Row:
    """The same purchases from rows a hundred times as wide."""
    n_rows, narrow_width, wide_width = (500, 50, 5_000) if quick else (2_000, 200, 20_000)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    wide = rng.normal(size=(n_rows, wide_width)).astype(np.float32)
    wide[:, :narrow_width] += 0.5 * y[:, None]
    narrow = np.ascontiguousarray(wide[:, :narrow_width])
    one = ETANA(0.01, n_bins=2, ordering="variance").fit(narrow, y)
    other = ETANA(0.01, n_bins=2, ordering="variance").fit(wide, y)
    used = [model.classify(X).n_evaluated.mean() for model, X in ((one, narrow), (other, wide))]
    small, large = best_times(lambda: one.classify(narrow), lambda: other.classify(wide), repeats=9)
    note = f"{used[1]:.1f} and {used[0]:.1f} features used a row"
    name = f"classify, {wide_width:,} features present against {narrow_width:,}"
    return Row(name, large / n_rows * 1e9, small / n_rows * 1e9, "narrow rows", small / large, 0.1, "ns/row", note)


def _counting(quick: bool) -> Row:
    n_rows, n_features, n_bins = (2_000, 200, 5) if quick else (10_000, 1_000, 5)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    X = rng.normal(size=(n_rows, n_features))
    batch = check_batch(X, y, owner="benchmark", missing=True)
    empty = Likelihoods.begin(batch, n_bins, "width", np.zeros(n_features, bool))
    binned = np.empty(X.shape, np.int64)
    for j in range(n_features):
        binned[:, j] = np.searchsorted(empty.cuts[empty.cut_start[j] : empty.cut_start[j + 1]], X[:, j], side="right")
    ours, peer = best_times(
        lambda: empty.add(batch), lambda: CategoricalNB(min_categories=n_bins).fit(binned, y), repeats=3
    )
    name = f"count {n_rows:,} x {n_features:,}, {n_bins} bins"
    note = "ours bins as it counts, the peer's rows are binned already"
    return Row(name, n_rows / ours, n_rows / peer, "CategoricalNB", peer / ours, 10.0, "rows/s", note)


def _classes(quick: bool) -> Row:
    n_features = 500 if quick else 5_000
    rng = np.random.default_rng(0)
    y = np.arange(330) % 11
    X = rng.normal(size=(330, n_features)) + (rng.random((11, n_features)) < 0.05)[y] * 2.0
    model = FETANA(0.01, random_state=0).fit(X, y)
    settings.problem(model, model._counts)
    (seconds,) = best_times(lambda: model._plan(model._counts), repeats=2)
    return Row("FETANA, 11 classes", seconds, 10.0, "limit", 10.0 / seconds, 1.0, "s")
