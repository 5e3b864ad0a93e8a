"""Cases run in forked workers with limits; a worker that dies is replaced, and its case is what killed it."""

from __future__ import annotations

import gc
import os
import resource
import select
import signal
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

CPU_SECONDS = 10.0
WALL_SECONDS = 120.0  # for a worker that waits instead of working
MEMORY = 6 << 30
CHUNK = 2000  # cases of one worker


def run_cases(run: Callable[[Any], str], cases: Sequence[Any]) -> Iterator[tuple[int, str]]:
    """The outcome of each case: what `run` returns, or how it ended the worker ("signal ...", "time-out", "died")."""
    done = 0
    while done < len(cases):
        reader, writer = os.pipe()
        worker = os.fork()
        if worker == 0:
            os.close(reader)
            _work(run, cases, range(done, min(done + CHUNK, len(cases))), writer)
        os.close(writer)
        with os.fdopen(reader, "rb", buffering=0) as pipe:
            last = min(done + CHUNK, len(cases))
            while done < last:
                outcome = _next(pipe.fileno())
                if outcome is None:
                    yield done, _end_of(worker)
                    worker = 0
                    done += 1
                    break
                yield done, outcome
                done += 1
        if worker:
            os.waitpid(worker, 0)


def _work(run: Callable[[Any], str], cases: Sequence[Any], places: range, writer: int) -> None:
    """The life of a worker; it never returns."""
    try:
        gc.disable()
        silent = os.open(os.devnull, os.O_RDWR)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the worker, also within a kernel
        for place in places:
            signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
            outcome = run(cases[place]).encode()
            os.write(writer, struct.pack("I", len(outcome)) + outcome)
    finally:
        os._exit(0)


def _next(pipe: int) -> str | None:
    """The next outcome from a worker, or None if there will be none."""
    head = _read(pipe, 4)
    body = None if head is None else _read(pipe, struct.unpack("I", head)[0])
    return None if body is None else body.decode()


def _read(pipe: int, n_bytes: int) -> bytes | None:
    found, end = b"", time.monotonic() + WALL_SECONDS
    while len(found) < n_bytes:
        if not select.select([pipe], [], [], max(end - time.monotonic(), 0.0))[0]:
            return None
        more = os.read(pipe, n_bytes - len(found))
        if not more:
            return None
        found += more
    return found


def _end_of(worker: int) -> str:
    """Why a worker gives no more answers; it is ended if it still runs."""
    for _ in range(100):
        ended, status = os.waitpid(worker, os.WNOHANG)
        if ended:
            break
        time.sleep(0.01)
    else:
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)
        return "time-out"
    if not os.WIFSIGNALED(status):
        return "died"
    name = signal.Signals(os.WTERMSIG(status)).name
    return "time-out" if name == "SIGPROF" else f"signal {name}"
