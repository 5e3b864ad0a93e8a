"""Runs side by side: outcomes, failures, processes that die, and an end that leaves none behind."""

from __future__ import annotations

import os
import time

import pytest
from tests.evaluate.failing_runs import divide, sleep

from streamsift.evaluate.workers import run_all


def outcomes(tasks, jobs, news=lambda task, fraction: None):
    found = {one.task: one for one in run_all(divide, 12.0, tasks, jobs, news)}
    assert len(found) == len(tasks)
    return found


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_raises_does_not_stop_the_others(jobs):
    news = []
    found = outcomes([4, 0, 3, 6], jobs, lambda task, fraction: news.append((task, fraction)))
    assert (found[4].result, found[6].result) == (3.0, 2.0)
    assert found[0].failure == "ZeroDivisionError: float division by zero"
    assert found[3].failure == "Three is refused: take four."
    assert {(task, 0.0) for task in (4, 0, 3, 6)} | {(4, 0.5), (6, 0.5), (0, 0.5)} == set(news)


def test_a_process_that_dies_is_replaced():
    found = outcomes([1, 4, 2, 6, 12], 2)
    assert "signal 9" in found[1].failure
    assert found[2].failure == "The process of this run ended."
    assert [found[task].result for task in (4, 6, 12)] == [3.0, 2.0, 1.0]


def test_closing_ends_the_processes(tmp_path):
    started = []

    def news(task, fraction):
        if fraction > 0:
            started.append(task)
            if len(started) == 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(run_all(sleep, str(tmp_path), ["a", "b"], 2, news))
    for task in started:
        pid = int((tmp_path / f"{task}.pid").read_text())
        for _ in range(50):
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                break
            time.sleep(0.1)
        else:
            pytest.fail("the process is still there")


def test_nothing_to_do_starts_no_process():
    assert list(run_all(divide, 1.0, [], 2, lambda task, fraction: None)) == []
