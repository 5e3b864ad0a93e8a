"""Unbounded: a source without an end, and when to stop all the same. The table of these sources stands here."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from streamsift.core.exceptions import ParameterError
from streamsift.streams.message_stream import MessageStream
from streamsift.streams.messages import MessageSource

if TYPE_CHECKING:
    from streamsift.streams.kafka_group import GroupPartition, KafkaGroup
    from streamsift.streams.message_formats import Decode

SCHEMES = ("tail:", "redis://", "kafka://")
_FORMAT = ("format", "schema", "schema_id")


def is_unbounded(source: object) -> bool:
    """Whether a source is the address of one without an end.

    >>> is_unbounded("tail:log.csv"), is_unbounded("log.csv")
    (True, False)
    """
    return isinstance(source, Unbounded) or (isinstance(source, str) and source.startswith(SCHEMES))


def group_of(address: str) -> str | None:
    """The group of processes that share a Kafka topic; None: there is none.

    >>> group_of("kafka://broker:9092/clicks?format=json&group=team"), group_of("tail:log.csv?group=x")
    ('team', None)
    """
    return (
        dict(parse_qsl(urlsplit(address).query, keep_blank_values=True)).get("group")
        if (address.startswith("kafka://"))
        else None
    )


@dataclass(frozen=True)
class Unbounded:
    """A source of rows without an end: what it is, and how it is followed.

    Parameters
    ----------
    address : str
        `tail:PATH` (a growing file, CSV or JSON Lines), `redis://host:port/stream?field=NAME`,
        `kafka://broker:port/topic?format=json`, or "-" for standard input with sequence numbers. `format` is json, avro
        (with `&schema=FILE`) or arrow; `&partitions=0-3` reads some partitions of a topic only
        (`&group=NAME`, for processes that share them, is for the command line).
    stop_after_idle : float, optional
        Seconds without a new row after which the stream ends; by default it waits for ever.
    dead_letters : path, optional
        File for messages that are no rows, which are skipped then; by default such a message is an error.
    sequence : str, optional
        Column that holds the number of each row. It is no feature; rows whose number is not beyond all before it have
        come before and are left out.
    resumes : bool
        Whether the same run may have been started before: dead letters that are there although it begins at the
        beginning are then moved to a file that ends in .old; otherwise they are refused.
    heard : callable, optional
        Called at each look at the source with words on how full the next batch is.

    Examples
    --------
    >>> from streamsift.streams import Unbounded, open_stream
    >>> stream = open_stream(Unbounded("tail:log.csv", stop_after_idle=10), target="y")  # doctest: +SKIP
    """

    address: str
    stop_after_idle: float | None = None
    dead_letters: str | Path | None = None
    sequence: str | None = None
    resumes: bool = False
    heard: Callable[[str], None] = lambda words: None

    def __post_init__(self) -> None:
        idle = self.stop_after_idle
        if idle is not None and not (isinstance(idle, int | float) and 0 <= idle < math.inf):
            raise ParameterError(f"'stop_after_idle' must be seconds from 0 on. Got {idle!r} instead.")
        if self.address == "-" and self.sequence is None:
            raise ParameterError("Standard input is read as one that never ends only with sequence= (--sequence).")
        if self.address != "-" and not self.address.startswith(SCHEMES):
            raise ParameterError(f"{self.address!r} has an end: give {', '.join(SCHEMES)} or - with sequence=.")

    def open(
        self, target: str | None, *, sep: str | None = None, categorical: Sequence[str] = (), ignore: Sequence[str] = ()
    ) -> MessageStream:
        """The rows as a stream."""
        if target is None:
            raise ParameterError(f"{self.address} needs the name of its label: pass target=.")
        if self.sequence == target:
            raise ParameterError(f"The target {target!r} cannot be the sequence number as well: name another column.")
        if group_of(self.address) is not None:
            raise ParameterError(
                f"{self.address!r} is read by several processes, each with its share of the partitions: use "
                "`streamsift select` with --checkpoint FOLDER, or leave group= out."
            )
        return MessageStream(
            self._source(sep),
            target,
            stop_after_idle=self.stop_after_idle,
            dead_letters=self.dead_letters,
            sequence=self.sequence,
            resumes=self.resumes,
            categorical=categorical,
            ignore=ignore,
            heard=self.heard,
        )

    def join(self, given: Callable[[GroupPartition], None], taken: Callable[[int, bool], None]) -> KafkaGroup:
        """The group that shares the partitions of a topic; see KafkaGroup."""
        from streamsift.streams.kafka_group import KafkaGroup

        named = self._query("group", *_FORMAT)
        if not named["group"]:
            raise ParameterError(f"'group' in {self.address!r} is empty: give the processes a name in common.")
        return KafkaGroup(self.address, named["group"], decode=self._decoder(named), given=given, taken=taken)

    def rows_of(
        self, partition: GroupPartition, target: str, agree: Callable[[dict[str, Any]], dict[str, Any]], **options: Any
    ) -> MessageStream:
        """The rows of a partition that the group has given to this process."""
        from streamsift.streams.message_formats import ArrowRows

        source: MessageSource = (
            ArrowRows(partition) if self._query("group", *_FORMAT).get("format") == "arrow" else partition
        )
        return MessageStream(source, target, agree=agree, **options)

    def _source(self, sep: str | None) -> MessageSource:
        from streamsift.streams.kafka_topic import KafkaTopic
        from streamsift.streams.lines import GrowingFile, NumberedInput
        from streamsift.streams.message_formats import ArrowRows
        from streamsift.streams.redis_entries import RedisEntries

        if self.address == "-":
            return NumberedInput(sep)
        if self.address.startswith("tail:"):
            return GrowingFile(self.address.removeprefix("tail:"), sep)
        if sep is not None:
            raise ParameterError("The option sep does not apply to messages: it is for the cells of CSV.")
        redis = self.address.startswith("redis:")
        given = self._query(*(("field", "db") if redis else ("partitions", "group")), *_FORMAT)
        decode = self._decoder(given)
        source: MessageSource
        if redis:
            if "format" in given and "field" not in given:
                raise ParameterError(f"'format' in {self.address!r} is about one field of an entry: add field=NAME.")
            if not given.get("db", "0").isdecimal():
                raise ParameterError(f"'db' in {self.address!r} must be a number.")
            db = int(given.get("db", "0"))
            source = RedisEntries(self.address, field=given.get("field"), db=db, decode=decode)
        else:
            source = KafkaTopic(self.address, decode=decode, partitions=_numbers(given.get("partitions")))
        return ArrowRows(source) if given.get("format") == "arrow" else source

    def _decoder(self, given: dict[str, str]) -> Decode:
        from streamsift.streams.message_formats import decoder

        return decoder(given.get("format", "json"), given.get("schema"), given.get("schema_id"))

    def _query(self, *known: str) -> dict[str, str]:
        """What stands behind the question mark of the address."""
        found = dict(parse_qsl(urlsplit(self.address).query, keep_blank_values=True))
        for name in found:
            if name not in known:
                raise ParameterError(f"{name!r} in {self.address!r} is not known: {' and '.join(known)} are.")
        return found


def _numbers(text: str | None) -> frozenset[int] | None:
    """Partitions as an address names them.

    >>> sorted(_numbers("0-2,7"))
    [0, 1, 2, 7]
    """
    if text is None:
        return None
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not all(end.isascii() and end.isdecimal() and len(end) < 6 for end in (first, last if dash else first)):
            raise ParameterError(f"'partitions' must be numbers such as 0-3,7. Got {text!r} instead.")
        found |= set(range(int(first), int(last if dash else first) + 1))
    return frozenset(found)
