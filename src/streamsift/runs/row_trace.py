"""The record of a run over rows: one row of a table for each recorded step.

    row        rows seen                         seconds   spent so far
    indices    the features whose scores follow  scores    their scores
    selected   the selection, best first         relevant  the true features, null where nobody knows them
    drifting   whether a row since the step before was drifting

A run that is judged (`prequential`) adds the columns of MEASURES; in a run that is only followed they are null.

What a step costs is bounded. Up to 1,000 features every score is kept; of wider data only those of the selected
features. A judged run takes a snapshot of the selection (`indices`, `scores`, `selected`, `relevant`) at each of its
first 200 steps, then ever more rarely (`SnapshotSchedule`: a few thousand times in a run of any length), and at its
last step; at the steps between the four are null, while the measures are there at every step: about 200 bytes.
The writer holds one row group at most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from streamsift.core.exceptions import SavedStateError
from streamsift.core.state import MOST_FEATURES
from streamsift.runs.run import Run
from streamsift.runs.trace import NUMBERS, PREDICTION
from streamsift.runs.trace_writer import TraceWriter

if TYPE_CHECKING:
    from streamsift.runs.rows import RowStep

ALL_SCORES_UP_TO = 1_000  # features
NUMBERS_PER_GROUP = 100_000  # numbers in memory before a row group is written, about a megabyte

SNAPSHOT = {
    "row": pa.int64(),
    "seconds": pa.float64(),
    "indices": pa.list_(pa.int32()),
    "scores": pa.list_(pa.float64()),
    "selected": pa.list_(pa.int32()),
    "relevant": pa.list_(pa.int32()),
    "drifting": pa.bool_(),
}
MEASURES = {
    "drift_found": pa.bool_(),  # the selector reported drift since the step before
    **{name: pa.float64() for name in PREDICTION},  # over all rows tested so far
    **{f"window_{name}": pa.float64() for name in PREDICTION},  # over the last steps
    "majority": pa.float64(),  # share of the most frequent class among all rows tested so far: what no feature gives
    "window_majority": pa.float64(),  # among those of the last steps
    "batch_accuracy": pa.float64(),  # of the last step
    **{name: pa.float64() for name in NUMBERS},  # where the target is a number; the measures above are then null
    **{f"window_{name}": pa.float64() for name in NUMBERS},
    "mean_rmse": pa.float64(),  # of whoever predicts the mean of the rows tested before each step
    "window_mean_rmse": pa.float64(),
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
SCHEMA = pa.schema(SNAPSHOT | MEASURES)

Indices = NDArray[np.intp]
Floats = NDArray[np.float64]


def kept_scores(scores: Floats | None, selected: Indices) -> tuple[Indices, Floats]:
    """The features whose scores a step keeps, and these scores: all, or of wide data those of the selected ones."""
    if scores is None:
        return np.empty(0, np.intp), np.empty(0)
    if len(scores) <= ALL_SCORES_UP_TO:
        return np.arange(len(scores)), scores
    return selected, scores[selected]


class RowTraceWriter(TraceWriter):
    """Writes the steps of a run over rows.

    Examples
    --------
    >>> import tempfile
    >>> from streamsift import Screener, Trace
    >>> from streamsift.runs.rows import follow_rows
    >>> from streamsift.streams import generate
    >>> stream = generate("linear_drift", n_rows=300, seed=0, n_features=10, n_relevant=2, shift_every=100)
    >>> path = Path(tempfile.mkdtemp()) / "trace.parquet"
    >>> with RowTraceWriter(path, Run("screen:t_score")) as writer:
    ...     for step in follow_rows(stream, Screener(n_features_to_select=2), batch_size=100):
    ...         writer.append(step)
    >>> Trace.read(path).table["row"].to_pylist()
    [100, 200, 300]
    """

    schema = SCHEMA
    later = frozenset({"majority", "window_majority", "mean_rmse", "window_mean_rmse"})

    def __init__(self, path: str | Path | None, run: Run) -> None:
        self._names: dict[int, str] = {}
        self._n_features = 0
        self._steps: list[dict[str, Any]] = []  # waiting, one by one
        self._blocks: list[Mapping[str, Any]] = []  # waiting, several steps as columns
        self._numbers_waiting = 0
        super().__init__(path, run)

    def append(self, step: RowStep) -> None:
        """Record a step that was followed; steps without a snapshot are left out."""
        if step.snapshot is None:
            return
        snapshot, selection = step.snapshot, step.snapshot.selection
        scores = snapshot.scores
        if scores is None and selection.scores is not None:
            indices, kept = selection.indices, selection.scores
        else:
            indices, kept = kept_scores(scores, selection.indices)
        record = {
            "row": step.n_rows,
            "seconds": step.seconds,
            "indices": indices,
            "scores": kept,
            "selected": selection.indices,
            "relevant": snapshot.relevant,
            "drifting": snapshot.drifting,
        }
        self._learn_names([indices, selection.indices], selection.n_features, snapshot.feature_names)
        self._steps.append(record)
        self.seconds = step.seconds
        self._wait(len(kept) + len(SNAPSHOT))

    def extend(self, columns: Mapping[str, Any], n_features: int, names: Sequence[str] | None = None) -> None:
        """Record several steps, given as columns, the same ones each time; those left out are null."""
        n_steps = len(columns["row"])
        if n_steps == 0:
            return
        self._learn_names([*columns["indices"], *columns["selected"]], n_features, names)
        self._blocks.append(columns)
        if "seconds" in columns:
            self.seconds = float(columns["seconds"][-1])
        self._wait(n_steps * len(SCHEMA) + sum(len(scores) for scores in columns["scores"] if scores is not None))

    def _learn_names(self, several: Sequence[Indices | None], n_features: int, names: Sequence[str] | None) -> None:
        self._n_features = n_features
        if names is not None and len(self._names) < n_features:
            new = {index for one in several if one is not None for index in one.tolist()} - self._names.keys()
            self._names |= {index: str(names[index]) for index in new}

    def _wait(self, n_numbers: int) -> None:
        self._numbers_waiting += n_numbers
        if self._numbers_waiting >= NUMBERS_PER_GROUP:
            self._flush()

    def _flush(self) -> None:
        # Emptied first: an interrupt during the write must not make `close` write the same steps again.
        steps, blocks, self._steps, self._blocks, self._numbers_waiting = self._steps, self._blocks, [], [], 0
        tables = _tables(steps, blocks)
        if tables:
            self._write(pa.concat_tables(tables).combine_chunks())

    def _so_far(self) -> tuple[dict[str, Any], Any]:
        tables = [*self._kept, *_tables(self._steps, self._blocks)]
        names = {str(index): name for index, name in self._names.items()}
        return {"n_features": self._n_features, "names": names}, pa.concat_tables([SCHEMA.empty_table(), *tables])

    def _take_over(self, facts: dict[str, Any], table: Any) -> None:
        n_features, names = facts.get("n_features"), facts.get("names")
        if type(n_features) is not int or not 0 <= n_features <= MOST_FEATURES or not isinstance(names, dict):
            raise SavedStateError("The checkpoint is damaged: its trace does not say of which features it is.")
        known = {int(key): name for key, name in names.items() if key.isdecimal() and isinstance(name, str)}
        lists = [table[name].combine_chunks().flatten() for name in ("indices", "selected", "relevant")]
        low, high = ([extreme(one).as_py() for one in lists if len(one)] for extreme in (pc.min, pc.max))
        sizes = [pc.list_value_length(table[name]) for name in ("indices", "scores")]
        rows = table["row"].to_numpy()
        fine = (
            len(known) == len(names)
            and all(index < n_features for index in known)
            and all(value >= 0 for value in low)
            and all(value < n_features for value in high)
            and sizes[0].equals(sizes[1])
            and not any(one.null_count for one in lists)
            and not table["row"].null_count
            and (np.diff(rows) > 0).all()
        )
        if not fine:
            raise SavedStateError("The checkpoint is damaged: its trace holds features or steps that do not exist.")
        self._n_features, self._names = n_features, known
        if len(table):
            self._write(table)

    def _features(self) -> tuple[dict[int, str], int]:
        return self._names, self._n_features

    def _is_empty(self) -> bool:
        return self._n_features == 0


def _tables(steps: list[dict[str, Any]], blocks: list[Mapping[str, Any]]) -> list[Any]:
    """What waits to be written, as tables."""
    tables = []
    if blocks:
        tables.append(_table({name: _joined([block[name] for block in blocks]) for name in blocks[0]}))
    if steps:
        tables.append(_table({name: [step[name] for step in steps] for name in SNAPSHOT}))
    return tables


def _joined(parts: list[Any]) -> Any:
    """The same column of several blocks as one: arrays, or lists with an entry per step."""
    return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else [entry for part in parts for entry in part]


def _table(columns: Mapping[str, Any]) -> Any:
    n_steps = len(columns["row"])
    arrays = [_column(columns.get(field.name), field.type, n_steps) for field in SCHEMA]
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def _column(values: Any, kind: Any, n_steps: int) -> Any:
    """One column of SCHEMA; lists of numbers are joined first, which is many times faster than value by value."""
    if values is None:
        return pa.nulls(n_steps, kind)
    if not pa.types.is_list(kind):
        return pa.array(values, kind, from_pandas=True)  # NaN is null: there is no such value
    nothing = np.empty(0)
    lists = [nothing if value is None else value for value in values]
    offsets = np.cumsum([0, *map(len, lists)], dtype=np.int32)
    joined = pa.array(np.concatenate(lists).astype(kind.value_type.to_pandas_dtype()), kind.value_type)
    return pa.ListArray.from_arrays(offsets, joined, mask=pa.array([value is None for value in values]))
