"""A Kafka topic that several processes share: the group hands its partitions out, and says when they are taken back.

The group only says who reads what. Nothing is committed to the broker: where to begin in a partition is asked of
whoever keeps its checkpoint, and is told by opening the partition as any source of messages is opened.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from streamsift.core.exceptions import ReaderError
from streamsift.streams.kafka_client import SECONDS, WAIT, KafkaClient, kept_offsets
from streamsift.streams.message_formats import Decode
from streamsift.streams.messages import Message, from_json
from streamsift.streams.positions import Position, no_position

SESSION = 10.0  # seconds of silence after which the group takes a process for dead
REFRESH = 30.0  # seconds between two looks for partitions that were added


class GroupPartition:
    """A partition while this process holds it: a source of messages, which the group fills.

    Parameters
    ----------
    client : KafkaClient
        That of the group.
    number : int
        Of the partition.
    """

    ended = False
    textual = False

    def __init__(self, client: KafkaClient, number: int) -> None:
        self.number, self.name = number, f"partition {number} of {client.name}"
        self._client = client
        self.next = 0  # the offset of the next message of the broker
        self.at_end = False
        self._waiting: deque[Message] = deque()

    def open(self, place: Position | None) -> None:
        """Begin behind an offset, or at the beginning."""
        kept = kept_offsets(place)
        if place is not None and kept.keys() != {self.number}:
            raise no_position("offsets")
        self.close()
        try:
            self.next = self._client.first(self.number, kept.get(self.number), SECONDS)
        except self._client.kafka.KafkaException as error:
            raise ReaderError(
                f"Cannot read {self.name}: {error.args[0].str()}; start the broker and resume."
            ) from error

    def put(self, raw: Any, decode: Decode) -> None:
        """Take a message that the broker has sent."""
        offset = raw.offset()
        self.next, self.at_end = offset + 1, False
        place = {"offsets": {str(self.number): self.next}}
        self._waiting.append(decode(place, f"Offset {offset} of {self.name}", raw.value() or b""))

    def poll(self, most: int) -> list[Message]:
        """Up to `most` messages that are there."""
        return [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]

    def close(self) -> None:
        """Drop what has come: it is read again by whoever goes on."""
        self._waiting.clear()
        self.at_end = False


class KafkaGroup:
    """A process among those that share a topic.

    Parameters
    ----------
    url : str
        The brokers and the topic, as for KafkaTopic.
    group : str
        The name under which the processes find each other.
    decode : callable
        What a message is: see message_formats.
    given : callable
        Called with a partition that this process is to read from now on; it must open it.
    taken : callable
        Called with the number of a partition that another process will read, before it does; and with whether it does
        already, since this process was silent for too long.

    Attributes
    ----------
    held : dict
        Partitions that are read here, by number; None while the group has not handed any out, or does so anew.
    """

    def __init__(
        self,
        url: str,
        group: str,
        *,
        decode: Decode = from_json,
        given: Callable[[GroupPartition], None],
        taken: Callable[[int, bool], None],
    ) -> None:
        self._client = KafkaClient(url)
        self.name = self._client.name
        self._group, self._decode, self._given, self._taken = group, decode, given, taken
        self.held: dict[int, GroupPartition] | None = None

    def join(self) -> None:
        """Ask for partitions; they are given while `poll` is called."""
        self._client.connect(
            self._subscribe,
            **{
                "group.id": self._group,
                "session.timeout.ms": round(SESSION * 1000),
                "heartbeat.interval.ms": round(SESSION * 100),
                "topic.metadata.refresh.interval.ms": round(REFRESH * 1000),
            },
        )

    def _subscribe(self) -> None:
        self._client.partitions(SECONDS)  # the topic must be there
        self._client.consumer.subscribe(
            [self._client.topic],
            on_assign=lambda _, found: self._assigned([each.partition for each in found]),
            on_revoke=lambda _, found: self._revoked([each.partition for each in found], lost=False),
            on_lost=lambda _, found: self._revoked([each.partition for each in found], lost=True),
        )

    def _assigned(self, numbers: list[int]) -> None:
        self.held = {number: GroupPartition(self._client, number) for number in sorted(numbers)}
        for partition in self.held.values():
            self._given(partition)
        self.read_on()

    def _revoked(self, numbers: list[int], *, lost: bool) -> None:
        held, self.held = self.held or {}, None
        for number in sorted(numbers):
            if number in held:
                self._taken(number, lost)

    def read_on(self) -> None:
        """Read each partition from its own offset on; to be called when one was opened anew."""
        if self.held is not None:
            offsets = {number: partition.next for number, partition in self.held.items()}
            self._client.consumer.assign(self._client.at(offsets))

    def poll(self, most: int) -> int:
        """Let partitions have up to `most` messages; how many there were."""
        # One message at a time: several at once may be older than a change of the partitions that comes between them.
        for count in range(most):
            raw = self._client.consumer.poll(0.0 if count else WAIT)
            if raw is None:
                return count
            partition = (self.held or {}).get(raw.partition())
            if raw.error() is not None:
                if self._client.is_end(raw.error()) and partition is not None:
                    partition.at_end = True
            elif partition is not None:
                partition.put(raw, self._decode)
        return most

    @property
    def at_end(self) -> bool:
        """Whether partitions have been given out, and all that are held here have been read to their ends."""
        return self.held is not None and all(partition.at_end for partition in self.held.values())

    def leave(self) -> None:
        """Give back what is held, so that others need not wait until it is missed."""
        self._client.close()
