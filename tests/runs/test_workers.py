"""Runs side by side: outcomes, failures, processes that die, and an end that leaves none behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.comparison.failing_runs import divide, fail_after_an_interrupt, halve, note_and_wait, sleep

from streamsift.core.exceptions import StreamsiftError
from streamsift.runs.workers import map_all, run_all

ROOT = Path(__file__).parents[2]


def outcomes(tasks, jobs, progress=lambda task, fraction: None):
    found = {one.task: one for one in run_all(divide, 12.0, tasks, jobs, progress)}
    assert len(found) == len(tasks)
    return found


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_raises_does_not_stop_the_others(jobs):
    progress = []
    found = outcomes([4, 0, 3, 6], jobs, lambda task, fraction: progress.append((task, fraction)))
    assert (found[4].result, found[6].result) == (3.0, 2.0)
    assert found[0].failure == "ZeroDivisionError: float division by zero"
    assert found[3].failure == "Three is refused: take four."
    assert {(task, 0.0) for task in (4, 0, 3, 6)} | {(4, 0.5), (6, 0.5), (0, 0.5)} == set(progress)


def test_a_process_that_dies_is_replaced():
    found = outcomes([1, 4, 2, 6, 12], 2)
    assert "signal 9" in found[1].failure
    assert found[2].failure == "The process of this run ended."
    assert [found[task].result for task in (4, 6, 12)] == [3.0, 2.0, 1.0]


def test_closing_ends_the_processes(tmp_path):
    started = []

    def progress(task, fraction):
        if fraction > 0:
            started.append(task)
            if len(started) == 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(run_all(sleep, str(tmp_path), ["a", "b"], 2, progress))
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


def test_a_script_without_a_main_guard_is_told_of_it(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from streamsift.runs.workers import run_all\n"
        "from tests.comparison.failing_runs import divide\n"
        "for outcome in run_all(divide, 1, [4, 5], 2, lambda task, fraction: None):\n"
        "    print(outcome.failure)\n"
    )
    done = subprocess.run(
        [sys.executable, script],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.stdout.count("under `if __name__ == '__main__':`") == 2


def test_an_interrupt_is_not_taken_for_a_run_that_failed():
    with pytest.raises(KeyboardInterrupt):
        list(run_all(fail_after_an_interrupt, None, [1, 2], 1, lambda task, fraction: None))


def test_a_map_over_processes_gives_what_a_map_here_gives():
    assert list(map_all(abs, [-1, 2, -3], jobs=1)) == [1, 2, 3]
    assert sorted(map_all(abs, [-1, 2, -3], jobs=2)) == [1, 2, 3]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_map_raises_what_a_task_raised(jobs):
    with pytest.raises(StreamsiftError, match=r"^Three is refused: take four\.$"):
        list(map_all(halve, [4, 3], jobs))
    with pytest.raises(Exception, match="unsupported operand") as found:
        list(map_all(halve, [4, None], jobs))
    assert isinstance(found.value, TypeError) or "in halve" in str(found.value)  # the place is not lost
    assert not isinstance(found.value, StreamsiftError)


def test_leaving_a_map_ends_the_processes(tmp_path):
    tasks = [str(tmp_path / "a"), str(tmp_path / "b")]
    running = map_all(note_and_wait, [str(tmp_path / "first"), *tasks], 2)
    assert next(running) == "first"
    running.close()
    for pid in [int(path.read_text()) for path in tmp_path.iterdir() if path.read_text()]:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
