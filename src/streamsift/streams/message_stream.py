"""MessageStream: messages of any source as a stream of rows whose position can be kept in a checkpoint.

Batches are cut by the messages alone: a batch waits until it is full, however long that takes, so that a run that was
killed and goes on sees the same batches as one that nobody disturbed. Only the last batch of a source that has ended,
or has been idle for as long as the user wants to wait, may be shorter. At most one batch of messages is in memory: what
cannot be learnt yet stays where it is.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from streamsift.core import interrupts
from streamsift.core.batch import Batch
from streamsift.core.constraints import Integer, check_parameters
from streamsift.core.exceptions import ReadingNotice
from streamsift.streams.blocks import BlockStream
from streamsift.streams.dead_letters import DeadLetters
from streamsift.streams.message_rows import MessageRows, PoisonError, Row
from streamsift.streams.messages import Message, MessageSource
from streamsift.streams.positions import Position, no_position, whole_number
from streamsift.streams.table import words_for_skipped

PAUSE = 0.05  # seconds between two looks at a source that has nothing new
_HIGHEST = 1 << 63


class MessageStream(BlockStream):
    """Rows from messages.

    Parameters
    ----------
    source : MessageSource
    target : str
        The key of the label.
    stop_after_idle : float or None
        Seconds without a message after which the stream ends; None: never.
    dead_letters : path or None
        The file for messages that are no rows; None: such a message is an error.
    resumes : bool
        Whether dead letters that are there before the beginning are moved away; see DeadLetters.
    sequence : str or None
        The key of a whole number that grows from row to row: what is not beyond the last one is left out.
    heard : callable
        Called at each look at the source with words on how full the next batch is; with none when it is full.
    agree : callable, optional
        Called with what the first rows say the columns are, and returns what they are, for streams that are read side
        by side and whose states are merged.
    """

    target_name: str

    def __init__(
        self,
        source: MessageSource,
        target: str,
        *,
        stop_after_idle: float | None = None,
        dead_letters: Any = None,
        resumes: bool = False,
        sequence: str | None = None,
        categorical: Sequence[str] = (),
        ignore: Sequence[str] = (),
        heard: Callable[[str], None] = lambda words: None,
        agree: Callable[[dict[str, Any]], dict[str, Any]] = lambda columns: columns,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.target_name = target
        self._source, self._idle, self._sequence = source, stop_after_idle, sequence
        self._letters = DeadLetters(dead_letters, may_move=resumes)
        ignored = (*ignore, *(() if sequence is None else (sequence,)))
        self._options = {"categorical": tuple(categorical), "ignore": ignored}
        self._heard, self._agree, self._clock, self._sleep = heard, agree, clock, sleep
        self._unlabelled = "error"
        self._forget()

    def _forget(self) -> None:
        self._rows = MessageRows(self.target_name, textual=self._source.textual, **self._options)
        self._behind: Position | None = None  # the place behind the latest message of the latest batch
        self._last: int | None = None  # the sequence number of the latest row
        self._n_unlabelled = self._n_repeated = 0
        self._waiting: list[Message] = []  # of the next batch
        self._filled: list[Row] = []  # of the next batch, when enough messages had come, but not all of them were rows
        self._kept = self._now()

    # -- what a stream tells ---------------------------------------------------------------------------------------

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return self._rows.names or None

    @property
    def categories(self) -> dict[str, tuple[str, ...]]:
        return self._rows.categories

    @property
    def feature_kinds(self) -> None:
        return None  # nobody knows before the messages have come

    @property
    def n_unlabelled(self) -> int:
        return self._n_unlabelled

    @property
    def n_dead_letters(self) -> int:
        """How many messages were no rows so far."""
        return self._letters.count

    def progress(self) -> None:
        return None

    def known_by(self) -> dict[str, Any]:
        """What the source is known by in a checkpoint; its place holds the rest."""
        return {"columns": type(self._source).__name__, "sequence": self._sequence}

    def skip_unlabelled(self) -> None:
        self._unlabelled = "skip"

    def keep_unlabelled(self) -> bool:
        self._unlabelled = "keep"
        return True

    # -- positions -------------------------------------------------------------------------------------------------

    def position(self) -> Position:
        """Where the latest batch ends, and what was known there."""
        return self._kept

    def _now(self) -> Position:
        return {
            "rows": self._n_given,
            "place": self._behind,
            "columns": self._rows.as_dict(),
            "dead_letters": self._letters.as_dict(),
            "sequence": self._last,
            "unlabelled": self._n_unlabelled,
            "repeated": self._n_repeated,
        }

    def seek(self, position: Position) -> None:
        """Let the next reading begin at a position."""
        for key in ("rows", "unlabelled", "repeated"):
            whole_number(position, key)
        place, last = position.get("place"), position.get("sequence")
        if not (place is None or isinstance(place, dict)):
            raise no_position("place")
        if last is not None:
            whole_number(position, "sequence", _HIGHEST, -_HIGHEST)
        MessageRows(self.target_name, textual=self._source.textual).go_on(position.get("columns"))
        self._start = position

    def _begin(self, start: Position | None) -> None:
        self._n_given = 0
        self._forget()
        if start is None:
            self._letters.begin()
        else:
            self._rows.go_on(start["columns"])
            self._letters.go_on(start.get("dead_letters"))
            self._n_given, self._behind, self._last = start["rows"], start["place"], start["sequence"]
            self._n_unlabelled, self._n_repeated = start["unlabelled"], start["repeated"]
        self._kept = self._now()
        self._source.open(self._behind)

    # -- batches ---------------------------------------------------------------------------------------------------

    def batches(self, batch_size: int) -> Iterator[Batch]:
        """Batches as the messages come; it ends when the source does, or is idle for too long."""
        check_parameters("batches", {"size": batch_size}, {"size": (Integer(1, None),)})
        start, self._start = self._start, None
        return self._given_from(start, batch_size)

    def _given_from(self, start: Position | None, size: int) -> Iterator[Batch]:
        try:
            self._begin(start)
            heard = self._clock()
            while True:
                interrupts.check()
                found, batch = self.look(size)
                if batch is not None:
                    yield batch
                if found:
                    heard = self._clock()
                elif self._source.ended or (self._idle is not None and self._clock() - heard >= self._idle):
                    break
                else:
                    self._sleep(PAUSE)
            batch = self.rest()
            if batch is not None:
                yield batch
        finally:
            self._source.close()
        self._say_what_was_left_out()

    def _blocks(self, size: int) -> Iterator[Batch]:
        return self.batches(size)

    # For sources that are read side by side, of which nobody waits for one: begin, look and look, and take the rest.

    def begin(self) -> None:
        """Open the source at the position that was sought, or at its beginning."""
        start, self._start = self._start, None
        self._begin(start)

    def rest(self) -> Batch | None:
        """What has come of a batch that is not full; None: nothing."""
        self._filled += self._taken(self._waiting)
        self._waiting = []
        return self._batch()

    def look(self, size: int) -> tuple[bool, Batch | None]:
        """Take what is there now: whether anything was, and the next batch, if it is full."""
        found = self._source.poll(size - len(self._filled) - len(self._waiting))
        self._waiting += self._fit(found)
        count = len(self._filled) + len(self._waiting)
        self._heard(self._fullness(count, size))
        if count == size:
            self._filled += self._taken(self._waiting)
            self._waiting = []
        if len(self._filled) < size:
            return bool(found), None
        self._heard("")
        return bool(found), self._batch()

    def _batch(self) -> Batch | None:
        """The rows that have come as a batch, behind which the position is then."""
        rows, self._filled = self._filled, []
        batch = self._rows.batch(rows) if rows else None
        self._n_given += 0 if batch is None else batch.n_rows
        self._kept = self._now()
        return batch

    def _fullness(self, count: int, size: int) -> str:
        n_dead = self.n_dead_letters
        letters = f", {n_dead:,} dead {'letter' if n_dead == 1 else 'letters'}" if n_dead else ""
        return f"{count:,} of {size:,} rows for the next batch{letters}"

    def _fit(self, messages: Sequence[Message]) -> list[Message]:
        """The messages that have values, and are not known already."""
        kept = []
        for message in messages:
            self._behind = message.place
            fields = message.fields
            if fields is None:
                self._letters.put(message, message.problem)
            elif self._sequence is None or self._is_next(message, fields):
                kept.append(message)
        return kept

    def _is_next(self, message: Message, fields: dict[str, Any]) -> bool:
        """Whether the sequence number of a message is beyond all before it."""
        assert self._sequence is not None
        value = fields.get(self._sequence)
        text = str(value).strip() if isinstance(value, int | str) and not isinstance(value, bool) else ""
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdecimal() and len(digits) < 19):
            self._letters.put(message, f"its sequence number {self._sequence!r} is no whole number")
            return False
        if self._last is not None and int(text) <= self._last:
            self._n_repeated += 1
            return False
        self._last = int(text)
        return True

    def _taken(self, waiting: Sequence[Message]) -> list[Row]:
        """Messages as rows, without those that are none."""
        kept: list[Row] = []
        fields = [message.fields or {} for message in waiting]
        begins = not self._rows.names
        found = self._rows.rows(fields)
        if begins and self._rows.names and self._rows.decide(self._agree(self._rows.decided())):
            found = self._rows.rows(fields)
        for message, row in zip(waiting, found, strict=True):
            if isinstance(row, PoisonError):
                self._letters.put(message, str(row))
            elif row[1] is None and self._unlabelled == "error":
                self._letters.put(message, f"it has no label {self.target_name!r}")
            else:
                self._n_unlabelled += row[1] is None
                if row[1] is not None or self._unlabelled == "keep":
                    kept.append(row)
        return kept

    def _say_what_was_left_out(self) -> None:
        if self._n_unlabelled and self._unlabelled == "skip":
            warnings.warn(words_for_skipped(self.target_name, self._n_unlabelled), ReadingNotice, stacklevel=2)
        if self._n_repeated:
            words = "row came again and was" if self._n_repeated == 1 else "rows came again and were"
            warnings.warn(f"{self._n_repeated:,} {words} left out", ReadingNotice, stacklevel=2)
        if self._letters.count:
            warnings.warn(self._letters.words(), ReadingNotice, stacklevel=2)
