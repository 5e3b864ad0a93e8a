"""The live view of a run of any kind: a progress bar and the leading features as they move.

It draws on the standard error, and only where that is a terminal; elsewhere a line now and then says how far it is.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Protocol

import click
from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from streamsift.cli.table import printable
from streamsift.core.exceptions import ReadingNotice
from streamsift.runs.run import Leaders, Step

N_SHOWN = 10
BAR_WIDTH = 24
FRAMES_PER_SECOND = 8
SECONDS_BETWEEN_LINES = 10.0  # of progress, where there is no terminal


@contextmanager
def live(
    render: Callable[[], Any], line: Callable[[], str] | None = None, *, drawn: bool = True, quiet: bool = False
) -> Iterator[bool]:
    """Draw what `render` returns a few times a second and wipe it away at the end; gives whether anybody sees it.

    Where there is no terminal, what `line` returns is printed now and then. `quiet` wants neither, nor any remarks.
    """
    console = Console(stderr=True)
    terminal = console.is_terminal and not console.is_dumb_terminal
    if quiet or not drawn or not terminal:
        with lines(line or str, quiet=quiet or terminal or line is None), silenced(quiet):
            yield False
        return
    with Live(get_renderable=render, console=console, refresh_per_second=FRAMES_PER_SECOND, transient=True):
        yield True


@contextmanager
def bars(*columns: Any, shown: bool) -> Iterator[Any]:
    """rich's progress bars on the standard error, wiped away at the end.

    Bars that nobody sees are not started: at their end rich would write an empty line.
    """
    from rich.progress import Progress

    progress = Progress(*columns, console=Console(stderr=True), transient=True, disable=not shown)
    if not shown:
        yield progress
        return
    with progress:
        yield progress


@contextmanager
def lines(line: Callable[[], str], *, quiet: bool = False) -> Iterator[None]:
    """Print what `line` returns to the standard error every few seconds, for logs and pipes."""
    if quiet:
        yield
        return
    ended = threading.Event()

    def report() -> None:
        while not ended.wait(SECONDS_BETWEEN_LINES):
            if text := line():
                click.echo(text, err=True)

    thread = threading.Thread(target=report, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def silenced(quiet: bool) -> Iterator[None]:
    """Hear no remarks on how data was read, where they are not wanted; warnings are always heard."""
    with warnings.catch_warnings():
        if quiet:
            warnings.simplefilter("ignore", ReadingNotice)
        yield


class Body(Protocol):
    """What is drawn below the progress bar."""

    def update(self, step: Any) -> None:
        """Take notice of a step."""
        ...

    def render(self) -> Any:
        """Anything rich can draw."""
        ...


class RunView:
    """What is drawn while a run of any kind goes on: how far it is, and below that its body; `update` it at each step.

    It asks a step only what `streamsift.runs.run.Step` declares. The usual body are the leading features.
    """

    def __init__(self, body: Body | None = None) -> None:
        self._body: Body = LeadersBody() if body is None else body
        self._step: Step | None = None
        self._waits = self._said = ""
        self._begun = perf_counter()

    def update(self, step: Step) -> None:
        """Take notice of a step."""
        self._step = step
        self._body.update(step)

    def wait(self, words: str) -> None:
        """Take notice of what a source without an end is waiting for."""
        self._waits = words

    def line(self) -> str:
        """How far the run is, in one line; none where a source without an end had nothing new since the last one."""
        step = self._step
        share = "" if step is None or step.progress is None else f", {step.progress:.0%}"
        reach = "reading" if step is None else f"{step.position:,} {step.unit}"
        waits = f", {self._waits}" if self._waits else ""
        before, self._said = self._said, f"{reach}{share}{waits}"
        if waits and self._said == before:
            return ""
        return f"{self._said}, {perf_counter() - self._begun:,.0f} s"

    def render(self) -> Any:
        """The progress bar and the body."""
        step = self._step
        if step is None:
            return Text(f"waiting: {self._waits} (--batch-size)" if self._waits else "reading …", style="dim")
        head = Table.grid(padding=(0, 2))
        fraction = step.progress
        bar = ProgressBar(total=None if fraction is None else 1.0, completed=fraction or 0.0, width=BAR_WIDTH)
        share = "" if fraction is None else f"{fraction:.0%}"
        speed = f"{step.position / step.seconds:,.0f} {step.unit}/s" if step.seconds > 0 and step.position else ""
        head.add_row(bar, Text(share), Text(f"{step.position:,} {step.unit}"), Text(speed, style="dim"))
        waits = [Text(self._waits, style="dim")] if self._waits else []
        return Group(head, *waits, self._body.render())


class LeadersBody:
    """The leading features with their scores as bars, and how they moved since the step before."""

    def __init__(self) -> None:
        self._now: Leaders | None = None
        self._before: dict[str, int] = {}

    def update(self, step: Step) -> None:
        """Ask the step for its leaders; a step without any changes nothing."""
        leaders = step.leaders()
        if leaders is not None:
            if self._now is not None:
                self._before = {name: rank for rank, name in enumerate(self._now.names)}
            self._now = leaders

    def render(self) -> Any:
        """A row for each feature."""
        table = Table.grid(padding=(0, 2))
        if self._now is None:
            return table
        ranked, names = self._now.ranked, self._now.names[:N_SHOWN]
        values = None if self._now.values is None else self._now.values[:N_SHOWN]
        best = 0.0 if values is None else max(values, default=0.0)
        for rank, name in enumerate(names):
            score = None if values is None else values[rank]
            length = 0 if score is None or not 0 < best < float("inf") else round(BAR_WIDTH * max(score, 0.0) / best)
            table.add_row(
                Text(f"{rank + 1:>3}" if ranked else "", style="dim"),
                self._movement(name, rank, ranked=ranked),
                Text(printable(name), no_wrap=True, overflow="ellipsis"),
                Text("━" * length, style="cyan"),
                Text("" if score is None else f"{score:.4g}", style="dim"),
            )
        return table

    def _movement(self, name: str, rank: int, *, ranked: bool) -> Text:
        before = self._before.get(name)
        if before is None:
            return Text("new" if self._before else "", style="yellow")
        if before == rank or not ranked:
            return Text("")
        return Text(f"▲{before - rank}", style="green") if rank < before else Text(f"▼{rank - before}", style="red")
