"""Kill drivers of Spark Structured Streaming with SIGKILL, follow on, and compare the state with an undisturbed run.

`python -m tests.kills.spark --times 20 --seed 1`: half of the drivers die at a random moment, the others just before or
just after the state of a random micro-batch is written. The exit code is 1 if any state differs.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from streamsift import load
from tests.kills.spark_driver import started, write_source

METHODS = ("screen:fisher", "fires")  # learnt on the executors, and on the driver
GIVE_UP = 3000.0  # seconds


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kills.spark", description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=20, help="how often drivers are killed, all methods together")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing new after so many seconds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--files", type=int, default=12, help="micro-batches of a run")
    options = parser.parse_args()
    rng, latest = random.Random(options.seed), time.monotonic() + options.seconds
    tally, differ, n_runs = Counter[str](), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "rows"
        write_source(source, options.files, 200)
        calm = {method: _undisturbed(source, Path(folder) / method.replace(":", " "), method) for method in METHODS}
        while tally.total() < options.times and time.monotonic() < latest:
            method = METHODS[n_runs % len(METHODS)]
            checkpoint = Path(folder) / f"killed {n_runs}"
            most = min(rng.randint(1, 4), options.times - tally.total())
            tally += _killed(rng, source, checkpoint, method, most, calm[method][1], options.files)
            differ += not _same(_state(source, checkpoint, method), calm[method][0])
            n_runs += 1
    for words, count in tally.most_common():
        sys.stdout.write(f"{count:5}  {words}\n")
    sys.stdout.write(f"{tally.total()} kills, {n_runs} runs resumed to the end, {differ} of them differ\n")
    return 1 if differ else 0


def _undisturbed(source: Path, checkpoint: Path, method: str) -> tuple[dict[str, np.ndarray], float]:
    """The state, and the seconds from the beginning of the stream to the end."""
    driver = started(source, checkpoint, method)
    _following(driver)
    began = time.monotonic()
    _end(driver)
    return load(checkpoint / "state.streamsift").state_arrays(), time.monotonic() - began


def _end(driver: subprocess.Popen[str]) -> None:
    """Wait for a driver that nobody kills."""
    try:
        assert driver.wait(GIVE_UP) == 0
    finally:
        if driver.returncode is None:
            os.killpg(driver.pid, signal.SIGKILL)


def _following(driver: subprocess.Popen[str]) -> None:
    assert driver.stdout is not None
    with driver.stdout:
        assert driver.stdout.readline() == "following\n"


def _killed(
    rng: random.Random, source: Path, checkpoint: Path, method: str, most: int, seconds: float, n_files: int
) -> Counter[str]:
    """Up to so many drivers that die, one after the other; how they did."""
    tally = Counter[str]()
    for _ in range(most):
        when = rng.choice(("random", "random", "before", "after"))
        death = () if when == "random" else (when, rng.randrange(_next(checkpoint), n_files))
        driver = started(source, checkpoint, method, *death)
        _following(driver)
        try:
            driver.wait(rng.uniform(0.0, seconds) if when == "random" else GIVE_UP)
        except subprocess.TimeoutExpired:
            os.killpg(driver.pid, signal.SIGKILL)
        if driver.wait() == 0:
            break  # it ended before its time had come
        assert driver.returncode == -signal.SIGKILL
        where = "at a random moment" if when == "random" else f"just {when} the state was written"
        tally[f"killed {where}"] += 1
        if _next(checkpoint) == n_files:
            break
    return tally


def _next(checkpoint: Path) -> int:
    """The micro-batch that the state lacks."""
    from streamsift.persist import read_section

    path = checkpoint / "state.streamsift"
    section = read_section(path, "position") if path.exists() else None
    return 0 if section is None else section.facts["batch"] + 1


def _state(source: Path, checkpoint: Path, method: str) -> dict[str, np.ndarray]:
    driver = started(source, checkpoint, method)
    _following(driver)
    _end(driver)
    return load(checkpoint / "state.streamsift").state_arrays()


def _same(found: dict[str, np.ndarray], calm: dict[str, np.ndarray]) -> bool:
    """Whether two states are the same to the last bit."""
    return found.keys() == calm.keys() and all(
        array.dtype == calm[name].dtype and np.array_equal(array, calm[name], equal_nan=array.dtype.kind == "f")
        for name, array in found.items()
    )


if __name__ == "__main__":
    sys.exit(main())
