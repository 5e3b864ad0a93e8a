"""Checksums inside a zip file: the SHA-256 of every member, in a last member that `sha256sum --check` understands."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from streamsift.core.exceptions import SavedStateError

CHECKSUMS = "SHA256SUMS"
_PIECE = 1 << 20  # bytes that are hashed at a time


def json_digest(found: Mapping[str, Any]) -> str:
    """The SHA-256 of what a JSON object holds, however it is written down; its own member "sha256" does not count.

    >>> json_digest({"a": 1, "b": [0.1]}) == json_digest({"b": [0.1], "a": 1, "sha256": "?"})
    True
    """
    rest = {name: value for name, value in found.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


class SummedArchive:
    """Writes the members of an archive, and at last their checksums.

    Examples
    --------
    >>> import io
    >>> with zipfile.ZipFile(io.BytesIO(), "w") as archive:
    ...     summed = SummedArchive(archive)
    ...     with summed.member(zipfile.ZipInfo("a.txt")) as entry:
    ...         _ = entry.write(b"abc")
    ...     summed.finish(zipfile.ZipInfo(CHECKSUMS))
    ...     archive.namelist()
    ['a.txt', 'SHA256SUMS']
    """

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._lines: list[str] = []

    @contextmanager
    def member(self, info: zipfile.ZipInfo, *, large: bool = True) -> Iterator[Summed]:
        """A member to be written in a `with` block; one that is never large has a shorter header."""
        with self._archive.open(info, "w", force_zip64=large) as entry:
            summed = Summed(entry)
            yield summed
        self._lines.append(f"{summed.sum.hexdigest()}  {info.filename}\n")

    def finish(self, info: zipfile.ZipInfo) -> None:
        """Write the checksums."""
        self._archive.writestr(info, "".join(self._lines))


def onwards(file: IO[bytes]) -> Any:
    """A file that an archive is written to; a device is only written to: it would answer 0 when asked how far it is.

    Examples
    --------
    >>> with open(os.devnull, "wb") as file:
    ...     hasattr(onwards(file), "tell")
    False
    """
    return file if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else _Onwards(file)


class _Onwards:
    """A file without a position."""

    def __init__(self, file: IO[bytes]) -> None:
        self.write, self.flush = file.write, file.flush


class Summed:
    """A file that is hashed while it is written."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.sum = file, hashlib.sha256()

    def write(self, data: bytes) -> int:
        """Write bytes, as a file does."""
        self.sum.update(data)
        return self._file.write(data)


def refuse_other_checksums(archive: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo], path: Path) -> None:
    """Raise SavedStateError unless every member, and no other, has the checksum that is written for it."""
    if CHECKSUMS not in members:
        raise SavedStateError(f"{path} is damaged: it has no {CHECKSUMS}.")
    lines = archive.read(members[CHECKSUMS]).decode().splitlines()
    wanted = {name: checksum for checksum, _, name in (line.partition("  ") for line in lines)}
    for name, info in members.items():
        if name == CHECKSUMS:
            continue
        checksum = hashlib.sha256()
        with archive.open(info) as entry:
            while piece := entry.read(_PIECE):
                checksum.update(piece)
        if wanted.pop(name, None) != checksum.hexdigest():
            raise SavedStateError(f"{path} is damaged: {name} in it does not have the checksum of its {CHECKSUMS}.")
    if wanted:
        raise SavedStateError(f"{path} is damaged: {min(wanted)} is missing.")
