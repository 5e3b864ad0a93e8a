"""Sources of columns: files by blocks of columns, products of accepted columns, the generated stream."""

from __future__ import annotations

from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from tests.columns.data import regression

from streamsift.columns.investing import Investing
from streamsift.columns.penalised import Penalised
from streamsift.core.exceptions import InputError, ParameterError, ReaderError, UnknownNameError
from streamsift.streams.column_sources import ColumnFile, interactions, logarithms, open_columns, powers
from streamsift.streams.column_stream import generate_columns


def table(n_columns: int = 30) -> tuple[pa.Table, Any, Any]:
    X, y = regression(0, n_columns=n_columns)
    columns = {f"c.{k}": X[:, k] for k in range(n_columns)}
    return pa.table(columns | {"target": y}), X, y


def write(where: Path, data: pa.Table) -> Path:
    if where.suffix == ".parquet":
        pq.write_table(data, where, row_group_size=17)
    elif where.suffix == ".feather":
        feather.write_feather(data, str(where), compression="zstd", chunksize=17)
    elif where.suffix == ".arrow":
        with pa.OSFile(str(where), "wb") as file, pa.ipc.new_stream(file, data.schema) as writer:
            writer.write_table(data, max_chunksize=17)
    else:
        data.to_pandas().to_csv(where, index=False)
    return where


@pytest.mark.parametrize(
    ("suffix", "block_bytes"),
    [*product([".parquet", ".feather", ".arrow"], [None, 1, 5000, 1 << 26]), (".csv", None)],  # CSV is read whole
)
def test_a_file_gives_the_decisions_of_the_matrix(tmp_path: Path, suffix: str, block_bytes: int | None) -> None:
    data, X, y = table()
    path = write(tmp_path / f"t{suffix}", data)
    source = ColumnFile(path, "target", block_bytes=block_bytes) if block_bytes else open_columns(path, "target")
    selector = Penalised("bic").run(source)
    direct = Penalised("bic").fit(X, y)
    assert selector.selected_ == [f"c.{name[1:]}" for name in direct.selected_]
    assert selector.n_offered_ == 30
    assert source.names[:2] == ["c.0", "c.1"]


def test_blocks_are_bounded(tmp_path: Path) -> None:
    data, X, _ = table()
    source = ColumnFile(write(tmp_path / "t.parquet", data), "target", block_bytes=7 * 8 * len(X))
    widths = [block.X.shape[1] for _, block in source]
    assert widths == [7, 7, 7, 7, 2]


def test_categories_of_a_file_are_groups(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 90)
    y = 2.0 * (colour == "red") + rng.normal(size=90)
    frame = pd.DataFrame({"n": rng.normal(size=90), "colour": colour, "code": rng.integers(0, 3, 90), "y": y})
    path = write(tmp_path / "t.parquet", pa.Table.from_pandas(frame))
    selector = Penalised("bic").run(open_columns(path, target="y", categorical=["code"]))
    assert selector.selected_ == ["colour"]
    assert selector.history_.column("threshold")[0].as_py() == pytest.approx(2 * np.log(90))
    assert open_columns(path, target="y", ignore=["colour"]).names == ["n", "code"]


def test_labels_of_a_file_are_classes(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=90)
    path = write(tmp_path / "t.parquet", pa.table({"x": x, "z": rng.normal(size=90), "y": np.where(x > 0.2, "a", "b")}))
    assert Investing(model="logistic").run(open_columns(path, target="y")).selected_ == ["x"]


def test_files_are_refused_in_words(tmp_path: Path) -> None:
    path = write(tmp_path / "t.parquet", table()[0])
    with pytest.raises(UnknownNameError, match=r"target column 'tarket'. Did you mean 'target'"):
        open_columns(path, target="tarket")
    only = write(tmp_path / "only.parquet", pa.table({"y": [1.0]}))
    with pytest.raises(ReaderError, match="nothing to select from"):
        open_columns(only, target="y")
    empty = write(
        tmp_path / "empty.parquet", pa.table({"x": pa.array([], pa.float64()), "y": pa.array([], pa.float64())})
    )
    with pytest.raises(ReaderError, match="rows"):
        open_columns(empty, target="y")
    gap = write(tmp_path / "gap.parquet", pa.table({"x": [1.0, None, 2.0], "y": [1.0, 2.0, 4.0]}))
    with pytest.raises(InputError, match="Row 1, column 'x' is NaN"):
        Investing().run(open_columns(gap, target="y"))


def test_only_products_of_accepted_columns_are_made() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 60))
    y = X[:, 3] + X[:, 8] + 2 * X[:, 3] * X[:, 8] + rng.normal(size=300)
    selector = Penalised("ric", n_columns=2000)
    made = []

    def noted() -> Any:
        for name, column in interactions(X, selector, [f"v{k}" for k in range(60)]):
            made.append(name)
            yield name, column

    selector.run(noted(), y)
    assert "v3*v8" in selector.selected_
    mains = [name for name in selector.selected_ if "*" not in name]
    assert len(made) == 1 + len(mains) * (len(mains) + 1) // 2


def test_powers_and_logarithms() -> None:
    rng = np.random.default_rng(3)
    X = rng.uniform(0.1, 9.0, size=(200, 5))
    y = np.log(X[:, 1]) + 0.1 * X[:, 4] ** 3 / 10 + 0.05 * rng.normal(size=200)
    made = dict(chain(powers(X), logarithms(X)))
    assert len(made) == 15
    np.testing.assert_allclose(made["log(x1)"], np.log(X[:, 1]))
    assert np.corrcoef(made["x4^3"], X[:, 4] ** 3)[0, 1] == pytest.approx(1.0)
    found = Penalised("ric", n_columns=20).run(logarithms(X), y).selected_
    assert "log(x1)" in found
    assert list(logarithms(np.ones((4, 1)))) == []
    np.testing.assert_allclose(dict(logarithms(np.array([[-1.0], [0.0], [3.0]])))["log(x0)"], np.log([1.0, 2.0, 5.0]))
    with pytest.raises(InputError, match="5 columns but 1 names"):
        next(powers(X, ["a"]))


def test_a_longer_stream_begins_with_the_shorter_one() -> None:
    short, long = generate_columns(1500, seed=5), generate_columns(3000, seed=5)
    np.testing.assert_array_equal(short.y, long.y)
    np.testing.assert_array_equal(short.true_places, long.true_places)
    blocks = [block for _, block in short]
    assert [block.shape[1] for block in blocks] == [1000, 500]
    np.testing.assert_array_equal(np.hstack(blocks), long.columns(range(1500)))
    assert long.columns([0, 2999], test=True).shape == (1000, 2)
    with pytest.raises(ParameterError, match="do not fit"):
        generate_columns(5, n_true=6)


def test_the_target_is_the_sum_of_the_true_columns_and_noise() -> None:
    stream = generate_columns(n_rows=4000, seed=1)
    noise = stream.y - stream.columns(stream.true_places).sum(axis=1)
    assert noise.var() == pytest.approx(5.0, rel=0.1)
    assert len(stream.y_test) == 1000


def test_a_column_may_appear_late_in_a_file_that_is_read_row_by_row(tmp_path: Path) -> None:
    n_rows = (1 << 16) + 40
    lines = [f"{k % 2} 1:{k % 2} 2:{k % 7}" for k in range(n_rows)]
    lines[-1] += " 5:3.5"  # no row before it has so many columns
    path = tmp_path / "wide.svm"
    path.write_text("\n".join(lines))
    source = open_columns(path)
    assert list(source.names) == ["x0", "x1", "x2", "x3", "x4"]
    selector = Investing().run(source)
    assert selector.n_offered_ == 5
    assert selector.selected_ == ["x0"]


def test_products_of_categories_are_refused() -> None:
    with pytest.raises(InputError, match="Column 'c' holds categories, which cannot be multiplied"):
        next(powers(pd.DataFrame({"c": ["a", "b"]})))
