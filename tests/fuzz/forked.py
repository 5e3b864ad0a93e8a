"""Run many inputs in a forked worker and count how they end; a worker that dies is replaced, its input remembered.

A worker lives for thousands of inputs, so that an input costs no start of Python: what it takes of processor time is
watched by a timer that ends the worker also within compiled code, what it takes of memory by the high-water mark of the
process, and a limit of the address space keeps one input from taking the machine.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import resource
import select
import signal
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from streamsift.core.exceptions import StreamsiftError
from tests.fuzz.tally import DIFFERS, REFUSED, SIGNAL, TOO_LONG, TOO_MUCH, UNEXPECTED, Outcome, Tally

Use = Callable[[Path], str]  # uses an input in a folder of its own; returns how it ended: one of `tally.COLUMNS`
Make = Callable[[int, int], tuple[str, Use]]  # (number, seed) -> of what kind the input is, and how it is used

_MEMORY_FILES = Path("/dev/shm")  # files that never reach a disk


class DifferenceError(Exception):
    """What was read is not what a reference parser reads."""


@dataclass(frozen=True)
class Limits:
    """What one input may take, and after how many inputs a worker is replaced by a fresh one."""

    cpu_seconds: float = 10.0
    kilobytes: int = 1 << 20
    wall_seconds: float = 120.0  # the machine may be busy with other things
    address_bytes: int = 8 << 30  # beyond what is in use when the worker begins
    inputs_per_worker: int = 20_000


@dataclass(frozen=True)
class Span:
    """The inputs to run: those with the numbers from `first` on, until the last, or until the time is over."""

    seed: int
    first: int = 0
    last: int | None = None
    until: float | None = None  # of time.monotonic()

    def holds(self, number: int) -> bool:
        """Whether an input is still to be run."""
        return (self.last is None or number < self.last) and (self.until is None or time.monotonic() < self.until)


def run(
    make: Make,
    limits: Limits | None = None,
    *,
    seed: int,
    seconds: float | None = None,
    n_inputs: int | None = None,
    first: int = 0,
    heard: Callable[[Tally], None] = lambda _: None,
) -> Tally:
    """Run inputs first, first + 1, ... until the time is over or their number is reached.

    `heard` is called very often with what is known so far.
    """
    limits, tally = limits or Limits(), Tally()
    until = None if seconds is None else time.monotonic() + seconds
    span = Span(seed, first, None if n_inputs is None else first + n_inputs, until)
    place = _MEMORY_FILES if os.access(_MEMORY_FILES, os.W_OK) else None
    gc.collect()
    gc.freeze()  # what is there now is neither looked through nor copied by the workers
    try:
        with tempfile.TemporaryDirectory(dir=place) as folder:
            number = first
            while span.holds(number):
                number = _one_worker(make, limits, span, number, Path(folder), tally, heard)
    finally:
        gc.unfreeze()
    return tally


def _one_worker(
    make: Make, limits: Limits, span: Span, first: int, folder: Path, tally: Tally, heard: Callable[[Tally], None]
) -> int:
    """Let one worker run until it dies or has done its share; return the number of the next input."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _work(make, limits, span, first, folder, writing)
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
            tally.add(number, _told(line, limits))
            number += 1
        heard(tally)
    os.close(reading)
    if hung:
        os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        how = TOO_LONG if hung or name == "SIGPROF" else SIGNAL
        tally.add(number, Outcome(make(number, span.seed)[0], how, name))
        number += 1
    elif os.WEXITSTATUS(status):  # an input that calls os._exit
        tally.add(number, Outcome(make(number, span.seed)[0], UNEXPECTED, f"ended the process with {status >> 8}"))
        number += 1
    return number


def _told(line: bytes, limits: Limits) -> Outcome:
    kilobytes, kind, how, detail = line.decode(errors="replace").split("\t", 3)
    if int(kilobytes) > limits.kilobytes:
        return Outcome(kind, TOO_MUCH, f"{how} {detail}", int(kilobytes))
    return Outcome(kind, how, detail, int(kilobytes))


def _work(make: Make, limits: Limits, span: Span, first: int, folder: Path, writing: int) -> None:
    """The worker: one line for each input, how many kilobytes were taken and how it ended. It never returns."""
    at_first = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # a fork begins with what its parent had
    code = 1
    try:
        in_use = _confine(limits)
        number = first
        while span.holds(number) and number < first + limits.inputs_per_worker:
            signal.setitimer(signal.ITIMER_PROF, limits.cpu_seconds)  # ends the worker: compiled code asks nobody
            kind, use = make(number, span.seed)
            how, detail = outcome(use, folder)
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - at_first
            os.write(writing, f"{kilobytes}\t{kind}\t{how}\t{detail}\n".encode(errors="replace"))
            number += 1
            if kilobytes > limits.kilobytes or 2 * (_address_bytes() - in_use) > limits.address_bytes:
                break  # the mark would stay there for all inputs that follow, and they lack what is not given back
        code = 0
    finally:
        os._exit(code)


def _confine(limits: Limits) -> int:
    """Set the limits; the addresses that are in use before the first input are returned, in bytes."""
    faulthandler.disable()  # a signal is counted, not told
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    in_use = _address_bytes()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + limits.address_bytes,) * 2)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    return in_use


def _address_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def outcome(use: Use, folder: Path) -> tuple[str, str]:
    """How an input ended, and in which words where it should not have ended like that."""
    try:
        return use(folder), ""
    except StreamsiftError as error:
        lines = str(error).count("\n") + 1
        return (REFUSED, "") if lines == 1 else (UNEXPECTED, f"refused in {lines} lines: {error!r:.200}")
    except DifferenceError as error:
        return DIFFERS, " ".join(str(error).split())[:300]
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is what is looked for
        where = traceback.extract_tb(error.__traceback__)
        inner = [frame for frame in where if "streamsift" in frame.filename][-1:] or where[-1:]
        text = " ".join(str(error).split())
        return UNEXPECTED, f"{type(error).__name__}: {text:.200} ({Path(inner[0].filename).name}:{inner[0].lineno})"
