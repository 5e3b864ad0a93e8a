"""JSON Lines (.jsonl, .ndjson): one flat object on each line, read in blocks by pyarrow with types fixed from the head.

Numbers are float64, texts and true/false are categories, texts that are all dates in ISO form become seconds. A key
that an object lacks is a missing value, and so is null. Lists of numbers are features as in other tables; objects
inside objects are refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as arrow_json
from numpy.typing import NDArray

from streamsift.core.batch import Batch
from streamsift.core.decoder import Place
from streamsift.core.exceptions import ReaderError
from streamsift.core.plain_json import read_json
from streamsift.streams.blocks import BlockStream
from streamsift.streams.files import READ_LIMITS, ByteSource, ReadLimits, empty, how_to_raise, own_copy
from streamsift.streams.labels import whole_numbers
from streamsift.streams.positions import TextPlace, placed_records
from streamsift.streams.table import TableDecoder, check_columns, check_target, unique_names, without

DEEPEST = 100  # lists and objects inside one another
_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"')


class JsonLinesStream(BlockStream):
    """Rows of a file with one JSON object on each line."""

    target_name: str
    _decoder: TableDecoder
    _seeks = True

    def __init__(
        self,
        source: ByteSource,
        target: str | None,
        *,
        categorical: Sequence[str] = (),
        ignore: Sequence[str] = (),
        limits: ReadLimits = READ_LIMITS,
    ) -> None:
        self._source, self._limits = source, limits
        line, sample = self._sample()
        table, _ = self._parse(sample, line, None)
        self._known = frozenset(unique_names(table.schema.names, source.name, limits))
        schema = without(table.schema, ignore, source.name)
        self.target_name = check_target(target, schema.names, source.name)
        chosen = check_columns(categorical, schema.names, source.name)
        fields = [self._field(field, field.name in chosen) for field in schema]
        self._schema = pa.schema(fields)
        rows = table.select(schema.names).slice(0, 1)
        self._decoder = TableDecoder(
            self._schema,
            self.target_name,
            source=source.name,
            sample=rows,
            categorical=categorical,
            most_categories=limits.most_categories,
        )

    def progress(self) -> float | None:
        return self._source.progress()

    def _sample(self) -> tuple[int, bytes]:
        """The first lines of the file that hold anything, and the number of the first."""
        n_bytes = self._limits.head_bytes
        while True:
            data = self._source.head(n_bytes)
            whole = len(data) < n_bytes
            sample = data if whole else data[: data.rfind(b"\n") + 1]
            if sample.strip():
                return 1, sample
            if whole:
                raise empty(self._source.name)
            if n_bytes > self._limits.longest_record:
                raise ReaderError(
                    f"{self._source.name} has no line break in its first {n_bytes:,} bytes: give one JSON object on "
                    f"each line, or, {how_to_raise('longest_record')}."
                )
            n_bytes = min(4 * n_bytes, self._limits.longest_record + 1)

    def _field(self, field: Any, categorical: bool) -> Any:
        kind, types = field.type, pa.types
        if types.is_struct(kind) or (types.is_list(kind) and not _of_numbers(kind)):
            raise ReaderError(
                f"Column {field.name!r} of {self._source.name} holds objects or lists inside the object of a line, "
                f"which are no features: flatten them, or leave it out with ignore=[{field.name!r}] "
                f"(--ignore {field.name})."
            )
        if types.is_list(kind):
            return field.with_type(pa.list_(pa.float64()))
        if types.is_integer(kind) or types.is_null(kind):
            return field.with_type(pa.float64())
        return field.with_type(pa.string()) if types.is_timestamp(kind) and categorical else field

    def _blocks(self, size: int) -> Iterator[Batch]:
        limits = self._limits
        start = TextPlace.beginning() if self._place is None else TextPlace.of(self._place, limits)
        for place, block in placed_records(self._source, limits.block_bytes, start, longest=limits.longest_record):
            self._mark_block(place.as_dict())
            line = place.line
            if not block.strip():
                continue
            (table, lines), first = self._parse(block, line, self._schema), 0
            for rows in table.select(self._schema.names).to_batches():
                here = lines[first : first + rows.num_rows]
                batch = self._decoder.batch(rows, self._places(here), lines=here)
                first += rows.num_rows
                yield _with_whole_labels(batch)

    def _places(self, lines: NDArray[np.int64]) -> Place:
        return lambda row: self._where(int(lines[row]))

    def _where(self, line: int) -> str:
        return f"Line {line} of {self._source.name}"

    def _lines(self, block: bytes, line: int) -> NDArray[np.int64]:
        """The lines that hold anything; each must be an object, or the beginning and the end of several.

        This is asked before pyarrow reads them: `null` ends the process there, and so do lists and objects inside one
        another, when the stack is full.
        """
        texts = [(k, text.strip()) for k, text in enumerate(block.split(b"\n"), start=line)]
        if not all(text.startswith(b"{") and text.endswith(b"}") for _, text in texts if text):
            raise self._not_one_on_each_line(block, line)
        for number, text in texts:
            if text.count(b"[") + text.count(b"{") > DEEPEST and _depth(text) > DEEPEST:
                raise ReaderError(
                    f"{self._where(number)} has lists or objects more than {DEEPEST} deep inside one another: flatten "
                    "them."
                )
        return np.array([k for k, text in texts if text], np.int64)

    def _parse(self, block: bytes, line: int, schema: Any) -> tuple[Any, NDArray[np.int64]]:
        """The rows of a block, and their lines."""
        try:
            block.decode()
        except UnicodeDecodeError as error:
            number = line + block.count(b"\n", 0, error.start)
            raise ReaderError(
                f"{self._where(number)} is not UTF-8: say which encoding it is with encoding= (--encoding), such as "
                "latin-1 or cp1252."
            ) from error
        lines = self._lines(block, line)
        # Keys are inferred rather than refused by pyarrow: those to be ignored are there, too.
        options = arrow_json.ParseOptions(
            explicit_schema=schema,
            newlines_in_values=False,
            unexpected_field_behavior="infer",
        )
        try:
            table = arrow_json.read_json(
                pa.BufferReader(own_copy(block)),
                read_options=arrow_json.ReadOptions(use_threads=False, block_size=len(block) + 1),
                parse_options=options,
            )
        except pa.ArrowInvalid as error:
            raise self._explained(block, line, schema, str(error)) from error
        if schema is not None:
            for name in table.schema.names:
                if name not in self._known:
                    raise self._new_key(block, line, name)
        if len(lines) != table.num_rows:
            raise self._not_one_on_each_line(block, line)
        return table, lines

    def _not_one_on_each_line(self, block: bytes, line: int) -> ReaderError:
        """pyarrow also takes an object that goes over several lines, and several on one line."""
        try:
            for _ in self._objects(block, line):
                pass
        except ReaderError as error:
            return error
        return ReaderError(f"{self._source.name} does not have one JSON object on each line: correct it.")

    def _new_key(self, block: bytes, line: int, name: str) -> ReaderError:
        number = next(number for number, row in self._objects(block, line) if name in row)
        return ReaderError(
            f"{self._where(number)} has the key {name!r}, which no line at the start of the file has: put a line that "
            "has it first, or remove it."
        )

    def _objects(self, block: bytes, line: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """The objects of a block with their lines; slow, for the wording of errors."""
        for number, text in enumerate(block.split(b"\n"), start=line):
            if not text.strip():
                continue
            try:
                found = read_json(text)
            except ValueError as error:
                reason = str(error).partition(":")[0].lower()
                raise ReaderError(f"{self._where(number)} is not JSON ({reason}): correct it.") from error
            if not isinstance(found, dict):
                raise ReaderError(
                    f'{self._where(number)} is no JSON object: write {{"name": value, ...}} on each line.'
                )
            yield number, found

    def _explained(self, block: bytes, line: int, schema: Any, reason: str) -> ReaderError:
        kinds: dict[str, str] = {}
        try:
            for number, row in self._objects(block, line):
                for name, value in row.items():
                    kind = _kind(value)
                    known = kinds.setdefault(name, kind) if schema is None else self._kind_of(name, kind)
                    if "nothing" in (kind, known):
                        kinds[name] = kind if known == "nothing" else known
                    elif kind != known:
                        return ReaderError(
                            f"{self._where(number)}, key {name!r}: {json.dumps(value)} is {kind} where the lines "
                            f"before it have {known}; correct it, or write null if it is missing."
                        )
        except ReaderError as error:
            return error
        last = line + block.count(b"\n")
        text = reason.partition("\n")[0].rstrip(".")
        return ReaderError(f"{self._source.name} cannot be read between lines {line} and {last}: {text}.")

    def _kind_of(self, name: str, otherwise: str) -> str:
        """What a column holds, in the words of `_kind`."""
        place = self._schema.get_field_index(name)
        if place < 0:
            return otherwise
        kind, types = self._schema.field(place).type, pa.types
        if types.is_floating(kind):
            return "a number"
        return "a list" if types.is_list(kind) else "true or false" if types.is_boolean(kind) else "a text"


def _depth(text: bytes) -> int:
    """How deep lists and objects lie inside one another; brackets inside of strings are none.

    >>> _depth(b'{"a": [[1], "]["], "[b": {}}')
    3
    """
    signs = np.frombuffer(_STRINGS.sub(b"", text), np.uint8)
    steps = np.isin(signs, list(b"[{")).astype(np.int64) - np.isin(signs, list(b"]}"))
    return int(np.cumsum(steps).max(initial=0))


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true or false"
    names: dict[type, str] = {str: "a text", list: "a list", dict: "an object"}
    return names.get(type(value), "a number")


def _of_numbers(kind: Any) -> bool:
    inner = kind.value_type
    return bool(pa.types.is_integer(inner) or pa.types.is_floating(inner))


def _with_whole_labels(batch: Batch) -> Batch:
    return replace(batch, y=whole_numbers(batch.y)) if np.asarray(batch.y).dtype.kind == "f" else batch
