"""streamsift in river against river's own SelectKBest: batches of 100 rows, 500 features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.table import Row, best_times
from river import feature_selection, stats
from streamsift.interop.river import Selector
from streamsift.rows.fires.fires import FIRES
from streamsift.rows.screener import Screener

N_ROWS, N_FEATURES, N_KEPT = 100, 500, 10
WANTED = 20.0
METHODS = {
    "t-score": lambda: Screener("t_score", n_features_to_select=N_KEPT),
    "mutual information": lambda: Screener("mutual_info", n_features_to_select=N_KEPT),
    "FIRES": lambda: FIRES(n_features_to_select=N_KEPT),
}


def run(quick: bool) -> list[Row]:
    """Each method as a transformer of river: tables by learn_many and transform_many, dicts one by one."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N_ROWS)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    X[:, 3] += y
    frame = pd.DataFrame(X, columns=[f"feature {j}" for j in range(N_FEATURES)])
    labels, dicts = pd.Series(y), frame.to_dict("records")
    repeats = 5 if quick else 20
    rows = []
    for name, make in METHODS.items():
        many, one = Selector(make(), N_ROWS), Selector(make(), N_ROWS)
        theirs = feature_selection.SelectKBest(stats.PearsonCorr(), k=N_KEPT, use_abs=True)

        def tables(many: Any = many) -> None:
            many.learn_many(frame, labels)
            many.transform_many(frame)

        def row_by_row(model: Any) -> None:
            for x, label in zip(dicts, y.tolist(), strict=True):
                model.transform_one(x)
                model.learn_one(x, label)

        of_tables, of_rows, peer = best_times(
            tables, lambda one=one: row_by_row(one), lambda theirs=theirs: row_by_row(theirs), repeats=repeats
        )
        for what, mine, wanted in (("tables", of_tables, WANTED), ("dicts one by one", of_rows, None)):
            rows.append(
                Row(f"{name}, {what}", mine * 1e3, peer * 1e3, "river's SelectKBest", peer / mine,
                    wanted, "ms/batch", f"{N_ROWS} rows, {N_FEATURES} features")
            )  # fmt: skip
    return rows
