"""The rivals in Tables 2 to 4 of the ETANA paper: selectors of columns, judged by three nearest neighbours.

Section 5.4: each method selects columns on the training rows; a classifier by the three nearest neighbours, on the
selected columns as they are, is judged on the other rows. Level 0.01 for SAOLA, OSFS and Fast-OSFS, with Fisher's z
test (all of these sets are numbers); OFS-Density and OFS-A3M have no parameters. Alpha-investing: wealth and payoff
1/2, which is our default.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from streamsift.columns.fast_osfs import FastOSFS
from streamsift.columns.investing import Investing
from streamsift.columns.ofs_a3m import OFSA3M
from streamsift.columns.ofs_density import OFSDensity
from streamsift.columns.osfs import OSFS
from streamsift.columns.saola import SAOLA
from streamsift.reproduce.etana.data import NOT_HERE, EtanaData, Split, folder_of, load, missing, present, splits
from streamsift.reproduce.papers import published_table
from streamsift.reproduce.result import Options, Pair, Progress, Result

N_NEIGHBOURS = 3
METHODS: dict[str, Callable[[], Any]] = {  # by their names in the paper
    "OFS-Density": OFSDensity,
    "OFS-A3M": OFSA3M,
    "SAOLA": lambda: SAOLA("fisher_z", alpha=0.01),
    "Fast-OSFS": lambda: FastOSFS("fisher_z", alpha=0.01),
    "OSFS": lambda: OSFS("fisher_z", alpha=0.01),
    "Alpha-Investing": lambda: Investing.paper("alpha"),
}
PUBLISHED = {"accuracy": "table2", "features": "table3", "select s": "table4.F", "classify s": "table4.C"}


@dataclass(frozen=True)
class RivalMeasured:
    """One method on one data set: accuracy over all held-out rows, means over the folds of everything else."""

    accuracy: float
    features: float
    select_seconds: float
    classify_seconds: float


def rivals(options: Options, progress: Progress) -> Result:
    """Accuracy, number of selected columns and seconds of each rival, ours beside the published figures."""
    folder = folder_of(options)
    sets = present(folder)
    paper = {table: published_table("etana", table) for table in PUBLISHED.values()}
    rows, pairs = [], []
    for place, data in enumerate(sets):
        X, y = load(folder, data)
        parts = list(splits(data, y, options.seed))
        for number, (method, make) in enumerate(METHODS.items()):
            found = measure(X, y, parts, make)
            rows.append(_row(data.name, method, found, paper))
            pairs += _pairs(data, method, found, paper)
            progress(place * len(METHODS) + number + 1, len(sets) * len(METHODS))
    notes = [f"{data.name} is here {data.note}." for data in sets if data.note]
    return Result(
        title="Tables 2, 3 and 4: the rivals",
        lead="Warahena Liyanage et al., On-the-Fly Joint Feature Selection and Classification, section 5.4. Columns "
        f"are selected on the training rows, {N_NEIGHBOURS} nearest neighbours judged on the others; given test rows, "
        f"or five folds; seed {options.seed}.",
        note=" ".join(
            [
                *notes,
                NOT_HERE,
                "Folds and machine are not the paper's, so times compare in order only. OFS-Density and OFS-A3M try "
                "members in a fixed order, the published programs in a random one. The parameters of alpha-investing "
                "are not printed in the paper.",
            ]
        ),
        columns=["data set", "method", *(f"{name}{side}" for name in PUBLISHED for side in ("", ", paper"))],
        rows=rows,
        x_label="",
        dashed_means="",
        panels=[],
        pairs=pairs,
        missing=missing(sets),
    )


def measure(X: Any, y: NDArray[np.int64], parts: list[Split], make: Callable[[], Any]) -> RivalMeasured:
    """Select and judge on each split, in processor time; the kernels are compiled before the clock starts."""
    make().fit(X[parts[0][0]][:, :20], y[parts[0][0]])
    right: list[bool] = []
    features, select_seconds, classify_seconds = [], [], []
    for train, test in parts:
        with threadpool_limits(1):
            selector, start = make(), process_time()
            selector.fit(X[train], y[train])
            selected = process_time()
            right += (_predicted(X, y, train, test, selector.get_support(indices=True)) == y[test]).tolist()
            classify_seconds.append(process_time() - selected)
        select_seconds.append(selected - start)
        features.append(len(selector.selected_))
    means = (float(np.mean(values)) for values in (features, select_seconds, classify_seconds))
    return RivalMeasured(float(np.mean(right)), *means)


def _predicted(X: Any, y: NDArray[np.int64], train: Any, test: Any, chosen: Any) -> NDArray[np.int64]:
    """The class of each test row by its nearest neighbours; without any column, the largest class."""
    if not len(chosen):
        return np.full(len(test), np.bincount(y[train]).argmax())
    from sklearn.neighbors import KNeighborsClassifier

    columns = X[:, chosen].toarray() if hasattr(X, "toarray") else X[:, chosen]
    model = KNeighborsClassifier(N_NEIGHBOURS).fit(columns[train], y[train])
    return np.asarray(model.predict(columns[test]))


def _row(data: str, method: str, found: RivalMeasured, paper: dict[str, Any]) -> list[str]:
    cells = [data, method]
    for value, table, form in zip(_measures(found), PUBLISHED.values(), (".4f", ".1f", ".3f", ".4f"), strict=True):
        theirs = paper[table].get(data, {}).get(method)
        cells += [f"{value:{form}}", "" if theirs is None else f"{theirs:g}"]
    return cells


def _pairs(data: EtanaData, method: str, found: RivalMeasured, paper: dict[str, Any]) -> list[Pair]:
    cells = [
        (value, table, paper[table][data.name].get(method))
        for value, table in zip(_measures(found), PUBLISHED.values(), strict=True)
    ]
    return [
        Pair(table, f"{data.name}, {method}", value, theirs, data.basis)
        for value, table, theirs in cells
        if theirs is not None
    ]


def _measures(found: RivalMeasured) -> tuple[float, float, float, float]:
    return found.accuracy, found.features, found.select_seconds, found.classify_seconds
