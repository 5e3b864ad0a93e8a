"""Functions for run_all that go wrong; in a module of their own, so that other processes can import them."""

from __future__ import annotations

import os
import signal
import time

import numpy as np

from streamsift.core.exceptions import InputError
from streamsift.rows.screener import Screener


def divide(shared, task, progress):
    """Ends in different ways: 0 raises, 1 is killed, 2 ends its process, 3 is refused in words."""
    if task == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if task == 2:
        os._exit(5)
    if task == 3:
        raise InputError("Three is refused: take four.")
    progress(0.5)
    return shared / task


def fail_after_an_interrupt(shared, task, progress):
    """Ctrl-C comes, and what tidies up after it fails."""
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        raise ValueError("half a step")  # noqa: B904 - as it happens: nobody says where it comes from


def sleep(shared, task, progress):
    """Writes its process id and sleeps."""
    with open(f"{shared}/{task}.pid", "w") as file:
        file.write(str(os.getpid()))
    progress(0.25)
    time.sleep(60)


def halve(task):
    """Half of a number; refuses 3 in words, and fails on what is no number."""
    if task == 3:
        raise InputError("Three is refused: take four.")
    return task / 2


def note_and_wait(path):
    """Writes its process id to the file; waits where it is not the first."""
    with open(path, "w") as file:
        file.write(str(os.getpid()))
    if os.path.basename(path) != "first":
        time.sleep(60)
    return os.path.basename(path)


class FailsInOneRepeat(Screener):
    """A screener that fails at its third batch where row 0 of the data is missing, as it is in some repeats."""

    def partial_fit(self, X, y=None, classes=None):
        if not hasattr(self, "n_rows_seen_"):
            self._is_whole = bool(np.all(X.X[0] == 0.0))
        elif self.n_rows_seen_ >= 200 and not self._is_whole:
            raise RuntimeError("lost its way")
        return super().partial_fit(X, y, classes)
