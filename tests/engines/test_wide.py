"""Wide tables: any cut into row blocks and column blocks gives the scores of one pass."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from streamsift import FIRES, Joint, Screener, open_stream
from streamsift.core.exceptions import OneClassWarning, ParameterError, ReaderError
from streamsift.engines import BlockPlan, select, select_wide
from streamsift.engines import wide as module
from streamsift.engines.blocks import PROCESS_BYTES, planned, read_bytes
from streamsift.streams.arrays import ArrayStream

N_ROWS, WIDTH = 240, 37
CRITERIA = ["t_score", "fisher", "mutual_info", "chi2", "gini", "correlation"]


def rows(density: float = 1.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(N_ROWS, WIDTH)), rng.integers(0, 3, N_ROWS)
    X[:, :4] += y[:, None]
    X[rng.random(X.shape) > density] = 0.0
    return X, np.array(["red", "green", "blue"])[y]


def write(folder: Path, form: str, X: Any, y: Any) -> None:
    """Three parts of a table; of sparse ones, only the last has a value in the last column."""
    for number, part in enumerate(np.array_split(np.arange(len(y)), 3)):
        Xp, yp, path = X[part], y[part], folder / f"part{number}"
        if form == "fixed list":
            column = pa.FixedSizeListArray.from_arrays(pa.array(Xp.reshape(-1)), X.shape[1])
            pq.write_table(pa.table({"x": column, "y": yp}), path.with_suffix(".parquet"), row_group_size=30)
        elif form == "list":
            pq.write_table(pa.table({"x": Xp.tolist(), "y": yp}), path.with_suffix(".parquet"))
        elif form == "sparse":
            S = sparse.csr_matrix(Xp)
            lists = {name: [list(row) for row in np.split(getattr(S, part), S.indptr[1:-1])] for name, part in
                     (("indices", "indices"), ("values", "data"))}  # fmt: skip
            pq.write_table(pa.table({**lists, "y": yp}), path.with_suffix(".parquet"), row_group_size=30)
        elif form == "csr":
            S = sparse.csr_matrix(Xp)
            np.savez(path.with_suffix(".npz"), data=S.data, indices=S.indices, indptr=S.indptr, shape=S.shape, y=yp)
        elif form == "npz":
            np.savez(path.with_suffix(".npz"), X=Xp, y=yp)
        else:
            codes = np.searchsorted(["blue", "green", "red"], yp)
            dump_svmlight_file(Xp, codes, str(path.with_suffix(".svm")), zero_based=False)


def cut(monkeypatch: pytest.MonkeyPatch, n_columns: int, n_rows: int) -> None:
    """Force the grid, whatever memory there is."""

    def plan(selector: Any, parts: Any, n_features: int, *_: Any) -> BlockPlan:
        borders = [n_features * k // n_columns for k in range(n_columns + 1)]
        groups = [tuple(parts[len(parts) * k // n_rows : len(parts) * (k + 1) // n_rows]) for k in range(n_rows)]
        return BlockPlan(n_features, tuple(pairwise(borders)), tuple(groups), 0)

    monkeypatch.setattr(module, "planned", plan)


@pytest.mark.parametrize("form", ["fixed list", "list", "sparse", "csr", "npz", "libsvm"])
@pytest.mark.parametrize("criterion", ["fisher", "mutual_info"])
def test_every_way_to_store_it(tmp_path: Path, form: str, criterion: str, monkeypatch: pytest.MonkeyPatch) -> None:
    is_sparse = form in ("sparse", "csr", "libsvm")
    X, y = rows(0.2 if is_sparse else 1.0)
    if is_sparse:
        X[:160, -1], X[200, -1] = 0.0, 2.0
    write(tmp_path, form, X, y)
    cut(monkeypatch, 4, 3 if criterion == "fisher" else 1)
    found = select_wide(tmp_path, Screener(criterion), "y", jobs=1, batch_size=50)
    alone = Screener(criterion).fit(sparse.csr_matrix(X) if is_sparse else X, y)
    np.testing.assert_allclose(found.scores_, alone.scores_, rtol=1e-9, atol=1e-12)
    assert found.selection().indices.tolist() == alone.selection().indices.tolist()
    assert found.n_rows_seen_ == N_ROWS
    assert (found.selected_[0][:2] == "x[") == (form in ("fixed list", "list"))


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n_columns", [1, 2, WIDTH])
def test_column_blocks_are_one_pass_to_the_last_bit(
    tmp_path: Path, criterion: str, n_columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = rows()
    write(tmp_path, "npz", X, y)
    cut(monkeypatch, n_columns, 1)
    selector = Screener(criterion, n_features_to_select="fdr:0.05", eps=0.05)
    found = select_wide(tmp_path, selector, "y", jobs=1, batch_size=80)
    alone = Screener(criterion, n_features_to_select="fdr:0.05", eps=0.05)
    for first in range(0, N_ROWS, 80):
        alone.partial_fit(X[first : first + 80], y[first : first + 80])
    np.testing.assert_array_equal(found.scores_, alone.scores_)
    np.testing.assert_array_equal(found.pvalues_, alone.pvalues_)
    assert found.selected_ == alone.selected_


def test_two_processes_and_what_they_took(tmp_path: Path) -> None:
    X, y = rows()
    write(tmp_path, "npz", X, y)
    heard: list[float] = []
    found = select_wide(tmp_path, Screener("fisher"), "y", jobs=2, progress=heard.append)
    np.testing.assert_allclose(found.scores_, Screener("fisher").fit(X, y).scores_, rtol=1e-9)
    assert len(found.plan.rows) == 2
    assert len(found.peak_bytes) in (2, 3)  # and this process
    assert all(50e6 < peak < 4e9 for peak in found.peak_bytes.values())
    assert heard[-1] == 1.0


class MadeRows:
    """Rows that are made where they are needed."""

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features

    def open_columns(self, first: int, stop: int) -> Any:
        X, y = rows()
        return ArrayStream(X[:, first:stop], y, None)


def test_rows_that_are_generated_on_the_workers() -> None:
    X, y = rows()
    found = select_wide([MadeRows(WIDTH)] * 2, Screener("gini"), jobs=1)
    assert found.n_rows_seen_ == 2 * N_ROWS
    alone = Screener("gini").partial_fit(X, y).partial_fit(X, y)
    np.testing.assert_array_equal(found.scores_, alone.scores_)


def test_the_plan_keeps_to_the_memory() -> None:
    parts = list(range(100))
    moments = planned(Screener("fisher"), parts, 10**6, 2, 10**7, 4 * 10**9, 2)
    assert (len(moments.columns), len(moments.rows)) == (1, 2)
    bins = planned(Screener("mutual_info", eps=0.01), parts, 10**6, 2, None, 4 * 10**9, 2)
    assert len(bins.rows) == 1
    assert len(bins.columns) % 2 == 0
    assert 10 <= len(bins.columns) <= 20
    for plan in (moments, bins):
        assert plan.bytes_per_block <= 4 * 10**9
        assert plan.columns[0][0] == 0
        assert plan.columns[-1][1] == 10**6
        assert [part for group in plan.rows for part in group] == parts
    sparse_bins = planned(Screener("mutual_info", eps=0.01), parts, 10**6, 2, 10**7, 4 * 10**9, 2)
    assert len(sparse_bins.columns) == 2
    with pytest.raises(ParameterError, match="raise the memory limit"):
        planned(Screener("fisher"), parts, 10, 2, None, PROCESS_BYTES, 2)
    with pytest.raises(ParameterError, match="'much' is no amount of memory"):
        read_bytes("much")


def test_what_is_refused(tmp_path: Path) -> None:
    X, y = rows()
    write(tmp_path, "npz", X, y)
    for selector in (Joint(), FIRES()):
        with pytest.raises(ParameterError, match="looks at features together"):
            select_wide(tmp_path, selector, "y", jobs=1)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="which rows are older"):
        select_wide(tmp_path, Screener(fading=0.9), "y", jobs=1)
    with pytest.raises(ParameterError, match="select_wide reads files, or parts"):
        select_wide([X], Screener(), jobs=1)
    (tmp_path / "part1.npz").write_bytes(b"PK")
    with pytest.raises(ReaderError, match=r"part1\.npz"):
        select_wide(tmp_path, Screener("fisher"), "y", jobs=1)
    np.savez(tmp_path / "part1.npz", X=X, y=np.zeros(N_ROWS, int))
    with pytest.warns(OneClassWarning, match="the selection means nothing"):
        select_wide(tmp_path / "part1.npz", Screener("fisher"), "y", jobs=1).selection()


# -- sparse rows in Parquet ---------------------------------------------------------------------------------------


def test_sparse_rows_are_a_source_like_any_other(tmp_path: Path) -> None:
    X, y = rows(0.2)
    write(tmp_path, "sparse", X, y)
    alone = Screener("fisher").fit(sparse.csr_matrix(X), y)
    found = select(tmp_path, Screener("fisher"), "y", jobs=1)
    np.testing.assert_allclose(found.scores_, alone.scores_, rtol=1e-9)
    (batch, *_) = open_stream(tmp_path / "part0.parquet", "y", n_features=50).batches(1000)
    assert batch.X.shape == (80, 50)
    np.testing.assert_array_equal(batch.X.toarray()[:, :WIDTH], X[:80])


@pytest.mark.parametrize(
    ("indices", "values", "problem"),
    [
        ([[0, 2], [1, 1]], [[1.0, 2.0], [1.0, 2.0]], r"Row 1 .* has the index 1: indices rise"),
        ([[0, 2], [-1]], [[1.0, 2.0], [1.0]], r"Row 1 .* has the index -1"),
        ([[0, 9], [1]], [[1.0, 2.0], [1.0]], r"Row 0 .* has the index 9"),
        ([[0, 2], [1]], [[1.0, 2.0], [1.0, 2.0]], r"Row 1 .* has 1 indices and 2 values"),
        ([[0, None], [1]], [[1.0, 2.0], [1.0]], "an empty place in it"),
    ],
)
def test_sparse_rows_that_are_wrong(tmp_path: Path, indices: Any, values: Any, problem: str) -> None:
    path = tmp_path / "rows.parquet"
    table = {"indices": pa.array(indices, pa.list_(pa.int32())), "values": values, "y": [0, 1]}
    pq.write_table(pa.table(table), path)
    with pytest.raises(ReaderError, match=problem):
        list(open_stream(path, "y", n_features=3).batches(10))


def test_sparse_rows_beside_others(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    table = {"indices": [[0], [], [2]], "values": [[1.0], [], [2.0]], "y": [0, 1, 1], "age": [1, 2, 3]}
    pq.write_table(pa.table(table), path)
    with pytest.raises(ReaderError, match="a column 'age' beside them"):
        open_stream(path, "y")
    (batch,) = open_stream(path, "y", ignore=["age"]).batches(10)
    np.testing.assert_array_equal(batch.X.toarray(), [[1, 0, 0], [0, 0, 0], [0, 0, 2]])
    with pytest.raises(ParameterError, match="which are numbers"):
        open_stream(path, "y", categorical=["age"])
    pq.write_table(pa.table({"a": [1.0, 2.0], "y": [0, 1]}), path)
    with pytest.raises(ParameterError, match="leave 'n_features' out"):
        open_stream(path, "y", n_features=3)
