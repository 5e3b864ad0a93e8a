"""The data sets of the FIRES paper (its Table 2), as far as they lie in a folder of .npz files with X and y.

Every feature is scaled to [0, 1] by its least and largest value over all rows, labels are two classes, and sets that
come sorted by class are shuffled, all as in the paper's appendix C.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import ReaderError

KDD_ROWS = 100_000  # a random part, as in the paper
KDD_NORMAL, MNIST_DIGIT = 11, 3


@dataclass(frozen=True)
class DataSet:
    """A file of one data set: its name in the paper, and what of the paper's it is."""

    name: str
    file: str
    note: str = ""
    positive: int = 1  # the class against all others
    shuffled: bool = False
    rows: int | None = None  # a random part of so many


DATA_SETS = (
    DataSet("HAR", "har_binary.npz", "4,722 of 10,299 rows"),
    DataSet("Spambase", "spambase.npz", shuffled=True),
    DataSet("Usenet", "usenet.npz"),
    DataSet("Gisette", "gisette_valid.npz", "the 1,000 validation rows of 7,000"),
    DataSet("Madelon", "madelon.npz"),
    DataSet("Dota", "dota2_test.npz", "the 10,294 test rows instead of 100,000"),
    DataSet("KDD", "kdd99_10pct.npz", "drawn from the 10 % file", KDD_NORMAL, True, KDD_ROWS),
    DataSet("MNIST", "mnist.npz", positive=MNIST_DIGIT),
)
NOT_HERE = {"RBF": "no generator of it", "RTG": "no generator of it"}


def present(folder: Path) -> list[DataSet]:
    """The data sets whose files are in a folder; none is an error."""
    found = [data for data in DATA_SETS if (folder / data.file).is_file()]
    if not found:
        files = ", ".join(data.file for data in DATA_SETS)
        raise ReaderError(f"The folder {str(folder)!r} has none of the files {files}: give the folder with --data.")
    return found


def load(folder: Path, data: DataSet, max_rows: int | None, seed: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Rows in stream order, scaled to [0, 1], and labels 0 and 1."""
    with np.load(folder / data.file, allow_pickle=False) as arrays:
        X, y = arrays["X"], arrays["y"]
    order = np.arange(len(y))
    if data.shuffled:
        order = np.random.default_rng(seed).permutation(len(y))[: data.rows]
    order = order[:max_rows]
    return scaled(X[order]), (y[order] == data.positive).astype(np.int64)


def load_digits(
    folder: Path, positive: int, others: tuple[int, ...], n_rows: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The first rows of MNIST that show one of some digits, one of them the positive class (Figure 3)."""
    with np.load(folder / "mnist.npz", allow_pickle=False) as arrays:
        X, y = arrays["X"], arrays["y"]
    rows = np.flatnonzero(np.isin(y, (positive, *others)))[:n_rows]
    return X[rows].astype(np.float32) / 255.0, (y[rows] == positive).astype(np.int64)


def scaled(X: NDArray[np.generic]) -> NDArray[np.float32]:
    """Every column brought to [0, 1]; a constant one becomes 0.

    >>> scaled(np.array([[1, 5], [3, 5]])).tolist()
    [[0.0, 0.0], [1.0, 0.0]]
    """
    values = X.astype(np.float32)
    low = values.min(axis=0)
    spread = values.max(axis=0) - low
    values -= low
    values /= np.where(spread > 0, spread, 1)
    return values
