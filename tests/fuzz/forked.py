"""Run many inputs in a forked worker and count how they end; a worker that dies is replaced, its input remembered."""

from __future__ import annotations

import os
import resource
import select
import signal
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from streamsift.core.exceptions import StreamsiftError

One = Callable[[int, int, Path], str]


@dataclass(frozen=True)
class Limits:
    """What one input may take."""

    cpu_seconds: float = 10.0
    kilobytes: int = 1 << 20
    wall_seconds: float = 120.0  # the machine may be busy with other things


@dataclass
class Tally:
    """How often inputs ended in which way, and those that broke something: (number, what happened)."""

    counts: Counter[str] = field(default_factory=Counter)
    broken: list[tuple[int, str]] = field(default_factory=list)
    largest_kilobytes: int = 0

    @property
    def n_inputs(self) -> int:
        return sum(self.counts.values())

    def table(self) -> str:
        lines = [f"{self.n_inputs} inputs, at most {self.largest_kilobytes >> 10} MB in one process"]
        lines += [f"{count:8}  {how}" for how, count in self.counts.most_common()]
        lines += [f"input {number}: {what}" for number, what in self.broken[:40]]
        return "\n".join(lines) + "\n"


def run(
    one: One, limits: Limits, *, seed: int, seconds: float | None = None, n_inputs: int | None = None, first: int = 0
) -> Tally:
    """Run inputs first, first + 1, ... until the time is over or their number is reached."""
    tally, number = Tally(), first
    until = None if seconds is None else time.monotonic() + seconds
    last = None if n_inputs is None else first + n_inputs
    with tempfile.TemporaryDirectory() as folder:
        while (until is None or time.monotonic() < until) and (last is None or number < last):
            number = _one_worker(one, limits, seed, number, last, until, Path(folder), tally)
    return tally


def _one_worker(
    one: One, limits: Limits, seed: int, first: int, last: int | None, until: float | None, folder: Path, tally: Tally
) -> int:
    """Let one worker run until it dies or all is done; return the number of the next input."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _work(one, limits, seed, first, last, until, folder, writing)
    os.close(writing)
    number, said = first, b""
    hung = False
    while not hung:
        hung = not select.select([reading], [], [], limits.wall_seconds)[0]
        more = b"" if hung else os.read(reading, 1 << 16)
        if not more:
            break
        *lines, said = (said + more).split(b"\n")
        for line in lines:
            kilobytes, _, how = line.decode(errors="replace").partition(" ")
            _count(tally, number, how, int(kilobytes), limits)
            number += 1
    os.close(reading)
    if hung:
        os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        how = "too long" if hung or name == "SIGPROF" else f"signal {name}"
        tally.counts[how] += 1
        tally.broken.append((number, how))
        number += 1
    return number


def _count(tally: Tally, number: int, how: str, kilobytes: int, limits: Limits) -> None:
    tally.largest_kilobytes = max(tally.largest_kilobytes, kilobytes)
    if kilobytes > limits.kilobytes:
        how = f"! too much memory, then {how}"
    tally.counts[how.partition(":")[0]] += 1
    if how.startswith("!"):
        tally.broken.append((number, how[2:]))


def _work(
    one: One, limits: Limits, seed: int, first: int, last: int | None, until: float | None, folder: Path, writing: int
) -> None:
    """The worker: one line for each input, how many kilobytes were taken and how it ended."""
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        number = first
        while (last is None or number < last) and (until is None or time.monotonic() < until):
            signal.setitimer(signal.ITIMER_PROF, limits.cpu_seconds)  # ends the worker: compiled code asks nobody
            how = outcome(one, number, seed, folder)
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            os.write(writing, f"{kilobytes} {how}\n".encode(errors="replace"))
            number += 1
            if kilobytes > limits.kilobytes:
                break  # the mark would stay there for all inputs that follow
    finally:
        os._exit(0)


def outcome(one: One, number: int, seed: int, folder: Path) -> str:
    """A word for how an input ended; with a ! in front where it should not have ended like that."""
    try:
        return one(number, seed, folder)
    except StreamsiftError as error:
        lines = str(error).count("\n") + 1
        return f"refused {type(error).__name__}" if lines == 1 else f"! refused in {lines} lines: {error!r:.200}"
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is what is looked for
        where = traceback.extract_tb(error.__traceback__)[-1]
        inner = [f for f in traceback.extract_tb(error.__traceback__) if "streamsift" in f.filename][-1:] or [where]
        text = str(error).replace("\n", " ")
        return f"! {type(error).__name__}: {text:.200} ({Path(inner[0].filename).name}:{inner[0].lineno})"
