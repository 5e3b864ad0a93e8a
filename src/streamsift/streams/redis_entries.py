"""Redis Streams as messages: entries are read by their ids, and the id of the latest one is the place.

No consumer group is used and nothing is written to the server: the id in the checkpoint is all that counts. An entry
that was trimmed before it was read is noticed by the number of entries that were ever added (Redis 7 and later).
"""

from __future__ import annotations

import json
import re
import warnings
from typing import Any
from urllib.parse import unquote, urlsplit

from streamsift.core.exceptions import MissingExtraError, ParameterError, ReaderError, ReadingNotice
from streamsift.streams.message_formats import Decode
from streamsift.streams.messages import Message, from_json
from streamsift.streams.positions import Position, no_position, whole_number

BEGINNING = "0-0"
SECONDS = 10.0  # until a server that does not answer counts as gone
_ID = re.compile(r"\d{1,20}-\d{1,20}")


class RedisEntries:
    """The entries of a Redis stream, `redis://[user:password@]host[:port]/stream`; it never ends.

    Parameters
    ----------
    url : str
        The server and the stream.
    field : str or None
        The field of an entry that holds a message; None: the fields of an entry are the values, as texts.
    db : int
        The database of the server.
    decode : callable
        What the message in the field is: see message_formats.
    """

    ended = False

    def __init__(self, url: str, *, field: str | None = None, db: int = 0, decode: Decode = from_json) -> None:
        parts = urlsplit(url)
        self._key = unquote(parts.path.removeprefix("/"))
        if not parts.hostname or not self._key:
            raise ParameterError("A Redis stream is named as redis://host:port/stream.")
        try:
            import redis
        except ImportError as error:
            raise MissingExtraError("A Redis stream", "redis", "redis") from error
        self._errors = redis.exceptions.RedisError
        port = parts.port or 6379
        self.name = f"the Redis stream {self._key!r} at {parts.hostname}:{port}"
        self._field, self._decode = field, decode
        self.textual = field is None
        self._client: Any = redis.Redis(
            host=parts.hostname,
            port=port,
            db=db,
            username=None if parts.username is None else unquote(parts.username),
            password=None if parts.password is None else unquote(parts.password),
            socket_timeout=SECONDS,
            socket_connect_timeout=SECONDS,
        )
        self._told = False  # that there is no such stream yet
        self._id = BEGINNING
        self._n_read: int | None = None  # entries ever added that are behind us; None: nobody counts them

    def open(self, place: Position | None) -> None:
        """Begin behind an entry, or with the first one."""
        self._id, self._n_read = BEGINNING, None
        if place is not None:
            found = place.get("id")
            if not isinstance(found, str) or not _ID.fullmatch(found):
                raise no_position("id")
            if place.get("added") is not None:
                self._n_read = whole_number(place, "added", 1 << 63)
            self._id = found
        self._look(1)  # a server that is not there is to be told at once

    def poll(self, most: int) -> list[Message]:
        """Up to `most` entries behind the latest."""
        found = []
        for raw_id, raw in self._look(most):
            self._id = raw_id.decode()
            self._n_read = None if self._n_read is None else self._n_read + 1
            place = {"id": self._id, "added": self._n_read}
            found.append(self._message(place, f"Entry {self._id} of {self.name}", raw))
        return found

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _look(self, most: int) -> list[Any]:
        """The next entries, at the same instant as what the server says about the stream."""
        try:
            with self._client.pipeline(transaction=True) as both:
                both.xinfo_stream(self._key)
                both.xrange(self._key, min=f"({self._id}", count=most)
                about, entries = both.execute(raise_on_error=False)
        except (self._errors, OSError) as error:
            raise ReaderError(f"Cannot read {self.name}: {_sentence(error)}; start the server and resume.") from error
        if isinstance(entries, Exception):
            raise ReaderError(f"Cannot read {self.name}: {_sentence(entries)}.")
        if isinstance(about, Exception):
            self._refuse_gone(None)
            return []  # nobody has added anything yet
        self._refuse_gone(about)
        return list(entries)

    def _refuse_gone(self, about: Any) -> None:
        """ReaderError where entries were removed that nobody has read."""
        if about is None:
            if self._id != BEGINNING:
                raise ReaderError(f"There is no more {self.name[4:]}, which was read up to {self._id}: restore it.")
            if not self._told:
                warnings.warn(f"There is no {self.name[4:]} yet: it is waited for.", ReadingNotice, stacklevel=2)
            self._told = True
            return
        if _parts(about["last-generated-id"]) < _parts(self._id):
            raise ReaderError(
                f"This is another stream than {self.name} that was read up to {self._id}: its latest entry is older."
            )
        added = about.get("entries-added")
        if added is None:
            return
        n_gone = added - about["length"]
        if self._n_read is None:
            self._n_read = n_gone if self._id == BEGINNING else None
        if self._n_read is not None and n_gone > self._n_read:
            raise ReaderError(
                f"Rows are lost: {n_gone - self._n_read:,} entries behind {self._id} of {self.name} were removed "
                "before they were read; trim it less, or start again with another checkpoint."
            )

    def _message(self, place: Position, where: str, raw: dict[bytes, bytes]) -> Message:
        if self._field is not None:
            found = raw.get(self._field.encode())
            if found is None:
                names = ", ".join(repr(name.decode(errors="backslashreplace")) for name in list(raw)[:5])
                return Message(place, where, _shown(raw), None, f"it has no field {self._field!r}, only {names}")
            return self._decode(place, where, found)
        try:
            fields = {name.decode(): value.decode() for name, value in raw.items()}
        except UnicodeDecodeError:
            return Message(place, where, _shown(raw), None, "it is not UTF-8 text")
        if len(fields) == 1 and (name := next(iter(fields))) and fields[name].startswith("{"):
            return Message(
                place, where, _shown(raw), None, f"its only field holds JSON: add ?field={name} to the address"
            )
        return Message(place, where, _shown(raw), fields)


def _parts(found: bytes | str) -> tuple[int, ...]:
    """The two numbers of an id."""
    text = found.decode() if isinstance(found, bytes) else found
    return tuple(int(part) for part in text.split("-"))


def _shown(raw: dict[bytes, bytes]) -> bytes:
    texts = {
        name.decode(errors="backslashreplace"): value.decode(errors="backslashreplace") for name, value in raw.items()
    }
    return json.dumps(texts).encode()


def _sentence(error: Exception) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
