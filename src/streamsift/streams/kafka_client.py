"""What everybody needs who reads a Kafka topic: its name, a consumer that commits nothing, offsets that are there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urlsplit

from streamsift.core.exceptions import MissingExtraError, ParameterError, ReaderError
from streamsift.streams.positions import Position, no_position, whole_number

SECONDS = 10.0  # until a broker that does not answer counts as gone
WAIT = 0.05  # seconds that a look waits for messages
MOST_PARTITIONS = 100_000


class KafkaClient:
    """A topic at some brokers, `kafka://broker[:port][,broker...]/topic`.

    Parameters
    ----------
    url : str
        The brokers and the topic.

    Attributes
    ----------
    kafka : module
        The package confluent_kafka.
    topic, name : str
        The topic, and the same in words.
    consumer : confluent_kafka.Consumer
        None while it is not connected.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.brokers, self.topic = parts.netloc, unquote(parts.path.removeprefix("/"))
        if not self.brokers or not self.topic or "@" in self.brokers:
            raise ParameterError("A Kafka topic is named as kafka://broker:port/topic.")
        try:
            import confluent_kafka
        except ImportError as error:
            raise MissingExtraError("A Kafka topic", "confluent-kafka", "kafka") from error
        self.kafka: Any = confluent_kafka
        self.name = f"the Kafka topic {self.topic!r} at {self.brokers}"
        self.consumer: Any = None
        lost = confluent_kafka.KafkaError
        # The client connects again by itself, and joins a group again that has given it up.
        self._passing = (lost._ALL_BROKERS_DOWN, lost._TRANSPORT, lost._MAX_POLL_EXCEEDED)

    def connect(self, begin: Callable[[], None], **settings: Any) -> None:
        """Have a consumer, and begin with it; a broker that does not answer is a ReaderError."""
        self.close()
        self.consumer = self.kafka.Consumer(
            {
                "bootstrap.servers": self.brokers,
                "group.id": "streamsift",  # which the client asks for; no group takes part unless one is joined
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "auto.offset.reset": "error",  # an offset that is gone is lost rows
                "enable.partition.eof": True,
                "queued.max.messages.kbytes": 16 * 1024,
                "log_level": 0,
                **settings,
            }
        )
        try:
            begin()
        except self.kafka.KafkaException as error:
            raise ReaderError(
                f"Cannot read {self.name}: {error.args[0].str()}; start the broker and resume."
            ) from error

    def partitions(self, seconds: float) -> list[int]:
        """The numbers of its partitions."""
        about = self.consumer.list_topics(self.topic, timeout=seconds).topics[self.topic]
        if about.error is not None or not about.partitions:
            raise ReaderError(f"There is no topic {self.topic!r} at {self.brokers}: create it, or check its name.")
        return sorted(about.partitions)

    def first(self, number: int, kept: int | None, seconds: float) -> int:
        """Where to begin in a partition; what was kept must still be there."""
        partition = self.kafka.TopicPartition(self.topic, number)
        low, high = self.consumer.get_watermark_offsets(partition, timeout=seconds)
        if kept is None:
            return int(low)
        if not low <= kept <= high:
            raise ReaderError(
                f"Partition {number} of {self.name} holds the offsets {low:,} to {high:,}, and the checkpoint was "
                f"written at {kept:,}: rows are lost, or this is another topic; start again with another checkpoint."
            )
        return kept

    def at(self, offsets: dict[int, int]) -> list[Any]:
        """Partitions with the offsets at which to go on."""
        return [self.kafka.TopicPartition(self.topic, number, offset) for number, offset in offsets.items()]

    def is_end(self, error: Any) -> bool:
        """Whether the news is that a partition has been read to its end; an error that does not pass is raised."""
        if error.code() == self.kafka.KafkaError._PARTITION_EOF:
            return True
        if not (error.retriable() or error.code() in self._passing):
            raise ReaderError(f"Cannot read {self.name}: {error.str()}.")
        return False

    def close(self) -> None:
        """Leave the broker."""
        if self.consumer is not None:
            self.consumer.close()
            self.consumer = None


def kept_offsets(place: Position | None) -> dict[int, int]:
    """The offset of each partition in a place that a checkpoint has kept.

    >>> kept_offsets({"offsets": {"0": 12}})
    {0: 12}
    """
    if place is None:
        return {}
    found = place.get("offsets")
    if not isinstance(found, dict) or len(found) > MOST_PARTITIONS:
        raise no_position("offsets")
    if not all(isinstance(key, str) and key.isascii() and key.isdecimal() and len(key) < 10 for key in found):
        raise no_position("offsets")
    return {int(key): whole_number(found, key, 1 << 62) for key in found}
