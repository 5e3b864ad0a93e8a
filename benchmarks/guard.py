"""What the guard against a second thread costs (core/guard.py): the lock alone, and one row with and without it.

Wanted is less than 0.3 microseconds for the lock of one call. The peer is the same call of a selector whose lock is
replaced by one that does nothing, so that only the guard differs.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.table import Row
from streamsift import catalog
from streamsift.core.guard import enter

WANTED = 0.3  # microseconds
METHODS = ("screen:t_score", "ofs")


class _Open:
    """A lock that keeps nobody out."""

    def acquire(self, blocking: bool = True) -> bool:
        return True

    def release(self) -> None:
        return None


def _microseconds(call: Callable[[], Any], n_calls: int) -> float:
    start = perf_counter()
    for _ in range(n_calls):
        call()
    return (perf_counter() - start) / n_calls * 1e6


def _guard(selector: Any) -> Callable[[], None]:
    def call() -> None:
        lock = enter(selector)
        try:
            pass
        finally:
            lock.release()

    return call


def _nothing() -> None:
    try:
        pass
    finally:
        pass


def run(quick: bool) -> list[Row]:
    """Microseconds per call; the best of several turns."""
    n_calls, turns = 200, 300 if quick else 3000  # short turns: some of many meet no other process
    X, y = np.array([[0.3, 1.2, 5.0, 2.0]]), np.array([1])
    selector = catalog.make("screen:t_score").partial_fit(np.eye(4), [0, 1, 0, 1])
    alone, empty = _guard(selector), _nothing
    best = [float("inf")] * 2
    for _ in range(turns):
        best = [min(known, _microseconds(call, n_calls)) for known, call in zip(best, (alone, empty), strict=True)]
    cost = max(best[0] - best[1], 1e-3)
    rows = [Row("the guard of one call", cost, WANTED, "the most that is wanted", WANTED / cost, 1.0, "us")]
    for name in METHODS:
        guarded, bare = (catalog.make(name).partial_fit(np.eye(4), [0, 1, 0, 1]) for _ in range(2))
        bare.__dict__["_inside"] = _Open()
        ours = theirs = float("inf")
        for _ in range(turns):
            ours = min(ours, _microseconds(lambda guarded=guarded: guarded.partial_fit(X, y), n_calls // 20))
            theirs = min(theirs, _microseconds(lambda bare=bare: bare.partial_fit(X, y), n_calls // 20))
        rows.append(Row(f"one row of {name}", ours, theirs, "without a lock", theirs / ours, None, "us"))
    return rows
