"""Memory of selectors and models: what is counted, and how seldom it is measured."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pytest

from streamsift import Screener
from streamsift.core.state import n_bytes
from streamsift.evaluate import memory
from streamsift.evaluate.memory import MemoryMeter, object_bytes, selector_bytes


class Slotted:
    __slots__ = ("weights",)

    def __init__(self) -> None:
        self.weights = np.zeros(1000)


class Plain:
    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


@pytest.mark.parametrize(
    "holder",
    [
        Plain(weights=np.zeros(1000)),
        Slotted(),
        [np.zeros(500), {"more": np.zeros(500)}],
        deque([(np.zeros(1000), 1)]),
        Plain(inner=Plain(inner=[np.zeros(1000)])),
        np.zeros(1000)[10:20],  # a view keeps what it looks into
    ],
)
def test_arrays_are_found_wherever_they_are(holder: Any) -> None:
    assert 8000 < object_bytes(holder) < 10_500


def test_what_is_held_twice_counts_once_and_circles_end() -> None:
    weights = np.zeros(1000)
    circle = Plain(one=weights, two=weights, code=np.linalg, function=len)
    circle.self = circle
    assert object_bytes(circle) < 10_000


def test_a_selector_counts_its_state() -> None:
    selector = Screener("fisher", n_features_to_select=2)
    assert selector_bytes(None) == selector_bytes(selector) == 0
    selector.partial_fit(np.eye(4), [0, 1, 0, 1])
    assert selector_bytes(selector) == n_bytes(selector.state_arrays())
    assert selector_bytes(Plain(weights=np.zeros(1000))) > 8000  # of somebody else's


def test_a_state_that_cannot_be_written_is_still_counted() -> None:
    from streamsift import ABFS
    from streamsift.drift import ADWIN

    selector = ABFS(detector=ADWIN())
    rng = np.random.default_rng(0)
    selector.partial_fit(rng.normal(size=(50, 4)), rng.integers(0, 2, 50))
    assert selector_bytes(selector) > 100


def test_measuring_takes_no_more_than_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, measured = [0.0], []

    def slow(model: Any) -> int:
        clock[0] += 1.0
        measured.append(model)
        return len(measured)

    monkeypatch.setattr(memory, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(memory, "object_bytes", slow)
    meter = MemoryMeter(None, "model")
    seconds_of_run = range(2500)
    found = [meter.read(float(seconds)) for seconds in seconds_of_run]
    assert len(measured) == 3  # a second each, a thousandth of 2,500 seconds, and the first
    assert found == sorted(found)
    assert meter.read(2500.0, anyway=True) == 4
