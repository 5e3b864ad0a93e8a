"""Long kernels are called in slices: Ctrl-C is looked for within a call, and no answer changes.

Tests with real signals (tests/cli/test_interrupts.py) would also pass if one kernel call happened to be short. Here the
looks within a single call are counted, and a signal comes between two slices.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from streamsift import ETANA, FETANA, OFSA3M, OSFS, FastOSFS, OFSDensity, Stepwise
from streamsift.columns import independence, neighbourhood, stepwise
from streamsift.core import interrupts
from streamsift.instances import f_etana, grid

N_ROWS = 60


def table(n_classes: int = 2) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    y = np.arange(N_ROWS) % n_classes
    X = rng.normal(size=(N_ROWS, 6))
    X[:, :3] += 1.5 * y[:, None]
    return X, y


def offered(method: Callable[[], Any]) -> Callable[[], Any]:
    """One call that offers all columns: the decisions."""

    def call() -> Any:
        X, y = table()
        return method().begin(y).offer_many(X)

    return call


def planned(method: Callable[[], Any], n_classes: int) -> Callable[[], Any]:
    """One call that makes a plan: its arrays."""

    def call() -> Any:
        plan = method().fit(*table(n_classes))._made_plan
        return [getattr(plan, name).tolist() for name in ("order", "interval", "table", "plane")]

    return call


# Each: the module that cuts, what makes its slices as short as possible, the call, and the fewest looks that it takes.
CUT: dict[str, tuple[Any, dict[str, float], Callable[[], Any], int]] = {
    "ofs_density": (neighbourhood, {"SLICE": 1, "SECONDS": 0.0}, offered(OFSDensity), N_ROWS),
    "ofs_a3m": (neighbourhood, {"SLICE": 1, "SECONDS": 0.0}, offered(OFSA3M), N_ROWS),
    "osfs": (independence, {"SLICE": 1}, offered(OSFS), 4),
    "fast_osfs": (independence, {"SLICE": 1}, offered(FastOSFS), 4),
    "stepwise": (stepwise, {"_TILE": 1}, lambda: Stepwise().fit(*table()).selected_, 6),
    # Of ETANA a single stage is cut, too: by its bins (6 stages of 5) or by the points of the grid (6 stages of 84).
    "etana": (grid, {"SLICE": 1}, planned(ETANA, 2), 6 * 5),
    "etana, 3 classes": (grid, {"SLICE": 1}, planned(ETANA, 3), 6 * 5),
    "etana, 4 classes": (grid, {"SLICE": 1}, planned(lambda: ETANA(resolution=6), 4), 6 * 84),
    "etana, rounded": (grid, {"SLICE": 1}, planned(lambda: ETANA(resolution=6, lookup="nearest"), 3), 6 * 28),
    "f_etana": (f_etana, {"SLICE": 1000}, planned(lambda: FETANA(random_state=0, max_iterations=2), 3), 200),
    "f_etana, edges": (grid, {"SLICE": 1}, planned(lambda: FETANA(random_state=0, max_iterations=1), 3), 18),
}


class Looks:
    """Counts the looks for a signal; the signal comes at the last of `n`."""

    def __init__(self, n: float = float("inf")) -> None:
        self.count, self.n = 0, n

    def __call__(self) -> None:
        self.count += 1
        if self.count >= self.n:
            interrupts._came = signal.SIGINT
        interrupts.check()


@pytest.fixture(autouse=True)
def _no_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts, "_came", 0)


@pytest.mark.parametrize("name", CUT)
def test_one_call_looks_for_the_signal_many_times_and_answers_the_same(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, short, call, fewest = CUT[name]
    looks = Looks()
    expected = call()
    for limit, value in short.items():
        monkeypatch.setattr(module, limit, value)
    monkeypatch.setattr(module, "check", looks)
    assert call() == expected
    assert looks.count >= fewest


@pytest.mark.parametrize("name", CUT)
def test_a_signal_between_two_slices_ends_the_call(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, short, call, fewest = CUT[name]
    for limit, value in short.items():
        monkeypatch.setattr(module, limit, value)
    looks = Looks(fewest)
    monkeypatch.setattr(module, "check", looks)
    with pytest.raises(KeyboardInterrupt):
        call()
    assert looks.count == fewest


@pytest.mark.parametrize("method", [ETANA, FETANA])
def test_a_classifier_that_was_interrupted_is_as_it_was(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table(3)
    classifier = method().fit(X, y) if method is ETANA else method(random_state=0, max_iterations=2).fit(X, y)
    before, answers = classifier.state_arrays(), classifier.predict(X)
    monkeypatch.setattr(grid, "SLICE", 1)
    for module in (grid, f_etana):
        monkeypatch.setattr(module, "check", Looks(2))
    with pytest.raises(KeyboardInterrupt):
        classifier.fit(X[:, ::-1], y)
    monkeypatch.undo()
    interrupts._came = 0
    after = classifier.state_arrays()
    assert before.keys() == after.keys()
    assert all(np.array_equal(before[key], after[key]) for key in before)
    assert np.array_equal(classifier.predict(X), answers)
