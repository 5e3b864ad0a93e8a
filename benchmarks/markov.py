"""OSFS, Fast-OSFS and SAOLA over 5,000 columns, OFS-Density and OFS-A3M over 50, against NumPy and published times.

The times of the published programs were taken once, under Octave, on another machine and, for the first three, on
columns of the same size but not the same values: they stand here for comparison and are not measured in this run. The
NumPy twins are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.table import Row, best_times
from streamsift.columns.fast_osfs import FastOSFS
from streamsift.columns.ofs_a3m import OFSA3M
from streamsift.columns.ofs_density import OFSDensity
from streamsift.columns.osfs import OSFS
from streamsift.columns.saola import SAOLA

Floats = NDArray[np.float64]

OCTAVE = "MATLAB toolbox under Octave, not measured here"
SECONDS_OF_TOOLBOX = {"SAOLA": 11.7, "OSFS": 19.8, "FastOSFS": 12.3}  # 200 rows, 5,000 columns
GOLDEN = Path(__file__).resolve().parents[2] / "shared" / "golden"
CRITICAL = 2.5758293035489004  # the normal quantile of 0.995


def _units(X: Floats) -> Floats:
    centred = X - X.mean(axis=0)
    return np.asarray(centred / np.linalg.norm(centred, axis=0))


def _related(r: float | Floats, n: int, given: int = 0) -> Any:
    return np.sqrt(n - given - 3) * np.arctanh(np.abs(r)) >= CRITICAL


def _separated(matrix: Floats, n: int, x: int, sets: Sequence[tuple[int, ...]], y: int) -> bool:
    for chosen in sets:
        inverse = np.linalg.inv(matrix[np.ix_((x, y, *chosen), (x, y, *chosen))])
        if not _related(inverse[0, 1] / np.sqrt(inverse[0, 0] * inverse[1, 1]), n, len(chosen)):
            return True
    return False


def _sets(members: list[int]) -> list[tuple[int, ...]]:
    return [chosen for size in (1, 2, 3) for chosen in combinations(members, size)]


def numpy_markov(X: Floats, y: Floats, fast: bool) -> list[int]:
    """OSFS, or Fast-OSFS, with NumPy over correlations; the relevance of all columns in one product."""
    n = len(y)
    units, target = _units(X), _units(y[:, None])[:, 0]
    members: list[int] = []
    for i in np.flatnonzero(_related(target @ units, n)):
        columns = np.column_stack([units[:, [*members, i]], target])
        matrix, last = columns.T @ columns, len(members)
        if fast and _separated(matrix, n, last, _sets(list(range(last))), last + 1):
            continue
        left = list(range(last + 1))
        for k in range(last if fast else last + 1):
            others = [j for j in left if j != k]
            sets = [chosen for chosen in _sets(others) if not fast or last in chosen]
            if _separated(matrix, n, k, sets, last + 1):
                left = others
        members = [[*members, int(i)][k] for k in left]
    return members


def numpy_saola(X: Floats, y: Floats) -> list[int]:
    """SAOLA with NumPy: one product for all relevances, one for each relevant column and the members."""
    n = len(y)
    units, target = _units(X), _units(y[:, None])[:, 0]
    relevance = np.abs(target @ units)
    members: list[int] = []
    for i in np.flatnonzero(_related(relevance, n)):
        close, theirs, own = np.abs(units[:, i] @ units[:, members]), relevance[members], relevance[i]
        related = _related(close, n)
        rejecting = np.flatnonzero(related & (theirs >= own) & (close > own))
        losing = related & (theirs < own) & (close > theirs)
        losing[rejecting[0] if len(rejecting) else len(losing) :] = False
        members = [m for m, gone in zip(members, losing, strict=True) if not gone]
        members += [] if len(rejecting) else [int(i)]
    return members


def numpy_dependency(X: Floats, y: Floats, by_density: bool) -> float:
    """The dependency of neighbourhood rough sets: all distances, all sorted."""
    z = X / X.std(axis=0, ddof=1)
    squares = sum((column[:, None] - column[None]) ** 2 for column in z.T)
    distances = np.sqrt(squares)
    np.fill_diagonal(distances, -1.0)
    order = np.argsort(distances, axis=1, kind="stable")[:, 1:]
    near = np.take_along_axis(distances, order, axis=1)
    ranks = np.arange(1, len(y))
    if by_density:
        density = near / ranks
        ends = (density[:, 1:] > density[:, :-1]) & (near[:, 1:] > 0)
    else:
        gap = 1.5 * (near[:, -1:] - near[:, :1]) / (len(y) - 2)
        ends = ~(np.diff(near, axis=1) < gap)
    counts = np.where(ends.any(axis=1), ends.argmax(axis=1) + 1, len(y) - 1)
    same = np.cumsum(y[order] == y[:, None], axis=1)
    return float(np.mean(same[np.arange(len(y)), counts - 1] / counts))


def numpy_neighbours(X: Floats, y: Floats, by_density: bool) -> list[int]:
    """OFS-Density or OFS-A3M with all distances anew for every set of columns."""
    members: list[int] = []
    alone: dict[int, float] = {}
    together = hurdle = 0.0

    def of(columns: list[int]) -> float:
        return numpy_dependency(X[:, columns], y, by_density)

    for i in range(X.shape[1]):
        alone[i] = of([i])
        if alone[i] < hurdle or (alone[i] == hurdle and not by_density):
            continue
        new = of([*members, i])
        close = new >= 0.95 * together if by_density else new == together
        if new <= together and not close:
            continue
        left = [*members, i]
        if new <= together:
            whole = new
            for k in members:
                without = of([j for j in left if j != k])
                if without == whole or (by_density and without > whole):
                    left, whole = [j for j in left if j != k], without
            if by_density and whole < together:
                members = [*members, i]
                continue
            new = whole
        members, together = left, new
        hurdle = sum(alone[k] for k in members) / len(members) if by_density else together / len(members)
    return members


def _related_columns(n_rows: int, n_columns: int) -> tuple[Floats, Floats]:
    """Columns that share ten causes, two of which make the class."""
    rng = np.random.default_rng(0)
    causes = rng.normal(size=(n_rows, 10))
    X = 0.5 * causes @ rng.normal(size=(10, n_columns)) + rng.normal(size=(n_rows, n_columns))
    return X, (causes[:, 0] + causes[:, 1] > 0).astype(float)


def _markov_rows(quick: bool) -> list[Row]:
    n_columns = 1000 if quick else 5000
    X, y = _related_columns(200, n_columns)
    twins: dict[Any, Callable[[], list[int]]] = {
        SAOLA: lambda: numpy_saola(X, y),
        OSFS: lambda: numpy_markov(X, y, fast=False),
        FastOSFS: lambda: numpy_markov(X, y, fast=True),
    }
    rows = []
    for kind, twin in twins.items():
        name = kind.__name__
        chosen = kind("fisher_z").fit(X, y).get_support(indices=True).tolist()
        note = f"200 × {n_columns:,}, {len(chosen)} selected"
        assert sorted(twin()) == chosen
        mine, peer = best_times(lambda kind=kind: kind("fisher_z").fit(X, y), twin, repeats=2)  # type: ignore[misc]
        rows.append(Row(name, mine, peer, "NumPy twin", peer / mine, None, "s", note))
        if not quick:
            theirs = SECONDS_OF_TOOLBOX[name]
            rows.append(Row(name, mine, theirs, OCTAVE, theirs / mine, 20.0, "s", "200 × 5,000"))
    return rows


def _neighbourhood_rows(quick: bool) -> list[Row]:
    rows = []
    X, y = _related_columns(300, 10 if quick else 50)
    for kind, by_density in ((OFSDensity, True), (OFSA3M, False)):

        def twin(by_density: bool = by_density) -> list[int]:
            return numpy_neighbours(X, y, by_density)

        chosen = kind().fit(X, y).get_support(indices=True).tolist()
        assert twin() == chosen
        mine, peer = best_times(lambda kind=kind: kind().fit(X, y), twin, repeats=1)  # type: ignore[misc]
        note = f"300 × {X.shape[1]}, {len(chosen)} selected"
        rows.append(Row(kind.__name__, mine, peer, "NumPy twin", peer / mine, None, "s", note))
    if (GOLDEN / "lofs").is_dir():
        inputs = np.load(GOLDEN / "lofs" / "inputs.npz")
        times = json.loads((GOLDEN / "ofs_density_a3m" / "README.json").read_text())["times"]
        for name in ("cont", "wdbc"):
            table = inputs[name][:150] if name == "wdbc" else inputs[name]
            for kind, method in ((OFSDensity, "density"), (OFSA3M, "a3m")):
                (mine,) = best_times(lambda kind=kind, table=table: kind().fit(table[:, :-1], table[:, -1]))  # type: ignore[misc]
                theirs = times[f"{name}_{method}_time"]
                note = f"{table.shape[0]} × {table.shape[1] - 1}, the same data"
                rows.append(Row(kind.__name__, mine, theirs, OCTAVE, theirs / mine, 20.0, "s", note))
    return rows


def run(quick: bool) -> list[Row]:
    """Measure all five, one thread."""
    return _markov_rows(quick) + _neighbourhood_rows(quick)
