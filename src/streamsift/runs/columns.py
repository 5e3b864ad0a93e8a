"""Columns: the columns of a source are offered to a selector one after another; each block of them is a step."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np

from streamsift.core.batch import Batch, columns_of
from streamsift.core.contracts import ColumnContract
from streamsift.core.exceptions import InputError, SavedStateError
from streamsift.core.interrupts import check
from streamsift.core.selection import Decisions
from streamsift.core.state import MOST_FEATURES
from streamsift.persist import Parts
from streamsift.runs.column_trace import ColumnTraceWriter
from streamsift.runs.run import Leaders, Run, TextTable, seconds_of
from streamsift.streams.column_sources import open_columns
from streamsift.streams.fingerprints import digest, fingerprint
from streamsift.streams.identifiers import IdentifierWatch, warn_of_identifiers
from streamsift.streams.open import READING
from streamsift.streams.positions import whole_number

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


@dataclass
class ColumnCourse:
    """How far a run over columns is: the block of the source and the column in it that come next.

    `begun` says that the selector has begun with these rows, and goes on.
    """

    block: int = 0
    column: int = 0
    n_offered: int = 0
    seconds: float = 0.0
    begun: bool = False


def follow_columns(source: Any, selector: ColumnContract, course: ColumnCourse | None = None) -> Iterator[ColumnStep]:
    """Offer all columns of a source to a selector and yield a step after each block.

    Parameters
    ----------
    source : a source of columns
        It knows its target `y`, as what `open_columns` returns does, and gives pairs (name, column) or (names, block).
        Where it has `n_columns` or `names`, the steps know how much is behind them.
    selector : a column selector
        It begins anew, unless the course says that it has begun.
    course : ColumnCourse, optional
        Kept up to date from step to step. One that is on its way already goes on.

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
    total = _n_columns(source)
    course, since = ColumnCourse() if course is None else course, perf_counter()
    if not course.begun:
        selector.begin(source.y)
        course.begun = True
    if selector.stream_tags().whole_table:
        selector.run(source)
        history = selector.history_.to_pylist()
        latest = {row["name"]: row["statistic"] for row in history}
        course.n_offered, course.seconds = selector.n_offered_, perf_counter() - since
        yield ColumnStep(selector.n_offered_, perf_counter() - since, 1.0, None, _latest(latest))
        return
    members = {row["name"]: row["statistic"] for row in selector.history_.to_pylist()}
    before = selector.n_offered_ - course.n_offered
    for names, block, behind in _in_pieces(source, course):
        check()
        single = names is None or isinstance(names, str)
        decisions = Decisions.of([selector.offer(block, names)]) if single else _offer(selector, block, names)
        for k in np.flatnonzero(decisions.accepted).tolist():
            members[decisions.names[k]] = float(decisions.statistic[k])
        for gone in decisions.dropped:
            for name in gone:
                members.pop(name, None)
        course.seconds += perf_counter() - since
        (course.block, course.column), course.n_offered = behind, selector.n_offered_ - before
        progress = None if not total else min(course.n_offered / total, 1.0)
        yield ColumnStep(selector.n_offered_, course.seconds, progress, decisions, _latest(members))
        since = perf_counter()


def _n_columns(source: Any) -> int | None:
    """How many columns a source has in all; None where it does not know."""
    if hasattr(source, "n_columns"):
        known: int | None = source.n_columns
        return known
    return len(source.names) if hasattr(source, "names") else None


def _in_pieces(source: Any, course: ColumnCourse) -> Iterator[tuple[Any, Any, tuple[int, int]]]:
    """What the source gives; a table of one of our readers in pieces that take about PIECE seconds each.

    The decisions are the same. An interrupt then loses one piece, and a slow run shows where it is. With each piece
    comes the place behind it: a block and a column in it.
    """
    width, first = 1, course.column
    blocks = source.blocks(course.block) if hasattr(source, "blocks") else islice(source, course.block, None)
    for number, (names, block) in enumerate(blocks, start=course.block):
        if not isinstance(block, Batch):
            yield names, block, (number + 1, 0)
            continue
        n_columns = block.X.shape[1]
        while first < n_columns:
            began, stop = perf_counter(), min(first + width, n_columns)
            yield names[first:stop], columns_of(block, first, stop), (number, stop)
            took, first = perf_counter() - began, stop
            width = 2 * width if took < PIECE / 2 else max(width // 2, 1) if took > 2 * PIECE else width
        first = 0


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

    def recorded(self) -> dict[str, Any]:
        """The same: the trace keeps no more."""
        return self.as_dict()

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
        self.y, self.n_columns, self._source = source.y, _n_columns(source), source

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return self.blocks()

    def blocks(self, first: int = 0) -> Iterator[tuple[Any, Any]]:
        for names, block in self._source.blocks(first):
            if isinstance(block, Batch):
                watch = IdentifierWatch()
                watch.see(block)
                warn_of_identifiers([names[place] for place in watch.found()])
            yield names, block


class ColumnLoop:
    """A column selector and its source."""

    takes_prices: ClassVar[bool] = False
    without_end: ClassVar[bool] = False
    takes_columns: ClassVar[bool] = True

    def __init__(self, selector: Any, source: Any, columns: Any) -> None:
        self._selector, self._source = selector, columns
        self._known_by = cache(lambda: fingerprint(source, columns) | {"rows": digest(np.asarray(columns.y).tolist())})
        self._course = ColumnCourse()
        self._n_before = self._n_members = 0  # columns offered, and selected, before this run

    @classmethod
    def open(cls, method: Any, run: Run, source: Any, prices: str | Path | None = None) -> Self:
        """Open a file as a source of columns; a source of columns that knows its target is taken as it is."""
        if hasattr(source, "blocks") and hasattr(source, "y"):
            return cls(method, getattr(source, "path", None), source)
        given = {name: run.settings[name] for name in READING if name in run.settings}
        return cls(method, source, open_columns(source, run.target or None, **given))

    def source(self) -> dict[str, Any]:
        """What the source is known by, and the values of the target, which stand for the rows."""
        return self._known_by()

    def go_on(self, rows: str | None) -> None:
        """Offer these columns to a selector that knows others of the same rows; other rows are refused."""
        if self._selector.stream_tags().whole_table:
            raise InputError(
                f"{type(self._selector).__name__} looks at all columns at once and cannot go on with further ones: "
                "give a file with all columns, without --load."
            )
        if rows != self.source()["rows"]:
            raise InputError(
                f"{type(self._selector).__name__} compares columns of the same rows, and the target has other values "
                "here than where it was saved: give further columns of the same rows, with the same target."
            )
        self._course.begun = True
        self._n_before, self._n_members = self._selector.n_offered_, len(self._selector.selected_)

    def freeze(self) -> Parts:
        """The next column, and how far we are."""
        return Parts({**asdict(self._course), "before": self._n_before, "members": self._n_members}, {})

    def resume(self, parts: Parts, trace: Parts) -> None:
        """Go on from there."""
        facts = parts.facts
        block, column, n_offered, before, members = (
            whole_number(facts, key, MOST_FEATURES) for key in ("block", "column", "n_offered", "before", "members")
        )
        if before + n_offered != self._selector.n_offered_:
            raise SavedStateError("The checkpoint is damaged: its selector was not offered the columns behind it.")
        self._course = ColumnCourse(block, column, n_offered, seconds_of(facts), begun=True)
        self._n_before, self._n_members = before, members

    def reach(self) -> str:
        """The columns behind us."""
        return f"{self._course.n_offered:,} columns"

    def steps(self) -> Iterator[ColumnStep]:
        """Offer the columns."""
        if self._course.n_offered and self._selector.stream_tags().whole_table:
            return iter(())  # which were all of them
        return follow_columns(_Watched(self._source), self._selector, self._course)

    def writer(self, path: str | Path | None, run: Run) -> ColumnTraceWriter:
        """Record the decisions."""
        return ColumnTraceWriter(path, run, n_offered=self._n_before, n_selected=self._n_members)

    def result(self, *, complete: bool) -> ColumnResult | None:
        """What is selected so far."""
        if not complete and not getattr(self._selector, "n_offered_", 0):
            return None
        total = _n_columns(self._source)
        n_features = self._selector.n_offered_ if total is None else self._n_before + total
        return ColumnResult.of(self._selector, n_features)
