"""Columns: the columns of a source are offered to a selector one after another; each block of them is a step."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np

from streamsift.core.batch import Batch, columns_of
from streamsift.core.contracts import ColumnContract
from streamsift.core.interrupts import check
from streamsift.core.selection import Decisions
from streamsift.runs.column_trace import ColumnTraceWriter
from streamsift.runs.run import Leaders, Run, TextTable
from streamsift.streams.column_sources import open_columns
from streamsift.streams.identifiers import IdentifierWatch, warn_of_identifiers
from streamsift.streams.open import READING

N_LATEST = 10  # accepted columns that a step shows
PIECE = 0.2  # seconds


@dataclass(frozen=True)
class ColumnStep:
    """One block of columns further: columns offered, the decisions on the block, and the columns accepted latest.

    `decisions` is None for a method that takes the whole table at once. `latest` holds names and statistics of the
    selected columns that were accepted last, the latest first.
    """

    n_offered: int
    seconds: float
    progress: float | None
    decisions: Decisions | None
    latest: tuple[tuple[str, float], ...]

    unit: ClassVar[str] = "columns"

    @property
    def position(self) -> int:
        """Columns offered."""
        return self.n_offered

    def leaders(self) -> Leaders:
        """The columns accepted latest; their order is no ranking."""
        return Leaders([name for name, _ in self.latest], [value for _, value in self.latest], ranked=False)


def follow_columns(source: Any, selector: ColumnContract) -> Iterator[ColumnStep]:
    """Offer all columns of a source to a selector and yield a step after each block.

    Parameters
    ----------
    source : a source of columns
        It knows its target `y`, as what `open_columns` returns does, and gives pairs (name, column) or (names, block).
        Where it has `names`, the steps know how much is behind them.
    selector : a column selector
        It begins anew.

    Yields
    ------
    ColumnStep
        A method that looks at the whole table at once (Stepwise) makes one step.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsift import Investing
    >>> class Source:
    ...     y, names = np.arange(20.0), ["a", "b"]
    ...     def __iter__(self):
    ...         yield "a", np.arange(20.0) + np.tile([0, 1], 10)
    ...         yield "b", np.tile([0.0, 1.0], 10)
    >>> [(step.n_offered, step.progress, step.decisions[0].accepted) for step in follow_columns(Source(), Investing())]
    [(1, 0.5, True), (2, 1.0, True)]
    """
    total = len(source.names) if hasattr(source, "names") else None
    seconds, since = 0.0, perf_counter()
    selector.begin(source.y)
    if selector.stream_tags().whole_table:
        selector.run(source)
        history = selector.history_.to_pylist()
        latest = {row["name"]: row["statistic"] for row in history}
        yield ColumnStep(selector.n_offered_, perf_counter() - since, 1.0, None, _latest(latest))
        return
    members: dict[str, float] = {}
    for names, block in _in_pieces(source):
        check()
        single = names is None or isinstance(names, str)
        decisions = Decisions.of([selector.offer(block, names)]) if single else _offer(selector, block, names)
        for k in np.flatnonzero(decisions.accepted).tolist():
            members[decisions.names[k]] = float(decisions.statistic[k])
        for gone in decisions.dropped:
            for name in gone:
                members.pop(name, None)
        seconds += perf_counter() - since
        progress = None if not total else min(selector.n_offered_ / total, 1.0)
        yield ColumnStep(selector.n_offered_, seconds, progress, decisions, _latest(members))
        since = perf_counter()


def _in_pieces(source: Any) -> Iterator[tuple[Any, Any]]:
    """What the source gives; a table of one of our readers in pieces that take about PIECE seconds each.

    The decisions are the same. An interrupt then loses one piece, and a slow run shows where it is.
    """
    width = 1
    for names, block in source:
        if not isinstance(block, Batch):
            yield names, block
            continue
        first, n_columns = 0, block.X.shape[1]
        while first < n_columns:
            began, stop = perf_counter(), min(first + width, n_columns)
            yield names[first:stop], columns_of(block, first, stop)
            took, first = perf_counter() - began, stop
            width = 2 * width if took < PIECE / 2 else max(width // 2, 1) if took > 2 * PIECE else width


def _offer(selector: ColumnContract, block: Any, names: Any) -> Decisions:
    answers = selector.offer_many(block, names)
    return answers if isinstance(answers, Decisions) else Decisions.of(answers)


def _latest(members: dict[str, float]) -> tuple[tuple[str, float], ...]:
    latest = []
    for name in reversed(members):
        latest.append((name, members[name]))
        if len(latest) == N_LATEST:
            break
    return tuple(latest)


@dataclass(frozen=True)
class ColumnResult:
    """The selected columns, in the order of their acceptance."""

    n_features: int
    n_offered: int
    selected: list[dict[str, Any]]

    @classmethod
    def of(cls, selector: ColumnContract, n_features: int) -> ColumnResult:
        """What a selector has selected."""
        selected = [
            {"rank": rank, "index": row["place"], "name": row["name"], "statistic": _plain(row["statistic"])}
            for rank, row in enumerate(selector.history_.to_pylist(), start=1)
        ]
        return cls(n_features, selector.n_offered_, selected)

    def as_dict(self) -> dict[str, Any]:
        """A plain dict for JSON."""
        return {"n_features": self.n_features, "n_offered": self.n_offered, "selected": self.selected}

    def tables(self) -> list[TextTable]:
        """The accepted columns in the order of their acceptance."""
        rows = [[str(row["rank"]), row["name"], f"{float(row['statistic']):.6g}"] for row in self.selected]
        return [TextTable(["accepted", "feature", "statistic"], rows, ["accepted", "statistic"])]

    def note(self) -> str:
        """How many were offered."""
        return f"{len(self.selected)} of {self.n_offered:,} columns accepted"

    def reach(self) -> str:
        """The columns offered."""
        return f"{self.n_offered:,} column{'s' * (self.n_offered != 1)}"


def _plain(statistic: float) -> float | str:
    """A number for JSON, which has no infinity: a perfect fit is written as the text "inf"."""
    return statistic if math.isfinite(statistic) else str(statistic)


class _Watched:
    """A source of columns that warns of those that look like identifiers."""

    def __init__(self, source: Any) -> None:
        self.y, self.names, self._source = source.y, source.names, source

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for names, block in self._source:
            if isinstance(block, Batch):
                watch = IdentifierWatch()
                watch.see(block)
                warn_of_identifiers([names[place] for place in watch.found()])
            yield names, block


class ColumnLoop:
    """A column selector and its source."""

    takes_prices: ClassVar[bool] = False

    def __init__(self, selector: Any, source: Any) -> None:
        self._selector, self._source = selector, source

    @classmethod
    def open(cls, method: Any, run: Run, source: Any, prices: str | Path | None = None) -> Self:
        """Open a file as a source of columns."""
        given = {name: run.settings[name] for name in READING if name in run.settings}
        return cls(method, open_columns(source, run.target or None, **given))

    def steps(self) -> Iterator[ColumnStep]:
        """Offer the columns."""
        return follow_columns(_Watched(self._source), self._selector)

    def writer(self, path: str | Path | None, run: Run) -> ColumnTraceWriter:
        """Record the decisions."""
        return ColumnTraceWriter(path, run)

    def result(self, *, complete: bool) -> ColumnResult | None:
        """What is selected so far."""
        if not complete and not getattr(self._selector, "n_offered_", 0):
            return None
        return ColumnResult.of(self._selector, len(self._source.names))
