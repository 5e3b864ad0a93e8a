"""KeptRuns: the finished runs of a long reproduction in a file, so that an interrupted one goes on where it stopped."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from streamsift import __version__


class KeptRuns:
    """A line of JSON for each run: what was run, by which version of the package, and what was found.

    Without a folder nothing is kept. A line that was cut short or damaged is a run that was not finished.

    Examples
    --------
    >>> import tempfile
    >>> from streamsift.reproduce.result import Options
    >>> folder = tempfile.mkdtemp()
    >>> KeptRuns(folder, "demo").add(Options(seed=3), {"accuracy": 0.9})
    >>> KeptRuns(folder, "demo").find(Options(seed=3)), KeptRuns(folder, "demo").find(Options(seed=4))
    ({'accuracy': 0.9}, None)
    """

    def __init__(self, folder: str | None, name: str) -> None:
        self._path = None if folder is None else Path(folder) / f"{name}.jsonl"
        self._found: dict[str, dict[str, Any]] = {}
        if self._path is None or not self._path.is_file():
            return
        for line in self._path.read_text("utf-8", errors="replace").splitlines():
            try:
                kept = json.loads(line)
            except ValueError:
                continue
            if isinstance(kept, list) and len(kept) == 2 and isinstance(kept[0], str):
                self._found[kept[0]] = kept[1]

    def find(self, run: Any) -> dict[str, Any] | None:
        """What a run, given as a dataclass of plain values, has found; None if it is not here."""
        return self._found.get(_key(run))

    def add(self, run: Any, found: dict[str, Any]) -> None:
        """Keep what a run has found."""
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps([_key(run), found])}\n")


def _key(run: Any) -> str:
    return json.dumps({"version": __version__, **asdict(run)}, sort_keys=True)
