"""Source: the data of a comparison, and what a repeat changes about it.

A file or an iterator is read once and spooled: every run reads its rows from the spool.

The order of the rows is kept, for drift lies in it. Repeat 0 reads all rows; every further repeat

    of a file, arrays or a frame       leaves out a random tenth of the rows
    of a generator or a factory        is a new stream, made with the next seed
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from streamsift.core.batch import Batch
from streamsift.core.exceptions import InputError, ParameterError
from streamsift.core.limits import beyond
from streamsift.core.plain_json import read_json
from streamsift.core.vocabulary import LabelVocabulary
from streamsift.streams.generation import generate
from streamsift.streams.identifiers import WatchedStream
from streamsift.streams.labels import as_numbers
from streamsift.streams.libsvm import LibsvmStream
from streamsift.streams.open import as_stream
from streamsift.streams.spool import Spool, SpoolWriter
from streamsift.streams.stream import PassedOn, RowStream, recut
from streamsift.streams.tasks import TargetSample, Task, task_of

LEFT_OUT = 0.1
GENERATED = "generate:"
GENERATED_ROWS = 10_000  # where nobody says how many
_AT_ONCE = 1 << 10  # rows


@dataclass(frozen=True)
class Source:
    """Where the rows come from.

    data: whatever `open_stream` reads, or "generate:NAME,option=value,...", or a function that makes a stream from a
    seed. target: the column with the labels. rows: how many to read at most. categorical, ignore: columns to read as
    categories and columns to leave out. spool: the rows of a file or an iterator, once they were read. reading: other
    options of `open_stream`.
    """

    data: Any
    target: str | None
    rows: int | None
    seed: int
    categorical: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    spool: Spool | None = None
    reading: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def generated(self) -> bool:
        """Whether the data is the name of a generator."""
        return isinstance(self.data, str) and self.data.startswith(GENERATED)

    @property
    def read_once(self) -> bool:
        """Whether the rows are to be spooled: those of a file or an iterator."""
        path = isinstance(self.data, str | os.PathLike) and not self.generated
        return path or (isinstance(self.data, Iterator) and not callable(self.data))

    @property
    def name(self) -> str:
        """What to call it: the name of a file, generator or function, or the kind of object."""
        if isinstance(self.data, str | os.PathLike):
            text = os.fspath(self.data)
            if text == "-":
                return "standard input"
            return text if text.startswith(GENERATED) else Path(text).name
        if self.read_once:
            return "iterator"
        return str(getattr(self.data, "__name__", "arrays" if isinstance(self.data, tuple) else "frame"))

    def stream(self, repeat: int) -> RowStream:
        """The rows of a repeat, from the start."""
        seed = self.seed + repeat
        if (self.categorical or self.ignore or self.reading) and (self.generated or callable(self.data)):
            option = "categorical" if self.categorical else "ignore" if self.ignore else next(iter(self.reading))
            raise ParameterError(f"The option {option} does not apply to {self.name}, which is no table: leave it out.")
        if callable(self.data):
            return Part(self.data(seed), self.rows, None)
        if self.generated:
            name, options = _generator(self.data.removeprefix(GENERATED))
            return generate(name, n_rows=self.rows or GENERATED_ROWS, seed=seed, **options)
        rows = self.opened() if self.spool is None else self.spool
        return Part(rows, self.rows, (self.seed, repeat) if repeat else None)

    def remove_spool(self) -> None:
        """Remove the temporary file, if there is one; the rows cannot be read after that."""
        if self.spool is not None:
            self.spool.remove()

    def opened(self) -> RowStream:
        """The rows of a file, arrays, a frame or an iterator as they are there."""
        return as_stream(self.data, self.target, categorical=self.categorical, ignore=self.ignore, **self.reading)


def _generator(text: str) -> tuple[str, dict[str, Any]]:
    """The name and options in "sea,irrelevant=20,drift=abrupt"."""
    name, *rest = text.split(",")
    options: dict[str, Any] = {}
    for part in rest:
        option, separator, value = part.partition("=")
        if not separator:
            raise ParameterError(f"{part!r} is not of the form option=value: write generate:sea,irrelevant=20.")
        try:
            options[option] = read_json(value)
        except ValueError:
            options[option] = value
    return name, options


class Part(PassedOn):
    """The first rows of a stream, or all; with a seed, less a random tenth of them."""

    def __init__(self, stream: RowStream, rows: int | None, seed: tuple[int, int] | None) -> None:
        super().__init__(stream)
        self._rows, self._seed, self._fraction = rows, seed, 0.0

    @property
    def n_rows(self) -> int | None:
        if self._seed is not None:
            return None
        known = self._stream.n_rows
        return known if known is None or self._rows is None else min(known, self._rows)

    def progress(self) -> float | None:
        return self._fraction if self._rows is not None else self._stream.progress()

    def batches(self, batch_size: int) -> Iterator[Batch]:
        if self._rows is None and self._seed is None:
            return self._stream.batches(batch_size)
        return recut(self._kept(), batch_size)

    def _kept(self) -> Iterator[Batch]:
        rng = None if self._seed is None else np.random.default_rng(self._seed)
        first = 0
        for batch in self._stream.batches(_AT_ONCE):
            n_rows = batch.n_rows if self._rows is None else min(batch.n_rows, self._rows - first)
            kept = np.arange(n_rows) if rng is None else np.flatnonzero(rng.random(n_rows) >= LEFT_OUT)
            yield batch.rows(kept)
            first += n_rows
            if self._rows is not None:
                self._fraction = first / self._rows
                if first == self._rows:
                    return


@dataclass(frozen=True)
class Survey:
    """What one reading tells about the data.

    mixed: some features are numbers and some are categories of more than two values. truth: the true features are
    known. digest: of all rows and labels. largest_share: of the rows that are of the most frequent class. sample: what
    the first rows say of the target. task: what it is taken for; numbers have no classes.
    """

    n_rows: int
    n_features: int
    n_classes: int
    sparse: bool
    mixed: bool
    truth: bool
    digest: str
    target: str | None
    largest_share: float = 0.0
    sample: TargetSample | None = None
    task: Task = "classification"

    @property
    def numeric(self) -> bool:
        """Whether the target is a number."""
        return self.task == "regression"


def read_once(source: Source, task: str = "classification") -> tuple[Source, Survey]:
    """Survey the data and spool what should not, or cannot, be read again; whoever calls this removes the spool."""
    if not source.read_once:
        return source, survey(source, task)
    stream = source.opened()
    with SpoolWriter(widens=isinstance(stream, LibsvmStream)) as writer:
        facts = survey_rows(Part(writer.reading(WatchedStream(stream)), source.rows, None), task)
    return replace(source, data=source.name, spool=writer.spool), facts


def survey(source: Source, task: str = "classification") -> Survey:
    """Read all rows of the first repeat; refuse data that no method could be compared on.

    Examples
    --------
    >>> from streamsift.comparison.repeats import Source, survey
    >>> found = survey(Source("generate:sea,irrelevant=4", None, 1000, 0))
    >>> found.n_rows, found.n_features, found.n_classes, found.truth
    (1000, 10, 2, True)
    """
    return survey_rows(source.stream(0), task)


class _Classes:
    """How many rows each class has."""

    def __init__(self) -> None:
        self._labels, self._counts = LabelVocabulary(), np.zeros(0, np.int64)

    def add(self, batch: Batch, first_row: int) -> None:
        codes, self._labels = self._labels.encode(batch.y)
        new = np.bincount(codes, minlength=len(self._labels))
        new[: len(self._counts)] += self._counts
        self._counts = new

    def facts(self, n_rows: int) -> tuple[int, float]:
        """The number of classes, and the share of the largest."""
        if len(self._labels) < 2:
            raise InputError(
                f"All {n_rows:,} rows have the same label: with one class there is nothing to predict, so give rows of "
                "a second class or another target."
            )
        return len(self._labels), float(self._counts.max() / self._counts.sum())


class _Numbers:
    """Whether numbers differ at all."""

    def __init__(self, target: str | None) -> None:
        self._target, self._low, self._high = target or "label", np.inf, -np.inf

    def add(self, batch: Batch, first_row: int) -> None:
        y = as_numbers(np.asarray(batch.y), self._target, first_row, batch.lines)
        bad = beyond(y)
        if bad.any():
            row = int(np.argmax(bad))
            where = f"Row {first_row + row}" if batch.lines is None else f"Line {batch.lines[row]}"
            raise InputError(f"{where} has the target {y[row]}, which is no finite number: correct or drop the row.")
        self._low, self._high = min(self._low, y.min()), max(self._high, y.max())

    def facts(self, n_rows: int) -> tuple[int, float]:
        if self._low == self._high:
            raise InputError(
                f"All {n_rows:,} rows have the target {self._low:g}: there is nothing to predict, so give another one."
            )
        return 0, 0.0


def survey_rows(stream: RowStream, task: str = "classification") -> Survey:
    """What `survey` says, of rows that are open; with task="auto" the first 1,024 of them say what the target is."""
    digest, n_rows, n_features = hashlib.blake2b(digest_size=16), 0, 0
    sparse = truth = numbers = False
    found: Any = None
    sample: TargetSample | None = None
    for batch in stream.batches(_AT_ONCE):
        if found is None:
            sample = task_of(batch.y) if task == "auto" else None
            task = task if sample is None else sample.task
            found = _Numbers(stream.target_name) if task == "regression" else _Classes()
        found.add(batch, n_rows)
        sparse, truth = not isinstance(batch.X, np.ndarray), batch.relevant is not None
        numbers = batch.categorical is None or not batch.categorical.all()
        _refuse_missing(batch, n_rows)
        for array in (batch.X.data, batch.X.indices, batch.X.indptr) if sparse else (batch.X,):
            digest.update(np.ascontiguousarray(array).tobytes())
        digest.update(repr(np.asarray(batch.y).tolist()).encode())
        n_rows, n_features = n_rows + batch.n_rows, max(n_features, int(batch.X.shape[1]))
    n_classes, share = (found or _Classes()).facts(n_rows)
    mixed = numbers and any(len(values) > 2 for values in stream.categories.values())
    settled: Task = "regression" if task == "regression" else "classification"
    name = stream.target_name
    return Survey(
        n_rows, n_features, n_classes, sparse, mixed, truth, digest.hexdigest(), name, share, sample, settled
    )  # fmt: skip


def _refuse_missing(batch: Batch, first: int) -> None:
    values = batch.X if isinstance(batch.X, np.ndarray) else batch.X.data
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return
    if isinstance(batch.X, np.ndarray):
        row, column = (int(index) for index in np.argwhere(~np.isfinite(batch.X))[0])
    else:
        entry = int(np.flatnonzero(~np.isfinite(values))[0])
        row, column = int(np.searchsorted(batch.X.indptr, entry, "right")) - 1, int(batch.X.indices[entry])
    name = f"x{column}" if batch.feature_names is None else batch.feature_names[column]
    where = f"Row {first + row}" if batch.lines is None else f"Line {batch.lines[row]}"
    raise InputError(
        f"{where} has no finite number in column {name!r}: the classifiers that judge a selection cannot "
        "use such rows, so fill them or leave them out."
    )
