"""Ctrl-C, and the request to end (SIGTERM), that do not get lost.

Python raises KeyboardInterrupt in whatever runs when the signal comes. Where that is a finalizer, or foreign code that
drops every exception, nobody hears of it and the work goes on. So the command line remembers the signal (`listen`), and
loops that may take long ask at each step (`check`). Without `listen`, as in a notebook, `check` does nothing.
The same question ends work that was given a limited time (`time_limit`).

Python hears of a signal only between two of its own steps. Long kernels are therefore called in slices; for the rest
(a file that is opened and never answers, a library that computes for minutes) a thread waits beside the work: if the
signal has not been heard after `PATIENCE` seconds, it does what is to be done at last (`last_act`), removes what must
not be left behind (`leaves_behind`), ends the workers and then the process.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from streamsift.core.exceptions import TimeIsUpError

PATIENCE = 0.7  # seconds between a signal and the end of a process that does not hear it
_ASKING = 0.05  # seconds between two looks whether it was heard
_SHOW_CURSOR = "\x1b[?25h"  # a live view hides it

_came = 0  # the signal that came, or 0
_heard = False  # whether Python's own handler has run since the watch began to wait
_leftovers: set[Path] = set()
_limits = threading.local()  # .left: tells the seconds left for the work of a thread, if it has a limit
_last_acts: list[Callable[[], None]] = []


def listen() -> None:
    """Answer Ctrl-C and SIGTERM with KeyboardInterrupt, and remember them; only the main thread may call this."""
    signal.signal(signal.SIGINT, _note)
    signal.signal(signal.SIGTERM, _note)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reading,), name="interrupts", daemon=True).start()


def check() -> None:
    """Raise KeyboardInterrupt if there has been a signal, and TimeIsUpError if the time of this work is up."""
    if _came:
        raise KeyboardInterrupt
    left = getattr(_limits, "left", None)
    if left is not None and left() <= 0.0:
        raise TimeIsUpError("The time for this work is up.")


@contextmanager
def time_limit(left: Callable[[], float]) -> Iterator[None]:
    """Let `check` raise TimeIsUpError once no seconds are left, in this thread and this block.

    >>> with time_limit(lambda: 0.0):
    ...     check()
    Traceback (most recent call last):
        ...
    streamsift.core.exceptions.TimeIsUpError: The time for this work is up.
    """
    before = getattr(_limits, "left", None)
    _limits.left = left
    try:
        yield
    finally:
        _limits.left = before


def exit_code() -> int:
    """What a process that was interrupted ends with: 130 after Ctrl-C, 143 after SIGTERM."""
    return 128 + (_came or signal.SIGINT)


def leaves_behind(path: Path) -> None:
    """Have a file or folder removed if the process must be ended while it does not listen."""
    _leftovers.add(path)


def has_cleared(path: Path) -> None:
    """The file or folder is gone, or is to stay."""
    _leftovers.discard(path)


@contextmanager
def last_act(act: Callable[[], None]) -> Iterator[None]:
    """Have something done, from another thread, if the process must be ended in this block while it does not listen."""
    _last_acts.append(act)
    try:
        yield
    finally:
        _last_acts.remove(act)


def _note(number: int, _frame: Any) -> None:
    global _came, _heard
    _came, _heard = number, True
    raise KeyboardInterrupt


def _watch(pipe: int) -> None:
    """Wait for signals; end the process if one is not heard in time."""
    global _heard
    while True:
        number = max((n for n in os.read(pipe, 512) if n in (signal.SIGINT, signal.SIGTERM)), default=0)
        if not number:
            continue
        latest = time.monotonic() + PATIENCE
        while not _heard and time.monotonic() < latest:
            time.sleep(_ASKING)
        if not _heard:
            _end(128 + number)
        _heard = False
        os.set_blocking(pipe, False)
        with suppress(BlockingIOError):  # of a signal that was heard together with this one
            os.read(pipe, 512)
        os.set_blocking(pipe, True)


def _end(code: int) -> None:
    """Remove what must not stay, and end the workers and this process, whose main thread is busy."""
    workers = sys.modules.get("multiprocessing.process")  # where it was never imported, there are none
    for worker in [] if workers is None else workers.active_children():
        worker.kill()
    for act in tuple(_last_acts):
        with suppress(Exception):
            act()
    for path in tuple(_leftovers):
        with suppress(OSError):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    with suppress(OSError, ValueError):
        sys.stderr.write((_SHOW_CURSOR if sys.stderr.isatty() else "") + "Interrupted.\n")
        sys.stderr.flush()
    os._exit(code)
