"""select_by_key: one selector for each value of a column, each with the rows of its key in their order."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.batch import Batch
from streamsift.core.exceptions import (
    EmptySelectionWarning,
    OneClassWarning,
    ParameterError,
    ReaderError,
    StreamsiftError,
)
from streamsift.core.live import followed
from streamsift.engines.parts import FilePart, features_of, find_parts, same_features
from streamsift.engines.select import engine_for
from streamsift.engines.work import Job

Row = tuple[str, int, str, float | None, int]  # key, rank, feature, score, rows


@dataclass(frozen=True)
class KeyedJob:
    """What a worker needs: the job, the column with the keys, all parts, and how many workers share the keys."""

    job: Job
    by: str
    parts: tuple[FilePart, ...]
    shares: int


@followed
def select_by_key(
    source: Any,
    selector: Any,
    by: str,
    target: str | None = None,
    *,
    engine: Any = "local",
    jobs: int = 2,
    batch_size: int = 1000,
    progress: Callable[[float], None] = lambda fraction: None,
    **reading: Any,
) -> Any:
    """One selector for each value of a column; any row selector will do, since no state is merged.

    Each worker reads all parts and keeps the rows of its share of the keys, so that a selector sees its rows in the
    order of the parts. Batches of a key are the rows of it in a batch of the table.

    Parameters
    ----------
    source : path, pattern, folder or list of paths
    selector : a row selector
        One that has not learnt anything; it is not changed.
    by : str
        The column with the keys; it is no feature.
    target : str, optional
        The column with the labels.
    engine, jobs, batch_size, progress, **reading
        As in `select`.

    Returns
    -------
    pyarrow.Table
        One row for each key and selected feature, best first: key, rank, feature, score, rows. A key whose rows have
        one class only has no selection, and one row without a feature.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from streamsift import Screener
    >>> from streamsift.engines import select_by_key
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows = "".join(f"{'no' if k % 3 else 'se'},{k},{k % 2},{k % 2}\\n" for k in range(60))
    ...     _ = pathlib.Path(folder, "all.csv").write_text("country,a,b,y\\n" + rows)
    ...     table = select_by_key(folder, Screener("fisher", n_features_to_select=1), "country", "y", jobs=1)
    >>> table.select(["key", "feature", "rows"]).to_pylist()
    [{'key': 'no', 'feature': 'b', 'rows': 40}, {'key': 'se', 'feature': 'b', 'rows': 20}]
    """
    import pyarrow as pa

    if by == target:
        raise ParameterError(f"{by!r} is the target: keys are in another column.")
    worker = engine_for(engine, jobs)
    parts = find_parts(source, 1)
    job = replace(Job.of(selector, target, reading, batch_size), **same_features(parts, target, reading))
    keyed = KeyedJob(job, by, tuple(parts), worker.jobs)
    found = worker.call(select_share, keyed, list(range(worker.jobs)), progress)
    rows: list[Row] = sorted((row for share in found for row in share), key=lambda row: (row[0], row[1]))
    columns = list(zip(*rows, strict=True)) or [()] * 5
    types = {"key": pa.string(), "rank": pa.int64(), "feature": pa.string(), "score": pa.float64(), "rows": pa.int64()}
    return pa.table({name: pa.array(column, kind) for (name, kind), column in zip(types.items(), columns, strict=True)})


def select_share(job: KeyedJob, share: int) -> list[Row]:
    """The selections of one worker's keys."""
    import warnings

    selectors: dict[str, Any] = {}
    for part in job.parts:
        try:
            stream = job.job.open(part)
            place = _place_of(job.by, stream.feature_names, str(part))
            for batch in stream.batches(job.job.batch_size):
                _learn_keys(selectors, batch, place, job, share)
        except (StreamsiftError, OSError) as error:
            raise ReaderError(f"The part {part} cannot be used: {error}") from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OneClassWarning)
        warnings.simplefilter("ignore", EmptySelectionWarning)
        return [row for key, selector in selectors.items() for row in _rows_of(key, selector)]


def _place_of(by: str, names: tuple[str, ...] | None, part: str) -> int:
    if names is None or by not in names:
        raise ReaderError(f"{part} has no column {by!r} to find the keys in.")
    if len(names) == 1:
        raise ReaderError(f"{part} has no column besides the keys and the target: there is nothing to select from.")
    return names.index(by)


def _learn_keys(selectors: dict[str, Any], batch: Batch, place: int, job: KeyedJob, share: int) -> None:
    assert batch.feature_names is not None
    keys = _keys(batch, place)
    others = np.delete(np.arange(len(batch.feature_names)), place)
    rest = features_of(batch, others, tuple(name for k, name in enumerate(batch.feature_names) if k != place))
    distinct, where = np.unique(keys, return_inverse=True)
    for number, key in enumerate(distinct.tolist()):
        if zlib.crc32(key.encode()) % job.shares != share:
            continue
        if key not in selectors:
            selectors[key] = job.job.selector()
        selectors[key].partial_fit(rest.rows(np.flatnonzero(where == number)))


def _keys(batch: Batch, place: int) -> NDArray[Any]:
    """The keys of the rows as text; a missing one is the empty text."""
    values = batch.X[:, place]
    if batch.kinds is not None and place in batch.kinds.names:
        words = np.array([*map(str, batch.kinds.names[place]), ""])
        return np.asarray(words[np.where(np.isnan(values), -1, values).astype(np.int64)])
    return np.array(["" if np.isnan(value) else f"{value:.15g}" for value in values.tolist()])


def _rows_of(key: str, selector: Any) -> list[Row]:
    n_rows = int(selector.n_rows_seen_)
    if len(getattr(selector, "classes_", (0, 1))) < 2:
        return [(key, 0, "", None, n_rows)]
    chosen = selector.selection()
    scores = [None] * len(chosen.names) if chosen.scores is None else [float(score) for score in chosen.scores]
    return [
        (key, rank + 1, name, score, n_rows)
        for rank, (name, score) in enumerate(zip(chosen.names, scores, strict=True))
    ]
