"""Dead letters: messages that are no rows, kept in a file of JSON Lines so that somebody can look at them.

How long the file is belongs to the position of the stream. A run that goes on from a checkpoint cuts off what was
written after it, since the same messages come again: each is in the file once.
"""

from __future__ import annotations

import base64
import json
import os
import warnings
from pathlib import Path
from typing import Any

from streamsift.core.exceptions import ParameterError, ReaderError, ReadingNotice, SavedStateError
from streamsift.streams.messages import Message
from streamsift.streams.positions import whole_number


class DeadLetters:
    """Where poison messages go; without a file the first one is an error.

    Parameters
    ----------
    path : path or None
        A file that is begun anew, or gone on with where a position is taken up.
    may_move : bool
        A file that holds something, without a position to go on from, is moved to `PATH.old` and not refused: it comes
        from a run that was killed before its first checkpoint, and the same messages come again.
    """

    def __init__(self, path: str | Path | None, *, may_move: bool = False) -> None:
        self._may_move = may_move
        self._path = None if path is None else Path(path)
        self.count = self._size = 0
        if self._path is not None and (self._path.is_dir() or not self._path.absolute().parent.is_dir()):
            raise ParameterError(f"{self._path} cannot be written: name a file for the dead letters in a folder.")

    def begin(self) -> None:
        """Begin with an empty file; one that holds something is not overwritten."""
        if self._path is not None and self._path.exists() and self._path.stat().st_size:
            if self._may_move:
                self._path.replace(f"{self._path}.old")
                warnings.warn(f"{self._path} was moved to {self._path}.old", ReadingNotice, stacklevel=2)
                return
            raise ParameterError(
                f"{self._path} holds dead letters already: name another file with --dead-letters, or move it away."
            )

    def put(self, message: Message, problem: str) -> None:
        """Keep a message; ReaderError where nobody said where."""
        if self._path is None:
            raise ReaderError(
                f"{message.where} is no row: {problem}; correct it, or have such messages skipped and kept in a file "
                "with dead_letters= (--dead-letters FILE)."
            )
        try:
            content = {"message": message.raw.decode()}
        except UnicodeDecodeError:
            content = {"base64": base64.b64encode(message.raw).decode()}
        line = json.dumps({"where": message.where, "why": problem, **content}).encode() + b"\n"
        with self._path.open("ab") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self._size += len(line)
        self.count += 1

    def as_dict(self) -> dict[str, int]:
        """As JSON keeps it."""
        return {"count": self.count, "bytes": self._size}

    def go_on(self, found: Any) -> None:
        """Go on behind the letters of a checkpoint, without those that were written after it."""
        count, size = whole_number(found, "count"), whole_number(found, "bytes", 1 << 62)
        if self._path is None and size:
            raise ParameterError(
                f"The checkpoint has {count:,} dead letters: give the same --dead-letters FILE, so that others can go "
                "behind them."
            )
        if self._path is not None:
            there = self._path.stat().st_size if self._path.exists() else 0
            if there < size:
                raise SavedStateError(
                    f"{self._path} is shorter than when the checkpoint was written: give the file of that run."
                )
            if there > size:
                os.truncate(self._path, size)
        self.count, self._size = count, size

    def words(self) -> str:
        """What is said about them at the end.

        >>> letters = DeadLetters("bad.jsonl")
        >>> letters.count = 2
        >>> letters.words()
        '2 messages were no rows and are in bad.jsonl'
        """
        which = "1 message was no row and is" if self.count == 1 else f"{self.count:,} messages were no rows and are"
        return f"{which} in {self._path}"
