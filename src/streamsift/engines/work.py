"""What is done on a worker: learn a part, merge states. A state travels as the bytes of a saved selector."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamsift import __version__, persist
from streamsift.core.exceptions import MergeError, ParameterError, ReaderError, StreamsiftError
from streamsift.engines.order import InTime
from streamsift.engines.parts import in_order
from streamsift.streams.open import as_stream
from streamsift.streams.stream import RowStream

FAN = 8  # states that are merged by one task


@dataclass(frozen=True)
class Job:
    """What every worker needs to know: the method with its parameters, and how a part is read."""

    method: str
    parameters: dict[str, Any]
    target: str | None
    reading: dict[str, Any] = field(default_factory=dict)
    features: tuple[str, ...] | None = None  # in the order of the first part
    batch_size: int = 1000
    order_by: str | None = None  # the column with the times, where parts are put in their order
    version: str = __version__

    @classmethod
    def of(cls, selector: Any, target: str | None, reading: dict[str, Any], batch_size: int) -> Job:
        """The job of a selector that has not learnt anything, of a method in the catalog."""
        if hasattr(selector, "n_rows_seen_"):
            raise ParameterError("The selector has learnt already: give a new one, or merge it with the result.")
        return cls(*persist.description(selector), target, reading, batch_size=batch_size)

    def selector(self) -> Any:
        """A new selector, on the worker."""
        if self.version != __version__:
            raise StreamsiftError(
                f"A worker has streamsift {__version__}, but {self.version} sent the work: install the same there."
            )
        return persist.from_description(self.method, self.parameters)

    def open(self, part: Any) -> RowStream:
        """The rows of a part, with the features that all parts have."""
        stream = in_order(part.open(self.target, self.reading), self.features)
        return stream if self.order_by is None else InTime(stream, self.order_by)


def packed(selector: Any) -> bytes:
    """A selector as the bytes of the file that `save` would write; of one that has learnt nothing, a line of JSON."""
    if not hasattr(selector, "n_rows_seen_"):  # no row of the part had a label
        method, parameters = persist.description(selector)
        facts = {"method": method, "parameters": parameters, "unlabelled": selector.n_rows_unlabelled_}
        return json.dumps(facts, allow_nan=False).encode()
    with tempfile.TemporaryDirectory(prefix="streamsift-") as folder:
        path = Path(folder) / "state"
        persist.save(selector, path)
        return path.read_bytes()


def unpacked(state: bytes) -> Any:
    """The selector behind such bytes, checked as any saved file is."""
    if state.startswith(b"{"):
        facts = json.loads(state)
        selector = persist.from_description(facts["method"], facts["parameters"])
        selector._n_unlabelled = int(facts["unlabelled"])
        return selector
    with tempfile.TemporaryDirectory(prefix="streamsift-") as folder:
        path = Path(folder) / "state"
        path.write_bytes(state)
        return persist.load(path)


def learn(job: Job, part: Any, progress: Callable[[float], None] = lambda fraction: None) -> bytes:
    """One pass over a part; the state of what was learnt."""
    selector = job.selector()
    try:
        return packed(learnt(selector, job.open(part), job.batch_size, progress))
    except (StreamsiftError, OSError) as error:
        raise ReaderError(f"The part {part} cannot be used: {error}") from error


def learn_rows(job: Job, source: Any, name: str) -> bytes:
    """The same for rows that the engine hands over: a frame, or a pair of arrays."""
    selector = job.selector()
    try:
        reading = {key: value for key, value in job.reading.items() if key in ("categorical", "ignore")}
        options = {} if isinstance(source, tuple) else reading
        return packed(learnt(selector, as_stream(source, job.target, **options), job.batch_size))
    except (StreamsiftError, OSError) as error:
        raise ReaderError(f"{name} cannot be used: {error}") from error


def learnt(
    selector: Any, stream: RowStream, batch_size: int, progress: Callable[[float], None] = lambda fraction: None
) -> Any:
    """The selector after all rows of a stream."""
    for batch in stream.batches(batch_size):
        selector.partial_fit(batch)
        fraction = stream.progress()
        if fraction is not None:
            progress(fraction)
    return selector


def merge(states: Iterable[bytes]) -> bytes:
    """Several states in one, those of older rows first; those that have learnt nothing change nothing."""
    first, *others = states
    if not others:
        return first
    selector = unpacked(first)
    for state in others:
        other = unpacked(state)
        _refuse_labels_of_two_kinds(selector, other)
        selector.merge_later(other)  # without fading, which is older does not matter
    return packed(selector)


def _refuse_labels_of_two_kinds(one: Any, other: Any) -> None:
    """Raise MergeError where a reader took labels for numbers in one part and for text in another."""
    first = [next(iter(getattr(selector, "classes_", ())), None) for selector in (one, other)]
    if None not in first and isinstance(first[0], str) != isinstance(first[1], str):
        raise MergeError(
            f"Some parts have text as labels and others numbers ({first[0]} and {first[1]}): one label could "
            "count as two, so write all parts alike."
        )


def by_fan(items: Sequence[Any]) -> Iterator[list[Any]]:
    """Neighbours that are merged by one task.

    >>> [len(group) for group in by_fan(range(10))]
    [8, 2]
    """
    for first in range(0, len(items), FAN):
        yield list(items[first : first + FAN])


def refuse_what_cannot_merge(selector: Any, order_by: str | None = None) -> None:
    """Methods whose state depends on the order of the rows, and fading, where no part says when it was."""
    name = type(selector).__name__
    if not hasattr(selector, "partial_fit") or not hasattr(selector, "merge"):
        raise ParameterError(f"{name} is no selector that learns rows and can be merged: give one, such as Screener().")
    if selector.stream_tags().mergeable == "no":
        raise ParameterError(
            f"{name} cannot be merged: its state depends on the order of the rows. Screen first and let {name} learn "
            "from the best features on one machine (prescreen=2000, --prescreen 2000), or keep one selector for each "
            "value of a column (select_by_key, --by COLUMN)."
        )
    given = {"fading": getattr(selector, "fading", 1.0), "half_life": getattr(selector, "half_life", None)}
    if isinstance(given["half_life"], str) and getattr(selector, "time", None) is None:
        raise ParameterError(
            f"half_life={given['half_life']!r} needs the time of each row: name its column with time= (--time)."
        )
    fades = [
        f"{name}={value}" for name, value in given.items() if value not in (None, 1.0) and not isinstance(value, str)
    ]
    if fades and order_by is None:
        raise ParameterError(
            f"{fades[0]} needs to know which rows are older, and parts that are read side by side do not say: name "
            "the column with their times (order_by=, --order-by), or leave it out."
        )
    if order_by is not None and not fades:
        raise ParameterError(
            "order_by (--order-by) is for fading by rows (fading=, half_life=10000), and nothing fades by rows here: "
            "leave it out."
        )
