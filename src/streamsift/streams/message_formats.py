"""What is inside a message: a JSON object, a record of Avro, or rows of Arrow.

A message comes from others, so nothing in it is trusted: whatever cannot be read is a poison message with a problem in
words. Avro is read with the user's schema only. A schema that refers to itself, or whose lists may have items of no
bytes, is refused, because a few bytes could then mean rows without end.
"""

from __future__ import annotations

import datetime
import decimal
import io
import json
import struct
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from streamsift.core.exceptions import MissingExtraError, ParameterError
from streamsift.streams.messages import MOST_VALUES, Message, MessageSource, flat, from_json
from streamsift.streams.positions import Position, no_position, whole_number

FORMATS = ("json", "avro", "arrow")
Decode = Callable[[Position, str, bytes], Message]  # the place behind a message, its words for errors, its bytes

_PREFIX = struct.Struct(">BI")  # of a schema registry: a zero and the number of the schema
_TEXTS = ("string", "large_string", "string_view")  # of Arrow
_TOO_MANY = f"it has more than {MOST_VALUES:,} values: send smaller messages"
# What fastavro raises for bytes that are no record of its schema.
_NO_RECORD = (EOFError, IndexError, KeyError, ArithmeticError, RecursionError, TypeError, ValueError, struct.error)


def decoder(chosen: str, schema: str | None, schema_id: str | None) -> Decode:
    """The function for messages of a format, as an address names it."""
    if chosen not in FORMATS:
        raise ParameterError(f"There is no format {chosen!r} of messages: give format={', '.join(FORMATS)}.")
    if chosen == "avro":
        return _avro(schema, schema_id)
    if schema is not None or schema_id is not None:
        raise ParameterError(f"A schema is for format=avro, not for {chosen!r}: leave it out.")
    return from_json if chosen == "json" else _undecoded


def _undecoded(place: Position, where: str, raw: bytes) -> Message:
    """As it came; ArrowRows looks into it."""
    return Message(place, where, raw, None)


def _plain(value: Any) -> Any:
    """A value as JSON would have it: dates as texts, decimals as numbers."""
    if isinstance(value, datetime.datetime | datetime.date):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, uuid.UUID):
        return str(value)
    return [_plain(part) for part in value] if isinstance(value, list) else value


# -- Avro -------------------------------------------------------------------------------------------------------------


def _avro(path: str | None, schema_id: str | None) -> Decode:
    if path is None:
        raise ParameterError("format=avro needs the schema of the messages: add schema=FILE (.avsc) to the address.")
    if schema_id is not None and not (schema_id.isascii() and schema_id.isdecimal() and int(schema_id) < 1 << 32):
        raise ParameterError(f"'schema_id' must be the number of a schema in a registry. Got {schema_id!r} instead.")
    try:
        import fastavro
    except ImportError as error:
        raise MissingExtraError("format=avro", "fastavro", "avro") from error
    schema = _read_schema(path, fastavro)
    number = None if schema_id is None else int(schema_id)

    def record(raw: bytes) -> Any:
        """The record that these bytes are, all of them; ValueError and others where they are none."""
        file = io.BytesIO(raw)
        found = fastavro.schemaless_reader(file, schema, None)
        if file.tell() != len(raw):
            raise ValueError("bytes are left over")
        return {name: _plain(value) for name, value in found.items()}

    def decode(place: Position, where: str, raw: bytes) -> Message:
        body = raw
        if number is not None:
            if len(raw) < _PREFIX.size or _PREFIX.unpack_from(raw) != (0, number):
                words = f"it does not begin with schema {number} of a registry (a zero, then the number in four bytes)"
                return Message(place, where, raw, None, words)
            body = raw[_PREFIX.size :]
        try:
            return flat(place, where, raw, record(body))
        except _NO_RECORD:
            return Message(place, where, raw, None, _why_no_record(raw, record, number))

    return decode


def _why_no_record(raw: bytes, record: Callable[[bytes], Any], number: int | None) -> str:
    if number is None and raw[:1] == b"\0" and len(raw) > _PREFIX.size:
        try:
            record(raw[_PREFIX.size :])
        except _NO_RECORD:
            pass
        else:
            asked = _PREFIX.unpack_from(raw)[1]
            return (
                f"it begins with the 5 bytes of a schema registry (schema {asked}), which is not asked; add "
                f"schema_id={asked} to the address if that is the schema of the file"
            )
    return "it is no Avro record of the schema"


def _read_schema(path: str, fastavro: Any) -> Any:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(f"The schema {path} cannot be read: name a file with a schema of Avro (.avsc).") from error
    try:
        parsed = fastavro.parse_schema(json.loads(text))
    except fastavro.schema.UnknownType as error:
        raise ParameterError(f"{path} is no schema of Avro: there is no type {error}.") from error
    except (json.JSONDecodeError, fastavro.schema.SchemaParseException) as error:
        words = str(error).strip().partition("\n")[0].rstrip(".")
        raise ParameterError(f"{path} is no schema of Avro: {words}.") from error
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ParameterError(f"{path} is no schema of Avro: something in it is missing or misplaced.") from error
    if not isinstance(parsed, dict) or parsed.get("type") != "record" or not parsed["fields"]:
        raise ParameterError(f"The schema in {path} must be a record, whose fields are the columns.")
    for problem in _problems(parsed, {}, ()):
        raise ParameterError(f"The schema in {path} cannot be used: {problem}.")
    return parsed


def _problems(schema: Any, named: dict[str, Any], within: tuple[str, ...]) -> Iterator[str]:
    """Types for which a short message may be endless."""
    if isinstance(schema, list):
        for branch in schema:
            yield from _problems(branch, named, within)
    elif isinstance(schema, str):
        if schema in within:
            yield f"{schema!r} refers to itself, so that a message may be nested without end"
        elif schema in named:
            yield from _problems(named[schema], named, within)
    elif schema["type"] in ("record", "error"):
        named[schema["name"]] = schema
        for field in schema["fields"]:
            yield from _problems(field["type"], named, (*within, schema["name"]))
    elif schema["type"] == "array":
        if _may_be_empty(schema["items"], named):
            yield "a list has items of no bytes, so that a short message may hold any number of them"
        yield from _problems(schema["items"], named, within)
    elif schema["type"] == "map":
        yield from _problems(schema["values"], named, within)
    elif schema["type"] in ("fixed", "enum"):
        named[schema["name"]] = schema


def _may_be_empty(schema: Any, named: Mapping[str, Any]) -> bool:
    """Whether a value may take no bytes."""
    if isinstance(schema, str):
        return schema == "null" or (schema in named and _may_be_empty(named[schema], named))
    if isinstance(schema, list):
        return False  # a union says which it is
    if schema["type"] in ("record", "error"):
        return all(_may_be_empty(field["type"], named) for field in schema["fields"])
    return bool(schema["type"] == "null" or (schema["type"] == "fixed" and schema["size"] == 0))


# -- Arrow ------------------------------------------------------------------------------------------------------------


class ArrowRows:
    """Messages of another source, each an Arrow IPC stream, as one message per row.

    A place in the middle of a message is the place before it, and how many of its rows came already. Where a source has
    several partitions, another message may come first when it is opened again: so a place names the message.

    Parameters
    ----------
    source : MessageSource
        Whose messages have not been looked into.
    """

    textual = False

    def __init__(self, source: MessageSource) -> None:
        self._source, self.name = source, source.name
        self._ready: list[Message] = []
        self._before: Position | None = None  # the place before the next message of the source
        self._begun: dict[str, int] = {}  # messages of which some rows came before, and how many

    @property
    def ended(self) -> bool:
        """Whether nothing can follow."""
        return self._source.ended and not self._ready

    def open(self, place: Position | None) -> None:
        """Begin behind a row."""
        self._ready, self._before, self._begun = [], None, {}
        if place is not None:
            self._before, begun = place.get("message"), place.get("begun")
            if not (self._before is None or isinstance(self._before, dict)) or not isinstance(begun, dict):
                raise no_position("message")
            self._begun = {where: whole_number(begun, where, MOST_VALUES) for where in begun}
        self._source.open(self._before)

    def poll(self, most: int) -> list[Message]:
        """Up to `most` rows that are there."""
        while not self._ready:
            found = self._source.poll(1)
            if not found:
                return []
            self._ready = self._rows(found[0])
            self._before = found[0].place
        taken, self._ready = self._ready[:most], self._ready[most:]
        return taken

    def close(self) -> None:
        """Close the source."""
        self._source.close()

    def _rows(self, message: Message) -> list[Message]:
        """The rows of a message that did not come before."""
        n_before = self._begun.pop(message.where, 0)
        behind = {"message": message.place, "begun": dict(self._begun)}
        try:
            rows = _read_rows(message.raw)
        except (pa.ArrowException, OSError, ValueError, ArithmeticError, MemoryError) as error:
            words = str(error) if type(error) is ValueError else "it is no Arrow IPC stream"
            return [Message(behind, message.where, message.raw, None, words)]
        found = []
        for number, row in enumerate(rows[n_before:], start=n_before + 1):
            within = {"message": self._before, "begun": {**self._begun, message.where: number}}
            raw = json.dumps(row, default=repr).encode()
            where = f"Row {number} of the message at {message.where[0].lower()}{message.where[1:]}"
            found.append(flat(within if number < len(rows) else behind, where, raw, row))
        return found


def _read_rows(raw: bytes) -> list[dict[str, Any]]:
    """The rows of an Arrow IPC stream; ValueError in words where there are none, or too many."""
    with pa.ipc.open_stream(raw) as reader:
        names = reader.schema.names
        if len(set(names)) != len(names):
            raise ValueError("two of its columns have one name")
        rows: list[dict[str, Any]] = []
        for batch in reader:
            if (len(rows) + batch.num_rows) * max(len(names), 1) > MOST_VALUES:
                raise ValueError(_TOO_MANY)
            batch.validate(full=True)
            columns = [_values(batch.column(k)) for k in range(len(names))]
            rows += [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    if not rows:
        raise ValueError("it has no rows")
    return rows


def _values(column: Any) -> list[Any]:
    """The values of a column; one that no column of ours can hold is {}, which is poison unless it is ignored."""
    kind = column.type
    items = kind.value_type if pa.types.is_dictionary(kind) or _is_list(kind) else kind
    if not _is_simple(items):
        return [{} if there else None for there in column.is_valid().to_pylist()]
    if _is_list(kind) and len(column.flatten()) > MOST_VALUES:
        raise ValueError(_TOO_MANY)
    return [_plain(value) for value in column.to_pylist()]


def _is_list(kind: Any) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _is_simple(kind: Any) -> bool:
    """Whether a value takes space of its own, and is no list, struct or map."""
    return pa.types.is_primitive(kind) or pa.types.is_decimal(kind) or str(kind) in _TEXTS
