"""A Kafka topic whose cluster changes while it is followed, against the mock cluster of librdkafka."""

from __future__ import annotations

import json
import time

import pytest
from tests.streams.mock_cluster import library, mock_cluster

from streamsift import ReaderError, Screener
from streamsift.streams import Unbounded, kafka_client, kafka_topic, open_stream

pytest.importorskip("confluent_kafka", reason="skipped: no confluent-kafka")
pytestmark = pytest.mark.skipif(library() is None, reason="skipped: no librdkafka beside the package confluent-kafka")
TOPIC = "rows"


def messages(first, last):
    return [json.dumps({"a": k, "y": k % 2}).encode() for k in range(first, last)]


@pytest.fixture
def cluster():
    """Rows 0 to 29 in partition 0 and 100 to 129 in partition 1, on two brokers."""
    with mock_cluster() as found:
        found.create(TOPIC, 2)
        for partition in (0, 1):
            found.lead(TOPIC, partition, 1)
            found.produce(TOPIC, messages(100 * partition, 100 * partition + 30), partition)
        yield found


def follow(cluster, query="", **options):
    address = f"kafka://{cluster.address}/{TOPIC}{query}"
    return open_stream(Unbounded(address, **({"stop_after_idle": 0.5} | options)), target="y")


def values(batches):
    return sorted(value for batch in batches for value in batch.X[:, 0].tolist())


def learnt(batches):
    selector = Screener("fisher")
    for batch in batches:
        selector.partial_fit(batch)
    return selector


ALL = [float(k) for first in (0, 100) for k in range(first, first + 40)]


def add_more(cluster):
    for partition in (0, 1):
        cluster.produce(TOPIC, messages(100 * partition + 30, 100 * partition + 40), partition)


def test_leaders_that_move_while_the_topic_is_followed(cluster):
    batches = follow(cluster, stop_after_idle=3.0).batches(10)
    before = [next(batches)]
    cluster.lead(TOPIC, 0, 2)
    before.append(next(batches))
    cluster.lead(TOPIC, 1, 2)
    cluster.lead(TOPIC, 0, 1)
    add_more(cluster)
    assert values([*before, *batches]) == ALL


def test_a_broker_that_goes_away_and_comes_back(cluster):
    batches = follow(cluster, stop_after_idle=3.0).batches(10)
    before = [next(batches)]
    cluster.down(1)
    cluster.up(1)
    add_more(cluster)
    assert values([*before, *batches]) == ALL


def test_partitions_that_are_added_while_the_topic_is_followed(cluster, monkeypatch):
    seen = kafka_client.KafkaClient.partitions
    there = iter([[0], [0], [0, 1]])  # the mock cluster cannot add one: it is hidden at first
    monkeypatch.setattr(kafka_topic, "REFRESH", 0.0)
    monkeypatch.setattr(kafka_client.KafkaClient, "partitions", lambda *args: next(there, None) or seen(*args))
    stream = follow(cluster)
    assert values(stream.batches(10)) == [*map(float, range(30)), *map(float, range(100, 130))]
    assert stream.position()["place"]["offsets"] == {"0": 30, "1": 30}


def test_processes_that_share_a_topic(cluster):
    shares = [follow(cluster, f"?partitions={number}") for number in (0, 1)]
    found = [list(share.batches(10)) for share in shares]
    assert [values(batches) for batches in found] == [[*map(float, range(30))], [*map(float, range(100, 130))]]
    assert shares[1].position()["place"]["offsets"] == {"1": 30}
    both = follow(cluster, "?partitions=0-1")
    together = learnt(both.batches(60))
    merged = learnt(found[0]).merge(learnt(found[1]))
    assert merged.n_rows_seen_ == together.n_rows_seen_ == 60
    assert merged.scores_ == pytest.approx(together.scores_, rel=1e-9)
    less = follow(cluster, "?partitions=0")
    less.seek(both.position())
    with pytest.raises(ReaderError, match=r"has rows of partition 1 of .*, which partitions= does not name"):
        next(less.batches(10))
    with pytest.raises(ReaderError, match=r"There is no partition 7 in .*: its partitions are 0 to 1"):
        next(follow(cluster, "?partitions=0,7").batches(10))


def test_records_that_retention_removed_before_they_were_read(cluster):
    stream = follow(cluster, "?partitions=0")
    batches = stream.batches(10)
    next(batches)
    batches.close()
    position = stream.position()
    cluster.remove_before(TOPIC, 0, 20)
    again = follow(cluster, "?partitions=0")
    again.seek(position)
    with pytest.raises(ReaderError, match="holds the offsets 20 to 30, and the checkpoint was written at 10: rows are"):
        next(again.batches(10))


def test_what_a_slow_method_has_not_learnt_stays_at_the_broker(cluster, monkeypatch):
    big = [json.dumps({"a": k, "text": "x" * 100_000, "y": k % 2}).encode() for k in range(40)]
    cluster.create("big", 12)  # 48 MB in all: the mock cluster keeps 5 MB per partition
    for partition in range(12):
        cluster.produce("big", big, partition)
    topic = kafka_topic.KafkaTopic(f"kafka://{cluster.address}/big")
    held, consumer = [0], topic._client.kafka.Consumer

    def heard(text):
        partitions = json.loads(text)["topics"].get("big", {}).get("partitions", {})
        held.extend(part["fetchq_size"] for part in partitions.values())  # each tells of the queue that all share

    watched = {"statistics.interval.ms": 20, "stats_cb": heard}
    monkeypatch.setattr(topic._client.kafka, "Consumer", lambda settings: consumer({**settings, **watched}))
    topic.open(None)
    for _ in range(100):
        assert len(topic.poll(1)) == 1
        time.sleep(0.01)
    topic.close()
    assert 8 << 20 < max(held) < (16 + 12) << 20  # and less than the 48 MB that are there
