"""Hostile messages of a broker: JSON, Avro and Arrow, between good ones.

Each input is a few messages, some of them damaged, followed as a stream with dead letters. Whatever arrives, the good
messages become rows, the others letters, and each message is accounted for once; nothing else is ever raised.
"""

from __future__ import annotations

import io
import json
import random
import tempfile
import warnings
from collections.abc import Sequence
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa

from streamsift.core.batch import check_batch
from streamsift.streams.message_formats import ArrowRows, decoder
from streamsift.streams.message_stream import MessageStream
from streamsift.streams.messages import Message
from streamsift.streams.positions import Position
from tests.fuzz.forked import Make, Use
from tests.fuzz.mutations import NUMBERS, mutated
from tests.fuzz.tally import ACCEPTED

N_MESSAGES = 6
SCHEMA = {
    "type": "record",
    "name": "Row",
    "fields": [
        {"name": "a", "type": "double"},
        {"name": "n", "type": ["null", "long", "string"]},
        {"name": "colour", "type": {"type": "enum", "name": "Colour", "symbols": ["red", "green", "blue"]}},
        {"name": "v", "type": {"type": "array", "items": ["null", "float"]}},
        {"name": "m", "type": {"type": "map", "values": {"type": "array", "items": "boolean"}}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 4}},
        {"name": "y", "type": "string"},
    ],
}


class Sent:
    """A source with a few messages."""

    name, textual, ended = "the fuzzer", False, True

    def __init__(self, contents: Sequence[bytes], decode: Any) -> None:
        self._contents, self._decode, self._next = contents, decode, 0

    def open(self, place: Position | None) -> None:
        self._next = 0 if place is None else place["next"]

    def poll(self, most: int) -> list[Message]:
        found = []
        for content in self._contents[self._next : self._next + most]:
            self._next += 1
            found.append(self._decode({"next": self._next}, f"Message {self._next}", content))
        return found

    def close(self) -> None:
        pass


def maker(kinds: Sequence[str] | None = None) -> Make:
    """Messages of some formats; None: of all that can be read here."""
    chosen = list(kinds or ("json", "arrow", *(("avro",) if find_spec("fastavro") else ())))
    _decoders()
    return partial(_make, chosen)


@cache
def _decoders() -> dict[str, Any]:
    found = {"json": decoder("json", None, None), "arrow": decoder("arrow", None, None)}
    if find_spec("fastavro"):
        with tempfile.NamedTemporaryFile("w", suffix=".avsc") as file:
            file.write(json.dumps(SCHEMA))
            file.flush()
            found["avro"] = decoder("avro", file.name, None)
    return found


def _make(kinds: list[str], number: int, seed: int) -> tuple[str, Use]:
    rng = random.Random(f"{seed} {number}")
    kind = rng.choice(kinds)
    good = [_good(kind, rng, k) for k in range(N_MESSAGES)]
    bad = [_damaged(kind, content, rng, good) if rng.random() < 0.5 else content for content in good]
    return kind, partial(_follow, kind, bad, [content is sent for content, sent in zip(good, bad, strict=True)])


def _row(rng: random.Random, k: int) -> dict[str, Any]:
    return {
        "a": rng.choice((0.0, 1.5, -2e10, k)),
        "n": rng.choice((None, k, 2**40)),
        "colour": rng.choice(("red", "green", "blue")),
        "v": [rng.random()] * rng.choice((0, 1, 3)),
        "y": rng.choice(("yes", "no")),
    }


def _good(kind: str, rng: random.Random, k: int) -> bytes:
    row = _row(rng, k)
    if kind == "json":
        return json.dumps(row).encode()
    if kind == "arrow":
        rows = [_row(rng, k) for k in range(rng.choice((1, 2, 5)))]
        sink = io.BytesIO()
        options = pa.ipc.IpcWriteOptions(compression=rng.choice((None, None, "zstd", "lz4")))
        table = pa.Table.from_pylist(rows, pa.schema(_ARROW))
        with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
            writer.write_table(table)
        return sink.getvalue()
    import fastavro

    sink = io.BytesIO()
    row |= {"m": {"k": [True, False]}, "at": k * 10**9, "day": k, "price": b"\x01\x02"}
    fastavro.schemaless_writer(sink, _parsed(), row)
    return sink.getvalue()


_ARROW = [
    ("a", pa.float64()), ("n", pa.int64()), ("colour", pa.dictionary(pa.int8(), pa.string())),
    ("v", pa.list_(pa.float32())), ("y", pa.string()),
]  # fmt: skip


@cache
def _parsed() -> Any:
    import fastavro

    return fastavro.parse_schema(SCHEMA)


def _damaged(kind: str, content: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Small damage, or what only a hostile producer sends."""
    if rng.random() < 0.8:
        return mutated(content, rng, others)
    depth, long = rng.choice((10, 1000, 200_000)), _varint(rng.choice(NUMBERS))
    if kind == "json":
        name = rng.choice(("a", "n", "v", "x" * 20_000, "\x00", ""))
        value = rng.choice(
            ("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth, "9" * depth, "1e999", "NaN", '"\\ud800"')
        )
        return f'{{{json.dumps(name)}: {value}, "y": "yes"}}'.encode()
    if kind == "avro":
        place = rng.randrange(len(content) + 1)
        return content[:place] + long * rng.choice((1, 1, 50)) + content[place + 1 :]
    return _strange_arrow(rng, others)


def _strange_arrow(rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Columns of types that no row has, some of them damaged besides."""
    number = rng.choice(NUMBERS) % 2**62
    columns = (
        pa.array([[None] * 5]), pa.array([{"b": 1}]), pa.array([b"\xff"]), pa.array([[[1.0]]]), pa.nulls(1),
        pa.array([(("k", 1),)], pa.map_(pa.string(), pa.int8())), pa.array([1.0], pa.float16()),
        pa.array([number], pa.int64()).cast(pa.timestamp(rng.choice(("s", "ms", "ns")))),
        pa.array([number], pa.int64()).cast(pa.duration("s")), pa.array([number % 2**31], pa.int32()).cast(pa.date32()),
        pa.array([number % 86400], pa.int64()).cast(pa.time64("us")), pa.array(["x"], pa.string_view()),
        pa.array([f"{number}"]).dictionary_encode(), pa.RunEndEncodedArray.from_arrays([1], [number]),
    )  # fmt: skip
    table = pa.table({rng.choice(("a", "n", "v", "x")): rng.choice(columns), "y": ["yes"]})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return mutated(sink.getvalue(), rng, others) if rng.random() < 0.5 else sink.getvalue()


def _varint(value: int) -> bytes:
    """A number as Avro writes it."""
    value, found = (value << 1) ^ (value >> 63), bytearray()
    value &= (1 << 64) - 1
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def _follow(kind: str, contents: list[bytes], good: list[bool], folder: Path) -> str:
    letters = folder / "letters.jsonl"
    letters.unlink(missing_ok=True)
    sent: Any = Sent(contents, _decoders()[kind])
    source = ArrowRows(sent) if kind == "arrow" else sent
    stream = MessageStream(source, "y", dead_letters=letters, ignore=("m",), stop_after_idle=0.0)
    n_rows = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for batch in stream.batches(4):
            assert batch.n_rows == len(batch.y), "one label for each row"
            check_batch(batch, None, owner="the fuzzer", missing=True)
            n_rows += batch.n_rows
    lines = [json.loads(line) for line in letters.read_text().splitlines()] if letters.exists() else []
    assert len(lines) == stream.n_dead_letters, "a line for each letter"
    if kind != "arrow":
        assert n_rows + len(lines) == len(contents), "each message once"
    assert n_rows + len(lines) >= sum(good), "no good message is lost"
    return ACCEPTED
