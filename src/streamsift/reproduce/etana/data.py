"""The data sets of the ETANA paper (its Table 1), as far as they lie in a folder of .npz files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import InputError, ReaderError
from streamsift.reproduce.archives import read_matrix

FOLDS = 5


@dataclass(frozen=True)
class EtanaData:
    """A file, its name in the paper, the rows to train on (None: five folds), and what of the paper's set it is."""

    name: str
    file: str
    n_classes: int
    n_train: int | None = None
    note: str = ""
    whole: bool = True  # else it is another version of the paper's, and no verdict is based on it

    @property
    def basis(self) -> str:
        """What a cell measured on it rests on (see Pair)."""
        return "whole" if self.whole else "part"


DATA_SETS = (
    EtanaData("Madelon", "madelon.npz", 2, 2_000),
    EtanaData("Lung Cancer", "lung_cancer_181.npz", 2),
    EtanaData("MLL", "mll.npz", 3, 57),
    EtanaData("Dexter", "dexter.npz", 2, 300, "19,999 of its 20,000 columns"),
    EtanaData("Car", "11_tumors.npz", 11, None, "the same 174 samples with 12,533 genes instead of 9,182", False),
    EtanaData("Lung2", "lung_203.npz", 5, None, "the same 203 samples with 1,543 genes instead of 3,312", False),
)
NOT_HERE = "News20 (1.36 million features) is not among the sets."

ALL_SETS = (*(data.name for data in DATA_SETS), "News20")

Split = tuple[NDArray[np.intp], NDArray[np.intp]]


def folder_of(options: Any) -> Path:
    """The folder the user named."""
    folder = getattr(options, "data", None)
    if folder is None:
        raise InputError(
            "The figures of this paper are measured on real data: give the folder of .npz files with --data."
        )
    return Path(folder)


def present(folder: Path, names: tuple[str, ...] | None = None) -> list[EtanaData]:
    """The data sets whose files are in a folder (only those named, if names are given); none is an error."""
    wanted = [data for data in DATA_SETS if names is None or data.name in names]
    found = [data for data in wanted if (folder / data.file).is_file()]
    if not found:
        files = ", ".join(data.file for data in wanted)
        raise ReaderError(f"The folder {str(folder)!r} has none of the files {files}: give another with --data.")
    return found


def missing(sets: list[EtanaData]) -> list[str]:
    """The paper's sets that are not among these, or only in another version."""
    return [name for name in ALL_SETS if name not in {data.name for data in sets if data.whole}]


def load(folder: Path, data: EtanaData) -> tuple[Any, NDArray[np.int64]]:
    """X (dense or CSR, float32) and y."""
    X, y = read_matrix(folder / data.file)
    return X.astype(np.float32), y.astype(np.int64)


def splits(data: EtanaData, y: NDArray[np.int64], seed: int) -> Iterator[Split]:
    """Rows to train and to judge on: as given with the set, or five stratified folds."""
    if data.n_train is not None:
        yield np.arange(data.n_train), np.arange(data.n_train, len(y))
        return
    from sklearn.model_selection import StratifiedKFold

    yield from StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(np.zeros((len(y), 1)), y)
