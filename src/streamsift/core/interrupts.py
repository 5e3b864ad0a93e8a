"""Ctrl-C that does not get lost.

Python raises KeyboardInterrupt in whatever runs when the signal comes. Where that is a finalizer, or foreign code that
drops every exception, nobody hears of it and the work goes on. So the command line remembers the signal (`listen`), and
loops that may take long ask at each step (`check`). Without `listen`, as in a notebook, `check` does nothing.
"""

from __future__ import annotations

import signal
from typing import Any

_came = False


def listen() -> None:
    """Answer Ctrl-C as Python does, and remember it; only the main thread may call this."""
    signal.signal(signal.SIGINT, _note)


def check() -> None:
    """Raise KeyboardInterrupt if there has been a Ctrl-C."""
    if _came:
        raise KeyboardInterrupt


def _note(_number: int, _frame: Any) -> None:
    global _came
    _came = True
    raise KeyboardInterrupt
