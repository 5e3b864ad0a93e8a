"""The engine that every machine has: several processes of this one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from streamsift.engines.work import Job, by_fan, learn, merge
from streamsift.runs.workers import run_all

TRIES = 3  # of a task whose process dies


class LocalEngine:
    """Parts are learnt and states are merged by processes on this machine."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs

    def fold(self, job: Job, parts: Sequence[Any], progress: Callable[[float], None]) -> bytes:
        """The merged state of all parts."""
        shown = _Progress(len(parts), progress)
        states = self._map(_learn, job, list(enumerate(parts)), shown)
        while len(states) > 1:
            states = self._map(_merge, None, list(enumerate(by_fan(states))), None)
        state: bytes = states[0]
        return state

    def call(
        self, function: Callable[[Any, Any], Any], shared: Any, tasks: Sequence[Any], progress: Callable[[float], None]
    ) -> list[Any]:
        """What a function of a module makes of each task, in their order."""
        numbered = [(number, (function, task)) for number, task in enumerate(tasks)]
        return self._map(_call, shared, numbered, _Progress(len(tasks), progress))

    def _map(self, function: Any, shared: Any, tasks: list[tuple[int, Any]], shown: _Progress | None) -> list[Any]:
        results: dict[int, Any] = {}
        for _ in range(TRIES):
            left = [task for task in tasks if task[0] not in results]
            for outcome in self._outcomes(function, shared, left, shown):
                if outcome.error is None:
                    results[outcome.task[0]] = outcome.result
                elif not _died(outcome):
                    raise outcome.error
                lost = outcome
            if len(results) == len(tasks):
                return [results[number] for number in range(len(tasks))]
        raise lost.error

    def _outcomes(self, function: Any, shared: Any, tasks: list[Any], shown: _Progress | None) -> Iterator[Any]:
        def note(task: tuple[int, Any], fraction: float) -> None:
            if shown is not None:
                shown.note(task[0], fraction)

        for outcome in run_all(function, shared, tasks, min(self.jobs, len(tasks)), note):
            if shown is not None and outcome.error is None:
                shown.note(outcome.task[0], 1.0)
            yield outcome


class _Progress:
    """The fraction of all parts that is done."""

    def __init__(self, count: int, show: Callable[[float], None]) -> None:
        self._done, self._show = [0.0] * count, show

    def note(self, number: int, fraction: float) -> None:
        self._done[number] = fraction
        self._show(sum(self._done) / len(self._done))


def _died(outcome: Any) -> bool:
    return outcome.failure is not None and outcome.failure.startswith("The process of this run was ended by signal")


def _learn(job: Job, task: tuple[int, Any], progress: Callable[[float], None]) -> bytes:
    return learn(job, task[1], progress)


def _merge(_: None, task: tuple[int, list[bytes]], progress: Callable[[float], None]) -> bytes:
    return merge(task[1])


def _call(shared: Any, task: tuple[int, tuple[Any, Any]], progress: Callable[[float], None]) -> Any:
    function, item = task[1]
    return function(shared, item)
