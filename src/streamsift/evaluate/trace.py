"""The trace: a columnar, append-only record of a run, one line a look, in a Parquet file.

    row        rows seen                         seconds   spent so far
    indices    the features whose scores follow  scores    their scores
    selected   the selection, best first         relevant  the true features, null where nobody knows them
    drifting   whether a row since the line before was drifting

Up to 1,000 features every score is kept; of wider data only those of the selected features, so that a line stays
small. Names and settings travel in the file's metadata. The writer holds one row group at most.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from streamsift.core.exceptions import MissingExtraError, ReaderError
from streamsift.evaluate.follow import Step

ALL_SCORES_UP_TO = 1_000  # features
SCORES_PER_GROUP = 100_000  # scores in memory before a row group is written, about a megabyte

SCHEMA = pa.schema(
    [
        ("row", pa.int64()),
        ("seconds", pa.float64()),
        ("indices", pa.list_(pa.int32())),
        ("scores", pa.list_(pa.float64())),
        ("selected", pa.list_(pa.int32())),
        ("relevant", pa.list_(pa.int32())),
        ("drifting", pa.bool_()),
    ]
)


class TraceWriter:
    """Writes a trace look by look; use it in a `with` block.

    The file has its name only once it is complete: until then it is called `NAME.partial`.

    Parameters
    ----------
    path : path
        The file to write.
    settings : mapping
        What a reader should know about the run; plain values that JSON can hold.

    Examples
    --------
    >>> import tempfile
    >>> from streamsift import Screener
    >>> from streamsift.evaluate.follow import follow
    >>> from streamsift.streams import generate
    >>> stream = generate("linear_drift", rows=300, seed=0, n_features=10, n_relevant=2, shift_every=100)
    >>> path = Path(tempfile.mkdtemp()) / "trace.parquet"
    >>> with TraceWriter(path, {"method": "screen:t_score"}) as writer:
    ...     for step in follow(stream, Screener(n_features_to_select=2), batch_size=100):
    ...         writer.append(step)
    >>> Trace.read(path).table["row"].to_pylist()
    [100, 200, 300]
    """

    def __init__(self, path: str | Path, settings: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self._partial = self.path.with_name(self.path.name + ".partial")
        self._settings = dict(settings)
        self._names: dict[int, str] = {}
        self._n_features = 0
        self._lines: list[dict[str, Any]] = []
        self._scores_waiting = 0
        self._writer = pq.ParquetWriter(self._partial, SCHEMA, compression="zstd")

    def append(self, step: Step) -> None:
        """Record a step; steps without a look leave no line."""
        if step.look is None:
            return
        look, selection = step.look, step.look.selection
        self._n_features = selection.n_features
        if look.scores is not None and len(look.scores) <= ALL_SCORES_UP_TO:
            indices, scores = np.arange(len(look.scores)), look.scores
        elif selection.scores is not None:
            indices, scores = selection.indices, selection.scores
        else:
            indices, scores = np.empty(0, np.intp), np.empty(0)
        if look.feature_names is not None:
            for index in {*indices.tolist(), *selection.indices.tolist()} - self._names.keys():
                self._names[index] = str(look.feature_names[index])
        self._lines.append(
            {
                "row": step.n_rows,
                "seconds": step.seconds,
                "indices": indices,
                "scores": scores,
                "selected": selection.indices,
                "relevant": look.relevant,
                "drifting": look.drifting,
            }
        )
        self._scores_waiting += len(scores)
        if self._scores_waiting >= SCORES_PER_GROUP:
            self._flush()

    def _flush(self) -> None:
        # Emptied first: an interrupt during the write must not make `close` write the same lines again.
        lines, self._lines, self._scores_waiting = self._lines, [], 0
        if lines:
            columns = [_column([line[field.name] for line in lines], field.type) for field in SCHEMA]
            with self._in_words():
                self._writer.write_table(pa.Table.from_arrays(columns, schema=SCHEMA))

    def close(self) -> None:
        """Write what is waiting and give the file its name; without a single look no file is left."""
        self._flush()
        about = {"settings": self._settings, "names": self._names, "n_features": self._n_features}
        with self._in_words():
            self._writer.add_key_value_metadata({"streamsift": json.dumps(about, default=str)})
            self._writer.close()
        if self._n_features == 0:
            self._partial.unlink()
        else:
            self._partial.replace(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None or issubclass(kind, KeyboardInterrupt):
            self.close()
        else:
            with suppress(OSError):  # the disk is full, perhaps: the error on its way out says so
                self._writer.close()
            self._partial.unlink(missing_ok=True)

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """A failure of the file system names the file and the reason, which pyarrow's does not, and leaves no file."""
        try:
            yield
        except OSError as error:
            self._partial.unlink(missing_ok=True)
            raise OSError(error.errno, os.strerror(error.errno or errno.EIO), str(self.path)) from error


def _column(values: list[Any], kind: Any) -> Any:
    """One column of SCHEMA; lists of numbers are joined first, which is many times faster than value by value."""
    if not pa.types.is_list(kind):
        return pa.array(values, kind)
    lists = [np.empty(0) if value is None else value for value in values]
    offsets = np.cumsum([0, *map(len, lists)], dtype=np.int32)
    joined = pa.array(np.concatenate(lists).astype(kind.value_type.to_pandas_dtype()), kind.value_type)
    return pa.ListArray.from_arrays(offsets, joined, mask=pa.array([value is None for value in values]))


@dataclass(frozen=True)
class Trace:
    """A trace read back: the table, the names of the features in it, and the settings of the run."""

    table: Any  # pyarrow.Table with the columns of SCHEMA
    names: dict[int, str]
    n_features: int
    settings: dict[str, Any]

    @classmethod
    def read(cls, path: str | Path) -> Trace:
        """Read the file a TraceWriter wrote."""
        try:
            with pq.ParquetFile(path) as file:
                metadata = (file.metadata.metadata or {}).get(b"streamsift")
                table = file.read()
        except pa.ArrowInvalid as error:
            raise ReaderError(f"{str(path)!r} is not a Parquet file: give the trace.parquet of a run.") from error
        if metadata is None:
            raise ReaderError(f"{str(path)!r} is not a trace of streamsift: give the trace.parquet of a run.")
        about = json.loads(metadata)
        names = {int(index): name for index, name in about["names"].items()}
        return cls(table, names, about["n_features"], about["settings"])

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def name(self, index: int) -> str:
        """The name of a feature; unnamed ones are called x0, x1, ..."""
        return self.names.get(index, f"x{index}")

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame."""
        try:
            import pandas  # noqa: F401 - pyarrow needs it
        except ImportError as error:
            raise MissingExtraError("Trace.to_pandas", "pandas", "pandas") from error
        return self.table.to_pandas()

    def to_polars(self) -> Any:
        """The table as a polars DataFrame."""
        try:
            import polars
        except ImportError as error:
            raise MissingExtraError("Trace.to_polars", "polars", "polars") from error
        return polars.from_arrow(self.table)
