"""Messages in Avro and Arrow: what is read, what is poison, places within a message, and what an address may say."""

from __future__ import annotations

import datetime
import decimal
import io
import json
import struct

import pyarrow as pa
import pytest

from streamsift import MissingExtraError, ParameterError, SavedStateError
from streamsift.streams import Unbounded, open_stream
from streamsift.streams.message_formats import ArrowRows, decoder
from streamsift.streams.message_stream import MessageStream
from streamsift.streams.messages import Message

SCHEMA = {
    "type": "record",
    "name": "Click",
    "fields": [
        {"name": "a", "type": "double"},
        {"name": "n", "type": ["null", "long"]},
        {"name": "colour", "type": {"type": "enum", "name": "Colour", "symbols": ["red", "blue"]}},
        {"name": "v", "type": {"type": "array", "items": "float"}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "y", "type": "string"},
    ],
}
CLICK = {
    "a": 0.5,
    "n": None,
    "colour": "blue",
    "v": [1.0, 2.0],
    "at": datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
    "price": decimal.Decimal("3.25"),
    "y": "yes",
}


@pytest.fixture
def fastavro():
    return pytest.importorskip("fastavro", reason="skipped: no fastavro (pip install 'streamsift[avro]')")


@pytest.fixture
def schema(tmp_path):
    path = tmp_path / "click.avsc"
    path.write_text(json.dumps(SCHEMA))
    return str(path)


def avro(fastavro, record=CLICK, schema=SCHEMA):
    file = io.BytesIO()
    fastavro.schemaless_writer(file, fastavro.parse_schema(schema), record)
    return file.getvalue()


def test_a_record_of_avro(fastavro, schema):
    decode = decoder("avro", schema, None)
    found = decode({}, "Offset 1", avro(fastavro))
    expected = {"a": 0.5, "n": None, "colour": "blue", "v[0]": 1.0, "v[1]": 2.0, "price": 3.25, "y": "yes"}
    assert found.fields == expected | {"at": "2026-01-01T00:00:00+00:00"}


@pytest.mark.parametrize("damage", ["cut", "longer", "empty", "enum", "length"])
def test_bytes_that_are_no_record(fastavro, schema, damage):
    good = avro(fastavro)
    bad = {
        "cut": good[:-3],
        "longer": good + b"\1",
        "empty": b"",
        "enum": good[:9] + b"\x7e" + good[10:],
        "length": good[:10] + b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f" + good[11:],
    }[damage]
    found = decoder("avro", schema, None)({}, "Offset 1", bad)
    assert (found.fields, found.problem) == (None, "it is no Avro record of the schema")


def test_the_prefix_of_a_registry(fastavro, schema):
    framed = struct.pack(">BI", 0, 7) + avro(fastavro)
    found = decoder("avro", schema, None)({}, "Offset 1", framed)
    assert found.problem.startswith("it begins with the 5 bytes of a schema registry (schema 7), which is not asked")
    assert decoder("avro", schema, "7")({}, "Offset 1", framed).fields is not None
    assert "does not begin with schema 8" in decoder("avro", schema, "8")({}, "Offset 1", framed).problem
    assert "does not begin with schema 8" in decoder("avro", schema, "8")({}, "Offset 1", b"\0").problem


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot be read: name a file with a schema"),
        ("{", "is no schema of Avro: Expecting"),
        ('{"type": "record", "name": "R", "fields": [{"name": "a", "type": "nothing"}]}', "there is no type nothing"),
        ('{"type": "record", "name": "R", "fields": 3}', "something in it is missing or misplaced"),
        ('{"type": "record", "name": "R"}', "must be a record, whose fields are the columns"),
        ('"long"', "must be a record"),
        ('["null"]', "must be a record"),
        (
            '{"type": "record", "name": "R", "fields": [{"name": "next", "type": ["null", "R"]}]}',
            "'R' refers to itself",
        ),
        (
            '{"type": "record", "name": "R", "fields": [{"name": "a", "type": {"type": "array", "items": "null"}}]}',
            "a list has items of no bytes",
        ),
        (
            '{"type": "record", "name": "R", "fields": [{"name": "m", "type": {"type": "map", "values":'
            ' {"type": "array", "items": {"type": "record", "name": "E", "fields": []}}}}]}',
            "a list has items of no bytes",
        ),
    ],
)
def test_schemas_that_are_refused(fastavro, tmp_path, text, words):
    path = tmp_path / "bad.avsc"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ParameterError, match=words):
        decoder("avro", str(path), None)


def test_names_of_a_schema_that_are_used_twice(fastavro, tmp_path):
    twice = {"type": "record", "name": "R", "fields": [{"name": "a", "type": SCHEMA["fields"][2]["type"]}]}
    twice["fields"] += [{"name": "b", "type": "Colour"}, {"name": "c", "type": {"type": "array", "items": "Colour"}}]
    path = tmp_path / "twice.avsc"
    path.write_text(json.dumps(twice))
    raw = avro(fastavro, {"a": "red", "b": "blue", "c": ["red"]}, twice)
    assert decoder("avro", str(path), None)({}, "", raw).fields == {"a": "red", "b": "blue", "c[0]": "red"}


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("format=xml", "There is no format 'xml' of messages: give format=json, avro, arrow"),
        ("format=avro", r"needs the schema of the messages: add schema=FILE"),
        ("format=avro&schema=x&schema_id=a", "'schema_id' must be the number"),
        ("format=arrow&schema=x", "A schema is for format=avro"),
        ("partitions=1-", "'partitions' must be numbers such as 0-3,7"),
        ("partitions=x", "'partitions' must be numbers"),
    ],
)
def test_addresses_that_are_refused(query, words):
    with pytest.raises(ParameterError, match=words):
        open_stream(Unbounded(f"kafka://host/topic?{query}"), target="y")
    with pytest.raises(ParameterError, match="is about one field of an entry: add field=NAME"):
        open_stream(Unbounded("redis://host/stream?format=arrow"), target="y")


def test_without_the_package(monkeypatch, schema):
    monkeypatch.setitem(__import__("sys").modules, "fastavro", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'streamsift\[avro\]'"):
        decoder("avro", schema, None)


# -- Arrow ------------------------------------------------------------------------------------------------------------


def ipc(table):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def rows_from(first, last):
    ks = range(first, last)
    return ipc(pa.table({"a": [float(k) for k in ks], "v": [[k, k + 1] for k in ks], "y": [k % 2 for k in ks]}))


class Listed:
    """A source whose messages are in a list; `order` is that of another start, as of a topic of several partitions."""

    name, textual, ended = "a list", False, False

    def __init__(self, contents, order=None):
        self._contents, self._order = contents, order or list(range(len(contents)))

    def open(self, place):
        self._read = [] if place is None else list(place["read"])

    def poll(self, most):
        left = [k for k in self._order if k not in self._read][:most]
        found = []
        for k in left:
            self._read.append(k)
            found.append(Message({"read": list(self._read)}, f"Message {k} of a list", self._contents[k], None))
        return found

    def close(self):
        pass


def stream_of(contents, order=None, **options):
    return MessageStream(ArrowRows(Listed(contents, order)), "y", stop_after_idle=0.0, **options)


def values(batches):
    return [value for batch in batches for value in batch.X[:, 0].tolist()]


@pytest.mark.parametrize("n_batches", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("order", [None, [2, 1, 0]])
def test_places_within_a_message_of_arrow(n_batches, order):
    contents = [rows_from(0, 5), rows_from(5, 6), rows_from(6, 13)]
    stream = stream_of(contents)
    batches = stream.batches(3)
    before = values(next(batches) for _ in range(n_batches))
    batches.close()
    position = json.loads(json.dumps(stream.position()))
    again = stream_of(contents, order)
    again.seek(position)
    batches = again.batches(2)
    between = values([next(batches)] if n_batches < 4 else [])
    batches.close()
    last = stream_of(contents)
    last.seek(json.loads(json.dumps(again.position() if n_batches < 4 else position)))
    assert sorted(before + between + values(last.batches(5))) == [float(k) for k in range(13)]


def test_what_the_values_of_arrow_become():
    columns = {
        "when": pa.array([datetime.datetime(2026, 1, 1)], pa.timestamp("us")),
        "colour": pa.array(["red"]).dictionary_encode(),
        "price": pa.array([decimal.Decimal("1.50")]),
        "nested": pa.array([{"b": 1}]),
        "nothing": pa.array([None], pa.struct([("b", pa.int64())])),
        "many": pa.array([[None] * 3], pa.list_(pa.null())),
        "y": [1],
    }
    rows = ArrowRows(Listed([ipc(pa.table(columns))]))
    rows.open(None)
    (found,) = rows.poll(5)
    assert found.fields == {
        "when": "2026-01-01T00:00:00",
        "colour": "red",
        "price": 1.5,
        "nested": {},
        "nothing": None,
        "many": {},
        "y": 1,
    }
    assert found.where == "Row 1 of the message at message 0 of a list"


def test_poison_messages_of_arrow(tmp_path):
    good = rows_from(0, 2)
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    contents = [good, good[:60], b"", ipc(twice), ipc(pa.table({"a": pa.array([], pa.float64())})), rows_from(2, 3)]
    contents.append(ipc(pa.table({"a": pa.nulls(1 << 20), "y": pa.nulls(1 << 20)})))
    contents.append(ipc(pa.table({"a": ["text"], "y": [1]})))
    stream = stream_of(contents, dead_letters=tmp_path / "bad.jsonl")
    with pytest.warns(UserWarning, match="6 messages were no rows"):
        assert values(stream.batches(10)) == [0.0, 1.0, 2.0]
    letters = [json.loads(line) for line in (tmp_path / "bad.jsonl").read_text().splitlines()]
    assert [letter["why"].partition(":")[0] for letter in letters] == [
        "it is no Arrow IPC stream",
        "it is no Arrow IPC stream",
        "two of its columns have one name",
        "it has no rows",
        "it has more than 1,048,576 values",
        "its 'a' is 'text', where a number is expected",
    ]
    assert "base64" in letters[0]
    assert json.loads(letters[-1]["message"]) == {"a": "text", "y": 1}


@pytest.mark.parametrize("place", [{}, {"message": 3, "begun": {}}, {"message": None, "begun": {"x": -1}}])
def test_a_damaged_place(place):
    stream = stream_of([rows_from(0, 2)])
    stream.seek(stream.position() | {"place": place})
    with pytest.raises(SavedStateError, match="no proper"):
        next(stream.batches(1))
