"""Dataset: a table, its target, and what is known about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch
from streamsift.core.constraints import Integer, check_parameters
from streamsift.streams.open import open_stream
from streamsift.streams.stream import PassedOn, RowStream


@dataclass(frozen=True)
class Change:
    """From `row` on, the target depends on the features `true_features`."""

    row: int
    true_features: tuple[str, ...]


@dataclass(frozen=True)
class Dataset:
    """A table in memory, and what is known about it.

    Attributes
    ----------
    name : str
        The name after `load_`.
    table : pyarrow.Table
        All columns, the target too, in the order of arrival.
    target : str
        The column to be predicted.
    about : str
        What the rows are, and where they come from.
    changes : tuple of Change
        Which features decide the target, and from which row on; empty where nobody knows.
    prices : mapping of str to float
        What each value costs, for methods that buy them; empty where they are free.
    ignore : tuple of str
        Columns that are no features, such as a time; `X` and `stream` leave them out.

    Examples
    --------
    >>> from streamsift import Screener, datasets
    >>> data = datasets.load_sensors(n_rows=1000)
    >>> Screener("fisher", n_features_to_select=3, missing="skip").fit(data.X, data.y).selected_
    ['temperature_1', 'vibration_1', 'vibration_2']
    """

    name: str
    table: Any
    target: str
    about: str
    changes: tuple[Change, ...] = ()
    prices: Mapping[str, float] = field(default_factory=dict)
    ignore: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.table.num_rows)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The columns of `X`."""
        return tuple(name for name in self.table.column_names if name != self.target and name not in self.ignore)

    @property
    def X(self) -> Any:
        """The features, as a pyarrow Table; `X.to_pandas()` makes a frame of it."""
        return self.table.select(list(self.feature_names))

    @property
    def y(self) -> NDArray[Any]:
        """The target, one entry for each row."""
        return np.asarray(self.table.column(self.target).to_numpy(zero_copy_only=False))

    @property
    def true_features(self) -> tuple[str, ...]:
        """What the target depends on in the first row; empty where nobody knows."""
        return self.changes[0].true_features if self.changes else ()

    def stream(self) -> RowStream:
        """The rows as a stream; its batches know the true features where the data set does.

        Examples
        --------
        >>> from streamsift import datasets
        >>> stream = datasets.load_clicks(n_rows=2000).stream()
        >>> [batch.relevant.tolist() for batch in stream.batches(500)]
        [[0, 1], [0, 1], [1, 2], [1, 2]]
        """
        return _Told(open_stream(self.table, target=self.target, ignore=self.ignore), self)

    def write_csv(self, path: str | Path) -> None:
        """Write the table, target and all, as a file that `streamsift select` reads.

        Examples
        --------
        >>> import os, tempfile
        >>> from streamsift import datasets
        >>> path = os.path.join(tempfile.mkdtemp(), "clicks.csv")
        >>> datasets.load_clicks(n_rows=10).write_csv(path)
        >>> with open(path) as file:
        ...     file.readline()[:25]
        '"visits","cart","discount'
        """
        import pyarrow.csv

        pyarrow.csv.write_csv(self.table, str(path))


class _Told(PassedOn):
    """The rows of a data set, each batch with the features that are true at its end."""

    def __init__(self, stream: RowStream, data: Dataset) -> None:
        super().__init__(stream)
        self._data = data

    def batches(self, batch_size: int) -> Iterator[Batch]:
        if not self._data.changes:
            yield from self._stream.batches(batch_size)
            return
        place = {name: number for number, name in enumerate(self._data.feature_names)}
        first = 0
        for batch in self._stream.batches(batch_size):
            last = first + batch.n_rows - 1
            true = [change for change in self._data.changes if change.row <= last][-1].true_features
            drifting = any(first <= change.row <= last for change in self._data.changes[1:])
            yield replace(batch, relevant=np.array([place[name] for name in true], dtype=np.intp), drifting=drifting)
            first = last + 1


def half_way(n_rows: int, before: tuple[str, ...], after: tuple[str, ...]) -> tuple[Change, ...]:
    """The true features of a stream that changes in the middle.

    >>> half_way(10, ("a",), ("b",))[1].row
    5
    """
    return Change(0, before), Change(n_rows // 2, after)


def random_numbers(name: str, number: int, n_rows: int, seed: int) -> np.random.Generator:
    """The source of the random numbers of a generated set, each set its own; refuses sizes that are none.

    >>> bool(random_numbers("clicks", 1, 10, 0).random() == random_numbers("clicks", 1, 10, 0).random())
    True
    """
    given = {"n_rows": n_rows, "seed": seed}
    check_parameters(f"load_{name}", given, {"n_rows": (Integer(2),), "seed": (Integer(0),)})
    return np.random.default_rng([seed, number])
