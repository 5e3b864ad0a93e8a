"""The live view of a run: a progress bar and the leading features as they move. It draws on the standard error, and
only where that is a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from streamsift.cli.table import printable
from streamsift.core.selection import Selection
from streamsift.runs.rows import Step

N_SHOWN = 10
BAR_WIDTH = 24
FRAMES_PER_SECOND = 8


@contextmanager
def live(render: Callable[[], Any], *, quiet: bool = False) -> Iterator[bool]:
    """Draw what `render` returns a few times a second and wipe it away at the end; gives whether anybody sees it."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal or console.is_dumb_terminal:
        yield False
        return
    with Live(get_renderable=render, console=console, refresh_per_second=FRAMES_PER_SECOND, transient=True):
        yield True


class SelectionView:
    """What is drawn while a selection runs; `update` it with every step."""

    def __init__(self) -> None:
        self._step: Step | None = None
        self._now: Selection | None = None
        self._before: dict[str, int] = {}

    def update(self, step: Step) -> None:
        """Take notice of a step."""
        self._step = step
        if step.look is not None:
            if self._now is not None:
                self._before = {name: rank for rank, name in enumerate(self._now.names)}
            self._now = step.look.selection

    def render(self) -> Any:
        """The progress bar and the leading features."""
        step = self._step
        if step is None:
            return Text("reading …", style="dim")
        head = Table.grid(padding=(0, 2))
        fraction = step.progress
        bar = ProgressBar(total=None if fraction is None else 1.0, completed=fraction or 0.0, width=BAR_WIDTH)
        share = "" if fraction is None else f"{fraction:.0%}"
        speed = f"{step.n_rows / step.seconds:,.0f} rows/s" if step.seconds > 0 else ""
        head.add_row(bar, Text(share), Text(f"{step.n_rows:,} rows"), Text(speed, style="dim"))
        return Group(head, self._leaders())

    def _leaders(self) -> Any:
        table = Table.grid(padding=(0, 2))
        if self._now is None:
            return table
        names, scores = self._now.names[:N_SHOWN], self._now.scores
        best = 0.0 if scores is None or len(scores) == 0 else float(scores[0])
        for rank, name in enumerate(names):
            score = None if scores is None else float(scores[rank])
            length = 0 if score is None or not 0 < best < float("inf") else round(BAR_WIDTH * max(score, 0.0) / best)
            table.add_row(
                Text(f"{rank + 1:>3}", style="dim"),
                self._movement(name, rank),
                Text(printable(name), no_wrap=True, overflow="ellipsis"),
                Text("━" * length, style="cyan"),
                Text("" if score is None else f"{score:.4g}", style="dim"),
            )
        return table

    def _movement(self, name: str, rank: int) -> Text:
        before = self._before.get(name)
        if before is None:
            return Text("new" if self._before else "", style="yellow")
        if before == rank:
            return Text("")
        return Text(f"▲{before - rank}", style="green") if rank < before else Text(f"▼{rank - before}", style="red")
