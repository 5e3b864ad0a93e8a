"""run_all and map_all: tasks one after the other in this process, or side by side in several.

    run_all   reports progress, and what came of each task: one that raises is reported and the others go on; so they do
              when a process dies under a task (out of memory), for which a new one is started
    map_all   yields results only, and raises what the first failing task has raised

Whoever closes the iterator, or is interrupted, ends the processes at once.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from time import monotonic
from types import ModuleType
from typing import Any, TypeVar

from streamsift.core.exceptions import StreamsiftError, TimeIsUpError, pass_interrupt_on
from streamsift.core.interrupts import check, time_limit

Task = TypeVar("Task")
Found = TypeVar("Found")

Function = Callable[[Any, Any, Callable[[float], None]], Any]
"""Called as function(shared, task, progress), where progress takes the fraction of the task that is done."""

Progress = Callable[[Any, float], None]


@dataclass(frozen=True)
class Outcome:
    """What came of a task: a result, or a sentence about what went wrong and the error to raise for it.

    A task that was stopped because its time was up has the error TimeIsUpError; `reached` is the fraction of it that
    was done by then.
    """

    task: Any
    result: Any
    failure: str | None
    error: Exception | None = None
    reached: float = 0.0

    @property
    def stopped(self) -> bool:
        return isinstance(self.error, TimeIsUpError)


def run_all(
    function: Function,
    shared: Any,
    tasks: Sequence[Any],
    jobs: int,
    progress: Progress,
    admit: Callable[[Any], bool] = lambda task: True,
    left: Callable[[Any], float] = lambda task: math.inf,
) -> Iterator[Outcome]:
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
    progress : callable
        Called with the task and the fraction done, 0.0 when it begins.
    admit : callable
        Asked just before a task would begin; one that is not admitted has no outcome.
    left : callable
        The seconds that a task may still take. One that takes longer is stopped: in this process at its next step,
        where it asks (`core.interrupts.check`), in another one at once.

    Yields
    ------
    Outcome

    Examples
    --------
    >>> from streamsift.runs.workers import run_all
    >>> outcomes = run_all(lambda base, task, progress: base // task, 12, [3, 0], 1, lambda task, fraction: None)
    >>> [outcome.failure or outcome.result for outcome in outcomes]
    [4, 'ZeroDivisionError: integer division or modulo by zero']
    """
    if jobs == 1:
        for task in tasks:
            check()
            if not admit(task):
                continue
            progress(task, 0.0)
            heard = _Heard(partial(progress, task))
            with time_limit(partial(left, task)):
                result, error = _attempt(function, shared, task, heard)
            yield Outcome(task, result, None if error is None else _words(error), error, heard.reached)
        return
    waiting = filter(admit, tasks)  # asks when the next one is wanted
    workers: list[_Worker] = []
    try:
        for task in islice(waiting, jobs):
            workers.append(_Worker(function, shared))
            workers[-1].begin(task, progress)
        while busy := [worker for worker in workers if worker.busy]:
            seconds = min(left(worker.task) for worker in busy)
            ready = wait([worker.pipe for worker in busy], None if seconds == math.inf else max(seconds, 0.0))
            check()
            for number, worker in enumerate(workers):
                if worker.pipe in ready:
                    outcome = worker.receive(progress)
                elif worker.busy and left(worker.task) <= 0.0:
                    outcome = worker.stop()
                else:
                    continue
                if outcome is None:
                    continue
                yield outcome
                if not worker.alive:
                    worker.end()
                    workers[number] = worker = _Worker(function, shared)
                for task in islice(waiting, 1):
                    worker.begin(task, progress)
    finally:
        for worker in workers:
            worker.end()


def timed(
    function: Function, shared: Any, tasks: Sequence[Any], seconds: float, in_all: float
) -> Iterator[tuple[Any, Any, float | None]]:
    """Run the function on every task in one other process, for so long at most; yield task, result and progress.

    The result is None where the function failed (progress is None then, too), or did not end in time: it is ended then,
    and the progress is what it reported last, 0.0 for nothing. The time that a process needs to start is not counted.
    Nothing begins, and nothing goes on, once `in_all` seconds have passed, starts of processes included: tasks that had
    no chance are not in it. Where no process can be started, because what is shared cannot be sent, there are no
    results. The process does not import the caller's script, which therefore need not be guarded against that.
    """
    worker, end = None, monotonic() + in_all
    try:
        for task in tasks:
            check()
            if worker is None or not worker.alive:
                worker = _started(function, shared, end - monotonic())
                if worker is None:
                    return
            left = end - monotonic()
            outcome, reached = worker.wait_for(task, min(seconds, left))
            if outcome is None:
                if left < seconds:
                    return
                worker.end()
                worker = None
                yield task, None, reached
            else:
                yield task, outcome.result, reached if outcome.failure is None else None
    finally:
        if worker is not None:
            worker.end()


def _started(function: Function, shared: Any, seconds: float) -> _Worker | None:
    """A process that has imported what it needs; None where that fails, or takes too long."""
    try:
        ForkingPickler.dumps((function, shared))
    except Exception as error:  # noqa: BLE001 - what is shared cannot be sent, for whatever reason
        pass_interrupt_on(error)
        return None
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")  # so that the process does not import it
    try:
        worker = _Worker(_ready, (function, shared))
    finally:
        sys.modules["__main__"] = main
    outcome, _ = worker.wait_for(None, seconds)
    if outcome is None or outcome.failure is not None:
        worker.end()
        return None
    return worker


def _ready(shared: tuple[Function, Any], task: Any, progress: Callable[[float], None]) -> Any:
    """Answers None at once, which says that the process has started."""
    function, rest = shared
    return None if task is None else function(rest, task, progress)


def map_all(function: Callable[[Task], Found], tasks: Sequence[Task], jobs: int) -> Iterator[Found]:
    """Yield what the function makes of every task, as it comes.

    Parameters
    ----------
    function : callable
        Of a module, where jobs > 1: the processes import it. The tasks are sent to them.
    tasks : sequence
        One call of the function each, begun in this order.
    jobs : int
        Processes; 1 is this one.

    Raises
    ------
    Exception
        What the first failing task has raised; from another process, StreamsiftError with the same words, or
        RuntimeError with the traceback.

    Examples
    --------
    >>> from streamsift.runs.workers import map_all
    >>> list(map_all(abs, [-1, 2, -3], jobs=1))
    [1, 2, 3]
    """
    for outcome in run_all(_call, function, tasks, jobs, lambda task, fraction: None):
        if outcome.error is not None:
            raise outcome.error
        yield outcome.result


def _call(function: Callable[[Task], Found], task: Task, progress: Callable[[float], None]) -> Found:
    return function(task)


class _Worker:
    """A process that takes one task after the other; what it says comes through a pipe."""

    def __init__(self, function: Function, shared: Any) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs,), daemon=True)
        with _deaf():
            self._process.start()
        theirs.close()  # so that the end of the process is the end of the pipe
        with suppress(OSError):  # it died at once: the first `receive` says so
            self.pipe.send((function, shared))
        self.task: Any = None
        self.busy, self.alive = False, True
        self.said: Outcome | None = None
        self.reached = 0.0

    def begin(self, task: Any, progress: Progress) -> None:
        self.task, self.busy, self.reached = task, True, 0.0
        with suppress(OSError):  # it died just now: the next `receive` says so
            self.pipe.send(task)
        progress(task, 0.0)

    def receive(self, progress: Progress) -> Outcome | None:
        """The outcome of the task, or None where it was only progress."""
        try:
            said = self.pipe.recv()
        except (EOFError, OSError):
            self._process.join()
            self.busy = self.alive = False
            code = self._process.exitcode
            reason = f"was ended by signal {-code}, perhaps for want of memory" if code and code < 0 else "ended"
            if code == 1:  # what a run raises is caught, so this is the import of what the process needs
                reason = "could not start: call what uses several processes under `if __name__ == '__main__':`"
            failure = f"The process of this run {reason}."
            return Outcome(self.task, None, failure, StreamsiftError(failure))
        if isinstance(said, float):
            self.reached = said
            progress(self.task, said)
            return None
        self.busy = False
        result, failure, where = said
        if failure is None:
            return Outcome(self.task, result, None)
        error = StreamsiftError(failure) if where is None else RuntimeError(f"{failure}\n{where}")
        return Outcome(self.task, None, failure, error)

    def stop(self) -> Outcome:
        """End the process, because the time of its task is up."""
        self._process.terminate()
        self._process.join()
        self.busy = self.alive = False
        error = TimeIsUpError("The time for this run is up.")
        return Outcome(self.task, None, str(error), error, self.reached)

    def wait(self, seconds: float) -> None:
        """Take one message, a report of progress or the outcome, if one comes in time."""
        if wait([self.pipe], seconds):
            self.said = self.receive(lambda task, progress: None)

    def wait_for(self, task: Any, seconds: float) -> tuple[Outcome | None, float]:
        """Do a task; its outcome, None where it takes longer, and the last it reported."""
        self.begin(task, lambda task, progress: None)
        end = monotonic() + seconds
        while self.busy:
            check()
            left = end - monotonic()
            if left <= 0.0:
                return None, self.reached
            self.wait(min(left, 0.5))
        return self.said, self.reached

    def end(self) -> None:
        self._process.terminate()
        self._process.join()
        self.pipe.close()


@contextmanager
def _deaf() -> Iterator[None]:
    """Processes that are started here never hear Ctrl-C, not even while they start; it reaches this one afterwards."""
    if not hasattr(signal, "pthread_sigmask"):  # not on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker() -> None:
    """The first thing a process among several does, before it imports what computes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which ends the workers
    for library in ("NUMBA", "OMP", "OPENBLAS"):
        os.environ[f"{library}_NUM_THREADS"] = "1"  # the runs share the cores already
    warnings.filterwarnings("ignore", "Kernels cannot be cached")  # the parent has said it


def _work(pipe: Connection) -> None:
    _start_worker()
    with suppress(EOFError, BrokenPipeError):  # the parent is gone
        function, shared = pipe.recv()  # imports what it needs, so only now that the number of threads is said
        while True:
            result, error = _attempt(function, shared, pipe.recv(), pipe.send)
            pipe.send((result, None, None) if error is None else (None, _words(error), _where(error)))


class _Heard:
    """Progress that is passed on and remembered."""

    def __init__(self, progress: Callable[[float], None]) -> None:
        self._progress, self.reached = progress, 0.0

    def __call__(self, fraction: float) -> None:
        self.reached = fraction
        self._progress(fraction)


def _attempt(
    function: Function, shared: Any, task: Any, progress: Callable[[float], None]
) -> tuple[Any, Exception | None]:
    try:
        return function(shared, task, progress), None
    except Exception as error:  # noqa: BLE001 - one task that fails must not take the others with it
        pass_interrupt_on(error)
        return None, error


def _words(error: Exception) -> str:
    return str(error) if isinstance(error, StreamsiftError) else f"{type(error).__name__}: {error}"


def _where(error: Exception) -> str | None:
    """The traceback of an error nobody expected; an error itself may not survive the way to another process."""
    return None if isinstance(error, StreamsiftError) else "".join(traceback.format_exception(error))
