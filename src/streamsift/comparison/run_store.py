"""RunStore: the finished runs of a comparison in a folder, so that a killed one goes on where it stopped.

runs/settings.json     what all runs have in common; other settings are refused
runs/NAME.json         one finished run
runs/NAME.parquet      its trace
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from streamsift.comparison.plan import Run
from streamsift.core.exceptions import ParameterError

SETTINGS = "settings.json"


class RunStore:
    """The runs in `folder`/runs; raises ParameterError where they were made with other settings.

    Examples
    --------
    >>> import tempfile
    >>> from streamsift.comparison.plan import Entry, Run
    >>> from streamsift.comparison.run_store import RunStore
    >>> folder = Path(tempfile.mkdtemp())
    >>> RunStore(folder, {"seed": 0}).save(Run(Entry("fires", "sgd"), 0), {"accuracy": 0.9})
    >>> RunStore(folder, {"seed": 0}).load(Run(Entry("fires", "sgd"), 0))
    {'accuracy': 0.9}
    """

    def __init__(self, folder: str | Path, settings: dict[str, Any]) -> None:
        self.folder = Path(folder)
        self.runs = self.folder / "runs"
        self.runs.mkdir(parents=True, exist_ok=True)
        before = _read(self.runs / SETTINGS)
        if before is None:
            _write(self.runs / SETTINGS, settings)
            return
        for name in sorted(before.keys() | settings.keys(), key=lambda name: name == "data"):
            then, now = before.get(name), settings.get(name)
            if then == now:
                continue
            what = "the rows themselves differ" if name == "data" else f"{name} was {then!r} there and is {now!r} here"
            raise ParameterError(
                f"The folder {str(folder)!r} holds another comparison: {what}. Use another folder, or the settings of "
                "that comparison to go on with it."
            )

    def load(self, run: Run) -> dict[str, Any] | None:
        """What a finished run found; None where it has not been finished."""
        return _read(self.runs / f"{run.stem}.json")

    def save(self, run: Run, found: dict[str, Any]) -> None:
        """Keep a finished run."""
        _write(self.runs / f"{run.stem}.json", found)

    def trace(self, run: Run) -> Path:
        """Where the trace of a run is."""
        return self.runs / f"{run.stem}.parquet"


def _read(path: Path) -> dict[str, Any] | None:
    """The file's dict; None where there is none, or only what is left of one: then the run is done again."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, json.JSONDecodeError, UnicodeDecodeError):
        return None
    return found if isinstance(found, dict) else None


def _write(path: Path, found: dict[str, Any]) -> None:
    """Whole or not at all: under a passing name first."""
    partial = path.with_name(f"{path.name}.partial")
    partial.write_text(json.dumps(found, indent=1, allow_nan=False) + "\n", "utf-8")
    os.replace(partial, path)
