"""Messages: rows that arrive one by one from a source without an end, each with the place behind it.

A message source reads a growing file, a log of a broker or standard input. It has five members:

    name, textual       for errors; whether all values are texts, so that numbers must be recognised
    ended               whether nothing can follow any more (only standard input ever ends)
    open(place)         begin behind a place that a message had; None: at the beginning
    poll(most)          up to `most` messages that are there now, in order; it never waits for long
    close()

A place is a dict that JSON can keep. It comes back from a checkpoint, so `open` checks it and raises SavedStateError.
Nothing is ever acknowledged to a broker: the place in the checkpoint is the only one that counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from streamsift.core.plain_json import read_json
from streamsift.streams.positions import Position

MOST_VALUES = 1 << 20  # in one message: beyond that it is no row


@dataclass(frozen=True, slots=True)
class Message:
    """One message: its values by name, or the problem for which it has none.

    `place` is behind it, `where` words it for errors, `raw` is what arrived.
    """

    place: Position
    where: str
    raw: bytes
    fields: dict[str, Any] | None
    problem: str = ""


class MessageSource(Protocol):
    """Where messages come from."""

    @property
    def name(self) -> str: ...

    @property
    def textual(self) -> bool: ...

    @property
    def ended(self) -> bool: ...

    def open(self, place: Position | None) -> None:
        """Begin behind a place, or at the beginning."""
        ...

    def poll(self, most: int) -> list[Message]:
        """Up to `most` messages that are there; none where there is nothing now."""
        ...

    def close(self) -> None:
        """Give back what was opened."""
        ...


def from_json(place: Position, where: str, raw: bytes) -> Message:
    """A message that is a JSON object; lists of numbers in it become the values name[0], name[1], ...

    >>> from_json({}, "Line 1", b'{"a": 1, "v": [2, 3]}').fields
    {'a': 1, 'v[0]': 2, 'v[1]': 3}
    >>> from_json({}, "Line 1", b"[1]").problem
    'it is no JSON object'
    """
    try:
        found = read_json(raw)
    except ValueError:  # UnicodeDecodeError is a ValueError
        return Message(place, where, raw, None, "it is not JSON")
    if not isinstance(found, dict):
        return Message(place, where, raw, None, "it is no JSON object")
    return flat(place, where, raw, found)


def flat(place: Position, where: str, raw: bytes, found: dict[str, Any]) -> Message:
    """A message with these values, of which lists become the values name[0], name[1], ..."""
    if not any(isinstance(value, list) for value in found.values()):
        return Message(place, where, raw, found)
    fields: dict[str, Any] = {}
    for name, value in found.items():
        parts = {f"{name}[{k}]": part for k, part in enumerate(value)} if isinstance(value, list) else {name: value}
        if parts.keys() & fields.keys() or len(fields) + len(parts) > MOST_VALUES:
            return Message(place, where, raw, None, f"its list {name!r} has names that are taken, or too many values")
        fields |= parts
    return Message(place, where, raw, fields)
