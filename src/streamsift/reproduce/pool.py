"""pool_map: a `map` over runs, in this process or over several."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from streamsift.comparison.workers import start_worker

Task = TypeVar("Task")
Found = TypeVar("Found")


@contextmanager
def pool_map(jobs: int, function: Callable[[Task], Found]) -> Iterator[Callable[[Iterable[Task]], Iterator[Found]]]:
    """A `map` of the function, in any order; the processes are ended at once when the caller is interrupted."""
    if jobs == 1:
        yield lambda tasks: map(function, tasks)
        return
    with multiprocessing.get_context("spawn").Pool(jobs, start_worker) as pool:
        yield lambda tasks: pool.imap_unordered(function, tasks)
