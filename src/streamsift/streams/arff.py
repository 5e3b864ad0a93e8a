"""ARFF, the format of Weka: a header that declares the attributes, then dense or sparse rows.

    numeric, real, integer    the value
    {red, green, 'dark red'}  the place in the declaration: 0, 1, 2
    string                    a category, coded by first appearance (in sparse files the empty text is 0)
    date "yyyy-MM-dd"         seconds since 1970-01-01 UTC

`?` is missing. In sparse rows an attribute that is not mentioned is 0, which for a nominal attribute is its first
declared value. The target is the one named, else the attribute called class, else the last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
from scipy import sparse

from streamsift.core.batch import Batch
from streamsift.core.categories import Categories
from streamsift.core.decoder import refused_category
from streamsift.core.exceptions import ReaderError
from streamsift.core.vocabulary import from_column
from streamsift.streams.arff_header import VALUE, Attribute, bare_value, read_header, split_values
from streamsift.streams.blocks import BlockStream, lines_of
from streamsift.streams.files import READ_LIMITS, ByteSource, ReadLimits, own_copy, records
from streamsift.streams.labels import whole_numbers
from streamsift.streams.table import TableDecoder, check_columns, check_target

_COMMENT = re.compile(rb"^[ \t]*%[^\n]*\n?", re.MULTILINE)
_SPACES = re.compile(rb"[ \t\r]*([,\n])[ \t]*")
_SPARSE_VALUE = re.compile(rf"\s*(\d{{1,18}})\s+{VALUE}")
_NUMERIC = ("number", "date")


class ArffStream(BlockStream):
    """Rows of an ARFF file."""

    target_name: str
    _decoder: TableDecoder

    def __init__(
        self,
        source: ByteSource,
        target: str | None = None,
        *,
        ignore: Sequence[str] = (),
        limits: ReadLimits = READ_LIMITS,
    ) -> None:
        self._source, self._limits = source, limits
        self._header = read_header(source, limits)
        self._attributes = self._header.attributes
        names = [attribute.name for attribute in self._attributes]
        by_custom = next((name for name in names if name.lower() == "class"), names[-1])
        self.target_name = check_target(by_custom if target is None else target, names, source.name)
        ignored = check_columns(ignore, names, source.name)
        self._target = names.index(self.target_name)
        kept = [a for a in self._attributes if a.name == self.target_name or a.name not in ignored]
        self._kept = {a.name for a in kept}
        self._schema = pa.schema([(a.name, pa.float64() if a.kind in _NUMERIC else pa.string()) for a in kept])
        first_text = [""] if self._header.sparse else []
        self._vocabularies = {
            a.name: Categories(a.values, closed=True)
            if a.kind == "nominal"
            else Categories(first_text, most=limits.most_categories)
            for a in kept
            if a.kind not in _NUMERIC
        }
        self._decoder = TableDecoder(self._schema, self.target_name, source=source.name, declared=self._vocabularies)
        slots = {name: slot for slot, name in enumerate(self._decoder.feature_names)}
        self._slots = [slots.get(name, -1) for name in names]  # -1: the target and the ignored

    def progress(self) -> float | None:
        return self._source.progress()

    def _blocks(self, size: int) -> Iterator[Batch]:
        decode = self._sparse_block if self._header.sparse else self._dense_block
        whole = self._attributes[self._target].kind == "number"
        longest = self._limits.longest_record
        chunks = self._source.chunks(self._limits.block_bytes, skip=self._header.n_bytes)
        for line, block in records(chunks, name=self._source.name, line=self._header.n_lines + 1, longest=longest):
            batch = decode(block, line)
            if batch is not None:
                self._check_labels(batch)
                yield replace(batch, y=whole_numbers(batch.y)) if whole else batch

    def _check_labels(self, batch: Batch) -> None:
        """A label that was not declared is a mistake in the file, not one more class."""
        if self._attributes[self._target].kind != "nominal":
            return
        vocabulary = self._vocabularies[self.target_name]
        refused = vocabulary.refused(np.unique(batch.y).tolist())
        if refused is not None:
            assert batch.lines is not None
            number = int(batch.lines[np.argmax(batch.y == refused)])
            raise refused_category(vocabulary, refused, self.target_name, self._where(number))

    def _where(self, line: int) -> str:
        return f"Line {line} of {self._source.name}"

    # -- dense rows ---------------------------------------------------------------------------------------------

    def _dense_block(self, block: bytes, line: int) -> Batch | None:
        rows = self._parse_quickly(block)
        if rows is None:
            rows = self._parse(block, line)
        if rows.num_rows == 0:
            return None
        lines = lines_of(block, line, rows.num_rows, self._row_lines)
        return self._decoder.batch(rows, lambda row: self._where(int(lines[row])), lines=lines)

    def _parse_quickly(self, block: bytes) -> Any:
        """pyarrow's reading of a block without quotes; None where it needs or deserves a closer look."""
        if b"'" in block or b'"' in block or b"\\" in block or any(a.kind == "date" for a in self._attributes):
            return None
        if b"%" in block:
            block = _COMMENT.sub(b"", block)
        if b" " in block or b"\t" in block:
            block = _SPACES.sub(rb"\1", block.strip(b" \t"))
        if not block.strip():
            return None
        try:
            table = arrow_csv.read_csv(
                own_copy(block),
                arrow_csv.ReadOptions(column_names=[a.name for a in self._attributes], block_size=len(block) + 1),
                arrow_csv.ParseOptions(quote_char=False),
                arrow_csv.ConvertOptions(
                    column_types=self._schema,
                    include_columns=self._schema.names,
                    null_values=["?"],
                    strings_can_be_null=True,
                ),
            )
        except pa.ArrowInvalid:
            return None  # read once more, slowly, to say what is wrong
        return table.to_batches()[0]

    def _parse(self, block: bytes, line: int) -> Any:
        """The same in plain Python: every way of quoting, dates, and errors with their line."""
        columns: list[list[Any]] = [[] for _ in self._attributes]
        for number, text in self._data_lines(block, line):
            try:
                values = split_values(text, self._limits)
            except ValueError as error:
                raise ReaderError(f"{self._where(number)}: {error}; correct the line.") from error
            if len(values) != len(columns):
                raise ReaderError(
                    f"{self._where(number)} has {len(values)} values where the header declares {len(columns)} "
                    "attributes: correct the line, or quote values that contain a comma."
                )
            for attribute, column, value in zip(self._attributes, columns, values, strict=True):
                column.append(self._value(attribute, value, number))
        kept = [
            pa.array(column, self._schema.field(attribute.name).type, from_pandas=False)
            for attribute, column in zip(self._attributes, columns, strict=True)
            if attribute.name in self._kept
        ]
        return pa.RecordBatch.from_arrays(kept, schema=self._schema)

    def _value(self, attribute: Attribute, value: str | None, line: int) -> str | float | None:
        if value is None or attribute.kind not in _NUMERIC:
            return value
        try:
            return attribute.number(value)
        except ValueError as error:
            kind = "a number" if attribute.kind == "number" else "a date of the declared format"
            raise ReaderError(
                f"{self._where(line)}, attribute {attribute.name!r}: {value!r} is not {kind}; correct it, or write ? "
                "if it is missing."
            ) from error

    # -- sparse rows --------------------------------------------------------------------------------------------

    def _sparse_block(self, block: bytes, line: int) -> Batch | None:
        data: list[float] = []
        indices: list[int] = []
        ends = [0]
        labels: list[Any] = []
        lines: list[int] = []
        for number, text in self._data_lines(block, line):
            entries = self._sparse_entries(text, number)
            label = entries.pop(self._target, self._absent_label())
            if label is None and self._decoder.skip_unlabelled:
                self._decoder.n_skipped += 1
                continue
            if label is None:
                raise ReaderError(
                    f"{self._where(number)} has no label, its target is ?: drop the row or give it a label."
                )
            labels.append(label)
            lines.append(number)
            for place in sorted(entries):
                if self._slots[place] >= 0:
                    indices.append(self._slots[place])
                    data.append(self._code(self._attributes[place], entries[place], number))
            ends.append(len(data))
        if not labels:
            return None
        shape = (len(labels), len(self._decoder.feature_names))
        X = sparse.csr_matrix(
            (np.array(data, np.float64), np.array(indices, np.int32), np.array(ends, np.int32)), shape
        )
        return Batch(
            X,
            from_column(labels),
            self.feature_names,
            self._decoder.categorical,
            kinds=self._decoder.kinds(),
            lines=np.array(lines, np.int64),
        )

    def _sparse_entries(self, text: str, line: int) -> dict[int, str | float | None]:
        if not (text.startswith("{") and text.endswith("}")):
            raise ReaderError(
                f"{self._where(line)} is not a sparse row {{index value, ...}} as the rows before it: {text[:40]!r}."
            )
        entries: dict[int, str | float | None] = {}
        body, place = text[1:-1].strip(), 0
        while place < len(body):
            found = _SPARSE_VALUE.match(body, place)
            if found is None or int(found[1]) >= len(self._attributes) or int(found[1]) in entries:
                shown = body[place : place + 40].strip()
                raise ReaderError(
                    f"{self._where(line)}: {shown!r} does not begin with 'index value', each index once and "
                    f"below {len(self._attributes)}; correct the line."
                )
            index = int(found[1])
            entries[index] = self._value(self._attributes[index], bare_value(found[2]), line)
            place = found.end()
        return entries

    def _code(self, attribute: Attribute, value: str | float | None, line: int) -> float:
        if value is None:
            return float("nan")
        if not isinstance(value, str):
            return value
        vocabulary = self._vocabularies[attribute.name]
        if vocabulary.refused([value]) is not None:
            raise refused_category(vocabulary, value, attribute.name, self._where(line))
        return float(vocabulary.encode([value])[0])

    def _absent_label(self) -> str | float:
        target = self._attributes[self._target]
        return 0.0 if target.kind in _NUMERIC else (*target.values, "")[0]

    def _row_lines(self, block: bytes, line: int) -> list[int]:
        return [number for number, _ in self._data_lines(block, line)]

    def _data_lines(self, block: bytes, line: int) -> list[tuple[int, str]]:
        """The lines of a block that are rows, with their numbers."""
        try:
            lines = enumerate(block.decode().split("\n"), start=line)
        except UnicodeDecodeError as error:
            number = line + block.count(b"\n", 0, error.start)
            raise ReaderError(f"{self._where(number)} is not UTF-8 text: convert the file to UTF-8.") from error
        stripped = ((number, text.strip()) for number, text in lines)
        return [(number, text) for number, text in stripped if text and not text.startswith("%")]
