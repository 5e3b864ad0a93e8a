"""Tables in parts, with numbers, categories and missing values, and one pass over all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from streamsift import Screener, open_stream

NAMES = [f"n{k}" for k in range(6)]


def frame(seed: int, n_rows: int = 400) -> pd.DataFrame:
    """Six numbers, of which n0 to n2 tell something, and a shop that does."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    X = rng.normal(size=(n_rows, 6))
    X[:, :3] += y[:, None] * np.array([1.5, 1.0, 0.5])
    table = pd.DataFrame(X, columns=NAMES)
    table["shop"] = np.where(rng.random(n_rows) < 0.6, y, rng.integers(0, 9, n_rows))
    table["shop"] = "s" + table["shop"].astype(str)
    table["y"] = np.array(["red", "green", "blue"])[y]
    return table


def write_parts(folder: Path, suffix: str, n_parts: int = 5) -> pd.DataFrame:
    """Parts of unequal length; the classes and the shops come in another order in each."""
    tables = [frame(seed, 100 + 130 * seed) for seed in range(n_parts)]
    for number, table in enumerate(tables):
        path = folder / f"part{number}{suffix}"
        if suffix == ".parquet":
            table.to_parquet(path, row_group_size=60)
        else:
            table.to_csv(path, index=False)
    return pd.concat(tables, ignore_index=True)


def one_pass(selector: Screener, table: pd.DataFrame) -> Screener:
    """The same selector after all rows, in this process."""
    for batch in open_stream(table, "y").batches(1000):
        selector.partial_fit(batch)
    return selector


def assert_same(found: Any, alone: Any, criterion: str) -> None:
    """Exact scores to 1e-9; bounded ones of telling features within a tenth."""
    assert found.n_rows_seen_ == alone.n_rows_seen_
    assert sorted(found.classes_) == sorted(alone.classes_)
    assert found.feature_names_in_.tolist() == alone.feature_names_in_.tolist()
    if criterion in ("t_score", "fisher"):
        np.testing.assert_allclose(found.scores_, alone.scores_, rtol=1e-9)
    else:
        tells = alone.scores_ > 0.2 * alone.scores_.max()
        assert tells.sum() >= 3
        np.testing.assert_allclose(found.scores_[tells], alone.scores_[tells], rtol=0.1)
