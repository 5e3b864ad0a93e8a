"""generate: streams made up on the spot, with their true features and drift points known.

A generator is one file in `generators/` and one line in the table below: a frozen dataclass whose fields are its
options, which it checks itself, with the members of RowGenerator. It makes blocks of rows from a source of random
numbers that belongs to the block alone, so the same seed gives the same stream whatever the batch size.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch
from streamsift.core.constraints import Integer, check_parameters
from streamsift.core.exceptions import UnknownNameError
from streamsift.streams.generators.drift import Drift
from streamsift.streams.stream import recut

GENERATORS = {
    "agr": "streamsift.streams.generators.agrawal:Agrawal",
    "an": "streamsift.streams.generators.assets:Assets",
    "bg1": "streamsift.streams.generators.binary:AllTrue",
    "bg2": "streamsift.streams.generators.binary:MostTrue",
    "bg3": "streamsift.streams.generators.binary:AllEqual",
    "rtg": "streamsift.streams.generators.random_tree:RandomTree",
    "sea": "streamsift.streams.generators.sea:Sea",
    "rbf": "streamsift.streams.generators.rbf:RadialBasis",
    "linear_drift": "streamsift.streams.generators.linear_drift:LinearDrift",
    "friedman_drift": "streamsift.streams.generators.friedman_drift:FriedmanDrift",
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

    @property
    def categories(self) -> dict[str, tuple[str, ...]]:
        """The values behind the codes of each categorical feature."""
        ...

    def rows(self, rng: np.random.Generator, first: int, n_rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """X and y of the rows first, first + 1, ..."""
        ...

    def relevant(self, row: int) -> NDArray[np.intp]:
        """The features that decide the label of a row."""
        ...

    def drifts(self, first: int, last: int) -> bool:
        """Whether a drift is under way in a row from `first` to `last`; an abrupt one is in its first row."""
        ...

    def changes(self, n_rows: int) -> Sequence[Drift]:
        """All drifts of the first `n_rows`, in order."""
        ...


@dataclasses.dataclass(frozen=True)
class Segment:
    """The rows `first` to `last`, in which the same features are the true ones."""

    first: int
    last: int
    relevant: tuple[int, ...]


class GeneratedStream:
    """The rows of a generator as a stream."""

    target_name = "label"

    def __init__(self, generator: RowGenerator, n_rows: int, seed: int) -> None:
        self._generator = generator
        self._seed = seed
        self.n_rows = n_rows
        self.feature_names = generator.feature_names
        self.categories = generator.categories
        self._n_given = 0

    def progress(self) -> float | None:
        return self._n_given / self.n_rows

    @property
    def drifts(self) -> tuple[Drift, ...]:
        """The drifts of the stream, in order."""
        return tuple(self._generator.changes(self.n_rows))

    def segments(self) -> list[Segment]:
        """The true features of the whole stream, from drift to drift."""
        starts = [0, *(drift.row for drift in self.drifts)]
        ends = [*starts[1:], self.n_rows]
        return [
            Segment(first, end - 1, tuple(self._generator.relevant(first).tolist()))
            for first, end in zip(starts, ends, strict=True)
        ]

    def batches(self, batch_size: int) -> Iterator[Batch]:
        return self._with_truth(recut(self._blocks(), batch_size))

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


def generate(name: str, n_rows: int = 100_000, seed: int = 0, **options: Any) -> GeneratedStream:
    """A synthetic stream whose relevant features and drift points are known.

    Parameters
    ----------
    name : str
        agr (loan applicants), an (asset negotiation), bg1, bg2, bg3 (binary concepts), rtg (random tree), sea (sum
        of two features), rbf (clouds around centres), linear_drift (a window of true features that moves on),
        friedman_drift (a number as target; five true features whose roles change). Each is described in its file in
        streamsift.streams.generators.
    n_rows : int, default 100,000
        How many rows the stream has.
    seed : int, default 0
        The same seed gives the same rows, for every batch size.
    **options
        Options of the generator. All but the last two take `irrelevant` and `redundant` (numbers of features to
        append), `n_values` (of an irrelevant categorical feature), `drift` ("abrupt", "gradual" or None), `n_drifts`,
        `positions`, `width`, `class_noise` and `class_share`, and their own.

    Returns
    -------
    GeneratedStream
        A RowStream whose batches also carry `relevant` (true at the end of the batch) and `drifting`.

    Examples
    --------
    >>> stream = generate("linear_drift", n_rows=300, n_features=20, n_relevant=3, shift_every=100)
    >>> [(batch.relevant.tolist(), batch.drifting) for batch in stream.batches(100)]
    [([0, 1, 2], False), ([1, 2, 3], True), ([2, 3, 4], True)]
    >>> stream = generate("sea", n_rows=30_000, irrelevant=10, drift="abrupt")
    >>> [(segment.first, segment.last, segment.relevant) for segment in stream.segments()]
    [(0, 9999, (0, 1)), (10000, 19999, (2, 3)), (20000, 29999, (4, 5))]
    """
    if name not in GENERATORS:
        raise UnknownNameError("generator", name, GENERATORS)
    module, _, class_name = GENERATORS[name].partition(":")
    kind = getattr(import_module(module), class_name)
    known = [field.name for field in dataclasses.fields(kind) if field.name != "n_rows"]
    for option in options:
        if option not in known:
            raise UnknownNameError(f"option of {name} called", option, known)
    check_parameters("generate", {"n_rows": n_rows, "seed": seed}, {"n_rows": (Integer(1),), "seed": (Integer(0),)})
    if len(known) < len(dataclasses.fields(kind)):
        options["n_rows"] = n_rows  # where drifts are, depends on it
    return GeneratedStream(kind(**options), n_rows, seed)
