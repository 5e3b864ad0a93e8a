"""Live progress in notebooks: a bar that is updated in place while a function runs, where a notebook is looking.

Nothing is imported for it: a notebook has IPython loaded, and elsewhere nothing is shown. Short runs show nothing
either. What is shown is drawn in `report`, as every picture is (docs/adr/0009).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from time import perf_counter
from typing import Any, TypeVar, cast

from streamsift.core.pictures import picture

Function = TypeVar("Function", bound=Callable[..., Any])

SECONDS_BEFORE, SECONDS_BETWEEN = 0.5, 0.25  # the first look, and one look and the next


def in_notebook() -> bool:
    """Whether the code runs in the kernel of a notebook.

    >>> in_notebook()
    False
    """
    module = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    return getattr(shell, "kernel", None) is not None  # a terminal's shell has none


@dataclass(frozen=True)
class Look:
    """What a notebook shows at one moment: what runs, how far it is (None: nobody knows), and a few words."""

    what: str
    fraction: float | None
    words: str
    seconds: float
    ended: bool = False

    def __repr__(self) -> str:
        share = "" if self.fraction is None else f" {self.fraction:.0%}"
        return f"{self.what}:{share} {self.words}".rstrip()

    def _repr_html_(self) -> str:
        text: str = picture("notebook:look", self)
        return text


class LiveLine:
    """A line of a notebook that follows a run; `display` is IPython's, and `clock` gives seconds."""

    def __init__(self, what: str, display: Callable[..., Any], clock: Callable[[], float] = perf_counter) -> None:
        self._what, self._display, self._clock = what, display, clock
        self._begun = clock()
        self._next = self._begun + SECONDS_BEFORE
        self._handle: Any = None
        self._last: tuple[float | None, str] = (None, "")

    def tell(self, fraction: float | None, words: str) -> None:
        """Take notice of how far the run is, and show it where that is due."""
        self._last = fraction, words
        now = self._clock()
        if now >= self._next:
            self._next = now + SECONDS_BETWEEN
            self._show(Look(self._what, fraction, words, now - self._begun))

    def end(self, *, done: bool) -> None:
        """Leave a line on what was done; none where nothing was ever shown."""
        if self._handle is None:
            return
        fraction, words = (1.0, self._last[1]) if done else self._last
        words = words if done else f"stopped: {words}"
        self._show(Look(self._what, fraction, words, self._clock() - self._begun, ended=True))

    def _show(self, look: Look) -> None:
        if self._handle is None:
            self._handle = self._display(look, display_id=True)
        else:
            self._handle.update(look)


@contextmanager
def live_line(what: str) -> Iterator[Callable[[float | None, str], None]]:
    """A function to tell how far something is: in a notebook it moves a bar, elsewhere it does nothing.

    Examples
    --------
    >>> with live_line("counting") as tell:
    ...     for k in range(3):
    ...         tell((k + 1) / 3, f"{k + 1} of 3")
    """
    if not in_notebook():
        yield lambda fraction, words: None
        return
    from IPython.display import display

    line = LiveLine(what, display)
    done = False
    try:
        yield line.tell
        done = True
    finally:
        line.end(done=done)


def followed(function: Function) -> Function:
    """Mark a function that tells `progress` how far it is: where nobody else listens, a notebook does."""

    @wraps(function)
    def listening(*args: Any, **kwargs: Any) -> Any:
        if "progress" in kwargs:
            return function(*args, **kwargs)
        with live_line(function.__name__) as tell:
            return function(*args, progress=lambda fraction: tell(fraction, ""), **kwargs)

    return cast(Function, listening)
