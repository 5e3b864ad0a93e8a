"""open_stream: one function for every source of rows. The table of file formats stands here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any, cast

from streamsift.core.exceptions import ParameterError, ReaderError
from streamsift.core.tables import are_dicts, is_frame, is_structured, is_table
from streamsift.streams.arrays import ArrayStream, FrameStream
from streamsift.streams.blocks import BlockStream
from streamsift.streams.files import COMPRESSIONS, ByteSource, ReadLimits, check_file
from streamsift.streams.iterables import IterableStream
from streamsift.streams.stream import RowStream
from streamsift.streams.table import refuse_ignored_target
from streamsift.streams.unbounded import Unbounded, is_unbounded


@dataclass(frozen=True)
class Format:
    """How a kind of file is read: the reader, its options, and whether it may be compressed as a whole."""

    reader: str
    options: tuple[str, ...]
    is_text: bool


_TABLE = ("categorical", "ignore")
_LIMITS = ("limits",)
_CSV = Format(
    "streamsift.streams.csv:CsvStream", ("sep", "decimal", "thousands", "na", *_TABLE, *_LIMITS), is_text=True
)
_JSON_LINES = Format("streamsift.streams.json_lines:JsonLinesStream", (*_TABLE, *_LIMITS), is_text=True)
_ARFF = Format("streamsift.streams.arff:ArffStream", ("ignore", *_LIMITS), is_text=True)
_LIBSVM = Format("streamsift.streams.libsvm:LibsvmStream", ("zero_based", "n_features", *_LIMITS), is_text=True)
_PARQUET = Format("streamsift.streams.parquet:open_parquet", ("n_features", *_TABLE, *_LIMITS), is_text=False)
_IPC = Format("streamsift.streams.ipc:IpcStream", (*_TABLE, *_LIMITS), is_text=False)
_NPZ = Format("streamsift.streams.npz:NpzStream", _LIMITS, is_text=False)

# How a file is to be read; each is an option of the command line, too.
READING = ("sep", "decimal", "thousands", "na", "encoding", "categorical", "ignore", "unlabelled", "limits")

FORMATS = {
    ".csv": _CSV,
    ".tsv": _CSV,
    ".txt": _CSV,
    ".jsonl": _JSON_LINES,
    ".ndjson": _JSON_LINES,
    ".arff": _ARFF,
    ".libsvm": _LIBSVM,
    ".svm": _LIBSVM,
    ".svmlight": _LIBSVM,
    ".parquet": _PARQUET,
    ".arrow": _IPC,
    ".feather": _IPC,
    ".ipc": _IPC,
    ".npz": _NPZ,
}


def open_stream(
    source: Any,
    target: str | None = None,
    *,
    sep: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    na: Sequence[str] = (),
    encoding: str | None = None,
    categorical: Sequence[str] = (),
    ignore: Sequence[str] = (),
    unlabelled: str = "error",
    task: str = "auto",
    zero_based: bool | None = None,
    n_features: int | None = None,
    limits: ReadLimits | Mapping[str, int] | None = None,
) -> RowStream:
    """Open a file, a pair of arrays, a frame or an iterable as a stream of rows.

    Memory is bounded by a batch, never by the file; for an Arrow file, by the largest of its record batches.

    Parameters
    ----------
    source : path, "-", address, (X, y), frame or iterable
        The suffix of a path names the format: .csv, .tsv, .txt, .jsonl, .ndjson, .arff, .libsvm, .svm, .svmlight (each
        also .gz or .zst), .parquet, .arrow, .feather, .ipc, .npz. "-" is CSV from standard input. An address is
        `tail:PATH`, `redis://host:port/stream` or `kafka://broker:port/topic`: rows without an end, which are waited
        for; `Unbounded` says when to stop. A frame is a pandas
        or polars DataFrame, a pyarrow Table, a structured numpy array or a list of dicts that holds the target. An
        iterable gives pairs (X, y) of batches or of single rows, which may be dicts; or dicts that hold the target.
    target : str, optional
        The column with the labels. Tables need it; ARFF has a default (the attribute `class`, else the last); sources
        that carry labels of their own take it as a name for them.
    sep : str, optional
        What separates the cells of a CSV file; by default the most frequent of comma, semicolon, tab and bar in the
        header, tab for .tsv.
    decimal : "." or ",", optional
        What stands before the fraction of a number in a CSV file. By default it is found out where that is safe, and
        said in a `ReadingNotice`.
    thousands : str, optional
        What stands between the thousands, such as ",", "." or " ". By default it is found out where that is safe.
    na : sequence of str
        Further words for missing values in a CSV file, beside the empty cell, NA, N/A, NaN, null and, among numbers,
        "-", "?" and some more.
    encoding : str, optional
        Of a text file, such as "latin-1"; by default UTF-8, or what the byte order mark at the start of a file says.
    categorical : sequence of str
        Columns to read as categories although they look like numbers.
    ignore : sequence of str
        Columns to leave out.
    unlabelled : "error", "skip" or "keep"
        What to do about rows of a table without a label; with "skip" a `ReadingNotice` says how many there were, with
        "keep" their label is None, and a row selector leaves them out or, where it uses no labels, learns them.
    task : "auto", "classification" or "regression"
        "regression" gives labels as floats and refuses what is no number, with its place. The others give them as they
        stand in the source; `streamsift.streams.find_task` says whether they look like classes or like numbers.
    zero_based : bool, optional
        Whether the indices of a LIBSVM file begin at 0; by default they do if a 0 occurs in the first MiB.
    n_features : int, optional
        The number of features of a LIBSVM file, by default batches widen with the largest index seen; or of the sparse
        rows of a Parquet file (columns `indices` and `values`), which by default says so itself.
    limits : ReadLimits or dict, optional
        What is too much for a file: long lines, fields and names, many columns, large indices. The defaults are beyond
        ordinary data and keep a file made to exhaust memory from doing so. A dict, such as {"most_index": 10**9},
        changes the limits it names.

    Returns
    -------
    RowStream

    Examples
    --------
    >>> import numpy as np
    >>> stream = open_stream((np.arange(10.0).reshape(5, 2), ["a", "b", "a", "a", "b"]))
    >>> [batch.n_rows for batch in stream.batches(2)]
    [2, 2, 1]
    """
    for name, what, values in (
        ("categorical", "columns", categorical),
        ("ignore", "columns", ignore),
        ("na", "words", na),
    ):
        if isinstance(values, str):
            raise ParameterError(f"{name!r} is a list of {what}: write {name}=[{values!r}].")
    if unlabelled not in ("error", "skip", "keep"):
        raise ParameterError(f"'unlabelled' must be 'error', 'skip' or 'keep'. Got {unlabelled!r} instead.")
    if task not in ("auto", "classification", "regression"):
        raise ParameterError(f"'task' must be 'auto', 'classification' or 'regression'. Got {task!r} instead.")
    refuse_ignored_target(target, ignore)
    given: dict[str, Any] = {
        "sep": sep,
        "decimal": decimal,
        "thousands": thousands,
        "na": tuple(na),
        "encoding": encoding,
        "categorical": tuple(categorical),
        "ignore": tuple(ignore),
        "zero_based": zero_based,
        "n_features": n_features,
        "limits": limits,
    }
    options = {name: value for name, value in given.items() if value is not None and value != ()}
    return settled(_opened(source, target, options), unlabelled, task)


def settled(stream: RowStream, unlabelled: str, task: str) -> RowStream:
    """A stream that has been told what to do about rows without a label, and whether labels are numbers."""
    if task == "regression":
        assert isinstance(stream, BlockStream)  # as all that can be opened
        stream.numeric_target = True
    if unlabelled == "skip":
        if not isinstance(stream, BlockStream):
            raise ParameterError("The option unlabelled='skip' (--skip-unlabelled) does not apply to this source.")
        stream.skip_unlabelled()
    if unlabelled == "keep" and not (isinstance(stream, BlockStream) and stream.keep_unlabelled()):
        raise ParameterError("The option unlabelled='keep' needs a table with a target column.")
    return stream


def _opened(source: Any, target: str | None, options: dict[str, Any]) -> RowStream:
    if is_unbounded(source):
        _check_options(options, ("sep", *_TABLE), "a source without an end")
        return (Unbounded(source) if isinstance(source, str) else cast(Unbounded, source)).open(target, **options)
    if isinstance(source, str | os.PathLike):
        return _open_path(source, target, options)
    if is_frame(source) or is_structured(source) or (are_dicts(source) and target is not None):
        _check_options(options, _TABLE, "a frame")
        return FrameStream(source, target, **options)
    if isinstance(source, tuple) and len(source) == 2:
        X, y = source
        if is_table(X):
            _check_options(options, _TABLE, "a frame")
            return FrameStream(X, target, y=y, **options)
        _check_options(options, (), "a pair of arrays")
        return ArrayStream(X, y, target)
    if isinstance(source, Iterable):
        _check_options(options, (), "an iterable")
        return IterableStream(source, target)
    raise ParameterError(
        f"open_stream reads a path, a pair (X, y), a frame or an iterable of pairs (X, y), "
        f"not a {type(source).__name__}."
    )


def as_stream(source: Any, target: str | None = None, **options: Any) -> RowStream:
    """Whatever a user has as a stream: one that is a stream already is passed through, all else is opened.

    Examples
    --------
    >>> import numpy as np
    >>> rows = as_stream((np.zeros((3, 2)), [0, 1, 0]))
    >>> as_stream(rows) is rows
    True
    """
    if callable(getattr(source, "batches", None)):
        return cast(RowStream, source)
    return open_stream(source, target, **options)


def _open_path(source: str | os.PathLike[str], target: str | None, options: dict[str, Any]) -> RowStream:
    if source == "-":
        return _read(_CSV, None, target, options, "CSV")
    path = Path(source)
    check_file(path)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = bool(suffixes) and suffixes[-1] in COMPRESSIONS
    suffix = "".join(suffixes[-2:-1] if compressed else suffixes[-1:])
    file_format = FORMATS.get(suffix)
    if file_format is None or (compressed and not file_format.is_text):
        texts = ", ".join(known for known, entry in FORMATS.items() if entry.is_text)
        others = ", ".join(known for known, entry in FORMATS.items() if not entry.is_text)
        raise ReaderError(
            f"{path} has no suffix that names its format: known are {texts} (each also with "
            f"{' or '.join(COMPRESSIONS)} behind it) and {others}."
        )
    if suffix == ".tsv":
        options = {"sep": "\t"} | options
    return _read(file_format, path, target, options, f"{suffix} files")


def _read(entry: Format, path: Path | None, target: str | None, options: dict[str, Any], what: str) -> RowStream:
    _check_options(options, (*entry.options, "encoding") if entry.is_text else entry.options, what)
    module, _, name = entry.reader.partition(":")
    given = {option: value for option, value in options.items() if option != "encoding"}
    source = ByteSource(path, options.get("encoding")) if entry.is_text else path
    reader = getattr(import_module(module), name)
    if isinstance(limits := options.get("limits"), Mapping):
        given["limits"] = signature(reader).parameters["limits"].default.changed(limits)  # each has its own
    return cast(RowStream, reader(source, target, **given))


def _check_options(options: dict[str, Any], known: tuple[str, ...], what: str) -> None:
    for name in options:
        if name not in known:
            offered = f"only {', '.join(known)} do" if known else "no option does"
            raise ParameterError(f"The option {name} does not apply to {what}: {offered}.")
