"""The engine on Spark: parts are learnt by executors, states are merged up a tree of shuffles."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

from streamsift import __version__
from streamsift.core.exceptions import MissingExtraError, ParameterError, StreamsiftError
from streamsift.engines.spark_stream import stream, stream_by_key
from streamsift.engines.work import FAN, Job, learn, learn_rows, merge

TRIES = 4  # of a task whose process dies, where Spark is started here; clusters have the same number
SECONDS_BETWEEN_LOOKS = 0.2

__all__ = ["SparkEngine", "stream", "stream_by_key"]


class SparkEngine:
    """Tasks of a Spark session: a SparkSession, a master URL, or None for the one that is running in this process.

    Where none is running, one is started on this machine, or at the master, and stopped in the end; one that was
    running before goes on.
    """

    def __init__(self, session: Any, jobs: int) -> None:
        try:
            import pyspark.sql
        except ImportError as error:
            raise MissingExtraError("engine='spark'", "pyspark", "spark") from error
        self._spark, self._given, self.jobs = pyspark.sql, session, jobs

    def fold(self, job: Job, parts: Sequence[Any], progress: Callable[[float], None]) -> bytes:
        """The merged state of all parts."""
        with self._session() as session:
            parts, done = list(parts), session.sparkContext.accumulator(0)
            numbered = session.sparkContext.parallelize(list(enumerate(parts)), len(parts))
            states = numbered.mapValues(_counting(lambda part: learn(job, part), done))
            return _merged(states, len(parts), _TaskWatch(done, len(parts), progress))

    def fold_table(self, job: Job, table: Any, progress: Callable[[float], None]) -> bytes:
        """The merged state of all partitions of a Spark DataFrame."""

        def learn_partition(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow as pa

            held = [batch for batch in batches if batch.num_rows]
            if held:
                frame = pa.Table.from_batches(held)
                yield pa.RecordBatch.from_pydict({"state": [learn_rows(job, frame, "A partition of the table")]})

        with self._session():
            states = table.mapInArrow(learn_partition, "state binary")
            numbered = states.rdd.map(lambda row: bytes(row.state)).zipWithIndex().map(lambda pair: (pair[1], pair[0]))
            numbered = numbered.cache()
            count = _worded(numbered.count)  # learns all partitions; how many are behind us, Spark's own page tells
            progress(1.0)
            return _merged(numbered, count, None)

    def call(
        self, function: Callable[[Any, Any], Any], shared: Any, tasks: Sequence[Any], progress: Callable[[float], None]
    ) -> list[Any]:
        """What a function of a module makes of each task, in their order."""
        with self._session() as session:
            tasks, done = list(tasks), session.sparkContext.accumulator(0)
            mapped = session.sparkContext.parallelize(tasks, len(tasks)).map(
                _counting(lambda task: function(shared, task), done)
            )
            found: list[Any] = _TaskWatch(done, len(tasks), progress).wait_for(mapped.collect)
            return found

    @contextmanager
    def _session(self) -> Iterator[Any]:
        if self._given is not None and not isinstance(self._given, str):
            _refuse_other_versions(self._given)
            yield self._given
            return
        running = self._running()
        if running is not None:
            _refuse_other_versions(running)
            yield running
            return
        master = self._given or f"local[{self.jobs},{TRIES}]"
        builder = self._spark.SparkSession.builder.master(master).appName("streamsift")
        try:
            session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
        except Exception as error:  # of Java, of py4j or of pyspark: whatever keeps it from starting
            raise ParameterError(
                f"Spark cannot be started ({type(error).__name__}: {error}): it needs a Java runtime and a master that "
                "can be reached."
            ) from error
        try:
            _refuse_other_versions(session)
            yield session
        finally:
            session.stop()

    def _running(self) -> Any:
        """The session of a context that runs in this process already (there is one at most), or None."""
        from pyspark import SparkContext

        context = SparkContext._active_spark_context
        if context is None:
            return None
        if self._given is not None and self._given != context.master:
            raise ParameterError(
                f"Spark is running in this process already, with the master {context.master}, and cannot have "
                f"{self._given} beside it: use engine='spark' or engine=session for the one that runs, or stop it."
            )
        return self._spark.SparkSession.builder.getOrCreate()


def _counting(function: Callable[[Any], Any], done: Any) -> Callable[[Any], Any]:
    """The function, which counts how often it has ended."""

    def counted(task: Any) -> Any:
        found = function(task)
        done.add(1)
        return found

    return counted


class _TaskWatch:
    """Waits for an action of Spark and reports meanwhile how many tasks are done; tries count once."""

    def __init__(self, done: Any, count: int, progress: Callable[[float], None]) -> None:
        self._done, self._count, self._progress = done, count, progress

    def wait_for(self, action: Callable[[], Any]) -> Any:
        with ThreadPoolExecutor(1) as pool:
            found = pool.submit(_worded, action)
            while wait([found], SECONDS_BETWEEN_LOOKS).not_done:
                self._progress(min(self._done.value / self._count, 1.0))
            result = found.result()
        self._progress(1.0)
        return result


def _merged(states: Any, count: int, watch: _TaskWatch | None) -> bytes:
    """States numbered from 0, merged in groups of neighbours until one is left."""
    if not count:
        raise StreamsiftError("The table has no rows.")
    while count > 1:
        grouped = states.map(lambda pair: (pair[0] // FAN, pair)).groupByKey()
        states = grouped.mapValues(lambda pairs: merge(state for _, state in sorted(pairs)))
        count = -(-count // FAN)
    ((_, state),) = _worded(states.collect) if watch is None else watch.wait_for(states.collect)
    return bytes(state)


def _worded(action: Callable[[], Any]) -> Any:
    """The result of a Spark action; what one of our functions raised on an executor, in its own words."""
    try:
        return action()
    except Exception as error:  # Spark wraps what a task raised in errors of its own, of Python and of Java
        told = _our_words(str(error))
        if told is not None:
            raise StreamsiftError(told) from error
        raise


def _our_words(text: str) -> str | None:
    """The last line of a traceback of ours in Spark's long message.

    >>> _our_words("at org...\\nstreamsift.core.exceptions.ReaderError: The part a.csv cannot be used.\\n\\tat java")
    'The part a.csv cannot be used.'
    """
    begins = "streamsift.core.exceptions."
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith(begins)]
    return lines[-1].partition(": ")[2] if lines else None


def _refuse_other_versions(session: Any) -> None:
    """Raise StreamsiftError for executors whose Python has no streamsift or pyarrow, or another version."""

    def versions(_: Any) -> tuple[str | None, str | None]:
        from importlib.metadata import PackageNotFoundError, version

        def found(name: str) -> str | None:
            try:
                return version(name)
            except PackageNotFoundError:
                return None

        return found("streamsift"), found("pyarrow")

    context = session.sparkContext
    n = max(int(context.defaultParallelism), 1)
    try:
        found = context.parallelize(range(n), n).map(versions).collect()
    except Exception as error:  # no Python there, or another one than here: Spark tells it in many ways
        reason = next((line.strip() for line in str(error).splitlines() if _tells(line)), type(error).__name__)
        raise StreamsiftError(
            f"Spark's executors cannot run the work ({reason}): set PYSPARK_PYTHON to a Python {_python()} that has "
            f"streamsift=={__version__} and pyarrow."
        ) from error
    for ours, arrow in found:
        if ours is None or arrow is None:
            missing = "streamsift" if ours is None else "pyarrow"
            raise StreamsiftError(
                f"The Python of Spark's executors has no {missing}: install streamsift=={__version__} there, or set "
                "PYSPARK_PYTHON to one that has it."
            )
        if ours != __version__:
            raise StreamsiftError(
                f"Spark's executors have streamsift {ours}, and here is {__version__}: install the same there."
            )


def _python() -> str:
    return ".".join(platform.python_version_tuple()[:2])


def _tells(line: str) -> bool:
    """Whether a line of Spark's message says what is wrong with Python.

    >>> _tells('java.io.IOException: Cannot run program "python9": error=2'), _tells("at java.base/java.lang.Thread")
    (True, False)
    """
    words = ("PYTHON_VERSION_MISMATCH", "Cannot run program", "ModuleNotFoundError", "ImportError", "can't open file")
    return any(word in line for word in words)
