"""librdkafka's mock cluster with its levers: leaders that move, brokers that go away, records that are removed.

The client of Python starts such a cluster but hands out no levers, so the library beside it is called directly. The
cluster lives in this process; its threads are the library's own.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def library() -> Path | None:
    """The library that the package confluent-kafka brought with it; None where there is none."""
    spec = find_spec("confluent_kafka")
    if spec is None or spec.origin is None:
        return None
    found = sorted(Path(spec.origin).parents[1].glob("confluent_kafka.libs/librdkafka*.so*"))
    return found[0] if found else None


class MockCluster:
    """A cluster of some brokers, numbered from 1."""

    def __init__(self, n_brokers: int) -> None:
        import confluent_kafka  # noqa: F401  loads the library and what it needs

        path = library()
        assert path is not None
        self._lib: Any = ctypes.CDLL(str(path))
        for name in ("rd_kafka_conf_new", "rd_kafka_new", "rd_kafka_mock_cluster_new"):
            getattr(self._lib, name).restype = ctypes.c_void_p
        self._lib.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
        why = ctypes.create_string_buffer(512)
        conf = ctypes.c_void_p(self._lib.rd_kafka_conf_new())
        self._lib.rd_kafka_conf_set(conf, b"log_level", b"0", why, ctypes.c_size_t(512))
        self._client = ctypes.c_void_p(self._lib.rd_kafka_new(0, conf, why, ctypes.c_size_t(512)))
        self._cluster = ctypes.c_void_p(self._lib.rd_kafka_mock_cluster_new(self._client, n_brokers))
        self._lib.rd_kafka_mock_group_initial_rebalance_delay_ms(self._cluster, 0)  # groups wait for nobody
        self.address = self._lib.rd_kafka_mock_cluster_bootstraps(self._cluster).decode()

    def create(self, topic: str, n_partitions: int) -> None:
        """Make a topic, a copy on every broker."""
        assert self._lib.rd_kafka_mock_topic_create(self._cluster, topic.encode(), n_partitions, 2) == 0

    def lead(self, topic: str, partition: int, broker: int) -> None:
        """Let a broker be the leader of a partition."""
        assert self._lib.rd_kafka_mock_partition_set_leader(self._cluster, topic.encode(), partition, broker) == 0

    def down(self, broker: int) -> None:
        """Close all connections of a broker, and take no new ones."""
        assert self._lib.rd_kafka_mock_broker_set_down(self._cluster, broker) == 0

    def up(self, broker: int) -> None:
        """Let it answer again."""
        assert self._lib.rd_kafka_mock_broker_set_up(self._cluster, broker) == 0

    def remove_before(self, topic: str, partition: int, offset: int) -> None:
        """Remove records, as retention does."""
        call = self._lib.rd_kafka_mock_partition_delete_records
        assert call(self._cluster, topic.encode(), partition, ctypes.c_int64(offset)) == 0

    def produce(self, topic: str, values: Sequence[bytes], partition: int) -> None:
        """Append messages to a partition, in their order."""
        from confluent_kafka import Producer

        producer: Any = Producer({"bootstrap.servers": self.address, "linger.ms": 5, "log_level": 0})
        for value in values:
            producer.produce(topic, value, partition=partition)
        assert producer.flush(30) == 0

    def close(self) -> None:
        """End it."""
        self._lib.rd_kafka_mock_cluster_destroy(self._cluster)
        self._lib.rd_kafka_destroy(self._client)


@contextmanager
def mock_cluster(n_brokers: int = 2) -> Iterator[MockCluster]:
    """A cluster that is ended afterwards."""
    cluster = MockCluster(n_brokers)
    try:
        yield cluster
    finally:
        cluster.close()
