"""select_columns: blocks of columns are judged side by side, and their decisions confirmed in order.

Most columns of a long stream are rejected, and after a rejected column the next one meets a state that is known
beforehand: of Investing less wealth, of OSFS the same. So workers judge the next blocks as if all columns before them
were rejected, each from the state that this would leave. Then the blocks are gone through in order: as long as a block
began with the state, to the last byte, that the block before it has left, its decisions are those of one column after
the other. The first block that accepts a column is right as well; those behind it are judged again.

Where columns are accepted often, blocks are judged one after the other in this process; the longer nothing is accepted,
the more blocks are tried at once.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pyarrow.feather import write_feather

from streamsift import persist
from streamsift.core.constraints import Integer, check_parameters
from streamsift.core.exceptions import ParameterError
from streamsift.core.live import followed
from streamsift.engines.select import ENGINES, engine_for
from streamsift.streams.column_sources import BY_COLUMNS, ColumnFile, ColumnTable, open_columns
from streamsift.streams.files import READ_LIMITS, check_file


@dataclass(frozen=True)
class ColumnTableJob:
    """What a worker needs to read a block of columns."""

    path: str
    target: str | None
    width: int
    reading: tuple[tuple[str, Any], ...]
    stamp: tuple[int, int]  # length and time of the file: a worker that lives on reads it again when it has changed


@followed
def select_columns(
    source: str | os.PathLike[str],
    selector: Any,
    target: str | None = None,
    *,
    engine: Any = "local",
    jobs: int = 2,
    block_columns: int = 1000,
    progress: Callable[[float], None] = lambda fraction: None,
    **reading: Any,
) -> Any:
    """Offer all columns of a table to a column selector, judging blocks side by side; the decisions are those of one.

    Parameters
    ----------
    source : path
        A Parquet or Arrow file, whose columns each worker reads by itself. A table that is stored row by row (CSV, ...)
        is read once and written by columns to a temporary file, which only workers of this machine can read: for it,
        the engine must be "local", "dask" or "spark".
    selector : Investing ("iic", "alpha", "lord"), Penalised, OSFS, FastOSFS or SAOLA
        One that has not begun. Others are refused: they look at all columns at once, or learn from rejected ones.
    target : str, optional
        The column to be explained.
    engine, jobs
        As in `select`.
    block_columns : int, default 1000
        Columns per block.
    progress : callable
        Called with the fraction done.
    **reading
        Options of `open_columns`.

    Returns
    -------
    selector
        A copy, in the state that `selector.run(open_columns(source, target))` would leave, to the last byte.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np, pandas as pd
    >>> from streamsift import Penalised
    >>> from streamsift.engines import select_columns
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame(rng.normal(size=(100, 40))).rename(columns="x{}".format)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table.assign(y=table["x0"] - table["x1"]).to_parquet(f"{folder}/table.parquet")
    ...     found = select_columns(f"{folder}/table.parquet", Penalised("ric"), "y", jobs=1, block_columns=10)
    >>> found.selected_, found.n_offered_
    (['x0', 'x1'], 40)
    """
    check_parameters("select_columns", {"block_columns": block_columns}, {"block_columns": (Integer(1, None),)})
    if not hasattr(selector, "_pass_over"):
        raise ParameterError(
            f"{type(selector).__name__} does not judge columns: give one that does, such as Investing()."
        )
    if hasattr(selector, "n_offered_"):
        raise ParameterError("The selector has begun already: give a new one.")
    worker = engine_for(engine, jobs)
    with tempfile.TemporaryDirectory(prefix="streamsift-") as folder:
        here = Path(folder) if engine in ENGINES else None
        return _all_columns(worker, _job_of(source, target, block_columns, reading, here), selector, progress)


def _all_columns(worker: Any, job: ColumnTableJob, selector: Any, progress: Callable[[float], None]) -> Any:
    """The state after all columns."""
    columns = _opened(job)
    state = type(selector)(**selector.get_params(deep=False)).begin(columns.y)
    type(selector)(**selector.get_params(deep=False)).begin(columns.y)._pass_over(0)  # refuses what cannot
    n_blocks, done, quiet, ahead = -(-len(columns.names) // job.width), 0, 0, 1
    while done < n_blocks:
        if quiet < worker.jobs or done + 1 == n_blocks:
            before = len(state.selected_), state.history_
            _offer(state, job, done)
            done, ahead = done + 1, 1
            quiet = quiet + 1 if (len(state.selected_), state.history_) == before else 0
        else:
            state, n_right = _side_by_side(worker, job, state, done, min(worker.jobs * ahead, n_blocks - done))
            quiet = quiet if n_right == min(worker.jobs * ahead, n_blocks - done) else 0
            done, ahead = done + n_right, 2 * ahead
        progress(done / n_blocks)
    return state


def _job_of(
    source: str | os.PathLike[str], target: str | None, width: int, reading: dict[str, Any], folder: Path | None
) -> ColumnTableJob:
    """The job over a file; one that is stored row by row is written to the folder first, if there is one."""
    check_file(Path(source))
    if Path(source).suffix.lower() not in BY_COLUMNS:
        if folder is None:
            raise _by_rows(source)
        columns = open_columns(source, target, **reading)
        table = columns.as_arrow() if isinstance(columns, ColumnTable) else None
        if table is None:
            raise _by_rows(source)
        source, target, reading = folder / "columns.arrow", str(columns.target_name), {}
        write_feather(table, source, compression="uncompressed")
    about, given = os.stat(source), {name: tuple(v) if isinstance(v, list) else v for name, v in reading.items()}
    if isinstance(limits := reading.get("limits"), Mapping):
        given["limits"] = READ_LIMITS.changed(limits)
    return ColumnTableJob(str(source), target, width, tuple(sorted(given.items())), (about.st_size, about.st_mtime_ns))


def _side_by_side(worker: Any, job: ColumnTableJob, state: Any, first: int, count: int) -> tuple[Any, int]:
    """Judge blocks as if nothing before them were accepted; the state after those that are right, and their number."""
    begun = [_as_bytes(state)]
    for _ in range(count - 1):
        begun.append(_as_bytes(_from_bytes(begun[-1])._pass_over(job.width)))
    ended = worker.call(judge_block, job, [(first + k, begun[k]) for k in range(count)], lambda done: None)
    right = 1
    while right < count and begun[right] == ended[right - 1]:
        right += 1
    return _from_bytes(ended[right - 1]), right


def judge_block(job: ColumnTableJob, task: tuple[int, bytes]) -> bytes:
    """The state after a block, from the state before it."""
    number, before = task
    selector = _from_bytes(before)
    _offer(selector, job, number)
    return _as_bytes(selector)


def _offer(selector: Any, job: ColumnTableJob, number: int) -> None:
    names, block = next(iter(_opened(job).blocks(number)))
    selector.offer_many(block, names)


@lru_cache(maxsize=1)
def _opened(job: ColumnTableJob) -> ColumnFile:
    columns = open_columns(job.path, job.target, **dict(job.reading))
    if not isinstance(columns, ColumnFile):
        raise _by_rows(job.path)
    return columns.cut(job.width)


def _by_rows(source: Any) -> ParameterError:
    return ParameterError(
        f"{source} is stored row by row, so that every worker would read all of it: write the table as Parquet or "
        "Arrow, or offer its columns in one process."
    )


def _as_bytes(selector: Any) -> bytes:
    """Equal states have equal bytes."""
    with tempfile.TemporaryDirectory(prefix="streamsift-") as folder:
        persist.save(selector, Path(folder) / "state")
        return (Path(folder) / "state").read_bytes()


def _from_bytes(state: bytes) -> Any:
    with tempfile.TemporaryDirectory(prefix="streamsift-") as folder:
        (Path(folder) / "state").write_bytes(state)
        return persist.load(Path(folder) / "state")
