"""select: the answer of one pass over a table that is read in parts, side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from streamsift.core.constraints import Integer, check_parameters
from streamsift.core.exceptions import InputError, ParameterError
from streamsift.core.live import followed
from streamsift.engines.order import in_time_order
from streamsift.engines.parts import OnlyFeatures, find_parts, is_files, same_features, with_width
from streamsift.engines.work import Job, learnt, refuse_what_cannot_merge, unpacked
from streamsift.rows.screener import Screener

ENGINES = ("local", "dask", "spark")


class Engine(Protocol):
    """Where the work is done."""

    jobs: int

    def fold(self, job: Job, parts: Any, progress: Callable[[float], None]) -> bytes: ...

    def call(self, function: Any, shared: Any, tasks: Any, progress: Callable[[float], None]) -> list[Any]: ...


def engine_for(engine: Any, jobs: int) -> Any:
    """An engine by its name, by the address of a cluster, or by the object that stands for one."""
    check_parameters("select", {"jobs": jobs}, {"jobs": (Integer(1, None),)})
    name = engine if isinstance(engine, str) else type(engine).__module__.partition(".")[0]
    if name == "local":
        from streamsift.engines.local import LocalEngine

        return LocalEngine(jobs)
    if name in ("dask", "distributed") or (isinstance(engine, str) and engine.startswith(("tcp://", "tls://"))):
        from streamsift.engines.dask import DaskEngine

        return DaskEngine(None if engine == "dask" else engine, jobs)
    if name in ("spark", "pyspark") or (isinstance(engine, str) and engine.startswith(("spark://", "local["))):
        from streamsift.engines.spark import SparkEngine

        return SparkEngine(None if engine == "spark" else engine, jobs)
    raise ParameterError(
        f"There is no engine {engine!r}: give {', '.join(map(repr, ENGINES))}, the address of a Dask scheduler "
        "(tcp://...), a Spark master (spark://... or local[2]), a Dask Client or a SparkSession."
    )


@followed
def select(
    source: Any,
    selector: Any,
    target: str | None = None,
    *,
    engine: Any = "local",
    jobs: int = 2,
    prescreen: int | None = None,
    order_by: str | None = None,
    batch_size: int = 1000,
    progress: Callable[[float], None] = lambda fraction: None,
    **reading: Any,
) -> Any:
    """Fit a selector on a table that is read in parts, side by side, and merged.

    Parameters
    ----------
    source : path, pattern, folder, list of paths, Dask DataFrame, pair of Dask Arrays, Spark DataFrame
        A Parquet file of several row groups is cut; files of other formats are a part each. LIBSVM files are read twice
        unless `n_features` is given.
    selector : a row selector
        One that has not learnt anything; it is not changed. Methods that cannot be merged need `prescreen`.
    target : str, optional
        The column with the labels.
    engine : "local", "dask", "spark", an address, a Client or a SparkSession
        "local" are processes of this machine; "dask" and "spark" start a cluster on it, and stop it in the end. A
        SparkSession that is running in this process already is used, and goes on.
    jobs : int, default 2
        Processes of "local", or of the cluster that is started.
    prescreen : int, optional
        Screen in parallel first, and let the selector learn only from that many features with the best Fisher score,
        in this process, in the order of the parts.
    order_by : str, optional
        The column with the times of the rows, where the selector fades by rows: parts are put in the order of their
        times and weighed as in one pass. Parts must not overlap in time, and rows must be in order within a part. The
        column is no feature.
    batch_size : int, default 1000
        Rows per batch.
    progress : callable
        Called with the fraction done.
    **reading
        Options of `open_stream` for files.

    Returns
    -------
    selector
        Fitted. Methods that merge exactly give the scores of one pass up to rounding; those that merge within a bound
        give them within that bound, so that features that tell little may change places.

    Raises
    ------
    ReaderError
        When a part cannot be read; the message names it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from streamsift import Screener
    >>> from streamsift.engines import select
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for day in range(3):
    ...         rows = "".join(f"{k},{(k * 7 + day) % 5},{k % 2}\\n" for k in range(40))
    ...         _ = pathlib.Path(folder, f"day{day}.csv").write_text("a,b,y\\n" + rows)
    ...     found = select(folder, Screener("fisher", n_features_to_select=1), target="y", jobs=1)
    >>> found.n_rows_seen_
    120
    """
    worker = engine_for(engine, jobs)
    if prescreen is not None:
        if order_by is not None:
            raise ParameterError(
                "order_by (--order-by) is for parts that are merged, and prescreen learns in one process."
            )
        check_parameters("select", {"prescreen": prescreen}, {"prescreen": (Integer(1, None),)})
        return _prescreened(worker, source, selector, target, prescreen, batch_size, progress, reading)
    refuse_what_cannot_merge(selector, order_by)
    job = replace(Job.of(selector, target, reading, batch_size), order_by=order_by)
    if is_files(source):
        parts = find_parts(source, worker.jobs)
        job = replace(job, **same_features(parts, target, with_width(worker, parts, reading)))
        if order_by is not None:
            parts = in_time_order(worker, job, parts, lambda done: None)
        return _with_labels(unpacked(worker.fold(job, parts, progress)))
    if order_by is not None:
        raise ParameterError("order_by (--order-by) needs files, whose order can be found: a path, pattern or folder.")
    if not hasattr(worker, "fold_table"):
        raise ParameterError(
            f"engine='local' reads files, not a {type(source).__name__}: give a path, a pattern or a folder."
        )
    return _with_labels(unpacked(worker.fold_table(job, source, progress)))


def _with_labels(selector: Any) -> Any:
    if not hasattr(selector, "n_rows_seen_"):
        raise InputError("No row of the table has a label, or there are no rows: check the name of the target.")
    return selector


# -- screen, then learn ---------------------------------------------------------------------------------------------


def _prescreened(
    worker: Engine,
    source: Any,
    selector: Any,
    target: str | None,
    count: int,
    batch_size: int,
    progress: Callable[[float], None],
    reading: dict[str, Any],
) -> Any:
    """Screen all features in parallel, then stream the best of them through the selector in this process."""
    if not is_files(source):
        raise ParameterError("prescreen reads the table a second time, so it needs files: a path, pattern or folder.")
    Job.of(selector, target, reading, batch_size)  # refuses a selector that has learnt
    missing = getattr(selector, "missing", "error")
    screener = Screener("fisher", n_features_to_select=count, missing="skip" if missing == "skip" else "error")
    parts = find_parts(source, worker.jobs)
    reading = with_width(worker, parts, reading)
    job = replace(Job.of(screener, target, reading, batch_size), **same_features(parts, target, reading))
    state = worker.fold(job, parts, lambda done: progress(done / 2))
    kept = np.sort(unpacked(state).get_support(indices=True))
    for number, part in enumerate(parts):
        learnt(selector, OnlyFeatures(job.open(part), kept), batch_size)
        progress(0.5 + (number + 1) / len(parts) / 2)
    return selector
