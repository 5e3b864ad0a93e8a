"""A folder of checkpoints that several processes write to, one checkpoint per partition; and what they know together.

    run.json                          what is run on what; the first process writes it, the others must agree
    columns.json                      what the columns are; the first batch of any partition decides for all of them
    partition-3.claim-8.ckpt          the checkpoint of partition 3: a saved selector, and the position of its rows

Nobody writes a file of somebody else. Whoever is to read a partition claims it first: it gives the checkpoint with the
highest number a second name with the next number (where there is no checkpoint yet, it makes an empty file), which no
two processes can do. From then on that name counts, and only who made it replaces what it stands for. So a process that
is late, and does not know that its partition was given to another one, may write what it wants: its number is lower.
Each file by itself is right, since the selector in it has learnt the rows before the position in it and no others; and
of each partition one file counts.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from streamsift import persist
from streamsift.core.atomic import create_link, create_text
from streamsift.core.exceptions import ParameterError, ReaderError, SavedStateError
from streamsift.core.plain_json import read_json
from streamsift.persist import Parts
from streamsift.runs.checkpoint import plain_run, refuse_other_run
from streamsift.runs.run import Run

RUN, COLUMNS = "run.json", "columns.json"
_CLAIM = re.compile(r"partition-(\d{1,9})\.claim-(\d{1,15})\.ckpt")


def _claims(folder: Path) -> dict[int, dict[int, Path]]:
    """All claims: partition -> number -> file."""
    found: dict[int, dict[int, Path]] = {}
    for path in folder.iterdir():
        if match := _CLAIM.fullmatch(path.name):
            found.setdefault(int(match[1]), {})[int(match[2])] = path
    return found


def newest(folder: Path) -> dict[int, Path]:
    """The file that counts of each partition, as far as there is one."""
    while True:
        found = {}
        try:
            for partition, claims in sorted(_claims(folder).items()):
                full = [number for number, path in claims.items() if path.stat().st_size]
                if full:
                    found[partition] = claims[max(full)]
        except FileNotFoundError:  # a newer one has just taken its place
            continue
        return found


class Claim:
    """The right to write the checkpoint of a partition, until somebody else claims it.

    Parameters
    ----------
    folder : Path
    partition : int

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> mine = Claim(folder, 3)
    >>> mine.is_lost()
    False
    >>> other = Claim(folder, 3)
    >>> mine.is_lost(), [path.name for path in sorted(folder.iterdir())]
    (True, ['partition-3.claim-1.ckpt', 'partition-3.claim-2.ckpt'])
    """

    def __init__(self, folder: Path, partition: int) -> None:
        self._folder, self._partition = folder, partition
        claimed = False
        while not claimed:
            self._number = self._highest() + 1
            self.path = folder / f"partition-{partition}.claim-{self._number}.ckpt"
            claimed = self._claimed(newest(folder).get(partition))
        self._clear()

    def _claimed(self, before: Path | None) -> bool:
        """Try to claim it; False where another one was faster."""
        try:
            if before is not None:
                return create_link(self.path, before)
            self.path.open("x").close()
        except (FileExistsError, FileNotFoundError):
            return False
        return True

    def _highest(self) -> int:
        return max(_claims(self._folder).get(self._partition, {0: self._folder}))

    def is_lost(self) -> bool:
        """Whether somebody has claimed the partition since."""
        return self._highest() > self._number

    def write(self, selector: Parts, sections: dict[str, Parts]) -> bool:
        """Write the checkpoint, whole or not at all; False where the partition has been claimed by another."""
        if self.is_lost():
            return False
        try:
            persist.write(self.path, selector, sections)
        except OSError:
            if self.is_lost():  # and what was half written was removed
                return False
            raise
        return True

    def _clear(self) -> None:
        """Remove what those before have left, if it does not count any more."""
        if self.path != newest(self._folder).get(self._partition):
            return
        start = f"partition-{self._partition}.claim-"
        for path in self._folder.glob(f"{start}*"):
            number = path.name.removeprefix(start).partition(".")[0]
            if number.isdecimal() and int(number) < self._number:
                path.unlink(missing_ok=True)


def agree_on_run(folder: Path, run: Run) -> None:
    """Raise ParameterError in a sentence where the folder belongs to another run; otherwise it belongs to this one."""
    path = folder / RUN
    if not create_text(path, json.dumps(asdict(plain_run(run)), indent=1, allow_nan=False)):
        refuse_other_run(path, run_of(folder), run)


def run_of(folder: Path) -> Run:
    """What is run in a folder."""
    found = _facts(folder / RUN)
    try:
        return Run.from_dict(found)
    except TypeError as error:
        raise SavedStateError(f"{folder / RUN} is damaged: it does not say what is run.") from error


def is_shared_folder(path: Path) -> bool:
    """Whether processes keep their checkpoints in a folder."""
    return (path / RUN).is_file()


def agree_on_columns(folder: Path, columns: dict[str, Any]) -> dict[str, Any]:
    """What the columns are: as given, unless that has been decided already."""
    path = folder / COLUMNS
    if not path.exists() and columns["label"] is None:
        raise ReaderError("None of the first rows has a label: check the name of the target, or take larger batches.")
    return columns if create_text(path, json.dumps(columns)) else _facts(path)


def _facts(path: Path) -> dict[str, Any]:
    try:
        found = read_json(path.read_bytes())
    except ValueError as error:
        raise SavedStateError(f"{path} is damaged: it is not JSON.") from error
    if not isinstance(found, dict):
        raise SavedStateError(f"{path} is damaged: it is no JSON object.")
    return found


class Shared(NamedTuple):
    """What all partitions have learnt, as far as their checkpoints go, and how many rows of each that are."""

    selector: Any
    rows: dict[int, int]


def load_shared(folder: str | Path) -> Shared:
    """Merge what the partitions in a folder have learnt, in their order; the processes may be running.

    Parameters
    ----------
    folder : path
        That of `streamsift select 'kafka://...?group=NAME' --checkpoint FOLDER`.

    Raises
    ------
    ParameterError
        Where there is no checkpoint yet.

    Examples
    --------
    >>> import tempfile
    >>> from streamsift import Screener
    >>> folder = Path(tempfile.mkdtemp())
    >>> for number in (0, 1):
    ...     selector = Screener("fisher").partial_fit([[0.0], [1.0], [0.2 + number]], ["no", "yes", "no"])
    ...     _ = Claim(folder, number).write(persist.parts_of(selector), {})
    >>> shared = load_shared(folder)
    >>> shared.selector.n_rows_seen_, shared.rows
    (6, {0: 3, 1: 3})
    """
    if not Path(folder).is_dir():
        raise ParameterError(f"There is no folder {folder}: check the path.")
    while True:
        whole: Any = None
        rows: dict[int, int] = {}
        try:
            for partition, path in newest(Path(folder)).items():
                state = persist.load(path)
                rows[partition] = int(state.n_rows_seen_)
                whole = state if whole is None else whole.merge(state)
        except FileNotFoundError:  # a newer one has just taken its place
            continue
        if whole is None:
            raise ParameterError(f"No partition has a checkpoint in {folder} yet: ask again later.")
        return Shared(whole, rows)
