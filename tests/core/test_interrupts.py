"""A Ctrl-C that a finalizer or foreign code drops is raised again by the next loop that asks."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from streamsift import Screener
from streamsift.core import interrupts
from streamsift.evaluate.prequential import prequential
from streamsift.runs.rows import follow_rows
from streamsift.runs.workers import run_all
from streamsift.streams import open_stream


@pytest.fixture
def dropped(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The signal has come, and what it raised was dropped."""
    monkeypatch.setattr(interrupts, "_came", 0)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    interrupts.listen()
    with suppress(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
    yield
    signal.set_wakeup_fd(-1)
    for number, handler in before.items():
        signal.signal(number, handler)


def stream() -> Any:
    rng = np.random.default_rng(0)
    return open_stream((rng.normal(size=(400, 3)), rng.integers(0, 2, 400)))


def follow_all() -> list[Any]:
    return list(follow_rows(stream(), Screener("fisher"), 100))


def judge() -> Any:
    return prequential(stream(), Screener("fisher"), "perceptron")


def work() -> list[Any]:
    return list(run_all(lambda base, task, progress: base + task, 1, [1, 2], 1, lambda task, fraction: None))


@pytest.mark.parametrize("loop", [follow_all, judge, work])
@pytest.mark.usefixtures("dropped")
def test_loops_end_at_the_next_step(loop: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        loop()


@pytest.mark.parametrize("loop", [follow_all, judge, work])
def test_without_a_signal_they_go_on(loop: Any) -> None:
    assert len(loop()) > 1
