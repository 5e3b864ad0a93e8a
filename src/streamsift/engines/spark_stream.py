"""Spark Structured Streaming: micro-batches are learnt exactly once, because the state says which was the last.

Spark hands over each micro-batch with its number (foreachBatch) and notes afterwards that it is done. A driver that
dies in between is given the same micro-batch again. So the number is written into the file of the state, whole or not
at all: what the state holds already is passed over, and what it lacks is learnt. Whatever does not fit together (a
state without Spark's notes, notes without the state, a gap) is refused.

`stream_by_key` keeps a selector for each key in Spark's own state store, which belongs to the micro-batch as well.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from streamsift import persist
from streamsift.core.atomic import replacing
from streamsift.core.exceptions import (
    EmptySelectionWarning,
    MissingExtraError,
    ParameterError,
    SavedStateError,
    StreamsiftError,
)
from streamsift.engines.work import Job, learnt, packed, refuse_what_cannot_merge, unpacked
from streamsift.persist import Parts
from streamsift.streams.open import as_stream

STATE, WAITING, NOTES = "state.streamsift", "waiting.json", "spark"  # in the folder of the checkpoint
POSITION = "position"  # section of the state: the query and the number of its last micro-batch
SELECTIONS = "key string, rank long, feature string, score double, rows long"


def stream(
    df: Any,
    selector: Any,
    checkpoint: str | Path,
    *,
    target: str,
    categorical: Sequence[str] = (),
    ignore: Sequence[str] = (),
    batch_size: int = 1000,
    trigger: Mapping[str, Any] | None = None,
) -> Any:
    """Let a selector follow a streaming DataFrame, each row exactly once.

    A selector that can be merged learns on the executors, and the driver merges what they send. Any other learns on the
    driver, one micro-batch after the other.

    Parameters
    ----------
    df : streaming DataFrame
        As `spark.readStream` gives it, of a session on the driver (not Spark Connect).
    selector : a row selector
        One that has not learnt anything; it is not changed. With a checkpoint that is there already it must be of the
        same method and parameters.
    checkpoint : path
        A folder, made if need be, that survives the driver: `state.streamsift` in it is the selector after the latest
        micro-batch, and `spark` holds Spark's own notes. The two belong together.
    target : str
        The column with the labels.
    categorical, ignore : sequence of str
        Columns of categories, and columns to leave out.
    batch_size : int, default 1000
        Rows that are learnt at once; a micro-batch is cut into so many.
    trigger : dict, optional
        When there is a micro-batch, as Spark's `trigger` takes it: `{"availableNow": True}` ends at what is there,
        `{"processingTime": "10 seconds"}` waits in between.

    Returns
    -------
    pyspark.sql.streaming.StreamingQuery
        It has been started: wait for it with `awaitTermination()`, end it with `stop()`.

    Raises
    ------
    ParameterError
        When the checkpoint is one of another selector.

    Examples
    --------
    >>> from streamsift import Screener, load
    >>> from streamsift.engines.spark import stream
    >>> clicks = spark.readStream.schema("a double, y long").parquet("clicks/")  # doctest: +SKIP
    >>> query = stream(clicks, Screener("fisher"), "clicks.ckpt", target="y")  # doctest: +SKIP
    >>> load("clicks.ckpt/state.streamsift").selection()  # doctest: +SKIP
    """
    _refuse_what_is_no_stream(df)
    reading = {"categorical": tuple(categorical), "ignore": tuple(ignore)}
    folder = Path(checkpoint).absolute()
    sink = _MicroBatches(Job.of(selector, target, reading, batch_size), selector, folder)
    folder.mkdir(parents=True, exist_ok=True)
    writer = df.writeStream.foreachBatch(sink.learn).option("checkpointLocation", (folder / NOTES).as_uri())
    return (writer.trigger(**trigger) if trigger else writer).start()


class _MicroBatches:
    """The state of the selector and the place in the stream, which only ever change together."""

    def __init__(self, job: Job, selector: Any, folder: Path) -> None:
        self._job, self._state, self._waiting = job, folder / STATE, folder / WAITING
        self._merges = _can_merge(selector)
        self._selector = job.selector()
        self._position: dict[str, Any] = {"query": None, "batch": -1}
        if self._state.exists():
            self._selector, self._position = self._kept()
        elif self._waiting.exists():
            self._position = _checked(json.loads(self._waiting.read_text(encoding="utf-8")), self._waiting)

    def _kept(self) -> tuple[Any, dict[str, Any]]:
        selector, section = persist.load(self._state), persist.read_section(self._state, POSITION)
        if section is None:
            raise SavedStateError(f"{self._state} is a saved selector but not one that followed a stream of Spark.")
        then, now = persist.description(selector), (self._job.method, self._job.parameters)
        if then != now:
            raise ParameterError(
                f"{self._state} was written for {then[0].rpartition(':')[2]} with {then[1]}, and now it is "
                f"{now[0].rpartition(':')[2]} with {now[1]}: give the same selector, or another checkpoint."
            )
        return selector, _checked(section.facts, self._state)

    def learn(self, frame: Any, number: int) -> None:
        """Learn a micro-batch, unless the state holds it already."""
        session = frame.sparkSession
        query = session.sparkContext.getLocalProperty("sql.streaming.queryId")
        last = self._position["batch"]
        self._refuse_what_does_not_fit(query, number, last)
        if number <= last:
            return  # the driver died before Spark could note that it was done
        selector = self._learnt(frame, session)
        position = {"query": query, "batch": number}
        if hasattr(selector, "n_rows_seen_"):
            persist.write(self._state, persist.parts_of(selector), {POSITION: Parts(position, {})})
            self._waiting.unlink(missing_ok=True)
        else:  # no row had a label so far: there is no state to write the number into
            with replacing(self._waiting) as file:
                file.write(json.dumps(position).encode())
        self._selector, self._position = selector, position

    def _refuse_what_does_not_fit(self, query: str, number: int, last: int) -> None:
        folder = self._state.parent
        if self._position["query"] not in (None, query):
            raise StreamsiftError(
                f"The state in {folder} was written by another query of Spark than the one whose notes are in "
                f"{folder / NOTES}: restore these, or start again in another folder."
            )
        if number > last + 1:
            missing = f"{last + 1}" if number == last + 2 else f"{last + 1} to {number - 1}"
            raise StreamsiftError(
                f"Spark goes on with micro-batch {number}, but the state in {folder} lacks micro-batch {missing}: "
                "restore the state, or start again in another folder."
            )

    def _learnt(self, frame: Any, session: Any) -> Any:
        """The selector after the rows of a micro-batch."""
        if frame.isEmpty():
            return self._selector
        if not self._merges:
            rows = as_stream(frame.toArrow(), self._job.target, **self._job.reading)
            return learnt(self._selector, rows, self._job.batch_size)
        from streamsift.engines.spark import SparkEngine

        found = unpacked(SparkEngine(session, 1).fold_table(self._job, frame, lambda done: None))
        return found if not hasattr(self._selector, "n_rows_seen_") else self._selector.merge(found)


def _checked(position: Any, path: Path) -> dict[str, Any]:
    """What a file says about the place in the stream."""
    fine = isinstance(position, dict) and type(position.get("batch")) is int and isinstance(position.get("query"), str)
    if not fine:
        raise SavedStateError(f"{path} is damaged: it does not say which micro-batch was the last.")
    return {"query": position["query"], "batch": position["batch"]}


def _can_merge(selector: Any) -> bool:
    try:
        refuse_what_cannot_merge(selector)
    except ParameterError:
        return False
    return True


def _refuse_what_is_no_stream(df: Any) -> None:
    try:
        import pyspark.sql  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("A stream of Spark", "pyspark", "spark") from error
    module = type(df).__module__
    if not module.startswith("pyspark.sql") or not getattr(df, "isStreaming", False):
        raise ParameterError(
            "A stream of Spark is a DataFrame that spark.readStream gives; streamsift.engines.select takes others."
        )
    if module.startswith("pyspark.sql.connect"):
        raise ParameterError(
            "Spark Connect runs what follows a stream on the server, where the checkpoint is not: use a session on the "
            "driver."
        )


# -- one selector for each key ----------------------------------------------------------------------------------------


def stream_by_key(
    df: Any,
    selector: Any,
    by: str,
    *,
    target: str,
    categorical: Sequence[str] = (),
    ignore: Sequence[str] = (),
    batch_size: int = 1000,
) -> Any:
    """One selector for each value of a column of a streaming DataFrame, kept in Spark's state store.

    Any row selector will do, since nothing is merged: the rows of a key are on one executor. Spark stores the states
    with the micro-batch, so each row counts once whatever dies.

    Parameters
    ----------
    df : streaming DataFrame
    selector : a row selector
        One that has not learnt anything; it is not changed.
    by : str
        The column with the keys; it is no feature.
    target : str
        The column with the labels.
    categorical, ignore, batch_size
        As in `stream`.

    Returns
    -------
    streaming DataFrame
        For each key that had rows in a micro-batch, its selection after it, best first: key, rank, feature, score,
        rows. A key whose rows have one class only has one row without a feature. Write it with
        `.writeStream.outputMode("update")` and a checkpointLocation.

    Examples
    --------
    >>> from streamsift import Screener
    >>> from streamsift.engines.spark import stream_by_key
    >>> found = stream_by_key(clicks, Screener("fisher"), "country", target="y")  # doctest: +SKIP
    >>> found.writeStream.outputMode("update").format("console").start()  # doctest: +SKIP
    """
    _refuse_what_is_no_stream(df)
    if by == target:
        raise ParameterError(f"{by!r} is the target: keys are in another column.")
    from pyspark.sql.streaming.state import GroupStateTimeout

    job = Job.of(selector, target, {"categorical": tuple(categorical), "ignore": (*ignore, by)}, batch_size)

    def follow(key: tuple[Any], frames: Iterator[Any], state: Any) -> Iterator[Any]:
        selector = unpacked(bytes(state.get[0])) if state.exists else job.selector()
        for frame in frames:
            learnt(selector, as_stream(frame, job.target, **job.reading), job.batch_size)
        state.update((packed(selector),))
        yield _selection_of(key[0], selector)

    return df.groupBy(by).applyInPandasWithState(
        follow, SELECTIONS, "state binary", "update", GroupStateTimeout.NoTimeout
    )


def _selection_of(key: Any, selector: Any) -> Any:
    """The selection of one key, as a frame of pandas."""
    import pyarrow as pa

    name, n_rows = "" if key is None else str(key), int(getattr(selector, "n_rows_seen_", 0))
    found: list[tuple[int, str, float | None]] = [(0, "", None)]
    if n_rows and len(getattr(selector, "classes_", (0, 1))) > 1:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EmptySelectionWarning)
            chosen = selector.selection()
        scores = [None] * len(chosen.names) if chosen.scores is None else [float(score) for score in chosen.scores]
        found = list(zip(range(1, len(scores) + 1), chosen.names, scores, strict=True))
    ranks, features, scored = zip(*found, strict=True) if found else ((), (), ())
    columns = {"rank": pa.array(ranks, pa.int64()), "feature": pa.array(features, pa.string())}
    columns |= {"score": pa.array(scored, pa.float64()), "rows": pa.array([n_rows] * len(found), pa.int64())}
    return pa.table({"key": pa.array([name] * len(found), pa.string()), **columns}).to_pandas()
