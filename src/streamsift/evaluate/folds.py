"""folds: several copies of a selector over one pass of a stream, each on its own rows, to see how stable it is.

Prequential cross-validation (Bifet et al. 2015), as section 5.2 of the ABFS paper uses it. Of k folds, row i goes to

    cross      all but fold i mod k
    split      fold i mod k only
    bootstrap  each fold as often as a Poisson variable of mean 1 says, 0, 1, 2, ... times
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from streamsift.core.constraints import Integer, IsNone, Limits, OneOf, check_parameters
from streamsift.core.contracts import RowContract
from streamsift.core.exceptions import OneClassWarning
from streamsift.streams.open import as_stream
from streamsift.streams.stream import RowStream

SCHEMES = ("cross", "split", "bootstrap")


@dataclass(frozen=True)
class FoldSnapshot:
    """What the folds had selected after `n_rows` rows: one row of `selected` per fold, one column per feature."""

    n_rows: int
    selected: NDArray[np.bool_]


def fold_selections(
    stream: Any,
    selector: RowContract,
    scheme: str = "cross",
    *,
    target: str | None = None,
    n_folds: int = 10,
    every: int | None = None,
    batch_size: int = 1000,
    seed: int = 0,
) -> Iterator[FoldSnapshot]:
    """Run copies of a selector over a stream and yield what they have selected.

    Parameters
    ----------
    stream : a stream, or anything `open_stream` takes
        It is read once.
    selector : a row selector
        It is cloned, never trained.
    scheme : {"cross", "split", "bootstrap"}, default "cross"
        Which rows a fold sees; see the module docstring.
    target : str, optional
        The column with the labels, where the stream is a table or a file.
    n_folds : int, default 10
        How many copies.
    every : int or None
        Rows between two snapshots; None takes one, at the end.
    batch_size : int, default 1000
        Rows read at a time; the folds see the same rows for every batch size.
    seed : int, default 0
        Of the bootstrap's draws.

    Yields
    ------
    FoldSnapshot
        Its `selected` is what `streamsift.metrics.pearson_stability` and `nogueira_stability` take. A fold that has
        seen no row yet has selected nothing.

    Examples
    --------
    >>> from streamsift import Screener
    >>> from streamsift.evaluate.folds import fold_selections
    >>> from streamsift.metrics import pearson_stability
    >>> from streamsift.streams import generate
    >>> stream = generate("sea", n_rows=4000, irrelevant=20)
    >>> snapshots = list(fold_selections(stream, Screener("fisher", n_features_to_select=2), "split", every=2000))
    >>> [(snapshot.n_rows, snapshot.selected.shape) for snapshot in snapshots]
    [(2000, (10, 26)), (4000, (10, 26))]
    >>> round(pearson_stability(snapshots[-1].selected), 6)
    1.0
    """
    limits: Limits = {
        "scheme": (OneOf(*SCHEMES),),
        "n_folds": (Integer(2),),
        "every": (Integer(1), IsNone()),
        "seed": (Integer(0),),
    }
    check_parameters("fold_selections", {"scheme": scheme, "n_folds": n_folds, "every": every, "seed": seed}, limits)
    return _run(as_stream(stream, target), [clone(selector) for _ in range(n_folds)], scheme, every, batch_size, seed)


def _run(
    stream: RowStream, folds: list[Any], scheme: str, every: int | None, batch_size: int, seed: int
) -> Iterator[FoldSnapshot]:
    rng = np.random.default_rng(seed)
    n_rows, due, n_features = 0, every, 0
    snapshot: FoldSnapshot | None = None
    for batch in stream.batches(batch_size):
        counts = _counts(scheme, len(folds), n_rows, batch.n_rows, rng)
        for fold, times in zip(folds, counts.T, strict=True):
            rows = np.repeat(np.arange(batch.n_rows), times)
            if len(rows):
                fold.partial_fit(batch.rows(rows))
        n_rows, n_features = n_rows + batch.n_rows, int(batch.X.shape[1])
        snapshot = None
        if due is not None and n_rows >= due:
            snapshot = _snapshot(folds, n_rows, n_features)
            due = (n_rows // every + 1) * every if every is not None else None
            yield snapshot
    if n_rows and snapshot is None:
        yield _snapshot(folds, n_rows, n_features)


def _counts(scheme: str, n_folds: int, first: int, n_rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """How often each row (down) goes to each fold (across)."""
    if scheme == "bootstrap":
        return rng.poisson(1.0, (n_rows, n_folds))
    own = np.arange(first, first + n_rows)[:, None] % n_folds == np.arange(n_folds)
    return np.asarray(own if scheme == "split" else ~own, np.int64)


def _snapshot(folds: list[Any], n_rows: int, n_features: int) -> FoldSnapshot:
    selected = np.zeros((len(folds), n_features), bool)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OneClassWarning)  # a fold may have seen few rows
        for number, fold in enumerate(folds):
            if hasattr(fold, "n_rows_seen_"):
                mask = fold.get_support()
                selected[number, : len(mask)] = mask
    return FoldSnapshot(n_rows, selected)
