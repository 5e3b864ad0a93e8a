"""The data sets of the FIRES paper (its Table 2): those in a folder of .npz files with X and y, and two generated.

Every feature is scaled to [0, 1] by its least and largest value over all rows and labels are two classes, as in the
paper's appendix C. Sets that come sorted by class are shuffled, of which the paper says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import ReaderError
from streamsift.reproduce.archives import read_matrix
from streamsift.streams.generation import generate

KDD_ROWS = 100_000  # a random part, as in the paper
KDD_NORMAL, MNIST_DIGIT = 11, 3


@dataclass(frozen=True)
class FiresData:
    """A data set: its name in the paper, its file or else its generator, and what of the paper's it is."""

    name: str
    file: str
    note: str = ""
    positive: int = 1  # the class against all others
    shuffled: bool = False
    rows: int | None = None  # a random part of so many
    whole: bool = True  # else it is only a part of the paper's or another draw, and no verdict is based on it
    generator: str = ""
    options: tuple[tuple[str, Any], ...] = ()  # of the generator


DATA_SETS = (
    FiresData("HAR", "har_binary.npz", "4,722 of 10,299 rows", whole=False),
    FiresData("Spambase", "spambase.npz", shuffled=True),
    FiresData("Usenet", "usenet.npz"),
    FiresData("Gisette", "gisette_valid.npz", "the 1,000 validation rows of 7,000", whole=False),
    FiresData("Madelon", "madelon.npz"),
    FiresData("Dota", "dota2_test.npz", "the 10,294 test rows instead of 100,000", whole=False),
    FiresData("KDD", "kdd99_10pct.npz", "drawn from the 10 % file", KDD_NORMAL, True, KDD_ROWS),
    FiresData("MNIST", "mnist.npz", positive=MNIST_DIGIT),
    FiresData(
        "RBF", "", "generated, other centres than the paper's", rows=10_000, whole=False,
        generator="rbf", options=(("n_features", 10_000),),
    ),
    FiresData(
        "RTG", "",
        "generated, another tree than the paper's: how even the classes are, and so the accuracy, depends on the tree",
        rows=10_000, whole=False, generator="rtg",
        options=(("n_categorical", 50), ("n_numeric", 200), ("n_relevant", None), ("one_hot", True)),
    ),
)  # fmt: skip


def present(folder: Path) -> list[FiresData]:
    """The data sets whose files are in a folder, and those that are generated; no file at all is an error."""
    found = [data for data in DATA_SETS if data.generator or (folder / data.file).is_file()]
    if not any(data.file for data in found):
        files = ", ".join(data.file for data in DATA_SETS if data.file)
        raise ReaderError(f"The folder {str(folder)!r} has none of the files {files}: give the folder with --data.")
    return found


def load(
    folder: Path, data: FiresData, max_rows: int | None, seed: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Rows in stream order, scaled to [0, 1], and labels 0 and 1."""
    if data.generator:
        return _generated(data, max_rows, seed)
    X, y = read_matrix(folder / data.file)
    order = np.arange(len(y))
    if data.shuffled:
        order = np.random.default_rng(seed).permutation(len(y))[: data.rows]
    order = order[:max_rows]
    return scaled(X[order]), (y[order] == data.positive).astype(np.int64)


def _generated(data: FiresData, max_rows: int | None, seed: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    n_rows = min(rows for rows in (data.rows, max_rows) if rows is not None)
    stream = generate(data.generator, n_rows=n_rows, seed=seed, concept_seed=seed, **dict(data.options))
    (batch,) = stream.batches(n_rows)
    return scaled(batch.X), np.asarray(batch.y == data.positive, np.int64)


def load_digits(
    folder: Path, positive: int, others: tuple[int, ...], n_rows: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The first rows of MNIST that show one of some digits, one of them the positive class (Figure 3)."""
    X, y = read_matrix(folder / "mnist.npz")
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
