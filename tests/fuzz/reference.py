"""What other parsers read from the same bytes: an accepted file must hold the values that they find.

| format | reference |
|---|---|
| CSV, also compressed | Python's csv, float and datetime; Python's gzip, pyarrow's zstd |
| JSON Lines | Python's json |
| LIBSVM | scikit-learn's load_svmlight_file, on the whole file at once |
| ARFF | scipy.io.arff: only dense files without texts |
| Parquet, Arrow | pyarrow, on the whole file at once, as Python values |
| .npz | numpy.load, scipy's csr_matrix |

A reference that refuses what was accepted counts as a difference, too; only what scipy does not take of ARFF is not
compared: `compare` then returns False.
"""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse
from scipy.io import arff
from sklearn.datasets import load_svmlight_file

from streamsift.core.batch import Batch
from streamsift.streams.numbers import MISSING, MISSING_NUMBER
from tests.fuzz.forked import DifferenceError

Table = tuple[dict[str, Sequence[Any]], Sequence[Any]]  # cells by column, and labels

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_UNITS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
_MOST_CELLS = 10**6


def compare(suffix: str, path: Path, stream: Any, batches: list[Batch]) -> bool:
    """Raise DifferenceError where a reference finds other values; False: there is no reference for this file."""
    if suffix == ".npz" and not path.read_bytes().startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return False  # a zip archive is read from its end and may have anything in front, but numpy looks there
    if suffix in (".npz", ".libsvm"):
        return _compare_matrix(_npz(path) if suffix == ".npz" else _libsvm(path), batches)
    table = _TABLES[suffix](path, stream)
    if table is None:
        return False
    cells, labels = table
    ours = np.vstack([_dense(batch.X) for batch in batches])
    our_labels = [label for batch in batches for label in np.asarray(batch.y).tolist()]
    if len(our_labels) != len(labels):
        raise DifferenceError(f"{len(our_labels)} rows where the reference has {len(labels)}")
    for row, (label, cell) in enumerate(zip(our_labels, labels, strict=True)):
        if not _same_label(label, cell):
            raise DifferenceError(f"label {label!r} of row {row} where the reference has {cell!r}")
    kinds = stream.feature_kinds or ("number",) * ours.shape[1]
    for place, (name, kind) in enumerate(zip(stream.feature_names, kinds, strict=True)):
        names = stream.categories.get(name, ())
        for row, cell in enumerate(_column(cells, name, kind)):
            value = float(ours[row, place])
            if not _same(value, cell, kind, names):
                raise DifferenceError(f"{value!r} ({kind} {name!r}, row {row}) where the reference has {cell!r}")
    return True


@contextmanager
def _said_by(whom: str) -> Iterator[None]:
    """A reference that refuses what was accepted has found a difference, too."""
    try:
        yield
    except (ValueError, OSError, KeyError) as error:
        raise DifferenceError(f"accepted where {whom} says: {error}") from error


def _dense(X: Any) -> Any:
    return X.toarray() if sparse.issparse(X) else X


def _column(cells: dict[str, Sequence[Any]], name: str, kind: str) -> Sequence[Any]:
    if kind != "list":
        return cells[name]
    column, _, place = name.rpartition("[")
    return [None if row is None else row[int(place[:-1])] for row in cells[column]]


class Unread(str):
    """A number of a CSV file that is written in a form of its own, which no reference knows."""


def _same(value: float, cell: Any, kind: str, categories: tuple[str, ...]) -> bool:
    if isinstance(cell, Unread):
        return not math.isnan(value)
    if cell is None or kind == "null":
        return math.isnan(value)
    if kind == "category":
        return not math.isnan(value) and categories[int(value)] == _text(cell)
    wanted = float(cell)
    # What fits into float32 is kept as such.
    return value in (wanted, float(np.float32(wanted))) or (math.isnan(value) and math.isnan(wanted))


def _text(cell: Any) -> str:
    if isinstance(cell, bytes):  # text that is not marked as such
        return cell.decode()
    return {True: "true", False: "false"}[cell] if isinstance(cell, bool) else str(cell)


def _same_label(label: Any, cell: Any) -> bool:
    if isinstance(cell, Unread):
        return True
    if isinstance(label, bool):
        return label == cell or str(cell).strip().lower() in (("true", "1") if label else ("false", "0"))
    if isinstance(label, int | float):
        return label == cell or float(cell) == float(label)
    return bool(label == _text(cell))


# -- text ---------------------------------------------------------------------------------------------------------


def _bytes(path: Path) -> bytes:
    data = path.read_bytes()
    if path.suffix == ".gz":
        try:
            return gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise DifferenceError(f"accepted where gzip says: {error}") from error
    if path.suffix == ".zst":
        return bytes(pa.CompressedInputStream(pa.BufferReader(data), "zstd").read())
    return data


def _decoded(path: Path) -> str:
    data = _bytes(path)
    for mark, encoding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig")):
        if data.startswith(mark):
            return data.decode(encoding)
    return data.decode()


def _csv(path: Path, stream: Any) -> Table | None:
    text = _decoded(path).lstrip("\r\n")
    delimiter = stream._head.delimiter.decode()
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    header, *body = rows
    wrong = [row for row in body if len(row) != len(header)]
    if wrong:
        raise DifferenceError(f"accepted where a row has other columns than the header: {wrong[0]}")
    columns = dict(zip(header, zip(*body, strict=True), strict=True))
    target = stream.target_name
    labels: list[Any] = [Unread(label) if target in stream._forms else label for label in columns.pop(target)]
    kinds = dict(zip(stream.feature_names, stream.feature_kinds, strict=True))
    read: dict[str, Callable[[str], Any]] = {"category": _category, "seconds": _moment}
    cells: dict[str, Sequence[Any]] = {}
    for name, texts in columns.items():
        if name in stream._forms:
            cells[name] = [_loose_number(text) for text in texts]
        else:
            cells[name] = [read.get(kinds[name], _number)(text) for text in texts]
        if kinds[name] == "category" and {"true", "false"} & set(stream.categories[name]):
            cells[name] = [text.lower() if text in ("True", "TRUE", "False", "FALSE") else text for text in cells[name]]
    return cells, labels


def _category(text: str) -> str | None:
    return None if text in MISSING else text


def _number(text: str) -> float | None:
    return None if text in MISSING + MISSING_NUMBER else float(text)


def _loose_number(text: str) -> float | str | None:
    try:
        return _number(text)
    except ValueError:
        return Unread(text)


def _moment(text: str) -> float | str | None:
    """Seconds since 1970, or since midnight."""
    if text in MISSING + MISSING_NUMBER:
        return None
    try:
        if ":" in text and "-" not in text:
            time = datetime.time.fromisoformat(text.strip())
            return time.hour * 3600.0 + time.minute * 60.0 + time.second + time.microsecond / 1e6
        moment = datetime.datetime.fromisoformat(text.strip())
    except ValueError:
        return Unread(text)  # years beyond 9999, nanoseconds
    return (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).__sub__(_EPOCH).total_seconds()


def _json_lines(path: Path, stream: Any) -> Table | None:
    with _said_by("json"):
        rows = [json.loads(line) for line in _decoded(path).split("\n") if line.strip()]
    kinds = dict(zip(stream.feature_names, stream.feature_kinds, strict=True))
    names = {name.rpartition("[")[0] if kind == "list" else name for name, kind in kinds.items()}
    cells = {name: [row.get(name) for row in rows] for name in names}
    for name, kind in kinds.items():
        if kind == "seconds":
            cells[name] = [None if text is None else _moment(text) for text in cells[name]]
    return cells, [row.get(stream.target_name) for row in rows]


def _arff(path: Path, stream: Any) -> Table | None:
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            rows, meta = arff.loadarff(file)
    except Exception:  # noqa: BLE001 - whatever scipy does not take: texts, sparse rows, quotes, other dates
        return None
    cells: dict[str, Sequence[Any]] = {}
    for name, kind in zip(meta.names(), meta.types(), strict=True):
        column = rows[name]
        if kind == "nominal":
            cells[name] = [None if text == b"?" else text.decode() for text in column.tolist()]
        elif kind == "date":
            cells[name] = (column.astype("M8[ms]").astype(np.float64) / 1e3).tolist()
        else:
            cells[name] = column.tolist()
    return cells, cells.pop(stream.target_name)


# -- Arrow --------------------------------------------------------------------------------------------------------


def _parquet(path: Path, stream: Any) -> Table | None:
    with _said_by("pyarrow"):
        return _arrow_table(pq.read_table(path, memory_map=False), stream)


def _ipc(path: Path, stream: Any) -> Table | None:
    data = path.read_bytes()
    opened = pa.ipc.open_file if data.startswith(b"ARROW1") else pa.ipc.open_stream
    with _said_by("pyarrow"), opened(pa.BufferReader(data)) as reader:
        return _arrow_table(reader.read_all(), stream)


def _arrow_table(table: Any, stream: Any) -> Table:
    table.validate(full=True)
    cells = {name: _cells(table.column(name).combine_chunks()) for name in table.schema.names}
    return cells, cells.pop(stream.target_name)


def _cells(column: Any) -> list[Any]:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if not pa.types.is_temporal(kind):
        found: list[Any] = column.to_pylist()
        return found
    if pa.types.is_date32(kind):
        return [None if days is None else days * 86_400.0 for days in column.cast(pa.int32()).to_pylist()]
    unit = "ms" if pa.types.is_date64(kind) else kind.unit
    ticks = column.cast(pa.int32() if pa.types.is_time32(kind) else pa.int64()).to_pylist()
    return [None if tick is None else tick / _UNITS[unit] for tick in ticks]


# -- matrices -----------------------------------------------------------------------------------------------------


def _libsvm(path: Path) -> tuple[Any, Any]:
    with _said_by("scikit-learn"):
        X, y = load_svmlight_file(io.BytesIO(path.read_bytes()), zero_based="auto")
    return X, y


def _npz(path: Path) -> tuple[Any, Any]:
    with _said_by("numpy"), np.load(path, allow_pickle=False) as archive:
        if "X" in archive:
            return archive["X"], archive["y"]
        parts = (archive["data"], archive["indices"], archive["indptr"])
        return sparse.csr_matrix(parts, shape=tuple(archive["shape"].tolist())), archive["y"]


def _compare_matrix(wanted: tuple[Any, Any], batches: list[Batch]) -> bool:
    X, y = wanted
    if y.tolist() != [label for batch in batches for label in np.asarray(batch.y).tolist()]:
        raise DifferenceError("other labels than the reference has")
    width = max(X.shape[1], *(batch.X.shape[1] for batch in batches))
    if len(y) * width > _MOST_CELLS:
        return False
    first = 0
    for batch in batches:
        ours, theirs = _dense(batch.X), _dense(X[first : first + batch.n_rows])
        first += batch.n_rows
        for matrix in (ours[:, theirs.shape[1] :], theirs[:, ours.shape[1] :]):
            if matrix.any():
                raise DifferenceError("values in columns that the reference does not have")
        n_columns = min(ours.shape[1], theirs.shape[1])
        if not np.array_equal(ours[:, :n_columns], theirs[:, :n_columns].astype(ours.dtype), equal_nan=True):
            raise DifferenceError(f"other values than the reference has in rows {first - batch.n_rows} to {first - 1}")
    return True


_TABLES: dict[str, Callable[[Path, Any], Table | None]] = {
    ".csv": _csv,
    ".csv.gz": _csv,
    ".csv.zst": _csv,
    ".jsonl": _json_lines,
    ".arff": _arff,
    ".parquet": _parquet,
    ".arrow": _ipc,
}
