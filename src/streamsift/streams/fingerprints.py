"""What a source is known by: enough to see that it is not the one that a checkpoint was written for."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from streamsift.core.exceptions import ReaderError
from streamsift.streams.files import reading

SAMPLE = 1 << 16  # bytes that are compared at the beginning and at the end of a file
_STARTS = (1 << 4, 1 << 8, 1 << 12, SAMPLE)  # a file that grows begins as it did, however short it was


def fingerprint(source: Any, stream: Any) -> dict[str, Any]:
    """What a source is known by; `stream` is what it was opened as, of which nothing has been read yet.

    Of a file: size, first and last bytes, and what its columns are taken for; of standard input: first bytes and
    columns; of a source without an end, what it says itself; of anything else: columns and number of rows.
    """
    if callable(known_by := getattr(stream, "known_by", None)):
        return dict(known_by())
    names = getattr(stream, "feature_names", None) or getattr(stream, "names", None)
    columns = [names, getattr(stream, "feature_kinds", None), getattr(stream, "target_name", None)]
    found: dict[str, Any] = {"columns": digest(columns)}
    if source == "-":
        first = getattr(stream, "first_bytes", None)
        return found | ({} if first is None else {"first_bytes": _starts(first(SAMPLE))})
    if isinstance(source, str | os.PathLike):
        return found | _of_file(Path(source))
    return found | {"rows": getattr(stream, "n_rows", None)}


def digest(value: Any) -> str:
    """A short text that differs for different values: texts, numbers, and lists of those."""
    return _hash(json.dumps(value, default=str).encode())


def refuse_changed(then: Any, now: dict[str, Any], name: str, checkpoint: str) -> None:
    """Raise ReaderError in a sentence where a source is not what it was when a checkpoint was written."""
    if then == now:
        return
    known = then if isinstance(then, dict) else {}
    start, start_now = known.get("first_bytes"), now.get("first_bytes")
    same_start = isinstance(start, dict) and isinstance(start_now, dict) and start.items() <= start_now.items()
    sizes = known.get("bytes"), now.get("bytes")
    if same_start and type(sizes[0]) is int and sizes[1] is not None and sizes[1] > sizes[0]:
        raise ReaderError(
            f"{name} has grown since {checkpoint} was written ({sizes[0]:,} bytes then, {sizes[1]:,} now): resume with "
            f"the file as it was, or give the new rows as a file of their own with --load {checkpoint}."
        )
    words = {"bytes": "size", "first_bytes": "first bytes", "columns": "columns", "last_bytes": "last bytes"}
    differing = next((key for key in (*words, *now) if known.get(key) != now.get(key)), "columns")
    raise ReaderError(
        f"{name} is not what it was when {checkpoint} was written, its {words.get(differing, differing)} differ: give "
        "the same data, or start again with another checkpoint."
    )


def _of_file(path: Path) -> dict[str, Any]:
    with reading(str(path)), path.open("rb") as file:
        first = file.read(SAMPLE)
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - SAMPLE, 0))
        last = file.read(SAMPLE)
    return {"bytes": size, "first_bytes": _starts(first), "last_bytes": _hash(last)}


def _starts(data: bytes) -> dict[str, str]:
    """What a text is known by that begins in this way, as far as it goes."""
    return {str(size): _hash(data[:size]) for size in _STARTS if len(data) >= size}


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
