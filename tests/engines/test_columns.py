"""Columns judged side by side: the state of one column after the other, to the last byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from streamsift import OSFS, SAOLA, FastOSFS, Investing, OFSDensity, Penalised, Screener, Stepwise
from streamsift.core.exceptions import ParameterError, ReaderError
from streamsift.engines import columns as module
from streamsift.engines import select_columns
from streamsift.streams.column_sources import open_columns

N_ROWS, N_COLUMNS = 120, 95
METHODS = [
    Investing(),
    Investing("alpha", wealth=0.5, payoff=0.5),
    Investing("lord", level=0.2),
    Investing(model="logistic"),
    Penalised("ric"),
    OSFS(alpha=0.01),
    OSFS("fisher_z"),
    FastOSFS(),
    SAOLA(),
]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Codes first, then numbers; columns 2, 40, 41 and 90 tell something, 60 repeats 40."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(N_ROWS, N_COLUMNS))
    X[:, :20] = rng.integers(0, 3, (N_ROWS, 20))
    y = X[:, 2] + X[:, 40] + 0.7 * X[:, 41] - X[:, 90] > 1
    X[:, 60] = X[:, 40] + 0.05 * X[:, 60]
    path = tmp_path_factory.mktemp("columns") / "table.parquet"
    pd.DataFrame(X, columns=[f"c{k}" for k in range(N_COLUMNS)]).assign(y=y.astype(int)).to_parquet(path)
    return path


@pytest.mark.parametrize("selector", METHODS, ids=repr)
@pytest.mark.parametrize("width", [1, 7, 200])
def test_the_state_is_that_of_one_column_after_the_other(
    path: Path, selector: Any, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []
    side_by_side = module._side_by_side

    def counted(worker: Any, job: Any, state: Any, first: int, count: int) -> Any:
        tried.append(count)
        return side_by_side(worker, job, state, first, count)

    monkeypatch.setattr(module, "_side_by_side", counted)
    found = select_columns(path, selector, "y", jobs=1, block_columns=width)
    alone = type(selector)(**selector.get_params()).run(open_columns(path, "y"))
    assert found.n_offered_ == N_COLUMNS
    assert found.selected_ == alone.selected_
    assert found.history_.equals(alone.history_)
    assert module._as_bytes(found) == module._as_bytes(alone)
    assert (len(tried) > 0) == (width < 200)
    assert not hasattr(selector, "n_offered_")


def test_on_two_processes(path: Path) -> None:
    found = select_columns(path, Investing(), "y", jobs=2, block_columns=10)
    assert module._as_bytes(found) == module._as_bytes(Investing().run(open_columns(path, "y")))


def test_what_is_refused(path: Path, tmp_path: Path) -> None:
    for selector in (Investing("saffron"), Stepwise(), OFSDensity()):
        with pytest.raises(ParameterError, match="offer the columns in one process"):
            select_columns(path, selector, "y", jobs=1)
    with pytest.raises(ParameterError, match="Screener does not judge columns"):
        select_columns(path, Screener(), "y", jobs=1)
    with pytest.raises(ParameterError, match="has begun already"):
        select_columns(path, Investing().begin([1.0, 2.0, 3.0]), "y", jobs=1)
    with pytest.raises(ReaderError, match="There is no file"):
        select_columns(tmp_path / "none.parquet", Investing(), "y", jobs=1)
    (tmp_path / "t.libsvm").write_text("1 1:2\n0 2:1\n")
    with pytest.raises(ParameterError, match=r"t\.libsvm is stored row by row"):
        select_columns(tmp_path / "t.libsvm", Investing(), jobs=1)
    with pytest.raises(ParameterError, match=r"t\.libsvm is stored row by row"):
        module._job_of(tmp_path / "t.libsvm", None, 10, {}, None)


@pytest.mark.parametrize("selector", [Investing(), OSFS(), SAOLA()], ids=repr)
def test_a_table_that_is_stored_row_by_row_is_judged_as_alone(path: Path, tmp_path: Path, selector: Any) -> None:
    table = pd.read_parquet(path).rename(columns={"y": "y, told"})
    table.insert(3, "shop", np.array(["north", "south", "east"])[table["c2"].astype(int)])
    if isinstance(selector, OSFS):  # which tests numbers here, or categories
        table = table.drop(columns=["shop", "c9"]).assign(c9=table["c9"])
    table["y, told"] = np.where(table["y, told"] == 1, "yes", "no")
    table.to_csv(tmp_path / "t.csv", index=False)
    reading = {"ignore": ["c7"], "categorical": [] if isinstance(selector, OSFS) else ["c9"]}
    found = select_columns(tmp_path / "t.csv", selector, "y, told", jobs=1, block_columns=9, **reading)
    alone = type(selector)(**selector.get_params()).run(open_columns(tmp_path / "t.csv", "y, told", **reading))
    assert (found.selected_, found.n_offered_) == (alone.selected_, alone.n_offered_)
    assert len(found.selected_) > 1
    for mine, theirs in zip(found.history_.to_pylist(), alone.history_.to_pylist(), strict=True):
        assert (mine["name"], mine["place"]) == (theirs["name"], theirs["place"])
        assert mine["statistic"] == pytest.approx(theirs["statistic"], rel=1e-9)


def test_a_file_that_was_written_again_is_read_again(tmp_path: Path) -> None:
    path, x = tmp_path / "t.parquet", np.arange(30.0) % 7
    for told in ("a", "b"):
        table = pd.DataFrame({"a": np.tile([0.0, 1.0], 15), "b": np.tile([0.0, 1.0, 2.0], 10), "c": x})
        table.assign(y=table[told] + 1e-3 * x).to_parquet(path)
        assert select_columns(path, Investing(), "y", jobs=1, ignore=["c"], block_columns=1).selected_ == [told]
