"""The folder a run writes to: checked before the run, and every file in it is complete or not there."""

from __future__ import annotations

import tempfile
from pathlib import Path

from streamsift.core.atomic import reason, write_text


class OutputFolder:
    """A folder that exists and can be written to; raises OSError in words where it cannot."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
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
