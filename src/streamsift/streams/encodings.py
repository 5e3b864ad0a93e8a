"""Text in other encodings as UTF-8: a byte order mark decides by itself, else what the user says, else UTF-8."""

from __future__ import annotations

import codecs
import io
import os
from typing import Any

from streamsift.core.exceptions import ParameterError, ReaderError

# The longer marks first: that of UTF-32 begins like that of UTF-16.
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LONGEST_MARK = 4
_PIECE = 1 << 20  # bytes that are read at a time where they are skipped
_UTF8 = ("utf-8", "ascii")


def check_encoding(encoding: str) -> str:
    """The name Python has for an encoding of text; others are refused.

    >>> check_encoding("latin1"), check_encoding("UTF8")
    ('iso8859-1', 'utf-8')
    """
    try:
        codec = codecs.lookup(encoding)
        codec.incrementaldecoder().decode(b"", final=True).encode()
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise ParameterError(
            f"'encoding' must be an encoding of text that Python knows, such as 'latin-1', 'cp1252' or 'utf-16'. "
            f"Got {encoding!r} instead."
        ) from error
    return "utf-8" if codec.name == "utf-8-sig" else codec.name


class Utf8Reader:
    """The bytes of a file as UTF-8 without a byte order mark; `name` is what errors call it."""

    def __init__(self, file: Any, encoding: str | None, name: str) -> None:
        self._file, self._name = file, name
        self._seeks = isinstance(file, io.FileIO) and file.seekable()
        start = b""
        while len(start) < _LONGEST_MARK and (piece := file.read(_LONGEST_MARK - len(start))):
            start += piece
        mark, self._encoding = next(
            (found for found in MARKS if start.startswith(found[0])), (b"", encoding or "utf-8")
        )
        if not mark and self._encoding in ("utf-16", "utf-32"):
            self._encoding += "-le"  # without a mark: as Windows writes it
        self._decoder = None if self._encoding in _UTF8 else codecs.getincrementaldecoder(self._encoding)()
        self._n_read = len(mark)
        self._ready = b""  # UTF-8 that was not asked for yet
        start = start[len(mark) :]
        self._ready = start if self._decoder is None else self._decoded(start)

    def read(self, n_bytes: int) -> bytes:
        """The next bytes, at most so many; none at the end."""
        if not self._ready and self._decoder is None:
            return bytes(self._file.read(n_bytes))
        while not self._ready:
            piece = self._file.read(n_bytes)
            self._ready = self._decoded(piece)
            if not piece:
                break
        given, self._ready = self._ready[:n_bytes], self._ready[n_bytes:]
        return given

    def skip(self, n_bytes: int) -> None:
        """Leave out the next bytes, as many as there are; in a plain file without reading them."""
        passed = min(max(n_bytes, 0), len(self._ready))
        self._ready, n_bytes = self._ready[passed:], n_bytes - passed
        if n_bytes > 0 and self._decoder is None and self._seeks:
            self._file.seek(n_bytes, os.SEEK_CUR)
            return
        while n_bytes > 0 and (piece := self.read(min(n_bytes, _PIECE))):
            n_bytes -= len(piece)

    def _decoded(self, piece: bytes) -> bytes:
        assert self._decoder is not None
        waiting = len(self._decoder.getstate()[0])
        try:
            text = self._decoder.decode(piece, final=not piece).encode()
        except UnicodeError as error:  # some encodings do not say where, and some give half a surrogate pair
            where = "it"
            if isinstance(error, UnicodeDecodeError):
                where = f"byte {self._n_read - waiting + error.start:,}"
            raise ReaderError(
                f"{self._name} is not {self._encoding} text, {where} cannot be decoded: say which encoding it is with "
                "encoding= (--encoding), such as latin-1 or cp1252."
            ) from error
        self._n_read += len(piece)
        return text
