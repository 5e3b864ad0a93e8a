"""FolderLock: one run at a time writes to a folder.

The lock is the system's (flock on a file in the folder), so that it ends with the process that holds it, however that
ends; the file says which process it is, and is removed with the lock.
"""

from __future__ import annotations

import errno
import os
import re
import warnings
from pathlib import Path
from types import TracebackType
from typing import Self

from streamsift.core.atomic import NAME_LENGTH, PARTIAL, reason, write_error
from streamsift.core.exceptions import ParameterError, StreamsiftWarning
from streamsift.core.interrupts import has_cleared, leaves_behind

NAME = ".streamsift-lock"
_PARTIAL_NAME = re.compile(rf".*\.[0-9a-f]{{8}}{re.escape(PARTIAL)}")
_DRAFT_END = re.compile(rf"\.[0-9a-f]{{8}}{re.escape(PARTIAL)}")
_TAKEN = (errno.EAGAIN, errno.EACCES)


class FolderLock:
    """Holds a folder in a `with` block.

    Parameters
    ----------
    folder : path
        An existing folder.
    clears : bool
        Whether what dead runs have left half written, in the folder and in those in it, is removed. For folders that
        belong to a run.

    Raises
    ------
    ParameterError
        When another run holds it; the sentence names the process.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with FolderLock(folder):
    ...     print(os.listdir(folder))
    ['.streamsift-lock']
    >>> os.listdir(folder)
    []
    """

    def __init__(self, folder: str | os.PathLike[str], *, clears: bool = True) -> None:
        self.folder, self._clears = Path(folder), clears
        self._path = self.folder / NAME
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        try:
            self._descriptor = self._take()
        except OSError as error:
            if error.errno in (errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK):  # some network file systems; Windows
                words = f"The folder {str(self.folder)!r} cannot be locked ({reason(error)})"
                warnings.warn(f"{words}: start no second run that writes to it.", StreamsiftWarning, stacklevel=2)
                return self
            raise write_error(self._path, error) from error
        leaves_behind(self._path)
        if self._clears:
            self._clear()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            self._path.unlink(missing_ok=True)  # while it is held: whoever waits for the next file finds a new one
            os.close(descriptor)
            has_cleared(self._path)

    def _take(self) -> int:
        try:
            import fcntl
        except ImportError:
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS)) from None
        while True:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _same_file(descriptor, self._path):
                    os.ftruncate(descriptor, 0)
                    os.write(descriptor, f"{os.getpid()}\n".encode())
                    return descriptor
            except OSError as error:
                holder = _read_pid(descriptor)
                os.close(descriptor)
                if error.errno in _TAKEN:
                    raise self._in_use(holder) from None
                raise
            os.close(descriptor)  # the holder has removed it just now: try with the new one

    def _in_use(self, holder: str) -> ParameterError:
        return ParameterError(
            f"The folder {str(self.folder)!r} is being written to by {holder}: wait until it has ended, or give "
            "another folder."
        )

    def _clear(self) -> None:
        for path in [*self.folder.glob(f"*{PARTIAL}"), *self.folder.glob(f"*/*{PARTIAL}")]:
            if _PARTIAL_NAME.fullmatch(path.name) and path.is_file():
                path.unlink(missing_ok=True)


class FileLock(FolderLock):
    """Holds a single file that a run writes again and again; what dead runs have left half written of it is removed.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with FileLock(os.path.join(folder, "run.ckpt")):
    ...     print(os.listdir(folder))
    ['.run.ckpt.streamsift-lock']
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = Path(os.path.realpath(path))
        super().__init__(self._file.parent)
        self._path = self.folder / f".{self._file.name[:NAME_LENGTH]}{NAME}"

    def _in_use(self, holder: str) -> ParameterError:
        return ParameterError(
            f"The file {str(self._file)!r} is being written to by {holder}: wait until it has ended, or give another "
            "file."
        )

    def _clear(self) -> None:
        start = self._file.name[:NAME_LENGTH]
        for path in self.folder.iterdir():
            if path.name.startswith(start) and _DRAFT_END.fullmatch(path.name[len(start) :]) and path.is_file():
                path.unlink(missing_ok=True)


def _same_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _read_pid(descriptor: int) -> str:
    number = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
    return f"process {number}" if number.isdigit() else "another process"  # which may not have written it yet
