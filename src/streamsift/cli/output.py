"""Where a verb writes to: checked before the work begins, and every file is complete or not there."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from streamsift.core.atomic import path_to_write, reason, write_text
from streamsift.core.folder_lock import FolderLock


class OutputFolder:
    """A folder that exists and can be written to; raises OSError in words where it cannot.

    What was made for it is removed when the verb ends, if nothing was written into it: an error before the first row
    leaves no empty folder behind.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = path_to_write(path)
        verb = click.get_current_context(silent=True)
        if verb is not None:
            made = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
            verb.call_on_close(lambda: _remove_empty(made))
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.path):
                pass
        except OSError as error:
            raise OSError(f"The folder {str(path)!r} cannot be written to: {reason(error)}.") from error

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def write(self, name: str, text: str) -> Path:
        """Write a file, whole or not at all."""
        write_text(self.path / name, text)
        return self.path / name


def _remove_empty(folders: Sequence[Path]) -> None:
    """Remove folders, the innermost first, up to one that holds something."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


def own_folder(path: str | Path) -> OutputFolder:
    """An output folder that no second run writes to until the verb ends; what dead runs left in it is cleared."""
    folder = OutputFolder(path)
    click.get_current_context().with_resource(FolderLock(folder.path))
    return folder


def output_file(path: str | Path, *, lock: bool = False) -> Path:
    """A file that can be written, as far as one can tell: its folder is made. A device or pipe is taken as it is."""
    path = path_to_write(path)
    if path.is_file() or not path.exists():
        folder = OutputFolder(path.parent)
        if lock:
            click.get_current_context().with_resource(FolderLock(folder.path, clears=False))
    return path
