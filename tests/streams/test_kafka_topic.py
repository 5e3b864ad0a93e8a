"""A Kafka topic, against the mock cluster of librdkafka: a broker of Kafka's own is not needed, and was not had."""

from __future__ import annotations

import json

import pytest
from tests.kills.brokers import mock_kafka

from streamsift import MissingExtraError, ReaderError, SavedStateError
from streamsift.core.exceptions import ReadingNotice
from streamsift.streams import Unbounded, open_stream

pytest.importorskip("confluent_kafka", reason="the package confluent-kafka is not installed")


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    """Rows 0, 1, ..., 39 on four partitions in turn; one of the messages is none."""
    path = tmp_path_factory.mktemp("kafka") / "rows.jsonl"
    lines = [json.dumps({"a": k, "kind": "even" if k % 2 == 0 else "odd", "y": k % 2}) for k in range(40)]
    path.write_text("".join(f"{line}\n" for line in [*lines[:7], "poison", *lines[7:]]))
    with mock_kafka({"rows": path}, 4) as address:
        yield address


def follow(broker, folder, name="bad.jsonl"):
    address = f"kafka://{broker}/rows?format=json"
    return open_stream(Unbounded(address, stop_after_idle=0.0, dead_letters=folder / name), target="y")


def values(batches):
    return [value for batch in batches for value in batch.X[:, 0].tolist()]


def test_every_message_once_and_the_poison_apart(broker, tmp_path):
    stream = follow(broker, tmp_path)
    with pytest.warns(ReadingNotice, match="1 message was no row"):
        batches = list(stream.batches(16))
    assert [batch.n_rows for batch in batches] == [16, 16, 8]
    assert sorted(values(batches)) == [float(k) for k in range(40)]
    assert sum(stream.position()["place"]["offsets"].values()) == 41
    letter = json.loads((tmp_path / "bad.jsonl").read_text())
    assert letter["message"] == "poison"
    assert "partition" in letter["where"]


def test_goes_on_at_the_offsets_of_every_partition(broker, tmp_path):
    stream = follow(broker, tmp_path)
    batches = stream.batches(9)
    before = values([next(batches), next(batches)])
    position = json.loads(json.dumps(stream.position()))
    next(batches)  # read, and forgotten with the process
    batches.close()
    again = follow(broker, tmp_path)
    again.seek(position)
    with pytest.warns(ReadingNotice, match="1 message was no row"):
        after = values(again.batches(9))
    assert sorted(before + after) == [float(k) for k in range(40)]


@pytest.mark.parametrize(
    ("offsets", "words"),
    [({"0": 1000}, "rows are lost, or this is another topic"), ({"77": 1}, "There is no partition 77 any more")],
)
def test_offsets_of_another_topic(broker, tmp_path, offsets, words):
    stream = follow(broker, tmp_path)
    stream.seek(stream.position() | {"place": {"offsets": offsets}})
    with pytest.raises(ReaderError, match=words):
        next(stream.batches(9))


@pytest.mark.parametrize("place", [{}, {"offsets": [1]}, {"offsets": {"x": 1}}, {"offsets": {"0": -1}}])
def test_a_damaged_place(broker, tmp_path, place):
    stream = follow(broker, tmp_path)
    stream.seek(stream.position() | {"place": place})
    with pytest.raises(SavedStateError, match="no proper"):
        next(stream.batches(9))


def test_no_broker(tmp_path, monkeypatch):
    monkeypatch.setattr("streamsift.streams.kafka_topic.SECONDS", 0.5)
    with pytest.raises(ReaderError, match="start the broker and resume"):
        next(follow("127.0.0.1:1", tmp_path).batches(9))


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "confluent_kafka", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'streamsift\[kafka\]'"):
        open_stream("kafka://127.0.0.1/clicks", target="y")
