"""A Kafka topic as messages: all partitions, and the offset of each in the place.

The partitions are assigned, not subscribed to: no consumer group takes part (kafka_group.py is about those), and
nothing is committed to the broker. The offsets in the checkpoint are all that counts. Partitions that are added while
the topic is followed are found, and begun at their beginning; several processes share a topic when each is given
partitions of its own, which stay with it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from streamsift.core import interrupts
from streamsift.core.exceptions import ReaderError
from streamsift.streams.kafka_client import SECONDS, WAIT, KafkaClient, kept_offsets
from streamsift.streams.message_formats import Decode
from streamsift.streams.messages import Message, from_json
from streamsift.streams.positions import Position

REFRESH = 30.0  # seconds between two looks for partitions that were added


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
        self._client = KafkaClient(url)
        self.name = self._client.name
        self._decode, self._mine = decode, partitions
        self._at_end: set[int] = set()  # partitions that have nothing new
        self._looked = 0.0  # when partitions were looked for
        self._offsets: dict[int, int] = {}  # partition -> the offset of the next message

    def open(self, place: Position | None) -> None:
        """Assign all partitions, each behind its offset or at its beginning."""
        self.close()
        kept = kept_offsets(place)
        self._client.connect(lambda: self._assign(kept))

    def _assign(self, kept: dict[int, int]) -> None:
        partitions = self._client.partitions(SECONDS)
        missing = sorted(kept.keys() - set(partitions))
        if missing:
            raise ReaderError(
                f"There is no partition {missing[0]} any more in {self.name}: give that of the checkpoint."
            )
        if self._mine is not None:
            partitions = self._share(kept, partitions)
        self._offsets, self._at_end = {}, set()
        for number in partitions:
            self._offsets[number] = self._client.first(number, kept.get(number), SECONDS)
        self._client.consumer.assign(self._at(partitions))
        self._looked = time.monotonic()

    def _at(self, partitions: Iterable[int]) -> list[Any]:
        """Partitions with the offsets at which to go on."""
        return self._client.at({number: self._offsets[number] for number in partitions})

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
        with suppress(self._client.kafka.KafkaException):  # a broker that is away is waited for
            added = [number for number in self._client.partitions(1.0) if number not in self._offsets]
            self._offsets |= {number: self._client.first(number, None, 1.0) for number in added}
            if added:
                self._client.consumer.incremental_assign(self._at(added))

    def poll(self, most: int) -> list[Message]:
        """Up to `most` messages of all partitions; none only where all of them have been read to their ends."""
        latest = time.monotonic() + SECONDS
        while True:
            interrupts.check()
            self._look_for_more()
            found = [
                message for raw in self._client.consumer.consume(most, timeout=WAIT) for message in self._read(raw)
            ]
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
        if self._client.is_end(error):
            self._at_end.add(number)
        return []

    def close(self) -> None:
        """Leave the broker."""
        self._client.close()
