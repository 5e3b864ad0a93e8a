"""Trace: the record of a run of any kind, in memory or in a Parquet file, with what was run and what was found.

The file is one table and its metadata: the Run, with its `kind`, the result, and the names of the features.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from streamsift.core.exceptions import MissingExtraError, ReaderError, one_line
from streamsift.core.pictures import picture
from streamsift.runs.run import Run

METADATA, DIGEST = "streamsift", "streamsift.sha256"
PREDICTION = ("accuracy", "balanced_accuracy", "kappa", "log_loss", "f1")  # measures of a judged run
NUMBERS = ("rmse", "mae", "r2")  # the same where the target is a number

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Trace:
    """A run as a table, with what was run and what it found.

    Parameters
    ----------
    table : pyarrow.Table
        One row for each recorded step. What its columns hold depends on the kind of the run: see
        `streamsift.runs.row_trace`, `streamsift.runs.columns` and `streamsift.runs.instances`.
    run : Run
        What was run, with its `kind`.
    names : dict
        Names of features by index; features without a name are called x0, x1, ...
    n_features : int
        How many features there are.
    result : dict
        What was found at the end, as selection.json holds it, and `why` the leading features of a run over rows are
        selected or not; a run that was judged has only the latter, where it has a file.

    Examples
    --------
    >>> from streamsift import Screener, prequential
    >>> from streamsift.streams import generate
    >>> stream = generate("linear_drift", n_rows=500, seed=0, n_features=10, n_relevant=2, shift_every=1000)
    >>> trace = prequential(stream, Screener(n_features_to_select=2), "naive_bayes")
    >>> len(trace), trace.to_pandas()["n_selected"].tolist()
    (5, [2, 2, 2, 2, 2])
    """

    table: Any
    run: Run
    names: dict[int, str]
    n_features: int
    result: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str | Path) -> Trace:
        """Read the file that a run left."""
        try:
            with pq.ParquetFile(path, page_checksum_verification=True) as file:
                metadata = (file.metadata.metadata or {}).get(METADATA.encode())
                table = file.read()
        except pa.ArrowInvalid as error:
            raise ReaderError(f"{str(path)!r} is not a Parquet file: give the trace.parquet of a run.") from error
        except OSError as error:
            if error.errno is not None:
                raise
            raise ReaderError(f"{str(path)!r} is damaged ({one_line(str(error))}): run the command again.") from error
        if metadata is None:
            raise ReaderError(f"{str(path)!r} is not a trace of streamsift: give the trace.parquet of a run.")
        about = json.loads(metadata)
        if "run" not in about:
            raise ReaderError(f"{str(path)!r} was written by another version of streamsift: run the command again.")
        names = {int(index): name for index, name in about["names"].items()}
        return cls(table, Run.from_dict(about["run"]), names, about["n_features"], about["result"])

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def name(self, index: int) -> str:
        """The name of a feature; unnamed ones are called x0, x1, ..."""
        return self.names.get(index, f"x{index}")

    def snapshots(self) -> Trace:
        """The steps with a snapshot of the selection; of a short run over rows, or one only followed, all of them."""
        return replace(self, table=self.table.filter(pc.is_valid(self.table["selected"])))

    @property
    def numeric(self) -> bool:
        """Whether the target of a judged run is a number."""
        return bool(self.run.settings.get("task") == "regression")

    def column(self, name: str) -> Floats:
        """A column of numbers as an array of floats; NaN where it is null."""
        return np.asarray(pc.cast(self.table[name], pa.float64()).to_numpy(), np.float64)

    def masks(self) -> NDArray[np.bool_]:
        """Which features were selected at each snapshot, in an array of shape (n_snapshots, n_features)."""
        selected = self.table["selected"].combine_chunks().drop_null()
        found = np.zeros((len(selected), self.n_features), bool)
        found[np.asarray(pc.list_parent_indices(selected)), np.asarray(selected.flatten())] = True
        return found

    def sizes(self) -> Floats:
        """How many features were selected at each snapshot."""
        lengths = pc.list_value_length(self.table["selected"].combine_chunks().drop_null())
        return np.asarray(pc.cast(lengths, pa.float64()).to_numpy(zero_copy_only=False), np.float64)

    def summary(self) -> dict[str, float | None]:
        """The run in a few numbers; None where it has no such number. This is about rows; other kinds: their result.

        Predictions are judged over all rows tested, `stability` is the mean over complete windows (the last value, if
        none is complete), `n_selected` and `selection_accuracy` are means over the steps, `rows_per_second` counts
        the time of selector and model only, where it is known, `n_restarts` says how often the model started again:
        because the selector found drift, or because it cannot go on with other features.
        """
        if self.run.kind != "rows":
            numbers = {name: value for name, value in self.result.items() if isinstance(value, int | float)}
            return {**numbers, "seconds": self.run.seconds}
        measures = NUMBERS if self.numeric else PREDICTION
        last = {
            name: _last(self.column(name))
            for name in (*measures, "row", "seconds", "ram_hours", "peak_memory", "n_restarts")
        }
        spent = {name: _last(self.column(name)) for name in ("selection_seconds", "learner_seconds")}
        stability = self.column("stability")
        stability = stability[~np.isnan(stability)]
        incomplete = max(int(self.run.settings.get("window", 2)) - 2, 0) // max(
            int(self.run.settings.get("every", 1)), 1
        )
        parts = [value for value in spent.values() if value is not None]
        is_judged = bool(parts)
        sizes = self.column("n_selected") if is_judged else self.sizes()
        seconds = sum(parts) if is_judged else last["seconds"]
        return {
            "rows": last["row"],
            "seconds": last["seconds"],
            **{name: last[name] for name in measures},
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

    def plot(self, path: str | Path | None = None) -> Any:
        """The run as bokeh figures, which a notebook shows as they are and `bokeh.plotting.show` opens in a browser.

        Rows: windowed accuracy, stability and number of features, the selection over time and the scores of the
        leaders. Columns: the size of the selection, the wealth, the decisions. Instances: how many features the rows
        needed, and which. The figures zoom and move; a `path` that ends in .html, .svg or .png is written as well (the
        last two need Chromium, Chrome or Edge).
        """
        return picture("plots:plot_trace", self, path)

    def __repr__(self) -> str:
        names = f", {self.n_features:,} features" if self.n_features else ""
        return f"<Trace of {self.run.method} over {self.run.kind}: {len(self):,} steps{names}>"

    def _repr_html_(self) -> str:
        text: str = picture("trace_view:html", self)
        return text


def _last(values: Floats) -> float | None:
    """The value of the last step; None where it has none."""
    return float(values[-1]) if len(values) and not np.isnan(values[-1]) else None


def _mean(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def digest(about: str, schema: Any, n_rows: int) -> str:
    """The SHA-256 of all that the pages of a trace, which have checksums of their own, do not hold."""
    # A file calls the values of a list otherwise than the schema it was written with: their type alone counts.
    kinds = [f"list of {kind.value_type}" if pa.types.is_list(kind) else str(kind) for kind in schema.types]
    fields = [f"{name}: {kind}" for name, kind in zip(schema.names, kinds, strict=True)]
    return hashlib.sha256("\n".join([about, *fields, str(n_rows)]).encode()).hexdigest()


def is_intact(path: str | Path) -> bool:
    """Whether the file of a trace is as it was written: its pages by their checksums, the rest by its digest.

    >>> is_intact("/dev/null")
    False
    """
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            about = {key.decode(): value.decode() for key, value in (file.metadata.metadata or {}).items()}
            n_rows = file.read().num_rows
            return about.get(DIGEST) == digest(about.get(METADATA, ""), file.schema_arrow, n_rows)
    except (OSError, ValueError, pa.ArrowException):
        return False
