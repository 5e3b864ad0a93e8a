"""Lines as messages: a file that grows (`tail:PATH`), and standard input whose rows have sequence numbers.

Both hold CSV with a header, or one JSON object on each line. A line counts when its line break is there: the half of a
line that somebody is still writing waits for the other half.

A growing file is known by its bytes: a place has a digest of the beginning of the file and of what comes before the
place. A file that became shorter, was replaced (rotated), or does not hold these bytes any more is refused.
"""

from __future__ import annotations

import csv
import hashlib
import os
import select
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from streamsift.core.exceptions import ReaderError, ReadingNotice, SavedStateError
from streamsift.streams.csv import DELIMITERS
from streamsift.streams.files import COMPRESSIONS, READ_LIMITS, how_to_raise, last_record_end, reading
from streamsift.streams.messages import Message, from_json
from streamsift.streams.positions import Position, no_position, whole_number

CHUNK = 1 << 18  # bytes read at once
KNOWN = 1 << 12  # bytes that a place knows a file by
_BOM = b"\xef\xbb\xbf"


class LineReader:
    """Lines of bytes as messages, in the order in which they are fed.

    Parameters
    ----------
    name : str
        For errors.
    json : bool or None
        Whether each line is a JSON object; None: the first line says it. Otherwise it is CSV, and the first line that
        holds anything is the header.
    sep : str or None
        What separates cells; None: the header says it.
    """

    def __init__(self, name: str, json: bool | None = None, sep: str | None = None) -> None:
        self._name, self._json, self._sep = name, json, sep
        self._names: list[str] | None = None
        self._rest = bytearray()
        self.offset, self.line = 0, 1  # of the first byte of the rest

    def begin_at(self, offset: int, line: int) -> None:
        """Go on at another place, behind a header that was read."""
        self.offset, self.line = offset, line
        self._rest.clear()

    @property
    def n_waiting(self) -> int:
        """Bytes that were fed and are not used yet."""
        return len(self._rest)

    def feed(self, data: bytes) -> None:
        """Take more bytes."""
        self._rest += data
        if len(self._rest) > READ_LIMITS.longest_record + CHUNK:
            raise ReaderError(
                f"Line {self.line} of {self._name} is longer than {READ_LIMITS.longest_record:,} bytes: look for a "
                f"quote that is never closed, or, {how_to_raise('longest_record')}."
            )

    def end(self) -> None:
        """Nothing follows: a last line without a line break is complete."""
        if self._rest and not self._rest.endswith(b"\n"):
            self._rest += b"\n"

    def message(self) -> Message | None:
        """The next one; None where no whole line is left."""
        while (record := self._record()) is not None:
            line = self.line
            self.offset += len(record)
            self.line += record.count(b"\n")
            text = record.removeprefix(_BOM) if line == 1 else record
            text = text.rstrip(b"\r\n")
            if not text.strip():
                continue
            if self._json is None:
                self._json = text.lstrip().startswith(b"{")
            if not self._json and self._names is None:
                self._names = self._header(text)
                continue
            where, place = f"Line {line} of {self._name}", {"offset": self.offset, "line": self.line}
            return from_json(place, where, text) if self._json else self._row(place, where, text)
        return None

    @property
    def textual(self) -> bool:
        """Whether values are texts."""
        return not self._json

    @property
    def ready(self) -> bool:
        """Whether the header is known, where there is one."""
        return bool(self._json) or self._names is not None

    def _record(self) -> bytes | None:
        """The bytes of the next record, whose quoted cells may hold line breaks."""
        end = self._rest.find(b"\n") + 1
        delimiter = b"" if self._json else (self._sep or ",").encode()
        while end and delimiter and last_record_end(bytes(self._rest[:end]), delimiter) != end:
            end = self._rest.find(b"\n", end) + 1
        if not end:
            return None
        record = bytes(self._rest[:end])
        del self._rest[:end]
        return record

    def _header(self, text: bytes) -> list[str]:
        try:
            header = text.decode()
        except UnicodeDecodeError as error:
            raise ReaderError(f"The header of {self._name} is not UTF-8 text: write it in UTF-8.") from error
        self._sep = self._sep or max(DELIMITERS, key=header.count)
        names = next(csv.reader([header], delimiter=self._sep))
        if len(set(names)) != len(names):
            raise ReaderError(f"Two columns of {self._name} have one name: give each its own name.")
        return names

    def _row(self, place: Position, where: str, text: bytes) -> Message:
        assert self._names is not None
        assert self._sep is not None
        try:
            cells = next(csv.reader(text.decode().splitlines(keepends=True), delimiter=self._sep))
        except (UnicodeDecodeError, csv.Error, StopIteration):
            return Message(place, where, text, None, "it is not a line of CSV in UTF-8")
        if len(cells) != len(self._names):
            words = f"it has {len(cells)} cells where the header names {len(self._names)} columns"
            return Message(place, where, text, None, words)
        return Message(place, where, text, dict(zip(self._names, cells, strict=True)))


class GrowingFile:
    """A file that others append to; it never ends.

    Parameters
    ----------
    path : path
        Its suffix says what it holds: .jsonl or .ndjson for JSON Lines, anything else CSV.
    sep : str or None
        What separates the cells of CSV.
    """

    ended = False

    def __init__(self, path: str | Path, sep: str | None = None) -> None:
        self._path, self._sep = Path(path), sep
        self.name = str(path)
        suffix = self._path.suffix.lower()
        self._json = suffix in (".jsonl", ".ndjson")
        if suffix in COMPRESSIONS:
            raise ReaderError(f"{path} is compressed and cannot be followed as it grows: give the text itself.")
        if self._path.is_dir() or not self._path.absolute().parent.is_dir():
            raise ReaderError(f"{path} cannot be followed: name a file in a folder that is there.")
        self.textual = not self._json
        self._file: BinaryIO | None = None
        self._identity: Any = None
        self._lines = self._fresh()

    def _fresh(self) -> LineReader:
        return LineReader(self.name, self._json, self._sep)

    def open(self, place: Position | None) -> None:
        """Begin behind a place; a file that is not there yet is waited for, at the beginning only."""
        self.close()
        self._lines = self._fresh()
        if place is None:
            if not self._path.exists():
                warnings.warn(f"There is no file {self.name} yet: it is waited for.", ReadingNotice, stacklevel=2)
            return
        offset, line = whole_number(place, "offset", 1 << 62), whole_number(place, "line", 1 << 62, 1)
        if not isinstance(place.get("known"), str):
            raise no_position("known")
        if not self._path.exists():
            raise ReaderError(f"There is no file {self.name} any more: give the file that the checkpoint is about.")
        self._opened()
        assert self._file is not None
        with reading(self.name):
            size = os.fstat(self._file.fileno()).st_size
            if size < offset or self._known_by(offset) != place["known"]:
                raise ReaderError(
                    f"{self.name} is not the file that the checkpoint is about, or was cut off or replaced (rotated) "
                    "since: give the old file under its new name, then the new one with --load."
                )
            self._file.seek(0)
            while not self._lines.ready and (data := self._file.read(CHUNK)):  # the header says what the cells are
                self._lines.feed(data)
                self._lines.message()
            self._lines.begin_at(offset, line)
            self._file.seek(offset)

    def poll(self, most: int) -> list[Message]:
        """Up to `most` lines that are complete."""
        if self._file is None and not (self._path.exists() and self._opened()):
            return []
        found: list[Message] = []
        while len(found) < most:
            message = self._lines.message()
            if message is not None:
                found.append(message)
            elif not self._read():
                break
        if found:  # only the last place is ever kept
            last = found[-1]
            known = self._known_by(last.place["offset"])
            found[-1] = Message({**last.place, "known": known}, last.where, last.raw, last.fields, last.problem)
        return found

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _opened(self) -> bool:
        with reading(self.name):
            self._file = self._path.open("rb", buffering=0)
        found = os.fstat(self._file.fileno())
        self._identity = found.st_dev, found.st_ino
        return True

    def _read(self) -> bool:
        """Read on; whether there was anything."""
        assert self._file is not None
        with reading(self.name):
            data = self._file.read(CHUNK)
            if data:
                self._lines.feed(data)
                return True
            self._refuse_another_file()
        return False

    def _refuse_another_file(self) -> None:
        assert self._file is not None
        behind = self._lines.offset + self._lines.n_waiting
        if os.fstat(self._file.fileno()).st_size < behind:
            raise ReaderError(
                f"{self.name} was cut off while it was followed: rows may be lost, so append to it only, and begin a "
                "new file for new rows."
            )
        try:
            now = self._path.stat()
        except FileNotFoundError:
            return  # moved away; whoever writes may still write to it
        if (now.st_dev, now.st_ino) != self._identity:
            raise ReaderError(
                f"{self.name} was replaced by another file (rotated); the old one was read to its end, byte "
                f"{behind:,}: go on with it under its new name, then with the new one and --load."
            )

    def _known_by(self, offset: int) -> str:
        """A digest of the first bytes and of those before an offset; it reads without moving."""
        assert self._file is not None
        number = self._file.fileno()
        first = os.pread(number, min(KNOWN, offset), 0)
        start = max(offset - KNOWN, 0)
        return hashlib.sha256(first + os.pread(number, offset - start, start)).hexdigest()


class NumberedInput:
    """Standard input, CSV or JSON Lines, whose rows have sequence numbers: it may be sent again from anywhere."""

    name = "standard input"

    def __init__(self, sep: str | None = None) -> None:
        self._lines = LineReader(self.name, None, sep)
        self._spent = self.ended = False
        self._taken: list[Message] = []

    @property
    def textual(self) -> bool:
        """Whether it is CSV; the first line says it, which is waited for."""
        while not (self._lines.ready or self.ended or self._taken):
            self._read(None)
            message = self._lines.message()
            if message is not None:
                self._taken.append(message)
        return self._lines.textual

    def open(self, place: Position | None) -> None:
        """The sequence numbers tell where to go on, whatever the place says."""
        if self._spent:
            raise ReaderError("standard input can be read only once: save it to a file to read it again.")
        if place is not None and place.keys() != {"offset", "line"}:
            raise SavedStateError("The checkpoint is damaged, or was written for a source of another format.")
        self._spent = True

    def poll(self, most: int) -> list[Message]:
        """Up to `most` lines that are there."""
        found, self._taken = self._taken[:most], self._taken[most:]
        while len(found) < most:
            message = self._lines.message()
            if message is not None:
                found.append(message)
            elif self.ended or not self._read(0.05):
                break
        return found

    def close(self) -> None:
        """Nothing was opened."""

    def _read(self, seconds: float | None) -> bool:
        """Read what is there, or wait so long; whether there was anything, which the end is, too."""
        number = sys.stdin.fileno()
        ready: Sequence[Any] = select.select([number], [], [], seconds)[0]
        if not ready:
            return False
        data = os.read(number, CHUNK)
        if data:
            self._lines.feed(data)
        else:
            self._lines.end()
            self.ended = True
        return True
