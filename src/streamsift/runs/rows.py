"""Rows: a selector is led over a stream of rows once; after each batch comes a step, now and then with a snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch
from streamsift.core.contracts import RowContract
from streamsift.core.exceptions import InputError, SavedStateError
from streamsift.core.guarantees import words
from streamsift.core.interrupts import check
from streamsift.core.limits import SMALLEST
from streamsift.core.selection import Selection
from streamsift.core.why import FeatureExplanation
from streamsift.persist import Parts
from streamsift.runs.row_trace import RowTraceWriter
from streamsift.runs.run import Leaders, Run, TextTable, seconds_of
from streamsift.streams import open_stream
from streamsift.streams.blocks import BlockStream
from streamsift.streams.fingerprints import fingerprint
from streamsift.streams.identifiers import WatchedStream
from streamsift.streams.open import READING, as_stream
from streamsift.streams.positions import whole_number

SNAPSHOTS_BEFORE_DOUBLING = 200


class SnapshotSchedule:
    """When to take a snapshot of a selection: every so many rows or steps, or ever more rarely.

    Where no distance is fixed it starts at `first` and doubles after each 200 snapshots, so that a stream of any length
    gives a few thousand snapshots at most, never coarser than a hundredth of the stream so far.
    """

    def __init__(self, first: int, fixed: int | None = None) -> None:
        self._fixed = fixed is not None
        self._distance = first if fixed is None else fixed
        self._due, self._taken = self._distance, 0

    def is_due(self, position: int) -> bool:
        """Whether to take one now; asked once for each position."""
        if position < self._due:
            return False
        self._taken += 1
        if not self._fixed and self._taken % SNAPSHOTS_BEFORE_DOUBLING == 0:
            self._distance *= 2
        self._due = position + self._distance
        return True

    def as_dict(self) -> dict[str, int]:
        """As JSON keeps it."""
        return {"distance": self._distance, "due": self._due, "taken": self._taken}

    def go_on(self, facts: Any) -> None:
        """Go on as another one that `as_dict` told of, and a file kept."""
        self._distance = whole_number(facts, "distance", low=1)
        self._due, self._taken = whole_number(facts, "due"), whole_number(facts, "taken")


class RowCourse:
    """How far a run over rows is: all it takes to go on, besides the selector and the position of the stream."""

    def __init__(self, schedule: SnapshotSchedule) -> None:
        self.schedule = schedule
        self.n_rows, self.seconds = 0, 0.0
        self.drifting = False  # some row since the latest snapshot
        self.asked = False  # whether there was a snapshot after the latest batch

    def as_dict(self) -> dict[str, Any]:
        """As JSON keeps it."""
        now = {"rows": self.n_rows, "seconds": self.seconds, "drifting": self.drifting, "asked": self.asked}
        return now | {"schedule": self.schedule.as_dict()}

    def go_on(self, facts: Any) -> None:
        """Go on from where another one was; what cannot be is refused."""
        self.n_rows = whole_number(facts, "rows")
        self.schedule.go_on(facts.get("schedule"))
        self.seconds = seconds_of(facts)
        self.drifting, self.asked = (facts.get(key) is True for key in ("drifting", "asked"))


@dataclass(frozen=True)
class Snapshot:
    """What the selector said at one step, and what the stream knows about that step.

    `scores` has one score per feature (None where the method has none), `feature_names` all names in the same order
    (None: unnamed). `relevant` are the true features and `drifting` whether any row since the last snapshot drifted;
    only generated streams know them. `too_small` are the names of features that score 0 because of their scale.
    """

    selection: Selection
    scores: NDArray[np.float64] | None
    feature_names: Sequence[str] | None
    relevant: NDArray[np.intp] | None
    drifting: bool
    too_small: tuple[str, ...] = ()


@dataclass(frozen=True)
class RowStep:
    """One batch further: rows seen, seconds spent, the fraction of the stream behind us (None: unknown).

    `snapshot` is None on the steps in between, at which the selector was not asked.
    """

    n_rows: int
    seconds: float
    progress: float | None
    snapshot: Snapshot | None

    unit: ClassVar[str] = "rows"

    @property
    def position(self) -> int:
        """Rows seen."""
        return self.n_rows

    def leaders(self) -> Leaders | None:
        """The selection of the snapshot, best first."""
        if self.snapshot is None:
            return None
        selection = self.snapshot.selection
        return Leaders(selection.names, None if selection.scores is None else selection.scores.tolist())


def follow_rows(
    stream: Any,
    selector: RowContract,
    batch_size: int = 1000,
    trace_every: int | None = None,
    *,
    target: str | None = None,
    course: RowCourse | None = None,
) -> Iterator[RowStep]:
    """Stream once through a selector and yield a step after each batch.

    Parameters
    ----------
    stream : a stream, or anything `open_stream` takes
        With `target`, the column with the labels, where it is a table or a file.
    selector : a row selector
        It learns every batch, in order.
    batch_size : int
        Rows per batch.
    trace_every : int or None
        Rows between two snapshots of the selection. None takes one after every batch at first and then ever more
        rarely; see SnapshotSchedule.
    course : RowCourse, optional
        Kept up to date from step to step. One that is on its way already goes on: the stream begins where it was.

    Yields
    ------
    RowStep
        After the last batch comes a step with a snapshot even where none was due, so a run always ends with one.
        Seconds spent by the caller between two steps are not counted.

    Examples
    --------
    >>> from streamsift import Screener
    >>> from streamsift.streams import generate
    >>> stream = generate("linear_drift", n_rows=300, seed=0, n_features=10, n_relevant=2, shift_every=100)
    >>> [step.n_rows for step in follow_rows(stream, Screener(n_features_to_select=2), batch_size=100)]
    [100, 200, 300]
    """
    stream = as_stream(stream, target)
    course = RowCourse(SnapshotSchedule(batch_size, trace_every)) if course is None else course
    batch: Batch | None = None
    since = perf_counter()
    for batch in stream.batches(batch_size):
        check()
        selector.partial_fit(batch)
        course.n_rows += batch.n_rows
        course.drifting = course.drifting or batch.drifting
        snapshot = None
        course.asked = course.schedule.is_due(course.n_rows) and _has_learnt(selector)
        if course.asked:
            snapshot = _snapshot(selector, batch, course.drifting)
            course.drifting = False
        course.seconds += perf_counter() - since
        yield RowStep(course.n_rows, course.seconds, stream.progress(), snapshot)
        since = perf_counter()
    if course.n_rows and not course.asked and _has_learnt(selector):
        snapshot = _snapshot(selector, batch, course.drifting)
        course.asked = True
        course.seconds += perf_counter() - since
        yield RowStep(course.n_rows, course.seconds, stream.progress(), snapshot)


def _has_learnt(selector: RowContract) -> bool:
    """Not while no row has had a label."""
    return hasattr(selector, "n_rows_seen_") or not getattr(selector, "n_rows_unlabelled_", 0)


def _snapshot(selector: RowContract, batch: Batch | None, drifting: bool) -> Snapshot:
    scores, names = getattr(selector, "scores_", None), getattr(selector, "feature_names_in_", None)
    return Snapshot(
        selection=selector.selection(),
        scores=scores,
        feature_names=names,
        relevant=None if batch is None else batch.relevant,
        drifting=drifting,
        too_small=_too_small(batch, scores, names),
    )


def _too_small(batch: Batch | None, scores: Any, names: Sequence[str] | None) -> tuple[str, ...]:
    """The features that score 0 and whose values, in a batch of dense rows, are so small that their squares are 0."""
    if batch is None or scores is None or not isinstance(batch.X, np.ndarray) or batch.X.shape[1] != len(scores):
        return ()
    zero = np.flatnonzero(scores == 0.0)
    if not len(zero) or not batch.n_rows:
        return ()
    largest = np.fmax.reduce(np.abs(batch.X[:, zero]), axis=0)
    tiny = zero[(largest > 0.0) & (largest < SMALLEST)].tolist()
    return tuple(f"x{slot}" if names is None else str(names[slot]) for slot in tiny)


@dataclass(frozen=True)
class RowResult:
    """The selection at the end of a stream of rows, and how many rows had no label (and whether they were learnt).

    `because` says which rule on p-values decided how many features are selected, and about what, and `held_back` how
    many more it would have selected if tails were not as heavy; `explain` why the leading features are selected, or
    not, for those who ask. `too_small` names the features that score 0 because of their scale.
    """

    selection: Selection
    n_unlabelled: int = 0
    learnt_them: bool = False
    because: str = ""
    explain: Callable[[], Sequence[FeatureExplanation]] = tuple
    held_back: int = 0
    too_small: tuple[str, ...] = ()

    def recorded(self) -> dict[str, Any]:
        """The same, and why the leading features are selected, or not."""
        return self.as_dict() | {"why": [one.as_dict() for one in self.explain()]}

    def as_dict(self) -> dict[str, Any]:
        """A plain dict for JSON."""
        return self.selection.as_dict() | ({"n_rows_unlabelled": self.n_unlabelled} if self.n_unlabelled else {})

    def tables(self) -> list[TextTable]:
        """The selected features, best first."""
        selected = self.as_dict()["selected"]
        scores = distinct_numbers([row.get("score") for row in selected])
        rows = [[str(row["rank"]), row["name"], score] for row, score in zip(selected, scores, strict=True)]
        return [TextTable(["rank", "feature", "score"], rows, ["rank", "score"])]

    def note(self) -> str:
        """How many features there are and why, and how many rows had no label; else nothing: the table says it all.

        >>> RowResult(Selection(np.array([0]), ("a",), None, 1, 9), 1).note()
        '1 row had no label and was left out.'
        >>> RowResult(Selection(np.array([0]), ("a",), None, 4, 9), because="about 'y' (error 5 %)").note()
        "1 of 4 columns tells something about 'y' (error 5 %)."
        >>> RowResult(Selection(np.array([], int), (), None, 1, 9), because="about 'y' (error 5 %)").note()
        "The only column tells nothing about 'y' (error 5 %). -k 1 takes it all the same."
        """
        notes = []
        if self.because:
            notes.append(_how_many_tell(len(self.selection), self.selection.n_features, self.because))
        if self.held_back:
            notes.append(
                f"{self.held_back:,}{' more' * bool(len(self.selection))} would be selected, but a few large values of "
                "heavy-tailed columns may have met by chance: --method screen:mutual_info goes by ranks, or take "
                "logarithms first."
            )
        if self.n_unlabelled:
            which = "1 row had" if self.n_unlabelled == 1 else f"{self.n_unlabelled:,} rows had"
            verb = "was" if self.n_unlabelled == 1 else "were"
            notes.append(f"{which} no label and {verb} {'learnt like the others' if self.learnt_them else 'left out'}.")
        if self.too_small:
            first, *more = self.too_small
            which = f"{first!r} and {len(more):,} more" if more else repr(first)
            notes.append(
                f"The values of {which} are below {SMALLEST:g}, so small that their squares are 0 and so is the score: "
                "multiply them by 1e200, say."
            )
        return " ".join(notes)

    def reach(self) -> str:
        """The rows seen."""
        return _rows(self.selection.n_rows_seen)


def _rows(n: int) -> str:
    return "1 row" if n == 1 else f"{n:,} rows"


def _how_many_tell(n: int, n_features: int, because: str) -> str:
    """How many features tell something, in a sentence, and what to do where none does."""
    if n_features == 1:
        told = "something" if n else "nothing"
        return f"The only column tells {told} {because}.{'' if n else ' -k 1 takes it all the same.'}"
    which = f"{n or 'None'} of {n_features:,} columns {'tells' if n < 2 else 'tell'} something {because}."
    best = "the ten best" if n_features > 10 else "them"
    return which if n else f"{which} -k {min(n_features, 10)} takes {best} all the same."


def because_of(selector: Any, target: str, n_selected: int) -> str:
    """Which rule on p-values decided how many features a selector has selected; empty where none did."""
    rule = getattr(selector, "n_features_to_select", None)
    beyond = " that those above do not" if n_selected > 1 and getattr(selector, "chosen_together", False) else ""
    return f"about {target!r}{beyond} ({words(rule)})" if isinstance(rule, str) else ""


def distinct_numbers(scores: list[float | str | None]) -> list[str]:
    """Scores as text, with as many digits, up to nine, as it takes to tell different ones apart.

    >>> distinct_numbers([1.5, 0.25, None, "inf"]), distinct_numbers([-7.999971, -7.999972])
    (['1.5', '0.25', '', 'inf'], ['-7.999971', '-7.999972'])
    """
    numbers = {score for score in scores if isinstance(score, float)}
    digits = next((n for n in range(6, 9) if len({f"{score:.{n}g}" for score in numbers}) == len(numbers)), 9)
    return ["" if s is None else f"{s:.{digits}g}" if isinstance(s, float) else str(s) for s in scores]


class RowLoop:
    """A row selector and its stream."""

    takes_prices: ClassVar[bool] = False
    without_end: ClassVar[bool] = True
    takes_columns: ClassVar[bool] = False

    def __init__(self, selector: Any, run: Run, source: Any, stream: Any) -> None:
        self._selector, self._run, self._stream = selector, run, WatchedStream(stream, getattr(selector, "time", None))
        self._known_by = cache(lambda: fingerprint(source, stream))
        self._batch_size = run.settings.get("batch_size", 1000)
        self._course = RowCourse(SnapshotSchedule(self._batch_size))
        self._last: RowStep | None = None  # with a snapshot
        self._source = stream  # as it was opened

    @classmethod
    def open(cls, method: Any, run: Run, source: Any, prices: str | Path | None = None) -> Self:
        """Open a file, or anything else that `open_stream` takes, as rows."""
        given = {name: run.settings[name] for name in READING if name in run.settings}
        stream = open_stream(source, target=run.target or None, task=run.settings.get("task", "auto"), **given)
        if "unlabelled" not in given and isinstance(stream, BlockStream):
            stream.keep_unlabelled()  # the method leaves them out, or learns them
        return cls(method, run, source, stream)

    def source(self) -> dict[str, Any]:
        """What the source is known by."""
        return self._known_by()

    def go_on(self, rows: str | None) -> None:
        """Any rows will do: the selector compares names and kinds of the features."""

    def freeze(self) -> Parts:
        """The position of the stream, and how far we are."""
        return Parts({"course": self._course.as_dict(), "position": self._stream.position()}, {})

    def resume(self, parts: Parts, trace: Parts) -> None:
        """Go on from there."""
        self._course.go_on(parts.facts.get("course"))
        if not self._course.n_rows <= self._selector.n_rows_seen_ + getattr(self._selector, "n_rows_unlabelled_", 0):
            raise SavedStateError("The checkpoint is damaged: its selector has not seen the rows behind its position.")
        self._stream.seek(parts.facts.get("position", {}))

    def reach(self) -> str:
        """The rows behind us."""
        return _rows(self._course.n_rows)

    def steps(self) -> Iterator[RowStep]:
        """Lead the selector over the rows."""
        for step in follow_rows(self._stream, self._selector, self._batch_size, course=self._course):
            self._last = self._last if step.snapshot is None else step
            yield step

    def writer(self, path: str | Path | None, run: Run) -> RowTraceWriter:
        """Record the snapshots."""
        return RowTraceWriter(path, run)

    def result(self, *, complete: bool) -> RowResult | None:
        """The latest selection; a whole stream without rows, or of one class, is refused."""
        if self._last is None and self._course.n_rows and _has_learnt(self._selector):  # resumed at the end
            snapshot = _snapshot(self._selector, None, drifting=False)
            self._last = RowStep(self._course.n_rows, self._course.seconds, None, snapshot)
        if complete:
            self._refuse_nothing_to_learn()
        if self._last is None or self._last.snapshot is None:
            return None
        n_left_out = getattr(self._selector, "n_rows_unlabelled_", 0)
        n_unlabelled = n_left_out or getattr(self._source, "n_unlabelled", 0)
        if self._run.settings.get("unlabelled") == "skip":
            n_unlabelled = 0  # the reader has said it
        selection, explain = self._last.snapshot.selection, getattr(self._selector, "explain_leaders", tuple)
        because = because_of(self._selector, self._run.target, len(selection))
        held_back = getattr(self._selector, "held_back_", 0)
        too_small = self._last.snapshot.too_small
        return RowResult(selection, n_unlabelled, not n_left_out, because, explain, held_back, too_small)

    def _refuse_nothing_to_learn(self) -> None:
        if self._last is None and getattr(self._selector, "n_rows_unlabelled_", 0) > 0:
            raise InputError(
                f"No row of {self._run.data!r} has a label in column {self._run.target!r}: check the target's name."
            )
        if self._last is None:
            raise no_rows(self._run.data)
        classes = getattr(self._selector, "classes_", None)  # a method that uses no labels has none
        if classes is not None and len(classes) < 2:
            label = classes.tolist()[0]
            which = "The only row has" if self._last.n_rows == 1 else f"All {self._last.n_rows:,} rows have"
            raise InputError(
                f"{which} the label {label!r} in column {self._run.target!r}: with one "
                "class nothing can be distinguished, so give rows of a second class or another target."
            )


def no_rows(data: str) -> InputError:
    """The error about a source without rows."""
    return InputError(f"There are no rows in {data!r}: give a file with at least one row below its header.")
