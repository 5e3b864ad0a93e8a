"""The trace: a columnar, append-only record of a run, one line a step, in memory or in a Parquet file.

    row        rows seen                         seconds   spent so far
    indices    the features whose scores follow  scores    their scores
    selected   the selection, best first         relevant  the true features, null where nobody knows them
    drifting   whether a row since the line before was drifting

A run that is judged (`prequential`) adds the columns of MEASURES; in a run that is only followed they are null.

What a line costs is bounded. Up to 1,000 features every score is kept; of wider data only those of the selected
features. A judged run looks at the selection (`indices`, `scores`, `selected`, `relevant`) in each of its first 200
lines, then ever more rarely (`LookSchedule`: a few thousand times in a run of any length), and in its last line; on
the lines between the four are null, while the measures are on every line: about 200 bytes. Names and settings travel
in the file's metadata. The writer holds one row group at most.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from streamsift.core.exceptions import MissingExtraError, ReaderError
from streamsift.core.pictures import picture
from streamsift.runs.rows import Step

ALL_SCORES_UP_TO = 1_000  # features
NUMBERS_PER_GROUP = 100_000  # numbers in memory before a row group is written, about a megabyte

_LOOK = {
    "row": pa.int64(),
    "seconds": pa.float64(),
    "indices": pa.list_(pa.int32()),
    "scores": pa.list_(pa.float64()),
    "selected": pa.list_(pa.int32()),
    "relevant": pa.list_(pa.int32()),
    "drifting": pa.bool_(),
}
PREDICTION = ("accuracy", "balanced_accuracy", "kappa", "log_loss", "f1")
MEASURES = {
    "drift_found": pa.bool_(),  # the selector reported drift since the line before
    **{name: pa.float64() for name in PREDICTION},  # over all rows tested so far
    **{f"window_{name}": pa.float64() for name in PREDICTION},  # over the last steps
    "batch_accuracy": pa.float64(),  # of the last step
    "selection_seconds": pa.float64(),  # so far
    "learner_seconds": pa.float64(),  # so far
    "memory": pa.int64(),  # bytes that selector and model hold
    "peak_memory": pa.int64(),
    "ram_hours": pa.float64(),  # so far
    "n_selected": pa.int32(),
    "stability": pa.float64(),  # of the selections of the last steps
    "selection_accuracy": pa.float64(),  # null where the true features are unknown
    "n_restarts": pa.int32(),  # how often the model has started again so far
}
SCHEMA = pa.schema(_LOOK | MEASURES)

Indices = NDArray[np.intp]
Floats = NDArray[np.float64]


def kept_scores(scores: Floats | None, selected: Indices) -> tuple[Indices, Floats]:
    """The features whose scores a line keeps, and these scores: all, or of wide data those of the selected ones."""
    if scores is None:
        return np.empty(0, np.intp), np.empty(0)
    if len(scores) <= ALL_SCORES_UP_TO:
        return np.arange(len(scores)), scores
    return selected, scores[selected]


class TraceWriter:
    """Writes a trace step by step; use it in a `with` block.

    The file has its name only once it is complete: until then it is called `NAME.partial`.

    Parameters
    ----------
    path : path or None
        The file to write; None keeps the trace in memory.
    settings : mapping
        What a reader should know about the run; plain values that JSON can hold.

    Examples
    --------
    >>> import tempfile
    >>> from streamsift import Screener
    >>> from streamsift.runs.rows import follow
    >>> from streamsift.streams import generate
    >>> stream = generate("linear_drift", rows=300, seed=0, n_features=10, n_relevant=2, shift_every=100)
    >>> path = Path(tempfile.mkdtemp()) / "trace.parquet"
    >>> with TraceWriter(path, {"method": "screen:t_score"}) as writer:
    ...     for step in follow(stream, Screener(n_features_to_select=2), batch_size=100):
    ...         writer.append(step)
    >>> Trace.read(path).table["row"].to_pylist()
    [100, 200, 300]
    """

    def __init__(self, path: str | Path | None, settings: Mapping[str, Any]) -> None:
        self.path = Path(os.devnull if path is None else path)
        self._partial = self.path.with_name(self.path.name + ".partial")
        self._settings = dict(settings)
        self._names: dict[int, str] = {}
        self._n_features = 0
        self._lines: list[dict[str, Any]] = []  # waiting, as are
        self._blocks: list[Mapping[str, Any]] = []  # of lines, as columns
        self._numbers_waiting = 0
        self._kept: list[Any] = []  # row groups, where there is no file
        self._writer = None if path is None else pq.ParquetWriter(self._partial, SCHEMA, compression="zstd")

    def append(self, step: Step) -> None:
        """Record a step that was followed; steps without a look leave no line."""
        if step.look is None:
            return
        look, selection = step.look, step.look.selection
        scores = look.scores
        if scores is None and selection.scores is not None:
            indices, kept = selection.indices, selection.scores
        else:
            indices, kept = kept_scores(scores, selection.indices)
        line = {
            "row": step.n_rows,
            "seconds": step.seconds,
            "indices": indices,
            "scores": kept,
            "selected": selection.indices,
            "relevant": look.relevant,
            "drifting": look.drifting,
        }
        self._learn_names([indices, selection.indices], selection.n_features, look.feature_names)
        self._lines.append(line)
        self._wait(len(kept) + len(_LOOK))

    def extend(self, columns: Mapping[str, Any], n_features: int, names: Sequence[str] | None = None) -> None:
        """Record several lines, given as columns, the same ones each time; those left out are null."""
        n_lines = len(columns["row"])
        if n_lines == 0:
            return
        self._learn_names([*columns["indices"], *columns["selected"]], n_features, names)
        self._blocks.append(columns)
        self._wait(n_lines * len(SCHEMA) + sum(len(scores) for scores in columns["scores"] if scores is not None))

    def _learn_names(self, looks: Sequence[Indices | None], n_features: int, names: Sequence[str] | None) -> None:
        self._n_features = n_features
        if names is not None and len(self._names) < n_features:
            new = {index for look in looks if look is not None for index in look.tolist()} - self._names.keys()
            self._names |= {index: str(names[index]) for index in new}

    def _wait(self, n_numbers: int) -> None:
        self._numbers_waiting += n_numbers
        if self._numbers_waiting >= NUMBERS_PER_GROUP:
            self._flush()

    def _flush(self) -> None:
        # Emptied first: an interrupt during the write must not make `close` write the same lines again.
        lines, blocks, self._lines, self._blocks, self._numbers_waiting = self._lines, self._blocks, [], [], 0
        tables = []
        if blocks:
            tables.append(_table({name: _joined([block[name] for block in blocks]) for name in blocks[0]}))
        if lines:
            tables.append(_table({name: [line[name] for line in lines] for name in _LOOK}))
        if not tables:
            return
        group = pa.concat_tables(tables).combine_chunks()
        if self._writer is None:
            self._kept.append(group)
        else:
            with self._in_words():
                self._writer.write_table(group)

    def close(self) -> None:
        """Write what is waiting and give the file its name; without a single line no file is left."""
        self._flush()
        if self._writer is None:
            return
        about = {"settings": self._settings, "names": self._names, "n_features": self._n_features}
        with self._in_words():
            self._writer.add_key_value_metadata({"streamsift": json.dumps(about, default=str)})
            self._writer.close()
        if self._n_features == 0:
            self._partial.unlink()
        else:
            self._partial.replace(self.path)

    def trace(self) -> Trace:
        """What was written, once the block is left."""
        if self._writer is not None:
            return Trace.read(self.path)
        table = pa.concat_tables([SCHEMA.empty_table(), *self._kept])
        return Trace(table, self._names, self._n_features, self._settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None or issubclass(kind, KeyboardInterrupt):
            self.close()
        elif self._writer is not None:
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


def _joined(parts: list[Any]) -> Any:
    """The same column of several blocks as one: arrays, or lists with an entry a line."""
    return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else [entry for part in parts for entry in part]


def _table(columns: Mapping[str, Any]) -> Any:
    n_lines = len(columns["row"])
    arrays = [_column(columns.get(field.name), field.type, n_lines) for field in SCHEMA]
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def _column(values: Any, kind: Any, n_lines: int) -> Any:
    """One column of SCHEMA; lists of numbers are joined first, which is many times faster than value by value."""
    if values is None:
        return pa.nulls(n_lines, kind)
    if not pa.types.is_list(kind):
        return pa.array(values, kind, from_pandas=True)  # NaN is null: there is no such value
    nothing = np.empty(0)
    lists = [nothing if value is None else value for value in values]
    offsets = np.cumsum([0, *map(len, lists)], dtype=np.int32)
    joined = pa.array(np.concatenate(lists).astype(kind.value_type.to_pandas_dtype()), kind.value_type)
    return pa.ListArray.from_arrays(offsets, joined, mask=pa.array([value is None for value in values]))


@dataclass(frozen=True)
class Trace:
    """A run as a table, one line a step, with the names of the features in it and the settings of the run.

    `table` is a pyarrow.Table with the columns of SCHEMA; the module docstring says what they hold.

    Examples
    --------
    >>> from streamsift import Screener, prequential
    >>> from streamsift.streams import generate
    >>> stream = generate("linear_drift", rows=500, seed=0, n_features=10, n_relevant=2, shift_every=1000)
    >>> trace = prequential(stream, Screener(n_features_to_select=2), "naive_bayes")
    >>> len(trace), trace.to_pandas()["n_selected"].tolist()
    (5, [2, 2, 2, 2, 2])
    """

    table: Any
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
        # Columns that a file of an earlier version lacks are null.
        table = pa.concat_tables([SCHEMA.empty_table(), table], promote_options="default")
        about = json.loads(metadata)
        names = {int(index): name for index, name in about["names"].items()}
        return cls(table, names, about["n_features"], about["settings"])

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def name(self, index: int) -> str:
        """The name of a feature; unnamed ones are called x0, x1, ..."""
        return self.names.get(index, f"x{index}")

    def looks(self) -> Trace:
        """The lines with a look at the selection; of a short run, or one that was only followed, all of them."""
        return replace(self, table=self.table.filter(pc.is_valid(self.table["selected"])))

    def column(self, name: str) -> Floats:
        """A column of numbers as an array of floats; NaN where it is null."""
        return np.asarray(pc.cast(self.table[name], pa.float64()).to_numpy(), np.float64)

    def masks(self) -> NDArray[np.bool_]:
        """Which features were selected at each look, in an array of shape (n_looks, n_features)."""
        selected = self.table["selected"].combine_chunks().drop_null()
        found = np.zeros((len(selected), self.n_features), bool)
        found[np.asarray(pc.list_parent_indices(selected)), np.asarray(selected.flatten())] = True
        return found

    def summary(self) -> dict[str, float | None]:
        """The run in a few numbers; None where it has no such number.

        Predictions are judged over all rows tested, `stability` is the mean over complete windows (the last value, if
        none is complete), `n_selected` and `selection_accuracy` are means over the lines, `rows_per_second` counts
        the time of selector and model only, where it is known, `n_restarts` says how often the model started again:
        because the selector found drift, or because it cannot go on with other features.
        """
        at_end = (*PREDICTION, "row", "seconds", "ram_hours", "peak_memory", "n_restarts")
        last = {name: _last(self.column(name)) for name in at_end}
        spent = {name: _last(self.column(name)) for name in ("selection_seconds", "learner_seconds")}
        stability = self.column("stability")
        stability = stability[~np.isnan(stability)]
        incomplete = max(int(self.settings.get("window", 2)) - 2, 0) // max(int(self.settings.get("every", 1)), 1)
        parts = [value for value in spent.values() if value is not None]
        is_judged = bool(parts)
        sizes = self.column("n_selected") if is_judged else self.masks().sum(axis=1).astype(np.float64)
        seconds = sum(parts) if is_judged else last["seconds"]
        return {
            "rows": last["row"],
            "seconds": last["seconds"],
            **{name: last[name] for name in PREDICTION},
            "stability": _mean(stability[min(incomplete, max(len(stability) - 1, 0)) :]),
            "n_selected": _mean(sizes),
            "selection_accuracy": _mean(self.column("selection_accuracy")),
            "rows_per_second": last["row"] / seconds if seconds and last["row"] else None,
            **spent,
            "peak_memory": last["peak_memory"],
            "ram_hours": last["ram_hours"],
            "n_restarts": last["n_restarts"],
        }

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

    def plot(self) -> Any:
        """A matplotlib figure: windowed accuracy, stability and number of features over the rows."""
        return picture("trace_view:plot", self)

    def _repr_html_(self) -> str:
        text: str = picture("trace_view:html", self)
        return text


def _last(values: Floats) -> float | None:
    """The value of the last line; None where it has none."""
    return float(values[-1]) if len(values) and not np.isnan(values[-1]) else None


def _mean(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None
