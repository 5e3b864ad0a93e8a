"""Sharing: one of several processes that read the partitions of a topic, each partition with a selector of its own.

A partition is learnt in full batches, cut by its own messages alone, so its state does not depend on who reads it, nor
on how often it changes hands. When it is given to this process, its checkpoint is loaded and its rows are read from the
position in it; when it is taken back, the checkpoint is written. Rows of a batch that is not full are dropped then: the
position lies before them, and whoever goes on reads them again.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from sklearn.exceptions import NotFittedError

from streamsift import persist
from streamsift.core import interrupts
from streamsift.core.batch import Batch
from streamsift.core.exceptions import OneClassWarning, SavedStateError
from streamsift.persist import Parts
from streamsift.runs.checkpoint import POSITION, RUN, Every, refuse_other_run, run_section, saved_run
from streamsift.runs.claims import Claim, agree_on_columns, agree_on_run
from streamsift.runs.run import Run
from streamsift.streams.kafka_group import GroupPartition, KafkaGroup
from streamsift.streams.message_stream import MessageStream

Agree = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass
class Share:
    """A partition that this process holds."""

    partition: GroupPartition
    claim: Claim
    selector: Any
    stream: MessageStream
    written_at: float
    unwritten: int = 0  # rows that were learnt since the checkpoint was written
    whole: bool = True  # False while a batch is being learnt
    merges: bool = False  # whether its state is known to
    overtaken: bool = False  # whether another process has claimed it


@dataclass(frozen=True)
class SharedStep:
    """How far this process is."""

    position: int
    seconds: float

    unit: ClassVar[str] = "rows"
    progress: ClassVar[None] = None

    def leaders(self) -> None:
        return None


@dataclass
class Sharing:
    """Follow a topic together with other processes.

    Parameters
    ----------
    join : callable
        Makes the KafkaGroup, from what is to be called when a partition is given and when one is taken.
    open_rows : callable
        The rows of a partition, as a MessageStream, from the partition and its `agree`.
    make : callable
        A new selector, of a method that can be merged.
    run : Run
        What is run; all processes must run the same.
    folder : Path
        Where the checkpoints are, of all processes.
    every : Every
        How often the checkpoint of a partition is written.
    stop_after_idle : float or None
        Seconds without a message after which this process ends; None: never.
    show, heard : callable
        Called with each step, and with words on which partitions are held.
    """

    join: Callable[..., KafkaGroup]
    open_rows: Callable[[GroupPartition, Agree], MessageStream]
    make: Callable[[], Any]
    run: Run
    folder: Path
    every: Every = field(default_factory=Every)
    stop_after_idle: float | None = None
    show: Callable[[SharedStep], None] = lambda step: None
    heard: Callable[[str], None] = lambda words: None
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._shares: dict[int, Share] = {}
        self._size: int = self.run.settings["batch_size"]
        self._n_rows = 0
        self._about = run_section(self.run, {})
        self._group = self.join(given=self._given, taken=self._taken)

    def follow(self) -> bool:
        """Learn what comes until nothing has come for long enough, or until Ctrl-C; whether it was not interrupted."""
        agree_on_run(self.folder, self.run)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OneClassWarning)  # a partition may lack a class that others have
            try:
                self._group.join()
                self._until_idle()
                for share in self._shares.values():
                    self._learn(share, share.stream.rest())
            except KeyboardInterrupt:
                return False
            finally:
                self._leave()
        return True

    def _leave(self) -> None:
        try:
            for number in tuple(self._shares):
                self._taken(number, lost=False)
        finally:
            self._group.leave()

    def _until_idle(self) -> None:
        begun = heard = self.clock()
        while self.stop_after_idle is None or self.clock() - heard < self.stop_after_idle:
            interrupts.check()
            came = self._group.poll(self._size)
            for share in tuple(self._shares.values()):
                self._step(share)
            if came or not self._group.at_end:
                heard = self.clock()
            self.show(SharedStep(self._n_rows, self.clock() - begun))
            self.heard(_held(tuple(self._shares)))

    def _step(self, share: Share) -> None:
        """Learn the batches that are full, and write the checkpoint when it is time to."""
        if share.overtaken:  # and the group, which has been asked since, says that it is ours
            self._given(share.partition)
            self._group.read_on()
            return
        came = True
        while came:
            share.whole = False
            came, batch = share.stream.look(self._size)
            self._learn(share, batch)
        if self._is_due(share):
            share.overtaken = not self._write(share)

    def _is_due(self, share: Share) -> bool:
        if self.every.rows is not None:
            return share.unwritten >= self.every.rows
        return share.unwritten > 0 and self.clock() - share.written_at >= (self.every.seconds or 0.0)

    def _learn(self, share: Share, batch: Batch | None) -> None:
        share.whole = False
        if batch is not None:
            share.selector.partial_fit(batch)
            share.unwritten += batch.n_rows
            self._n_rows += batch.n_rows
            if not share.merges:  # what cannot be merged is refused now, not when it is asked for
                self.make().merge(share.selector)
                share.merges = True
        share.whole = True

    def _write(self, share: Share) -> bool:
        """Write the checkpoint; False where another process has claimed the partition."""
        if not share.unwritten or not share.whole:
            return True
        try:
            selector = persist.parts_of(share.selector)
        except NotFittedError:  # no row has had a label so far: reading them again is as good
            return True
        position = Parts({"position": share.stream.position()}, {})
        written = share.claim.write(selector, {RUN: self._about, POSITION: position})
        share.unwritten, share.written_at = 0, self.clock()
        return written

    # -- what the group says ---------------------------------------------------------------------------------------

    def _given(self, partition: GroupPartition) -> None:
        """Claim a partition, and go on from its checkpoint."""
        while True:
            claim = Claim(self.folder, partition.number)
            try:
                selector, position = self._kept(claim.path)  # which nobody else replaces
            except FileNotFoundError:  # somebody else has claimed the partition just now, and removed it
                continue
            break
        stream = self.open_rows(partition, lambda columns: agree_on_columns(self.folder, columns))
        if position is not None:
            stream.seek(position)
        stream.begin()
        self._shares[partition.number] = Share(partition, claim, selector, stream, self.clock())

    def _kept(self, path: Path) -> tuple[Any, dict[str, Any] | None]:
        """The selector and the position of a checkpoint; a new one and None, where it has nothing in it yet."""
        if not path.stat().st_size:
            return self.make(), None
        selector, saved, section = persist.load(path), saved_run(path), persist.read_section(path, POSITION)
        position = None if section is None else section.facts.get("position")
        if saved is None or not isinstance(position, dict):
            raise SavedStateError(f"{path} is damaged: it does not say where its rows end.")
        refuse_other_run(path, saved.run, self.run)
        return selector, position

    def _taken(self, number: int, lost: bool) -> None:
        """Write the checkpoint of a partition, unless it is too late for that, and let go of it."""
        share = self._shares.pop(number, None)
        if share is not None and not lost:
            self._write(share)


def _held(numbers: tuple[int, ...]) -> str:
    """
    >>> _held((0, 2)), _held(())
    ('partitions 0, 2', 'no partitions: others have them, or the group hands them out')
    """
    if not numbers:
        return "no partitions: others have them, or the group hands them out"
    return f"partition{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"
