"""Files that are complete or not there: written under a passing name in the same folder, then renamed.

The data is forced to the disk before the file gets its name, and the name after it, so that neither a full disk nor a
loss of power leaves half a file where a whole one was. A device, pipe or socket is never replaced: `/dev/null` is
written to as it is.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from streamsift.core.exceptions import ParameterError
from streamsift.core.interrupts import has_cleared, leaves_behind

PARTIAL = ".partial"
NAME_LENGTH = 50  # characters of the file's own name in the passing one, whose length systems limit


class Draft:
    """A file under its passing name; `keep` gives it its own name, `discard` removes it.

    Parameters
    ----------
    path : path
        What the file is to be called. A link stays a link: the file it points to is replaced.

    Attributes
    ----------
    path : Path
        Where to write: a new name in the same folder that ends in `.partial`, or the device itself.

    Raises
    ------
    ParameterError
        When `path` is empty or has a NUL character in it.
    OSError
        In one sentence, when `path` is a folder.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> draft = Draft(folder / "table.csv")
    >>> _ = draft.path.write_text("a,b")
    >>> draft.keep()
    >>> [path.name for path in folder.iterdir()]
    ['table.csv']
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.target = path_to_write(path)
        try:
            mode = os.stat(path).st_mode
        except OSError:  # there is no such file yet; if the folder is missing too, opening the draft says so
            mode = stat.S_IFREG
        if stat.S_ISDIR(mode):
            raise write_error(self.target, OSError(errno.EISDIR, os.strerror(errno.EISDIR)))
        self._replaces = stat.S_ISREG(mode)
        self.path = self.target
        if self._replaces:
            self.target = Path(os.path.realpath(path))
            name = f"{self.target.name[:NAME_LENGTH]}.{secrets.token_hex(4)}{PARTIAL}"
            self.path = self.target.with_name(name)
            leaves_behind(self.path)

    def keep(self) -> None:
        """Give the file, which must be closed, its own name; on failure it is removed."""
        if not self._replaces:
            return
        with self._or_nothing():
            _force_to_disk(self.path)
            os.replace(self.path, self.target)
            has_cleared(self.path)
        if os.name == "posix":  # elsewhere folders cannot be opened
            _force_to_disk(self.target.parent)

    def discard(self) -> None:
        """Remove the file, if there is one; a device stays."""
        if self._replaces:
            self.path.unlink(missing_ok=True)
            has_cleared(self.path)

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Write the draft in a `with` block, which removes it on failure."""
        with self._or_nothing(), self.path.open("wb") as file:
            yield file

    @contextmanager
    def _or_nothing(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self.discard()
            if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):  # a reader may leave a pipe
                raise write_error(self.target, error) from error
            raise


def path_to_write(path: str | os.PathLike[str]) -> Path:
    """The path of a file or folder that is to be written; ParameterError where there can be no such name.

    >>> path_to_write("")
    Traceback (most recent call last):
    ...
    streamsift.core.exceptions.ParameterError: The path to write to is empty: give the name of a file or folder.
    """
    text = os.fspath(path)
    if not text:
        raise ParameterError("The path to write to is empty: give the name of a file or folder.")
    if "\0" in text:
        raise ParameterError(f"The path {text!r} has a NUL character in it, which no name can have: leave it out.")
    return Path(text)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A binary file that takes the place of `path` when the block succeeds; otherwise nothing changes.

    Raises
    ------
    OSError
        In one sentence that names the file and the reason, when writing fails.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "table.csv"
    >>> with replacing(path) as file:
    ...     _ = file.write(b"a,b")
    ...     path.exists()
    False
    >>> path.read_text()
    'a,b'
    """
    draft = Draft(path)
    with draft.open() as file:
        yield file
    draft.keep()


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8, whole or not at all."""
    with replacing(path) as file:
        file.write(text.encode("utf-8"))


def create_text(path: str | os.PathLike[str], text: str) -> bool:
    """Write a text file that is not there yet, whole or not at all; False, and nothing changes, where it is.

    Of several processes that do so at the same time one succeeds.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "who.txt"
    >>> create_text(path, "me"), create_text(path, "no, me"), path.read_text()
    (True, False, 'me')
    """
    draft = Draft(path)
    try:
        with draft.open() as file:
            file.write(text.encode("utf-8"))
        _force_to_disk(draft.path)
        return create_link(draft.target, draft.path)
    finally:
        draft.discard()


def create_link(path: Path, existing: Path) -> bool:
    """Give a file a second name in the same folder; False, and nothing changes, where that name is in use.

    The two stay the same until one of them is replaced, which leaves the other as it is.
    """
    try:
        os.link(existing, path)
    except (FileExistsError, FileNotFoundError) as error:
        if isinstance(error, FileExistsError):
            return False
        raise
    except OSError as error:
        raise OSError(
            f"The folder {str(path.parent)!r} cannot be shared by several processes: its file system has no hard links "
            f"({reason(error)}); choose another folder."
        ) from error
    if os.name == "posix":
        _force_to_disk(path.parent)
    return True


def write_error(path: Path, error: OSError) -> OSError:
    """The error as one sentence that names the file and the reason.

    >>> write_error(Path("table.csv"), OSError(28, "No space left on device"))
    OSError("The file 'table.csv' cannot be written: no space left on device.")
    """
    said = OSError(f"The file {str(path)!r} cannot be written: {reason(error)}.")
    said.errno = error.errno
    return said


def reason(error: OSError) -> str:
    """Why the file system refused, as the end of a sentence.

    >>> reason(FileNotFoundError(2, "No such file or directory", "people.csv"))
    'no such file or directory'
    """
    text = os.strerror(error.errno) if error.errno else str(error)  # strerror of pyarrow's errors is a paragraph
    return text[:1].lower() + text[1:].rstrip(".")


def _force_to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
