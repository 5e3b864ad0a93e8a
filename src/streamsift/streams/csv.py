"""CSV: blocks of whole records, each parsed by pyarrow with column types fixed from the head of the file.

The types are explicit because an integer column may turn real after a million rows: every number is read as float64.
Text and true/false columns are categories, dates and times become seconds. A value that does not fit its column, or a
line with too many or too few cells, is reported with its line.

The blocks are cut here rather than by pyarrow's own streaming reader: so a line may be as long as it wants, lines are
counted, and the text of the block is at hand when an error must be explained, also for standard input, which cannot be
read again.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.csv as arrow_csv

from streamsift.core.batch import Batch
from streamsift.core.exceptions import ParameterError, ReaderError
from streamsift.streams.blocks import BlockStream
from streamsift.streams.files import ByteSource, ReadLimits, empty, last_record_end, no_rows, own_copy, records
from streamsift.streams.labels import labels_of_texts
from streamsift.streams.table import TableDecoder, check_columns, check_target, unique_names

LIMITS = ReadLimits(block_bytes=2 << 20)
BLOCK_RECORDS = 256  # of long records a block takes at least this many: a column costs a little in every block
DELIMITERS = ",;\t|"
MOSTLY = 0.9  # a column of text of which so many values are numbers is taken for one of numbers with mistakes

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NUMBER = r"(?i)^\s*[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)\s*$"  # what pyarrow takes for one
_BAD_CELL = re.compile(r"CSV column #(\d+): Row #(\d+): CSV conversion error to (\w+)")


class CsvStream(BlockStream):
    """Rows of a CSV file or of standard input."""

    target_name: str
    _decoder: TableDecoder

    def __init__(
        self,
        source: ByteSource,
        target: str | None,
        *,
        delimiter: str | None = None,
        categorical: Sequence[str] = (),
        ignore: Sequence[str] = (),
        limits: ReadLimits = LIMITS,
    ) -> None:
        self._source, self._limits = source, limits
        head = _Head(source, delimiter, limits)
        self._head = head
        self._names = unique_names(head.names, source.name, limits)
        self.target_name = check_target(target, self._names, source.name)
        inferred = self._infer(
            check_columns(categorical, self._names, source.name), check_columns(ignore, self._names, source.name)
        )
        self._label_kind = _label_kind(inferred.field(self.target_name).type)
        kept = [field.with_type(_read_as(field.type)) for field in inferred if field.name != self.target_name]
        schema = pa.schema([*kept, (self.target_name, pa.string())])
        truths = [field.name for field in inferred if pa.types.is_boolean(field.type)]
        self._decoder = TableDecoder(
            schema, self.target_name, source=source.name, truths=truths, most_categories=limits.most_categories
        )
        self._convert = arrow_csv.ConvertOptions(
            column_types=schema, include_columns=schema.names, strings_can_be_null=True
        )

    def progress(self) -> float | None:
        return self._source.progress()

    def _blocks(self, size: int) -> Iterator[Batch]:
        head = self._head
        chunks = self._source.chunks(head.block_bytes, skip=head.n_bytes)
        for line, block in records(
            chunks,
            name=self._source.name,
            line=head.n_lines + 1,
            delimiter=head.delimiter,
            longest=self._limits.longest_record,
        ):
            if not block.lstrip(b"\r\n"):
                continue  # nothing but empty lines
            first = 0
            for rows in self._parse(block, line, self._convert).to_batches():
                yield self._decode(rows, block, line, first)
                first += rows.num_rows

    def _decode(self, rows: Any, block: bytes, line: int, first: int) -> Batch:
        def place(row: int) -> str:
            number, _ = self._cells(block, line)[first + row]
            return f"Line {number} of {self._source.name}"

        texts = rows.column(rows.num_columns - 1)
        return self._decoder.batch(rows, place, labels_of_texts(texts, self._label_kind, self.target_name, place))

    def _infer(self, categorical: set[str], ignore: set[str]) -> Any:
        """The schema pyarrow sees in the head of the file."""
        options = arrow_csv.ConvertOptions(
            column_types={name: pa.string() for name in categorical},
            include_columns=[name for name in self._names if name not in ignore or name == self.target_name],
            strings_can_be_null=True,
        )
        table = self._parse(self._head.sample, self._head.n_lines + 1, options)
        for name in table.schema.names:
            if pa.types.is_string(table.schema.field(name).type) and name not in categorical | {self.target_name}:
                self._refuse_stray_text(name, table.column(name).combine_chunks())
        return table.schema

    def _refuse_stray_text(self, name: str, texts: Any) -> None:
        """A column in which nearly all values are numbers is one of numbers, and the others are mistakes."""
        is_number = compute.match_substring_regex(texts, _NUMBER)
        n_numbers, n_values = compute.sum(is_number).as_py() or 0, len(texts) - texts.null_count
        if n_numbers < n_values and n_numbers >= MOSTLY * n_values:
            row = compute.index(is_number, False).as_py()
            number, _ = self._cells(self._head.sample, self._head.n_lines + 1)[row]
            raise _not_fitting(number, self._source.name, name, texts[row].as_py(), "a number", "most others are")

    def _parse(self, block: bytes, line: int, options: Any, threads: bool = True) -> Any:
        # Two pieces a block keep two cores busy; the head is one piece, so that all of it decides the types.
        whole = block is self._head.sample or not threads
        read = arrow_csv.ReadOptions(
            column_names=self._names,
            use_threads=threads,
            block_size=len(block) + 1 if whole else max(len(block) // 2, 1 << 16),
        )
        parse = arrow_csv.ParseOptions(delimiter=self._head.delimiter.decode(), newlines_in_values=b'"' in block)
        try:
            return arrow_csv.read_csv(own_copy(block), read_options=read, parse_options=parse, convert_options=options)
        except pa.ArrowInvalid as error:
            if threads:
                return self._parse(block, line, options, threads=False)  # in order, so that the error names a row
            raise self._explained(block, line, str(error)) from error

    def _cells(self, block: bytes, line: int) -> list[tuple[int, list[str]]]:
        """The records of a block with the line each begins on; slow, for the wording of errors."""
        found = _split(block.decode(errors="replace"), self._head.delimiter.decode(), self._limits)
        return [(line + offset, cells) for offset, cells in found]

    def _explained(self, block: bytes, line: int, reason: str) -> ReaderError:
        source, wanted = self._source.name, len(self._names)
        rows = self._cells(block, line)
        for number, cells in rows:
            if len(cells) != wanted:
                return ReaderError(
                    f"Line {number} of {source} has {len(cells)} cells where the header names {wanted} columns: "
                    "correct the line, or quote values that contain the delimiter."
                )
        found = _BAD_CELL.search(reason)
        if found is None:
            last = line + block.count(b"\n")
            return ReaderError(f"{source} cannot be read between lines {line} and {last}: {reason.rstrip('.')}.")
        number, cells = rows[int(found[2]) - 1]
        column, value = self._names[int(found[1])], cells[int(found[1])]
        if found[3] == "string":
            return ReaderError(
                f"Line {number} of {source}, column {column!r}: {value!r} is not UTF-8: convert the file."
            )
        kind = "a date" if found[3].startswith("time") else "a number"
        return _not_fitting(number, source, column, value, kind, "the values before it are")


def _not_fitting(line: int, source: str, column: str, value: str, kind: str, others: str) -> ReaderError:
    return ReaderError(
        f"Line {line} of {source}, column {column!r}: {value!r} is not {kind} as {others}; correct it, leave it empty "
        f"if it is missing, or read the column as text with categorical=[{column!r}] (--categorical {column})."
    )


class _Head:
    """The header of a CSV file and the records that follow it, as far as `limits.head_bytes` reaches."""

    def __init__(self, source: ByteSource, delimiter: str | None, limits: ReadLimits) -> None:
        if delimiter is not None and (len(delimiter.encode()) != 1 or delimiter in '"\r\n'):
            raise ParameterError(f"The delimiter must be one ASCII character, not a quote. Got {delimiter!r} instead.")
        wanted = limits.head_bytes
        while True:
            data = source.head(wanted)
            complete = len(data) < wanted
            start = len(data) - len(data.removeprefix(_BYTE_ORDER_MARK).lstrip(b"\r\n"))
            self.n_bytes = _first_record_end(data, start)
            header, body = data[start : self.n_bytes], data[self.n_bytes :]
            self.delimiter = (delimiter or _guess(header)).encode()
            self.sample = body if complete else body[: last_record_end(body, self.delimiter)]
            if self.sample or complete:
                break
            if wanted > limits.longest_record:
                raise ReaderError(
                    f"{source.name} has no line breaks in its first {wanted >> 20} MiB: is it a text file?"
                )
            wanted = min(4 * wanted, limits.longest_record + 1)
        if not header:
            raise empty(source.name)
        if not self.sample.strip(b"\r\n"):
            raise no_rows(source.name)
        self.names = _split(_header_text(header, source.name), self.delimiter.decode(), limits)[0][1]
        self.n_lines = data.count(b"\n", 0, self.n_bytes)
        record_bytes = len(self.sample) // max(self.sample.count(b"\n"), 1)
        self.block_bytes = max(limits.block_bytes, min(record_bytes * BLOCK_RECORDS, limits.most_block_bytes))


def _first_record_end(data: bytes, start: int) -> int:
    """The end of the header, whose quoted names may hold line breaks."""
    end = first = data.find(b"\n", start) + 1
    n_quotes = data.count(b'"', start, end) if end else 0
    while end and n_quotes % 2:
        behind, end = end, data.find(b"\n", end) + 1
        n_quotes += data.count(b'"', behind, end) if end else 0
    return end or first or len(data)


def _header_text(header: bytes, name: str) -> str:
    try:
        return header.decode()
    except UnicodeDecodeError as error:
        raise ReaderError(f"The header of {name} is not UTF-8 text: convert the file to UTF-8.") from error


def _split(text: str, delimiter: str, limits: ReadLimits) -> list[tuple[int, list[str]]]:
    """The cells of each record, and how many lines come before it."""
    usual = csv.field_size_limit(limits.longest_record)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        found, before = [], 0
        for cells in reader:
            if cells:
                found.append((before, cells))
            before = reader.line_num
        return found
    finally:
        csv.field_size_limit(usual)


def _guess(header: bytes) -> str:
    """The delimiter that occurs most in the header, outside quotes."""
    bare = re.sub(rb'"[^"]*"', b"", header)
    return max(DELIMITERS, key=lambda delimiter: bare.count(delimiter.encode()))


def _read_as(inferred: Any) -> Any:
    """The type to read a column with, from the type its first values have."""
    types = pa.types
    if types.is_date(inferred):
        return pa.timestamp("us")  # also reads a time of day that appears later
    if types.is_timestamp(inferred):
        return pa.timestamp("ns" if inferred.unit == "ns" else "us", inferred.tz)
    if types.is_time(inferred):
        return pa.time64("us")
    if types.is_string(inferred) or types.is_boolean(inferred) or types.is_binary(inferred):
        return pa.string()
    return pa.float64()


def _label_kind(inferred: Any) -> str:
    types = pa.types
    if types.is_boolean(inferred):
        return "bool"
    if types.is_integer(inferred):
        return "int"
    return "float" if types.is_floating(inferred) else "text"
