"""A Kafka topic as messages: all partitions, and the offset of each in the place.

The partitions are assigned, not subscribed to: no consumer group takes part, and nothing is committed to the broker.
The offsets in the checkpoint are all that counts. Partitions that are added while the topic is followed are found, and
begun at their beginning; several processes share a topic when each is given partitions of its own, which stay with it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any
from urllib.parse import unquote, urlsplit

from streamsift.core import interrupts
from streamsift.core.exceptions import MissingExtraError, ParameterError, ReaderError
from streamsift.streams.message_formats import Decode
from streamsift.streams.messages import Message, from_json
from streamsift.streams.positions import Position, no_position, whole_number

SECONDS = 10.0  # until a broker that does not answer counts as gone
WAIT = 0.05  # seconds that a look waits for messages
REFRESH = 30.0  # seconds between two looks for partitions that were added
MOST_PARTITIONS = 100_000


class KafkaTopic:
    """The messages of a topic, `kafka://broker[:port][,broker...]/topic`; it never ends.

    Parameters
    ----------
    url : str
        The brokers and the topic.
    decode : callable
        What a message is: see message_formats.
    partitions : frozenset of int or None
        The partitions that are read; None: all, also those that are added later.
    """

    ended = False
    textual = False

    def __init__(self, url: str, *, decode: Decode = from_json, partitions: frozenset[int] | None = None) -> None:
        parts = urlsplit(url)
        self._brokers, self._topic = parts.netloc, unquote(parts.path.removeprefix("/"))
        if not self._brokers or not self._topic or "@" in self._brokers:
            raise ParameterError("A Kafka topic is named as kafka://broker:port/topic.")
        try:
            import confluent_kafka
        except ImportError as error:
            raise MissingExtraError("A Kafka topic", "confluent-kafka", "kafka") from error
        self._kafka: Any = confluent_kafka
        self._decode, self._mine = decode, partitions
        self.name = f"the Kafka topic {self._topic!r} at {self._brokers}"
        self._consumer: Any = None
        lost = confluent_kafka.KafkaError
        self._passing = (lost._ALL_BROKERS_DOWN, lost._TRANSPORT)  # the client connects again by itself
        self._at_end: set[int] = set()  # partitions that have nothing new
        self._looked = 0.0  # when partitions were looked for
        self._offsets: dict[int, int] = {}  # partition -> the offset of the next message

    def open(self, place: Position | None) -> None:
        """Assign all partitions, each behind its offset or at its beginning."""
        self.close()
        kept = self._kept(place)
        self._consumer = self._kafka.Consumer(
            {
                "bootstrap.servers": self._brokers,
                "group.id": "streamsift",  # which the client asks for; no group takes part
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "auto.offset.reset": "error",  # an offset that is gone is lost rows
                "enable.partition.eof": True,
                "queued.max.messages.kbytes": 16 * 1024,
                "log_level": 0,
            }
        )
        try:
            self._assign(kept)
        except self._kafka.KafkaException as error:
            raise ReaderError(
                f"Cannot read {self.name}: {error.args[0].str()}; start the broker and resume."
            ) from error

    def _assign(self, kept: dict[int, int]) -> None:
        partitions = self._partitions(SECONDS)
        missing = sorted(kept.keys() - set(partitions))
        if missing:
            raise ReaderError(
                f"There is no partition {missing[0]} any more in {self.name}: give that of the checkpoint."
            )
        if self._mine is not None:
            partitions = self._share(kept, partitions)
        self._offsets, self._at_end = {}, set()
        for number in partitions:
            self._offsets[number] = self._first(number, kept.get(number), SECONDS)
        self._consumer.assign(self._at(partitions))
        self._looked = time.monotonic()

    def _at(self, partitions: Iterable[int]) -> list[Any]:
        """Partitions with the offsets at which to go on."""
        return [self._kafka.TopicPartition(self._topic, number, self._offsets[number]) for number in partitions]

    def _share(self, kept: dict[int, int], there: list[int]) -> list[int]:
        """The partitions that were asked for. One whose rows are in a state stays there: elsewhere they count twice."""
        assert self._mine is not None
        missing, given_up = sorted(self._mine - set(there)), sorted(kept.keys() - self._mine)
        if missing:
            raise ReaderError(
                f"There is no partition {missing[0]} in {self.name}: its partitions are 0 to {there[-1]}."
            )
        if given_up:
            raise ReaderError(
                f"The checkpoint has rows of partition {given_up[0]} of {self.name}, which partitions= does not name: "
                "give the same partitions, since what was learnt stays with its checkpoint."
            )
        return sorted(self._mine)

    def _look_for_more(self) -> None:
        """Begin with partitions that were added since."""
        if self._mine is not None or time.monotonic() - self._looked < REFRESH:
            return
        self._looked = time.monotonic()
        with suppress(self._kafka.KafkaException):  # a broker that is away is waited for
            added = [number for number in self._partitions(1.0) if number not in self._offsets]
            self._offsets |= {number: self._first(number, None, 1.0) for number in added}
            if added:
                self._consumer.incremental_assign(self._at(added))

    def _kept(self, place: Position | None) -> dict[int, int]:
        if place is None:
            return {}
        found = place.get("offsets")
        if not isinstance(found, dict) or len(found) > MOST_PARTITIONS:
            raise no_position("offsets")
        if not all(isinstance(key, str) and key.isascii() and key.isdecimal() and len(key) < 10 for key in found):
            raise no_position("offsets")
        return {int(key): whole_number(found, key, 1 << 62) for key in found}

    def _partitions(self, seconds: float) -> list[int]:
        about = self._consumer.list_topics(self._topic, timeout=seconds).topics[self._topic]
        if about.error is not None or not about.partitions:
            raise ReaderError(f"There is no topic {self._topic!r} at {self._brokers}: create it, or check its name.")
        return sorted(about.partitions)

    def _first(self, number: int, kept: int | None, seconds: float) -> int:
        """Where to begin in a partition; what was kept must still be there."""
        partition = self._kafka.TopicPartition(self._topic, number)
        low, high = self._consumer.get_watermark_offsets(partition, timeout=seconds)
        if kept is None:
            return int(low)
        if not low <= kept <= high:
            raise ReaderError(
                f"Partition {number} of {self.name} holds the offsets {low:,} to {high:,}, and the checkpoint was "
                f"written at {kept:,}: rows are lost, or this is another topic; start again with another checkpoint."
            )
        return kept

    def poll(self, most: int) -> list[Message]:
        """Up to `most` messages of all partitions; none only where all of them have been read to their ends."""
        latest = time.monotonic() + SECONDS
        while True:
            interrupts.check()
            self._look_for_more()
            found = [message for raw in self._consumer.consume(most, timeout=WAIT) for message in self._read(raw)]
            if found or self._at_end >= self._offsets.keys() or time.monotonic() > latest:
                return found

    def _read(self, raw: Any) -> list[Message]:
        """What the client gave: a message, or news about a partition or a broker."""
        error, number, offset = raw.error(), raw.partition(), raw.offset()
        if error is None:
            self._at_end.discard(number)
            self._offsets[number] = offset + 1
            place = {"offsets": {str(key): value for key, value in self._offsets.items()}}
            where = f"Offset {offset} of partition {number} of {self.name}"
            return [self._decode(place, where, raw.value() or b"")]
        if error.code() == self._kafka.KafkaError._PARTITION_EOF:
            self._at_end.add(number)
        elif not (error.retriable() or error.code() in self._passing):
            raise ReaderError(f"Cannot read {self.name}: {error.str()}.")
        return []

    def close(self) -> None:
        """Leave the broker."""
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None
