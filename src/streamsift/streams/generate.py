"""generate: streams made up on the spot, with their true features and drift points known.

A generator is one file in `generators/` and one line in the table below: a frozen dataclass whose fields are its
options, which it checks itself, with the members of RowGenerator. It makes blocks of rows from a source of random
numbers that belongs to the block alone, so the same seed gives the same stream whatever the batch size.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch
from streamsift.core.constraints import Integer, check_parameters
from streamsift.core.exceptions import UnknownNameError
from streamsift.streams.stream import recut

GENERATORS = {
    "linear_drift": "streamsift.streams.generators.linear_drift:LinearDrift",
}

BLOCK_VALUES = 1 << 20  # of one block, so that a block of very wide rows stays small
MOST_BLOCK_ROWS = 1 << 10


class RowGenerator(Protocol):
    """What a file in `generators/` provides."""

    @property
    def feature_names(self) -> tuple[str, ...]: ...

    @property
    def categorical(self) -> NDArray[np.bool_] | None:
        """Which features are codes of categories; None for none."""
        ...

    def rows(self, rng: np.random.Generator, first: int, n_rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """X and y of the rows first, first + 1, ..."""
        ...

    def relevant(self, row: int) -> NDArray[np.intp]:
        """The features that decide the label of a row."""
        ...

    def drifts(self, first: int, last: int) -> bool:
        """Whether a row from `first` to `last` follows another concept than the row before it."""
        ...


class GeneratedStream:
    """The rows of a generator as a stream."""

    target_name = "label"
    categories: dict[str, tuple[str, ...]] = {}  # noqa: RUF012 - empty for good

    def __init__(self, generator: RowGenerator, rows: int, seed: int) -> None:
        self._generator = generator
        self._seed = seed
        self.n_rows = rows
        self.feature_names = generator.feature_names
        self._n_given = 0

    def progress(self) -> float | None:
        return self._n_given / self.n_rows

    def batches(self, size: int) -> Iterator[Batch]:
        return self._with_truth(recut(self._blocks(), size))

    def _with_truth(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        self._n_given = 0
        for batch in batches:
            first, self._n_given = self._n_given, self._n_given + batch.n_rows
            last = self._n_given - 1
            yield dataclasses.replace(
                batch, relevant=self._generator.relevant(last), drifting=self._generator.drifts(first, last)
            )

    def _blocks(self) -> Iterator[Batch]:
        generator = self._generator
        block_rows = max(1, min(MOST_BLOCK_ROWS, BLOCK_VALUES // len(self.feature_names)))
        for block, first in enumerate(range(0, self.n_rows, block_rows)):
            rng = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(block,)))
            # The last block is made whole and cut, so that more rows prolong a stream and change nothing before.
            X, y = generator.rows(rng, first, block_rows)
            wanted = self.n_rows - first
            yield Batch(X[:wanted], y[:wanted], self.feature_names, generator.categorical)


def generate(name: str, rows: int = 100_000, seed: int = 0, **options: Any) -> GeneratedStream:
    """A synthetic stream whose relevant features and drift points are known.

    Parameters
    ----------
    name : str
        "linear_drift": linear labels whose true features move on as a window (see
        streamsift.streams.generators.linear_drift).
    rows : int
        How many rows the stream has.
    seed : int
        The same seed gives the same rows, for every batch size.
    **options
        Options of the generator, e.g. n_features, n_relevant and shift_every.

    Returns
    -------
    GeneratedStream
        A RowStream whose batches also carry `relevant` (true at the end of the batch) and `drifting`.

    Examples
    --------
    >>> stream = generate("linear_drift", rows=300, n_features=20, n_relevant=3, shift_every=100)
    >>> [(batch.relevant.tolist(), batch.drifting) for batch in stream.batches(100)]
    [([0, 1, 2], False), ([1, 2, 3], True), ([2, 3, 4], True)]
    """
    if name not in GENERATORS:
        raise UnknownNameError("generator", name, GENERATORS)
    module, _, class_name = GENERATORS[name].partition(":")
    kind = getattr(import_module(module), class_name)
    known = [field.name for field in dataclasses.fields(kind)]
    for option in options:
        if option not in known:
            raise UnknownNameError(f"option of {name} called", option, known)
    check_parameters("generate", {"rows": rows, "seed": seed}, {"rows": (Integer(1),), "seed": (Integer(0),)})
    return GeneratedStream(kind(**options), rows, seed)
