"""The data sets of the screening paper (its Tables 1 and 7), as far as they lie in a folder of .npz files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import InputError, ReaderError
from streamsift.reproduce.archives import read_matrix
from streamsift.reproduce.result import Options


@dataclass(frozen=True)
class ScreeningData:
    """A file, the name of its set in Tables 2 to 6, and what of the paper's it is where it is only a part."""

    name: str
    file: str
    part: str = ""

    @property
    def basis(self) -> str:
        """What a cell measured on it rests on (see Pair)."""
        return "part" if self.part else "whole"


DATA_SETS = (
    ScreeningData("url", "url_day0.npz", "only 3,000 rows of 299 features of 16,000 of 74,110"),
    ScreeningData("SMK_CAN_187", "smk_can_187.npz"),
    ScreeningData("dexter", "dexter.npz"),
    ScreeningData("dorothea", "dorothea.npz"),
    ScreeningData("gisette", "gisette_valid.npz", "only the 1,000 validation rows of 7,000"),
    ScreeningData("kdd12", "kdd12.npz"),
    ScreeningData("madelon", "madelon.npz"),
)


def folder_of(options: Options) -> Path:
    """The folder the user gave; an error where there is none."""
    if options.data is None:
        raise InputError("The paper's data sets are not part of the package: give a folder of them with --data.")
    return Path(options.data)


def present(folder: Path) -> list[ScreeningData]:
    """The data sets whose files are in a folder; none is an error."""
    found = [data for data in DATA_SETS if (folder / data.file).is_file()]
    if not found:
        names = ", ".join(data.file for data in DATA_SETS)
        raise ReaderError(f"The folder {str(folder)!r} has none of the files {names}: give the folder with --data.")
    return found


def missing(sets: list[ScreeningData]) -> list[str]:
    """The paper's sets that are not here, or only a part of them."""
    parts = {data.name: data.part for data in sets}
    return [
        data.name if data.name not in parts else f"{data.name} ({data.part})"
        for data in DATA_SETS
        if data.name not in parts or data.part
    ]


def load(folder: Path, file: str, max_rows: int | None = None) -> tuple[Any, NDArray[np.int64]]:
    """X (dense or CSR, float32) and y, the first rows of the file."""
    X, y = read_matrix(folder / file)
    return X[:max_rows].astype(np.float32), y.astype(np.int64)[:max_rows]
