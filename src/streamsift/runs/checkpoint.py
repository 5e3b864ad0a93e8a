"""Checkpoints: a run of any kind, kept in one file, so that another process goes on as if nothing had happened.

A checkpoint is a saved selector (`streamsift.persist`) with three more sections: `run`, what was run on what;
`position`, how far the source was read; and `trace`, the record up to there. It is written whole or not at all, and
nothing in it is used before it has been checked.

Between two steps of a run everything fits together; within a step the selector may be in the middle of a batch. So
what would be written is put aside after a step (`_Frozen`, copies), as often as that takes a fiftieth of the time at
most. An interrupt then writes what was put aside last, wherever it hits.
"""

from __future__ import annotations

import dataclasses
import json
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from sklearn.exceptions import NotFittedError

from streamsift import persist
from streamsift.core import interrupts
from streamsift.core.exceptions import ParameterError, ReadingNotice, SavedStateError
from streamsift.persist import Parts
from streamsift.runs.run import Loop, Run, Step, seconds_of
from streamsift.runs.trace_writer import TraceWriter, plain
from streamsift.streams.fingerprints import refuse_changed

RUN, POSITION, TRACE = "run", "position", "trace"
SHARE = 50  # what is put aside may cost this part of the time
_EVERY = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|rows)")
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Every:
    """How often a checkpoint is written: after so many seconds, or after so many rows (or columns)."""

    seconds: float | None = 60.0
    rows: int | None = None

    @classmethod
    def parse(cls, text: str) -> Every:
        """A distance as a user writes it.

        Examples
        --------
        >>> Every.parse("5m"), Every.parse("10000rows")
        (Every(seconds=300.0, rows=None), Every(seconds=None, rows=10000))
        """
        found = _EVERY.fullmatch(text.strip())
        if found is None or (found[2] == "rows" and not (found[1].isdecimal() and int(found[1]) > 0)):
            raise ParameterError(f"{text!r} is no distance between checkpoints: write 60s, 5m, 2h or 10000rows.")
        if found[2] == "rows":
            return cls(None, int(found[1]))
        return cls(float(found[1]) * _UNITS[found[2]])


@dataclass(frozen=True)
class SavedRun:
    """What a saved file says about the run it comes from: the run, and what the source was known by."""

    run: Run
    source: dict[str, Any]

    @property
    def rows(self) -> str | None:
        """What the rows were known by, for methods that compare columns of the same rows."""
        rows = self.source.get("rows")
        return rows if isinstance(rows, str) else None


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint as it was read: the selector is checked, the rest by whoever goes on with it."""

    path: Path
    selector: Any
    saved: SavedRun
    position: Parts
    trace: Parts

    @classmethod
    def read(cls, path: str | Path) -> Checkpoint:
        """Read a checkpoint; SavedStateError in a sentence where it is none, or damaged."""
        selector, saved = persist.load(path), saved_run(path)
        position, trace = (persist.read_section(path, section) for section in (POSITION, TRACE))
        if saved is None or position is None or trace is None:
            raise SavedStateError(f"{path} is a saved selector but no checkpoint of a run: go on from it with --load.")
        return cls(Path(path), selector, saved, position, trace)

    def refuse_other_run(self, run: Run) -> None:
        """Raise ParameterError in a sentence where another run is asked for than the one that was kept."""
        refuse_other_run(self.path, self.saved.run, run)


def refuse_other_run(path: Path, then: Run, run: Run) -> None:
    """Raise ParameterError in a sentence where `run` is not the one that is kept at a path."""
    now = plain_run(run)
    asked = {"method": now.method, "target": now.target, **now.settings, **now.parameters}
    known = {"method": then.method, "target": then.target, **then.settings, **then.parameters}
    for name in [*asked, *known]:
        if asked.get(name) != known.get(name):
            raise ParameterError(
                f"{path} was written by a run with {name}={known.get(name)!r}, and now it is "
                f"{asked.get(name)!r}: give the same options, or start again with another checkpoint."
            )


def saved_run(path: str | Path) -> SavedRun | None:
    """What a saved file says about its run; None where it says nothing, as when it was saved from Python."""
    section = persist.read_section(path, RUN)
    if section is None:
        return None
    run, source = section.facts.get("run"), section.facts.get("source")
    fields = {field.name: str(field.type) for field in dataclasses.fields(Run)}
    texts = [name for name, kind in fields.items() if kind in ("str", "Kind")]
    fine = (
        isinstance(run, dict)
        and isinstance(source, dict)
        and run.keys() == fields.keys()
        and all(isinstance(run[name], str) for name in texts)
        and all(isinstance(run[name], dict) for name in ("parameters", "settings"))
        and isinstance(run["complete"], bool)
    )
    if not fine:
        raise SavedStateError(f"{path} is damaged: it does not say which run it comes from.")
    assert isinstance(run, dict)
    assert isinstance(source, dict)
    seconds_of(run)
    return SavedRun(Run.from_dict(run), source)


def plain_run(run: Run) -> Run:
    """The run as JSON keeps it."""
    return Run.from_dict(json.loads(json.dumps(asdict(run), default=plain)))


def run_section(run: Run, source: dict[str, Any]) -> Parts:
    """What is written about a run."""
    return Parts({"run": asdict(plain_run(run)), "source": source}, {})


@dataclass(frozen=True)
class Checkpointing:
    """Where the checkpoint of a run goes, how often, and what the run goes on from.

    Parameters
    ----------
    path : path
        The file.
    every : Every
        How often it is written. It is also written when the run ends, and when it is interrupted.
    begin : Checkpoint, optional
        Where to go on; without it the run begins at the beginning.
    """

    path: Path
    every: Every = field(default_factory=Every)
    begin: Checkpoint | None = None


@dataclass(frozen=True)
class _Frozen:
    """Everything there is to write, between two steps."""

    number: int
    selector: Parts
    sections: dict[str, Parts]


class Keeper:
    """Keeps the checkpoint of a run up to date, from step to step.

    Parameters
    ----------
    how : Checkpointing
    method : a method
        The one that is led.
    run : Run
        As it was asked for.
    loop, writer
        What leads the method, and what records it.
    clock : callable
        Gives seconds.
    """

    def __init__(
        self,
        how: Checkpointing,
        method: Any,
        run: Run,
        loop: Loop,
        writer: TraceWriter,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self._how, self._method, self._loop, self._writer, self._clock = how, method, loop, writer, clock
        self._about = run_section(run, loop.source())
        self._frozen: _Frozen | None = None
        self._n_frozen = self._written = 0
        self._frozen_at = self._written_at = clock()
        self._cost = 0.0
        self._written_position = self._frozen_position = 0
        writer.keeps = True

    def resume(self) -> float:
        """Begin where the checkpoint was written, if there is one; the seconds it took up to there."""
        begin = self._how.begin
        if begin is None:
            return 0.0
        name = self._about.facts["run"]["data"]
        refuse_changed(begin.saved.source, json.loads(json.dumps(self._loop.source())), name, str(begin.path))
        self._loop.resume(begin.position, begin.trace)
        self._writer.resume(begin.trace)
        warnings.warn(f"Going on from {begin.path}, after {self._loop.reach()}.", ReadingNotice, stacklevel=2)
        return self._writer.seconds

    def step(self, step: Step) -> None:
        """Take notice of a step that is complete, and recorded."""
        now, every = self._clock(), self._how.every
        if every.rows is not None:
            due = step.position - self._written_position >= every.rows
        else:
            due = now - self._written_at >= (every.seconds or 0.0)
        if due or now - self._frozen_at >= SHARE * self._cost:
            self._freeze(step.position)
        if due:
            self.write()

    def _freeze(self, position: int) -> None:
        began = self._clock()
        try:
            selector = persist.parts_of(self._method)
        except NotFittedError:  # no row has had a label so far: a run from the beginning is as good
            return
        sections = {RUN: self._about, POSITION: self._loop.freeze(), TRACE: self._writer.freeze()}
        self._frozen = _Frozen(self._n_frozen + 1, selector, sections)
        self._n_frozen, self._frozen_position = self._frozen.number, position
        self._frozen_at = self._clock()
        self._cost = self._frozen_at - began

    def write(self) -> bool:
        """Write what was put aside last, unless that is done; returns whether there is a checkpoint of this run now."""
        frozen = self._frozen
        if frozen is not None and frozen.number > self._written:
            persist.write(self._how.path, frozen.selector, frozen.sections)
            self._written, self._written_at = frozen.number, self._clock()
            self._written_position = self._frozen_position
        return frozen is not None or self._how.begin is not None

    def finish(self) -> None:
        """Write the end of the run."""
        self._freeze(self._frozen_position)
        self.write()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """In this block, a process that must be ended while it does not listen writes a checkpoint first."""

        def act() -> None:
            self.write()

        with interrupts.last_act(act):
            yield
