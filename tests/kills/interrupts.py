"""How long runs go on after Ctrl-C: while they wait for a pipe, compute, have workers, or hear nothing.

`python -m tests.kills.interrupts --times 5` prints for each case the seconds from the signal to the end of the process;
the exit code is 1 if one took more than a second, ended with another code than 130, or left a partial file behind.
Meaningful on a machine that has nothing else to do.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

LIMIT = 1.0  # seconds
DEAF = """
import hashlib
from streamsift.core import interrupts

interrupts.listen()
hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)  # half an hour in which Python hears nothing
"""


class Case(NamedTuple):
    """What runs: arguments of Python, and what comes through its standard input before nothing more does."""

    name: str
    arguments: tuple[str, ...]
    given: str = ""


def cases(folder: Path) -> list[Case]:
    """Stalled pipes, long kernels, workers, and a process that cannot hear."""
    rows = "a,b,label\n" + "".join(f"{i % 7},{i % 11},{'yes' if i % 2 else 'no'}\n" for i in range(20_000))
    long, out = str(folder / "long.npz"), str(folder / "out")
    made = []
    for verb in ("select", "compare"):
        reading = ("-m", "streamsift", verb, "-", "--target", "label", "-o", out)
        made += [Case(f"{verb}: a pipe that stalls", reading, rows), Case(f"{verb}: a pipe without a row", reading)]
    for method in ("osfs", "etana"):
        reading = ("-m", "streamsift", "select", "-", "--target", "label", "--method", method, "-o", out)
        made += [Case(f"{method}: a pipe that stalls", reading, rows)]
    for method in ("ofs_density", "ofs_a3m"):
        computing = ("-m", "streamsift", "select", long, "--target", "y", "--method", method, "-o", out)
        made.append(Case(f"{method}: computing", computing))
    jobs = ("-m", "streamsift", "compare", long, "--target", "y", "--methods", "ofs_density,ofs_a3m", "--jobs", "2")
    made.append(Case("compare --jobs 2: workers compute", (*jobs, "--repeats", "1", "-o", out)))
    made.append(Case("a library that does not listen", ("-c", DEAF)))
    return made


def seconds_to_end(case: Case, folder: Path, wait: float) -> tuple[float, str]:
    """The seconds from Ctrl-C, sent that long after the start, to the end; and what was wrong, if anything."""
    run = subprocess.Popen(
        [sys.executable, *case.arguments], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        cwd=folder, text=True, start_new_session=True,
    )  # fmt: skip
    assert run.stdin is not None
    try:
        with suppress(BrokenPipeError):
            run.stdin.write(case.given)
            run.stdin.flush()
        time.sleep(wait)
        if run.poll() is not None:
            return float("nan"), "it had ended before"
        sent = time.monotonic()
        run.send_signal(signal.SIGINT)
        run.wait(60)
        took = time.monotonic() - sent
    finally:
        with suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        with suppress(BrokenPipeError):
            run.stdin.close()
    left = [path.name for path in folder.rglob("*.partial*")]
    if run.returncode != 130:
        return took, f"exit code {run.returncode}"
    return took, f"left {left[0]}" if left else ""


def write_long(folder: Path) -> None:
    """34,000 rows of 118 columns, over which methods that compare all rows with all take hours."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 34_000)
    X = rng.normal(size=(34_000, 118)).astype(np.float32)
    X[:, ::10] += 2 * y[:, None]
    np.savez(folder / "long.npz", X=X, y=y)


def measured(times: int, say: Callable[[str], object], only: str = "", seed: int = 0) -> int:
    """Interrupt each case so often; returns how many of them broke the promise."""
    rng, broken = random.Random(seed), 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_long(folder)
        say("| case | times | seconds: median | longest | wrong |\n|---|---|---|---|---|")
        for case in cases(folder):
            if only not in case.name:
                continue
            found = [seconds_to_end(case, folder, rng.uniform(4.0, 8.0)) for _ in range(times)]
            took = [seconds for seconds, _ in found if seconds == seconds]
            wrong = sorted({words for _, words in found if words})
            broken += bool(wrong) or max(took, default=0.0) > LIMIT
            middle = statistics.median(took) if took else float("nan")
            say(
                f"| {case.name} | {times} | {middle:.2f} | {max(took, default=float('nan')):.2f} | {'; '.join(wrong)} |"
            )
    return broken


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kills.interrupts", description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=5, help="how often each case is interrupted (default 5)")
    parser.add_argument("--only", default="", help="only the cases whose name has this in it")
    options = parser.parse_args()
    broken = measured(options.times, _say, options.only)
    _say("Every run ended within a second." if not broken else f"{broken} cases broke the promise.")
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
