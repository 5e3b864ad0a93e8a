"""Fading over parts: they say when they were, and are weighed as in one pass over the rows sorted by time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from streamsift import Joint, Screener
from streamsift.core.exceptions import InputError, ParameterError, ReaderError
from streamsift.engines import select
from tests.engines.tables import frame, one_pass

FADING = [
    Screener("t_score", fading=0.99),
    Screener("fisher", half_life=50),
    Screener("mutual_info", fading=0.99),
    Screener("gini", half_life=80),
    Screener("chi2", fading=0.98),
    Screener("correlation", fading=0.98),
]


def timed(n_parts: int = 4) -> list[pd.DataFrame]:
    """Parts that follow each other in time; what tells something changes with each."""
    parts = []
    for number in range(n_parts):
        other = f"n{(number + 1) % 6}"
        table = frame(number, 90 + 40 * number).rename(columns={other: "n0", "n0": other})
        table = table[[*(f"n{k}" for k in range(6)), "shop", "y"]]
        table.insert(2, "time", 1000.0 * number + np.sort(np.random.default_rng(number).uniform(0, 1000, len(table))))
        parts.append(table)
    return parts


def write(folder: Path, parts: list[pd.DataFrame], names: str, suffix: str = ".csv") -> pd.DataFrame:
    """Files whose names are not in the order of their times."""
    for name, table in zip(names, parts, strict=True):
        if suffix == ".csv":
            table.to_csv(folder / f"{name}.csv", index=False)
        else:
            table.to_parquet(folder / f"{name}.parquet", row_group_size=30)
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize("selector", FADING, ids=lambda selector: selector.criterion)
def test_the_answer_is_that_of_one_pass_in_the_order_of_time(tmp_path: Path, selector: Screener) -> None:
    table = write(tmp_path, timed(), "cadb")
    found = select(tmp_path, selector, "y", jobs=1, order_by="time")
    alone = one_pass(Screener(**selector.get_params()), table.drop(columns="time"))
    assert found.n_rows_seen_ == len(table)
    assert found.feature_names_in_.tolist() == alone.feature_names_in_.tolist()
    np.testing.assert_allclose(found.scores_, alone.scores_, rtol=1e-9)  # few values: bins are exact, too
    unfaded = one_pass(Screener(selector.criterion), table.drop(columns="time"))
    assert not np.allclose(found.scores_, unfaded.scores_, rtol=1e-2)


def test_features_chosen_together_and_numbers_to_explain(tmp_path: Path) -> None:
    parts = [table.drop(columns="shop") for table in timed()]
    table = write(tmp_path, parts, "dbca", ".parquet")
    found = select(tmp_path, Joint(fading=0.99), "y", jobs=1, order_by="time")
    alone = one_pass(Joint(fading=0.99), table.drop(columns="time"))  # type: ignore[arg-type]
    np.testing.assert_allclose(found.scores_, alone.scores_, rtol=1e-9)
    selector = Screener("correlation", task="regression", fading=0.99)
    found = select(tmp_path, selector, "n5", jobs=1, order_by="time", ignore=["y"], task="regression")
    alone = Screener("correlation", task="regression", fading=0.99)
    alone.partial_fit(table.drop(columns=["time", "y", "n5"]), table["n5"])
    np.testing.assert_allclose(found.scores_, alone.scores_, rtol=1e-9)


def test_dates_and_processes(tmp_path: Path) -> None:
    parts = timed(3)
    for table in parts:
        table["time"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(table["time"], unit="s")
    table = write(tmp_path, parts, "bca", ".parquet")
    found = select(tmp_path, Screener("fisher", fading=0.99), "y", jobs=2, order_by="time")
    alone = one_pass(Screener("fisher", fading=0.99), table.drop(columns="time"))
    np.testing.assert_allclose(found.scores_, alone.scores_, rtol=1e-9)


@pytest.mark.parametrize("kind", ["fisher", "mutual_info", "joint"])
def test_event_time_needs_no_order(tmp_path: Path, kind: str) -> None:
    """Each row weighs what its time says, so that parts may overlap as they like."""
    table = pd.concat(timed(), ignore_index=True)
    if kind == "joint":
        table = table.drop(columns="shop")
    mixed = table.sample(frac=1.0, random_state=0)
    write(tmp_path, [mixed[k::3] for k in range(3)], "bca")
    settings: dict[str, Any] = {"half_life": "500s", "time": "time"}

    def make(**settings: Any) -> Any:
        return Joint(**settings) if kind == "joint" else Screener(kind, **settings)

    found = select(tmp_path, make(**settings), "y", jobs=1)
    alone = one_pass(make(**settings), table)
    np.testing.assert_allclose(found.scores_, alone.scores_, rtol=1e-9)
    with pytest.raises(ParameterError, match=r"half_life='500s' needs the time of each row"):
        select(tmp_path, make(half_life="500s"), "y", jobs=1)


def test_what_is_refused(tmp_path: Path) -> None:
    parts = timed(3)
    write(tmp_path, parts, "abc")
    fading = Screener("fisher", fading=0.9)
    with pytest.raises(ParameterError, match=r"fading=0.9 needs to know which rows are older.*--order-by"):
        select(tmp_path, fading, "y", jobs=1)
    with pytest.raises(ParameterError, match="nothing fades by rows"):
        select(tmp_path, Screener("fisher"), "y", jobs=1, order_by="time")
    with pytest.raises(ParameterError, match="prescreen learns in one process"):
        select(tmp_path, fading, "y", jobs=1, order_by="time", prescreen=2)
    with pytest.raises(ReaderError, match=r"a\.csv cannot be put in order: it has no column 'when'"):
        select(tmp_path, fading, "y", jobs=1, order_by="when")
    with pytest.raises(ReaderError, match=r"a\.csv cannot be put in order: column 'shop' holds text"):
        select(tmp_path, fading, "y", jobs=1, order_by="shop")
    parts[1]["time"] -= 900.0
    write(tmp_path, parts, "abc")
    with pytest.raises(InputError, match=r"The parts .*a\.csv and .*b\.csv overlap in time"):
        select(tmp_path, fading, "y", jobs=1, order_by="time")
    parts[2]["time"] = parts[2]["time"].to_numpy()[::-1]
    write(tmp_path, parts, "abc")
    with pytest.raises(ReaderError, match=r"c\.csv cannot be put in order: Row 1 is older than the row before it"):
        select(tmp_path, fading, "y", jobs=1, order_by="time")


@pytest.mark.parametrize("criterion", ["fisher", "mutual_info", "correlation"])
@pytest.mark.parametrize("by_time", [False, True])
def test_sparse_rows_fade_alike(criterion: str, by_time: bool) -> None:
    rng = np.random.default_rng(3)
    X, y, times = rng.poisson(0.4, (120, 5)) * rng.normal(size=(120, 5)), rng.integers(0, 3, 120), np.arange(120.0)
    X[:60, 1] += y[:60]
    X[60:, 2] += y[60:]

    def learnt(rows: slice) -> Screener:
        selector = Screener(criterion, half_life="20s" if by_time else 20)
        return selector.partial_fit(csr_matrix(X[rows]), y[rows], time=times[rows] if by_time else None)

    parts = [slice(0, 30), slice(30, 90), slice(90, 120)]
    first, second, third = map(learnt, parts)
    merged = first.merge_later(second.merge_later(third))
    np.testing.assert_allclose(merged.scores_, learnt(slice(0, 120)).scores_, rtol=1e-9)
    if by_time:  # no order needed, and the one that comes later to `merge` may be the older one
        first, second, third = map(learnt, parts)
        np.testing.assert_allclose(third.merge(first).merge(second).scores_, merged.scores_, rtol=1e-9)
        assert third.partial_fit(csr_matrix(X[:1]), y[:1], time=[150.0]).n_rows_seen_ == 121
