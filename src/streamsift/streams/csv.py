"""CSV: blocks of whole records, each parsed by pyarrow with column types fixed from the head of the file.

The types are explicit because an integer column may turn real after a million rows: every number is read as float64.
Text and true/false columns are categories, dates and times become seconds. A column of numbers that are written
otherwise (numbers.py) is read as text and converted. A value that does not fit its column, or a line with too many or
too few cells, is reported with its line.

The blocks are cut here rather than by pyarrow's own streaming reader: so a line may be as long as it wants, lines are
counted, and the text of the block is at hand when an error must be explained, also for standard input, which cannot be
read again.
"""

from __future__ import annotations

import csv
import io
import re
import threading
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.csv as arrow_csv
from numpy.typing import NDArray

from streamsift.core.batch import Batch
from streamsift.core.decoder import Place
from streamsift.core.exceptions import ParameterError, ReaderError, ReadingNotice
from streamsift.streams import numbers
from streamsift.streams.blocks import BlockStream, lines_of
from streamsift.streams.files import (
    ByteSource,
    ReadLimits,
    empty,
    how_to_raise,
    last_record_end,
    no_rows,
    own_copy,
    refuse_long_lines,
)
from streamsift.streams.labels import labels_of_texts
from streamsift.streams.numbers import NumberForm, Spelling
from streamsift.streams.positions import TextPlace, placed_records
from streamsift.streams.table import TableDecoder, check_columns, check_target, unique_names

LIMITS = ReadLimits(block_bytes=2 << 20)
BLOCK_RECORDS = 256  # of long records a block takes at least this many: a column costs a little in every block
DELIMITERS = ",;\t|"

_BAD_CELL = re.compile(r"CSV column #(\d+): Row #(\d+): CSV conversion error to (\w+)")


class CsvStream(BlockStream):
    """Rows of a CSV file or of standard input."""

    target_name: str
    _decoder: TableDecoder
    _seeks = True

    def __init__(
        self,
        source: ByteSource,
        target: str | None,
        *,
        sep: str | None = None,
        decimal: str | None = None,
        thousands: str | None = None,
        na: Sequence[str] = (),
        categorical: Sequence[str] = (),
        ignore: Sequence[str] = (),
        limits: ReadLimits = LIMITS,
    ) -> None:
        self._source, self._limits = source, limits
        self._spelling = Spelling(decimal, thousands, tuple(na))
        head = _Head(source, sep, limits)
        self._head = head
        self._names = unique_names(head.names, source.name, limits)
        self.target_name = check_target(target, self._names, source.name)
        inferred = self._infer(
            check_columns(categorical, self._names, source.name), check_columns(ignore, self._names, source.name)
        )
        self._label_kind = _label_kind(inferred.field(self.target_name).type)
        kept = [field.with_type(_read_as(field.type)) for field in inferred if field.name != self.target_name]
        schema = pa.schema([*kept, (self.target_name, pa.string())])
        self._schema = schema
        texts = [field.with_type(pa.string()) if field.name in self._forms else field for field in schema]
        self._texts = [place for place, field in enumerate(texts) if pa.types.is_string(field.type)]
        truths = [field.name for field in inferred if pa.types.is_boolean(field.type)]
        self._decoder = TableDecoder(
            schema, self.target_name, source=source.name, truths=truths, most_categories=limits.most_categories
        )
        self._convert = self._options(pa.schema(texts), schema.names)

    def first_bytes(self, n_bytes: int) -> bytes:
        """The beginning of the text; the stream still starts before it."""
        return self._source.head(n_bytes)[:n_bytes]

    def progress(self) -> float | None:
        return self._source.progress()

    def _blocks(self, size: int) -> Iterator[Batch]:
        head = self._head
        beginning = TextPlace.beginning(head.n_bytes, head.n_lines + 1)
        for place, block in placed_records(
            self._source,
            head.block_bytes,
            beginning if self._place is None else TextPlace.of(self._place, self._limits),
            delimiter=head.delimiter,
            longest=self._limits.longest_record,
        ):
            self._mark_block(place.as_dict())
            line = place.line
            if not block.lstrip(b"\r\n"):
                continue  # nothing but empty lines
            table, first = self._parse(block, line, self._convert), 0
            lines = lines_of(block, line, table.num_rows, self._row_lines)
            for rows in table.to_batches():
                yield self._decode(rows, lines[first : first + rows.num_rows])
                first += rows.num_rows

    def _decode(self, rows: Any, lines: NDArray[np.int64]) -> Batch:
        columns = rows.columns
        for number in self._texts:
            columns[number] = self._read_texts(columns[number], self._schema.names[number], self._places(lines))
        rows, kept = self._decoder.labelled(pa.RecordBatch.from_arrays(columns, schema=self._schema))
        lines = lines if kept is None else lines[kept]
        place = self._places(lines)
        labels = self._decoder.with_gaps(
            rows,
            place,
            lambda column, at: labels_of_texts(column, self._label_kind, self.target_name, at, self._label_form),
        )
        return self._decoder.batch(rows, place, labels, lines=lines)

    def _places(self, lines: NDArray[np.int64]) -> Place:
        return lambda row: f"Line {lines[row]} of {self._source.name}"

    def _read_texts(self, texts: Any, name: str, place: Place) -> Any:
        """A column of categories without the words for missing values, or the numbers that the texts are."""
        if name == self.target_name or name not in self._forms:
            return numbers.without(texts, self._spelling.missing)
        texts, form = numbers.without(texts, self._spelling.missing_number), self._forms[name]
        fits = form.fits(texts)
        if not compute.all(fits).as_py():
            row = compute.index(fits, False).as_py()
            raise _not_fitting(place(row), name, texts[row].as_py(), "a number", "the values before it are")
        return form.convert(texts)

    @property
    def _label_form(self) -> NumberForm | None:
        return self._forms.get(self.target_name)

    # -- what the columns are --------------------------------------------------------------------------------------

    def _options(self, column_types: Any, names: Sequence[str]) -> Any:
        # Texts are never missing here: among numbers more words mean that than among texts.
        return arrow_csv.ConvertOptions(
            column_types=column_types,
            include_columns=names,
            null_values=self._spelling.missing_number,
            decimal_point=self._spelling.point,
        )

    def _sample(self, names: Sequence[str], texts: Sequence[str] | set[str]) -> Any:
        """Some columns of the head of the file, those of `texts` as they are written."""
        options = self._options({name: pa.string() for name in texts}, names)
        return self._parse(self._head.sample, self._head.n_lines + 1, options)

    def _infer(self, categorical: set[str], ignore: set[str]) -> Any:
        """The schema of the head of the file, and the forms of numbers that are not written plainly."""
        names = [name for name in self._names if name not in ignore or name == self.target_name]
        table = self._sample(names, categorical)
        self._forms: dict[str, NumberForm] = {}
        fields = []
        for field, column in zip(table.schema, table.columns, strict=True):
            if field.name not in categorical:
                field = self._understood(field, column)
            fields.append(field)
        if not self._spelling.said and any(form.decimal == "," for form in self._forms.values()):
            self._refuse_points([field.name for field in fields if pa.types.is_float64(field.type)])
        return pa.schema(fields)

    def _understood(self, field: Any, column: Any) -> Any:
        """The field of a column as it will be read; its form is kept where it has one."""
        name, types = field.name, pa.types
        if types.is_string(field.type):
            finding = numbers.find_form(column.combine_chunks(), self._spelling, self._column(name))
            if finding.form is not None:
                self._forms[name] = finding.form
                if not self._spelling.said:
                    self._say(f"{name}: {finding.example} read as numbers")
                return field.with_type(pa.float64())
            if finding.stray is not None and name != self.target_name:
                value = column[finding.stray].as_py()
                where = f"Line {self._line_of_sample(finding.stray)} of {self._source.name}"
                raise _not_fitting(where, name, value, "a number", "most others are")
            return field
        is_number = types.is_integer(field.type) or types.is_floating(field.type)
        if is_number and (self._spelling.thousands is not None or (self._spelling.said and name == self.target_name)):
            self._forms[name] = NumberForm(self._spelling.point, self._spelling.thousands or "")
        if column.null_count and name != self.target_name:
            words = self._words_for_missing(name)
            if words and types.is_null(field.type):
                return field.with_type(pa.string())  # nothing but "-": as likely a category
            if words:
                self._say(f"{name}: {' and '.join(map(repr, words))} read as missing")
        return field

    def _words_for_missing(self, name: str) -> list[str]:
        """The words for a missing number in a column that might mean something else."""
        found = compute.unique(self._sample([name], [name]).column(0).combine_chunks()).to_pylist()
        return [text for text in found if text in numbers.MISSING_NUMBER and text not in self._spelling.na]

    def _refuse_points(self, names: list[str]) -> None:
        """Beside decimal commas, 1.234 may be a number above one thousand."""
        names = [name for name in names if name not in self._forms and name != self.target_name]
        for name, column in zip(names, self._sample(names, names).columns if names else (), strict=True):
            texts = numbers.without(column.combine_chunks(), self._spelling.missing_number)
            doubtful = numbers.could_be_thousands(texts)
            if doubtful is not None:
                meanings = (float(doubtful.replace(".", "")), float(doubtful))
                raise numbers.two_meanings(doubtful, meanings, f"{self._column(name)}, beside decimal commas,")

    def _column(self, name: str) -> str:
        return f"Column {name!r} of {self._source.name}"

    def _say(self, text: str) -> None:
        warnings.warn(text, ReadingNotice, stacklevel=7)

    # -- records ---------------------------------------------------------------------------------------------------

    def _row_lines(self, block: bytes, line: int) -> list[int]:
        return [number for number, _ in self._cells(block, line)]

    def _line_of_sample(self, row: int) -> int:
        return self._cells(self._head.sample, self._head.n_lines + 1)[row][0]

    def _parse(self, block: bytes, line: int, options: Any, threads: bool = True) -> Any:
        # Two pieces per block keep two cores busy; the head is one piece, so that all of it decides the types.
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
                    "correct the line, or quote values that contain the separator."
                )
        found = _BAD_CELL.search(reason)
        if found is None:
            last = line + block.count(b"\n")
            return ReaderError(f"{source} cannot be read between lines {line} and {last}: {reason.rstrip('.')}.")
        number, cells = rows[int(found[2]) - 1]
        column, value = self._names[int(found[1])], cells[int(found[1])]
        if found[3] == "string":
            return ReaderError(
                f"Line {number} of {source}, column {column!r}: {value!r} is not UTF-8: say which encoding it is with "
                "encoding= (--encoding), such as latin-1 or cp1252."
            )
        kind = "a date" if found[3].startswith("time") else "a number"
        return _not_fitting(f"Line {number} of {source}", column, value, kind, "the values before it are")


def _not_fitting(where: str, column: str, value: str, kind: str, others: str) -> ReaderError:
    settled = numbers.how_to_say(value)
    return ReaderError(
        f"{where}, column {column!r}: {value!r} is not {kind} as {others}; {settled}correct it, leave it empty "
        f"if it is missing, or read the column as text with categorical=[{column!r}] (--categorical {column})."
    )


class _Head:
    """The header of a CSV file and the records that follow it, as far as `limits.head_bytes` reaches."""

    def __init__(self, source: ByteSource, sep: str | None, limits: ReadLimits) -> None:
        if sep is not None and (len(sep.encode()) != 1 or sep in '"\r\n'):
            raise ParameterError(f"'sep' must be one ASCII character, not a quote. Got {sep!r} instead.")
        wanted = limits.head_bytes
        while True:
            data = source.head(wanted)
            complete = len(data) < wanted
            start = len(data) - len(data.lstrip(b"\r\n"))
            self.n_bytes = _first_record_end(data, start)
            header, body = data[start : self.n_bytes], data[self.n_bytes :]
            self.delimiter = (sep or _guess(header)).encode()
            self.sample = body if complete else body[: last_record_end(body, self.delimiter)]
            if self.sample or complete:
                break
            if wanted > limits.longest_record:
                raise ReaderError(
                    f"{source.name} has no whole line in its first {wanted:,} bytes: is it a text file? Otherwise, "
                    f"{how_to_raise('longest_record')}."
                )
            wanted = min(4 * wanted, limits.longest_record + 1)
        if not header:
            raise empty(source.name)
        refuse_long_lines(header, 1, source.name, limits.longest_record)
        first, *others = _split(_header_text(header, source.name), self.delimiter.decode(), limits)
        if others:  # they would be lost with the header
            raise ReaderError(
                f"The header of {source.name} ends with a carriage return that no line feed follows: end each line "
                "with a line feed."
            )
        if not self.sample.strip(b"\r\n"):
            raise no_rows(source.name)
        self.names = first[1]
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
        raise ReaderError(
            f"The header of {name} is not UTF-8 text: say which encoding it is with encoding= (--encoding), such as "
            "latin-1 or cp1252."
        ) from error


_field_limit = threading.Lock()  # the limit is one for the whole process: two threads would leave each other's


def _split(text: str, delimiter: str, limits: ReadLimits) -> list[tuple[int, list[str]]]:
    """The cells of each record, and how many lines come before it."""
    with _field_limit:
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
