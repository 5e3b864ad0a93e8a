"""RunStore: finished runs in a folder, so that an interrupted or killed series of runs resumes where it stopped.

NAME-DIGEST.json       one finished run: what was run, by which version of the package, and what was found
NAME-DIGEST.parquet    its trace, if it has one
settings.json          what all runs have in common, if anything

NAME is made of the values of the run, for people to read; the digest distinguishes runs whose names are alike.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

from streamsift import __version__
from streamsift.core.atomic import write_text
from streamsift.core.plain_json import read_json

SETTINGS = "settings.json"
_NAME_LENGTH = 60  # characters of the readable part


class RunStore:
    """Finished runs, found again by their plain values.

    Parameters
    ----------
    folder : path or None
        Where the runs are; made when the first is added. None keeps nothing.

    Notes
    -----
    A run is a dataclass of plain values (numbers, text, None, dataclasses of those). A file that was cut short or
    damaged is a run that was not finished: a digest tells whether what was found is as it was written (files written
    before there was one are taken as they are). Runs of another version of the package are other runs.

    Examples
    --------
    >>> import tempfile
    >>> from streamsift.comparison.plan import ComparedEntry, ComparedRun
    >>> from streamsift.comparison.run_store import RunStore
    >>> folder, run = tempfile.mkdtemp(), ComparedRun(ComparedEntry("fires", "sgd"), 0)
    >>> RunStore(folder).add(run, {"accuracy": 0.9})
    >>> RunStore(folder).find(run), RunStore(folder).find(ComparedRun(ComparedEntry("fires", "sgd"), 1))
    ({'accuracy': 0.9}, None)
    """

    def __init__(self, folder: str | Path | None) -> None:
        self.folder = None if folder is None else Path(folder)

    def find(self, run: Any) -> dict[str, Any] | None:
        """What a finished run found; None where it has not been finished."""
        path = self.path(run)
        record = None if path is None else _read(path)
        if record is None or record.get("run") != _key(run) or not isinstance(record.get("found"), dict):
            return None
        found: dict[str, Any] = record["found"]
        return found if record.get("digest", _digest(found)) == _digest(found) else None

    def add(self, run: Any, found: dict[str, Any]) -> None:
        """Keep what a run has found: plain values that JSON can hold."""
        path = self.path(run)
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        record = {"run": _key(run), "digest": _digest(json.loads(json.dumps(found))), "found": found}
        write_text(path, json.dumps(record, indent=1) + "\n")

    def path(self, run: Any, suffix: str = ".json") -> Path | None:
        """The file of a run, be it there or not; None where nothing is kept."""
        if self.folder is None:
            return None
        key = _key(run)
        words = re.sub(r"[^A-Za-z0-9_.]+", "_", "-".join(_leaves(key["values"])).replace("/", "_"))
        return self.folder / f"{words[:_NAME_LENGTH]}-{_digest(key)}{suffix}"

    def difference(self, settings: dict[str, Any]) -> tuple[str, Any, Any] | None:
        """The first setting in which the runs that are here differ: its name, its value here, and the one given.

        None where there is none; the settings are then noted for the next call.
        """
        if self.folder is None:
            return None
        before = _read(self.folder / SETTINGS)
        if before is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_text(self.folder / SETTINGS, json.dumps(settings, indent=1) + "\n")
            return None
        for name in dict.fromkeys([*settings, *before]):
            if before.get(name) != settings.get(name):
                return name, before.get(name), settings.get(name)
        return None


def _key(run: Any) -> dict[str, Any]:
    """The run as JSON gives it back."""
    key: dict[str, Any] = json.loads(json.dumps({"streamsift": __version__, "values": asdict(run)}))
    return key


def _digest(values: Any) -> str:
    """What plain values, as JSON gives them back, are known by."""
    return hashlib.blake2b(json.dumps(values, sort_keys=True).encode(), digest_size=6).hexdigest()


def _leaves(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [leaf for each in value.values() for leaf in _leaves(each)]
    return [] if value is None or value == "" else [str(value)]


def _read(path: Path) -> dict[str, Any] | None:
    """The file's dict; None where there is none, or only what is left of one: then the run is done again."""
    try:
        found = read_json(path.read_text("utf-8"))
    except (FileNotFoundError, ValueError):  # ValueError: of JSON and of UTF-8
        return None
    return found if isinstance(found, dict) else None
