"""TraceWriter: the file of a trace, written step by step; the kinds of stream say what a step leaves in it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

import pyarrow as pa
import pyarrow.parquet as pq

from streamsift.core.atomic import Draft, path_to_write, write_error
from streamsift.persist import Parts
from streamsift.runs.run import Run, seconds_of
from streamsift.runs.table_arrays import table_from_arrays, table_to_arrays
from streamsift.runs.trace import DIGEST, METADATA, Trace, digest


class TraceWriter:
    """Writes a trace step by step; use it in a `with` block. What a step leaves in it is said by the subclass.

    The file has its name only once it is complete: until then its name ends in `.partial`.

    Parameters
    ----------
    path : path or None
        The file to write; None keeps the trace in memory.
    run : Run
        What is being run. It may be replaced, and `result` filled in, until the block is left.
    """

    schema: ClassVar[Any]
    later: ClassVar[frozenset[str]] = frozenset()  # columns that checkpoints of earlier versions do not have

    def __init__(self, path: str | Path | None, run: Run) -> None:
        self.path = path_to_write(os.devnull if path is None else path)
        self.run, self.seconds = run, 0.0
        self.result: dict[str, Any] = {}
        self._draft = Draft(self.path)
        self.keeps = path is None  # whether the record stays in memory: for checkpoints also beside a file
        self._kept: list[Any] = []  # row groups
        self._n_written = 0
        self._writer = None if path is None else _new_file(self._draft.path, self.schema)

    # -- what a kind of stream implements -----------------------------------------------------------------------

    def append(self, step: Any) -> None:
        """Record a step."""
        raise NotImplementedError

    def _flush(self) -> None:
        """Write what is waiting."""
        raise NotImplementedError

    def _features(self) -> tuple[dict[int, str], int]:
        """The names of features by index, and how many features there are."""
        raise NotImplementedError

    def _so_far(self) -> tuple[dict[str, Any], Any]:
        """What is known besides the table, as JSON keeps it, and the table up to now."""
        raise NotImplementedError

    def _take_over(self, facts: dict[str, Any], table: Any) -> None:
        """The inverse of _so_far, for a writer that has recorded nothing; what cannot be is refused."""
        raise NotImplementedError

    def _is_empty(self) -> bool:
        """Whether there is nothing to be kept."""
        return not self.result

    # -- the file -----------------------------------------------------------------------------------------------

    def freeze(self) -> Parts:
        """The record so far, which later steps do not change; only where it `keeps`."""
        facts, table = self._so_far()
        return Parts(facts | {"seconds": self.seconds}, table_to_arrays(table))

    def resume(self, parts: Parts) -> None:
        """Go on with a record that `freeze` gave, as a file kept it; SavedStateError where it is none."""
        table = table_from_arrays(parts.arrays, self.schema, self.later)
        self._take_over(parts.facts, table)
        self.seconds = seconds_of(parts.facts)

    def _write(self, group: Any) -> None:
        if self.keeps:
            self._kept.append(group)
        if self._writer is not None:
            with self._in_words():
                self._writer.write_table(group)
                self._n_written += group.num_rows

    def close(self) -> None:
        """Write what is waiting and give the file its name; a run that found nothing leaves no file."""
        self._flush()
        self.run = self.run.ended(seconds=self.seconds, complete=self.run.complete)
        if self._writer is None:
            return
        names, n_features = self._features()
        about = {"run": asdict(self.run), "result": self.result, "names": names, "n_features": n_features}
        with self._in_words():
            text = json.dumps(about, default=plain)
            self._writer.add_key_value_metadata({METADATA: text, DIGEST: digest(text, self.schema, self._n_written)})
            self._writer.close()
        if self._is_empty():
            self._draft.discard()
        else:
            self._draft.keep()

    def trace(self) -> Trace:
        """What was written, once the block is left."""
        if self._writer is not None:
            return Trace.read(self.path)
        table = pa.concat_tables([self.schema.empty_table(), *self._kept])
        return Trace(table, self.run, *self._features(), self.result)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        elif issubclass(kind, KeyboardInterrupt):
            self.run = self.run.ended(seconds=self.seconds, complete=False)
            self.close()
        elif self._writer is not None:
            with suppress(OSError):  # the disk is full, perhaps: the error on its way out says so
                self._writer.close()
            self._draft.discard()

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """A failure of the file system names the file and the reason, which pyarrow's does not, and leaves no file."""
        try:
            yield
        except OSError as error:
            self._draft.discard()
            raise write_error(self.path, error) from error


def _new_file(path: Path, schema: Any) -> Any:
    """A Parquet file whose pages carry checksums."""
    return pq.ParquetWriter(path, schema, compression="zstd", write_page_checksum=True)


def plain(value: Any) -> Any:
    """Arrays among the parameters as lists, anything else that JSON does not know as text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)
