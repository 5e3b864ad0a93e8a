"""The header of an ARFF file: its attributes, and how their values are written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from streamsift.core.exceptions import ReaderError
from streamsift.streams.files import READ_LIMITS, ByteSource, ReadLimits, empty, how_to_raise, no_rows
from streamsift.streams.table import unique_names

_TEXT = r"""'(?:[^'\\]++|\\.)*+'|"(?:[^"\\]++|\\.)*+\""""
VALUE = rf"""({_TEXT}|(?!['"])[^,]*?)\s*(?:,|$)"""
_VALUE = re.compile(rf"\s*{VALUE}")
_ATTRIBUTE = re.compile(rf"@attribute\s+({_TEXT}|[^\s{{]+)\s*(.*)", re.IGNORECASE)
_DATA = re.compile(rb"^[ \t]*@data[^\n]*\n", re.IGNORECASE | re.MULTILINE)
_FIRST_ROW = re.compile(rb"^[ \t]*([^%\s])[^\n]*(\n|\Z)", re.MULTILINE)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}

# Letters of Java's SimpleDateFormat -> strptime
_DATE_PARTS = {
    "y": "%Y", "yy": "%y", "yyyy": "%Y", "M": "%m", "MM": "%m", "MMM": "%b", "MMMM": "%B", "d": "%d", "dd": "%d",
    "H": "%H", "HH": "%H", "h": "%I", "hh": "%I", "m": "%M", "mm": "%M", "s": "%S", "ss": "%S", "S": "%f", "SSS": "%f",
    "a": "%p", "E": "%a", "EEE": "%a", "EEEE": "%A", "Z": "%z", "X": "%z", "XXX": "%z",
}  # fmt: skip
_DATE_TOKEN = re.compile(r"'([^']*)'|(([A-Za-z])\3*)|([^A-Za-z']+)")
_DEFAULT_DATE = "yyyy-MM-dd'T'HH:mm:ss"


@dataclass(frozen=True)
class Attribute:
    """One declared attribute."""

    name: str
    kind: str  # "number", "nominal", "string" or "date"
    values: tuple[str, ...] = ()
    date_format: str = ""

    def number(self, text: str) -> float:
        """The number a text of a number or date attribute stands for; ValueError where it stands for none."""
        if self.kind == "number":
            return float(text)
        moment = datetime.strptime(text, self.date_format)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


@dataclass(frozen=True)
class Header:
    """The attributes, the extent of the header, and whether the first row is a sparse one."""

    attributes: tuple[Attribute, ...]
    n_bytes: int
    n_lines: int
    sparse: bool


def read_header(source: ByteSource, limits: ReadLimits = READ_LIMITS) -> Header:
    """Read up to the first row."""
    wanted = limits.head_bytes
    while True:
        data = source.head(wanted)
        end = _DATA.search(data)
        first = _FIRST_ROW.search(data, end.end()) if end else None
        if first is not None or len(data) < wanted:
            break
        if wanted > limits.longest_record:
            raise ReaderError(f"{source.name} has no @data line in its first {wanted >> 20} MiB: is it an ARFF file?")
        wanted = min(4 * wanted, limits.longest_record + 1)
    if not data.strip():
        raise empty(source.name)
    if end is None:
        if data.rstrip().lower().endswith(b"@data"):
            raise no_rows(source.name)
        raise ReaderError(f"{source.name} has no @data line: is it an ARFF file?")
    attributes = _attributes(data[: end.start()], source.name, limits)
    if not attributes:
        raise ReaderError(f"{source.name} declares no attributes before its @data line: is it an ARFF file?")
    if first is None:
        raise no_rows(source.name)
    return Header(attributes, end.end(), data.count(b"\n", 0, end.end()), first[1] == b"{")


def split_values(text: str, limits: ReadLimits = READ_LIMITS) -> list[str | None]:
    """The values of a comma-separated list; a bare `?` is None.

    >>> split_values("1.5, 'a, b', ?, '?'")
    ['1.5', 'a, b', None, '?']
    """
    values: list[str | None] = []
    if "'" not in text and '"' not in text and text.count(",") < limits.most_columns:
        bare = [value.strip() for value in text.split(",")]  # many times faster
        if max(map(len, bare)) <= limits.longest_field:
            return [None if value == "?" else value for value in bare]
    place, n = 0, len(text)
    while True:
        found = _VALUE.match(text, place)
        if found is None:
            raise ValueError(f"a quote or a comma is missing near {text[place : place + 20].strip()!r}")
        if len(found[1]) > limits.longest_field:
            raise ValueError(
                f"a value has {len(found[1]):,} characters, more than the {limits.longest_field:,} allowed "
                f"({how_to_raise('longest_field')})"
            )
        if len(values) >= limits.most_columns:
            raise ValueError(
                f"there are more than the {limits.most_columns:,} values allowed ({how_to_raise('most_columns')})"
            )
        values.append(bare_value(found[1]))
        place = found.end()
        if place >= n and not found[0].endswith(","):
            return values


def bare_value(text: str) -> str | None:
    """A value without its quotes; a bare `?` is None."""
    if text[:1] in ("'", '"') and len(text) > 1:
        return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text[1:-1])
    return None if text == "?" else text


def _attributes(header: bytes, source: str, limits: ReadLimits) -> tuple[Attribute, ...]:
    try:
        lines = header.decode().split("\n")
    except UnicodeDecodeError as error:
        raise ReaderError(f"The header of {source} is not UTF-8 text: convert the file to UTF-8.") from error
    found = []
    for number, line in enumerate((line.strip() for line in lines), start=1):
        if not line or line.startswith("%") or line.lower().startswith("@relation"):
            continue
        match = _ATTRIBUTE.match(line)
        if match is None:
            raise ReaderError(
                f"Line {number} of {source} is neither @relation, @attribute, @data nor a % comment: {line!r}."
            )
        found.append(_attribute(bare_value(match[1]) or "?", match[2].strip(), f"Line {number} of {source}", limits))
        if len(found) > limits.most_columns:
            raise ReaderError(
                f"{source} declares more than the {limits.most_columns:,} attributes allowed: "
                f"{how_to_raise('most_columns')}."
            )
    unique_names([attribute.name for attribute in found], source, limits)
    return tuple(found)


def _attribute(name: str, declared: str, where: str, limits: ReadLimits) -> Attribute:
    word = declared.partition(" ")[0].lower()
    if declared.startswith("{") and declared.rstrip().endswith("}"):
        try:
            values = split_values(declared.strip()[1:-1], limits)
        except ValueError as error:
            raise ReaderError(f"{where}, attribute {name!r}: {error}; separate the values with commas.") from error
        return Attribute(name, "nominal", tuple("?" if value is None else value for value in values))
    if word in ("numeric", "real", "integer"):
        return Attribute(name, "number")
    if word == "string":
        return Attribute(name, "string")
    if word == "date":
        return Attribute(name, "date", date_format=_date_format(declared[4:].strip(), where))
    raise ReaderError(
        f"{where}, attribute {name!r}: {declared!r} is no type known here; "
        "declare numeric, real, integer, string, date or {value, value, ...}."
    )


def _date_format(declared: str, where: str) -> str:
    parts: Sequence[tuple[str, ...]] = _DATE_TOKEN.findall(
        (bare_value(declared) if declared else None) or _DEFAULT_DATE
    )
    result = ""
    for literal, letters, _, other in parts:
        if letters and letters not in _DATE_PARTS:
            raise ReaderError(f"{where}: the date format {declared} has {letters!r}, which is not supported here.")
        if letters and _DATE_PARTS[letters] in result.replace("%%", ""):
            raise ReaderError(f"{where}: the date format {declared} has {letters!r} twice; name each part once.")
        result += _DATE_PARTS[letters] if letters else (literal or other).replace("%", "%%")
    return result
