"""run_all: runs one after the other in this process, or side by side in several, with news about each on the way.

A run that raises is reported and the others go on; so they do when a process dies under a run (out of memory), for
which a new one is started. Whoever closes the iterator, or is interrupted, ends the processes at once.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import Any

from streamsift.core.exceptions import StreamsiftError, pass_interrupt_on
from streamsift.core.interrupts import check

Function = Callable[[Any, Any, Callable[[float], None]], Any]
"""Called as function(shared, task, news), where news takes the fraction of the run that is done."""

News = Callable[[Any, float], None]


@dataclass(frozen=True)
class Outcome:
    """What came of a task: a result, or a sentence about what went wrong."""

    task: Any
    result: Any
    failure: str | None


def run_all(function: Function, shared: Any, tasks: Sequence[Any], jobs: int, news: News) -> Iterator[Outcome]:
    """Run the function on every task and yield the outcomes as they come.

    Parameters
    ----------
    function : callable
        Of a module, where jobs > 1: the processes import it. Likewise `shared` and the tasks are sent to them.
    shared : object
        What all tasks have in common; sent to each process once.
    tasks : sequence
        One call of the function each, begun in this order.
    jobs : int
        Processes; 1 is this one.
    news : callable
        Told the task and the fraction done, 0.0 when it begins.

    Yields
    ------
    Outcome

    Examples
    --------
    >>> from streamsift.comparison.workers import run_all
    >>> outcomes = run_all(lambda base, task, news: base // task, 12, [3, 0], 1, lambda task, fraction: None)
    >>> [outcome.failure or outcome.result for outcome in outcomes]
    [4, 'ZeroDivisionError: integer division or modulo by zero']
    """
    if jobs == 1:
        for task in tasks:
            check()
            news(task, 0.0)
            yield Outcome(task, *_attempt(function, shared, task, partial(news, task)))
        return
    waiting, workers = list(reversed(tasks)), [_Worker(function, shared) for _ in range(min(jobs, len(tasks)))]
    try:
        for worker in workers:
            worker.begin(waiting.pop(), news)
        while busy := [worker for worker in workers if worker.busy]:
            ready = wait([worker.pipe for worker in busy])
            check()
            for place, worker in enumerate(workers):
                if worker.pipe not in ready:
                    continue
                outcome = worker.receive(news)
                if outcome is None:
                    continue
                yield outcome
                if not worker.alive:
                    worker.end()
                    workers[place] = worker = _Worker(function, shared)
                if waiting:
                    worker.begin(waiting.pop(), news)
    finally:
        for worker in workers:
            worker.end()


class _Worker:
    """A process that takes one task after the other; what it says comes through a pipe."""

    def __init__(self, function: Function, shared: Any) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()  # so that the end of the process is the end of the pipe
        with suppress(OSError):  # it died at once: the first `receive` says so
            self.pipe.send((function, shared))
        self._task: Any = None
        self.busy, self.alive = False, True

    def begin(self, task: Any, news: News) -> None:
        self._task, self.busy = task, True
        with suppress(OSError):  # it died just now: the next `receive` says so
            self.pipe.send(task)
        news(task, 0.0)

    def receive(self, news: News) -> Outcome | None:
        """The outcome of the task, or None where it was news on the way."""
        try:
            said = self.pipe.recv()
        except (EOFError, OSError):
            self._process.join()
            self.busy = self.alive = False
            code = self._process.exitcode
            reason = f"was ended by signal {-code}, perhaps for want of memory" if code and code < 0 else "ended"
            if code == 1:  # what a run raises is caught, so this is the import of what the process needs
                reason = "could not start: call what uses several processes under `if __name__ == '__main__':`"
            return Outcome(self._task, None, f"The process of this run {reason}.")
        if isinstance(said, float):
            news(self._task, said)
            return None
        self.busy = False
        return Outcome(self._task, *said)

    def end(self) -> None:
        self._process.terminate()
        self._process.join()
        self.pipe.close()


def start_worker() -> None:
    """The first thing a process among several should do, before it imports what computes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which ends the workers
    for library in ("NUMBA", "OMP", "OPENBLAS"):
        os.environ[f"{library}_NUM_THREADS"] = "1"  # the runs share the cores already


def _work(pipe: Connection) -> None:
    start_worker()
    with suppress(EOFError, BrokenPipeError):  # the parent is gone
        function, shared = pipe.recv()  # imports what it needs, so only now that the number of threads is said
        while True:
            pipe.send(_attempt(function, shared, pipe.recv(), pipe.send))


def _attempt(function: Function, shared: Any, task: Any, news: Callable[[float], None]) -> tuple[Any, str | None]:
    try:
        return function(shared, task, news), None
    except Exception as error:  # noqa: BLE001 - one run that fails must not take the others with it
        pass_interrupt_on(error)
        return None, str(error) if isinstance(error, StreamsiftError) else f"{type(error).__name__}: {error}"
