"""The data sets behind the tables, cut so that a table takes minutes.

A set is a stream in time, whose order is kept and of which evenly spaced rows are taken, or a file without an order,
which is shuffled. Sparse sets keep the columns with the most non-zeros, others columns drawn at random.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

N_SELECTED = 10
_LISTED = """
    covtype kdd99_10pct spam_corpus elec2 weather usenet1 usenet2 newsgroup4 url_day0 madelon arcene
    dexter gisette_valid basehock pcmac relathe news20_w1000 mnist har_binary isolet dota2_test
    internet_ads spambase a1a_full magic04 svmguide3 ionosphere sonar mll lung_203 srbct colon
    leukemia_golub prostate_ge
"""
NAMES = tuple(_LISTED.split())


@dataclass(frozen=True)
class Halves:
    """A data set in two halves: features are selected on the first, a classifier of it is tested on the second."""

    name: str
    X: Any  # an array, or CSR where sparse sets are kept so
    y: NDArray[np.int64]

    @property
    def middle(self) -> int:
        return len(self.y) // 2

    @property
    def n_selected(self) -> int:
        """Ten features; half of them where there are fewer than twenty."""
        return min(N_SELECTED, self.X.shape[1] // 2)

    @property
    def batch_size(self) -> int:
        """Twenty batches, of 5 to 100 rows."""
        return int(np.clip(self.middle // 20, 5, 100))


def load(
    folder: Path, names: tuple[str, ...], n_rows: int, n_features: int, *, keep_sparse: bool = False
) -> Iterator[Halves]:
    """The sets of these names in the folder, each with at most so many rows and features."""
    listed = {entry["name"]: entry for entry in json.loads((folder / "MANIFEST.json").read_text())["datasets"]}
    for name in names:
        entry = listed[name]
        X, y = _read(folder / entry["file"], sparse=entry["sparse"])
        rows = np.arange(len(y))
        if not entry["row_order"].startswith("stream"):
            rows = np.random.default_rng(0).permutation(rows)[:n_rows]
        elif len(rows) > n_rows:
            rows = np.linspace(0, len(rows) - 1, n_rows).astype(np.int64)
        X, y = X[rows], y[rows]
        if X.shape[1] > n_features:
            X = X[:, _columns(X, n_features)]
        if entry["sparse"] and keep_sparse:
            yield Halves(name, X, y)
            continue
        dense = X.toarray() if entry["sparse"] else X
        yield Halves(name, np.ascontiguousarray(dense, np.float64), y)


def _read(path: Path, *, sparse: bool) -> tuple[Any, NDArray[np.int64]]:
    with np.load(path) as parts:
        y = parts["y"].astype(np.int64)
        if sparse:
            data = parts["data"].astype(np.float64)
            return csr_matrix((data, parts["indices"], parts["indptr"]), shape=tuple(parts["shape"])), y
        return parts["X"], y


def _columns(X: Any, n_features: int) -> NDArray[np.int64]:
    if isinstance(X, csr_matrix):
        most = np.argsort(-np.asarray((X != 0).sum(axis=0)).ravel(), kind="stable")
        return np.sort(most[:n_features])
    return np.sort(np.random.default_rng(0).permutation(X.shape[1])[:n_features])
